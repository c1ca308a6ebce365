// SPDX-License-Identifier: MIT
#include "codegen/build_message.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "executor/error.h"

using nlohmann::json;

namespace hone {
namespace {

json device_to_json(const DeviceInfo& device) {
  return {{"name", device.name},
          {"halide_target", device.halide_target},
          {"architecture", device.architecture},
          {"binutils_prefix", device.binutils_prefix},
          {"vector_bits", device.vector_bits},
          {"vector_registers", device.vector_registers},
          {"cores", device.cores},
          {"l1_bytes", device.l1_bytes},
          {"l2_bytes", device.l2_bytes},
          {"l3_bytes", device.l3_bytes},
          {"cpu_flags", device.cpu_flags}};
}

DeviceInfo device_from_json(const json& text) {
  DeviceInfo device;
  text.at("name").get_to(device.name);
  text.at("halide_target").get_to(device.halide_target);
  text.at("architecture").get_to(device.architecture);
  text.at("binutils_prefix").get_to(device.binutils_prefix);
  text.at("vector_bits").get_to(device.vector_bits);
  text.at("vector_registers").get_to(device.vector_registers);
  text.at("cores").get_to(device.cores);
  text.at("l1_bytes").get_to(device.l1_bytes);
  text.at("l2_bytes").get_to(device.l2_bytes);
  text.at("l3_bytes").get_to(device.l3_bytes);
  text.at("cpu_flags").get_to(device.cpu_flags);
  return device;
}

Error malformed(const std::string& problem) {
  return Error("cannot talk to hone-compile", problem, "use the hone-compile of the same build as hone");
}

bool read_exactly(int fd, char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t got = read(fd, bytes, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    count -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

std::string to_text(const CompileRequest& request) {
  const BuildRequest& build = request.build;
  return json{{"id", request.id},
              {"symbol", request.symbol},
              {"workload", build.workload.canonical_json()},
              {"config", build.config.canonical()},
              {"device", device_to_json(build.device)},
              {"object", build.object.string()},
              {"shared", build.shared.string()},
              {"deadline", build.deadline_seconds}}
      .dump();
}

std::string to_text(const CompileReply& reply) {
  return json{{"id", reply.id},
              {"status", static_cast<int>(reply.outcome.status)},
              {"message", reply.outcome.message},
              {"seconds", reply.outcome.seconds},
              {"missing_tool", reply.missing_tool}}
      .dump(-1, ' ', false, json::error_handler_t::replace);  // a crashing child's last words may not be UTF-8
}

CompileRequest parse_request(const std::string& text) {
  try {
    const json parsed = json::parse(text);
    CompileRequest request;
    parsed.at("id").get_to(request.id);
    parsed.at("symbol").get_to(request.symbol);
    request.build.workload = Workload::parse(parsed.at("workload").get<std::string>());
    request.build.config = Config::parse(parsed.at("config").get<std::string>());
    request.build.device = device_from_json(parsed.at("device"));
    request.build.object = parsed.at("object").get<std::string>();
    request.build.shared = parsed.at("shared").get<std::string>();
    parsed.at("deadline").get_to(request.build.deadline_seconds);
    return request;
  } catch (const json::exception& error) {
    throw malformed(error.what());
  }
}

CompileReply parse_reply(const std::string& text) {
  try {
    const json parsed = json::parse(text);
    CompileReply reply;
    parsed.at("id").get_to(reply.id);
    const int status = parsed.at("status").get<int>();
    if (status < 0 || status > static_cast<int>(BuildStatus::timed_out)) throw malformed("unknown build status");
    reply.outcome.status = static_cast<BuildStatus>(status);
    parsed.at("message").get_to(reply.outcome.message);
    parsed.at("seconds").get_to(reply.outcome.seconds);
    parsed.at("missing_tool").get_to(reply.missing_tool);
    return reply;
  } catch (const json::exception& error) {
    throw malformed(error.what());
  }
}

bool write_frame(int fd, const std::string& text) {
  CHECK(text.size() <= kMaxFrameBytes);
  std::string frame;
  for (int shift = 0; shift < 32; shift += 8) frame += static_cast<char>(text.size() >> shift & 0xff);
  frame += text;
  for (size_t sent = 0; sent < frame.size();) {
    // MSG_NOSIGNAL: a reader that died is an answer, not the end of this process. Both directions are sockets.
    const ssize_t count = send(fd, frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<size_t>(count);
  }
  return true;
}

std::optional<std::string> read_frame(int fd) {
  unsigned char length[4];
  if (!read_exactly(fd, reinterpret_cast<char*>(length), sizeof length)) return std::nullopt;
  const uint32_t size = length[0] | length[1] << 8 | length[2] << 16 | static_cast<uint32_t>(length[3]) << 24;
  if (size > kMaxFrameBytes) return std::nullopt;
  std::string text(size, '\0');
  if (!read_exactly(fd, text.data(), size)) return std::nullopt;
  return text;
}

}  // namespace hone
