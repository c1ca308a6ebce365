// SPDX-License-Identifier: MIT
#include "bundle/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>

#include "executor/error.h"

namespace hone {
namespace {

constexpr std::array<char, 6> kMagic = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
constexpr uint64_t kMaxHeaderBytes = 1 << 16;

struct DescriptorEntry {
  DType dtype;
  std::string_view descriptor;
};
constexpr DescriptorEntry kDescriptors[] = {{DType::f32, "<f4"}, {DType::f64, "<f8"}, {DType::f16, "<f2"},
                                            {DType::i8, "|i1"},  {DType::u8, "|u1"},  {DType::i16, "<i2"},
                                            {DType::u16, "<u2"}, {DType::i32, "<i4"}, {DType::u32, "<u4"},
                                            {DType::i64, "<i8"}, {DType::u64, "<u8"}, {DType::boolean, "|b1"}};

[[noreturn]] void fail(const std::filesystem::path& file, std::string_view problem) {
  throw Error("cannot read tensor " + file.string(), problem,
              "write it with numpy.save as little-endian C-order array");
}

/// The text after `'key':` in the header's Python dictionary.
std::string_view dictionary_value(std::string_view header, std::string_view key) {
  const size_t at = header.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos) return {};
  const size_t colon = header.find(':', at);
  if (colon == std::string_view::npos) return {};
  const size_t begin = header.find_first_not_of(' ', colon + 1);
  return begin == std::string_view::npos ? std::string_view{} : header.substr(begin);
}

std::optional<Shape> parse_shape(std::string_view text) {
  if (!text.starts_with('(')) return std::nullopt;
  text = text.substr(1, text.find(')') - 1);
  Shape shape;
  int64_t elements = 1;
  while (true) {
    const size_t begin = text.find_first_not_of(" ,");
    if (begin == std::string_view::npos) return shape;
    text.remove_prefix(begin);
    int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || extent < 0 || shape.size() == 16) return std::nullopt;
    if (__builtin_mul_overflow(elements, std::max<int64_t>(extent, 1), &elements) || elements > (int64_t{1} << 40)) {
      return std::nullopt;
    }
    shape.push_back(extent);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
}

std::optional<DType> parse_descriptor(std::string_view text) {
  for (const DescriptorEntry& entry : kDescriptors) {
    const std::string_view code = entry.descriptor.substr(1);
    for (const char order : {entry.descriptor[0], '<', '|'}) {
      if (order != '<' && element_bytes(entry.dtype) > 1) continue;
      if (text.starts_with("'" + std::string(1, order) + std::string(code) + "'")) return entry.dtype;
    }
  }
  return std::nullopt;
}

std::string_view descriptor(DType dtype) {
  if (dtype == DType::bf16) return "<u2";
  for (const DescriptorEntry& entry : kDescriptors) {
    if (entry.dtype == dtype) return entry.descriptor;
  }
  check_failed("known dtype", __FILE__, __LINE__);
}

std::string read_header(std::ifstream& stream, const std::filesystem::path& file) {
  std::array<char, 8> start{};
  if (!stream.read(start.data(), start.size()) || std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0) {
    fail(file, "it is not a .npy file");
  }
  const size_t length_bytes = start[6] == 1 ? 2 : 4;
  std::array<unsigned char, 4> length{};
  if (!stream.read(reinterpret_cast<char*>(length.data()), static_cast<std::streamsize>(length_bytes)))
    fail(file, "it is truncated");
  uint64_t size = 0;
  for (size_t i = length_bytes; i-- > 0;) size = size << 8 | length[i];
  if (size > kMaxHeaderBytes) fail(file, "its header is implausibly long");
  std::string header(size, '\0');
  if (!stream.read(header.data(), static_cast<std::streamsize>(size))) fail(file, "it is truncated");
  return header;
}

}  // namespace

Tensor read_npy(const std::filesystem::path& file) {
  std::error_code error;
  const auto file_bytes = std::filesystem::file_size(file, error);
  std::ifstream stream(file, std::ios::binary);
  if (error || !stream)
    throw Error("cannot read tensor " + file.string(), "it does not exist or is not readable", "check the path");
  const std::string header = read_header(stream, file);
  if (!dictionary_value(header, "fortran_order").starts_with("False")) fail(file, "it is not in C order");
  const std::optional<DType> dtype = parse_descriptor(dictionary_value(header, "descr"));
  if (!dtype)
    fail(file, "its dtype is not supported (" + std::string(dictionary_value(header, "descr").substr(0, 8)) + ")");
  const std::optional<Shape> shape = parse_shape(dictionary_value(header, "shape"));
  if (!shape) fail(file, "its shape cannot be read");
  const auto bytes = static_cast<uint64_t>(element_count(*shape) * element_bytes(*dtype));
  if (bytes > file_bytes) fail(file, "it is truncated");
  Tensor tensor{*dtype, *shape, std::vector<std::byte>(bytes)};
  if (!stream.read(reinterpret_cast<char*>(tensor.bytes.data()), static_cast<std::streamsize>(bytes)))
    fail(file, "it is truncated");
  return tensor;
}

void write_npy(const std::filesystem::path& file, const Tensor& tensor) {
  std::string shape = "(";
  for (int64_t extent : tensor.shape) shape += std::to_string(extent) + ",";
  shape += ")";
  std::string header =
      "{'descr': '" + std::string(descriptor(tensor.dtype)) + "', 'fortran_order': False, 'shape': " + shape + ", }";
  const size_t unpadded = kMagic.size() + 4 + header.size() + 1;
  header += std::string((64 - unpadded % 64) % 64, ' ') + "\n";
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream.write(kMagic.data(), kMagic.size());
  const char version_and_length[] = {1, 0, static_cast<char>(header.size() & 0xff),
                                     static_cast<char>(header.size() >> 8)};
  stream.write(version_and_length, sizeof version_and_length);
  stream.write(header.data(), static_cast<std::streamsize>(header.size()));
  stream.write(reinterpret_cast<const char*>(tensor.bytes.data()), static_cast<std::streamsize>(tensor.bytes.size()));
  stream.close();
  if (!stream)
    throw Error("cannot write tensor " + file.string(), "the folder is not writable or the disk is full",
                "choose another folder");
}

std::string npy_file_name(std::string_view tensor_name) {
  std::string text;
  for (const char c : tensor_name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                       c == '-' || (c == '.' && !text.empty());
    if (plain) {
      text += c;
    } else {
      text += '%';
      text += "0123456789ABCDEF"[static_cast<unsigned char>(c) >> 4];
      text += "0123456789ABCDEF"[static_cast<unsigned char>(c) & 15];
    }
  }
  return text + ".npy";
}

}  // namespace hone
