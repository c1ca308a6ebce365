// SPDX-License-Identifier: MIT
// Which journal a database may use: SQLite's write-ahead log needs memory shared by all processes that have the file
// open, which network and FUSE file systems do not give (sqlite.org/wal.html; it has corrupted tuning databases of
// others: MIOpen#623, #2214).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace hone {

/// Empty if WAL is safe on a file system with this statfs(2) f_type, else what it is ("NFS").
std::string network_file_system(uint64_t statfs_type);
/// The same for the folder that holds `file`; empty also where statfs fails.
std::string network_file_system_of(const std::filesystem::path& file);

}  // namespace hone
