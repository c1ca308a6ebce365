// SPDX-License-Identifier: MIT
#include "codegen/helper_process.h"

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

#include "executor/error.h"

extern char** environ;

namespace hone {
namespace {

using Clock = std::chrono::steady_clock;

// Loading libHalide from a cold disk on a busy machine takes seconds.
constexpr double kStartSeconds = 120;
constexpr auto kTimeToLeave = std::chrono::seconds(2);

}  // namespace

HelperProcess::HelperProcess(const std::filesystem::path& program) {
  const std::string attempted = "cannot start " + program.string();
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    throw Error(attempted, std::string("no socket pair: ") + strerror(errno), "raise the limit of open files");
  }
  socket_ = sockets[0];
  spawn(program, sockets[1]);
  close(sockets[1]);
  if (pid_ < 0) {
    const int error = errno;
    close(socket_);
    throw Error(attempted, strerror(error), "build or install hone completely: hone-compile lies beside hone");
  }
  const std::optional<CompileReply> reply = receive(kStartSeconds);
  if (!reply || reply->kind != CompileReply::Kind::ready) {
    stop();
    throw Error(attempted, "it ended or did not answer",
                "run it by hand: it should say that it is started by hone; reinstall Halide 21 if it does not");
  }
}

HelperProcess::~HelperProcess() {
  stop();
}

void HelperProcess::spawn(const std::filesystem::path& program, int helper_socket) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, helper_socket, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  // A group of its own: Ctrl-C is for hone, which decides what becomes of its builds.
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGHUP}) sigaddset(&defaults, number);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string name = program.string(), own_pid = std::to_string(getpid());
  char* const arguments[] = {name.data(), own_pid.data(), nullptr};
  const int error = posix_spawn(&pid_, name.c_str(), &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) pid_ = -1;
  errno = error;
}

void HelperProcess::stop() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  // Its children are dead once it is, so give it the time to kill and reap them.
  const auto deadline = Clock::now() + kTimeToLeave;
  while (pid_ > 0 && Clock::now() < deadline) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0) pid_ = -1;
    if (pid_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

bool HelperProcess::send(const CompileCommand& command) {
  return send_frame(socket_, encode(command));
}

std::optional<CompileReply> HelperProcess::receive(double seconds) {
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd polled{.fd = socket_, .events = POLLIN, .revents = 0};
    const int ready = poll(&polled, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 1'000'000)));
    if (ready > 0) break;
    if (ready == 0 && left <= 0) return std::nullopt;
    if (ready < 0 && errno != EINTR) return std::nullopt;
  }
  const std::optional<std::string> frame = receive_frame(socket_);
  if (!frame) return std::nullopt;
  return decode_reply(*frame);
}

}  // namespace hone
