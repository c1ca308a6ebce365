// SPDX-License-Identifier: MIT
// What an object file leaves to others: a kernel that needs more than the executor offers must never be linked.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hone {

/// Names of the undefined symbols of a 64-bit little-endian ELF object. Throws Error if it is none.
std::vector<std::string> undefined_symbols(const std::filesystem::path& object);

/// The executor's hooks by the names that Halide gives them, and those of hone.
struct RenamedSymbol {
  const char* halide;
  const char* hone;
};
inline constexpr RenamedSymbol kRenamedSymbols[] = {
    {"halide_malloc", "hone_malloc"}, {"halide_free", "hone_free"}, {"halide_do_par_for", "hone_do_par_for"}};

/// Whether a kernel may leave `name` undefined: the hooks, libm's functions, memset and memcpy.
bool may_be_undefined(const std::string& name);

}  // namespace hone
