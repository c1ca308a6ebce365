// SPDX-License-Identifier: MIT
// hone.h: every call, and that every failure is a code and a message, never an exception.
#include <gtest/gtest.h>

#include "executor/hone.h"
#include "tests/fakes/fake_bundle.h"

namespace {

using hone::host;

int negate(void** arguments) {
  for (int i = 0; i < 4; ++i) host<float>(arguments, 2)[i] = -host<float>(arguments, 1)[i];
  return 0;
}
int out_of_memory(void** arguments) {
  hone_malloc(hone::user_context(arguments), SIZE_MAX / 2);
  return 0;
}

hone::PlanBuilder builder(uint32_t kernel) {
  hone::PlanBuilder plan(4);
  plan.plan.kernel_count = 2;
  plan.step(kernel, {plan.input(), plan.output()});
  return plan;
}

TEST(CApi, LoadsDescribesAndRuns) {
  const hone::FakeBundle bundle(builder(0), {negate, out_of_memory});
  hone_model* model = nullptr;
  ASSERT_EQ(hone_model_load(&bundle.table(), bundle.path().c_str(), &model), 0) << hone_last_error();
  EXPECT_EQ(hone_model_input_count(model), 1);
  EXPECT_EQ(hone_model_output_count(model), 1);
  hone_tensor_info info{};
  ASSERT_EQ(hone_model_output(model, 0, &info), 0);
  EXPECT_STREQ(info.name, "y0");
  ASSERT_EQ(hone_model_input(model, 0, &info), 0);
  EXPECT_STREQ(info.name, "x0");
  EXPECT_EQ(info.dtype, 1);
  ASSERT_EQ(info.rank, 1);
  EXPECT_EQ(info.shape[0], 4);
  EXPECT_EQ(info.strides[0], 1);
  EXPECT_EQ(info.bytes, 16u);

  hone_context* context = nullptr;
  ASSERT_EQ(hone_context_create(model, 2, &context), 0);
  hone_model_free(model);  // the context keeps what it needs
  const float input[4] = {1, 2, 3, 4};
  float output[4] = {};
  ASSERT_EQ(hone_set_input(context, 0, input), 0);
  ASSERT_EQ(hone_run(context), 0);
  EXPECT_EQ(static_cast<const float*>(hone_output(context, 0))[3], -4);
  ASSERT_EQ(hone_set_output(context, 0, output), 0);
  ASSERT_EQ(hone_run(context), 0);
  EXPECT_EQ(output[2], -3);
  hone_context_free(context);
}

TEST(CApi, EveryFailureHasAMessage) {
  const hone::FakeBundle bundle(builder(1), {negate, out_of_memory});
  hone_model* model = nullptr;
  EXPECT_EQ(hone_model_load(&bundle.table(), "/nowhere/x.hone", &model), -1);
  EXPECT_STREQ(hone_last_error(),
               "cannot load /nowhere/x.hone: No such file or directory; check the path of the bundle's NAME.hone file");
  EXPECT_EQ(hone_model_load(nullptr, "x", &model), -1);
  EXPECT_NE(std::string(hone_last_error()).find("table is NULL"), std::string::npos);
  ASSERT_EQ(hone_model_load(&bundle.table(), bundle.path().c_str(), &model), 0);
  hone_tensor_info info{};
  EXPECT_EQ(hone_model_input(model, 1, &info), -1);
  EXPECT_EQ(hone_model_input(model, 0, nullptr), -1);
  hone_context* context = nullptr;
  EXPECT_EQ(hone_context_create(model, 0, &context), -1);
  EXPECT_EQ(hone_context_create(nullptr, 1, &context), -1);
  ASSERT_EQ(hone_context_create(model, 1, &context), 0);
  EXPECT_EQ(hone_run(context), -1);
  EXPECT_NE(std::string(hone_last_error()).find("input 'x0' is not set"), std::string::npos);
  const float input[4] = {};
  EXPECT_EQ(hone_set_input(context, 3, input), -1);
  EXPECT_EQ(hone_set_output(context, 3, nullptr), -1);
  EXPECT_EQ(hone_output(context, 3), nullptr);
  ASSERT_EQ(hone_set_input(context, 0, input), 0);
  EXPECT_EQ(hone_run(context), -1);
  EXPECT_NE(std::string(hone_last_error()).find("out of memory"), std::string::npos);
  EXPECT_EQ(hone_run(nullptr), -1);
  EXPECT_EQ(hone_model_input_count(nullptr), 0);
  hone_context_free(context);
  hone_model_free(model);
  hone_context_free(nullptr);
  hone_model_free(nullptr);
}

}  // namespace
