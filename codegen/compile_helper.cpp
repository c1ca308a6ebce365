// SPDX-License-Identifier: MIT
// hone-compile: loads Halide once, then forks a child per kernel, so that a schedule that crashes or hangs the compiler
// costs one child. It has one thread, and ends with everything it started when its socket closes or hone dies.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <list>

#include "codegen/builder.h"
#include "codegen/compile_child.h"
#include "codegen/helper_protocol.h"
#include "codegen/kernel_object.h"
#include "codegen/object_symbols.h"
#include "executor/error.h"

namespace hone {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kKeptOutput = 16 << 10;

/// One kernel on its way through the stages; each is a child that ends by exec, so nothing is ever forked twice.
struct Build {
  enum class Stage { compile, link };
  CompileCommand command;
  Stage stage = Stage::compile;
  CompileChild child;
  std::string output;  // the last of what the child wrote
  Clock::time_point start, deadline;

  std::string raw_object() const { return command.object + ".raw"; }
};

class CompileHelper {
 public:
  CompileHelper(int socket, const ImplementationTable& table) : socket_(socket), table_(table) {}
  void run();

 private:
  bool receive();  // false at the end of the conversation
  void start_stage(Build& build);
  /// True if the build is over and was answered.
  bool advance(Build& build);
  void answer(const Build& build, BuildStatus status, const std::string& message);
  void end(Build& build, const std::string& message);
  int next_timeout() const;

  int socket_;
  const ImplementationTable& table_;
  std::list<Build> builds_;
};

void drain(Build& build) {
  char chunk[4096];
  for (ssize_t count; (count = read(build.child.messages, chunk, sizeof chunk)) > 0;) {
    build.output.append(chunk, static_cast<size_t>(count));
    if (build.output.size() > kKeptOutput) build.output.erase(0, build.output.size() - kKeptOutput);
  }
}

bool calls_hooks(const std::string& object) {
  for (const std::string& name : undefined_symbols(object)) {
    for (const RenamedSymbol& symbol : kRenamedSymbols) {
      if (name == symbol.halide) return true;
    }
  }
  return false;
}

// Runs in the child: Halide's names become hone's, so that an app may have a Halide runtime of its own.
void compile_stage(const ImplementationTable& table, const Build& build) {
  const CompileCommand& command = build.command;
  compile_kernel(table, Workload::parse(command.workload), Config::parse(command.config), command.device,
                 build.raw_object());
  if (!calls_hooks(build.raw_object())) {  // most kernels: a process saved
    std::filesystem::rename(build.raw_object(), command.object);
    return;
  }
  std::vector<std::string> objcopy = {command.device.binutils_prefix + "objcopy"};
  for (const RenamedSymbol& symbol : kRenamedSymbols) {
    objcopy.push_back(std::string("--redefine-sym=") + symbol.halide + "=" + symbol.hone);
  }
  objcopy.insert(objcopy.end(), {build.raw_object(), command.object});
  exec_tool(objcopy);
}

void CompileHelper::start_stage(Build& build) {
  const auto compile = [&] { compile_stage(table_, build); };
  const auto link = [&] {
    exec_tool({build.command.device.binutils_prefix + "ld", "-shared", "-z", "now", "-o", build.command.shared,
               build.command.object});
  };
  build.output.clear();
  if (build.stage == Build::Stage::compile) {
    build.child = start_child(compile, build.command.deadline_seconds, socket_);
  } else {
    build.child = start_child(link, build.command.deadline_seconds, socket_);
  }
}

bool CompileHelper::receive() {
  const std::optional<std::string> frame = receive_frame(socket_);
  if (!frame) return false;
  CompileCommand command = decode_command(*frame);
  if (command.kind == CompileCommand::Kind::cancel) {
    for (Build& build : builds_) end(build, "cancelled");
    builds_.clear();
    return true;
  }
  Build& build = builds_.emplace_back();
  build.start = Clock::now();
  build.deadline = build.start +
                   std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(command.deadline_seconds));
  build.command = std::move(command);
  start_stage(build);
  if (build.child.pid < 0) {
    answer(build, BuildStatus::failed, "the system gave no process");
    builds_.pop_back();
  }
  return true;
}

bool CompileHelper::advance(Build& build) {
  drain(build);
  const ChildEnd end = finish_child(build.child, build.output);
  if (end.kind == ChildEnd::Kind::missing_tool) {
    send_frame(socket_,
               encode(CompileReply{
                   CompileReply::Kind::missing_tool, build.command.id, {BuildStatus::failed, end.message, 0}}));
    return true;
  }
  if (end.kind == ChildEnd::Kind::out_of_time) {
    answer(build, BuildStatus::timed_out, "the compiler used up its CPU time");
  } else if (end.kind == ChildEnd::Kind::failed) {
    answer(build, BuildStatus::failed, end.message);
  } else if (build.stage == Build::Stage::compile && !build.command.shared.empty()) {
    build.stage = Build::Stage::link;
    start_stage(build);
    if (build.child.pid >= 0) return false;
    answer(build, BuildStatus::failed, "the system gave no process");
  } else {
    answer(build, BuildStatus::ok, "");
  }
  return true;
}

void CompileHelper::answer(const Build& build, BuildStatus status, const std::string& message) {
  std::error_code ignored;
  std::filesystem::remove(build.raw_object(), ignored);
  if (status != BuildStatus::ok) {
    std::filesystem::remove(build.command.object, ignored);
    if (!build.command.shared.empty()) std::filesystem::remove(build.command.shared, ignored);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - build.start).count();
  send_frame(socket_, encode(CompileReply{CompileReply::Kind::outcome, build.command.id, {status, message, seconds}}));
}

void CompileHelper::end(Build& build, const std::string& message) {
  finish_child(build.child, "");
  answer(build, message == "cancelled" ? BuildStatus::failed : BuildStatus::timed_out, message);
}

int CompileHelper::next_timeout() const {
  if (builds_.empty()) return -1;
  const auto earlier = [](const Build& a, const Build& b) { return a.deadline < b.deadline; };
  const auto first = std::min_element(builds_.begin(), builds_.end(), earlier)->deadline;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(first - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1'000'000));
}

void CompileHelper::run() {
  if (!send_frame(socket_, encode(CompileReply{CompileReply::Kind::ready, 0, {}}))) return;
  while (true) {
    std::vector<pollfd> polled = {{.fd = socket_, .events = POLLIN, .revents = 0}};
    for (const Build& build : builds_) {
      polled.push_back({.fd = build.child.pidfd, .events = POLLIN, .revents = 0});
      polled.push_back({.fd = build.child.messages, .events = POLLIN, .revents = 0});
    }
    poll(polled.data(), polled.size(), next_timeout());
    size_t position = 1;
    for (auto build = builds_.begin(); build != builds_.end(); position += 2) {
      bool over = false;
      if (polled[position + 1].revents & POLLIN) drain(*build);
      if (polled[position].revents != 0) {
        over = advance(*build);
      } else if (Clock::now() >= build->deadline) {
        char text[64];
        snprintf(text, sizeof text, "not compiled after %.3g s", build->command.deadline_seconds);
        end(*build, text);
        over = true;
      }
      build = over ? builds_.erase(build) : std::next(build);
    }
    if (polled[0].revents != 0 && !receive()) break;
  }
  for (Build& build : builds_) end(build, "cancelled");
}

/// The socket arrives as stdin. Kernels' compilers must neither read it nor print into it.
int take_socket() {
  const int socket = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (socket < 0 || null < 0) return -1;
  dup2(null, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  close(null);
  return socket;
}

}  // namespace

int compile_helper_main(int argc, char** argv, const ImplementationTable& table) {
  if (argc != 2 || atoi(argv[1]) <= 0) {
    fprintf(stderr, "hone-compile is started by hone; it compiles kernels for it\n");
    return 2;
  }
  // The signal fires when the thread that started us ends; the comparison catches a parent that is gone already.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != atoi(argv[1])) return 1;
  const int socket = take_socket();
  if (socket < 0) return 1;
  try {
    warm_up_compiler();
    CompileHelper(socket, table).run();
    return 0;
  } catch (const std::exception& error) {
    fprintf(stderr, "hone-compile: %s\n", error.what());
  } catch (...) {
    fprintf(stderr, "hone-compile: Halide failed to start\n");
  }
  return 1;
}

}  // namespace hone
