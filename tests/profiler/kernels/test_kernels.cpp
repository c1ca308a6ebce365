// SPDX-License-Identifier: MIT
// One shared object of kernels, good and bad. Arguments: input, constant, output, kCount floats each, unless noted.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "tests/profiler/kernels/kernels.h"

extern "C" {

// output = input + constant.
int add_argv(void** arguments) {
  const float *input = host(arguments, 1), *constant = host(arguments, 2);
  float* output = host(arguments, 3);
  for (int i = 0; i < kCount; ++i) output[i] = input[i] + constant[i];
  return 0;
}

// The same, ten times over.
int slow_add_argv(void** arguments) {
  for (int repeat = 0; repeat < 10; ++repeat) {
    add_argv(arguments);
    asm volatile("" : : : "memory");  // ten times is meant
  }
  return 0;
}

int forgets_last_argv(void** arguments) {
  for (int i = 0; i < kCount - 1; ++i) host(arguments, 3)[i] = 1;
  return 0;
}

int writes_beyond_argv(void** arguments) {
  add_argv(arguments);
  host(arguments, 3)[kCount] = 1;
  return 0;
}

int writes_before_argv(void** arguments) {
  add_argv(arguments);
  host(arguments, 3)[-1] = 1;
  return 0;
}

int reads_far_beyond_argv(void** arguments) {
  host(arguments, 3)[0] = host(arguments, 1)[kCount + 16];
  return 0;
}

int writes_its_input_argv(void** arguments) {
  host(arguments, 1)[0] = 1;
  return 0;
}

int writes_its_constant_argv(void** arguments) {
  host(arguments, 2)[0] = 1;
  return 0;
}

int crashes_argv(void**) {
  raise(SIGSEGV);
  return 0;
}

int jumps_to_null_argv(void**) {
  int (*volatile null)() = nullptr;
  return null();
}

int aborts_argv(void**) {
  abort();
}

int exits_argv(void**) {
  _exit(3);
}

int exits_as_if_well_argv(void**) {
  _exit(0);
}

int hangs_argv(void**) {
  while (true) asm volatile("");
}

// Deaf to polite signals, and with a descendant that would survive a kill of its parent alone.
int hangs_with_company_argv(void**) {
  signal(SIGTERM, SIG_IGN);
  if (fork() < 0) abort();
  while (true) pause();
}

// Ends well, but leaves a process behind that holds every descriptor open.
int leaves_company_argv(void** arguments) {
  static bool done = false;
  if (!done && fork() == 0) {
    while (true) pause();
  }
  done = true;
  return add_argv(arguments);
}

// The same, in a session of its own, out of reach of a kill of the process group.
int leaves_a_daemon_argv(void** arguments) {
  static bool done = false;
  if (!done && fork() == 0) {
    setsid();
    while (true) pause();
  }
  done = true;
  return add_argv(arguments);
}

int wants_too_much_argv(void** arguments) {
  void* memory = hone_malloc(user_context(arguments), size_t{1} << 46);
  hone_free(user_context(arguments), memory);
  return 0;
}

int uses_scratch_argv(void** arguments) {
  auto* memory = static_cast<float*>(hone_malloc(user_context(arguments), kCount * sizeof(float)));
  for (int i = 0; i < kCount; ++i) memory[i] = host(arguments, 1)[i] * 2;
  for (int i = 0; i < kCount; ++i) host(arguments, 3)[i] = memory[i];
  hone_free(user_context(arguments), memory);
  return 0;
}

static int parallel_task(void*, int task, uint8_t* closure) {
  void** arguments = reinterpret_cast<void**>(closure);
  for (int i = task * 100; i < task * 100 + 100; ++i) host(arguments, 3)[i] = host(arguments, 1)[i] + 1;
  return 0;
}

int parallel_argv(void** arguments) {
  return hone_do_par_for(user_context(arguments), parallel_task, 0, kCount / 100,
                         reinterpret_cast<uint8_t*>(arguments));
}

int prints_argv(void** arguments) {
  printf("a kernel must not print into the protocol\n");
  fflush(stdout);
  return add_argv(arguments);
}

// Aborts when the constant is not where it was before.
int insists_on_one_place_argv(void** arguments) {
  static const float* first = nullptr;
  if (first == nullptr) first = host(arguments, 2);
  if (first != host(arguments, 2)) abort();
  return add_argv(arguments);
}

// Aborts when a constant is not 100.
int checks_constant_argv(void** arguments) {
  for (int i = 0; i < kCount; ++i) {
    if (host(arguments, 2)[i] != 100) abort();
  }
  return add_argv(arguments);
}

}  // extern "C"
