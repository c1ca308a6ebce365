// SPDX-License-Identifier: MIT
// One request at a time, each in a child of its own. This process itself never runs a kernel and never interprets more
// of a request than it needs to limit the child.
#include "profiler/runner_server.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <system_error>

#include "profiler/kernel_session.h"
#include "profiler/killable_child.h"
#include "profiler/machine.h"
#include "profiler/model_session.h"
#include "profiler/protocol.h"
#include "profiler/roofs.h"
#include "profiler/wire.h"

namespace hone {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr double kRoofDeadlineSeconds = 60;
// Measuring ends by itself at this share of the deadline: fewer samples are better than none.
constexpr double kMeasuringShare = 0.8;

class Server {
 public:
  Server(int input_fd, int output_fd) : input_fd_(input_fd), protocol_fds_{input_fd, output_fd} {}

  /// The reply, or empty if the client is gone.
  std::optional<Message> answer(const Message& message) const {
    switch (kind(message)) {
      case MessageKind::kernels:
        return answer_kernels(message);
      case MessageKind::models:
        return answer_models(message);
      case MessageKind::roofs:
        return answer_roofs(message);
      default:
        return encode_refusal("hone-runner answers kernels, models and roofs only");
    }
  }

 private:
  std::optional<Message> answer_kernels(const Message& message) const {
    const WireKernelRequest request = decode_kernel_request(message);
    std::vector<std::string> names;
    for (const WireKernelCandidate& candidate : request.candidates) names.push_back(candidate.symbol);
    return answer_candidates<RunOutcome>(run_kernel_request, request, names, message.size());
  }

  std::optional<Message> answer_models(const Message& message) const {
    const WireModelRequest request = decode_model_request(message);
    std::vector<std::string> names;
    for (const ModelCandidate& model : request.models) names.push_back(model.symbol);
    return answer_candidates<ModelOutcome>(run_model_request, request, names, message.size());
  }

  template <typename Outcome, typename Session, typename Request>
  std::optional<Message> answer_candidates(const Session& session, const Request& request,
                                           const std::vector<std::string>& names, size_t request_bytes) const {
    const ChildResult result = run(
        [&](ChildProgress& progress, SteadyClock::time_point end) {
          try {
            return encode(session(request, progress, end));
          } catch (const std::exception& error) {  // no memory for the arguments: nobody's kernel is to blame
            return encode(all_alike<Outcome>(names.size(), RunStatus::failed, error.what()));
          }
        },
        request.options, request_bytes);
    if (result.end == ChildResult::End::abandoned) return std::nullopt;
    if (result.end == ChildResult::End::finished) return result.payload;
    const bool late = result.end == ChildResult::End::timed_out;
    return encode(all_alike<Outcome>(names.size(), late ? RunStatus::timed_out : RunStatus::failed,
                                     result.message + where(result, names)));
  }

  std::optional<Message> answer_roofs(const Message& message) const {
    const RoofRequest request = decode_roof_request(message);
    const MeasureOptions options{.threads = request.threads, .deadline_seconds = kRoofDeadlineSeconds};
    ChildResult result =
        run([&](ChildProgress&, SteadyClock::time_point) { return encode(measure_roofs_here(request.threads)); },
            options, message.size());
    if (result.end == ChildResult::End::abandoned) return std::nullopt;
    if (result.end == ChildResult::End::finished) return std::move(result.payload);
    return encode_refusal("measuring the roofs: " + result.message);
  }

  template <typename Body>
  ChildResult run(const Body& body, const MeasureOptions& options, size_t request_bytes) const {
    const auto end =
        SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                 std::chrono::duration<double>(kMeasuringShare * options.deadline_seconds));
    const ChildLimits limits{.deadline_seconds = options.deadline_seconds,
                             .threads = options.threads,
                             .memory_bytes = memory_limit(request_bytes)};
    return run_in_child(
        [&](ChildProgress& progress) {
          Message reply = body(progress, end);
          if (reply.size() > kMaxMessageBytes) reply = encode_refusal("the outputs are larger than a message may be");
          return reply;
        },
        limits, input_fd_, protocol_fds_);
  }

  // Enough for any kernel worth timing, and for copies of what came with the request; never all the memory there is.
  static uint64_t memory_limit(size_t request_bytes) {
    const int64_t most = std::min<int64_t>(int64_t{8} << 30, physical_memory_bytes() / 4 * 3);
    return static_cast<uint64_t>(std::max<int64_t>(most, int64_t{1} << 30)) + 4 * request_bytes;
  }

  template <typename Outcome>
  static std::vector<Outcome> all_alike(size_t count, RunStatus status, const std::string& message) {
    Outcome outcome;
    outcome.status = status;
    outcome.message = message;
    return std::vector<Outcome>(count, outcome);
  }

  static std::string where(const ChildResult& result, const std::vector<std::string>& names) {
    // Written by the process that crashed: believe it only within bounds.
    if (result.candidate < 0 || static_cast<size_t>(result.candidate) >= names.size()) return "";
    const std::string& name = names[static_cast<size_t>(result.candidate)];
    switch (result.phase) {
      case ChildProgress::loading:
        return " while loading " + name;
      case ChildProgress::first_call:
        return " in the first call of " + name;
      case ChildProgress::measuring:
        return " while measuring " + name;
      default:
        return "";
    }
  }

  int input_fd_;
  std::array<int, 2> protocol_fds_;
};

}  // namespace

int serve(int input_fd, int output_fd) {
  try {
    write_message(output_fd, encode(RunnerInfo{.protocol_version = kProtocolVersion,
                                               .architecture = machine_architecture(),
                                               .cpu = cpu_identity()}));
    const Server server(input_fd, output_fd);
    while (const std::optional<Message> request = read_message(input_fd)) {
      std::optional<Message> reply;
      try {
        reply = server.answer(*request);
      } catch (const MalformedMessage& error) {
        // The frame was whole, so the next message can be found.
        reply = encode_refusal(error.what());
      }
      if (!reply) return 0;
      write_message(output_fd, *reply);
    }
    return 0;
  } catch (const MalformedMessage& error) {
    fprintf(stderr, "hone-runner: %s\n", error.what());
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::broken_pipe) return 0;  // the client has gone; nobody to tell
    fprintf(stderr, "hone-runner: %s\n", error.what());
  }
  return 1;
}

}  // namespace hone
