// SPDX-License-Identifier: MIT
// Where values live: channels-last around convolutions, dense at the border, views where strides can say it.
// Extents are all different, or (EqualExtents) all equal, where only values show a swapped layout.
#include <gtest/gtest.h>

#include "graph/strided_view.h"
#include "tests/graph/evaluate.h"
#include "tests/graph/model_builder.h"

namespace hone {
namespace {

using Ints = std::vector<int64_t>;

struct Laid {
  Graph graph;
  std::vector<ValueLayout> layouts;
  explicit Laid(const ModelBuilder& model) : graph(model.import()), layouts(assign_layouts(graph)) {}
  const ValueLayout& operator[](const std::string& name) const { return layouts[value_index(graph, name)]; }
  int id(const std::string& name) const { return value_index(graph, name); }
  const Shape& shape(const std::string& name) const { return graph.values[id(name)].type.shape; }
};

ModelBuilder conv(const Shape& shape = {2, 3, 6, 5}) {
  ModelBuilder model;
  model.input("x", shape).weights("w", {4, shape[1], 1, 1}).node("Conv", {"x", "w"}, {"c"});
  return model;
}

TEST(Layouts, ConvolutionsAreChannelsLastAndTheBorderDense) {
  const Laid laid(
      conv().node("Relu", {"c"}, {"r"}).node("MaxPool", {"r"}, {"y"}, {{"kernel_shape", Ints{2, 2}}}).output("y"));
  EXPECT_EQ(laid["x"].strides, dense_strides({2, 3, 6, 5}));
  EXPECT_EQ(laid["w"].strides, dense_strides({4, 3, 1, 1}));
  EXPECT_EQ(laid["c"].strides, channels_last_strides({2, 4, 6, 5}));
  EXPECT_EQ(laid["r"].strides, channels_last_strides({2, 4, 6, 5}));
  EXPECT_EQ(laid["y"].strides, dense_strides({2, 4, 5, 4}));
  EXPECT_EQ(laid["r"].storage, laid.id("r"));
}

TEST(Layouts, PointwiseNeighboursFollowInBothDirections) {
  ModelBuilder model;  // the Relu before the convolution, and a branch that only meets it in an Add
  model.input("x", {1, 3, 6, 5}).input("z", {1, 4, 6, 5}).weights("w", {4, 3, 1, 1}).node("Relu", {"x"}, {"a"});
  model.node("Conv", {"a", "w"}, {"c"})
      .node("Exp", {"z"}, {"b"})
      .node("Add", {"c", "b"}, {"d"})
      .node("Abs", {"d"}, {"y"});
  const Laid laid(model.output("y"));
  for (const char* name : {"a", "b", "c", "d"})
    EXPECT_EQ(laid[name].strides, channels_last_strides(laid.shape(name))) << name;
}

TEST(Layouts, WithoutConvolutionsAllIsDense) {
  ModelBuilder model;
  model.input("x", {2, 3, 6, 5}).node("Relu", {"x"}, {"a"}).node("Softmax", {"a"}, {"b"}).node("Abs", {"b"}, {"y"});
  const Laid laid(model.output("y"));
  for (const char* name : {"a", "b", "y"}) EXPECT_EQ(laid[name].strides, dense_strides({2, 3, 6, 5})) << name;
}

TEST(Layouts, Convolution1dIsChannelsLastToo) {
  ModelBuilder model;
  model.input("x", {2, 3, 9})
      .weights("w", {4, 3, 3})
      .node("Conv", {"x", "w"}, {"c"})
      .node("Relu", {"c"}, {"y"})
      .output("y");
  const Laid laid(model);
  EXPECT_EQ(laid["c"].strides, channels_last_strides({2, 4, 7}));
}

TEST(Layouts, FlattenIsAViewOnlyWhereItKeepsTheOrder) {
  ModelBuilder pooled = conv();
  pooled.node("GlobalAveragePool", {"c"}, {"g"}).node("Flatten", {"g"}, {"f"}).node("Relu", {"f"}, {"y"}).output("y");
  const Laid view(pooled);
  EXPECT_EQ(view["f"].storage, view.id("g"));
  EXPECT_EQ(view["f"].strides, (Strides{4, 1}));
  const Laid copy(conv().node("Flatten", {"c"}, {"f"}).node("Relu", {"f"}, {"y"}).output("y"));  // height and width > 1
  EXPECT_EQ(copy["f"].storage, copy.id("f"));
  EXPECT_EQ(copy["f"].strides, dense_strides({2, 120}));
  EXPECT_EQ(make_groups(copy.graph, copy.layouts).size(), 3U);
  EXPECT_EQ(make_groups(view.graph, view.layouts).size(), 3U);  // Conv, pool, Relu: no kernel for Flatten
}

TEST(Layouts, TransposeSliceAndSplitAreViews) {
  ModelBuilder model;
  model.input("x", {4, 6, 5}).integers("starts", {1, -2}).integers("ends", {6, 99}).integers("axes", {1, 2});
  model.integers("steps", {2, 1}).integers("parts", {1, 3});
  model.node("Transpose", {"x"}, {"t"}, {{"perm", Ints{2, 0, 1}}}).node("Relu", {"t"}, {"y"}).output("y");
  model.node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"s"}).node("Relu", {"s"}, {"z"}).output("z");
  model.node("Split", {"x", "parts"}, {"p", "q"}, {{"axis", int64_t{0}}})
      .node("Relu", {"p"}, {"v"})
      .node("Relu", {"q"}, {"w"});
  const Laid laid(model.output("v").output("w"));
  EXPECT_EQ(laid["t"].storage, laid.id("x"));
  EXPECT_EQ(laid["t"].strides, (Strides{1, 30, 5}));
  EXPECT_EQ(laid["s"].storage, laid.id("x"));
  EXPECT_EQ(laid["s"].offset, 1 * 5 + 3);
  EXPECT_EQ(laid["s"].strides, (Strides{30, 10, 1}));
  EXPECT_EQ(laid["q"].storage, laid.id("x"));
  EXPECT_EQ(laid["q"].offset, 30);
}

TEST(Layouts, ViewsOfViewsKeepTheOwner) {
  ModelBuilder model;
  model.input("x", {4, 6, 5})
      .integers("starts", {2})
      .integers("ends", {6})
      .integers("axes", {1})
      .node("Relu", {"x"}, {"r"});
  model.node("Slice", {"r", "starts", "ends", "axes"}, {"a"}).node("Slice", {"a", "starts", "ends", "axes"}, {"b"});
  const Laid laid(model.node("Abs", {"b"}, {"y"}).output("y"));
  EXPECT_EQ(laid["b"].storage, laid.id("r"));
  EXPECT_EQ(laid["b"].offset, 4 * 5);
}

TEST(Layouts, BackwardSliceAndConcatAreCopies) {
  ModelBuilder model;
  model.input("x", {4, 6})
      .integers("starts", {-1})
      .integers("ends", {-99})
      .integers("axes", {1})
      .integers("steps", {-1});
  model.node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"s"})
      .node("Concat", {"s", "x"}, {"c"}, {{"axis", int64_t{0}}});
  const Laid laid(model.node("Relu", {"c"}, {"y"}).output("y"));
  EXPECT_EQ(laid["s"].storage, laid.id("s"));
  EXPECT_EQ(laid["c"].storage, laid.id("c"));
  EXPECT_EQ(make_groups(laid.graph, laid.layouts).size(), 3U);
}

TEST(Layouts, AnOutputThatWouldBeAViewIsACopy) {
  ModelBuilder model = conv();
  model.node("Transpose", {"c"}, {"y"}, {{"perm", Ints{0, 2, 3, 1}}}).output("y");
  const Laid laid(model);
  EXPECT_EQ(laid["y"].storage, laid.id("y"));
  EXPECT_EQ(laid["y"].strides, dense_strides({2, 6, 5, 4}));
  EXPECT_EQ(make_groups(laid.graph, laid.layouts).size(), 2U);
}

TEST(Layouts, AConvolutionReadsAReshapedVectorAsChannelsLast) {
  ModelBuilder model;  // squeeze-excite with fully connected layers: [1, C] becomes [1, C, 1, 1], a view either way
  model.input("v", {1, 8}).node("Relu", {"v"}, {"r"}).integers("axes", {2, 3}).node("Unsqueeze", {"r", "axes"}, {"u"});
  model.weights("w", {4, 8, 1, 1}).node("Conv", {"u", "w"}, {"c"}).node("Relu", {"c"}, {"y"}).output("y");
  const Laid laid(model);
  EXPECT_EQ(laid["u"].storage, laid.id("r"));
  EXPECT_EQ(laid["u"].strides, channels_last_strides({1, 8, 1, 1}));
}

// All extents are equal, so no shape betrays dimensions in the wrong order; the values do.
TEST(Layouts, EqualExtentsAreNotConfused) {
  ModelBuilder model;
  model.input("x", {4, 4, 4, 4}).weights("w", {4, 4, 1, 1}).node("Conv", {"x", "w"}, {"c"});
  model.node("Transpose", {"c"}, {"t"}, {{"perm", Ints{1, 3, 0, 2}}}).integers("shape", {16, 16});
  model.node("Reshape", {"t", "shape"}, {"r"}).node("Softmax", {"r"}, {"y"}).output("y");
  const Graph graph = model.import();
  Tensor input = Tensor::zeros(DType::f32, {4, 4, 4, 4});
  for (size_t i = 0; i < 256; ++i) input.as<float>()[i] = static_cast<float>(i * 37 % 101) / 50.0F;
  const std::vector<Tensor> expected = evaluate_unfused(graph, {input});

  std::vector<ValueLayout> dense(graph.values.size());  // the ground truth: nothing is a view, nothing channels-last
  for (size_t i = 0; i < dense.size(); ++i)
    dense[i] = {static_cast<int>(i), 0, dense_strides(graph.values[i].type.shape)};
  const std::vector<Tensor> plain = evaluate(graph, dense, make_groups(graph, dense, {.fuse = false}), {input});
  EXPECT_EQ(relative_error(expected[0], plain[0]), 0.0);
}

TEST(StridedView, ReshapeWithoutCopying) {
  EXPECT_EQ(reshaped_strides({2, 3, 4}, {12, 4, 1}, {6, 4}), (Strides{4, 1}));
  EXPECT_EQ(reshaped_strides({2, 3, 4}, {12, 4, 1}, {2, 1, 2, 6, 1})->at(3), 1);
  EXPECT_EQ(reshaped_strides({6, 4}, {8, 2}, {2, 3, 4}), (Strides{24, 8, 2}));  // every second column
  EXPECT_EQ(reshaped_strides({6, 4}, {8, 1}, {24}), std::nullopt);              // padded rows
  EXPECT_EQ(reshaped_strides({3, 4}, {1, 3}, {4, 3}), std::nullopt);            // transposed
  EXPECT_EQ(reshaped_strides({1, 1}, {7, 9}, {}), Strides{});
  EXPECT_EQ(reshaped_strides({0, 4}, {4, 1}, {4, 0}), std::nullopt);
}

TEST(StridedView, CanonicalStrides) {
  EXPECT_EQ(canonical_strides({1, 8, 1, 1}, {8, 1, 5, 3}, true), channels_last_strides({1, 8, 1, 1}));
  EXPECT_EQ(canonical_strides({1, 8, 1, 1}, {8, 1, 5, 3}, false), dense_strides({1, 8, 1, 1}));
  EXPECT_EQ(canonical_strides({2, 1, 3}, {30, 77, 10}, false), (Strides{30, 30, 10}));
}

}  // namespace
}  // namespace hone
