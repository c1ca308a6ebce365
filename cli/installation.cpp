// SPDX-License-Identifier: MIT
#include "cli/installation.h"

#include <stdlib.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "executor/error.h"
#include "generators/nearest_name.h"

namespace fs = std::filesystem;

namespace hone {
namespace {

fs::path runtime_file(const Surroundings& surroundings, const std::string& architecture, const char* file) {
  const fs::path path = surroundings.program.parent_path() / "runtime" / architecture / file;
  if (!fs::exists(path)) {
    throw Error("cannot find hone's runtime for " + architecture, path.string() + " does not exist",
                architecture == "aarch64" ? "install g++-aarch64-linux-gnu and build the target runtime-aarch64"
                                          : "build or install hone completely");
  }
  return path;
}

/// Cross-compiled programs find their C library below the cross toolchain's root.
std::vector<std::string> qemu_prefix(const std::string& architecture) {
  return {"qemu-" + architecture, "-L", "/usr/" + architecture + "-linux-gnu"};
}

std::string os_name() {
  utsname names{};
  if (uname(&names) != 0) return "unknown";
  return std::string(names.sysname) + " " + names.release;
}

}  // namespace

fs::path executor_library(const Surroundings& surroundings, const std::string& architecture) {
  return runtime_file(surroundings, architecture, "libhone_executor.a");
}

fs::path include_directory(const Surroundings& surroundings) {
  const fs::path installed = surroundings.program.parent_path() / "include";
  if (fs::exists(installed / "executor" / "executor.h")) return installed;
  return HONE_SOURCE_DIRECTORY;
}

std::unique_ptr<Builder> start_builder(const Surroundings& surroundings, int workers) {
  HalideBuilderOptions options;
  options.helper = surroundings.program.parent_path() / "hone-compile";
  options.workers = workers;
  return start_halide_builder(options);
}

TransportChoice choose_transport(const Surroundings& surroundings, const std::string& requested,
                                 const std::string& architecture) {
  TransportChoice choice;
  choice.name = requested;
  if (requested.empty()) choice.name = architecture == detect_host_cpu().architecture ? "local" : "qemu";
  if (choice.name.starts_with("ssh:")) {
    const std::string target = choice.name.substr(4);
    const size_t colon = target.find(':');
    choice.options.runner = colon == std::string::npos ? "hone-runner" : target.substr(colon + 1);
    choice.options.command_prefix = {"ssh", "-o", "BatchMode=yes", target.substr(0, colon)};
    return choice;
  }
  if (choice.name != "local" && choice.name != "qemu") {
    std::vector<std::string_view> names;
    for (const TransportEntry& entry : transports()) names.push_back(entry.name);
    throw UsageError{"unknown transport '" + choice.name + "'; did you mean '" + nearest_name(choice.name, names) +
                     "'? (local, qemu or ssh:HOST)"};
  }
  choice.options.runner = runtime_file(surroundings, architecture, "hone-runner");
  if (choice.name == "qemu") {
    choice.options.command_prefix = qemu_prefix(architecture);
    choice.options.evidence = Evidence::emulated;
  }
  return choice;
}

Environment describe_environment(const TransportChoice& transport, const Runner& runner) {
  Environment environment;
  environment.cpu = runner.info().cpu;
  environment.hone_version = kVersion;
  environment.halide_version = HONE_HALIDE_VERSION;
  environment.os = os_name();
  environment.harness = "protocol " + std::to_string(runner.info().protocol_version);
  environment.transport = transport.name;
  return environment;
}

ScratchDirectory::ScratchDirectory(const fs::path& parent) {
  std::string pattern = (parent / "hone-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw Error("cannot make a scratch folder in " + parent.string(), std::strerror(errno),
                "free some space there or set TMPDIR to a writable folder");
  }
  path_ = pattern;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace hone
