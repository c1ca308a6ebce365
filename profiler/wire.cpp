// SPDX-License-Identifier: MIT
// Encoding and framing of the runner's messages.
#include "profiler/wire.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "executor/error.h"

namespace hone {
namespace {

// A length announced by a stranger is only believed as far as bytes arrive: memory grows by steps of this size.
constexpr size_t kReadStep = size_t{1} << 20;

// Reads exactly bytes.size() bytes, or less at the end of the file.
size_t read_fully(int fd, std::span<std::byte> bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::read(fd, bytes.data() + done, bytes.size() - done);
    if (count == 0) break;
    if (count < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "read");
    if (count > 0) done += static_cast<size_t>(count);
  }
  return done;
}

void write_fully(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "write");
    if (count > 0) bytes = bytes.subspan(static_cast<size_t>(count));
  }
}

}  // namespace

void WireWriter::write(std::span<const std::byte> blob) {
  CHECK(blob.size() <= kMaxMessageBytes);
  write(static_cast<uint32_t>(blob.size()));
  bytes_.insert(bytes_.end(), blob.begin(), blob.end());
}

void WireWriter::write(const std::vector<double>& values) {
  write(static_cast<uint32_t>(values.size()));
  for (double value : values) write(value);
}

std::span<const std::byte> WireReader::take(uint64_t bytes) {
  if (bytes > rest_.size()) throw MalformedMessage("a message ends too early");
  const auto taken = rest_.first(static_cast<size_t>(bytes));
  rest_ = rest_.subspan(static_cast<size_t>(bytes));
  return taken;
}

bool WireReader::read_bool() {
  const auto value = read_unsigned<uint8_t>();
  if (value > 1) throw MalformedMessage("a flag is neither 0 nor 1");
  return value == 1;
}

int64_t WireReader::read_integer(int64_t smallest, int64_t largest) {
  const auto value = static_cast<int64_t>(read_unsigned<uint64_t>());
  if (value < smallest || value > largest) throw MalformedMessage("an integer is out of its range");
  return value;
}

double WireReader::read_real(double smallest, double largest) {
  const double value = std::bit_cast<double>(read_unsigned<uint64_t>());
  if (!(value >= smallest && value <= largest)) throw MalformedMessage("a number is out of its range");
  return value;
}

std::string WireReader::read_text(size_t longest) {
  const auto bytes = read_blob();
  if (bytes.size() > longest) throw MalformedMessage("a text is too long");
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> WireReader::read_blob() {
  return take(read_unsigned<uint32_t>());
}

std::vector<double> WireReader::read_reals() {
  std::vector<double> values(read_count(kMaxMessageBytes, sizeof(double)));
  for (double& value : values) value = std::bit_cast<double>(read_unsigned<uint64_t>());
  return values;
}

size_t WireReader::read_count(size_t largest, size_t element_bytes) {
  const size_t count = read_unsigned<uint32_t>();
  // The second test keeps a forged count from reserving more memory than the message itself has.
  if (count > largest || count > rest_.size() / element_bytes) throw MalformedMessage("a count is out of its range");
  return count;
}

void WireReader::expect_end() const {
  if (!rest_.empty()) throw MalformedMessage("a message is longer than its contents");
}

std::optional<std::vector<std::byte>> read_message(int fd) {
  std::byte header[sizeof(uint32_t)];
  const size_t header_bytes = read_fully(fd, header);
  if (header_bytes == 0) return std::nullopt;
  if (header_bytes < sizeof(header)) throw MalformedMessage("end of file inside a length");
  const size_t length = WireReader(header).read_unsigned<uint32_t>();
  if (length > kMaxMessageBytes) throw MalformedMessage("a message announces more than the limit");
  std::vector<std::byte> message;
  while (message.size() < length) {
    const size_t before = message.size();
    message.resize(before + std::min(kReadStep, length - before));
    if (read_fully(fd, std::span(message).subspan(before)) < message.size() - before) {
      throw MalformedMessage("end of file inside a message");
    }
  }
  return message;
}

void write_message(int fd, std::span<const std::byte> message) {
  CHECK(message.size() <= kMaxMessageBytes);
  WireWriter header;
  header.write(static_cast<uint32_t>(message.size()));
  write_fully(fd, header.bytes());
  write_fully(fd, message);
}

}  // namespace hone
