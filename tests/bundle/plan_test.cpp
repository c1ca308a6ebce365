// SPDX-License-Identifier: MIT
// The plan itself, read back from the file: what a step writes is intact until its last reader, whoever placed it.
#include <set>

#include "executor/plan_check.h"
#include "tests/bundle/bundle_fixture.h"

namespace hone {
namespace {

class PlanTest : public BundleTest {
 protected:
  Plan plan_of(const ModelBuilder& model, bool fuse) {
    const BundleSummary summary = write_bundle(request(model, fuse), *builder_);
    return LoadedBundle(summary.shared_object, summary.symbol, summary.plan).plan();
  }
};

/// Plays the steps over arena bytes that remember which storage wrote them last.
void expect_values_survive(const Plan& plan) {
  std::vector<int> owner(plan.arena_bytes, -1);
  for (const PlanStep& step : plan.steps) {
    const size_t inputs = step.arguments.size() - step.output_count;
    for (size_t i = 0; i < step.arguments.size(); ++i) {
      const uint32_t storage = plan.views[step.arguments[i]].storage;
      const PlanStorage& place = plan.storages[storage];
      if (place.kind != PlanStorage::Kind::arena) continue;
      for (uint64_t byte = place.offset; byte < place.offset + place.bytes; ++byte) {
        if (i < inputs) {
          ASSERT_EQ(owner[byte], static_cast<int>(storage)) << step.name << " reads what another value overwrote";
        } else {
          owner[byte] = static_cast<int>(storage);
        }
      }
    }
    // Outputs are written while inputs are read: they may not share bytes.
    for (size_t i = 0; i < inputs; ++i) {
      const uint32_t storage = plan.views[step.arguments[i]].storage;
      const PlanStorage& place = plan.storages[storage];
      if (place.kind != PlanStorage::Kind::arena || place.bytes == 0) continue;
      ASSERT_EQ(owner[place.offset], static_cast<int>(storage)) << step.name << " overwrites its own input";
    }
  }
}

TEST_F(PlanTest, ValuesSurviveUntilTheirLastReader) {
  for (const bool fuse : {true, false}) {
    const Plan plan = plan_of(small_classifier(), fuse);
    EXPECT_EQ(plan_problem(plan, weight_section_bytes(plan)), "");
    EXPECT_GT(plan.arena_bytes, 0u);
    expect_values_survive(plan);
  }
}

TEST_F(PlanTest, AViewKeepsItsStorageAlive) {
  ModelBuilder model;
  model.input("x", {1, 4, 6}).weights("w", {6, 6}).integers("starts", {1}).integers("ends", {3}).integers("axes", {1});
  model.node("MatMul", {"x", "w"}, {"a"}).node("Slice", {"a", "starts", "ends", "axes"}, {"part"});
  model.node("MatMul", {"a", "w"}, {"b"}).node("MatMul", {"b", "w"}, {"c"}).node("MatMul", {"c", "w"}, {"d"});
  model.node("ReduceMean", {"d"}, {"mean"}, {{"axes", std::vector<int64_t>{1}}});
  model.node("Add", {"part", "mean"}, {"y"}).output("y");
  expect_right(model);
  const Plan plan = plan_of(model, true);
  expect_values_survive(plan);
}

TEST_F(PlanTest, EqualConstantsAreStoredOnceAndAligned) {
  ModelBuilder model;
  const std::vector<float> values(36, 0.25f);
  model.input("x", {3, 6}).weights("w", {6, 6}, values).weights("same", {6, 6}, values).weights("other", {6, 6});
  model.node("MatMul", {"x", "w"}, {"a"}).node("MatMul", {"a", "same"}, {"b"}).node("MatMul", {"b", "other"}, {"y"});
  model.output("y");
  const Plan plan = plan_of(model, false);
  std::set<uint64_t> offsets;
  for (const PlanStorage& storage : plan.storages) {
    if (storage.kind != PlanStorage::Kind::weights) continue;
    EXPECT_EQ(storage.offset % 64, 0u);
    offsets.insert(storage.offset);
  }
  EXPECT_EQ(offsets.size(), 2u);
  EXPECT_EQ(plan.kernel_count, 1u);  // three steps of one workload share a function
}

TEST_F(PlanTest, StepsNameTheirNodes) {
  const Plan plan = plan_of(small_classifier(), true);
  std::set<std::string> nodes;
  for (const PlanStep& step : plan.steps) nodes.insert(step.nodes.begin(), step.nodes.end());
  for (const char* name : {"c1", "r1", "gated", "sum", "logits", "scores"}) EXPECT_TRUE(nodes.contains(name)) << name;
}

}  // namespace
}  // namespace hone
