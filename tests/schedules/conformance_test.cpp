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
  const KernelCase test(GetParam().workload);
  const DeviceInfo device = test_device();
  const unsigned seed = static_cast<unsigned>(std::hash<std::string>()(GetParam().name));
  for (const int threads : {1, 2}) {
    const TuningContext context{.threads = threads};
    for (const SearchSpace& space : search_spaces(implementations(), test.workload, device, context)) {
      ASSERT_EQ(space.violation(space.default_config), "") << space.default_config.canonical();
      const Implementation& implementation = find_implementation(implementations(), space.default_config);
      for (const Config& config : some_points(space, threads == 1 ? kRandomPoints : 1, seed)) {
        const double error = kernel_error(test, implementation, config, device, threads);
        EXPECT_LE(error, test.tolerance) << config.canonical() << " with " << threads << " threads";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, Conformance, testing::ValuesIn(all_cases()),
                         [](const testing::TestParamInfo<WorkloadCase>& info) { return info.param.name; });

/// The tuned templates must take what they are made for: a template that quietly refuses leaves it to the generic one.
TEST(Implementations, TunedTemplatesTakeTheirFamilies) {
  const auto first = [](const std::vector<WorkloadCase>& cases, std::string_view name) {
    for (const WorkloadCase& c : cases) {
      if (c.name == name) return search_spaces(implementations(), c.workload, test_device(), {})[0].implementation;
    }
    return std::string("no case");
  };
  EXPECT_EQ(first(convolution_cases(), "batch_of_three"), "conv2d_direct_cpu");
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

}  // namespace
}  // namespace hone
