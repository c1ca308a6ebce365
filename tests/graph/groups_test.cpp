// SPDX-License-Identifier: MIT
// Which nodes share a kernel, in which order the kernels run, and that equal computations get equal Workloads.
#include <gtest/gtest.h>

#include "tests/graph/evaluate.h"
#include "tests/graph/model_builder.h"

namespace hone {
namespace {

struct Grouped {
  Graph graph;
  std::vector<ValueLayout> layouts;
  std::vector<Group> groups;
  explicit Grouped(const ModelBuilder& model, const GroupOptions& options = {})
      : graph(model.import()), layouts(assign_layouts(graph)), groups(make_groups(graph, layouts, options)) {}
  /// "Conv+Relu | Add": operators of each group in order.
  std::string text() const {
    std::string result;
    for (const Group& group : groups) {
      if (!result.empty()) result += " | ";
      for (size_t i = 0; i < group.nodes.size(); ++i) result += (i > 0 ? "+" : "") + graph.nodes[group.nodes[i]].op;
    }
    return result;
  }
};

/// Grouped and one node a kernel must compute the same; evaluate() also CHECKs the order of the groups.
void expect_same_values(const Grouped& grouped) {
  std::vector<Tensor> inputs;
  for (const int input : grouped.graph.inputs) {
    inputs.push_back(Tensor::zeros(DType::f32, grouped.graph.values[input].type.shape));
    for (size_t i = 0; i < inputs.back().as<float>().size(); ++i) {
      inputs.back().as<float>()[i] = static_cast<float>(i * 29 % 83) / 40.0F - 1;
    }
  }
  const auto expected = evaluate_unfused(grouped.graph, inputs);
  const auto actual = evaluate(grouped.graph, grouped.layouts, grouped.groups, inputs);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_LT(relative_error(actual[i], expected[i]), 1e-6);
}

ModelBuilder image() {
  ModelBuilder model;
  model.input("x", {1, 4, 6, 5}).weights("w", {4, 4, 1, 1}).weights("v", {4, 4, 1, 1});
  return model;
}

TEST(Groups, AnchorWithEpilogue) {
  const Grouped grouped(
      image().node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"r"}).node("Exp", {"r"}, {"y"}).output("y"));
  EXPECT_EQ(grouped.text(), "Conv+Relu+Exp");
  EXPECT_EQ(grouped.groups[0].arguments.size(), 2U);
  EXPECT_EQ(grouped.groups[0].workload.constant_count(), 1);
  EXPECT_EQ(grouped.groups[0].outputs, grouped.graph.outputs);
  EXPECT_EQ(grouped.groups[0].workload.outputs[0].strides, dense_strides({1, 4, 6, 5}));
  expect_same_values(grouped);
}

TEST(Groups, UnfusedIsANodeAKernel) {
  const Grouped grouped(image().node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"y"}).output("y"),
                        {.fuse = false});
  EXPECT_EQ(grouped.text(), "Conv | Relu");
}

TEST(Groups, ResidualAddWithIdentityShortcut) {
  ModelBuilder model = image();
  model.node("Relu", {"x"}, {"s"})
      .node("Conv", {"s", "w"}, {"c"})
      .node("Add", {"s", "c"}, {"a"})
      .node("Relu", {"a"}, {"y"});
  const Grouped grouped(model.output("y"));
  EXPECT_EQ(grouped.text(), "Relu | Conv+Add+Relu");
  expect_same_values(grouped);
}

// The Add joins the first convolution, which then has to wait for the second.
TEST(Groups, ResidualAddOfTwoConvolutionsRunsAfterBoth) {
  ModelBuilder model = image();
  model.node("Conv", {"x", "w"}, {"c"})
      .node("Conv", {"x", "v"}, {"d"})
      .node("Exp", {"d"}, {"e"})
      .node("Add", {"c", "e"}, {"y"});
  const Grouped grouped(model.output("y"));
  EXPECT_EQ(grouped.text(), "Conv+Exp | Conv+Add");
  EXPECT_EQ(grouped.groups[0].nodes[0], 1);
  expect_same_values(grouped);
}

// The Add needs something that depends on the convolution by another way: it must not join.
TEST(Groups, NoGroupNeedsItsOwnResult) {
  ModelBuilder model = image();
  model.node("Conv", {"x", "w"}, {"c"}).node("Conv", {"c", "v"}, {"d"}).node("Add", {"c", "d"}, {"y"}).output("y");
  const Grouped grouped(model);
  EXPECT_EQ(grouped.text(), "Conv | Conv+Add");
  expect_same_values(grouped);
}

TEST(Groups, InteriorValueWithAnotherReaderEndsTheGroup) {
  ModelBuilder model = image();
  model.node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"r"}).node("Exp", {"r"}, {"y"}).output("y");
  model.node("Softmax", {"r"}, {"z"}).output("z");
  const Grouped grouped(model);
  EXPECT_EQ(grouped.text(), "Conv+Relu | Exp | Softmax");
  expect_same_values(grouped);
}

TEST(Groups, InteriorOutputEndsTheGroup) {
  ModelBuilder model = image();
  model.node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"r"}).node("Exp", {"r"}, {"y"}).output("y").output("r");
  const Grouped grouped(model);
  EXPECT_EQ(grouped.text(), "Conv+Relu | Exp");
  expect_same_values(grouped);
}

TEST(Groups, BranchesThatMeetAgainAreOneGroup) {
  ModelBuilder model = image();  // SiLU, and a wider one
  model.node("Conv", {"x", "w"}, {"c"}).node("Sigmoid", {"c"}, {"s"}).node("Mul", {"c", "s"}, {"m"});
  model.node("Exp", {"m"}, {"e"}).node("Abs", {"m"}, {"a"}).node("Add", {"e", "a"}, {"y"}).output("y");
  const Grouped grouped(model);
  EXPECT_EQ(grouped.text(), "Conv+Sigmoid+Mul+Exp+Abs+Add");
  expect_same_values(grouped);
}

TEST(Groups, BranchesWithAnOutsideReaderStayApart) {
  ModelBuilder model = image();
  model.node("Conv", {"x", "w"}, {"c"})
      .node("Sigmoid", {"c"}, {"s"})
      .node("Mul", {"c", "s"}, {"y"})
      .output("y")
      .output("s");
  const Grouped grouped(model);
  EXPECT_EQ(grouped.text(), "Conv | Sigmoid | Mul");
  expect_same_values(grouped);
}

TEST(Groups, BroadcastUpDoesNotJoin) {
  ModelBuilder model = image();  // squeeze-excite: the gate is smaller than what it multiplies
  model.node("GlobalAveragePool", {"x"}, {"g"}).node("Conv", {"g", "w"}, {"c"}).node("Sigmoid", {"c"}, {"s"});
  const Grouped grouped(model.node("Mul", {"x", "s"}, {"y"}).output("y"));
  EXPECT_EQ(grouped.text(), "GlobalAveragePool | Conv+Sigmoid | Mul");
  expect_same_values(grouped);
}

TEST(Groups, BroadcastDownJoins) {
  ModelBuilder model = image();
  model.input("gate", {1, 4, 1, 1}).node("Conv", {"x", "w"}, {"c"}).node("Mul", {"gate", "c"}, {"y"}).output("y");
  const Grouped grouped(model);
  EXPECT_EQ(grouped.text(), "Conv+Mul");
  expect_same_values(grouped);
}

TEST(Groups, PointwiseChains) {
  ModelBuilder model;
  model.input("x", {3, 4}).input("row", {4}).node("Relu", {"row"}, {"r"}).node("Add", {"x", "r"}, {"a"});
  model.node("Exp", {"a"}, {"e"}).node("Mul", {"e", "x"}, {"y"}).output("y");
  const Grouped grouped(model);
  EXPECT_EQ(grouped.text(), "Relu | Add+Exp+Mul");  // [4] is broadcast up to [3, 4]
  expect_same_values(grouped);
}

TEST(Groups, AnchorsChooseBeforeChains) {
  ModelBuilder model = image();
  model.node("Relu", {"x"}, {"r"}).node("Conv", {"x", "w"}, {"c"}).node("Add", {"r", "c"}, {"y"}).output("y");
  EXPECT_EQ(Grouped(model).text(), "Relu | Conv+Add");
}

TEST(Groups, ViewsFormNoGroup) {
  ModelBuilder model = image();
  model.node("Conv", {"x", "w"}, {"c"}).node("Transpose", {"c"}, {"t"}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}});
  const Grouped grouped(model.node("Softmax", {"t"}, {"y"}).output("y"));
  EXPECT_EQ(grouped.text(), "Conv | Softmax");
  EXPECT_EQ(grouped.groups[1].workload.arguments[0].type.shape, (Shape{1, 6, 5, 4}));
  EXPECT_EQ(grouped.groups[1].workload.arguments[0].strides, dense_strides({1, 6, 5, 4}));
  expect_same_values(grouped);
}

TEST(Groups, SplitWithAnOutputWritesOnlyThat) {
  ModelBuilder model = image();
  model.integers("parts", {1, 3}).node("Split", {"x", "parts"}, {"p", "q"}, {{"axis", int64_t{1}}});
  const Grouped grouped(model.node("Relu", {"q"}, {"r"}).output("p").output("r"));
  EXPECT_EQ(grouped.text(), "Split | Relu");
  EXPECT_EQ(grouped.groups[0].workload.outputs.size(), 1U);
  expect_same_values(grouped);
}

TEST(Groups, OneValueUsedTwiceIsOneArgument) {
  ModelBuilder model;
  model.input("x", {3, 4}).weights("k", {4}).node("Mul", {"x", "x"}, {"a"}).node("Add", {"a", "k"}, {"b"});
  const Grouped grouped(model.node("Mul", {"b", "k"}, {"y"}).output("y"));
  ASSERT_EQ(grouped.groups.size(), 1U);
  EXPECT_EQ(grouped.groups[0].arguments,
            (std::vector<int>{value_index(grouped.graph, "x"), value_index(grouped.graph, "k")}));
  EXPECT_FALSE(grouped.groups[0].workload.arguments[0].constant);
  EXPECT_TRUE(grouped.groups[0].workload.arguments[1].constant);
  expect_same_values(grouped);
}

TEST(Groups, EqualComputationsHaveEqualWorkloads) {
  ModelBuilder model = image();  // other weights, other names, operands the other way round
  model.node("Conv", {"x", "w"}, {"c"}).node("Add", {"c", "x"}, {"a"}).node("Relu", {"a"}, {"b"});
  model.node("Conv", {"b", "v"}, {"d"}).node("Add", {"b", "d"}, {"e"}).node("Relu", {"e"}, {"f"});
  model.node("Conv", {"f", "w"}, {"g"}).node("Add", {"g", "f"}, {"h"}).node("Relu", {"h"}, {"i"});
  model.node("Conv", {"i", "w"}, {"y"}).output("y");
  const Grouped grouped(model);
  ASSERT_EQ(grouped.text(), "Conv+Add+Relu | Conv+Add+Relu | Conv+Add+Relu | Conv");
  EXPECT_EQ(grouped.groups[1].workload.id(), grouped.groups[2].workload.id());
  EXPECT_NE(grouped.groups[0].workload.id(), grouped.groups[1].workload.id());  // reads the dense model input
  EXPECT_EQ(Workload::parse(grouped.groups[1].workload.canonical_json()), grouped.groups[1].workload);
  expect_same_values(grouped);
}

TEST(Groups, CommutedBroadcastHasTheSameWorkload) {
  const auto id = [](bool swapped) {
    ModelBuilder model;
    model.input("x", {1, 4, 6, 5}).input("gate", {1, 4, 1, 1});
    model.node("Mul", swapped ? std::vector<std::string>{"gate", "x"} : std::vector<std::string>{"x", "gate"}, {"y"});
    return Grouped(model.output("y")).groups[0].workload.id();
  };
  EXPECT_EQ(id(false), id(true));
}

TEST(Groups, NothingToDo) {
  ModelBuilder model;
  model.input("x", {2}).output("x");
  EXPECT_TRUE(Grouped(model).groups.empty());
}

}  // namespace
}  // namespace hone
