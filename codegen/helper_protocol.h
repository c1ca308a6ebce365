// SPDX-License-Identifier: MIT
// What hone and hone-compile say to each other over one socket: frames of a u32 length and JSON. Both sides are of the
// same build, so there is no version to negotiate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "codegen/builder.h"

namespace hone {

inline constexpr uint32_t kMaxFrameBytes = 16u << 20;

/// Client to helper. The workload stays text until the child that compiles it parses it.
struct CompileCommand {
  enum class Kind { build, cancel };  // cancel: ends every build that is running
  Kind kind = Kind::build;
  uint64_t id = 0;
  std::string workload, config;  // canonical forms
  DeviceInfo device;
  std::string object, shared;  // absolute paths; shared may be empty
  double deadline_seconds = 0;
};

/// Helper to client.
struct CompileReply {
  enum class Kind { ready, outcome, missing_tool };  // missing_tool: `outcome.message` is its name
  Kind kind = Kind::outcome;
  uint64_t id = 0;
  BuildOutcome outcome;
};

std::string encode(const CompileCommand& command);
std::string encode(const CompileReply& reply);
/// Throws Error on text that encode cannot have written.
CompileCommand decode_command(std::string_view text);
CompileReply decode_reply(std::string_view text);

/// False if the other side is gone.
bool send_frame(int socket, std::string_view text);
/// Blocks until a whole frame is there; empty if the other side is gone or talks nonsense.
std::optional<std::string> receive_frame(int socket);

}  // namespace hone
