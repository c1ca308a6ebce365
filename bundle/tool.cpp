// SPDX-License-Identifier: MIT
#include "bundle/tool.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "executor/error.h"

namespace hone {
namespace {

std::string package_of(const std::string& program) {
  const size_t dash = program.rfind('-');
  return dash == std::string::npos ? "binutils" : "binutils-" + program.substr(0, dash);
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> buffer{};
  ssize_t count = 0;
  while ((count = read(fd, buffer.data(), buffer.size())) > 0 || (count < 0 && errno == EINTR)) {
    if (count > 0 && text.size() < 64 * 1024) text.append(buffer.data(), static_cast<size_t>(count));
  }
  return text;
}

}  // namespace

void run_tool(const std::vector<std::string>& command, const std::filesystem::path& directory) {
  int messages[2];
  CHECK(pipe2(messages, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, messages[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, messages[1], STDERR_FILENO);
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  char locale[] = "LC_ALL=C";
  char* environment[] = {locale, nullptr};
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, command.front().c_str(), &actions, nullptr, arguments.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  close(messages[1]);
  const std::string text = error == 0 ? read_all(messages[0]) : "";
  close(messages[0]);
  if (error != 0) {
    throw Error("cannot run " + command.front(), std::strerror(error),
                "install the package " + package_of(command.front()));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  throw Error("cannot link a bundle: " + command.front() + " failed",
              text.empty() ? "it gave no reason" : text.substr(0, text.find('\n')),
              "free disk space, or report this with the model");
}

}  // namespace hone
