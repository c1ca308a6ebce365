// SPDX-License-Identifier: MIT
// What the executor adds to a kernel: a chain of tiny steps that share one kernel (16 additions), so that nearly all of
// the time is the run loop. Alone it prints a table; bench/executor_overhead.py drives it beside ONNX Runtime.
//
//   executor_overhead [STEPS]            prints ns per step, without and with hooks
//   executor_overhead STEPS --on-demand  times one batch for each line of stdin and prints ns per run
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "executor/executor.h"
#include "executor/plan_writer.h"

namespace {

constexpr int64_t kFloats = 16;
constexpr uint64_t kBytes = kFloats * sizeof(float);
using Kind = hone::PlanStorage::Kind;

/// An argv kernel; `host` is at byte 16 of a halide_buffer_t.
int add(void** arguments) {
  float* hosts[3];
  for (int i = 0; i < 3; ++i) std::memcpy(&hosts[i], static_cast<char*>(arguments[i + 1]) + 16, sizeof(float*));
  for (int64_t i = 0; i < kFloats; ++i) hosts[2][i] = hosts[0][i] + hosts[1][i];
  return 0;
}

/// What a bundle's assembly file holds: the head of a hone_kernel_table and its one entry.
const hone_kernel_table& kernel_table() {
  struct Entries {
    uint32_t magic, version;
    uint64_t count;
    int (*kernel)(void**);
  };
  alignas(Entries) static std::byte bytes[sizeof(Entries)];
  const Entries entries{0x454e4f48, 1, 1, add};
  std::memcpy(bytes, &entries, sizeof entries);
  return *reinterpret_cast<const hone_kernel_table*>(bytes);
}

/// x + w0 + w1 + ..., alternating between two arena vectors, each step with weights of its own.
hone::Plan chain(int steps) {
  hone::Plan plan;
  plan.name = "chain";
  plan.kernel_count = 1;
  const auto storage = [&plan](hone::PlanStorage s) {
    plan.storages.push_back(s);
    plan.views.push_back(
        {.storage = static_cast<uint32_t>(plan.storages.size() - 1), .extents = {1, kFloats}, .strides = {kFloats, 1}});
    return static_cast<uint32_t>(plan.views.size() - 1);
  };
  plan.inputs = {{.name = "x", .view = storage({.kind = Kind::input, .bytes = kBytes})}};
  plan.outputs = {{.name = "y", .view = storage({.kind = Kind::output, .bytes = kBytes})}};
  const uint32_t arena[2] = {storage({.bytes = kBytes}), storage({.bytes = kBytes, .offset = kBytes})};
  plan.arena_bytes = 2 * kBytes;
  uint32_t from = plan.inputs[0].view;
  for (int i = 0; i < steps; ++i) {
    const uint32_t w = storage({.kind = Kind::weights, .bytes = kBytes, .offset = static_cast<uint64_t>(i) * kBytes});
    const uint32_t to = i == steps - 1 ? plan.outputs[0].view : arena[i % 2];
    plan.steps.push_back({.kernel = 0, .arguments = {from, w, to}, .name = "add" + std::to_string(i), .nodes = {}});
    from = to;
  }
  return plan;
}

std::shared_ptr<const hone::Model> load_chain(int steps) {
  std::string path = (std::filesystem::temp_directory_path() / "executor_overhead_XXXXXX").string();
  const int file = mkstemp(path.data());
  CHECK(file >= 0);
  close(file);
  const std::vector<std::byte> head = hone::encode_plan(chain(steps));
  const std::vector<float> weights(static_cast<size_t>(steps * kFloats), 0.5f);
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(head.data()), static_cast<std::streamsize>(head.size()));
  stream.write(reinterpret_cast<const char*>(weights.data()),
               static_cast<std::streamsize>(weights.size() * sizeof(float)));
  stream.close();
  auto model = hone::Model::load(kernel_table(), path);
  std::filesystem::remove(path);
  return model;
}

/// CPU time of this thread: another process on the core does not count.
double thread_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

/// Nanoseconds of one run, over a batch of about a millisecond.
double time_run(hone::Context& context, int steps) {
  const int runs = std::max(1, 50000 / steps);
  const double start = thread_ns();
  for (int i = 0; i < runs; ++i) context.run();
  return (thread_ns() - start) / runs;
}

double median_ns_per_step(hone::Context& context, int steps) {
  std::vector<double> samples(101);
  for (double& sample : samples) sample = time_run(context, steps);
  std::nth_element(samples.begin(), samples.begin() + 50, samples.end());
  return samples[50] / steps;
}

/// The kernel in a plain loop, through a pointer as the run loop has it.
double median_ns_per_call() {
  float a[kFloats] = {}, b[kFloats] = {}, c[kFloats];
  void* buffers[3][7] = {{nullptr, nullptr, a}, {nullptr, nullptr, b}, {nullptr, nullptr, c}};
  void* arguments[] = {nullptr, buffers[0], buffers[1], buffers[2]};
  int (*volatile kernel)(void**) = add;
  constexpr int kCalls = 100000;
  std::vector<double> samples(101);
  for (double& sample : samples) {
    const double start = thread_ns();
    for (int i = 0; i < kCalls; ++i) kernel(arguments);
    sample = (thread_ns() - start) / kCalls;
  }
  std::nth_element(samples.begin(), samples.begin() + 50, samples.end());
  return samples[50];
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1000;
  const auto context = hone::Context::create(load_chain(steps));
  const std::vector<float> input(kFloats, 1.f);
  context->set_input(0, input.data());
  context->run();
  const float expected = 1.f + 0.5f * static_cast<float>(steps);
  if (static_cast<const float*>(context->output(0))[kFloats - 1] != expected) {
    std::fprintf(stderr, "executor_overhead: wrong result\n");
    return 1;
  }
  if (argc > 2 && std::strcmp(argv[2], "--on-demand") == 0) {
    for (int c; (c = std::getchar()) != EOF;) {
      if (c != '\n') continue;
      std::printf("%.1f\n", time_run(*context, steps));
      std::fflush(stdout);
    }
    return 0;
  }
  std::printf("%d steps of one 16-float addition, one thread, median of 101 batches\n", steps);
  std::printf("  without hooks  %7.1f ns per step\n", median_ns_per_step(*context, steps));
  int calls = 0;
  const auto count = [&calls](int) { ++calls; };
  context->set_hooks({.before = count, .after = count});
  std::printf("  with two hooks %7.1f ns per step\n", median_ns_per_step(*context, steps));
  std::printf("  kernel alone   %7.1f ns per call\n", median_ns_per_call());
}
