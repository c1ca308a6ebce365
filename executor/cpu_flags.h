// SPDX-License-Identifier: MIT
// Can this CPU run the bundle? Asked once at load, so that a wrong machine gives a sentence and not SIGILL.
#pragma once

#include <span>
#include <string>

namespace hone {

/// The first of `flags` (as /proc/cpuinfo spells them) that this CPU lacks; empty if it has all.
std::string missing_cpu_flag(std::span<const std::string> flags);

}  // namespace hone
