// SPDX-License-Identifier: MIT
// The messages between hone and hone-runner, as profiler/runner.h has them, except that kernels travel as bytes.
// The runner speaks first (greeting); then each request gets one reply of the same kind, or a refusal.
// docs/reference/runner-protocol.md is the byte-level description.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/runner.h"

namespace hone {

/// Raise it whenever the meaning or layout of any message changes; client and runner must have the same.
inline constexpr int kProtocolVersion = 1;

enum class MessageKind : uint8_t { greeting = 1, kernels = 2, models = 3, roofs = 4, refusal = 5 };

struct WireKernelCandidate {
  std::span<const std::byte> shared_object;
  std::string symbol;
  std::vector<std::span<const std::byte>> constants;
};

struct WireKernelRequest {
  std::vector<std::span<const std::byte>> inputs;
  std::vector<uint64_t> output_bytes;
  std::vector<WireKernelCandidate> candidates;
  MeasureOptions options;
};

struct WireModelRequest {
  std::vector<ModelCandidate> models;
  std::vector<std::span<const std::byte>> inputs;
  MeasureOptions options;
  bool profile_steps = false;
};

struct RoofRequest {
  int threads = 1;
};

using Message = std::vector<std::byte>;

Message encode(const RunnerInfo& greeting);
Message encode(const WireKernelRequest& request);
Message encode(const WireModelRequest& request);
Message encode(const RoofRequest& request);
Message encode(const std::vector<RunOutcome>& reply);
Message encode(const std::vector<ModelOutcome>& reply);
Message encode(const Roofs& reply);
Message encode_refusal(std::string_view why);

// Each decoder throws MalformedMessage unless the whole message is of this kind and within the limits. Blobs of
// requests are views into `message`. The limits hold what hone itself sends with room to spare; they keep a forged
// request from asking for absurd amounts, they are no substitute for the limits of the child process.
MessageKind kind(std::span<const std::byte> message);
RunnerInfo decode_greeting(std::span<const std::byte> message);
WireKernelRequest decode_kernel_request(std::span<const std::byte> message);
WireModelRequest decode_model_request(std::span<const std::byte> message);
RoofRequest decode_roof_request(std::span<const std::byte> message);
std::vector<RunOutcome> decode_kernel_reply(std::span<const std::byte> message);
std::vector<ModelOutcome> decode_model_reply(std::span<const std::byte> message);
Roofs decode_roof_reply(std::span<const std::byte> message);
std::string decode_refusal(std::span<const std::byte> message);

}  // namespace hone
