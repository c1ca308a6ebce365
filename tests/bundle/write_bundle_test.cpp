// SPDX-License-Identifier: MIT
// Bundles compute what the model says, whatever its borders look like, and are the same bytes each time.
#include <gmock/gmock.h>

#include <fstream>
#include <map>

#include "bundle/npy.h"
#include "executor/error.h"
#include "tests/bundle/bundle_fixture.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> all_files(const fs::path& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    files[fs::relative(entry.path(), directory)] = {std::istreambuf_iterator<char>(stream), {}};
  }
  return files;
}

TEST_F(BundleTest, ASmallClassifier) {
  const BundleSummary fused = expect_right(small_classifier());
  EXPECT_LE(fused.arena_lower_bound, fused.arena_bytes);
  EXPECT_GT(fused.weight_bytes, 0u);
  const BundleSummary unfused = expect_right(small_classifier(), false);
  EXPECT_GT(unfused.kernels, fused.kernels);
}

TEST_F(BundleTest, OutputsThatAreInputsConstantsViewsOrListedTwice) {
  ModelBuilder model;
  model.input("x", {2, 6}).weights("w", {2, 6}).integers("shape", {3, 4});
  model.node("Add", {"x", "w"}, {"sum"}).node("Relu", {"sum"}, {"y"}).node("Reshape", {"y", "shape"}, {"view"});
  model.output("y").output("x").output("w").output("view").output("y").output("sum");
  expect_right(model);
}

TEST_F(BundleTest, NoKernelAtAll) {
  ModelBuilder model;
  model.input("x", {4}).output("x");
  const BundleSummary summary = expect_right(model);
  EXPECT_EQ(summary.kernels, 0);
}

TEST_F(BundleTest, SeveralOutputsOfOneNodeAndIntegers) {
  ModelBuilder model;
  model.input("x", {2, 6}).input("n", {2, 6}, onnx::TensorProto_DataType_INT64);
  model.node("Split", {"x"}, {"left", "right"}, {{"axis", int64_t{1}}, {"num_outputs", int64_t{2}}});
  model.node("Mul", {"left", "right"}, {"product"}).node("Add", {"n", "n"}, {"twice"});
  model.output("product").output("twice").output("right");
  expect_right(model);
}

TEST_F(BundleTest, TheSameRequestGivesTheSameBytes) {
  BundleRequest wanted = request(small_classifier());
  write_bundle(wanted, *builder_);
  const auto first = all_files(wanted.directory);
  builder_ = start_halide_builder({.helper = HONE_COMPILE, .workers = 1});
  wanted.directory = directory_.path() / "deeper" / "again";
  write_bundle(wanted, *builder_);
  const auto second = all_files(wanted.directory);
  ASSERT_EQ(first.size(), second.size());
  for (const auto& [file, bytes] : first) {
    ASSERT_TRUE(second.contains(file)) << file;
    EXPECT_TRUE(second.at(file) == bytes) << file;
  }
  for (const auto& [file, bytes] : first) {
    EXPECT_EQ(bytes.find(directory_.path().string()), std::string::npos) << file << " names the folder it was built in";
  }
}

TEST_F(BundleTest, UsesTheChosenConfigAndSaysSo) {
  BundleRequest wanted = request(small_classifier());
  Config generic;
  std::string id;
  for (const Group& group : wanted.groups) {
    const auto spaces = builder_->spaces(group.workload, wanted.device, wanted.context);
    if (spaces.size() < 2) continue;
    id = group.workload.id();
    generic = spaces.back().default_config;
    wanted.choices[id] = {generic, 41, "measured here"};
  }
  ASSERT_FALSE(id.empty());
  std::vector<int> done;
  write_bundle(wanted, *builder_, [&](int ready, int all) {
    done.push_back(ready);
    EXPECT_LE(ready, all);
  });
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  int chosen = 0;
  for (const BundleManifest::Kernel& step : read_manifest(wanted.directory).steps) {
    if (step.workload != id) continue;
    ++chosen;
    EXPECT_EQ(step.config, generic.canonical());
    EXPECT_EQ(step.trial, 41);
    EXPECT_EQ(step.reason, "measured here");
  }
  EXPECT_GT(chosen, 0);
}

TEST_F(BundleTest, TheSampleIsTheGivenInputAndItsReference) {
  BundleRequest wanted = request(small_classifier());
  const std::vector<Tensor> inputs = inputs_for(wanted.graph, 99);
  wanted.sample_inputs["image"] = inputs[0];
  write_bundle(wanted, *builder_);
  const fs::path sample = read_manifest(wanted.directory).sample_directory;
  EXPECT_EQ(read_npy(sample / "inputs" / "image.npy"), inputs[0]);
  const Tensor expected = evaluate_unfused(small_classifier().import(), inputs)[0];
  EXPECT_LE(relative_error(read_npy(sample / "outputs" / "scores.npy"), expected), 1e-6);
}

TEST_F(BundleTest, AKernelThatDoesNotBuildIsNamed) {
  BundleRequest wanted = request(small_classifier());
  const std::string id = wanted.groups[0].workload.id();
  wanted.choices[id] = {builder_->spaces(wanted.groups[0].workload, wanted.device, {})[0].default_config, 1, ""};
  wanted.device.halide_target = "x86-64-linux-no_such_feature";
  try {
    write_bundle(wanted, *builder_);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("cannot build the kernel of '"));  // any: two compile at once
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("\n")));
  }
  EXPECT_FALSE(fs::exists(wanted.directory));
  EXPECT_TRUE(fs::is_empty(directory_.path()));
}

TEST_F(BundleTest, ANewBundleReplacesAnOldOneAndNothingElse) {
  BundleRequest wanted = request(small_classifier());
  write_bundle(wanted, *builder_);
  std::ofstream(wanted.directory / "stray") << "of a user";
  write_bundle(wanted, *builder_);
  EXPECT_FALSE(fs::exists(wanted.directory / "stray"));
  fs::remove(wanted.directory / "manifest.json");
  EXPECT_THROW(write_bundle(wanted, *builder_), Error);
  EXPECT_TRUE(fs::exists(wanted.directory / "main.cpp"));
}

}  // namespace
}  // namespace hone
