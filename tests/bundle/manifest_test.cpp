// SPDX-License-Identifier: MIT
// Reading bundles back, whole and damaged in every file.
#include <gmock/gmock.h>

#include <fstream>

#include "executor/error.h"
#include "tests/bundle/bundle_fixture.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

class ManifestTest : public BundleTest {
 protected:
  ManifestTest() {
    BundleRequest wanted = request(small_classifier());
    wanted.preprocessing = {{"mean", "[0.5]"}, {"labels", "cat\ndog\n"}};
    wanted.context.threads = 2;
    summary_ = write_bundle(wanted, *builder_);
  }
  std::string read_error() const {
    try {
      read_manifest(summary_.directory);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }
  void write_manifest_text(const std::string& text) const {
    std::ofstream(summary_.directory / "manifest.json") << text;
  }
  std::string manifest_text() const {
    std::ifstream stream(summary_.directory / "manifest.json");
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  BundleSummary summary_;
};

TEST_F(ManifestTest, SaysWhatWasBuilt) {
  const BundleManifest manifest = read_manifest(summary_.directory);
  EXPECT_EQ(manifest.name, "small");
  EXPECT_EQ(manifest.symbol, "hone_small");
  EXPECT_EQ(manifest.shared_object, summary_.shared_object);
  EXPECT_EQ(manifest.plan, summary_.plan);
  EXPECT_EQ(TuningContext::parse(manifest.context).threads, 2);
  EXPECT_EQ(manifest.preprocessing.at("labels"), "cat\ndog\n");
  EXPECT_EQ(manifest.weight_bytes, summary_.weight_bytes);
  EXPECT_EQ(manifest.arena_bytes, summary_.arena_bytes);
  ASSERT_EQ(manifest.inputs.size(), 1u);
  EXPECT_EQ(manifest.inputs[0].name, "image");
  EXPECT_EQ(manifest.tensors[manifest.inputs[0].view].extents, (Shape{1, 3, 9, 7}));
  EXPECT_EQ(manifest.tensors[manifest.outputs[0].view].strides, (Strides{5, 1}));
  const LoadedBundle bundle(manifest.shared_object, manifest.symbol, manifest.plan);
  ASSERT_EQ(manifest.steps.size(), bundle.plan().steps.size());
  double flops = 0;
  for (size_t i = 0; i < manifest.steps.size(); ++i) {
    EXPECT_EQ(manifest.steps[i].name, bundle.plan().steps[i].name);
    EXPECT_FALSE(manifest.steps[i].config.empty());
    EXPECT_EQ(manifest.steps[i].reason, "default schedule");
    flops += manifest.steps[i].flops;
  }
  EXPECT_GT(flops, 2.0 * 9 * 7 * 8 * 27);
  EXPECT_TRUE(verify_files(summary_.directory).empty());
}

TEST_F(ManifestTest, EveryDamagedOrMissingFileIsFound) {
  size_t files = 0;
  for (const auto& [file, hash] : read_manifest(summary_.directory).sha256) {
    const fs::path path = summary_.directory / file;
    ASSERT_TRUE(fs::is_regular_file(path)) << file;
    EXPECT_EQ(hash.size(), 64u);
    std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(fs::file_size(path) / 2));
    const int byte = stream.get();
    stream.seekp(static_cast<std::streamoff>(fs::file_size(path) / 2));
    stream.put(static_cast<char>(byte ^ 1));
    stream.close();
    EXPECT_THAT(verify_files(summary_.directory), testing::ElementsAre(testing::HasSubstr(file)));
    const fs::path aside = directory_.path() / "aside";
    fs::rename(path, aside);
    EXPECT_THAT(verify_files(summary_.directory), testing::ElementsAre(testing::HasSubstr(file + " is missing")));
    fs::rename(aside, path);
    stream.open(path, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(fs::file_size(path) / 2));
    stream.put(static_cast<char>(byte));
    ++files;
  }
  EXPECT_GE(files, 14u);
  EXPECT_TRUE(verify_files(summary_.directory).empty());
  // Nothing was left out of the list but the list itself.
  size_t present = 0;
  for (const auto& entry : fs::recursive_directory_iterator(summary_.directory)) present += entry.is_regular_file();
  EXPECT_EQ(present, files + 1);
}

TEST_F(ManifestTest, DamagedManifestsAreErrorsOfOneLine) {
  const std::string whole = manifest_text();
  for (size_t length = 0; length + 2 < whole.size(); length += 1 + whole.size() / 40) {
    write_manifest_text(whole.substr(0, length));
    EXPECT_THAT(read_error(), testing::HasSubstr("manifest.json is damaged")) << length;
    EXPECT_EQ(read_error().find('\n'), std::string::npos);
  }
  for (const char* text : {"[]", "{}", "null", "{\"format\": \"1\"}", "{\"format\": 1}"}) {
    write_manifest_text(text);
    EXPECT_THAT(read_error(), testing::HasSubstr("manifest.json is damaged")) << text;
  }
  write_manifest_text("{\"format\": 999}");
  EXPECT_THAT(read_error(), testing::HasSubstr("its format is 999"));
  fs::remove(summary_.directory / "manifest.json");
  EXPECT_THAT(read_error(), testing::HasSubstr("it has no manifest.json"));
}

TEST_F(ManifestTest, FilesOutsideOfTheBundleAreNotRead) {
  std::string text = manifest_text();
  text.replace(text.find("main.cpp"), 8, "../secret");
  write_manifest_text(text);
  EXPECT_THAT(verify_files(summary_.directory), testing::Contains(testing::HasSubstr("outside of the bundle")));
}

}  // namespace
}  // namespace hone
