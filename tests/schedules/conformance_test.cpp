// SPDX-License-Identifier: MIT
// Every implementation that supports a case x its default and some random points, one thread and two, against the
// float64 reference.
#include <gtest/gtest.h>

#include "generators/operators.h"
#include "tests/schedules/kernel_harness.h"
#include "tests/schedules/workload_cases.h"

namespace hone {
namespace {

constexpr int kRandomPoints = 3;

DeviceInfo test_device() {
  return resolve_device("host", detect_host_cpu());
}

std::vector<WorkloadCase> all_cases() {
  std::vector<WorkloadCase> all;
  for (auto* cases : {convolution_cases, depthwise_cases, matmul_cases, pool_cases, pointwise_cases, other_cases}) {
    for (WorkloadCase& c : cases()) all.push_back(std::move(c));
  }
  return all;
}

class Conformance : public testing::TestWithParam<WorkloadCase> {};

TEST_P(Conformance, EveryImplementationEqualsTheReference) {
  Builder& builder = kernel_builder();
  const KernelCase test(GetParam().workload);
  const DeviceInfo device = test_device();
  const unsigned seed = static_cast<unsigned>(std::hash<std::string>()(GetParam().name));
  std::vector<KernelPoint> points;
  for (const int threads : {1, 2}) {
    for (const SearchSpace& space : builder.spaces(test.workload, device, {.threads = threads})) {
      ASSERT_EQ(space.violation(space.default_config), "") << space.default_config.canonical();
      for (const Config& config : some_points(space, threads == 1 ? kRandomPoints : 1, seed)) {
        points.push_back({config, threads});
      }
    }
  }
  const std::vector<double> errors = kernel_errors(builder, test, device, points);
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_LE(errors[i], test.tolerance) << points[i].config.canonical() << " with " << points[i].threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, Conformance, testing::ValuesIn(all_cases()),
                         [](const auto& instance) { return instance.param.name; });

/// The tuned templates must take what they are made for: a template that quietly refuses leaves it to the generic one.
TEST(Implementations, TunedTemplatesTakeTheirFamilies) {
  const auto first = [](const std::vector<WorkloadCase>& cases, std::string_view name) {
    for (const WorkloadCase& c : cases) {
      if (c.name == name) return search_spaces(implementations(), c.workload, test_device(), {})[0].implementation;
    }
    return std::string("no case");
  };
  EXPECT_EQ(first(convolution_cases(), "winograd_batch_gaps"), "conv2d_winograd_cpu");
  EXPECT_EQ(first(convolution_cases(), "batch_of_three"), "conv2d_winograd_cpu");
  EXPECT_EQ(first(convolution_cases(), "pointwise_stride_2"), "conv2d_direct_cpu");
  EXPECT_EQ(first(convolution_cases(), "stem_of_a_dense_image"), "conv2d_direct_cpu");
  EXPECT_EQ(first(convolution_cases(), "grouped"), "generic_cpu");
  EXPECT_EQ(first(depthwise_cases(), "depthwise_batch"), "conv2d_depthwise_cpu");
  EXPECT_EQ(first(matmul_cases(), "gemm_everything"), "matmul_cpu");
  EXPECT_EQ(first(matmul_cases(), "matmul_broadcast_batches"), "matmul_cpu");
  EXPECT_EQ(first(pool_cases(), "max_3x3_stride_2"), "pool_cpu");
  EXPECT_EQ(first(pool_cases(), "mean_of_planes_flat"), "pool_cpu");
  EXPECT_EQ(first(pointwise_cases(), "squeeze_excite"), "pointwise_cpu");
  EXPECT_EQ(first(other_cases(), "transpose"), "generic_cpu");
}

/// F4 and F6 have a larger error class than direct summation.
TEST(Implementations, StrictAccuracyLeavesWinogradF2) {
  for (const WorkloadCase& c : convolution_cases()) {
    if (c.name != "winograd_deep") continue;
    const TuningContext strict{.accuracy = Accuracy::strict};
    const SearchSpace space = search_spaces(implementations(), c.workload, test_device(), strict)[0];
    EXPECT_EQ(space.implementation, "conv2d_winograd_cpu");
    EXPECT_EQ(space.default_config.at("m"), 2);
    Config f4 = space.default_config;
    f4.values["m"] = 4;
    EXPECT_EQ(space.violation(f4), "m=4 is out of its domain");
  }
}

}  // namespace
}  // namespace hone
