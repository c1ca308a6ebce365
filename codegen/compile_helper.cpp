// SPDX-License-Identifier: MIT
// hone-compile: loads Halide once, then forks a child for each kernel. A hang, crash or memory bomb of the compiler
// costs one child: every child is a process group with a deadline and limits, and nothing outlives the main program.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <string>
#include <vector>

#include "codegen/build_message.h"
#include "codegen/compile_kernel.h"
#include "executor/error.h"

namespace hone {
namespace {

using Clock = std::chrono::steady_clock;
constexpr rlim_t kMemoryBytes = rlim_t{2} << 30;  // a fuse: large kernels take about 200 MB
constexpr rlim_t kFileBytes = rlim_t{256} << 20;

struct Child {
  int64_t id = 0;
  pid_t pid = -1;
  int pidfd = -1;
  int messages = -1;  // its stderr
  std::string text;
  Clock::time_point started, deadline;
  bool late = false;
};

void limit(__rlimit_resource resource, rlim_t value) {
  const rlimit both{value, value};
  setrlimit(resource, &both);
}

/// The kernel that runs in the child. `parent` is the helper's own pid: PDEATHSIG misses a parent that is gone already.
[[noreturn]] void run_child(const CompileRequest& request, const ImplementationTable& table, pid_t parent,
                            const std::vector<int>& inherited, int messages) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExitFailed);
  for (int fd : inherited) close(fd);
  dup2(messages, STDERR_FILENO);
  dup2(messages, STDOUT_FILENO);
  limit(RLIMIT_CPU, static_cast<rlim_t>(std::ceil(request.build.deadline_seconds)) + 1);
#ifndef __SANITIZE_ADDRESS__  // its shadow memory is larger than any sensible limit
  limit(RLIMIT_AS, kMemoryBytes);
#endif
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, kFileBytes);
  compile_kernel(request, table);
}

class HelperLoop {
 public:
  HelperLoop(int requests, int replies, const ImplementationTable& table)
      : requests_(requests), replies_(replies), table_(table), pid_(getpid()) {}
  int run();

 private:
  void start(const CompileRequest& request);
  void read_messages(Child& child);
  void finish(Child& child);
  int poll_timeout_ms() const;

  int requests_, replies_;
  const ImplementationTable& table_;
  pid_t pid_;
  std::list<Child> children_;
};

void HelperLoop::start(const CompileRequest& request) {
  int pipe_fds[2];
  CHECK(pipe2(pipe_fds, O_CLOEXEC) == 0);
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    std::vector<int> inherited = {requests_, replies_, pipe_fds[0]};
    for (const Child& other : children_) inherited.insert(inherited.end(), {other.pidfd, other.messages});
    run_child(request, table_, pid_, inherited, pipe_fds[1]);
  }
  close(pipe_fds[1]);
  Child child;
  child.id = request.id;
  child.messages = pipe_fds[0];
  child.started = Clock::now();
  child.deadline =
      child.started + std::chrono::milliseconds(static_cast<int64_t>(1000 * request.build.deadline_seconds));
  if (pid < 0) {
    close(pipe_fds[0]);
    write_frame(replies_,
                to_text(CompileReply{child.id, {BuildStatus::failed, "cannot fork a compiler process", 0}, ""}));
    return;
  }
  setpgid(pid, pid);  // both sides: whoever is first
  child.pid = pid;
  // By number: glibc 2.36's <sys/pidfd.h> has no extern "C".
  child.pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  CHECK(child.pidfd >= 0);
  children_.push_back(child);
}

void HelperLoop::read_messages(Child& child) {
  char buffer[4096];
  pollfd ready{child.messages, POLLIN, 0};
  while (poll(&ready, 1, 0) > 0) {
    const ssize_t count = read(child.messages, buffer, sizeof buffer);
    if (count <= 0) return;
    if (child.text.size() < 64 * 1024) child.text.append(buffer, static_cast<size_t>(count));
  }
}

void HelperLoop::finish(Child& child) {
  read_messages(child);
  kill(-child.pid, SIGKILL);  // before wait: the pid cannot have been reused; ends what the child left behind
  int status = 0;
  waitpid(child.pid, &status, 0);
  close(child.pidfd);
  close(child.messages);
  CompileReply reply;
  reply.id = child.id;
  reply.outcome.seconds = std::chrono::duration<double>(Clock::now() - child.started).count();
  const std::string line = child.text.substr(0, child.text.find('\n'));
  const bool clean = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (child.late || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)) {
    reply.outcome.status = BuildStatus::timed_out;
    reply.outcome.message = "the compiler did not finish before its deadline";
  } else if (!clean) {
    reply.outcome.status = BuildStatus::failed;
    const bool signalled = WIFSIGNALED(status);
    reply.outcome.message =
        signalled ? std::string("the compiler was killed by SIG") + sigabbrev_np(WTERMSIG(status)) : line;
    if (signalled && !line.empty()) reply.outcome.message += ": " + line;
    if (!signalled && line.empty())
      reply.outcome.message = "the compiler exited with code " + std::to_string(WEXITSTATUS(status));
    if (!signalled && WEXITSTATUS(status) == kExitMissingTool) reply.missing_tool = line;
  }
  write_frame(replies_, to_text(reply));
}

int HelperLoop::poll_timeout_ms() const {
  int64_t nearest = -1;
  for (const Child& child : children_) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(child.deadline - Clock::now()).count() + 1;
    const int64_t wait = std::max<int64_t>(left, 0);
    if (!child.late) nearest = nearest < 0 ? wait : std::min(nearest, wait);
  }
  return static_cast<int>(nearest);
}

int HelperLoop::run() {
  while (true) {
    std::vector<pollfd> ready = {{requests_, POLLIN, 0}};
    for (const Child& child : children_) {
      ready.push_back({child.pidfd, POLLIN, 0});
      ready.push_back({child.messages, POLLIN, 0});
    }
    if (poll(ready.data(), ready.size(), poll_timeout_ms()) < 0) continue;
    size_t slot = 1;
    for (auto child = children_.begin(); child != children_.end(); slot += 2) {
      if (ready[slot + 1].revents & POLLIN) read_messages(*child);
      if (ready[slot].revents & POLLIN) {
        finish(*child);
        child = children_.erase(child);
        continue;
      }
      if (!child->late && Clock::now() >= child->deadline) {
        child->late = true;
        kill(-child->pid, SIGKILL);
      }
      ++child;
    }
    if (ready[0].revents == 0) continue;
    const std::optional<std::string> text = read_frame(requests_);
    if (!text) break;
    start(parse_request(*text));
  }
  for (Child& child : children_) {
    kill(-child.pid, SIGKILL);
    waitpid(child.pid, nullptr, 0);
  }
  return 0;
}

}  // namespace

int compile_helper_main(int argc, char** argv, const ImplementationTable& table) {
  const long parent = argc == 2 ? std::strtol(argv[1], nullptr, 10) : 0;
  if (parent <= 0) {
    std::fprintf(stderr, "hone-compile is started by hone and speaks its protocol on stdin and stdout\n");
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return 1;
  const int requests = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  const int replies = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  CHECK(requests >= 0 && replies >= 0 && null >= 0);
  dup2(null, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // whatever libraries print must not look like a reply
  try {
    warm_up_compiler();
    if (!write_frame(replies, R"({"ready":true})")) return 1;
    return HelperLoop(requests, replies, table).run();
  } catch (const Error& error) {
    std::fprintf(stderr, "hone-compile: %s\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hone-compile: %s\n", error.what());
    return 1;
  } catch (...) {  // Halide's exceptions do not derive from std::exception
    std::fprintf(stderr, "hone-compile: Halide failed to start\n");
    return 1;
  }
}

}  // namespace hone
