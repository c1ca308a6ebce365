// SPDX-License-Identifier: MIT
// The hone-runner process as the client sees it: started, spoken to, noticed when it dies, ended.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/protocol.h"

namespace hone {

class RunnerProcess {
 public:
  /// Starts the command in a process group of its own (Ctrl-C reaches hone alone). Throws Error if it cannot be
  /// started.
  explicit RunnerProcess(const std::vector<std::string>& command);
  /// Closes its input, which ends it, and waits; kills it if it lingers.
  ~RunnerProcess();
  RunnerProcess(const RunnerProcess&) = delete;
  RunnerProcess& operator=(const RunnerProcess&) = delete;

  /// False if the process is gone or does not take the message within `seconds`.
  bool send(std::span<const std::byte> message, double seconds);
  /// Empty if the process is gone, sends garbage instead of a frame, or stays silent for `seconds`.
  std::optional<Message> receive(double seconds);
  /// Kills the process and says how it ended: "killed by SIGKILL", "exited with code 127".
  std::string end();

 private:
  bool read_exactly(std::span<std::byte> bytes, double seconds);

  pid_t pid_ = -1;
  int to_runner_ = -1;    // a socket, which can report a dead reader without SIGPIPE
  int from_runner_ = -1;  // a pipe
};

}  // namespace hone
