// SPDX-License-Identifier: MIT
// HalideBuilder: hands kernels to hone-compile, as many at a time as there are workers, and starts it again if it dies.
#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "codegen/builder.h"
#include "codegen/helper_process.h"
#include "executor/error.h"

namespace hone {
namespace {

// The helper keeps the deadlines; this much later it must be stuck itself.
constexpr double kGraceSeconds = 30;

class HalideBuilder final : public Builder {
 public:
  explicit HalideBuilder(const HalideBuilderOptions& options)
      : options_(options), helper_(std::make_unique<HelperProcess>(options.helper)) {
    CHECK(options_.workers >= 1 && options_.table != nullptr);
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
  friend class Batch;
  HalideBuilderOptions options_;
  std::unique_ptr<HelperProcess> helper_;
  uint64_t next_id_ = 1;
};

/// One call of build(): what waits, what runs, what is done.
class Batch {
 public:
  Batch(HalideBuilder& builder, std::span<const BuildRequest> requests,
        const std::function<bool(size_t, const BuildOutcome&)>& done)
      : builder_(builder), requests_(requests), done_(done), outcomes_(requests.size()) {
    for (size_t i = 0; i < requests.size(); ++i) waiting_.push_back(i);
  }
  std::vector<BuildOutcome> run();

 private:
  void send_waiting();
  bool send(size_t index);
  void receive_one();
  void restart_helper();
  void finish(size_t index, const BuildOutcome& outcome);
  void cancel();
  [[noreturn]] void fail_missing_tool(size_t index, const std::string& tool);

  HalideBuilder& builder_;
  std::span<const BuildRequest> requests_;
  const std::function<bool(size_t, const BuildOutcome&)>& done_;
  std::vector<BuildOutcome> outcomes_;
  std::deque<size_t> waiting_;
  std::map<uint64_t, size_t> running_;  // command id -> request
  std::set<size_t> retried_;            // were running when the helper died
  bool cancelled_ = false;
};

bool Batch::send(size_t index) {
  const BuildRequest& request = requests_[index];
  CompileCommand command;
  command.id = builder_.next_id_++;
  command.workload = request.workload.canonical_json();
  command.config = request.config.canonical();
  command.device = request.device;
  command.object = std::filesystem::absolute(request.object);
  if (!request.shared.empty()) command.shared = std::filesystem::absolute(request.shared);
  command.deadline_seconds = request.deadline_seconds;
  running_[command.id] = index;
  return builder_.helper_->send(command);
}

void Batch::send_waiting() {
  while (!waiting_.empty() && static_cast<int>(running_.size()) < builder_.options_.workers) {
    const size_t index = waiting_.front();
    waiting_.pop_front();
    if (!send(index)) return restart_helper();
  }
}

void Batch::receive_one() {
  double patience = 0;
  for (const auto& [id, index] : running_) patience = std::max(patience, requests_[index].deadline_seconds);
  const std::optional<CompileReply> reply = builder_.helper_->receive(patience + kGraceSeconds);
  if (!reply) return restart_helper();
  const auto found = running_.find(reply->id);
  if (found == running_.end()) return;  // of an earlier, cancelled call
  const size_t index = found->second;
  running_.erase(found);
  if (reply->kind == CompileReply::Kind::missing_tool) fail_missing_tool(index, reply->outcome.message);
  finish(index, reply->outcome);
}

/// What was running is tried once more; a kernel that takes the helper down twice is to blame.
void Batch::restart_helper() {
  const std::map<uint64_t, size_t> lost = std::move(running_);
  running_.clear();
  builder_.helper_.reset();
  builder_.helper_ = std::make_unique<HelperProcess>(builder_.options_.helper);
  for (const auto& [id, index] : lost) {
    if (!cancelled_ && retried_.insert(index).second) {
      waiting_.push_front(index);
    } else {
      finish(index, {BuildStatus::failed, cancelled_ ? "cancelled" : "hone-compile died while it compiled this", 0});
    }
  }
}

void Batch::finish(size_t index, const BuildOutcome& outcome) {
  outcomes_[index] = outcome;
  if (done_ && !done_(index, outcome)) cancel();
}

void Batch::cancel() {
  if (cancelled_) return;
  cancelled_ = true;
  for (const size_t index : waiting_) outcomes_[index] = {BuildStatus::failed, "cancelled", 0};
  waiting_.clear();
  CompileCommand command;
  command.kind = CompileCommand::Kind::cancel;
  builder_.helper_->send(command);  // if the helper is gone, receive_one() sees to it
}

void Batch::fail_missing_tool(size_t index, const std::string& tool) {
  cancel();
  while (!running_.empty()) receive_one();
  const std::string& prefix = requests_[index].device.binutils_prefix;
  const std::string package = prefix.empty() ? "binutils" : "binutils-" + prefix.substr(0, prefix.size() - 1);
  throw Error("cannot build kernels for " + requests_[index].device.name, "there is no program '" + tool + "'",
              "install the package " + package + " (apt-get install " + package + ")");
}

std::vector<BuildOutcome> Batch::run() {
  while (!waiting_.empty() || !running_.empty()) {
    send_waiting();
    if (!running_.empty()) receive_one();
  }
  return std::move(outcomes_);
}

std::vector<BuildOutcome> HalideBuilder::build(std::span<const BuildRequest> requests,
                                               const std::function<bool(size_t, const BuildOutcome&)>& done) {
  if (helper_ == nullptr) helper_ = std::make_unique<HelperProcess>(options_.helper);
  return Batch(*this, requests, done).run();
}

}  // namespace

std::unique_ptr<Builder> start_halide_builder(const HalideBuilderOptions& options) {
  return std::make_unique<HalideBuilder>(options);
}

}  // namespace hone
