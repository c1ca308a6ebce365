// SPDX-License-Identifier: MIT
// Conformance of the Halide algorithms: every operator of the table against its scalar reference, at odd sizes, with
// nothing but the default schedule. (What a schedule does to them is tested in tests/schedules.)
#include "generators/algorithms.h"

#include <gtest/gtest.h>

#include <set>

#include "generators/operators.h"
#include "operator_cases.h"

namespace hone {
namespace {

/// A Halide buffer over a dense tensor's bytes.
Halide::Buffer<> as_buffer(Tensor& tensor) {
  std::vector<int> extents(tensor.shape.rbegin(), tensor.shape.rend());
  return Halide::Buffer<>(halide_type(tensor.dtype), tensor.bytes.data(), extents);
}

Halide::Func as_func(Tensor& tensor) {
  const Halide::Buffer<> buffer = as_buffer(tensor);
  std::vector<Halide::Var> vars;
  for (size_t k = 0; k < tensor.shape.size(); ++k) vars.emplace_back("k" + std::to_string(k));
  Halide::Func func("input");
  func(vars) = buffer(std::vector<Halide::Expr>(vars.begin(), vars.end()));
  return func;
}

/// Tensors of the workload's outputs as JIT-compiled Halide computes them.
std::vector<Tensor> run_algorithm(const Workload& workload, std::vector<Tensor>& arguments) {
  const Node& node = workload.nodes[0];
  std::vector<Halide::Func> inputs;
  std::vector<TensorType> types;
  for (const int input : node.inputs) {
    inputs.push_back(as_func(arguments[static_cast<size_t>(input)]));
    types.push_back(workload.type(input));
  }
  std::vector<Tensor> results;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    std::vector<Halide::Func> stages;
    Halide::Func func = node_algorithm(node, inputs, types, workload.accumulator, stages, static_cast<int>(i));
    for (Halide::Func& stage : stages) stage.compute_root();
    Tensor result = Tensor::zeros(node.outputs[i].dtype, node.outputs[i].shape);
    Halide::Buffer<> buffer = as_buffer(result);
    func.realize(buffer);
    results.push_back(std::move(result));
  }
  return results;
}

class AlgorithmTest : public testing::TestWithParam<OperatorCase> {};

TEST_P(AlgorithmTest, EqualsReference) {
  const Workload& workload = GetParam().workload;
  std::vector<Tensor> arguments = make_arguments(workload, 1);
  const std::vector<Tensor> expected = evaluate_reference(workload, arguments);
  const std::vector<Tensor> actual = run_algorithm(workload, arguments);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_LE(relative_error(actual[i], expected[i]), tolerance(workload)) << workload.summary() << " output " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, AlgorithmTest, testing::ValuesIn(operator_cases()),
                         [](const auto& item) { return item.param.name; });

TEST(AlgorithmTable, EveryOperatorHasACase) {
  std::set<std::string> covered;
  for (const OperatorCase& one : operator_cases()) covered.insert(one.workload.nodes[0].op);
  for (const Operator& entry : operators()) {
    if (entry.kind == OperatorKind::fold_only) continue;
    EXPECT_TRUE(covered.contains(std::string(entry.name))) << entry.name;
  }
}

/// NaN and infinities go through as ONNX says, vectorised and scalar.
TEST(AlgorithmTable, NanPassesRectifiersAndExtremes) {
  for (const char* op :
       {"Relu", "Clip", "Max", "Min", "Sigmoid", "Tanh", "HardSwish", "LeakyRelu", "Exp", "Log", "Gelu", "Softmax"}) {
    const bool two = std::string(op) == "Max" || std::string(op) == "Min";
    Attributes attributes;
    if (std::string(op) == "Clip") attributes = {{"min", 0.0}, {"max", 6.0}};
    const Workload workload = one_node(op, attributes, std::vector<TensorType>(two ? 2 : 1, {DType::f32, {19}}), 2);
    std::vector<Tensor> arguments = make_arguments(workload, 3);
    arguments[0].as<float>()[2] = NAN;
    arguments[0].as<float>()[17] = NAN;
    if (two) arguments[1].as<float>()[5] = NAN;
    const std::vector<Tensor> expected = evaluate_reference(workload, arguments);
    EXPECT_TRUE(std::isnan(expected[0].as<float>()[2])) << op;
    if (two) {
      EXPECT_TRUE(std::isnan(expected[0].as<float>()[5])) << op;
    }
    EXPECT_LE(relative_error(run_algorithm(workload, arguments)[0], expected[0]), tolerance(workload)) << op;
  }
}

/// The fitted rationals over their whole range, the constant parts included.
TEST(AlgorithmTable, ApproximationsStayWithinTheirStatedError) {
  for (const char* op : {"Erf", "Tanh", "Exp", "Log", "Sigmoid"}) {
    const Workload workload = one_node(op, {}, {{DType::f32, {4096}}});
    std::vector<Tensor> arguments = make_arguments(workload, 1);
    const bool logarithm = std::string(op) == "Log";
    for (int i = 0; i < 4096; ++i) arguments[0].as<float>()[i] = (logarithm ? i + 1 : i - 2048) / 200.0f;
    const Tensor expected = evaluate_reference(workload, arguments)[0];
    EXPECT_LE(relative_error(run_algorithm(workload, arguments)[0], expected), 5e-7) << op;
  }
}

}  // namespace
}  // namespace hone
