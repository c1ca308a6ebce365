// SPDX-License-Identifier: MIT
// What Implementation::build returns; apart from implementation.h so that only schedules/ and codegen/ see Halide.h.
#pragma once

#include <Halide.h>

#include <vector>

#include "schedules/implementation.h"

namespace hone {

struct KernelPipeline {
  Halide::Pipeline pipeline;
  std::vector<Halide::Argument> arguments;  // inputs, then packed constants; outputs follow by Halide's own order
};

}  // namespace hone
