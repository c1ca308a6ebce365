// SPDX-License-Identifier: MIT
// SHA-256 (OpenSSL) of what a bundle is made of.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace hone {

/// 64 hex digits.
std::string sha256(std::span<const std::byte> bytes);
/// Of a file, read in pieces. Throws Error if it cannot be read.
std::string file_sha256(const std::filesystem::path& file);

}  // namespace hone
