// SPDX-License-Identifier: MIT
// The request loop of hone-runner.
#pragma once

namespace hone {

/// Greets, then answers requests until `input_fd` ends. Returns the exit code of the program.
/// Requires a process with one thread. Nothing but messages is ever written to `output_fd`.
int serve(int input_fd, int output_fd);

}  // namespace hone
