// SPDX-License-Identifier: MIT
// Runs a function in a child process that can be killed: a kernel that crashes, hangs or eats memory costs one request.
// Used by hone-runner, which must have a single thread (fork).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace hone {

struct ChildLimits {
  double deadline_seconds = 10;
  int threads = 1;            // for the CPU-time fuse
  uint64_t memory_bytes = 0;  // address space above what the runner already has; 0: no limit
};

/// What the child is doing, written into shared memory by it, so that its death can be explained.
struct ChildProgress {
  enum Phase : int { starting, loading, first_call, measuring, replying };
  std::atomic<int> phase = starting;
  std::atomic<int> candidate = 0;
  void note(Phase new_phase, int new_candidate) {
    candidate = new_candidate;
    phase = new_phase;
  }
};

struct ChildResult {
  enum class End { finished, failed, timed_out, abandoned };  // abandoned: whoever asked is gone
  End end = End::failed;
  std::string message;             // of failed and timed_out: "killed by SIGSEGV"
  std::vector<std::byte> payload;  // of finished: what the body returned
  ChildProgress::Phase phase = ChildProgress::starting;
  int candidate = 0;
};

/// Forks, runs `body` in the child and returns its bytes. The child is the leader of its own process group; neither
/// that nor any other descendant is left when this returns (so the caller has no children of its own); it dies with the
/// runner. It has neither stdin nor `protocol_fds`; its stderr is ours. Gives up at once when `watched_fd` hangs up.
ChildResult run_in_child(const std::function<std::vector<std::byte>(ChildProgress&)>& body, const ChildLimits& limits,
                         int watched_fd, std::span<const int> protocol_fds);

/// "killed by SIGSEGV" or "exited with code 3", from a status of waitpid().
std::string describe_exit(int wait_status);

}  // namespace hone
