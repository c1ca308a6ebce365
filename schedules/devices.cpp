// SPDX-License-Identifier: MIT
// The table of built-in device descriptions, and how a name or "host" becomes one of them.
// A description is explicit about its Halide target, so that a cross build and a build on the device are the same.
#include <algorithm>
#include <array>

#include "executor/error.h"
#include "generators/nearest_name.h"
#include "schedules/device_info.h"

namespace hone {
namespace {

/// Cache sizes are those of common machines of the class; resolve_device replaces them by the host's where it can.
const std::array kDevices = {
    DeviceInfo{
        .name = "x86-zen5",
        .halide_target = "x86-64-linux-avx-avx2-avx512-avx512_cannonlake-avx512_skylake-avx512_zen4-avx512_zen5-"
                         "avxvnni-f16c-fma-sse41-tune_znver5",
        .architecture = "x86-64",
        .binutils_prefix = "",
        .vector_bits = 512,
        .vector_registers = 32,
        .l1_bytes = 48 << 10,
        .l2_bytes = 1 << 20,
        .l3_bytes = 32 << 20,
        .cpu_flags = {"sse4_1", "avx", "avx2", "fma", "f16c", "avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl",
                      "avx512ifma", "avx512vbmi", "avx512_vbmi2", "avx512_vnni", "avx512_bitalg", "avx512_vpopcntdq",
                      "avx512_bf16", "avx_vnni", "avx512_vp2intersect"},
    },
    DeviceInfo{
        .name = "x86-zen4",
        .halide_target = "x86-64-linux-avx-avx2-avx512-avx512_cannonlake-avx512_skylake-avx512_zen4-f16c-fma-sse41-"
                         "tune_znver4",
        .architecture = "x86-64",
        .binutils_prefix = "",
        .vector_bits = 512,
        .vector_registers = 32,
        .l1_bytes = 32 << 10,
        .l2_bytes = 1 << 20,
        .l3_bytes = 32 << 20,
        .cpu_flags = {"sse4_1", "avx", "avx2", "fma", "f16c", "avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl",
                      "avx512ifma", "avx512vbmi", "avx512_vbmi2", "avx512_vnni", "avx512_bitalg", "avx512_vpopcntdq",
                      "avx512_bf16"},
    },
    DeviceInfo{
        .name = "x86-avx512",
        .halide_target = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41",
        .architecture = "x86-64",
        .binutils_prefix = "",
        .vector_bits = 512,
        .vector_registers = 32,
        .l1_bytes = 32 << 10,
        .l2_bytes = 1 << 20,
        .l3_bytes = 16 << 20,
        .cpu_flags = {"sse4_1", "avx", "avx2", "fma", "f16c", "avx512f", "avx512cd", "avx512bw", "avx512dq",
                      "avx512vl"},
    },
    DeviceInfo{
        .name = "x86-avx2",
        .halide_target = "x86-64-linux-avx-avx2-f16c-fma-sse41",
        .architecture = "x86-64",
        .binutils_prefix = "",
        .vector_bits = 256,
        .vector_registers = 16,
        .l1_bytes = 32 << 10,
        .l2_bytes = 512 << 10,
        .l3_bytes = 16 << 20,
        .cpu_flags = {"sse4_1", "avx", "avx2", "fma", "f16c"},
    },
    DeviceInfo{
        .name = "arm64-neon",
        .halide_target = "arm-64-linux-arm_dot_prod-arm_fp16",
        .architecture = "aarch64",
        .binutils_prefix = "aarch64-linux-gnu-",
        .vector_bits = 128,
        .vector_registers = 32,
        .l1_bytes = 64 << 10,
        .l2_bytes = 512 << 10,
        .l3_bytes = 4 << 20,
        .cpu_flags = {"asimd", "fphp", "asimdhp", "asimddp"},
    },
};

/// On its own architecture a device is linked with the native tools and has the host's cores and caches.
DeviceInfo with_host_facts(DeviceInfo device, const HostCpu& host) {
  if (device.architecture == host.architecture) device.binutils_prefix.clear();
  if (!unavailable_reason(device, host).empty()) return device;
  device.cores = host.cores;
  if (host.l1_bytes > 0) device.l1_bytes = host.l1_bytes;
  if (host.l2_bytes > 0) device.l2_bytes = host.l2_bytes;
  if (host.l3_bytes > 0) device.l3_bytes = host.l3_bytes;
  return device;
}

}  // namespace

std::string_view name(DeviceKind) {
  return "cpu";
}

std::span<const DeviceInfo> built_in_devices() {
  return kDevices;
}

std::string unavailable_reason(const DeviceInfo& device, const HostCpu& host) {
  if (device.architecture != host.architecture) {
    return "needs a " + device.architecture + " machine, this one is " + host.architecture;
  }
  for (const std::string& flag : device.cpu_flags) {
    if (std::find(host.flags.begin(), host.flags.end(), flag) == host.flags.end()) {
      return "needs " + flag + ", which this CPU lacks";
    }
  }
  return "";
}

DeviceInfo resolve_device(std::string_view wanted, const HostCpu& host) {
  std::vector<std::string> names;
  std::string list = "host";
  std::string lacking;
  for (const DeviceInfo& device : kDevices) {
    const std::string reason = unavailable_reason(device, host);
    if (wanted == device.name || (wanted == "host" && reason.empty())) return with_host_facts(device, host);
    names.push_back(device.name);
    list += ", " + device.name;
    if (device.architecture == host.architecture) lacking = device.name + " " + reason;
  }
  if (wanted == "host") {
    throw Error("cannot find a device for this machine",
                lacking.empty() ? "no built-in device is a " + host.architecture : lacking,
                "name the device to compile for with --device (" + list + ")");
  }
  names.insert(names.begin(), "host");
  throw Error("cannot find device '" + std::string(wanted) + "'", "there is no device of that name",
              "did you mean '" + nearest_name(wanted, names) + "'? (" + list + ")");
}

}  // namespace hone
