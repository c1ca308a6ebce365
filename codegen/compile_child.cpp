// SPDX-License-Identifier: MIT
// The order of the steps is what makes it hold: see the comments.
#include "codegen/compile_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <exception>

#include "executor/error.h"

namespace hone {
namespace {

constexpr int kMissingTool = 127;
// Separates our own verdict from whatever compilers and linkers print.
constexpr char kVerdict[] = "\x1ehone: ";
// A kernel is a hundred kilobytes; a schedule that unrolls without end must not fill the disk.
constexpr rlim_t kMaxFileBytes = rlim_t{256} << 20;
// LLVM needs 0.1 to 0.2 GB for the largest sane kernels.
constexpr rlim_t kMaxMemoryBytes = rlim_t{2} << 30;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kLimitsMemory = false;  // the sanitizer reserves terabytes of address space
#else
constexpr bool kLimitsMemory = true;
#endif

void limit(int resource, rlim_t value) {
  const rlimit both{.rlim_cur = value, .rlim_max = value};
  setrlimit(static_cast<__rlimit_resource_t>(resource), &both);
}

void write_verdict(const std::string& text) {
  fprintf(stderr, "%s%s\n", kVerdict, text.c_str());
  fflush(stderr);
}

[[noreturn]] void run_child(const std::function<void()>& body, double deadline_seconds, int protocol_socket,
                            int messages, pid_t parent) {
  setpgid(0, 0);
  // The signal follows the parent's death; the comparison catches a parent that died before prctl. fork clears it, so
  // the tools at the end are exec'd by this process, not started as children.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  close(protocol_socket);  // else hone would not see the helper's end while this lives
  dup2(messages, STDOUT_FILENO);
  dup2(messages, STDERR_FILENO);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, kMaxFileBytes);
  // A fuse behind the deadline, for the case that the helper itself is stopped.
  limit(RLIMIT_CPU, static_cast<rlim_t>(std::ceil(deadline_seconds)) + 2);
  if (kLimitsMemory) limit(RLIMIT_AS, kMaxMemoryBytes);
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGPIPE}) signal(number, SIG_DFL);
  try {
    body();
    _exit(0);
  } catch (const std::exception& error) {
    write_verdict(error.what());
  } catch (...) {
    write_verdict("an exception of unknown type");
  }
  _exit(1);
}

std::string first_line(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

std::string verdict_in(const std::string& output) {
  const size_t position = output.rfind(kVerdict);
  return position == std::string::npos ? "" : first_line(output.substr(position + sizeof kVerdict - 1));
}

std::string describe_death(int status, const std::string& output) {
  std::string text;
  if (WIFSIGNALED(status)) {
    const char* abbreviation = sigabbrev_np(WTERMSIG(status));
    text = std::string("the compiler was killed by SIG") +
           (abbreviation ? abbreviation : std::to_string(WTERMSIG(status)));
  } else {
    text = "the compiler exited with code " + std::to_string(WEXITSTATUS(status));
  }
  const std::string line = first_line(output);
  return line.empty() ? text : text + ": " + line;
}

}  // namespace

CompileChild start_child(const std::function<void()>& body, double deadline_seconds, int protocol_socket) {
  int messages[2];
  if (pipe2(messages, O_CLOEXEC) != 0) return {};
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) run_child(body, deadline_seconds, protocol_socket, messages[1], parent);
  close(messages[1]);
  if (pid < 0) {
    close(messages[0]);
    return {};
  }
  setpgid(pid, pid);  // by both sides: whoever comes first, the group exists before it is killed
  fcntl(messages[0], F_SETFL, O_NONBLOCK);
  // By its number: glibc 2.36's <sys/pidfd.h> lacks extern "C".
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  const CompileChild child{.pid = pid, .pidfd = pidfd, .messages = messages[0]};
  if (pidfd >= 0) return child;
  finish_child(child, "");
  return {};
}

void exec_tool(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  if (errno == ENOENT) {
    write_verdict(command[0]);
    _exit(kMissingTool);
  }
  write_verdict("cannot start " + command[0] + ": " + strerror(errno));
  _exit(1);
}

ChildEnd finish_child(const CompileChild& child, const std::string& output) {
  kill(-child.pid, SIGKILL);  // before the wait below, while the id cannot belong to anybody else
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (child.pidfd >= 0) close(child.pidfd);
  close(child.messages);
  const std::string verdict = verdict_in(output);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {ChildEnd::Kind::finished, ""};
  if (WIFEXITED(status) && WEXITSTATUS(status) == kMissingTool && !verdict.empty()) {
    return {ChildEnd::Kind::missing_tool, verdict};
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) return {ChildEnd::Kind::out_of_time, ""};
  return {ChildEnd::Kind::failed, verdict.empty() ? describe_death(status, output) : verdict};
}

}  // namespace hone
