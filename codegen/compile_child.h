// SPDX-License-Identifier: MIT
// Forks a child of hone-compile that computes or execs something, within limits, and can be killed with all it started.
// The caller must have a single thread (fork).
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace hone {

/// A running child: leader of its own process group, dead as soon as its parent is.
struct CompileChild {
  pid_t pid = -1;
  int pidfd = -1;     // readable when it has ended
  int messages = -1;  // what it writes to stderr and stdout
};

/// `body` runs in the child and either throws Error, returns (exit code 0), or replaces the process by exec_tool.
/// `protocol_socket` is closed there. pid is -1 if the system gave no process.
CompileChild start_child(const std::function<void()>& body, double deadline_seconds, int protocol_socket);

/// Replaces the process by a program found in PATH. If there is none the child ends as "missing tool".
[[noreturn]] void exec_tool(const std::vector<std::string>& command);

struct ChildEnd {
  enum class Kind { finished, failed, out_of_time, missing_tool } kind = Kind::failed;
  std::string message;  // of failed: the Error, or how it died and its first line of output; missing_tool: its name
};
/// Kills what is left of the child's group, reaps it, closes its descriptors and explains its end from the status and
/// from all it wrote.
ChildEnd finish_child(const CompileChild& child, const std::string& output);

}  // namespace hone
