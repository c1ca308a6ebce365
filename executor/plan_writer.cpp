// SPDX-License-Identifier: MIT
#include "executor/plan_writer.h"

#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "executor/error.h"
#include "executor/plan_check.h"
#include "executor/plan_format.h"

namespace hone {
namespace {

/// The counterpart of PlanReader in plan_file.cpp.
class PlanBytes {
 public:
  std::vector<std::byte> bytes;

  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(const T& value) { append(&value, sizeof value); }
  void operator()(const std::string& text) {
    append_count(text.size());
    append(text.data(), text.size());
  }
  template <typename T>
  void operator()(const std::vector<T>& list) {
    append_count(list.size());
    for (const T& element : list) {
      if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string>) {
        code_fields(*this, element);
      } else {
        (*this)(element);
      }
    }
  }

 private:
  void append(const void* from, size_t size) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes.insert(bytes.end(), first, first + size);
  }
  void append_count(size_t count) {
    CHECK(count <= std::numeric_limits<uint32_t>::max());
    (*this)(static_cast<uint32_t>(count));
  }
};

}  // namespace

std::vector<std::byte> encode_plan(const Plan& plan) {
  const uint64_t weight_bytes = weight_section_bytes(plan);
  const std::string problem = plan_problem(plan, weight_bytes);
  if (!problem.empty()) {
    throw Error("cannot write the plan of " + plan.name, problem, "report this: a bundle never plans such a thing");
  }
  PlanBytes encoded;
  code_fields(encoded, plan);
  const uint64_t plan_bytes = encoded.bytes.size();
  const uint64_t end = kPlanHeaderBytes + plan_bytes;
  const uint64_t weights_offset = (end + kWeightAlignment - 1) / kWeightAlignment * kWeightAlignment;

  PlanBytes file;
  for (char letter : kPlanMagic) file(letter);
  for (uint32_t number : {kPlanVersion, 0u}) file(number);
  for (uint64_t number : {plan_bytes, weights_offset, weight_bytes}) file(number);
  file(plan_hash(encoded.bytes, plan_hash(file.bytes)));
  file.bytes.insert(file.bytes.end(), encoded.bytes.begin(), encoded.bytes.end());
  file.bytes.resize(weights_offset);
  return std::move(file.bytes);
}

}  // namespace hone
