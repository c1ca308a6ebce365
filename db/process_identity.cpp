// SPDX-License-Identifier: MIT
#include "db/process_identity.h"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace hone {
namespace {

std::string read_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// 0 if there is no such process or it is a zombie.
int64_t start_ticks(int64_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  // Field 2 is the program's name in parentheses and may itself contain ')' and spaces.
  const size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return 0;
  std::istringstream fields(text.substr(end_of_name + 1));
  std::string state, skipped;
  fields >> state;
  for (int field = 4; field <= 21; ++field) fields >> skipped;
  int64_t ticks = 0;
  if (!(fields >> ticks) || state == "Z" || state == "X") return 0;
  return ticks;
}

}  // namespace

ProcessIdentity this_process() {
  return {getpid(), start_ticks(getpid()), read_line("/proc/sys/kernel/random/boot_id")};
}

bool is_alive(const ProcessIdentity& process) {
  if (process.boot != read_line("/proc/sys/kernel/random/boot_id")) return false;
  const int64_t ticks = start_ticks(process.pid);
  return ticks != 0 && ticks == process.start_ticks;
}

}  // namespace hone
