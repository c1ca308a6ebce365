// SPDX-License-Identifier: MIT
// Layout of each message. Writer and reader of one struct stand next to each other, so that they change together.
#include "profiler/protocol.h"

#include <limits>

#include "profiler/wire.h"

namespace hone {
namespace {

constexpr std::string_view kMagic = "HONE-RUNNER";
constexpr size_t kLongestText = 4096;
constexpr size_t kMostBuffers = 4096;
constexpr size_t kMostCandidates = 256;
constexpr size_t kMostSteps = 100'000;
constexpr int64_t kMostThreads = 1024;
constexpr int64_t kMostRounds = 1'000'000;
constexpr int64_t kLargestOutput = int64_t{1} << 36;
constexpr double kLongestDeadline = 7 * 24 * 3600.0;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kAnyInteger = std::numeric_limits<int64_t>::max();
constexpr size_t kBlobBytes = 4;  // the least that a blob or a text takes: its length

WireWriter start(MessageKind kind) {
  WireWriter writer;
  writer.write(static_cast<uint8_t>(kind));
  return writer;
}

WireReader open(std::span<const std::byte> message, MessageKind expected) {
  WireReader reader(message);
  if (reader.read_unsigned<uint8_t>() != static_cast<uint8_t>(expected)) {
    throw MalformedMessage("a message is of another kind");
  }
  return reader;
}

// Outputs of a run, constants and inputs are all lists of blobs.
template <typename Blobs>
void write_blobs(WireWriter& writer, const Blobs& blobs) {
  writer.write(static_cast<uint32_t>(blobs.size()));
  for (const auto& blob : blobs) writer.write(std::span<const std::byte>(blob));
}

std::vector<std::span<const std::byte>> read_blobs(WireReader& reader) {
  std::vector<std::span<const std::byte>> blobs(reader.read_count(kMostBuffers, kBlobBytes));
  for (auto& blob : blobs) blob = reader.read_blob();
  return blobs;
}

std::vector<std::vector<std::byte>> read_buffers(WireReader& reader) {
  std::vector<std::vector<std::byte>> buffers;
  for (const auto blob : read_blobs(reader)) buffers.emplace_back(blob.begin(), blob.end());
  return buffers;
}

void write_options(WireWriter& writer, const MeasureOptions& options) {
  writer.write(options.threads);
  writer.write(options.cold_weights);
  writer.write(options.rounds);
  writer.write(options.seconds_per_sample);
  writer.write(options.best_ns);
  writer.write(options.give_up_ratio);
  writer.write(options.deadline_seconds);
  writer.write(options.want_outputs);
}

MeasureOptions read_options(WireReader& reader) {
  MeasureOptions options;
  options.threads = static_cast<int>(reader.read_integer(1, kMostThreads));
  options.cold_weights = reader.read_bool();
  options.rounds = static_cast<int>(reader.read_integer(0, kMostRounds));
  options.seconds_per_sample = reader.read_real(0, 60);
  options.best_ns = reader.read_real(0, kInfinity);
  options.give_up_ratio = reader.read_real(0, kInfinity);
  options.deadline_seconds = reader.read_real(0, kLongestDeadline);
  options.want_outputs = reader.read_bool();
  return options;
}

void write_measurement(WireWriter& writer, const Measurement& measurement) {
  writer.write(measurement.cpu_ns);
  writer.write(measurement.wall_ns);
  writer.write(measurement.calls_per_sample);
  writer.write(measurement.threads);
  writer.write(measurement.cold_weights);
  writer.write(measurement.involuntary_switches);
  writer.write(measurement.load_average);
  writer.write(measurement.frequency_ghz.has_value());
  writer.write(measurement.frequency_ghz.value_or(0));
  writer.write(measurement.scratch_bytes.has_value());
  writer.write(measurement.scratch_bytes.value_or(0));
}

// The evidence is not in the message: it belongs to the transport, and the client knows it.
Measurement read_measurement(WireReader& reader) {
  Measurement measurement;
  measurement.cpu_ns = reader.read_reals();
  measurement.wall_ns = reader.read_reals();
  if (measurement.cpu_ns.size() != measurement.wall_ns.size()) throw MalformedMessage("clocks of different lengths");
  measurement.calls_per_sample = reader.read_integer(1, kAnyInteger);
  measurement.threads = static_cast<int>(reader.read_integer(1, kMostThreads));
  measurement.cold_weights = reader.read_bool();
  measurement.involuntary_switches = reader.read_integer(0, kAnyInteger);
  measurement.load_average = reader.read_real(0, kInfinity);
  const bool has_frequency = reader.read_bool();
  const double frequency_ghz = reader.read_real(0, 1000);
  if (has_frequency) measurement.frequency_ghz = frequency_ghz;
  const bool has_scratch = reader.read_bool();
  const int64_t scratch_bytes = reader.read_integer(0, kAnyInteger);
  if (has_scratch) measurement.scratch_bytes = scratch_bytes;
  return measurement;
}

// What the outcomes of kernels and of models have in common.
template <typename Outcome>
void write_outcome(WireWriter& writer, const Outcome& outcome) {
  writer.write(static_cast<uint8_t>(outcome.status));
  writer.write(std::string_view(outcome.message).substr(0, kLongestText));
  write_measurement(writer, outcome.measurement);
  write_blobs(writer, outcome.outputs);
}

template <typename Outcome>
void read_outcome(WireReader& reader, Outcome& outcome) {
  const auto status = reader.read_unsigned<uint8_t>();
  if (status > static_cast<uint8_t>(RunStatus::timed_out)) throw MalformedMessage("an unknown status");
  outcome.status = static_cast<RunStatus>(status);
  outcome.message = reader.read_text(kLongestText);
  outcome.measurement = read_measurement(reader);
  outcome.outputs = read_buffers(reader);
}

}  // namespace

MessageKind kind(std::span<const std::byte> message) {
  const auto kind = WireReader(message).read_unsigned<uint8_t>();
  if (kind < 1 || kind > static_cast<uint8_t>(MessageKind::refusal))
    throw MalformedMessage("an unknown kind of message");
  return static_cast<MessageKind>(kind);
}

Message encode(const RunnerInfo& greeting) {
  WireWriter writer = start(MessageKind::greeting);
  writer.write(kMagic);
  writer.write(greeting.protocol_version);
  writer.write(greeting.architecture);
  writer.write(greeting.cpu);
  return writer.take();
}

RunnerInfo decode_greeting(std::span<const std::byte> message) {
  WireReader reader = open(message, MessageKind::greeting);
  if (reader.read_text(kLongestText) != kMagic) throw MalformedMessage("this is no hone-runner");
  RunnerInfo info;
  info.protocol_version = static_cast<int>(reader.read_integer(0, std::numeric_limits<int>::max()));
  // A runner of another version may say other things from here on; the version is all that is needed to refuse it.
  if (info.protocol_version != kProtocolVersion) return info;
  info.architecture = reader.read_text(kLongestText);
  info.cpu = reader.read_text(kLongestText);
  reader.expect_end();
  return info;
}

Message encode(const WireKernelRequest& request) {
  WireWriter writer = start(MessageKind::kernels);
  write_options(writer, request.options);
  write_blobs(writer, request.inputs);
  writer.write(static_cast<uint32_t>(request.output_bytes.size()));
  for (const uint64_t bytes : request.output_bytes) writer.write(bytes);
  writer.write(static_cast<uint32_t>(request.candidates.size()));
  for (const WireKernelCandidate& candidate : request.candidates) {
    writer.write(candidate.shared_object);
    writer.write(candidate.symbol);
    write_blobs(writer, candidate.constants);
  }
  return writer.take();
}

WireKernelRequest decode_kernel_request(std::span<const std::byte> message) {
  WireReader reader = open(message, MessageKind::kernels);
  WireKernelRequest request;
  request.options = read_options(reader);
  request.inputs = read_blobs(reader);
  request.output_bytes.resize(reader.read_count(kMostBuffers, sizeof(uint64_t)));
  for (uint64_t& bytes : request.output_bytes) bytes = static_cast<uint64_t>(reader.read_integer(0, kLargestOutput));
  request.candidates.resize(reader.read_count(kMostCandidates, 3 * kBlobBytes));
  for (WireKernelCandidate& candidate : request.candidates) {
    candidate.shared_object = reader.read_blob();
    candidate.symbol = reader.read_text(kLongestText);
    candidate.constants = read_blobs(reader);
  }
  reader.expect_end();
  return request;
}

Message encode(const WireModelRequest& request) {
  WireWriter writer = start(MessageKind::models);
  write_options(writer, request.options);
  writer.write(request.profile_steps);
  write_blobs(writer, request.inputs);
  writer.write(static_cast<uint32_t>(request.models.size()));
  for (const ModelCandidate& model : request.models) {
    writer.write(model.shared_object.string());
    writer.write(model.plan.string());
    writer.write(model.symbol);
  }
  return writer.take();
}

WireModelRequest decode_model_request(std::span<const std::byte> message) {
  WireReader reader = open(message, MessageKind::models);
  WireModelRequest request;
  request.options = read_options(reader);
  request.profile_steps = reader.read_bool();
  request.inputs = read_blobs(reader);
  request.models.resize(reader.read_count(kMostCandidates, 3 * kBlobBytes));
  for (ModelCandidate& model : request.models) {
    model.shared_object = reader.read_text(kLongestText);
    model.plan = reader.read_text(kLongestText);
    model.symbol = reader.read_text(kLongestText);
  }
  reader.expect_end();
  return request;
}

Message encode(const RoofRequest& request) {
  WireWriter writer = start(MessageKind::roofs);
  writer.write(request.threads);
  return writer.take();
}

RoofRequest decode_roof_request(std::span<const std::byte> message) {
  WireReader reader = open(message, MessageKind::roofs);
  RoofRequest request{.threads = static_cast<int>(reader.read_integer(1, kMostThreads))};
  reader.expect_end();
  return request;
}

Message encode(const std::vector<RunOutcome>& reply) {
  WireWriter writer = start(MessageKind::kernels);
  writer.write(static_cast<uint32_t>(reply.size()));
  for (const RunOutcome& outcome : reply) write_outcome(writer, outcome);
  return writer.take();
}

std::vector<RunOutcome> decode_kernel_reply(std::span<const std::byte> message) {
  WireReader reader = open(message, MessageKind::kernels);
  std::vector<RunOutcome> reply(reader.read_count(kMostCandidates, 3 * kBlobBytes));
  for (RunOutcome& outcome : reply) read_outcome(reader, outcome);
  reader.expect_end();
  return reply;
}

Message encode(const std::vector<ModelOutcome>& reply) {
  WireWriter writer = start(MessageKind::models);
  writer.write(static_cast<uint32_t>(reply.size()));
  for (const ModelOutcome& outcome : reply) {
    write_outcome(writer, outcome);
    writer.write(static_cast<uint32_t>(outcome.steps.size()));
    for (const Measurement& step : outcome.steps) write_measurement(writer, step);
    writer.write(outcome.load_seconds);
    writer.write(outcome.peak_rss_bytes);
  }
  return writer.take();
}

std::vector<ModelOutcome> decode_model_reply(std::span<const std::byte> message) {
  WireReader reader = open(message, MessageKind::models);
  std::vector<ModelOutcome> reply(reader.read_count(kMostCandidates, 3 * kBlobBytes));
  for (ModelOutcome& outcome : reply) {
    read_outcome(reader, outcome);
    outcome.steps.resize(reader.read_count(kMostSteps, 2 * kBlobBytes));
    for (Measurement& step : outcome.steps) step = read_measurement(reader);
    outcome.load_seconds = reader.read_real(0, kInfinity);
    outcome.peak_rss_bytes = reader.read_integer(0, kAnyInteger);
  }
  reader.expect_end();
  return reply;
}

Message encode(const Roofs& reply) {
  WireWriter writer = start(MessageKind::roofs);
  writer.write(reply.peak_flops);
  writer.write(reply.peak_flops_threads);
  writer.write(reply.threads);
  writer.write(static_cast<uint32_t>(reply.bandwidth.size()));
  for (const auto& [level, bytes_per_second] : reply.bandwidth) {
    writer.write(level);
    writer.write(bytes_per_second);
  }
  return writer.take();
}

Roofs decode_roof_reply(std::span<const std::byte> message) {
  WireReader reader = open(message, MessageKind::roofs);
  Roofs reply;
  reply.peak_flops = reader.read_real(0, kInfinity);
  reply.peak_flops_threads = reader.read_real(0, kInfinity);
  reply.threads = static_cast<int>(reader.read_integer(1, kMostThreads));
  reply.bandwidth.resize(reader.read_count(16, kBlobBytes + sizeof(double)));
  for (auto& [level, bytes_per_second] : reply.bandwidth) {
    level = reader.read_text(kLongestText);
    bytes_per_second = reader.read_real(0, kInfinity);
  }
  reader.expect_end();
  return reply;
}

Message encode_refusal(std::string_view why) {
  WireWriter writer = start(MessageKind::refusal);
  writer.write(why.substr(0, kLongestText));
  return writer.take();
}

std::string decode_refusal(std::span<const std::byte> message) {
  WireReader reader = open(message, MessageKind::refusal);
  std::string why = reader.read_text(kLongestText);
  reader.expect_end();
  return why;
}

}  // namespace hone
