// SPDX-License-Identifier: MIT
// Requests out, outcomes in. Whatever the runner does wrong (dies, falls silent, sends nonsense) becomes failed
// outcomes.
#include "profiler/runner_client.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "executor/error.h"
#include "profiler/protocol.h"
#include "profiler/runner_process.h"
#include "profiler/wire.h"

namespace hone {
namespace {

constexpr double kGreetingSeconds = 30;  // ssh may have to wake a board
// The runner enforces the deadline of a request; this is what the client adds for the way there and back.
constexpr double kGraceSeconds = 30;
constexpr double kSlowestBytesPerSecond = 1e6;
constexpr double kRoofSeconds = 60;

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw Error("cannot read kernel " + path.string(), strerror(errno), "check the path of the built kernel");
  std::vector<std::byte> bytes(static_cast<size_t>(file.tellg()));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw Error("cannot read kernel " + path.string(), "the file ends too early", "build the kernel again");
  return bytes;
}

template <typename Outcome>
std::vector<Outcome> all_failed(size_t count, const std::string& message) {
  Outcome outcome;
  outcome.status = RunStatus::failed;
  outcome.message = message;
  return std::vector<Outcome>(count, outcome);
}

class ProcessRunner final : public Runner {
 public:
  explicit ProcessRunner(const TransportOptions& options) : options_(options) {
    command_ = options.command_prefix;
    command_.push_back(options.runner.string());
    start();
  }

  const RunnerInfo& info() const override { return info_; }
  Evidence evidence() const override { return options_.evidence; }

  std::vector<RunOutcome> run_kernels(const KernelRequest& request) override {
    std::vector<std::vector<std::byte>> objects;
    WireKernelRequest wire{
        .inputs = request.inputs, .output_bytes = request.output_bytes, .candidates = {}, .options = request.options};
    for (const KernelCandidate& candidate : request.candidates) objects.push_back(read_file(candidate.shared_object));
    for (size_t i = 0; i < objects.size(); ++i) {
      wire.candidates.push_back({objects[i], request.candidates[i].symbol, request.candidates[i].constants});
    }
    return ask<RunOutcome>(encode(wire), request.candidates.size(), request.options, decode_kernel_reply);
  }

  std::vector<ModelOutcome> run_models(const ModelRequest& request) override {
    WireModelRequest wire{
        .models = request.models, .inputs = {}, .options = request.options, .profile_steps = request.profile_steps};
    for (const auto& input : request.inputs) wire.inputs.emplace_back(input);
    return ask<ModelOutcome>(encode(wire), request.models.size(), request.options, decode_model_reply);
  }

  Roofs measure_roofs(int threads) override {
    const std::string attempted = "cannot measure the roofs with " + options_.runner.string();
    const Exchange exchange = exchange_messages(encode(RoofRequest{.threads = threads}), kRoofSeconds);
    if (!exchange.reply) throw Error(attempted, exchange.failure, "run it on a machine that is not overloaded");
    try {
      return decode_roof_reply(*exchange.reply);
    } catch (const MalformedMessage& error) {
      throw Error(attempted, error.what(), "rebuild hone and hone-runner from the same sources");
    }
  }

 private:
  struct Exchange {
    std::optional<Message> reply;
    std::string failure;
  };

  void start() {
    process_ = std::make_unique<RunnerProcess>(command_);
    const std::optional<Message> greeting = process_->receive(kGreetingSeconds);
    const std::string attempted = "cannot use " + options_.runner.string();
    if (!greeting) {
      const std::string how = process_->end();
      process_.reset();
      throw Error(attempted, "it did not greet: " + how, "run the command by hand to see why: " + command_text());
    }
    try {
      info_ = decode_greeting(*greeting);
    } catch (const MalformedMessage& error) {
      process_.reset();
      throw Error(attempted, std::string("its greeting is not understood: ") + error.what(),
                  "make sure that nothing else prints on the way, as a shell's start-up file does: " + command_text());
    }
    if (info_.protocol_version == kProtocolVersion) return;
    process_.reset();
    throw Error(attempted,
                "it speaks protocol " + std::to_string(info_.protocol_version) + ", hone speaks " +
                    std::to_string(kProtocolVersion),
                "install the hone-runner that was built with this hone");
  }

  std::string command_text() const {
    std::string text;
    for (const std::string& word : command_) text += (text.empty() ? "" : " ") + word;
    return text;
  }

  // Sends a request and waits for its reply. Afterwards there either is a reply, or no process.
  Exchange exchange_messages(const Message& request, double deadline_seconds) {
    if (request.size() > kMaxMessageBytes) return {{}, "inputs and constants are larger than a request may be (2 GB)"};
    if (process_ == nullptr) start();
    const double transfer_seconds = static_cast<double>(request.size()) / kSlowestBytesPerSecond;
    if (process_->send(request, kGraceSeconds + transfer_seconds)) {
      if (auto reply = process_->receive(deadline_seconds + kGraceSeconds + transfer_seconds))
        return understood(*reply);
    }
    const std::string how = process_->end();
    process_.reset();
    return {{}, "hone-runner " + how};
  }

  static Exchange understood(Message& reply) {
    try {
      if (kind(reply) == MessageKind::refusal) return {{}, "hone-runner: " + decode_refusal(reply)};
      return {std::move(reply), {}};
    } catch (const MalformedMessage& error) {
      return {{}, std::string("a reply of hone-runner is not understood: ") + error.what()};
    }
  }

  template <typename Outcome, typename Decode>
  std::vector<Outcome> ask(const Message& request, size_t count, const MeasureOptions& options, const Decode& decode) {
    const Exchange exchange = exchange_messages(request, options.deadline_seconds);
    if (!exchange.reply) return all_failed<Outcome>(count, exchange.failure);
    try {
      std::vector<Outcome> outcomes = decode(*exchange.reply);
      if (outcomes.size() != count) return all_failed<Outcome>(count, "hone-runner answered for another request");
      for (Outcome& outcome : outcomes) set_evidence(outcome);
      return outcomes;
    } catch (const MalformedMessage& error) {
      process_.reset();  // whatever it is, it does not keep to the protocol
      return all_failed<Outcome>(count, std::string("a reply of hone-runner is not understood: ") + error.what());
    }
  }

  void set_evidence(RunOutcome& outcome) const { outcome.measurement.evidence = options_.evidence; }
  void set_evidence(ModelOutcome& outcome) const {
    outcome.measurement.evidence = options_.evidence;
    for (Measurement& step : outcome.steps) step.evidence = options_.evidence;
  }

  TransportOptions options_;
  std::vector<std::string> command_;
  RunnerInfo info_;
  std::unique_ptr<RunnerProcess> process_;
};

}  // namespace

std::unique_ptr<Runner> make_process_runner(const TransportOptions& options) {
  return std::make_unique<ProcessRunner>(options);
}

}  // namespace hone
