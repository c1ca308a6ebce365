// SPDX-License-Identifier: MIT
#include "operator_cases.h"

#include "executor/error.h"
#include "generators/operators.h"

namespace hone {
namespace {

using Ints = std::vector<int64_t>;

TensorType f32(Shape shape) {
  return {DType::f32, std::move(shape)};
}
TensorType i32(Shape shape) {
  return {DType::i32, std::move(shape)};
}
TensorType i64(Shape shape) {
  return {DType::i64, std::move(shape)};
}
TensorType boolean(Shape shape) {
  return {DType::boolean, std::move(shape)};
}

class Cases {
 public:
  void add(const std::string& op, const std::string& variant, Attributes attributes,
           const std::vector<TensorType>& types, int inputs = 1, int opset = 21) {
    const std::string name = variant.empty() ? op : op + "_" + variant;
    cases_.push_back({name, one_node(op, std::move(attributes), types, inputs, opset)});
  }
  std::vector<OperatorCase> take() { return std::move(cases_); }

 private:
  std::vector<OperatorCase> cases_;
};

void add_convolutions(Cases& cases) {
  cases.add("Conv", "", {{"pads", Ints{1, 1, 1, 1}}}, {f32({1, 5, 9, 7}), f32({6, 5, 3, 3}), f32({6})});
  cases.add("Conv", "pointwise_batch", {}, {f32({2, 3, 4, 5}), f32({7, 3, 1, 1})});
  cases.add("Conv", "strided_same_lower",
            {{"auto_pad", std::string("SAME_LOWER")}, {"strides", Ints{2, 3}}, {"kernel_shape", Ints{5, 2}}},
            {f32({1, 2, 11, 13}), f32({3, 2, 5, 2})});
  cases.add("Conv", "grouped_dilated", {{"group", int64_t{2}}, {"dilations", Ints{2, 1}}, {"pads", Ints{0, 2, 3, 1}}},
            {f32({1, 6, 8, 5}), f32({4, 3, 2, 3}), f32({4})});
  cases.add("Conv", "depthwise", {{"group", int64_t{5}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}},
            {f32({1, 5, 9, 7}), f32({5, 1, 3, 3}), f32({5})});
  cases.add("Conv", "depthwise_multiplier", {{"group", int64_t{3}}}, {f32({1, 3, 5, 4}), f32({6, 1, 2, 2})});
  cases.add("Conv", "one_dimension", {{"pads", Ints{2, 1}}, {"strides", Ints{2}}},
            {f32({1, 3, 17}), f32({4, 3, 5}), f32({4})});
}

void add_products(Cases& cases) {
  cases.add("MatMul", "", {}, {f32({7, 5}), f32({5, 9})});
  cases.add("MatMul", "broadcast_batch", {}, {f32({3, 1, 4, 5}), f32({2, 5, 3})}, 2);
  cases.add("MatMul", "vector_left", {}, {f32({5}), f32({2, 5, 3})});
  cases.add("MatMul", "vector_right", {}, {f32({2, 4, 5}), f32({5})});
  cases.add("MatMul", "vectors", {}, {f32({5}), f32({5})}, 2);
  cases.add("Gemm", "", {{"transB", int64_t{1}}}, {f32({3, 8}), f32({5, 8}), f32({5})});
  cases.add("Gemm", "scaled", {{"transA", int64_t{1}}, {"alpha", 0.5}, {"beta", 2.0}},
            {f32({8, 3}), f32({8, 5}), f32({3, 1})});
  cases.add("Gemm", "scalar_c", {}, {f32({3, 4}), f32({4, 2}), f32({})});
  cases.add("Gemm", "no_c", {}, {f32({3, 4}), f32({4, 2})});
}

void add_pools(Cases& cases) {
  const Attributes window = {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}};
  for (const std::string op : {"MaxPool", "AveragePool"}) {
    cases.add(op, "", window, {f32({1, 3, 9, 7})});
    Attributes ceil = window;
    ceil["ceil_mode"] = int64_t{1};
    cases.add(op, "ceil", ceil, {f32({1, 3, 8, 10})});
    cases.add(op, "dilated", {{"kernel_shape", Ints{2, 3}}, {"dilations", Ints{3, 2}}, {"pads", Ints{2, 0, 1, 3}}},
              {f32({2, 2, 8, 9})});
    cases.add(op, "one_dimension", {{"kernel_shape", Ints{4}}}, {f32({1, 2, 11})});
    if (op == "AveragePool") {
      ceil["count_include_pad"] = int64_t{1};
      cases.add(op, "ceil_include_pad", ceil, {f32({1, 3, 8, 10})});
    }
  }
  cases.add("GlobalAveragePool", "", {}, {f32({2, 5, 7, 3})});
  cases.add("GlobalMaxPool", "", {}, {f32({2, 5, 7})});
}

void add_reductions(Cases& cases) {
  for (const std::string op : {"ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
                               "ReduceProd", "ReduceSum", "ReduceSumSquare"}) {
    cases.add(op, "", {{"axes", Ints{-1, 1}}}, {f32({3, 4, 5, 2})});
    cases.add(op, "all_dropped", {{"keepdims", int64_t{0}}}, {f32({3, 5})});
    cases.add(op, "none", {{"noop_with_empty_axes", int64_t{1}}}, {f32({3, 5})});
  }
  cases.add("ReduceLogSum", "", {{"axes", Ints{0}}, {"keepdims", int64_t{0}}}, {f32({40, 3})});
  cases.add("ReduceSum", "integers", {{"axes", Ints{0}}}, {i32({7, 3})});
  for (const std::string op : {"Softmax", "LogSoftmax"}) {
    cases.add(op, "", {}, {f32({3, 4, 11})});
    cases.add(op, "channels", {{"axis", int64_t{1}}}, {f32({2, 5, 3, 3})});
    cases.add(op, "flattened", {{"axis", int64_t{1}}}, {f32({2, 5, 3, 1})}, 1, 11);
  }
  cases.add("BatchNormalization", "", {}, {f32({2, 5, 3, 7}), f32({5}), f32({5}), f32({5}), f32({5})});
}

void add_copies(Cases& cases) {
  cases.add("Concat", "", {{"axis", int64_t{-2}}}, {f32({2, 3, 5}), f32({2, 1, 5}), f32({2, 4, 5})}, 3);
  cases.add("Dropout", "", {}, {f32({3, 5})});
  cases.add("Expand", "", {{"shape", Ints{2, 1, 3, 4}}}, {f32({3, 1})});
  cases.add("Flatten", "", {{"axis", int64_t{2}}}, {f32({2, 3, 4, 5})});
  cases.add("Gather", "", {{"axis", int64_t{1}}}, {f32({2, 5, 3}), i64({4, 2})}, 2);
  cases.add("Gather", "scalar", {}, {f32({5, 3}), i32({})}, 2);
  cases.add("Identity", "", {}, {f32({3, 5})});
  cases.add("Identity", "scalar", {}, {f32({})});
  cases.add("Pad", "", {{"pads", Ints{0, 1, 2, 1, 0, 3}}, {"value", -1.5}}, {f32({2, 3, 5})});
  cases.add("Pad", "edge_crops", {{"pads", Ints{-1, 2, 3, -1}}, {"mode", std::string("edge")}}, {f32({5, 4})});
  cases.add("Pad", "reflect", {{"pads", Ints{2, 0, 3, 3}}, {"mode", std::string("reflect")}}, {f32({4, 5})});
  cases.add("Reshape", "", {{"shape", Ints{0, -1, 6}}}, {f32({2, 4, 3, 3})});
  cases.add("Slice", "",
            {{"starts", Ints{-3, 1}}, {"ends", Ints{INT64_MAX, 8}}, {"axes", Ints{1, 2}}, {"steps", Ints{1, 3}}},
            {f32({2, 5, 9})});
  cases.add("Slice", "backwards",
            {{"starts", Ints{-1}}, {"ends", Ints{INT64_MIN}}, {"axes", Ints{1}}, {"steps", Ints{-2}}}, {f32({3, 7})});
  cases.add("Split", "", {{"axis", int64_t{1}}, {"split", Ints{2, 1, 4}}}, {f32({3, 7, 2})});
  cases.add("Squeeze", "", {}, {f32({1, 3, 1, 5})});
  cases.add("Tile", "", {{"repeats", Ints{2, 1, 3}}}, {f32({3, 2, 5})});
  cases.add("Transpose", "", {{"perm", Ints{0, 2, 3, 1}}}, {f32({2, 3, 4, 5})});
  cases.add("Transpose", "default", {}, {f32({2, 3, 4})});
  cases.add("Unsqueeze", "", {{"axes", Ints{0, -1}}}, {f32({3, 5})});
}

void add_pointwise(Cases& cases) {
  const Shape odd = {3, 1, 5, 7};
  for (const Operator& entry : operators()) {
    if (entry.kind != OperatorKind::pointwise || entry.name == "Cast" || entry.name == "Where") continue;
    const std::string op(entry.name);
    if (op == "And" || op == "Or" || op == "Xor" || op == "Not") {
      cases.add(op, "", {}, std::vector<TensorType>(static_cast<size_t>(entry.min_inputs), boolean(odd)), 2);
      continue;
    }
    Attributes attributes;
    if (op == "Mod") attributes["fmod"] = int64_t{1};
    std::vector<TensorType> types = {f32(odd)};
    if (entry.min_inputs == 2) types.push_back(f32({5, 1}));
    if (entry.max_inputs == -1) types = {f32(odd), f32({2, 1, 1}), f32({})};
    cases.add(op, "", attributes, types, 2);
  }
  cases.add("Add", "higher_rank", {}, {f32({5}), f32({2, 3, 5})}, 2);
  cases.add("Add", "i64", {}, {i64(odd), i64({7})}, 2);
  cases.add("Div", "i32", {}, {i32(odd), i32({7})}, 2);
  cases.add("Mod", "i32", {}, {i32(odd), i32({7})}, 2);
  cases.add("Mod", "i32_fmod", {{"fmod", int64_t{1}}}, {i32(odd), i32({7})}, 2);
  cases.add("Pow", "i32", {}, {i32(odd), {DType::u8, {7}}}, 2);
  cases.add("Clip", "bounded", {{"min", -0.5}, {"max", 0.75}}, {f32(odd)});
  cases.add("Clip", "i32", {{"min", -2.0}}, {i32(odd)});
  cases.add("Gelu", "tanh", {{"approximate", std::string("tanh")}}, {f32(odd)});
  cases.add("Relu", "f16", {}, {{DType::f16, odd}});
  cases.add("Sigmoid", "f64", {}, {{DType::f64, odd}});
  cases.add("Max", "i8", {}, {{DType::i8, odd}, {DType::i8, {7}}}, 2);
  cases.add("Where", "", {}, {boolean({5, 1}), f32(odd), f32({7})}, 3);
  cases.add("Cast", "f32_i32", {{"to", int64_t{6}}}, {f32(odd)});
  cases.add("Cast", "f32_u8", {{"to", int64_t{2}}}, {f32(odd)});
  cases.add("Cast", "i32_u8", {{"to", int64_t{2}}}, {i32(odd)});
  cases.add("Cast", "i64_f32", {{"to", int64_t{1}}}, {i64(odd)});
  cases.add("Cast", "f32_bool", {{"to", int64_t{9}}}, {f32(odd)});
  cases.add("Cast", "f32_f16", {{"to", int64_t{10}}}, {f32(odd)});
  cases.add("Cast", "f32_bf16", {{"to", int64_t{16}}}, {f32(odd)});
}

}  // namespace

Workload one_node(const std::string& op, Attributes attributes, const std::vector<TensorType>& types, int inputs,
                  int opset) {
  const Operator* entry = find_operator(op);
  CHECK(entry != nullptr);
  for (const AttributeSpec& spec : entry->attributes) attributes.emplace(spec.name, spec.default_value);
  if (entry->normalise != nullptr) entry->normalise(attributes, opset, types);
  Workload workload;
  Node node{op, attributes, {}, {}};
  for (size_t i = 0; i < types.size(); ++i) {
    node.inputs.push_back(static_cast<int>(i));
    workload.arguments.push_back({types[i], dense_strides(types[i].shape), static_cast<int>(i) >= inputs});
  }
  node.outputs = entry->infer(node, types);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    workload.outputs.push_back({static_cast<int>(types.size() + i), dense_strides(node.outputs[i].shape)});
  }
  // As graph/ chooses it: integers are summed in integers.
  const DType dtype = types[0].dtype;
  const bool integer = dtype == DType::i32 || dtype == DType::i8 || dtype == DType::u8;
  workload.accumulator = integer ? DType::i32 : dtype == DType::f64 || dtype == DType::i64 ? dtype : DType::f32;
  workload.nodes.push_back(std::move(node));
  return workload;
}

std::vector<OperatorCase> operator_cases() {
  Cases cases;
  add_convolutions(cases);
  add_products(cases);
  add_pools(cases);
  add_reductions(cases);
  add_copies(cases);
  add_pointwise(cases);
  return cases.take();
}

}  // namespace hone
