// SPDX-License-Identifier: MIT
#include "codegen/helper_protocol.h"

#include <errno.h>
#include <sys/socket.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "executor/error.h"

namespace hone {

using Json = nlohmann::json;

NLOHMANN_JSON_SERIALIZE_ENUM(CompileCommand::Kind,
                             {{CompileCommand::Kind::build, "build"}, {CompileCommand::Kind::cancel, "cancel"}})
NLOHMANN_JSON_SERIALIZE_ENUM(CompileReply::Kind, {{CompileReply::Kind::ready, "ready"},
                                                  {CompileReply::Kind::outcome, "outcome"},
                                                  {CompileReply::Kind::missing_tool, "missing_tool"}})
NLOHMANN_JSON_SERIALIZE_ENUM(BuildStatus, {{BuildStatus::ok, "ok"},
                                           {BuildStatus::failed, "failed"},
                                           {BuildStatus::timed_out, "timed_out"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceInfo, name, halide_target, architecture, binutils_prefix, vector_bits,
                                   vector_registers, cores, l1_bytes, l2_bytes, l3_bytes, cpu_flags)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BuildOutcome, status, message, seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompileCommand, kind, id, workload, config, device, object, shared, deadline_seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompileReply, kind, id, outcome)

namespace {

// Compilers quote what they were given: a message need not be UTF-8.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <typename Message>
Message decode(std::string_view text) {
  try {
    return Json::parse(text).get<Message>();
  } catch (const Json::exception& error) {
    throw Error("cannot talk to hone-compile", error.what(), "use the hone-compile that was built with this hone");
  }
}

bool receive_exactly(int socket, char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t got = recv(socket, bytes, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    count -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

std::string encode(const CompileCommand& command) {
  return dump(Json(command));
}

std::string encode(const CompileReply& reply) {
  return dump(Json(reply));
}

CompileCommand decode_command(std::string_view text) {
  return decode<CompileCommand>(text);
}

CompileReply decode_reply(std::string_view text) {
  return decode<CompileReply>(text);
}

bool send_frame(int socket, std::string_view text) {
  CHECK(text.size() <= kMaxFrameBytes);
  std::string frame(sizeof(uint32_t), '\0');
  const auto length = static_cast<uint32_t>(text.size());
  std::memcpy(frame.data(), &length, sizeof length);
  frame += text;
  for (size_t sent = 0; sent < frame.size();) {
    const ssize_t count = send(socket, frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<size_t>(count);
  }
  return true;
}

std::optional<std::string> receive_frame(int socket) {
  uint32_t length = 0;
  if (!receive_exactly(socket, reinterpret_cast<char*>(&length), sizeof length)) return std::nullopt;
  if (length > kMaxFrameBytes) return std::nullopt;
  std::string text(length, '\0');
  if (!receive_exactly(socket, text.data(), length)) return std::nullopt;
  return text;
}

}  // namespace hone
