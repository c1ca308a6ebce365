// SPDX-License-Identifier: MIT
#include "executor/cpu_flags.h"

#include <string_view>

#include "executor/text.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

namespace hone {
namespace {

#if defined(__aarch64__)

/// Not /proc/cpuinfo: under qemu-user that is the host's. Bits of AT_HWCAP and AT_HWCAP2 from
/// Documentation/arch/arm64/elf_hwcaps.rst of Linux.
struct Capability {
  std::string_view name;
  unsigned long type;
  int bit;
};
constexpr Capability kCapabilities[] = {
    {"fp", AT_HWCAP, 0},       {"asimd", AT_HWCAP, 1},  {"aes", AT_HWCAP, 3},       {"crc32", AT_HWCAP, 7},
    {"atomics", AT_HWCAP, 8},  {"fphp", AT_HWCAP, 9},   {"asimdhp", AT_HWCAP, 10},  {"asimdrdm", AT_HWCAP, 12},
    {"asimddp", AT_HWCAP, 20}, {"sve", AT_HWCAP, 22},   {"asimdfhm", AT_HWCAP, 23}, {"sve2", AT_HWCAP2, 1},
    {"i8mm", AT_HWCAP2, 13},   {"bf16", AT_HWCAP2, 14},
};

struct PresentFlags {
  bool contain(std::string_view flag) const {
    for (const Capability& capability : kCapabilities) {
      if (capability.name == flag) return (getauxval(capability.type) >> capability.bit & 1) != 0;
    }
    return false;
  }
};

#else

/// The words of the first "flags" line, with a space before and after each. Linux leaves out what the operating system
/// or a virtual machine disabled, which plain CPUID does not.
std::string read_flags() {
  std::string text;
  const int file = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
  char block[4096];
  for (ssize_t got; file >= 0 && (got = read(file, block, sizeof block)) > 0;) {
    text.append(block, static_cast<size_t>(got));
    const size_t start = text.find("\nflags");
    const size_t end = start == std::string::npos ? start : text.find('\n', start + 1);
    if (end == std::string::npos) continue;
    close(file);
    return concatenate({std::string_view(text).substr(start, end - start), " "});
  }
  if (file >= 0) close(file);
  return "";
}

struct PresentFlags {
  std::string flags = read_flags();
  bool contain(const std::string& flag) const { return flags.find(concatenate({" ", flag, " "})) != std::string::npos; }
};

#endif

}  // namespace

std::string missing_cpu_flag(std::span<const std::string> flags) {
  const PresentFlags present;
  for (const std::string& flag : flags) {
    if (!present.contain(flag)) return flag;
  }
  return "";
}

}  // namespace hone
