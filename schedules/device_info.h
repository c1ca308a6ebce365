// SPDX-License-Identifier: MIT
// DeviceInfo: the compile side of a device. How candidates run on it is a Transport (profiler/transport.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

enum class DeviceKind { cpu };  // cuda, opencl, plugin: later issues
std::string_view name(DeviceKind kind);

struct DeviceInfo {
  std::string name;  // "x86-avx2"
  DeviceKind kind = DeviceKind::cpu;
  std::string halide_target;    // explicit, never "host", without no_runtime/user_context/... which codegen adds
  std::string architecture;     // "x86-64" or "aarch64", as uname -m spells it, with '-' for '_'
  std::string binutils_prefix;  // "" or "aarch64-linux-gnu-": as, ld, objcopy, ar
  int vector_bits = 128;
  int vector_registers = 16;
  int cores = 1;
  int64_t l1_bytes = 32 << 10;
  int64_t l2_bytes = 512 << 10;
  int64_t l3_bytes = 0;
  std::vector<std::string> cpu_flags;  // as /proc/cpuinfo spells them: all must be present to run

  int float_lanes() const { return vector_bits / 32; }
};

/// The table of built-in descriptions (schedules/devices.cpp), most capable first within an architecture.
std::span<const DeviceInfo> built_in_devices();

/// What the machine that runs this process is.
struct HostCpu {
  std::string architecture;  // "x86-64"
  std::string model_name;    // "AMD EPYC", from /proc/cpuinfo
  std::string identity;      // "AuthenticAMD family 25 model 1 stepping 1": keys results together with the device name
  std::vector<std::string> flags;
  int cores = 1;
  int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // 0: unknown
};
HostCpu detect_host_cpu();

/// Empty if `host` can run code for `device`, else the reason ("needs avx512f, which this CPU lacks").
std::string unavailable_reason(const DeviceInfo& device, const HostCpu& host);

/// Resolves "host" (the most capable built-in device that runs here, cores and caches as detected) or a built-in name
/// (same facts if it runs here, else the table's). Throws Error naming the nearest name.
DeviceInfo resolve_device(std::string_view name, const HostCpu& host);

}  // namespace hone
