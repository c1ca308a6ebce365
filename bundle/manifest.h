// SPDX-License-Identifier: MIT
// manifest.json: what a bundle is, for people and for hone's own commands; the executor never reads it.
#pragma once

#include <string>
#include <vector>

#include "bundle/bundle.h"

namespace hone {

/// Where in a bundle the executor's two files lie.
std::string plan_file(const std::string& name);
std::string shared_object_file(const std::string& symbol);

bool is_bundle(const std::filesystem::path& directory);
void write_manifest(const BundleManifest& manifest, const std::vector<std::string>& cpu_flags,
                    const std::filesystem::path& directory);

}  // namespace hone
