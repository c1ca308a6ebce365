// SPDX-License-Identifier: MIT
// Where a bundle is written before it is whole: a hidden folder beside its place, so that the last step is one rename.
#pragma once

#include <filesystem>

namespace hone {

class StagingDirectory {
 public:
  /// Throws Error if the place cannot be written or holds something that is not a bundle. Removes what killed builds of
  /// the same bundle left behind.
  explicit StagingDirectory(const std::filesystem::path& target);
  ~StagingDirectory();
  StagingDirectory(const StagingDirectory&) = delete;
  StagingDirectory& operator=(const StagingDirectory&) = delete;

  std::filesystem::path bundle() const { return folder_ / "bundle"; }  // becomes the target
  std::filesystem::path work() const { return folder_ / "work"; }      // vanishes
  /// Puts the bundle in its place; an old one is replaced in one step where the file system can.
  void commit();

 private:
  void remove_leftovers() const;

  std::filesystem::path target_, folder_;
};

}  // namespace hone
