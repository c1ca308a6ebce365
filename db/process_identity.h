// SPDX-License-Identifier: MIT
// ProcessIdentity: a process, told apart from a later one that got the same pid. A job keeps the identity of the
// process that runs it, so that kill -9 never leaves a job locked.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace hone {

struct ProcessIdentity {
  int64_t pid = 0;
  int64_t start_ticks = 0;  // field 22 of /proc/<pid>/stat: clock ticks between boot and the start of the process
  std::string boot;         // /proc/sys/kernel/random/boot_id: ticks of two boots are not comparable
  auto operator<=>(const ProcessIdentity&) const = default;
};

ProcessIdentity this_process();
/// False if it has ended (a zombie has), and for another boot or machine.
bool is_alive(const ProcessIdentity& process);

}  // namespace hone
