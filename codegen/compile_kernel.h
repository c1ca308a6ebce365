// SPDX-License-Identifier: MIT
// The work of one hone-compile child: schedule, lower, write the object, and become the linker.
#pragma once

#include <string>

#include "codegen/build_message.h"

namespace hone {

// Exit codes of a child beyond 0 and the tools' own.
inline constexpr int kExitFailed = 3;       // the reason is on stderr
inline constexpr int kExitMissingTool = 4;  // the tool's name is on stderr

/// Never returns: exits, or replaces the process by the linker.
[[noreturn]] void compile_kernel(const CompileRequest& request, const ImplementationTable& table);

/// Compiles a small kernel so that children start with warm pages (100 -> 85 ms a candidate on a Zen 4).
void warm_up_compiler();

}  // namespace hone
