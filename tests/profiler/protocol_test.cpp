// SPDX-License-Identifier: MIT
// Each message survives the way there and back; hostile bytes are refused, never believed.
#include "profiler/protocol.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <thread>

#include "profiler/wire.h"

namespace hone {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

MeasureOptions sample_options() {
  return {.threads = 3,
          .cold_weights = false,
          .rounds = 17,
          .seconds_per_sample = 0.25,
          .best_ns = 1e5,
          .give_up_ratio = 2.5,
          .deadline_seconds = 12.5,
          .want_outputs = false};
}

void expect_equal(const MeasureOptions& a, const MeasureOptions& b) {
  EXPECT_EQ(a.threads, b.threads);
  EXPECT_EQ(a.cold_weights, b.cold_weights);
  EXPECT_EQ(a.rounds, b.rounds);
  EXPECT_EQ(a.seconds_per_sample, b.seconds_per_sample);
  EXPECT_EQ(a.best_ns, b.best_ns);
  EXPECT_EQ(a.give_up_ratio, b.give_up_ratio);
  EXPECT_EQ(a.deadline_seconds, b.deadline_seconds);
  EXPECT_EQ(a.want_outputs, b.want_outputs);
}

Measurement sample_measurement() {
  Measurement measurement;
  measurement.cpu_ns = {1.5, 2.5};
  measurement.wall_ns = {3.5, std::numeric_limits<double>::infinity()};
  measurement.calls_per_sample = 12;
  measurement.threads = 2;
  measurement.cold_weights = true;
  measurement.involuntary_switches = 4;
  measurement.load_average = 0.75;
  measurement.scratch_bytes = 4096;
  return measurement;
}

void expect_equal(const Measurement& a, const Measurement& b) {
  EXPECT_EQ(a.cpu_ns, b.cpu_ns);
  EXPECT_EQ(a.wall_ns, b.wall_ns);
  EXPECT_EQ(a.calls_per_sample, b.calls_per_sample);
  EXPECT_EQ(a.threads, b.threads);
  EXPECT_EQ(a.cold_weights, b.cold_weights);
  EXPECT_EQ(a.involuntary_switches, b.involuntary_switches);
  EXPECT_EQ(a.load_average, b.load_average);
  EXPECT_EQ(a.frequency_ghz, b.frequency_ghz);
  EXPECT_EQ(a.scratch_bytes, b.scratch_bytes);
}

const std::vector<std::byte> kFirst = bytes_of("first"), kSecond = bytes_of(""), kObject = bytes_of("\177ELF...");

Message sample_kernel_request() {
  return encode(WireKernelRequest{.inputs = {kFirst, kSecond},
                                  .output_bytes = {0, 1'000'000},
                                  .candidates = {{kObject, "k1", {kFirst}}, {kObject, "k2", {}}},
                                  .options = sample_options()});
}

Message sample_model_request() {
  return encode(WireModelRequest{.models = {{"/a/lib.so", "/a/a.hone", "hone_a"}},
                                 .inputs = {kFirst},
                                 .options = sample_options(),
                                 .profile_steps = true});
}

std::vector<ModelOutcome> sample_model_outcomes() {
  ModelOutcome outcome;
  outcome.status = RunStatus::timed_out;
  outcome.message = "late";
  outcome.measurement = sample_measurement();
  outcome.outputs = {kFirst, kSecond};
  outcome.steps = {sample_measurement(), {}};
  outcome.load_seconds = 0.5;
  outcome.peak_rss_bytes = 123456;
  return {outcome, {}};
}

std::vector<RunOutcome> sample_kernel_outcomes() {
  return {{.status = RunStatus::failed, .message = "broken", .measurement = sample_measurement(), .outputs = {kFirst}},
          {}};
}

Roofs sample_roofs() {
  Roofs roofs;
  roofs.peak_flops = 1e11;
  roofs.peak_flops_threads = 2e11;
  roofs.threads = 2;
  roofs.bandwidth = {{"L1", 4e11}, {"DRAM", 2e10}};
  return roofs;
}

TEST(Protocol, KernelRequest) {
  const Message message = sample_kernel_request();
  EXPECT_EQ(kind(message), MessageKind::kernels);
  const WireKernelRequest request = decode_kernel_request(message);
  ASSERT_EQ(request.inputs.size(), 2u);
  EXPECT_TRUE(std::ranges::equal(request.inputs[0], kFirst));
  EXPECT_TRUE(request.inputs[1].empty());
  EXPECT_EQ(request.output_bytes, (std::vector<uint64_t>{0, 1'000'000}));
  ASSERT_EQ(request.candidates.size(), 2u);
  EXPECT_TRUE(std::ranges::equal(request.candidates[0].shared_object, kObject));
  EXPECT_EQ(request.candidates[1].symbol, "k2");
  ASSERT_EQ(request.candidates[0].constants.size(), 1u);
  EXPECT_TRUE(std::ranges::equal(request.candidates[0].constants[0], kFirst));
  expect_equal(request.options, sample_options());
}

TEST(Protocol, ModelRequest) {
  const Message message = sample_model_request();
  EXPECT_EQ(kind(message), MessageKind::models);
  const WireModelRequest request = decode_model_request(message);
  ASSERT_EQ(request.models.size(), 1u);
  EXPECT_EQ(request.models[0].shared_object, "/a/lib.so");
  EXPECT_EQ(request.models[0].plan, "/a/a.hone");
  EXPECT_EQ(request.models[0].symbol, "hone_a");
  EXPECT_TRUE(request.profile_steps);
  expect_equal(request.options, sample_options());
}

TEST(Protocol, Replies) {
  const auto kernels = decode_kernel_reply(encode(sample_kernel_outcomes()));
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].status, RunStatus::failed);
  EXPECT_EQ(kernels[0].message, "broken");
  EXPECT_EQ(kernels[0].outputs, (std::vector<std::vector<std::byte>>{kFirst}));
  expect_equal(kernels[0].measurement, sample_measurement());
  expect_equal(kernels[1].measurement, {});

  const auto models = decode_model_reply(encode(sample_model_outcomes()));
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].status, RunStatus::timed_out);
  ASSERT_EQ(models[0].steps.size(), 2u);
  expect_equal(models[0].steps[0], sample_measurement());
  EXPECT_EQ(models[0].load_seconds, 0.5);
  EXPECT_EQ(models[0].peak_rss_bytes, 123456);

  const Roofs roofs = decode_roof_reply(encode(sample_roofs()));
  EXPECT_EQ(roofs.peak_flops, 1e11);
  EXPECT_EQ(roofs.peak_flops_threads, 2e11);
  EXPECT_EQ(roofs.threads, 2);
  EXPECT_EQ(roofs.bandwidth, sample_roofs().bandwidth);
  EXPECT_EQ(decode_refusal(encode_refusal("no")), "no");
}

TEST(Protocol, FrequencyMayBeAbsentOrPresent) {
  RunOutcome outcome;
  EXPECT_FALSE(decode_kernel_reply(encode(std::vector{outcome}))[0].measurement.frequency_ghz.has_value());
  outcome.measurement.frequency_ghz = 3.25;
  EXPECT_EQ(decode_kernel_reply(encode(std::vector{outcome}))[0].measurement.frequency_ghz, 3.25);
}

TEST(Protocol, AGreetingOfAnotherVersionTellsItsVersion) {
  const RunnerInfo same{.protocol_version = kProtocolVersion, .architecture = "aarch64", .cpu = "some core"};
  EXPECT_EQ(decode_greeting(encode(same)).cpu, "some core");
  Message future = encode(RunnerInfo{.protocol_version = kProtocolVersion + 1, .architecture = "riscv", .cpu = "x"});
  future.resize(future.size() - 3);  // laid out in a way that this version cannot know
  EXPECT_EQ(decode_greeting(future).protocol_version, kProtocolVersion + 1);
}

TEST(Protocol, ALongMessageIsCutNotRefused) {
  RunOutcome outcome;
  outcome.message = std::string(100'000, 'x');
  EXPECT_EQ(decode_kernel_reply(encode(std::vector{outcome}))[0].message.size(), 4096u);
}

TEST(Protocol, ValuesOutOfRangeAreRefused) {
  MeasureOptions options = sample_options();
  const auto decode = [](const MeasureOptions& bad) {
    return decode_kernel_request(
        encode(WireKernelRequest{.inputs = {}, .output_bytes = {}, .candidates = {}, .options = bad}));
  };
  EXPECT_NO_THROW(decode(options));
  options.threads = 0;
  EXPECT_THROW(decode(options), MalformedMessage);
  options = sample_options();
  options.deadline_seconds = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(decode(options), MalformedMessage);
  options = sample_options();
  options.rounds = -1;
  EXPECT_THROW(decode(options), MalformedMessage);
  EXPECT_THROW(decode_kernel_request(encode(WireKernelRequest{
                   .inputs = {}, .output_bytes = {uint64_t{1} << 60}, .candidates = {}, .options = sample_options()})),
               MalformedMessage);
}

// Every decoder on `message`; only MalformedMessage may come out.
void decode_with_everything(const Message& message) {
  const auto attempt = [&](const auto& decode) {
    try {
      decode(message);
    } catch (const MalformedMessage&) {
    }
  };
  attempt([](const Message& m) { kind(m); });
  attempt([](const Message& m) { decode_greeting(m); });
  attempt([](const Message& m) { decode_kernel_request(m); });
  attempt([](const Message& m) { decode_model_request(m); });
  attempt([](const Message& m) { decode_roof_request(m); });
  attempt([](const Message& m) { decode_kernel_reply(m); });
  attempt([](const Message& m) { decode_model_reply(m); });
  attempt([](const Message& m) { decode_roof_reply(m); });
  attempt([](const Message& m) { decode_refusal(m); });
}

std::vector<Message> all_messages() {
  return {sample_kernel_request(),
          sample_model_request(),
          encode(RoofRequest{.threads = 2}),
          encode(sample_kernel_outcomes()),
          encode(sample_model_outcomes()),
          encode(sample_roofs()),
          encode(RunnerInfo{.protocol_version = kProtocolVersion, .architecture = "x86-64", .cpu = "cpu"}),
          encode_refusal("no")};
}

TEST(Protocol, EveryTruncationAndExtensionIsRefused) {
  const std::vector<std::pair<Message, std::function<void(const Message&)>>> cases = {
      {sample_kernel_request(), [](const Message& m) { decode_kernel_request(m); }},
      {sample_model_request(), [](const Message& m) { decode_model_request(m); }},
      {encode(sample_kernel_outcomes()), [](const Message& m) { decode_kernel_reply(m); }},
      {encode(sample_model_outcomes()), [](const Message& m) { decode_model_reply(m); }},
      {encode(sample_roofs()), [](const Message& m) { decode_roof_reply(m); }},
  };
  for (const auto& [message, decode] : cases) {
    EXPECT_NO_THROW(decode(message));
    for (size_t length = 0; length < message.size(); ++length) {
      EXPECT_THROW(decode({message.begin(), message.begin() + static_cast<std::ptrdiff_t>(length)}), MalformedMessage);
    }
    Message longer = message;
    longer.push_back(std::byte{0});
    EXPECT_THROW(decode(longer), MalformedMessage);
  }
}

TEST(Protocol, SurvivesFuzzing) {
  std::mt19937 random(1);
  const std::vector<Message> messages = all_messages();
  for (int round = 0; round < 20'000; ++round) {
    Message message = messages[random() % messages.size()];
    for (unsigned change = 0; change <= random() % 4; ++change) {
      const size_t place = random() % message.size();
      switch (random() % 4) {
        case 0:
          message[place] ^= std::byte(1u << random() % 8);
          break;
        case 1:
          message[place] = std::byte{0xFF};
          break;
        case 2:
          message.erase(message.begin() + static_cast<std::ptrdiff_t>(place));
          break;
        default:
          message.insert(message.begin() + static_cast<std::ptrdiff_t>(place), std::byte(random() & 0xff));
      }
      if (message.empty()) message.push_back(std::byte(random() & 0xff));
    }
    decode_with_everything(message);
  }
}

class Frames : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(pipe(fds_), 0); }
  void TearDown() override {
    close(fds_[0]);
    if (fds_[1] >= 0) close(fds_[1]);
  }
  void write_raw(const std::vector<uint8_t>& bytes) {
    ASSERT_EQ(write(fds_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void close_writer() { close(std::exchange(fds_[1], -1)); }
  int reader() const { return fds_[0]; }
  int writer() const { return fds_[1]; }

 private:
  int fds_[2] = {-1, -1};
};

TEST_F(Frames, LargeAndEmptyMessagesArrive) {
  std::vector<std::byte> large(3'000'000);
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<std::byte>(i * 7);
  std::thread sender([&] {
    write_message(writer(), large);
    write_message(writer(), {});
    close_writer();
  });
  EXPECT_EQ(read_message(reader()), large);
  EXPECT_EQ(read_message(reader()), std::vector<std::byte>{});
  EXPECT_EQ(read_message(reader()), std::nullopt);
  sender.join();
}

TEST_F(Frames, AnEndInsideALengthIsMalformed) {
  write_raw({5, 0});
  close_writer();
  EXPECT_THROW(read_message(reader()), MalformedMessage);
}

TEST_F(Frames, AnEndInsideAMessageIsMalformed) {
  write_raw({5, 0, 0, 0, 1, 2});
  close_writer();
  EXPECT_THROW(read_message(reader()), MalformedMessage);
}

TEST_F(Frames, AnAbsurdLengthIsMalformed) {
  write_raw({0xff, 0xff, 0xff, 0xff});
  EXPECT_THROW(read_message(reader()), MalformedMessage);
}

}  // namespace
}  // namespace hone
