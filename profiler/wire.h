// SPDX-License-Identifier: MIT
// The lowest layer of the runner's protocol: little-endian values in a message, and length-prefixed messages on file
// descriptors. Everything that is read may come from a broken or hostile program, so every length is checked.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

/// Largest message in either direction; also the bound of every length inside one.
inline constexpr uint32_t kMaxMessageBytes = 0x7fff0000;

/// A message that does not follow the protocol. Caught where messages are received, never passed on.
class MalformedMessage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class WireWriter {
 public:
  template <std::unsigned_integral T>
  void write(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
  }
  void write(bool value) { write(static_cast<uint8_t>(value)); }
  void write(int64_t value) { write(static_cast<uint64_t>(value)); }
  void write(int value) { write(static_cast<int64_t>(value)); }
  void write(double value) { write(std::bit_cast<uint64_t>(value)); }
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void write(const std::string& text) { write(std::string_view(text)); }
  void write(std::span<const std::byte> blob);
  void write(const std::vector<double>& values);
  const std::vector<std::byte>& bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads what WireWriter wrote. Each function throws MalformedMessage when the message ends too early or a value is out
/// of its range. Blobs are views into the message.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> message) : rest_(message) {}
  template <std::unsigned_integral T>
  T read_unsigned() {
    const auto bytes = take(sizeof(T));
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof(T); ++i) value |= static_cast<uint64_t>(bytes[i]) << (8 * i);
    return static_cast<T>(value);
  }
  bool read_bool();
  int64_t read_integer(int64_t smallest, int64_t largest);
  /// Finite and within [smallest, largest].
  double read_real(double smallest, double largest);
  std::string read_text(size_t longest);
  std::span<const std::byte> read_blob();
  std::vector<double> read_reals();
  /// Number of elements that follow, each of which takes at least `element_bytes` of the message.
  size_t read_count(size_t largest, size_t element_bytes);
  /// Requires that nothing is left.
  void expect_end() const;

 private:
  std::span<const std::byte> take(uint64_t bytes);
  std::span<const std::byte> rest_;
};

/// Reads one message: u32 length, then the bytes. Empty at a clean end of file, before the first byte.
/// Throws MalformedMessage on a length above kMaxMessageBytes or an end inside a message, std::system_error on an I/O
/// error.
std::optional<std::vector<std::byte>> read_message(int fd);
/// Throws std::system_error (EPIPE when the reader is gone; the caller has SIGPIPE ignored).
void write_message(int fd, std::span<const std::byte> message);

}  // namespace hone
