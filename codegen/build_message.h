// SPDX-License-Identifier: MIT
// What the builder and hone-compile say to each other: one JSON object a frame, a frame is a 32-bit little-endian
// length and that many bytes. Both ends come from the same build, so there is no version; lengths are still checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codegen/builder.h"

namespace hone {

inline constexpr uint32_t kMaxFrameBytes = 64u << 20;

struct CompileRequest {
  int64_t id = 0;
  std::string symbol;
  BuildRequest build;
};

struct CompileReply {
  int64_t id = 0;
  BuildOutcome outcome;
  std::string missing_tool;  // not empty: binutils are not installed
};

std::string to_text(const CompileRequest& request);
std::string to_text(const CompileReply& reply);
/// Throw Error on text that the counterpart cannot have written.
CompileRequest parse_request(const std::string& text);
CompileReply parse_reply(const std::string& text);

/// False if the other end is gone.
bool write_frame(int fd, const std::string& text);
/// Blocks; empty if the other end is gone or sends no frame.
std::optional<std::string> read_frame(int fd);

}  // namespace hone
