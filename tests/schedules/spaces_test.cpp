// SPDX-License-Identifier: MIT
// Spaces of every implementation over many shapes, devices and contexts, without compiling anything; and the packed
// forms and matrices that kernels rely on.
#include <gtest/gtest.h>

#include <cmath>

#include "executor/error.h"
#include "schedules/packing.h"
#include "schedules/winograd_matrices.h"
#include "tests/schedules/workload_cases.h"
#include "tests/schedules/workload_sketch.h"

namespace hone {
namespace {

Workload convolution(int64_t ci, int64_t size, int64_t co, int64_t kernel, int64_t stride, int64_t group,
                     MemoryOrder out = MemoryOrder::channels_last) {
  WorkloadSketch s;
  const int x = s.input({1, ci, size, size}, MemoryOrder::channels_last);
  const int w = s.constant({co, ci / group, kernel, kernel}), b = s.constant({co});
  const int64_t pad = kernel / 2;
  s.output(s.node("Conv", {x, w, b},
                  {{"strides", std::vector<int64_t>{stride, stride}},
                   {"pads", std::vector<int64_t>{pad, pad, pad, pad}},
                   {"group", group}}),
           out);
  return s.workload();
}

std::vector<Workload> many_workloads() {
  std::vector<Workload> workloads;
  for (const int64_t channels : {1, 3, 5, 8, 24, 40, 64, 512}) {
    for (const int64_t size : {1, 2, 7, 13, 28, 112}) {
      for (const int64_t kernel : {1, 3, 7}) {
        if (kernel / 2 * 2 + size < kernel) continue;
        workloads.push_back(convolution(channels, size, channels == 3 ? 32 : channels, kernel, 1, 1));
        workloads.push_back(convolution(channels, size, channels + 1, kernel, 2, 1));
        workloads.push_back(convolution(channels, size, 8, kernel, 1, 1, MemoryOrder::channels_last_crop));
        if (channels > 1) workloads.push_back(convolution(channels, size, channels, kernel, 1, channels));
      }
    }
  }
  workloads.push_back(convolution(2, 97, 8, 61, 1, 1, MemoryOrder::channels_last_crop));
  for (auto* cases : {convolution_cases, depthwise_cases, matmul_cases, pool_cases, pointwise_cases, other_cases}) {
    for (const WorkloadCase& c : cases()) workloads.push_back(c.workload);
  }
  return workloads;
}

TEST(Spaces, DefaultsSatisfyTheirConstraintsOnEveryDevice) {
  for (const Workload& workload : many_workloads()) {
    for (const DeviceInfo& device : built_in_devices()) {
      for (const int threads : {1, 4}) {
        const TuningContext context{.threads = threads};
        for (const SearchSpace& space : search_spaces(implementations(), workload, device, context)) {
          EXPECT_EQ(space.violation(space.default_config), "")
              << space.default_config.canonical() << " for " << workload.summary() << " on " << device.name;
          for (const TunableParam& param : space.params) {
            EXPECT_TRUE(std::is_sorted(param.values.begin(), param.values.end())) << param.name;
          }
        }
      }
    }
  }
}

TEST(Spaces, OneThreadHasNoParallelKnob) {
  const DeviceInfo& device = built_in_devices().front();
  for (const Workload& workload : many_workloads()) {
    for (const SearchSpace& space : search_spaces(implementations(), workload, device, {.threads = 1})) {
      EXPECT_FALSE(space.default_config.values.contains("parallel")) << space.default_config.canonical();
    }
  }
}

TEST(Spaces, WinogradKeepsTransformedWeightsSmall) {
  const DeviceInfo device = resolve_device("x86-avx2", HostCpu());
  const std::vector<SearchSpace> spaces =
      search_spaces(implementations(), convolution(512, 28, 512, 3, 1, 1), device, {});
  ASSERT_EQ(spaces[0].implementation, "conv2d_winograd_cpu");
  EXPECT_EQ(spaces[0].default_config.at("m"), 2);
  Config f4 = spaces[0].default_config;
  f4.values["m"] = 4;
  EXPECT_EQ(spaces[0].violation(f4), "transformed weights");
  const Workload huge = convolution(2048, 7, 2048, 3, 1, 1);
  EXPECT_EQ(search_spaces(implementations(), huge, device, {})[0].implementation, "conv2d_direct_cpu");
}

TEST(Implementations, UnknownNamesAndVersionsAreNamed) {
  const auto message = [](const Config& config) -> std::string {
    try {
      find_implementation(implementations(), config);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({"conv2d_direct_cpu", 1, {}}), "");
  EXPECT_NE(message({"conv2d_dircet_cpu", 1, {}}).find("did you mean 'conv2d_direct_cpu'"), std::string::npos);
  EXPECT_NE(message({"conv2d_direct_cpu", 99, {}}).find("tune the kernel again"), std::string::npos);
}

TEST(Implementations, NamesAreUniqueAndTheLastTakesAll) {
  std::vector<std::string_view> names;
  for (const Implementation* implementation : implementations()) {
    EXPECT_EQ(std::find(names.begin(), names.end(), implementation->name()), names.end()) << implementation->name();
    EXPECT_FALSE(implementation->description().empty());
    names.push_back(implementation->name());
  }
  EXPECT_EQ(names.back(), "generic_cpu");
}

TEST(Packing, PanelsInterleaveABlockOfRowsAndPadWithZeros) {
  Tensor tensor = Tensor::zeros(DType::f32, {3, 2});
  for (int i = 0; i < 6; ++i) tensor.as<float>()[static_cast<size_t>(i)] = static_cast<float>(i + 1);
  const PackedConstant packed = pack_panels(
      tensor, 3, 2, 2, [](int64_t o, int64_t i) { return o * 2 + i; }, "test");
  Tensor result = Tensor::zeros(DType::f32, {8});
  ASSERT_EQ(packed.bytes.size(), result.bytes.size());
  result.bytes = packed.bytes;
  const std::vector<float> expected{1, 3, 2, 4, 5, 0, 6, 0};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(result.as<float>()[i], expected[i]) << i;
}

/// y = AT [(G w) .* (BT x)] is the correlation of x with w, exactly but for rounding.
TEST(WinogradMatrices, ReproduceACorrelation) {
  for (const int64_t m : {2, 4, 6}) {
    const WinogradMatrices matrices = winograd_matrices(m);
    const size_t n = static_cast<size_t>(m) + 2;
    std::vector<double> x(n), product(n);
    const std::vector<double> w{0.5, -2, 3};
    for (size_t i = 0; i < n; ++i) x[i] = std::sin(static_cast<double>(i) + 1);
    for (size_t i = 0; i < n; ++i) {
      double u = 0, v = 0;
      for (size_t k = 0; k < 3; ++k) u += matrices.g[i][k] * w[k];
      for (size_t k = 0; k < n; ++k) v += matrices.bt[i][k] * x[k];
      product[i] = u * v;
    }
    for (size_t o = 0; o < static_cast<size_t>(m); ++o) {
      double y = 0;
      for (size_t i = 0; i < n; ++i) y += matrices.at[o][i] * product[i];
      EXPECT_NEAR(y, w[0] * x[o] + w[1] * x[o + 1] + w[2] * x[o + 2], 1e-12) << "m=" << m << " output " << o;
    }
  }
}

}  // namespace
}  // namespace hone
