// SPDX-License-Identifier: MIT
#include "executor/plan_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <type_traits>

#include "executor/error.h"
#include "executor/plan_check.h"
#include "executor/plan_format.h"
#include "executor/text.h"

namespace hone {
namespace {

static_assert(std::endian::native == std::endian::little, "plan files are mapped as they are");

/// Fills the fields of a plan from bytes. After the first read past the end everything reads as zero or empty, so the
/// caller asks ok() once. Lists grow an element at a time: a hostile count allocates no more than its data pays for.
class PlanReader {
 public:
  explicit PlanReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return bytes_.empty(); }

  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(T& value) {
    std::byte raw[sizeof(T)] = {};
    take(raw, sizeof(T));
    std::memcpy(&value, raw, sizeof(T));
  }

  void operator()(std::string& text) {
    uint32_t size = 0;
    (*this)(size);
    if (!has(size)) return;
    text.assign(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(size);
  }

  template <typename T>
  void operator()(std::vector<T>& list) {
    uint32_t count = 0;
    (*this)(count);
    for (uint32_t i = 0; i < count && ok_; ++i) {
      T& element = list.emplace_back();
      if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string>) {
        code_fields(*this, element);
      } else {
        (*this)(element);
      }
    }
  }

 private:
  bool has(size_t size) {
    if (bytes_.size() < size) ok_ = false;
    return ok_;
  }
  void take(std::byte* to, size_t size) {
    if (!has(size)) return;
    std::memcpy(to, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }

  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

template <typename T>
T number_at(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

[[noreturn]] void fail(const std::string& path, std::string_view problem, std::string_view remedy) {
  throw Error(concatenate({"cannot load ", path}), problem, remedy);
}

constexpr std::string_view kCopyAgain = "copy the bundle again, or build it again with 'hone build'";

}  // namespace

DecodedPlan decode_plan(std::span<const std::byte> file, const std::string& path) {
  if (file.size() < kPlanHeaderBytes || std::memcmp(file.data(), kPlanMagic, sizeof kPlanMagic) != 0) {
    fail(path, "it is not a plan file", "give the NAME.hone file of a bundle");
  }
  const auto version = number_at<uint32_t>(file, 8);
  if (version != kPlanVersion) {
    fail(path,
         concatenate({"it has format version ", decimal(version), ", this executor reads ", decimal(kPlanVersion)}),
         "link the libhone_executor.a of the same bundle, or build the bundle again");
  }
  const auto plan_bytes = number_at<uint64_t>(file, 16);
  const auto weights_offset = number_at<uint64_t>(file, 24);
  const auto weight_bytes = number_at<uint64_t>(file, 32);
  const bool consistent = weights_offset <= file.size() && weights_offset >= kPlanHeaderBytes &&
                          weights_offset % kWeightAlignment == 0 && weight_bytes == file.size() - weights_offset &&
                          plan_bytes <= weights_offset - kPlanHeaderBytes;
  if (!consistent) fail(path, "its size is not what its header says: it is truncated or damaged", kCopyAgain);
  const std::span<const std::byte> encoded = file.subspan(kPlanHeaderBytes, plan_bytes);
  if (plan_hash(encoded, plan_hash(file.first(kPlanHashOffset))) != number_at<uint64_t>(file, kPlanHashOffset)) {
    fail(path, "its plan does not have the recorded hash: it is damaged", kCopyAgain);
  }
  DecodedPlan decoded{.plan = {}, .weights = file.subspan(weights_offset, weight_bytes)};
  PlanReader reader(encoded);
  code_fields(reader, decoded.plan);
  if (!reader.ok() || !reader.at_end()) fail(path, "its plan has not the recorded length", kCopyAgain);
  const std::string problem = plan_problem(decoded.plan, weight_bytes);
  if (!problem.empty()) fail(path, concatenate({"in its plan, ", problem}), kCopyAgain);
  return decoded;
}

MappedFile::MappedFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) fail(path, std::strerror(errno), "check the path of the bundle's NAME.hone file");
  struct stat status = {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) {
    close(file);
    fail(path, "it is not a plan file", "give the NAME.hone file of a bundle");
  }
  const auto size = static_cast<size_t>(status.st_size);
  void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  const int error = errno;
  close(file);
  if (mapped == MAP_FAILED) fail(path, std::strerror(error), "free some memory");
  bytes_ = {static_cast<const std::byte*>(mapped), size};
}

MappedFile::~MappedFile() {
  munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace hone
