// SPDX-License-Identifier: MIT
// manifest.json: what a bundle is, for people and for hone's own commands; the executor never reads it.
#pragma once

#include <string>
#include <vector>

#include "bundle/bundle.h"

namespace hone {

bool is_bundle(const std::filesystem::path& directory);
void write_manifest(const BundleManifest& manifest, const std::vector<std::string>& cpu_flags,
                    const std::filesystem::path& directory);

}  // namespace hone
