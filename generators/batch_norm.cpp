// SPDX-License-Identifier: MIT
// BatchNormalization in inference: scale * (x - mean) / sqrt(variance + epsilon) + bias, per channel. After a
// convolution a graph pass folds it away.
#include <cmath>

#include "generators/operators.h"
#include "generators/shape_rules.h"

namespace hone {
namespace {

void normalise(Attributes& attributes, int, std::span<const TensorType>) {
  if (int_attribute(attributes, "training_mode") != 0) {
    refuse("BatchNormalization", "training_mode is 1", "export the model for inference");
  }
  if (int_attribute(attributes, "spatial") != 1) {
    refuse("BatchNormalization", "spatial is 0", "supported: statistics per channel (spatial=1)");
  }
}

std::vector<TensorType> infer(const Node&, std::span<const TensorType> inputs) {
  const Shape& shape = inputs[0].shape;
  if (shape.size() < 2) {
    refuse("BatchNormalization", "its input has the shape " + shape_text(shape), "supported: [N,C,...]");
  }
  for (const TensorType& input : inputs.subspan(1)) {
    if (input.shape != Shape{shape[1]}) {
      refuse("BatchNormalization", "a parameter has the shape " + shape_text(input.shape),
             "it must be " + shape_text({shape[1]}));
    }
  }
  return {checked_type("BatchNormalization", inputs[0].dtype, shape)};
}

std::vector<ReferenceTensor> reference(const Node& node, std::span<const ReferenceTensor> inputs) {
  const Shape& shape = inputs[0].shape;
  const double epsilon = float_attribute(node.attributes, "epsilon");
  ReferenceTensor output{node.outputs[0].dtype, shape, inputs[0].values};
  const auto channels = static_cast<size_t>(shape[1]);
  const auto plane = static_cast<size_t>(element_count(Shape(shape.begin() + 2, shape.end())));
  for (size_t i = 0; i < output.values.size(); ++i) {
    const size_t c = i / plane % channels;
    const double scale = inputs[1].values[c] / std::sqrt(inputs[4].values[c] + epsilon);
    output.values[i] = (output.values[i] - inputs[3].values[c]) * scale + inputs[2].values[c];
  }
  return {std::move(output)};
}

double count_flops(const Node& node, std::span<const TensorType>) {
  return 2.0 * static_cast<double>(element_count(node.outputs[0].shape));  // scale and shift, the rest is per channel
}

}  // namespace

std::vector<Operator> batch_norm_operators() {
  return {{"BatchNormalization",
           OperatorKind::anchor,
           5,
           5,
           {{"epsilon", 1e-5}, {"spatial", int64_t{1}}, {"training_mode", int64_t{0}}},
           normalise,
           infer,
           reference,
           count_flops,
           one_term}};
}

}  // namespace hone
