// SPDX-License-Identifier: MIT
// The Runner of every transport: requests to a hone-runner process, which is started again after it died.
#pragma once

#include <memory>

#include "profiler/runner.h"

namespace hone {

/// As start_runner() in runner.h, which is what callers use.
std::unique_ptr<Runner> make_process_runner(const TransportOptions& options);

}  // namespace hone
