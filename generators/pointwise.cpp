// SPDX-License-Identifier: MIT
// The pointwise operators: one table, a line each. Their Halide expressions are the lines of pointwise_algorithm.cpp.
// The functions work in double; where integers differ (division, remainder, wrap-around) the line says so.
#include "generators/pointwise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "executor/error.h"
#include "generators/operators.h"
#include "generators/shape_rules.h"

namespace hone {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_float(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
}

/// Inputs, numeric attributes in the order of the line, and the result's dtype of one element.
struct Scalars {
  const double* x;
  size_t count;
  const double* p;
  DType dtype;        // of the result
  DType input_dtype;  // of the first input

  bool integer() const { return !is_float(input_dtype); }
};
using S = const Scalars&;

double larger(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
}
double smaller(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b);
}

template <typename Step>
double fold(S s, Step step) {
  double value = s.x[0];
  for (size_t i = 1; i < s.count; ++i) value = step(value, s.x[i]);
  return value;
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}
double normal_cdf(double x) {
  return 0.5 * (1 + std::erf(x * 0.70710678118654752));
}

/// As C does, and as a kernel must: toward zero; a divisor of zero gives zero, Halide's rule (ONNX leaves it open).
double divide(S s) {
  if (!s.integer()) return s.x[0] / s.x[1];
  return s.x[1] == 0 ? 0 : std::trunc(s.x[0] / s.x[1]);
}

/// fmod = 0 has the divisor's sign (Python), fmod = 1 the dividend's (C).
double remainder(S s) {
  if (s.integer() && s.x[1] == 0) return 0;
  const double value = std::fmod(s.x[0], s.x[1]);
  const bool other_sign = value != 0 && (value < 0) != (s.x[1] < 0);
  return s.p[0] == 0 && other_sign ? value + s.x[1] : value;
}

double gelu(S s) {
  const double x = s.x[0];
  if (s.p[0] == 0) return x * normal_cdf(x);
  return 0.5 * x * (1 + std::tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
}

double cast(S s) {
  if (s.dtype == DType::boolean) return s.x[0] != 0;
  return is_float(s.dtype) ? s.x[0] : std::trunc(s.x[0]);  // fit_result does the narrow integers
}

double selu(S s) {
  return s.p[1] * (s.x[0] > 0 ? s.x[0] : s.p[0] * std::expm1(s.x[0]));
}

enum class Result { same, boolean, second, attribute };  // dtype: of input 0, bool, of input 1, of "to"

struct PointwiseLine {
  std::string_view name;
  int min_inputs, max_inputs;
  std::vector<AttributeSpec> attributes;  // numeric; a string counts as 0 if it is the default, else 1
  Result result;
  double flops;  // of one element
  double (*value)(S s);
};

// A table, not a procedure. NOLINTNEXTLINE(readability-function-size)
const std::vector<PointwiseLine>& table() {
  static const std::vector<PointwiseLine> lines = {
      {"Abs", 1, 1, {}, Result::same, 1, [](S s) { return std::fabs(s.x[0]); }},
      {"Add", 2, 2, {}, Result::same, 1, [](S s) { return s.x[0] + s.x[1]; }},
      {"And", 2, 2, {}, Result::boolean, 0, [](S s) { return double(s.x[0] != 0 && s.x[1] != 0); }},
      {"Cast", 1, 1, {{"saturate", int64_t{1}}, {"to", int64_t{1}, true}}, Result::attribute, 0, cast},
      {"Ceil", 1, 1, {}, Result::same, 1, [](S s) { return std::ceil(s.x[0]); }},
      {"Celu",
       1,
       1,
       {{"alpha", 1.0}},
       Result::same,
       3,
       [](S s) { return larger(s.x[0], 0) + smaller(0, s.p[0] * std::expm1(s.x[0] / s.p[0])); }},
      {"Clip",
       1,
       1,
       {{"min", -kInfinity, false, 1, 11}, {"max", kInfinity, false, 2, 11}},
       Result::same,
       2,
       [](S s) { return smaller(larger(s.x[0], s.p[0]), s.p[1]); }},
      {"Div", 2, 2, {}, Result::same, 1, divide},
      {"Elu",
       1,
       1,
       {{"alpha", 1.0}},
       Result::same,
       2,
       [](S s) { return s.x[0] < 0 ? s.p[0] * std::expm1(s.x[0]) : s.x[0]; }},
      {"Equal", 2, 2, {}, Result::boolean, 1, [](S s) { return double(s.x[0] == s.x[1]); }},
      {"Erf", 1, 1, {}, Result::same, 1, [](S s) { return std::erf(s.x[0]); }},
      {"Exp", 1, 1, {}, Result::same, 1, [](S s) { return std::exp(s.x[0]); }},
      {"Floor", 1, 1, {}, Result::same, 1, [](S s) { return std::floor(s.x[0]); }},
      {"Gelu", 1, 1, {{"approximate", std::string("none")}}, Result::same, 4, gelu},
      {"Greater", 2, 2, {}, Result::boolean, 1, [](S s) { return double(s.x[0] > s.x[1]); }},
      {"GreaterOrEqual", 2, 2, {}, Result::boolean, 1, [](S s) { return double(s.x[0] >= s.x[1]); }},
      {"HardSigmoid",
       1,
       1,
       {{"alpha", 0.2}, {"beta", 0.5}},
       Result::same,
       4,
       [](S s) { return smaller(larger(s.p[0] * s.x[0] + s.p[1], 0), 1); }},
      {"HardSwish", 1, 1, {}, Result::same, 5, [](S s) { return s.x[0] * smaller(larger(s.x[0] / 6 + 0.5, 0), 1); }},
      {"IsInf",
       1,
       1,
       {{"detect_negative", int64_t{1}}, {"detect_positive", int64_t{1}}},
       Result::boolean,
       1,
       [](S s) { return double(std::isinf(s.x[0]) && s.p[s.x[0] < 0 ? 0 : 1] != 0); }},
      {"IsNaN", 1, 1, {}, Result::boolean, 1, [](S s) { return double(std::isnan(s.x[0])); }},
      {"LeakyRelu",
       1,
       1,
       {{"alpha", 0.01}},
       Result::same,
       1,
       [](S s) { return s.x[0] < 0 ? s.p[0] * s.x[0] : s.x[0]; }},
      {"Less", 2, 2, {}, Result::boolean, 1, [](S s) { return double(s.x[0] < s.x[1]); }},
      {"LessOrEqual", 2, 2, {}, Result::boolean, 1, [](S s) { return double(s.x[0] <= s.x[1]); }},
      {"Log", 1, 1, {}, Result::same, 1, [](S s) { return std::log(s.x[0]); }},
      {"Max", 1, -1, {}, Result::same, 1, [](S s) { return fold(s, larger); }},
      {"Mean", 1, -1, {}, Result::same, 2, [](S s) { return fold(s, std::plus<>()) / double(s.count); }},
      {"Min", 1, -1, {}, Result::same, 1, [](S s) { return fold(s, smaller); }},
      {"Mish", 1, 1, {}, Result::same, 4, [](S s) { return s.x[0] * std::tanh(softplus(s.x[0])); }},
      {"Mod", 2, 2, {{"fmod", int64_t{0}}}, Result::same, 1, remainder},
      {"Mul", 2, 2, {}, Result::same, 1, [](S s) { return s.x[0] * s.x[1]; }},
      {"Neg", 1, 1, {}, Result::same, 1, [](S s) { return -s.x[0]; }},
      {"Not", 1, 1, {}, Result::boolean, 0, [](S s) { return double(s.x[0] == 0); }},
      {"Or", 2, 2, {}, Result::boolean, 0, [](S s) { return double(s.x[0] != 0 || s.x[1] != 0); }},
      {"PRelu", 2, 2, {}, Result::same, 1, [](S s) { return s.x[0] < 0 ? s.x[1] * s.x[0] : s.x[0]; }},
      {"Pow", 2, 2, {}, Result::same, 1, [](S s) { return std::pow(s.x[0], s.x[1]); }},
      {"Reciprocal", 1, 1, {}, Result::same, 1, [](S s) { return 1 / s.x[0]; }},
      {"Relu", 1, 1, {}, Result::same, 1, [](S s) { return larger(s.x[0], 0); }},
      {"Round", 1, 1, {}, Result::same, 1, [](S s) { return std::nearbyint(s.x[0]); }},
      {"Selu",
       1,
       1,
       {{"alpha", 1.67326319217681884765625}, {"gamma", 1.05070102214813232421875}},
       Result::same,
       3,
       selu},
      {"Sigmoid", 1, 1, {}, Result::same, 3, [](S s) { return sigmoid(s.x[0]); }},
      {"Sign",
       1,
       1,
       {},
       Result::same,
       1,
       [](S s) { return std::isnan(s.x[0]) ? s.x[0] : double(s.x[0] > 0) - double(s.x[0] < 0); }},
      {"Softplus", 1, 1, {}, Result::same, 3, [](S s) { return softplus(s.x[0]); }},
      {"Softsign", 1, 1, {}, Result::same, 2, [](S s) { return s.x[0] / (1 + std::fabs(s.x[0])); }},
      {"Sqrt", 1, 1, {}, Result::same, 1, [](S s) { return std::sqrt(s.x[0]); }},
      {"Sub", 2, 2, {}, Result::same, 1, [](S s) { return s.x[0] - s.x[1]; }},
      {"Sum", 1, -1, {}, Result::same, 1, [](S s) { return fold(s, std::plus<>()); }},
      {"Tanh", 1, 1, {}, Result::same, 3, [](S s) { return std::tanh(s.x[0]); }},
      {"ThresholdedRelu", 1, 1, {{"alpha", 1.0}}, Result::same, 1, [](S s) { return s.x[0] > s.p[0] ? s.x[0] : 0; }},
      {"Where", 3, 3, {}, Result::second, 0, [](S s) { return s.x[0] != 0 ? s.x[1] : s.x[2]; }},
      {"Xor", 2, 2, {}, Result::boolean, 0, [](S s) { return double((s.x[0] != 0) != (s.x[1] != 0)); }},
  };
  return lines;
}

const PointwiseLine& line_of(std::string_view op) {
  const auto found =
      std::lower_bound(table().begin(), table().end(), op,
                       [](const PointwiseLine& line, std::string_view name) { return line.name < name; });
  CHECK(found != table().end() && found->name == op);
  return *found;
}

/// Integers of up to 32 bits wrap around, as kernels do; 64 bits saturate when they are narrowed (shape arithmetic).
/// A float outside an integer's range is the sender's fault: it saturates.
double fit_result(double value, DType dtype, bool from_float) {
  const int64_t bits = 8 * element_bytes(dtype);
  if (is_float(dtype) || dtype == DType::boolean) return value;
  if (bits == 64) return std::trunc(value);
  if (std::isnan(value)) return 0;
  const bool has_sign = dtype == DType::i8 || dtype == DType::i16 || dtype == DType::i32;
  const double range = std::ldexp(1.0, static_cast<int>(bits));
  const double low = has_sign ? -range / 2 : 0;
  value = std::trunc(value);
  if (from_float) return std::clamp(value, low, low + range - 1);
  return value - range * std::floor((value - low) / range);
}

void normalise(Attributes& attributes, int, std::span<const TensorType>) {
  // Only Cast has "to" and only Gelu "approximate": normalise is not told the operator's name.
  if (attributes.contains("to") && !dtype_of_onnx(int_attribute(attributes, "to"))) {
    refuse("Cast", "it casts to the ONNX element type " + std::to_string(int_attribute(attributes, "to")),
           "supported: floats of 16 to 64 bits, integers of 8 to 64, bool");
  }
  if (attributes.contains("saturate")) mutable_int(attributes, "saturate") = 1;  // concerns 8-bit floats only
  if (attributes.contains("approximate")) {
    const std::string& form = string_attribute(attributes, "approximate");
    if (form != "none" && form != "tanh") refuse("Gelu", "approximate is '" + form + "'", "supported: none, tanh");
  }
}

/// ONNX has no implicit conversions; only Pow's exponent and Where's condition have types of their own.
void check_dtypes(std::string_view op, std::span<const TensorType> inputs) {
  const size_t first = op == "Where" ? 1 : 0;
  for (size_t i = first + 1; i < inputs.size() && op != "Pow"; ++i) {
    if (inputs[i].dtype != inputs[first].dtype) {
      refuse(op,
             "its inputs are " + std::string(name(inputs[first].dtype)) + " and " + std::string(name(inputs[i].dtype)),
             "insert a Cast");
    }
  }
  const bool logical = op == "And" || op == "Not" || op == "Or" || op == "Where" || op == "Xor";
  if (logical && inputs[0].dtype != DType::boolean) {
    refuse(op, "its first input is " + std::string(name(inputs[0].dtype)), "it takes bool");
  }
}

std::vector<TensorType> infer(const Node& node, std::span<const TensorType> inputs) {
  const PointwiseLine& line = line_of(node.op);
  check_dtypes(node.op, inputs);
  Shape shape = inputs[0].shape;
  for (const TensorType& input : inputs.subspan(1)) shape = broadcast_shapes(node.op, shape, input.shape);
  if (node.op == "PRelu" && shape != inputs[0].shape) {
    refuse("PRelu", "its slope " + shape_text(inputs[1].shape) + " is larger than its input",
           "check the slope's shape");
  }
  if (node.op == "Mod" && is_float(inputs[0].dtype) && int_attribute(node.attributes, "fmod") == 0) {
    refuse("Mod", "it takes floats with fmod=0", "set fmod=1 for floats");
  }
  DType dtype = inputs[line.result == Result::second ? 1 : 0].dtype;
  if (line.result == Result::boolean) dtype = DType::boolean;
  if (line.result == Result::attribute) {
    const std::optional<DType> to = dtype_of_onnx(int_attribute(node.attributes, "to"));
    if (!to) refuse(node.op, "it casts to an unknown element type", "use an ONNX element type that hone has");
    dtype = *to;
  }
  return {checked_type(node.op, dtype, std::move(shape))};
}

std::vector<ReferenceTensor> reference(const Node& node, std::span<const ReferenceTensor> inputs) {
  const PointwiseLine& line = line_of(node.op);
  const std::vector<double> parameters = pointwise_parameters(node);
  ReferenceTensor output{node.outputs[0].dtype, node.outputs[0].shape, {}};
  const auto elements = static_cast<size_t>(element_count(output.shape));
  // Operands one after another, each broadcast to the result: [input][element].
  std::vector<double> operands(inputs.size() * elements);
  for (size_t i = 0; i < inputs.size(); ++i) {
    walk<2>(output.shape, {broadcast_strides(inputs[i].shape, output.shape), dense_strides(output.shape)},
            [&, to = operands.data() + i * elements](const std::array<int64_t, 2>& offset) {
              to[offset[1]] = inputs[i].values[static_cast<size_t>(offset[0])];
            });
  }
  std::vector<double> x(inputs.size());
  const Scalars scalars{x.data(), x.size(), parameters.data(), output.dtype, inputs[0].dtype};
  const bool from_float = node.op == "Cast" && is_float(inputs[0].dtype);
  output.values.reserve(elements);
  for (size_t e = 0; e < elements; ++e) {
    for (size_t i = 0; i < x.size(); ++i) x[i] = operands[i * elements + e];
    output.values.push_back(fit_result(line.value(scalars), output.dtype, from_float));
  }
  return {std::move(output)};
}

double count_flops(const Node& node, std::span<const TensorType>) {
  const PointwiseLine& line = line_of(node.op);
  const double steps = line.max_inputs < 0 ? static_cast<double>(node.inputs.size() - 1) : 1;
  return line.flops * steps * static_cast<double>(element_count(node.outputs[0].shape));
}

}  // namespace

std::vector<double> pointwise_parameters(const Node& node) {
  std::vector<double> parameters;
  for (const AttributeSpec& spec : line_of(node.op).attributes) {
    const AttributeValue& value = node.attributes.at(std::string(spec.name));
    if (const auto* integer = std::get_if<int64_t>(&value)) {
      parameters.push_back(static_cast<double>(*integer));
    } else if (const auto* number = std::get_if<double>(&value)) {
      parameters.push_back(*number);
    } else {
      parameters.push_back(value == spec.default_value ? 0 : 1);
    }
  }
  return parameters;
}

std::vector<Operator> pointwise_operators() {
  std::vector<Operator> entries;
  for (const PointwiseLine& line : table()) {
    entries.push_back({line.name, OperatorKind::pointwise, line.min_inputs, line.max_inputs, line.attributes, normalise,
                       infer, reference, count_flops, one_term});
  }
  return entries;
}

}  // namespace hone
