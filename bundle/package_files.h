// SPDX-License-Identifier: MIT
// The text files by which an app finds and uses a bundle: headers, CMake package, pkg-config file, main.cpp.
#pragma once

#include <filesystem>
#include <string>

#include "bundle/bundle.h"

namespace hone {

/// The command that compiles the bundle's main.cpp, run from inside the bundle.
std::string compile_command(const BundleManifest& manifest, const std::string& compiler);
/// Writes all of them below `directory` and copies the executor's library and public headers.
void write_package_files(const BundleRequest& request, const BundleManifest& manifest,
                         const std::filesystem::path& directory);

}  // namespace hone
