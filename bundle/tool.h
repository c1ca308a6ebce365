// SPDX-License-Identifier: MIT
// Runs a program of binutils and waits for it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hone {

/// Runs in `directory` with the C locale and nothing else in its environment, so that equal inputs give equal bytes.
/// Throws Error with the program's own words on failure, and with the Debian package to install where it is missing.
void run_tool(const std::vector<std::string>& command, const std::filesystem::path& directory);

}  // namespace hone
