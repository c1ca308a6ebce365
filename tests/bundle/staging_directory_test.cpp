// SPDX-License-Identifier: MIT
#include "bundle/staging_directory.h"

#include <gtest/gtest.h>

#include <fstream>

#include "executor/error.h"
#include "tests/fakes/fake_bundle.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

class StagingDirectoryTest : public testing::Test {
 protected:
  static void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void build(const fs::path& target, const std::string& text) {
    StagingDirectory staging(target);
    write(staging.bundle() / "manifest.json", text);
    staging.commit();
  }
  static std::string read(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_.path())) names.push_back(entry.path().filename());
    return names;
  }

  TemporaryDirectory directory_;
  fs::path target_ = directory_.path() / "model";
};

TEST_F(StagingDirectoryTest, CreatesReplacesAndLeavesNothing) {
  build(target_ / "", "first");  // a slash at the end
  EXPECT_EQ(read(target_ / "manifest.json"), "first");
  write(target_ / "old_file", "");
  build(target_, "second");
  EXPECT_EQ(read(target_ / "manifest.json"), "second");
  EXPECT_FALSE(fs::exists(target_ / "old_file"));
  EXPECT_EQ(entries(), std::vector<std::string>{"model"});
}

TEST_F(StagingDirectoryTest, TheOldBundleStaysIfTheNewOneFails) {
  build(target_, "first");
  { const StagingDirectory staging(target_); }
  EXPECT_EQ(read(target_ / "manifest.json"), "first");
  EXPECT_EQ(entries(), std::vector<std::string>{"model"});
}

TEST_F(StagingDirectoryTest, AnEmptyFolderIsFilled) {
  fs::create_directories(target_);
  build(target_, "first");
  EXPECT_EQ(read(target_ / "manifest.json"), "first");
}

TEST_F(StagingDirectoryTest, ALinkStaysALink) {
  build(target_, "first");
  fs::create_directory_symlink("model", directory_.path() / "link");
  build(directory_.path() / "link", "second");
  EXPECT_TRUE(fs::is_symlink(directory_.path() / "link"));
  EXPECT_EQ(read(target_ / "manifest.json"), "second");
}

TEST_F(StagingDirectoryTest, RefusesWhatIsNoBundle) {
  write(target_ / "thesis.tex", "mine");
  EXPECT_THROW(StagingDirectory{target_}, Error);
  write(directory_.path() / "file", "mine");
  EXPECT_THROW(StagingDirectory{directory_.path() / "file"}, Error);
  EXPECT_THROW(StagingDirectory{directory_.path() / "file" / "below"}, Error);
  EXPECT_EQ(read(target_ / "thesis.tex"), "mine");
  EXPECT_EQ(entries().size(), 2u);
}

TEST_F(StagingDirectoryTest, RemovesWhatAKilledBuildLeft) {
  constexpr pid_t kNobody = 0x3fffffff;  // above the largest pid that Linux gives
  write(directory_.path() / (".model.hone-" + std::to_string(kNobody)) / "work" / "a.o", "");
  write(directory_.path() / ".model.hone-1" / "work" / "a.o", "");  // of a living process
  write(directory_.path() / ".model.hone-notes" / "mine", "");
  build(target_, "first");
  EXPECT_EQ(entries().size(), 3u);
  EXPECT_FALSE(fs::exists(directory_.path() / (".model.hone-" + std::to_string(kNobody))));
}

}  // namespace
}  // namespace hone
