// SPDX-License-Identifier: MIT
// Model and Context with hand-written kernels: what a bundle relies on, one property a test.
#include <gtest/gtest.h>

#include <numeric>

#include "executor/strided_copy.h"
#include "tests/fakes/fake_bundle.h"

namespace hone {
namespace {

constexpr int kFloats = 16;
using Vector = std::vector<float>;

int add(void** arguments) {  // a, b, out; out may be a or b
  for (int i = 0; i < kFloats; ++i)
    host<float>(arguments, 3)[i] = host<float>(arguments, 1)[i] + host<float>(arguments, 2)[i];
  return 0;
}
int double_it(void** arguments) {  // in, out
  for (int i = 0; i < kFloats; ++i) host<float>(arguments, 2)[i] = 2 * host<float>(arguments, 1)[i];
  return 0;
}
int use_scratch(void** arguments) {  // in, out; by way of two blocks, freed in the order they were taken
  void* context = user_context(arguments);
  auto* first = static_cast<float*>(hone_malloc(context, kFloats * sizeof(float)));
  auto* second = static_cast<float*>(hone_malloc(context, kFloats * sizeof(float)));
  std::copy_n(host<float>(arguments, 1), kFloats, first);
  std::copy_n(first, kFloats, second);
  hone_free(context, first);
  std::copy_n(second, kFloats, host<float>(arguments, 2));
  hone_free(context, second);
  return 0;
}
int out_of_memory(void** arguments) {
  hone_malloc(user_context(arguments), SIZE_MAX / 2);
  return 0;
}
int assertion(void**) {
  return -22;
}

const std::vector<Kernel> kKernels = {add, double_it, use_scratch, out_of_memory, assertion};

Vector counting() {
  Vector values(kFloats);
  std::iota(values.begin(), values.end(), 1.f);
  return values;
}
Vector output(const Context& context, int index = 0) {
  const auto* data = static_cast<const float*>(context.output(index));
  return {data, data + kFloats};
}
Vector scaled(float factor) {
  Vector values = counting();
  for (float& value : values) value *= factor;
  return values;
}

PlanBuilder builder_with_kernels() {
  PlanBuilder builder(kFloats);
  builder.plan.kernel_count = static_cast<uint32_t>(kKernels.size());
  return builder;
}

std::string run_error(Context& context) {
  try {
    context.run();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Context, RunsStepsInOrderWithWeights) {
  PlanBuilder builder = builder_with_kernels();
  const uint32_t x = builder.input(), y = builder.output(), a = builder.arena();
  const uint32_t w = builder.weights(Vector(kFloats, 100.f));
  builder.step(1, {x, a});
  builder.step(0, {a, w, y});
  const FakeBundle bundle(builder, kKernels);
  auto context = Context::create(bundle.model);
  const Vector input = counting();
  context->set_input(0, input.data());
  context->run();
  Vector expected = scaled(2);
  for (float& value : expected) value += 100;
  EXPECT_EQ(output(*context), expected);
}

TEST(Context, InPlaceViewsShareStorage) {
  PlanBuilder builder = builder_with_kernels();
  const uint32_t x = builder.input(), y = builder.output(), a = builder.arena();
  const uint32_t same = builder.view(builder.plan.views[a]);
  builder.step(1, {x, a});
  builder.step(1, {a, same});
  builder.step(0, {x, same, y});
  const FakeBundle bundle(builder, kKernels);
  auto context = Context::create(bundle.model);
  const Vector input = counting();
  context->set_input(0, input.data());
  for (int run = 0; run < 3; ++run) {
    context->run();
    EXPECT_EQ(output(*context), scaled(5));
  }
  EXPECT_EQ(context->view_data(a), context->view_data(same));
}

TEST(Context, OutputsMayBeInputsConstantsOrListedTwice) {
  PlanBuilder builder = builder_with_kernels();
  const uint32_t x = builder.input();
  const uint32_t copy_of_input = builder.output(), constant = builder.output();
  const uint32_t result = builder.output(), again = builder.output();
  const uint32_t w = builder.weights(Vector(kFloats, 7.f));
  builder.step(PlanStep::kCopy, {x, copy_of_input});
  builder.step(PlanStep::kCopy, {w, constant});
  builder.step(1, {x, result});
  builder.step(PlanStep::kCopy, {result, again});
  const FakeBundle bundle(builder, kKernels);
  auto context = Context::create(bundle.model);
  const Vector input = counting();
  context->set_input(0, input.data());
  context->run();
  EXPECT_EQ(output(*context, 0), input);
  EXPECT_EQ(output(*context, 1), Vector(kFloats, 7.f));
  EXPECT_EQ(output(*context, 2), scaled(2));
  EXPECT_EQ(output(*context, 3), scaled(2));
}

TEST(Context, CopiesBetweenStrides) {
  PlanBuilder builder = builder_with_kernels();
  const uint32_t x = builder.input(), y = builder.output(), reversed = builder.output();
  const uint32_t transposed = builder.view({.storage = x, .extents = {8, 2}, .strides = {1, 8}});
  const uint32_t rows = builder.view({.storage = y, .extents = {8, 2}, .strides = {2, 1}});
  const uint32_t backwards =
      builder.view({.storage = x, .offset_bytes = (kFloats - 1) * 4, .extents = {kFloats}, .strides = {-1}});
  builder.step(PlanStep::kCopy, {transposed, rows});
  builder.step(PlanStep::kCopy, {backwards, reversed});
  const FakeBundle bundle(builder, kKernels);
  auto context = Context::create(bundle.model);
  const Vector input = counting();
  context->set_input(0, input.data());
  context->run();
  EXPECT_EQ(output(*context, 0), (Vector{1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 8, 16}));
  EXPECT_EQ(output(*context, 1), Vector(input.rbegin(), input.rend()));
}

TEST(Context, WritesToTheCallersOutput) {
  PlanBuilder builder = builder_with_kernels();
  const uint32_t x = builder.input(), y = builder.output();
  builder.step(1, {x, y});
  const FakeBundle bundle(builder, kKernels);
  auto context = Context::create(bundle.model);
  // One float off any alignment that matters to vectors.
  Vector input = counting(), own(kFloats + 1), other(kFloats + 1);
  input.insert(input.begin(), 0.f);
  context->set_input(0, input.data() + 1);
  context->set_output(0, own.data() + 1);
  context->run();
  EXPECT_EQ(context->output(0), own.data() + 1);
  EXPECT_EQ(output(*context), scaled(2));
  context->set_output(0, other.data() + 1);
  context->run();
  EXPECT_EQ(Vector(other.begin() + 1, other.end()), scaled(2));
  context->set_output(0, nullptr);
  context->run();
  EXPECT_NE(context->output(0), nullptr);
  EXPECT_EQ(output(*context), scaled(2));
}

TEST(Context, HooksSeeEachStepAndItsData) {
  PlanBuilder builder = builder_with_kernels();
  const uint32_t x = builder.input(), y = builder.output(), a = builder.arena();
  builder.step(1, {x, a});
  builder.step(1, {a, y});
  const FakeBundle bundle(builder, kKernels);
  auto context = Context::create(bundle.model);
  const Vector input = counting();
  context->set_input(0, input.data());
  std::vector<int> calls;
  Vector seen;
  context->set_hooks({.before = [&](int step) { calls.push_back(step); },
                      .after =
                          [&](int step) {
                            calls.push_back(100 + step);
                            seen.push_back(static_cast<const float*>(context->view_data(step == 0 ? a : y))[0]);
                          }});
  context->run();
  EXPECT_EQ(calls, (std::vector<int>{0, 100, 1, 101}));
  EXPECT_EQ(seen, (Vector{2, 4}));
  context->set_hooks({});
  context->run();
  EXPECT_EQ(calls.size(), 4u);
}

TEST(Context, AHookThatThrowsLeavesTheContextUsable) {
  PlanBuilder builder = builder_with_kernels();
  const uint32_t x = builder.input(), y = builder.output();
  builder.step(1, {x, y});
  const FakeBundle bundle(builder, kKernels);
  auto context = Context::create(bundle.model);
  const Vector input = counting();
  context->set_input(0, input.data());
  context->set_hooks({.before = [](int) { throw std::runtime_error("stop here"); }});
  EXPECT_THROW(context->run(), std::runtime_error);
  std::string nested;
  context->set_hooks({.before = [&](int) { nested = run_error(*context); }});
  context->run();
  EXPECT_NE(nested.find("already running"), std::string::npos);
  EXPECT_EQ(output(*context), scaled(2));
}

TEST(Context, ScratchIsCountedAndRetained) {
  PlanBuilder builder = builder_with_kernels();
  const uint32_t x = builder.input(), y = builder.output();
  builder.step(2, {x, y});
  const FakeBundle bundle(builder, kKernels);
  auto context = Context::create(bundle.model);
  const Vector input = counting();
  context->set_input(0, input.data());
  EXPECT_EQ(context->scratch_bytes(), 0u);
  for (int run = 0; run < 3; ++run) {
    context->run();
    EXPECT_EQ(output(*context), input);
    EXPECT_EQ(context->scratch_bytes(), 2 * (kFloats * sizeof(float) + 64));
  }
}

TEST(Context, NamesTheStepThatFails) {
  PlanBuilder builder = builder_with_kernels();
  const uint32_t x = builder.input(), y = builder.output();
  builder.step(1, {x, y}, "good");
  builder.step(3, {x, y}, "conv7");
  const FakeBundle bundle(builder, kKernels);
  auto context = Context::create(bundle.model);
  const Vector input = counting();
  context->set_input(0, input.data());
  const char* expected =
      "cannot run step 1 'conv7' of fake (nodes conv7_node): kernel error -11: out of memory; free memory or use fewer "
      "threads";
  EXPECT_EQ(run_error(*context), expected);
  context->set_hooks({.before = [](int) {}});
  EXPECT_EQ(run_error(*context), expected);
}

TEST(Context, ReportsTheCodeOfAKernelWithAsserts) {
  PlanBuilder builder = builder_with_kernels();
  const uint32_t x = builder.input(), y = builder.output();
  builder.step(4, {x, y});
  const FakeBundle bundle(builder, kKernels);
  auto context = Context::create(bundle.model);
  const Vector input = counting();
  context->set_input(0, input.data());
  EXPECT_NE(run_error(*context).find("kernel error -22"), std::string::npos);
}

TEST(Context, RefusesMisuse) {
  PlanBuilder builder = builder_with_kernels();
  builder.step(1, {builder.input(), builder.output()});
  const FakeBundle bundle(builder, kKernels);
  EXPECT_THROW(Context::create(bundle.model, {.threads = 0}), Error);
  auto context = Context::create(bundle.model);
  EXPECT_EQ(run_error(*context), "cannot run fake: input 'x0' is not set; set it (index 0) before run");
  EXPECT_THROW(context->set_input(1, nullptr), Error);
  EXPECT_THROW(context->set_output(-1, nullptr), Error);
  EXPECT_THROW(context->output(1), Error);
}

TEST(Context, AnArenaThatDoesNotFitIsAnError) {
  PlanBuilder builder = builder_with_kernels();
  builder.step(1, {builder.input(), builder.output()});
  for (const uint64_t bytes : {uint64_t{1} << 62, ~uint64_t{0}}) {
    builder.plan.arena_bytes = bytes;
    const FakeBundle bundle(builder, kKernels);
    EXPECT_THROW(Context::create(bundle.model), Error);
  }
}

TEST(Context, AScratchHintThatDoesNotFitIsIgnored) {
  PlanBuilder builder = builder_with_kernels();
  builder.step(2, {builder.input(), builder.output()});
  builder.plan.scratch_bytes = ~uint64_t{0};
  const FakeBundle bundle(builder, kKernels);
  auto context = Context::create(bundle.model);
  const Vector input = counting();
  context->set_input(0, input.data());
  context->run();
  EXPECT_EQ(output(*context), input);
}

std::string load_error(const FakeBundle& bundle, const FakeTable& table) {
  try {
    Model::load(table.table(), bundle.path());
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Model, RefusesAnotherTable) {
  PlanBuilder builder = builder_with_kernels();
  builder.step(1, {builder.input(), builder.output()});
  const FakeBundle bundle(builder, kKernels);
  EXPECT_EQ(load_error(bundle, FakeTable(kKernels)), "");
  EXPECT_NE(load_error(bundle, FakeTable(kKernels, 1)).find("kernel table"), std::string::npos);
  EXPECT_NE(load_error(bundle, FakeTable(kKernels, 0x454e4f48, 2)).find("kernel table"), std::string::npos);
  EXPECT_NE(load_error(bundle, FakeTable({add})).find("is for 5 kernels, the linked table has 1"), std::string::npos);
  std::vector<Kernel> hole = kKernels;
  hole[2] = nullptr;
  EXPECT_NE(load_error(bundle, FakeTable(hole)).find("kernel 2 of the linked table is missing"), std::string::npos);
}

TEST(Model, RefusesACpuThatLacksAFlag) {
  PlanBuilder builder = builder_with_kernels();
  builder.step(1, {builder.input(), builder.output()});
  builder.plan.target = "x86-future";
  builder.plan.cpu_flags = {"avx4096"};
  try {
    const FakeBundle bundle(builder, kKernels);
    FAIL() << "no CPU has avx4096";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("need avx4096, which this CPU lacks"), std::string::npos) << error.what();
  }
#if defined(__x86_64__)
  builder.plan.cpu_flags = {"fpu", "sse2"};  // every x86-64 has these
#else
  builder.plan.cpu_flags = {"asimd"};
#endif
  EXPECT_NE(FakeBundle(builder, kKernels).model, nullptr);
}

TEST(StridedCopy, EveryElementSizeAndEmptyShapes) {
  for (const DType dtype : {DType::i8, DType::f16, DType::f32, DType::f64}) {
    const auto bytes = static_cast<size_t>(element_bytes(dtype));
    std::vector<uint8_t> from(6 * bytes), to(6 * bytes);
    std::iota(from.begin(), from.end(), uint8_t{1});
    const StridedCopy transpose({.dtype = dtype, .extents = {2, 1, 3}, .strides = {1, 9, 2}},
                                {.dtype = dtype, .extents = {2, 1, 3}, .strides = {3, 3, 1}});
    transpose.copy(from.data(), to.data());
    for (size_t row = 0; row < 2; ++row) {
      for (size_t column = 0; column < 3; ++column) {
        EXPECT_EQ(0, std::memcmp(&to[(row * 3 + column) * bytes], &from[(column * 2 + row) * bytes], bytes));
      }
    }
  }
  const StridedCopy empty({.extents = {2, 0}, .strides = {1, 1}}, {.extents = {2, 0}, .strides = {1, 1}});
  empty.copy(nullptr, nullptr);
  const StridedCopy scalar(PlanView{}, PlanView{});
  float from = 3, to = 0;
  scalar.copy(&from, &to);
  EXPECT_EQ(to, 3);
}

}  // namespace
}  // namespace hone
