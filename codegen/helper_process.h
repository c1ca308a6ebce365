// SPDX-License-Identifier: MIT
// A running hone-compile, as its client sees it: start, talk, notice its end.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "codegen/helper_protocol.h"

namespace hone {

class HelperProcess {
 public:
  /// Starts the program and waits until it is ready. Throws Error if it does not get there. The helper dies with the
  /// thread that calls this: call it from the program's first.
  explicit HelperProcess(const std::filesystem::path& program);
  /// Closes the socket, which ends the helper and all it started, and reaps it.
  ~HelperProcess();
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;

  /// False if the helper is gone.
  bool send(const CompileCommand& command);
  /// Empty if the helper is gone, or has been silent for `seconds`.
  std::optional<CompileReply> receive(double seconds);

 private:
  void spawn(const std::filesystem::path& program, int helper_socket);
  void stop();

  int socket_ = -1;
  pid_t pid_ = -1;
};

}  // namespace hone
