// SPDX-License-Identifier: MIT
#include "bundle/text_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "executor/error.h"

namespace hone {

void write_bytes(const std::filesystem::path& file, std::span<const std::byte> head, std::span<const std::byte> rest) {
  errno = 0;
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  for (const auto& part : {head, rest}) {
    stream.write(reinterpret_cast<const char*>(part.data()), static_cast<std::streamsize>(part.size()));
  }
  stream.close();
  if (!stream) {
    throw Error("cannot write " + file.string(),
                errno != 0 ? std::strerror(errno) : "the disk is full or the folder vanished",
                "choose another folder or free some space");
  }
}

void write_text(const std::filesystem::path& file, std::string_view text) {
  write_bytes(file, std::as_bytes(std::span(text)));
}

std::string read_text(const std::filesystem::path& file, std::string_view purpose) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream || std::filesystem::is_directory(file)) {
    throw Error("cannot read " + std::string(purpose) + " " + file.string(),
                "it does not exist or is not a readable file", "check the path");
  }
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace hone
