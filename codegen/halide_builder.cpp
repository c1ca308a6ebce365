// SPDX-License-Identifier: MIT
// HalideBuilder: the client of hone-compile. Keeps `workers` kernels compiling, and goes on with a new helper if one
// dies.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "codegen/build_message.h"
#include "executor/error.h"

extern char** environ;  // NOLINT: passed on to the helper unread

namespace hone {
namespace {

/// The helper process with one socket for both directions; ends with the object.
class HelperProcess {
 public:
  explicit HelperProcess(const std::filesystem::path& helper) {
    int sockets[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0);
    socket_ = sockets[0];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, sockets[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, sockets[1], STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // Ctrl-C is for the main program alone
    std::string program = helper.string(), parent = std::to_string(getpid());
    char* arguments[] = {program.data(), parent.data(), nullptr};
    const int error = posix_spawn(&pid_, program.c_str(), &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(sockets[1]);
    if (error != 0) {
      close(socket_);
      throw Error("cannot start " + program, std::strerror(error), "build or install hone completely");
    }
    if (!read_frame(socket_)) {
      end();
      throw Error("cannot start " + program, "it ended before it was ready",
                  "run it by hand to see why; libHalide.so must be found");
    }
  }
  ~HelperProcess() { end(); }
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;

  int socket() const { return socket_; }

 private:
  void end() {
    if (pid_ <= 0) return;
    close(socket_);  // EOF: it kills its children and exits
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }

  pid_t pid_ = -1;
  int socket_ = -1;
};

std::string package_of(const std::string& tool, const DeviceInfo& device) {
  if (device.binutils_prefix.empty() || tool == "sh") return "binutils";
  return "binutils-" + device.binutils_prefix.substr(0, device.binutils_prefix.size() - 1);
}

class HalideBuilder final : public Builder {
 public:
  explicit HalideBuilder(const HalideBuilderOptions& options)
      : options_(options), helper_(std::make_unique<HelperProcess>(options.helper)) {
    CHECK(options.workers >= 1 && options.table != nullptr);
  }

  std::vector<SearchSpace> spaces(const Workload& workload, const DeviceInfo& device,
                                  const TuningContext& context) const override {
    return search_spaces(*options_.table, workload, device, context);
  }
  std::vector<PackedConstant> pack(const Workload& workload, const Config& config,
                                   std::span<const Tensor> constants) const override {
    return find_implementation(*options_.table, config).pack(workload, config, constants);
  }
  std::vector<BuildOutcome> build(std::span<const BuildRequest> requests,
                                  const std::function<bool(size_t, const BuildOutcome&)>& done) override;

 private:
  /// Sends requests while there are free workers; a helper that is gone fails what was in flight.
  void send_more(std::span<const BuildRequest> requests, std::vector<BuildOutcome>& outcomes);
  void replace_helper(std::vector<BuildOutcome>& outcomes, std::vector<size_t>& ended);

  HalideBuilderOptions options_;
  std::unique_ptr<HelperProcess> helper_;
  std::map<int64_t, size_t> in_flight_;  // message id -> request
  int64_t next_id_ = 1;
  size_t next_request_ = 0;
};

void HalideBuilder::send_more(std::span<const BuildRequest> requests, std::vector<BuildOutcome>& outcomes) {
  while (next_request_ < requests.size() && in_flight_.size() < static_cast<size_t>(options_.workers)) {
    const BuildRequest& build = requests[next_request_];
    const CompileRequest request{next_id_, kernel_symbol(build.workload, build.config, build.device), build};
    if (!write_frame(helper_->socket(), to_text(request))) {
      if (!in_flight_.empty()) return;  // reading will notice
      helper_ = std::make_unique<HelperProcess>(options_.helper);
      if (!write_frame(helper_->socket(), to_text(request))) {
        outcomes[next_request_++] = {BuildStatus::failed, "hone-compile died twice in a row", 0};
        continue;
      }
    }
    in_flight_[next_id_++] = next_request_++;
  }
}

void HalideBuilder::replace_helper(std::vector<BuildOutcome>& outcomes, std::vector<size_t>& ended) {
  for (const auto& [id, request] : in_flight_) {
    outcomes[request] = {BuildStatus::failed, "hone-compile died", 0};
    ended.push_back(request);
  }
  in_flight_.clear();
  helper_ = std::make_unique<HelperProcess>(options_.helper);
}

std::vector<BuildOutcome> HalideBuilder::build(std::span<const BuildRequest> requests,
                                               const std::function<bool(size_t, const BuildOutcome&)>& done) {
  std::vector<BuildOutcome> outcomes(requests.size(), {BuildStatus::failed, "cancelled", 0});
  next_request_ = 0;
  bool go_on = true;
  send_more(requests, outcomes);
  while (!in_flight_.empty()) {
    std::vector<size_t> ended;
    if (const std::optional<std::string> text = read_frame(helper_->socket())) {
      const CompileReply reply = parse_reply(*text);
      const auto found = in_flight_.find(reply.id);
      CHECK(found != in_flight_.end());
      if (!reply.missing_tool.empty()) {
        const DeviceInfo& device = requests[found->second].device;
        in_flight_.clear();
        helper_ = std::make_unique<HelperProcess>(options_.helper);
        throw Error("cannot build kernels for " + device.name, reply.missing_tool + " was not found",
                    "install the package " + package_of(reply.missing_tool, device));
      }
      outcomes[found->second] = reply.outcome;
      ended.push_back(found->second);
      in_flight_.erase(found);
    } else {
      replace_helper(outcomes, ended);
    }
    // The next kernel compiles while the caller looks at this one.
    if (go_on) send_more(requests, outcomes);
    for (size_t request : ended) {
      if (done && go_on) go_on = done(request, outcomes[request]);
    }
  }
  return outcomes;
}

}  // namespace

std::unique_ptr<Builder> start_halide_builder(const HalideBuilderOptions& options) {
  return std::make_unique<HalideBuilder>(options);
}

}  // namespace hone
