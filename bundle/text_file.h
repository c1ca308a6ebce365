// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace hone {

/// Whole files; throw Error naming the file and the reason of the system (full disk, no permission).
void write_bytes(const std::filesystem::path& file, std::span<const std::byte> head,
                 std::span<const std::byte> rest = {});
void write_text(const std::filesystem::path& file, std::string_view text);
std::string read_text(const std::filesystem::path& file, std::string_view purpose);

}  // namespace hone
