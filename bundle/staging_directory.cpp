// SPDX-License-Identifier: MIT
#include "bundle/staging_directory.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>

#include "bundle/manifest.h"
#include "executor/error.h"

namespace fs = std::filesystem;

namespace hone {
namespace {

/// Absolute, without links, dots and a slash at the end: its name and its parent are what they seem.
fs::path resolved(const fs::path& target) {
  std::error_code error;
  fs::path path = fs::weakly_canonical(fs::absolute(target), error);
  if (error) path = fs::absolute(target).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

std::string prefix_of(const fs::path& target) {
  return "." + target.filename().string() + ".hone-";
}

bool holds_something_else(const fs::path& target) {
  std::error_code error;
  if (!fs::exists(target, error) || is_bundle(target)) return false;
  return !fs::is_directory(target, error) || !fs::is_empty(target, error);
}

}  // namespace

StagingDirectory::StagingDirectory(const fs::path& target) : target_(resolved(target)) {
  const std::string attempted = "cannot write bundle " + target.string();
  if (holds_something_else(target_)) {
    throw Error(attempted, "it exists and is not a bundle", "choose another -o, or remove it yourself");
  }
  std::error_code error;
  fs::create_directories(target_.parent_path(), error);
  if (!error) remove_leftovers();
  folder_ = target_.parent_path() / (prefix_of(target_) + std::to_string(getpid()));
  if (!error) fs::create_directories(bundle(), error);
  if (!error) fs::create_directories(work(), error);
  if (error) {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    throw Error(attempted, error.message(), "choose a folder on a writable disk with free space");
  }
}

StagingDirectory::~StagingDirectory() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void StagingDirectory::remove_leftovers() const {
  const std::string prefix = prefix_of(target_);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(target_.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    pid_t pid = 0;
    const char* end = name.data() + name.size();
    if (std::from_chars(name.data() + prefix.size(), end, pid).ptr != end || pid <= 0) continue;
    const bool alive = pid != getpid() && (kill(pid, 0) == 0 || errno != ESRCH);
    if (!alive) fs::remove_all(entry.path(), error);
  }
}

void StagingDirectory::commit() {
  if (renameat2(AT_FDCWD, bundle().c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) return;
  std::error_code error;
  // There is no old one, or this file system cannot exchange.
  if (is_bundle(target_)) fs::rename(target_, folder_ / "old", error);
  if (!error) fs::rename(bundle(), target_, error);
  if (error) throw Error("cannot write bundle " + target_.string(), error.message(), "choose another -o");
}

}  // namespace hone
