// SPDX-License-Identifier: MIT
// The ways to a hone-runner. All are the same protocol on stdin and stdout of a command; they differ in its prefix and
// in what a time that comes back is worth. A way that is more than a prefix (a plugin, a phone's debug bridge) adds its
// own Runner and a line here.
#include <array>

#include "executor/error.h"
#include "profiler/runner.h"
#include "profiler/runner_client.h"

namespace hone {
namespace {

constexpr std::array kTransports = {
    TransportEntry{"local", "hone-runner on this machine; no prefix"},
    TransportEntry{
        "qemu",
        "hone-runner of another architecture under qemu-user; prefix \"qemu-aarch64 -L /usr/aarch64-linux-gnu\"; "
        "outputs are right, times are emulated"},
    TransportEntry{
        "ssh",
        "hone-runner on another machine; prefix \"ssh -o BatchMode=yes BOARD\"; the runner's path is the one there, "
        "and models (not kernels, which travel) must lie at the same path there"},
};

}  // namespace

std::span<const TransportEntry> transports() {
  return kTransports;
}

std::unique_ptr<Runner> start_runner(const TransportOptions& options) {
  if (options.runner.empty()) {
    throw Error("cannot start hone-runner", "its path is empty", "name the hone-runner program of the device");
  }
  if (options.command_prefix.empty() && !std::filesystem::exists(options.runner)) {
    throw Error("cannot start " + options.runner.string(), "there is no such file",
                "build it with: cmake --build BUILD_DIR --target hone-runner");
  }
  return make_process_runner(options);
}

}  // namespace hone
