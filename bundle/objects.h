// SPDX-License-Identifier: MIT
// Kernel objects joined into one library in which only the bundle's function table is visible.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bundle/plan_builder.h"

namespace hone {

/// Assembler text of the function table: the same for x86-64 and aarch64, position independent, no compiler needed.
std::string function_table(const std::string& symbol, const std::vector<PlannedKernel>& kernels);

/// Compiles each kernel into `work`/<symbol>.o. Throws Error naming the workload and config of one that does not build.
void build_objects(const BundleRequest& request, const std::vector<PlannedKernel>& kernels, Builder& builder,
                   const std::filesystem::path& work, const BundleProgress& progress);

/// Writes lib/lib<symbol>.a and lib/<symbol>.so below `directory` from the objects in `work`. The shared form has no
/// "lib": it is loaded by dlopen, and -l<symbol> must find the archive.
void link_libraries(const BundleRequest& request, const std::string& symbol, const std::vector<PlannedKernel>& kernels,
                    const std::filesystem::path& work, const std::filesystem::path& directory);

}  // namespace hone
