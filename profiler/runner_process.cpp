// SPDX-License-Identifier: MIT
// posix_spawn, and reads and writes that give up in time.
#include "profiler/runner_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "executor/error.h"
#include "profiler/killable_child.h"
#include "profiler/wire.h"

extern char** environ;

namespace hone {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr size_t kReadStep = size_t{1} << 20;  // memory grows as bytes arrive, not as they are announced
constexpr auto kTimeToLeave = std::chrono::seconds(2);

std::string joined(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Waits until `fd` is ready for `events`; false at the deadline.
bool wait_for(int fd, short events, SteadyClock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
    pollfd polled{.fd = fd, .events = events, .revents = 0};
    const int ready = poll(&polled, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 1'000'000)));
    if (ready > 0) return true;
    if (ready == 0 && left <= 0) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

SteadyClock::time_point after(double seconds) {
  return SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(seconds));
}

int spawn(const std::vector<std::string>& command, int input, int output, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawnattr_setpgroup(&attributes, 0);
  // Signals that hone blocks or ignores for itself must not be so for the runner and its kernels.
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGHUP}) sigaddset(&defaults, number);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int error = posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

RunnerProcess::RunnerProcess(const std::vector<std::string>& command) {
  const std::string attempted = "cannot start " + joined(command);
  int input[2], output[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input) != 0) {
    throw Error(attempted, std::string("no socket pair: ") + strerror(errno), "raise the limit of open files");
  }
  if (pipe2(output, O_CLOEXEC) != 0) {
    const int error = errno;
    close(input[0]);
    close(input[1]);
    throw Error(attempted, std::string("no pipe: ") + strerror(error), "raise the limit of open files");
  }
  const int error = spawn(command, input[1], output[1], pid_);
  close(input[1]);
  close(output[1]);
  if (error != 0) {
    close(input[0]);
    close(output[0]);
    throw Error(attempted, strerror(error), "check that the program exists and may be executed");
  }
  to_runner_ = input[0];
  from_runner_ = output[0];
  fcntl(to_runner_, F_SETFL, O_NONBLOCK);
  fcntl(from_runner_, F_SETFL, O_NONBLOCK);
}

RunnerProcess::~RunnerProcess() {
  if (to_runner_ >= 0) close(std::exchange(to_runner_, -1));
  // Its children are dead once it is, so give it the time to kill and reap them.
  const auto deadline = SteadyClock::now() + kTimeToLeave;
  while (pid_ > 0 && SteadyClock::now() < deadline) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0) pid_ = -1;
    if (pid_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (pid_ > 0) end();
  close(from_runner_);
}

bool RunnerProcess::send(std::span<const std::byte> message, double seconds) {
  WireWriter header;
  header.write(static_cast<uint32_t>(message.size()));
  const auto deadline = after(seconds);
  for (std::span<const std::byte> part : {std::span<const std::byte>(header.bytes()), message}) {
    while (!part.empty()) {
      const ssize_t count = ::send(to_runner_, part.data(), part.size(), MSG_NOSIGNAL);
      if (count > 0) {
        part = part.subspan(static_cast<size_t>(count));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        if (!wait_for(to_runner_, POLLOUT, deadline)) return false;
      } else if (errno != EINTR) {
        return false;
      }
    }
  }
  return true;
}

bool RunnerProcess::read_exactly(std::span<std::byte> bytes, double seconds) {
  while (!bytes.empty()) {
    // Silence counts, not the total: outputs may take their time through ssh.
    if (!wait_for(from_runner_, POLLIN, after(seconds))) return false;
    const ssize_t count = ::read(from_runner_, bytes.data(), bytes.size());
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) return false;
    if (count > 0) bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return true;
}

std::optional<Message> RunnerProcess::receive(double seconds) {
  std::byte header[sizeof(uint32_t)];
  if (!read_exactly(header, seconds)) return std::nullopt;
  const size_t length = WireReader(header).read_unsigned<uint32_t>();
  if (length > kMaxMessageBytes) return std::nullopt;
  Message message;
  while (message.size() < length) {
    const size_t before = message.size();
    message.resize(before + std::min(kReadStep, length - before));
    if (!read_exactly(std::span(message).subspan(before), seconds)) return std::nullopt;
  }
  return message;
}

std::string RunnerProcess::end() {
  if (pid_ <= 0) return "already ended";
  // It may have died by itself a moment ago: then that is the news, not our signal.
  int status = 0;
  for (int attempt = 0; attempt < 50; ++attempt) {
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      return describe_exit(status);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(-pid_, SIGKILL);
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return "did not answer and was killed";
}

}  // namespace hone
