// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <set>

#include "executor/error.h"
#include "schedules/device_info.h"
#include "schedules/tuning_context.h"

namespace hone {
namespace {

HostCpu zen3() {
  return {.architecture = "x86-64",
          .model_name = "AMD EPYC",
          .identity = "AuthenticAMD family 25 model 1 stepping 1",
          .flags = {"sse4_1", "avx", "avx2", "fma", "f16c"},
          .cores = 6,
          .l1_bytes = 11 << 10,
          .l2_bytes = 77 << 10,
          .l3_bytes = 0};
}

std::string message_of(std::string_view device, const HostCpu& host) {
  try {
    resolve_device(device, host);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Devices, TableIsConsistent) {
  std::set<std::string> names;
  for (const DeviceInfo& device : built_in_devices()) {
    EXPECT_TRUE(names.insert(device.name).second) << device.name;
    EXPECT_EQ(device.halide_target.find("host"), std::string::npos);
    EXPECT_FALSE(device.cpu_flags.empty());
    EXPECT_GT(device.float_lanes(), 1);
    EXPECT_GE(device.vector_registers, 16);
  }
  for (const char* name : {"x86-zen5", "x86-zen4", "x86-avx512", "x86-avx2", "arm64-neon"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(Devices, HostIsTheMostCapableThatRunsWithItsOwnFacts) {
  const DeviceInfo device = resolve_device("host", zen3());
  EXPECT_EQ(device.name, "x86-avx2");
  EXPECT_EQ(device.cores, 6);
  EXPECT_EQ(device.l1_bytes, 11 << 10);
  EXPECT_EQ(device.l3_bytes, 16 << 20) << "unknown on the host: the table's";
  HostCpu newer = zen3();
  for (const char* flag : {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}) newer.flags.push_back(flag);
  EXPECT_EQ(resolve_device("host", newer).name, "x86-avx512");
}

TEST(Devices, ForeignDeviceKeepsTheTablesFacts) {
  EXPECT_EQ(resolve_device("x86-zen4", zen3()).cores, 1);
  EXPECT_EQ(resolve_device("arm64-neon", zen3()).binutils_prefix, "aarch64-linux-gnu-");
  HostCpu board;
  board.architecture = "aarch64";
  board.flags = {"asimd", "fphp", "asimdhp", "asimddp"};
  board.cores = 4;
  EXPECT_EQ(resolve_device("host", board).name, "arm64-neon");
  EXPECT_EQ(resolve_device("host", board).binutils_prefix, "");
  EXPECT_EQ(resolve_device("host", board).cores, 4);
}

TEST(Devices, ReasonsAndErrorsNameWhatIsMissing) {
  EXPECT_EQ(unavailable_reason(resolve_device("x86-avx2", zen3()), zen3()), "");
  EXPECT_EQ(unavailable_reason(resolve_device("x86-avx512", zen3()), zen3()), "needs avx512f, which this CPU lacks");
  EXPECT_EQ(unavailable_reason(resolve_device("arm64-neon", zen3()), zen3()),
            "needs a aarch64 machine, this one is x86-64");
  EXPECT_NE(message_of("x86-avx3", zen3()).find("did you mean 'x86-avx2'"), std::string::npos);
  HostCpu old = zen3();
  old.flags = {"sse4_1", "avx"};
  EXPECT_NE(message_of("host", old).find("x86-avx2 needs avx2, which this CPU lacks"), std::string::npos);
}

TEST(HostCpu, DetectsThisMachine) {
  const HostCpu host = detect_host_cpu();
  EXPECT_FALSE(host.architecture.empty());
  EXPECT_EQ(host.architecture.find('_'), std::string::npos);
  EXPECT_FALSE(host.identity.empty());
  EXPECT_FALSE(host.flags.empty());
  EXPECT_GE(host.cores, 1);
}

TEST(TuningContext, CanonicalTextParsesBack) {
  const TuningContext context{.threads = 12, .cold_weights = false, .accuracy = Accuracy::strict};
  EXPECT_EQ(context.canonical(), "threads=12 weights=hot accuracy=strict");
  EXPECT_EQ(TuningContext::parse(context.canonical()), context);
  EXPECT_EQ(TuningContext().canonical(), "threads=1 weights=cold accuracy=fp32");
  for (const char* text : {"", "threads=0 weights=cold accuracy=fp32", "threads=1 weights=cold", "threads=1",
                           "threads=01 weights=cold accuracy=fp32", "threads=1 weights=warm accuracy=fp32"}) {
    EXPECT_THROW(TuningContext::parse(text), Error) << text;
  }
}

}  // namespace
}  // namespace hone
