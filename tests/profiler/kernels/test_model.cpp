// SPDX-License-Identifier: MIT
// The shared object of a bundle with two kernels; the tests write its plan.
#include <unistd.h>

#include "tests/profiler/kernels/kernels.h"

namespace {

// a + b, kCount floats each.
int add(void** arguments) {
  for (int i = 0; i < kCount; ++i) host(arguments, 3)[i] = host(arguments, 1)[i] + host(arguments, 2)[i];
  return 0;
}

int hang(void**) {
  while (true) pause();
}

}  // namespace

// Laid out as hone_kernel_table (executor/executor.h), with the number of kernels that this bundle has.
extern "C" const struct {
  uint32_t magic, version;
  uint64_t count;
  int (*kernels[2])(void**);
} hone_test_model = {0x454e4f48, 1, 2, {add, hang}};
