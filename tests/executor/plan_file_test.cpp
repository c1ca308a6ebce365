// SPDX-License-Identifier: MIT
// The plan file: what is written is read, and nothing damaged gets past the reader or crashes it.
#include "executor/plan_file.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "executor/plan_format.h"
#include "tests/fakes/fake_bundle.h"

namespace hone {
namespace {

PlanBuilder example() {
  PlanBuilder builder(20);
  const uint32_t x = builder.input(), y = builder.output();
  const uint32_t w = builder.weights(std::vector<float>(20, 2.f));
  const uint32_t a = builder.arena();
  builder.weights(std::vector<float>(20, 3.f));
  builder.view({.storage = 3, .offset_bytes = 16, .extents = {2, 4}, .strides = {8, 1}});
  builder.step(1, {x, w, a}, "conv1+relu1");
  builder.step(0, {a, a}, "in place");
  builder.step(PlanStep::kCopy, {a, y}, "copy");
  builder.plan.target = "x86-avx2";
  builder.plan.cpu_flags = {"sse4_1", "avx"};
  builder.plan.scratch_bytes = 4096;
  builder.plan.threads = 2;
  return builder;
}

void set_hash(std::vector<std::byte>& file) {
  uint64_t plan_bytes = 0;
  std::memcpy(&plan_bytes, &file[16], sizeof plan_bytes);
  const std::span<const std::byte> bytes(file);
  if (plan_bytes > bytes.size() - kPlanHeaderBytes) return;  // the reader will not come as far as the hash
  const uint64_t hash = plan_hash(bytes.subspan(kPlanHeaderBytes, plan_bytes), plan_hash(bytes.first(kPlanHashOffset)));
  std::memcpy(&file[kPlanHashOffset], &hash, sizeof hash);
}

std::string error_of(std::span<const std::byte> file) {
  try {
    decode_plan(file, "fake.hone");
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(PlanFile, ReadsWhatWasWritten) {
  const PlanBuilder builder = example();
  const std::vector<std::byte> file = builder.file();
  const DecodedPlan decoded = decode_plan(file, "fake.hone");
  const Plan& plan = decoded.plan;
  EXPECT_EQ(plan.name, "fake");
  EXPECT_EQ(plan.target, "x86-avx2");
  EXPECT_EQ(plan.cpu_flags, (std::vector<std::string>{"sse4_1", "avx"}));
  EXPECT_EQ(plan.kernel_count, 2u);
  ASSERT_EQ(plan.storages.size(), 5u);
  EXPECT_EQ(plan.storages[4].kind, PlanStorage::Kind::weights);
  EXPECT_EQ(plan.storages[4].offset, 128u);
  ASSERT_EQ(plan.views.size(), 6u);
  EXPECT_EQ(plan.views[5].extents, (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(plan.views[5].strides, (std::vector<int64_t>{8, 1}));
  EXPECT_EQ(plan.views[5].offset_bytes, 16u);
  ASSERT_EQ(plan.steps.size(), 3u);
  EXPECT_EQ(plan.steps[0].arguments, builder.plan.steps[0].arguments);
  EXPECT_EQ(plan.steps[0].nodes, (std::vector<std::string>{"conv1+relu1_node"}));
  EXPECT_EQ(plan.steps[2].kernel, PlanStep::kCopy);
  EXPECT_EQ(plan.inputs[0].name, "x0");
  EXPECT_EQ(plan.outputs[0].view, 1u);
  EXPECT_EQ(plan.arena_bytes, builder.plan.arena_bytes);
  EXPECT_EQ(plan.scratch_bytes, 4096u);
  EXPECT_EQ(plan.threads, 2);
  EXPECT_TRUE(std::ranges::equal(decoded.weights, builder.weight_bytes));
  EXPECT_EQ((decoded.weights.data() - file.data()) % 4096, 0);
}

TEST(PlanFile, SamePlanSameBytes) {
  EXPECT_EQ(example().file(), example().file());
}

TEST(PlanFile, RefusesEveryTruncation) {
  const std::vector<std::byte> file = example().file();
  for (size_t size = 0; size < file.size(); ++size) {
    // Copied, so that AddressSanitizer sees a read past the end.
    const std::vector<std::byte> part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_NE(error_of(part), "") << size;
  }
  std::vector<std::byte> longer = file;
  longer.push_back({});
  EXPECT_NE(error_of(longer), "");
}

TEST(PlanFile, RefusesEveryDamagedByte) {
  std::vector<std::byte> file = example().file();
  uint64_t plan_bytes = 0;
  std::memcpy(&plan_bytes, &file[16], sizeof plan_bytes);
  for (size_t i = 0; i < kPlanHeaderBytes + plan_bytes; ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      file[i] ^= std::byte{1} << bit;
      ASSERT_NE(error_of(file), "") << "byte " << i;
      file[i] ^= std::byte{1} << bit;
    }
  }
  EXPECT_EQ(error_of(file), "");
}

/// With a hash that fits, only the checks of the plan are left: they may accept, but what they accept must be sound.
TEST(PlanFile, SurvivesDamageWithAMatchingHash) {
  const std::vector<std::byte> good = example().file();
  uint64_t plan_bytes = 0;
  std::memcpy(&plan_bytes, &good[16], sizeof plan_bytes);
  std::mt19937 random(3);
  int refused = 0;
  for (size_t i = 8; i < kPlanHeaderBytes + plan_bytes; ++i) {
    for (const unsigned value : {0u, 1u, 0x7fu, 0x80u, 0xffu, static_cast<unsigned>(random() & 0xff)}) {
      std::vector<std::byte> file = good;
      file[i] = std::byte(value);
      if (random() % 4 == 0) file[kPlanHeaderBytes + random() % plan_bytes] = std::byte(random() & 0xff);
      set_hash(file);
      try {
        const DecodedPlan decoded = decode_plan(file, "fake.hone");
        ASSERT_EQ(plan_problem(decoded.plan, decoded.weights.size()), "");
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(PlanFile, NamesFileProblemAndRemedy) {
  std::vector<std::byte> file = example().file();
  EXPECT_EQ(error_of({}), "cannot load fake.hone: it is not a plan file; give the NAME.hone file of a bundle");
  file[8] = std::byte{9};
  EXPECT_NE(error_of(file).find("cannot load fake.hone: it has format version 9, this executor reads 1; "),
            std::string::npos);
}

struct BrokenPlan {
  const char* problem;
  std::function<void(Plan&)> break_it;
};

const BrokenPlan kBrokenPlans[] = {
    {"storage 3 ends outside of its section", [](Plan& p) { p.storages[3].bytes = 1 << 20; }},
    {"storage 3 ends outside of its section", [](Plan& p) { p.storages[3].offset = ~uint64_t{63}; }},
    {"storage 2 ends outside of its section", [](Plan& p) { p.storages[2].bytes = ~uint64_t{0}; }},
    {"storage 3 is not aligned to 64 bytes", [](Plan& p) { p.storages[3].offset = 4; }},
    {"storage 0 belongs to an input that does not exist", [](Plan& p) { p.storages[0].index = 1; }},
    {"storage 1 belongs to an output that does not exist", [](Plan& p) { p.storages[1].index = 7; }},
    {"storage 1 is of an unknown kind", [](Plan& p) { p.storages[1].kind = static_cast<PlanStorage::Kind>(4); }},
    {"view 5 looks at a storage that does not exist", [](Plan& p) { p.views[5].storage = 5; }},
    {"view 5 has not one stride for each extent", [](Plan& p) { p.views[5].strides.pop_back(); }},
    {"view 5 has too many dimensions",
     [](Plan& p) { p.views[5].extents = p.views[5].strides = std::vector<int64_t>(17, 1); }},
    {"view 5 has an unknown element type", [](Plan& p) { p.views[5].dtype = static_cast<DType>(0); }},
    {"view 5 has an unknown element type", [](Plan& p) { p.views[5].dtype = static_cast<DType>(200); }},
    {"view 5 has impossible extents", [](Plan& p) { p.views[5].extents[0] = -1; }},
    {"view 5 has impossible extents",
     [](Plan& p) { p.views[5].strides[0] = INT64_MAX / 2 + 1, p.views[5].extents[0] = 3; }},
    {"view 5 starts outside of its storage", [](Plan& p) { p.views[5].offset_bytes = 84; }},
    {"view 5 starts outside of its storage or between two elements", [](Plan& p) { p.views[5].offset_bytes = 2; }},
    {"view 5 reaches outside of its storage", [](Plan& p) { p.views[5].extents[0] = 3; }},
    {"view 5 reaches outside of its storage", [](Plan& p) { p.views[5].strides[0] = -8; }},
    {"step 0 uses a view that does not exist", [](Plan& p) { p.steps[0].arguments[0] = 6; }},
    {"step 0 has an impossible number of outputs", [](Plan& p) { p.steps[0].output_count = 0; }},
    {"step 0 has an impossible number of outputs", [](Plan& p) { p.steps[0].output_count = 4; }},
    {"step 0 writes to an input or to the weights", [](Plan& p) { p.steps[0].output_count = 2; }},
    {"step 0 calls a kernel that does not exist", [](Plan& p) { p.steps[0].kernel = 2; }},
    {"step 2 is a copy with other than two arguments", [](Plan& p) { p.steps[2].arguments.push_back(1); }},
    {"step 2 copies between different shapes or types", [](Plan& p) { p.steps[2].arguments[0] = 5; }},
    {"an input uses a view that does not exist", [](Plan& p) { p.inputs[0].view = 6; }},
    {"an input is not the start of its storage", [](Plan& p) { p.inputs[0].view = 2; }},
    {"an output is not the start of its storage",
     [](Plan& p) { p.views[1].offset_bytes = 4, p.views[1].extents = {19}, p.steps.pop_back(); }},
    {"an input shares its storage", [](Plan& p) { p.storages.push_back(p.storages[0]); }},
};

TEST(PlanFile, RefusesEveryInconsistency) {
  const PlanBuilder builder = example();
  const uint64_t weight_bytes = builder.weight_bytes.size();
  ASSERT_EQ(plan_problem(builder.plan, weight_bytes), "");
  for (const BrokenPlan& broken : kBrokenPlans) {
    Plan plan = builder.plan;
    broken.break_it(plan);
    EXPECT_EQ(plan_problem(plan, weight_bytes).find(broken.problem), 0u)
        << broken.problem << " vs " << plan_problem(plan, weight_bytes);
  }
}

TEST(PlanFile, WriterRefusesAnInconsistentPlan) {
  PlanBuilder builder = example();
  builder.plan.steps[0].arguments[0] = 99;
  EXPECT_THROW(encode_plan(builder.plan), Error);
}

TEST(MappedFile, NamesWhatCannotBeMapped) {
  const TemporaryDirectory directory;
  EXPECT_THROW(MappedFile((directory.path() / "missing.hone").string()), Error);
  EXPECT_THROW(MappedFile(directory.path().string()), Error);
  write_file(directory.path() / "empty.hone", {});
  EXPECT_THROW(MappedFile((directory.path() / "empty.hone").string()), Error);
  EXPECT_THROW(MappedFile("/dev/null"), Error);
}

}  // namespace
}  // namespace hone
