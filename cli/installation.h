// SPDX-License-Identifier: MIT
// Where hone's own parts lie, relative to the running program, and the helpers started from there.
//   <dir of hone>/hone-compile, <dir>/runtime/<architecture>/{hone-runner,libhone_executor.a}, <dir>/include (or the
//   source tree)
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "cli/command.h"
#include "codegen/builder.h"
#include "db/database.h"
#include "profiler/runner.h"
#include "schedules/device_info.h"

namespace hone {

std::filesystem::path executor_library(const Surroundings& surroundings, const std::string& architecture);
std::filesystem::path include_directory(const Surroundings& surroundings);

/// Starts hone-compile. Call before any thread or database handle exists.
std::unique_ptr<Builder> start_builder(const Surroundings& surroundings, int workers);

/// "" (chosen by architecture: local, or qemu for a foreign one), "local", "qemu" or "ssh:HOST[:RUNNER]".
struct TransportChoice {
  std::string name;  // "local", "qemu", "ssh:HOST"
  TransportOptions options;
};
/// Throws UsageError on an unknown name, Error if the runner for the architecture is not installed.
TransportChoice choose_transport(const Surroundings& surroundings, const std::string& requested,
                                 const std::string& architecture);

/// The environment of figures taken through a runner.
Environment describe_environment(const TransportChoice& transport, const Runner& runner);

/// A private folder under the temporary directory, removed with all its contents at the end.
class ScratchDirectory {
 public:
  explicit ScratchDirectory(const std::filesystem::path& parent);
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace hone
