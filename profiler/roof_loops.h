// SPDX-License-Identifier: MIT
// The two instruction loops of the roofs, one version per instruction set, chosen for the CPU that runs them.
// roof_loops_x86.cpp and roof_loops_aarch64.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hone {

struct RoofLoops {
  /// Runs at least `operations` f32 multiply-add operations (2 FLOP each) on independent registers, as fast as the
  /// instruction set allows; returns how many it ran.
  int64_t (*multiply_add)(int64_t operations);
  /// Reads `bytes` (a multiple of 1024) from `memory` (64-byte aligned) once with the widest vector loads.
  void (*read)(const std::byte* memory, size_t bytes);
};

/// The widest of this CPU.
RoofLoops roof_loops();

}  // namespace hone
