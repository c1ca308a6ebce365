// SPDX-License-Identifier: MIT
// Readers of /proc and /sys.
#include "profiler/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

namespace hone {
namespace {

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

// The "key : value" lines of one processor. Hundreds of processors are listed: stop at the one that is wanted.
std::map<std::string, std::string> cpuinfo(int processor) {
  std::ifstream file("/proc/cpuinfo");
  std::map<std::string, std::string> entries;
  std::string line;
  bool wanted = false;
  while (std::getline(file, line)) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) {
      if (wanted) break;
      continue;
    }
    const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    const std::string value = colon + 2 <= line.size() ? line.substr(colon + 2) : "";
    if (key == "processor") wanted = value == std::to_string(processor);
    if (wanted) entries[key] = value;
  }
  return entries;
}

// "512K", "32M".
int64_t parse_size(const std::string& text) {
  char* end = nullptr;
  const int64_t value = std::strtoll(text.c_str(), &end, 10);
  if (*end == 'K') return value << 10;
  if (*end == 'M') return value << 20;
  return value;
}

std::optional<double> parse_real(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !(value > 0)) return std::nullopt;
  return value;
}

}  // namespace

std::string machine_architecture() {
#if defined(__x86_64__)
  return "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#else
#error "hone-runner supports x86-64 and aarch64"
#endif
}

std::string cpu_identity() {
  std::map<std::string, std::string> entries = cpuinfo(0);
#if defined(__aarch64__)
  // Under emulation /proc/cpuinfo is that of the host.
  if (!entries.contains("CPU implementer")) return "aarch64, not identified by /proc/cpuinfo";
  return "CPU implementer " + entries["CPU implementer"] + " part " + entries["CPU part"] + " variant " +
         entries["CPU variant"] + " revision " + entries["CPU revision"];
#else
  return entries["model name"] + ", family " + entries["cpu family"] + " model " + entries["model"] + " stepping " +
         entries["stepping"];
#endif
}

std::vector<DataCache> data_caches() {
  std::vector<DataCache> caches;
  for (int index = 0; index < 16; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const auto level = first_line(folder + "level"), type = first_line(folder + "type"),
               size = first_line(folder + "size");
    if (!level || !type || !size) continue;
    const int64_t bytes = parse_size(*size);
    if (*type != "Instruction" && bytes > 0) caches.push_back({std::atoi(level->c_str()), bytes});
  }
  std::sort(caches.begin(), caches.end(), [](const DataCache& a, const DataCache& b) { return a.level < b.level; });
  return caches;
}

int64_t last_level_cache_bytes() {
  const std::vector<DataCache> caches = data_caches();
  return caches.empty() ? int64_t{32} << 20 : caches.back().bytes;
}

int64_t physical_memory_bytes() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<int64_t>(sysconf(_SC_PAGESIZE));
}

double load_average() {
  double average = 0;
  return getloadavg(&average, 1) == 1 ? average : 0;
}

std::optional<double> frequency_ghz() {
  const int cpu = sched_getcpu();
  if (cpu < 0) return std::nullopt;
  const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/";
  if (const auto line = first_line(folder + "scaling_cur_freq")) {
    if (const auto khz = parse_real(*line)) return *khz * 1e-6;
  }
  std::map<std::string, std::string> entries = cpuinfo(cpu);
  // Without these counters "cpu MHz" is the nominal clock, whatever the CPU does.
  if ((" " + entries["flags"] + " ").find(" aperfmperf ") == std::string::npos) return std::nullopt;
  if (const auto mhz = parse_real(entries["cpu MHz"])) return *mhz * 1e-3;
  return std::nullopt;
}

}  // namespace hone
