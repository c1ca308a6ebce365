// SPDX-License-Identifier: MIT
// What the test kernels share: the argv form of hone's kernels, written by hand instead of by Halide.
// arguments[0] points to the user context, then one halide_buffer_t* per input, constant and output.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" void* hone_malloc(void* user_context, size_t bytes);
extern "C" void hone_free(void* user_context, void* memory);
extern "C" int hone_do_par_for(void* user_context, int (*task)(void*, int, uint8_t*), int first, int count,
                               uint8_t* closure);

// The head of halide_buffer_t (HalideRuntime.h), as far as the kernels use it.
struct Buffer {
  uint64_t device;
  const void* device_interface;
  float* host;
};

inline float* host(void** arguments, int index) {
  return static_cast<Buffer*>(arguments[index])->host;
}
inline void* user_context(void** arguments) {
  return *static_cast<void**>(arguments[0]);
}

constexpr int kCount = 1000;  // elements of the input, the constant and the output of every kernel
