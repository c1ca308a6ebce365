// SPDX-License-Identifier: MIT
// Fork, limits, deadline, kill and reap. The order of the steps is what makes it hold: see the comments.
#include "profiler/killable_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <new>
#include <system_error>

#include "profiler/wire.h"

namespace hone {
namespace {

using Clock = std::chrono::steady_clock;

// How long a child that closed its pipe, or died while a process of its own keeps the pipe open, may go unnoticed.
// Normally the end of the pipe wakes us, so that no timer disturbs the measurement.
constexpr int kPollMilliseconds = 100;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kLimitsMemory = false;  // the sanitizer reserves terabytes of address space
#else
constexpr bool kLimitsMemory = true;
#endif

void limit(int resource, uint64_t value) {
  const rlimit both{.rlim_cur = value, .rlim_max = value};
  setrlimit(static_cast<__rlimit_resource_t>(resource), &both);
}

uint64_t own_address_space() {
  std::ifstream file("/proc/self/statm");
  uint64_t pages = 0;
  file >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void apply_limits(const ChildLimits& limits) {
  limit(RLIMIT_CORE, 0);
  // A fuse behind the deadline, for the case that the runner itself is stopped. Every thread may use the whole time.
  limit(RLIMIT_CPU, static_cast<uint64_t>(std::ceil(limits.deadline_seconds)) * limits.threads + 2);
  if (kLimitsMemory && limits.memory_bytes > 0) limit(RLIMIT_AS, own_address_space() + limits.memory_bytes);
  // Should memory run out all the same, the kernel's killer is to choose this process. Lowering one's own odds needs no
  // right.
  std::ofstream("/proc/self/oom_score_adj") << "1000";
  // Whatever handlers the runner or a sanitizer has: a crash ends this process, with the signal as its message.
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS, SIGPIPE}) signal(number, SIG_DFL);
}

[[noreturn]] void run_child(const std::function<std::vector<std::byte>(ChildProgress&)>& body,
                            const ChildLimits& limits, ChildProgress& progress, int reply_fd,
                            std::span<const int> protocol_fds, pid_t runner) {
  setpgid(0, 0);
  // The signal follows the parent's death; the comparison catches a parent that died before prctl.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != runner) _exit(1);
  for (const int fd : protocol_fds) close(fd);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // a kernel that prints must not speak to our client
  close(null);
  apply_limits(limits);
  try {
    const std::vector<std::byte> payload = body(progress);
    progress.phase = ChildProgress::replying;
    write_message(reply_fd, payload);
    _exit(0);
  } catch (const std::exception& error) {
    fprintf(stderr, "hone-runner: %s\n", error.what());
    _exit(1);
  }
}

// True if the child has ended; leaves it a zombie, so that its process group cannot be reused before we kill it.
bool has_ended(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

// Appends what the pipe holds. False at its end.
bool drain(int fd, std::vector<std::byte>& bytes) {
  std::byte chunk[1 << 16];
  while (true) {
    const ssize_t count = read(fd, chunk, sizeof(chunk));
    if (count > 0) bytes.insert(bytes.end(), chunk, chunk + count);
    if (count == 0) return false;
    if (count < 0 && errno != EINTR) return errno == EAGAIN || errno == EWOULDBLOCK;
  }
}

enum class WaitEnd { ended, timed_out, abandoned };

WaitEnd wait_for_child(pid_t child, int reply_fd, int watched_fd, Clock::time_point deadline,
                       std::vector<std::byte>& bytes) {
  bool open = true;
  while (true) {
    if (has_ended(child)) {
      if (open) drain(reply_fd, bytes);
      return WaitEnd::ended;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return WaitEnd::timed_out;
    pollfd polled[] = {{.fd = watched_fd, .events = POLLRDHUP, .revents = 0},
                       {.fd = open ? reply_fd : -1, .events = POLLIN, .revents = 0}};
    // Once the pipe is closed the process is about to end: look more often.
    poll(polled, 2, static_cast<int>(std::min<int64_t>(left, open ? kPollMilliseconds : 1)));
    if (polled[0].revents & (POLLHUP | POLLRDHUP | POLLERR | POLLNVAL)) return WaitEnd::abandoned;
    if (polled[1].revents != 0) open = drain(reply_fd, bytes);
  }
}

// The payload inside its frame; false if the child did not write all of it, or more.
bool unframe(std::vector<std::byte>& bytes) {
  if (bytes.size() < sizeof(uint32_t)) return false;
  if (WireReader(bytes).read_unsigned<uint32_t>() != bytes.size() - sizeof(uint32_t)) return false;
  bytes.erase(bytes.begin(), bytes.begin() + sizeof(uint32_t));
  return true;
}

// Ends what a kernel started and moved out of its process group. The runner is the subreaper of all its descendants
// (runner_main.cpp), so once the child is dead they are children of ours, and we have no others.
void end_strays() {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const pid_t ended = waitpid(-1, nullptr, WNOHANG);
    if (ended < 0 && errno == ECHILD) return;
    if (ended != 0) continue;
    std::ifstream children("/proc/thread-self/children");
    pid_t stray = 0;
    while (children >> stray) kill(stray, SIGKILL);
    usleep(1000);
  }
}

std::string seconds_text(double seconds) {
  char text[32];
  snprintf(text, sizeof(text), "%.3g s", seconds);
  return text;
}

}  // namespace

std::string describe_exit(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const char* abbreviation = sigabbrev_np(WTERMSIG(wait_status));
    return std::string("killed by SIG") + (abbreviation ? abbreviation : std::to_string(WTERMSIG(wait_status)));
  }
  return "exited with code " + std::to_string(WEXITSTATUS(wait_status));
}

ChildResult run_in_child(const std::function<std::vector<std::byte>(ChildProgress&)>& body, const ChildLimits& limits,
                         int watched_fd, std::span<const int> protocol_fds) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(limits.deadline_seconds));
  void* shared = mmap(nullptr, sizeof(ChildProgress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  const auto unmap = [](ChildProgress* page) { munmap(page, sizeof(ChildProgress)); };
  const std::unique_ptr<ChildProgress, decltype(unmap)> progress(new (shared) ChildProgress, unmap);

  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t runner = getpid();
  const pid_t child = fork();
  if (child == 0) {
    close(fds[0]);
    run_child(body, limits, *progress, fds[1], protocol_fds, runner);
  }
  close(fds[1]);
  if (child < 0) {
    close(fds[0]);
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  setpgid(child, child);  // by both sides: whoever comes first, the group exists before it is killed
  fcntl(fds[0], F_SETFL, O_NONBLOCK);

  ChildResult result;
  const WaitEnd end = wait_for_child(child, fds[0], watched_fd, deadline, result.payload);
  close(fds[0]);
  kill(-child, SIGKILL);  // before the wait below, while the id cannot belong to anybody else
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  end_strays();
  result.phase = static_cast<ChildProgress::Phase>(progress->phase.load());
  result.candidate = progress->candidate;
  if (end == WaitEnd::abandoned) {
    result.end = ChildResult::End::abandoned;
  } else if (end == WaitEnd::timed_out) {
    result.end = ChildResult::End::timed_out;
    result.message = "not done after " + seconds_text(limits.deadline_seconds);
  } else if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && unframe(result.payload)) {
    result.end = ChildResult::End::finished;
  } else {
    result.message = describe_exit(status);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) result.message += " before the run was over";
  }
  return result;
}

}  // namespace hone
