// SPDX-License-Identifier: MIT
// What the CPU of this machine is, from uname, /proc/cpuinfo and /sys. Virtual machines and ARM boards leave many of
// these out: what is not there stays 0 or empty.
#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>

#include "schedules/device_info.h"

namespace hone {
namespace {

/// The fields of the first processor ("key : value" lines up to the first empty one), and ARM's trailing ones too.
std::map<std::string, std::string> read_cpuinfo() {
  std::map<std::string, std::string> fields;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::string key = line.substr(0, colon);
    key.erase(key.find_last_not_of(" \t") + 1);
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    fields.emplace(key, start == std::string::npos ? "" : line.substr(start));
  }
  return fields;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "512K" -> 524288; 0 for anything else.
int64_t parse_size(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return 0;
  const char unit = end == text.data() + text.size() ? ' ' : *end;
  return unit == 'K' ? value << 10 : unit == 'M' ? value << 20 : value;
}

void read_caches(HostCpu& host) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const std::string level = first_line(folder + "level");
    if (level.empty()) break;
    if (first_line(folder + "type") == "Instruction") continue;
    const int64_t bytes = parse_size(first_line(folder + "size"));
    if (level == "1") host.l1_bytes = bytes;
    if (level == "2") host.l2_bytes = bytes;
    if (level == "3") host.l3_bytes = bytes;
  }
}

/// The cores that this process may use, not those that the machine has: a container may own a few of many.
int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace

HostCpu detect_host_cpu() {
  HostCpu host;
  utsname system{};
  if (uname(&system) == 0) host.architecture = system.machine;
  if (host.architecture == "x86_64") host.architecture = "x86-64";
  std::map<std::string, std::string> fields = read_cpuinfo();
  const bool x86 = fields.contains("vendor_id");
  host.identity = x86 ? fields["vendor_id"] + " family " + fields["cpu family"] + " model " + fields["model"] +
                            " stepping " + fields["stepping"]
                      : "implementer " + fields["CPU implementer"] + " part " + fields["CPU part"] + " variant " +
                            fields["CPU variant"] + " revision " + fields["CPU revision"];
  host.model_name = x86 ? fields["model name"] : fields.contains("model name") ? fields["model name"] : host.identity;
  std::istringstream flags(fields[x86 ? "flags" : "Features"]);
  for (std::string flag; flags >> flag;) host.flags.push_back(flag);
  host.cores = usable_cores();
  read_caches(host);
  return host;
}

}  // namespace hone
