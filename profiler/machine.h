// SPDX-License-Identifier: MIT
// Facts about the machine that hone-runner runs on, read from /proc and /sys. Unreadable is absent, never zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hone {

/// "x86-64", "aarch64".
std::string machine_architecture();

/// One line, the same on every boot: "AMD EPYC, family 25 model 1 stepping 1" or "CPU implementer 0x41 part 0xd0c
/// variant 0x3 revision 1".
std::string cpu_identity();

struct DataCache {
  int level = 0;
  int64_t bytes = 0;
};
/// Data and unified caches of CPU 0, innermost first; empty where the system does not say.
std::vector<DataCache> data_caches();

/// Size of the outermost cache; 32 MiB where unknown.
int64_t last_level_cache_bytes();

int64_t physical_memory_bytes();

/// Average number of runnable processes over the last minute.
double load_average();

/// Current clock of the CPU that the caller runs on, where the system measures it (a virtual machine mostly does not).
std::optional<double> frequency_ghz();

}  // namespace hone
