// SPDX-License-Identifier: MIT
// The table is complete, refuses what it cannot compute with a text that helps, and its figures for whole workloads are
// right. The operators' values are compared with ONNX Runtime by operators_vs_onnxruntime.py.
#include "generators/operators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "executor/error.h"
#include "operator_cases.h"

namespace hone {
namespace {

using Ints = std::vector<int64_t>;

TensorType f32(Shape shape) {
  return {DType::f32, std::move(shape)};
}

TEST(Operators, EveryEntryIsComplete) {
  for (const Operator& entry : operators()) {
    EXPECT_EQ(find_operator(entry.name), &entry);
    EXPECT_TRUE(entry.infer && entry.reference && entry.flops && entry.reduction_length) << entry.name;
    EXPECT_TRUE(entry.max_inputs == -1 || entry.max_inputs >= entry.min_inputs) << entry.name;
    for (const AttributeSpec& spec : entry.attributes) EXPECT_EQ(spec.input < 0, spec.input_since == 0) << entry.name;
  }
  EXPECT_EQ(find_operator("Covn"), nullptr);
  EXPECT_EQ(find_operator(""), nullptr);
}

TEST(Operators, WhatIsNormalisedStaysSo) {
  for (const OperatorCase& one : operator_cases()) {
    const Node& node = one.workload.nodes[0];
    const Operator* entry = find_operator(node.op);
    // Slice's ends below 0 are positions there, and would be counted from the end a second time.
    if (entry->normalise == nullptr || one.name == "Slice_backwards") continue;
    std::vector<TensorType> types;
    for (const int input : node.inputs) types.push_back(one.workload.type(input));
    Attributes again = node.attributes;
    entry->normalise(again, 21, types);
    EXPECT_EQ(again, node.attributes) << one.name;
  }
}

struct Refused {
  const char* op;
  Attributes attributes;
  std::vector<TensorType> types;
  const char* message;  // part of it
};

TEST(Operators, RefusalsNameTheOperatorAndWhatIsSupported) {
  const std::vector<Refused> cases = {
      {"Conv", {}, {f32({1, 3, 5, 5}), f32({4, 2, 3, 3})}, "group"},
      {"Conv", {}, {f32({1, 3, 5, 5, 5}), f32({4, 3, 3, 3, 3})}, "supported: [N,C,(H,)W]"},
      {"Conv", {}, {f32({1, 3, 2, 5}), f32({4, 3, 3, 3})}, "window reaches over 3"},
      {"Conv", {{"auto_pad", std::string("SAME")}}, {f32({1, 3, 5, 5}), f32({4, 3, 3, 3})}, "supported: NOTSET"},
      {"Conv", {{"strides", Ints{0, 1}}}, {f32({1, 3, 5, 5}), f32({4, 3, 3, 3})}, "strides"},
      {"Conv", {{"strides", Ints{1}}}, {f32({1, 3, 5, 5}), f32({4, 3, 3, 3})}, "asks for 2"},
      {"Conv", {{"dilations", Ints{INT64_MAX, 1}}}, {f32({1, 3, 5, 5}), f32({4, 3, 3, 3})}, "dilations"},
      {"Conv", {{"pads", Ints{-1, 0, 0, 0}}}, {f32({1, 3, 5, 5}), f32({4, 3, 3, 3})}, "pads"},
      {"MaxPool",
       {{"kernel_shape", Ints{2, 2}}, {"pads", Ints{2, 0, 0, 0}}},
       {f32({1, 3, 5, 5})},
       "smaller than the kernel"},
      {"MatMul", {}, {f32({2, 3}), f32({4, 5})}, "do not fit"},
      {"MatMul", {}, {f32({}), f32({4, 5})}, "scalar"},
      {"Gemm", {}, {f32({2, 3}), f32({3, 5}), f32({4, 5})}, "broadcast"},
      {"Add", {}, {f32({2, 3}), f32({4})}, "do not broadcast"},
      {"Add", {}, {f32({2, 3}), {DType::i64, {3}}}, "insert a Cast"},
      {"Not", {}, {f32({2, 3})}, "takes bool"},
      {"Cast", {{"to", int64_t{8}}}, {f32({2})}, "supported: floats"},
      {"Mod", {}, {f32({2}), f32({2})}, "fmod"},
      {"Softmax", {{"axis", int64_t{2}}}, {f32({2, 3})}, "axis 2"},
      {"ReduceMean", {{"axes", Ints{0, -2}}}, {f32({2, 3})}, "twice"},
      {"Reshape", {{"shape", Ints{-1, 4}}}, {f32({2, 3})}, "does not fit"},
      {"Reshape", {{"shape", Ints{-1, -1}}}, {f32({2, 3})}, "does not fit"},
      {"Reshape", {{"shape", Ints{1, 6, 0}}}, {f32({2, 3})}, "copies an extent"},
      {"Transpose", {{"perm", Ints{0, 0}}}, {f32({2, 3})}, "no permutation"},
      {"Concat", {{"axis", int64_t{0}}}, {f32({2, 3}), f32({2, 4})}, "do not fit along axis 0"},
      {"Slice", {{"starts", Ints{0}}, {"ends", Ints{1, 2}}}, {f32({2, 3})}, "differ in length"},
      {"Slice", {{"starts", Ints{0}}, {"ends", Ints{1}}, {"steps", Ints{0}}}, {f32({2, 3})}, "step is 0"},
      {"Pad", {{"pads", Ints{1, 1}}, {"mode", std::string("wrap")}}, {f32({3})}, "supported: constant, edge, reflect"},
      {"Pad", {{"pads", Ints{3, 0}}, {"mode", std::string("reflect")}}, {f32({3})}, "smaller pads"},
      {"Pad", {{"pads", Ints{-2, -2}}}, {f32({3})}, "shape [-1]"},
      {"Expand", {{"shape", Ints{1 << 20, 1 << 20, 3}}}, {f32({3})}, "2^31-1"},
      {"Tile", {{"repeats", Ints{2}}}, {f32({2, 3})}, "repeats"},
      {"Split", {{"split", Ints{2, 2}}}, {f32({3})}, "do not add up"},
      {"Squeeze", {{"axes", Ints{0}}}, {f32({3})}, "is not 1"},
      {"BatchNormalization",
       {{"training_mode", int64_t{1}}},
       {f32({1, 3}), f32({3}), f32({3}), f32({3}), f32({3})},
       "inference"},
      {"PRelu", {}, {f32({3}), f32({2, 3})}, "slope"},
  };
  for (const Refused& one : cases) {
    try {
      one_node(one.op, one.attributes, one.types);
      ADD_FAILURE() << one.op << " accepted what should give: " << one.message;
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("operator " + std::string(one.op)), std::string::npos) << text;
      EXPECT_NE(text.find(one.message), std::string::npos) << text;
    }
  }
}

TEST(Operators, ShapeArithmeticIsExactAndSaturates) {
  // Shape -> Slice -> Concat with -1, as exporters write a flatten.
  const Operator* shape = find_operator("Shape");
  Node node{"Shape", {{"start", int64_t{0}}, {"end", int64_t{INT64_MAX}}}, {0}, {}};
  shape->normalise(node.attributes, 15, std::vector<TensorType>{f32({2, 3, 1ll << 30})});
  node.outputs = shape->infer(node, std::vector<TensorType>{f32({2, 3, 1ll << 30})});
  EXPECT_EQ(node.outputs[0], (TensorType{DType::i64, {3}}));
  const ReferenceTensor input{DType::f32, {2, 3, 1ll << 30}, {}};  // its elements are never looked at
  const Tensor extents = narrow(shape->reference(node, std::vector<ReferenceTensor>{input})[0]);
  EXPECT_EQ(extents.as<int64_t>()[2], 1ll << 30);

  const Workload product = one_node("Mul", {}, {{DType::i64, {2}}, {DType::i64, {2}}}, 2);
  Tensor a = Tensor::zeros(DType::i64, {2});
  a.as<int64_t>()[0] = 1ll << 40;
  a.as<int64_t>()[1] = 3;
  const Tensor squares = evaluate_reference(product, std::vector<Tensor>{a, a})[0];
  EXPECT_EQ(squares.as<int64_t>()[0], INT64_MAX);
  EXPECT_EQ(squares.as<int64_t>()[1], 9);
}

TEST(Operators, NarrowIntegersWrap) {
  const Workload sum = one_node("Add", {}, {{DType::u8, {1}}, {DType::u8, {1}}}, 2);
  Tensor large = Tensor::zeros(DType::u8, {1});
  large.as<uint8_t>()[0] = 200;
  const Tensor wrapped = evaluate_reference(sum, std::vector<Tensor>{large, large})[0];
  EXPECT_EQ(wrapped.as<uint8_t>()[0], 144);
}

TEST(Operators, WorkloadsAreEvaluatedInOrder) {
  // (x - 1) * x, twice an output: the interior value too.
  Workload workload = one_node("Sub", {}, {f32({3}), f32({})}, 1);
  workload.nodes.push_back({"Mul", {}, {2, 0}, {f32({3})}});
  workload.outputs = {{3, {1}}, {2, {1}}};
  const Tensor x = narrow({DType::f32, {3}, {1, 2, 5}});
  const Tensor one = narrow({DType::f32, {}, {1}});
  const std::vector<Tensor> outputs = evaluate_reference(workload, std::vector<Tensor>{x, one});
  EXPECT_EQ(outputs[0], narrow({DType::f32, {3}, {0, 2, 20}}));
  EXPECT_EQ(outputs[1], narrow({DType::f32, {3}, {0, 1, 4}}));
}

TEST(Operators, ToleranceGrowsWithTheReduction) {
  const auto conv = [](int64_t channels) {
    return tolerance(one_node("Conv", {}, {f32({1, channels, 5, 5}), f32({4, channels, 3, 3})}));
  };
  EXPECT_LT(conv(8), conv(512));
  EXPECT_LT(conv(512), 1e-4);  // a model of such layers is to stay within that
  EXPECT_GT(conv(512), 2e-5);  // Winograd F(6x6) measured up to 1.6e-5
  EXPECT_LT(tolerance(one_node("Relu", {}, {f32({3})})), 4e-6);
  EXPECT_GT(tolerance(one_node("Relu", {}, {{DType::f16, {3}}})), 9e-4);
}

TEST(Operators, FlopsCountMultiplyAndAdd) {
  EXPECT_EQ(flops(one_node("MatMul", {}, {f32({3, 7, 5}), f32({5, 9})})), 2.0 * 3 * 7 * 5 * 9);
  EXPECT_EQ(flops(one_node("Gemm", {{"transA", int64_t{1}}}, {f32({5, 7}), f32({5, 9})})), 2.0 * 7 * 5 * 9);
  EXPECT_EQ(flops(one_node("Conv", {{"group", int64_t{4}}}, {f32({1, 4, 5, 5}), f32({4, 1, 3, 3})})), 2.0 * 4 * 9 * 9);
  EXPECT_EQ(flops(one_node("Add", {}, {f32({3, 1}), f32({7})})), 21);
  EXPECT_EQ(flops(one_node("Transpose", {}, {f32({3, 7})})), 0);
}

}  // namespace
}  // namespace hone
