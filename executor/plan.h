// SPDX-License-Identifier: MIT
// Plan: what the executor runs, decided entirely at build time. Versioned data at the head of NAME.hone; the packed
// weights follow in the same file and are mapped. bundle/ writes it, the executor reads it (hostile input: every index,
// offset and size is checked once at load, so that the run loop checks nothing).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/dtype.h"

namespace hone {

inline constexpr uint32_t kPlanVersion = 1;

/// A piece of memory. Views say how it is looked at; in-place is two Views on one Storage.
struct PlanStorage {
  enum class Kind : uint8_t { input, output, arena, weights };
  Kind kind = Kind::arena;
  uint64_t bytes = 0;
  uint64_t offset = 0;  // arena: from its base; weights: from the start of the weight section; multiples of 64
  uint32_t index = 0;   // input/output: which one
};

struct PlanView {
  uint32_t storage = 0;
  uint64_t offset_bytes = 0;
  DType dtype = DType::f32;
  std::vector<int64_t> extents;  // ONNX order
  std::vector<int64_t> strides;  // elements
};

/// One kernel call, or (kernel == kCopy) a strided copy of view arguments[0] to arguments[1].
struct PlanStep {
  static constexpr uint32_t kCopy = 0xffffffffu;
  uint32_t kernel = kCopy;
  std::vector<uint32_t> arguments;  // views: inputs, packed constants, outputs
  uint32_t output_count = 1;        // how many of the last arguments are outputs
  std::string name;                 // "conv1+relu1"
  std::vector<std::string> nodes;   // ONNX node names in it
};

struct PlanTensor {
  std::string name;
  uint32_t view = 0;
};

struct Plan {
  std::string name;
  std::string target;                  // device name the kernels were built for
  std::vector<std::string> cpu_flags;  // must be present to run
  uint32_t kernel_count = 0;           // entries of the function table
  std::vector<PlanStorage> storages;
  std::vector<PlanView> views;
  std::vector<PlanStep> steps;
  std::vector<PlanTensor> inputs, outputs;
  uint64_t arena_bytes = 0;  // activations
  uint64_t scratch_bytes =
      0;            // largest kernel scratch of one thread slot (a hint: the arena grows if it was too small)
  int threads = 1;  // what the kernels were tuned for; any number works
};

}  // namespace hone
