// SPDX-License-Identifier: MIT
// Shape and Size: they read an input's type, not its elements, and with static shapes they always fold to constants.
#include <algorithm>

#include "generators/operators.h"
#include "generators/shape_rules.h"

namespace hone {
namespace {

/// "end" was not given: up to the last dimension.
constexpr int64_t kToTheEnd = INT64_MAX;

/// Python's slice rules, with "start" and "end" resolved to 0 <= start <= end <= rank.
void normalise_shape(Attributes& attributes, int, std::span<const TensorType> inputs) {
  const auto rank = static_cast<int64_t>(inputs[0].shape.size());
  const auto resolve = [rank](int64_t position) {
    return std::clamp<int64_t>(position < 0 ? position + rank : position, 0, rank);
  };
  int64_t& start = mutable_int(attributes, "start");
  int64_t& end = mutable_int(attributes, "end");
  start = resolve(start);
  end = std::max(start, resolve(end));
}

std::vector<TensorType> infer_shape(const Node& node, std::span<const TensorType> inputs) {
  const int64_t start = int_attribute(node.attributes, "start");
  const int64_t end = int_attribute(node.attributes, "end");
  if (start < 0 || end < start || end > static_cast<int64_t>(inputs[0].shape.size())) {
    refuse("Shape", "start and end are outside the input's rank", "use positions within the rank");
  }
  return {{DType::i64, {end - start}}};
}

std::vector<ReferenceTensor> reference_shape(const Node& node, std::span<const ReferenceTensor> inputs) {
  const auto begin = inputs[0].shape.begin();
  const int64_t start = int_attribute(node.attributes, "start");
  const int64_t end = int_attribute(node.attributes, "end");
  return {{DType::i64, {end - start}, std::vector<double>(begin + start, begin + end)}};
}

std::vector<TensorType> infer_size(const Node&, std::span<const TensorType>) {
  return {{DType::i64, {}}};
}

std::vector<ReferenceTensor> reference_size(const Node&, std::span<const ReferenceTensor> inputs) {
  return {{DType::i64, {}, {static_cast<double>(element_count(inputs[0].shape))}}};
}

}  // namespace

std::vector<Operator> fold_only_operators() {
  return {{"Shape",
           OperatorKind::fold_only,
           1,
           1,
           {{"end", kToTheEnd}, {"start", int64_t{0}}},
           normalise_shape,
           infer_shape,
           reference_shape,
           no_flops,
           one_term},
          {"Size", OperatorKind::fold_only, 1, 1, {}, nullptr, infer_size, reference_size, no_flops, one_term}};
}

}  // namespace hone
