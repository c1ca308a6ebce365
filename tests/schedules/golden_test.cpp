// SPDX-License-Identifier: MIT
// One fixed point of each implementation, lowered for a fixed device, must hash to the approved value: a stored Config
// means the same code as on the day it was measured. A changed schedule needs a new version() and a new line here.
#include <gtest/gtest.h>

#include <map>

#include "tests/schedules/kernel_harness.h"
#include "tests/schedules/workload_cases.h"

namespace hone {
namespace {

struct Approved {
  std::string_view case_name;
  std::string_view config;
  std::string_view hash;  // of the lowered statement
};

constexpr Approved kApproved[] = {
    {"depthwise_14", "conv2d_depthwise_cpu@1{nv=1,order=0,unroll_y=1,vl=8,xr=7,yr=1}", "737e717ac9b69c6b"},
    {"three_by_three_14", "conv2d_direct_cpu@1{block=0,ku=2,nv=2,rows=0,vl=8,xr=6}", "f5bf8d47658d63ee"},
    {"three_by_three_14", "conv2d_direct_cpu@1{block=0,ku=1,nv=2,rows=1,vl=8,xr=4}", "3ddfa26144ca5444"},
    {"three_by_three_14", "conv2d_winograd_cpu@1{ku=1,m=4,nv=2,tile_major=1,tyb=2,vl=8,xr=4}", "6d203ad7e8c40f83"},
    {"concat", "generic_cpu@1{}", "a4e8211c67c30c3f"},
    {"matmul_one_row_classifier", "matmul_cpu@1{block=0,ku=1,nv=8,vl=8,xr=1}", "24320b4da8ba39e9"},
    {"squeeze_excite", "pointwise_cpu@1{unroll=2}", "adfab4a335240441"},
    {"max_3x3_stride_2", "pool_cpu@1{nv=1,unroll=1,xr=1}", "9e3ac79c7f3f151a"},
};

std::map<std::string, Workload, std::less<>> cases_by_name() {
  std::map<std::string, Workload, std::less<>> by_name;
  for (auto* cases : {convolution_cases, depthwise_cases, matmul_cases, pool_cases, pointwise_cases, other_cases}) {
    for (const WorkloadCase& c : cases()) by_name.emplace(c.name, c.workload);
  }
  return by_name;
}

std::string hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  std::string digits(16, '0');
  for (size_t i = 16; i-- > 0; hash >>= 4) digits[i] = "0123456789abcdef"[hash & 15];
  return digits;
}

TEST(Golden, AFixedPointLowersToTheApprovedCode) {
  const HostCpu no_host;  // the table's facts, on every machine
  const DeviceInfo device = resolve_device("x86-avx2", no_host);
  const auto workloads = cases_by_name();
  for (const Approved& approved : kApproved) {
    const Config config = Config::parse(approved.config);
    const Implementation& implementation = find_implementation(implementations(), config);
    const std::string text = lowered_text(workloads.find(approved.case_name)->second, implementation, config, device);
    EXPECT_EQ(hash_of(text), approved.hash)
        << approved.config << " on " << approved.case_name << " lowers differently: raise version() of "
        << config.implementation << " and approve the new hash";
  }
}

TEST(Golden, EveryImplementationHasALine) {
  for (const Implementation* implementation : implementations()) {
    bool found = false;
    for (const Approved& approved : kApproved) {
      const Config config = Config::parse(approved.config);
      found |= config.implementation == implementation->name() && config.version == implementation->version();
    }
    EXPECT_TRUE(found) << implementation->name() << "@" << implementation->version();
  }
}

}  // namespace
}  // namespace hone
