// SPDX-License-Identifier: MIT
// Two bundles in one program, five callers at once: each has a context of its own, with its own number of threads and
// its own or a shared pool. Every caller must get what a lone run on one thread got.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <thread>
#include <vector>

#include "executor/executor.h"

// A bundle's only symbol: the table of its kernels (also declared in the bundle's own header).
extern "C" const hone_kernel_table FIRST_TABLE, SECOND_TABLE;

namespace {

constexpr int kRuns = 20;

using Buffers = std::vector<std::vector<std::byte>>;

uint64_t tensor_bytes(const hone::Plan& plan, const hone::PlanTensor& tensor) {
  return plan.storages[plan.views[tensor.view].storage].bytes;
}

/// Something that is no special case of any operator; small integers where the model takes integers.
Buffers make_inputs(const hone::Plan& plan) {
  Buffers inputs;
  for (const hone::PlanTensor& tensor : plan.inputs) {
    std::vector<std::byte>& bytes = inputs.emplace_back(tensor_bytes(plan, tensor));
    if (plan.views[tensor.view].dtype != hone::DType::f32) continue;
    for (size_t i = 0; i + sizeof(float) <= bytes.size(); i += sizeof(float)) {
      const float value = static_cast<float>(i * 2654435761u % 1000) / 500.f - 1.f;
      std::memcpy(&bytes[i], &value, sizeof value);
    }
  }
  return inputs;
}

Buffers run(hone::Context& context, const Buffers& inputs) {
  const hone::Plan& plan = context.model().plan();
  for (size_t i = 0; i < inputs.size(); ++i) context.set_input(static_cast<int>(i), inputs[i].data());
  context.run();
  Buffers outputs;
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const auto* data = static_cast<const std::byte*>(context.output(static_cast<int>(i)));
    outputs.emplace_back(data, data + tensor_bytes(plan, plan.outputs[i]));
  }
  return outputs;
}

struct Caller {
  std::shared_ptr<const hone::Model> model;
  int threads;
  hone::ThreadPool* pool;  // null: the context makes its own
};

int link_app(const char* first_plan, const char* second_plan) {
  const auto first = hone::Model::load(FIRST_TABLE, first_plan);
  const auto second = hone::Model::load(SECOND_TABLE, second_plan);
  const auto shared = hone::make_thread_pool(3);
  const Caller callers[] = {{first, 1, nullptr},
                            {first, 3, shared.get()},
                            {second, 2, shared.get()},
                            {second, 2, nullptr},
                            {first, 2, nullptr}};
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (const Caller& caller : callers) {
    threads.emplace_back([&caller, &failures] {
      try {
        const Buffers inputs = make_inputs(caller.model->plan());
        const Buffers expected = run(*hone::Context::create(caller.model), inputs);
        const auto context = hone::Context::create(caller.model, {.threads = caller.threads, .pool = caller.pool});
        for (int i = 0; i < kRuns; ++i) {
          if (run(*context, inputs) != expected) ++failures;
        }
      } catch (const std::exception& error) {
        std::fprintf(stderr, "link_app: %s\n", error.what());
        ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%s and %s: %zu contexts at once, %d runs each, %d wrong\n", first->plan().name.c_str(),
              second->plan().name.c_str(), threads.size(), kRuns, failures.load());
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: link_app FIRST.hone SECOND.hone\n");
    return 2;
  }
  try {
    return link_app(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "link_app: %s\n", error.what());
    return 1;
  }
}
