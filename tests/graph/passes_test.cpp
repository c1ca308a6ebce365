// SPDX-License-Identifier: MIT
// Each pass on what it is for and on what it must leave alone. Every rewritten graph is evaluated and compared with the
// imported one, so a pass that recognises the wrong thing fails even where the operators look right.
#include <gtest/gtest.h>

#include <algorithm>

#include "executor/error.h"
#include "tests/graph/evaluate.h"
#include "tests/graph/model_builder.h"

namespace hone {
namespace {

using Ints = std::vector<int64_t>;

std::vector<Tensor> random_inputs(const Graph& graph) {
  std::vector<Tensor> inputs;
  uint32_t state = 7;
  for (const int input : graph.inputs) {
    ReferenceTensor tensor{graph.values[input].type.dtype, graph.values[input].type.shape, {}};
    for (int64_t i = 0; i < element_count(tensor.shape); ++i) {
      state = state * 1664525 + 1013904223;
      tensor.values.push_back(static_cast<double>(state >> 8) / (1 << 24) * 10 - 5);
    }
    inputs.push_back(narrow(tensor));
  }
  return inputs;
}

/// The graph after all passes; fails the test if it computes something else than the model.
Graph after_passes(const ModelBuilder& model, const PassOptions& options = {}) {
  Graph graph = model.import();
  const std::vector<Tensor> inputs = random_inputs(graph);
  const std::vector<Tensor> expected = evaluate_unfused(graph, inputs);
  run_passes(graph, options);
  const auto layouts = assign_layouts(graph);
  const std::vector<Tensor> actual = evaluate(graph, layouts, make_groups(graph, layouts), inputs);
  EXPECT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_LT(relative_error(actual[i], expected[i]), 2e-6) << "output " << i;
  return graph;
}

ModelBuilder image(const Shape& shape = {1, 3, 8, 8}) {
  return std::move(ModelBuilder().input("x", shape));
}

// ---- run_passes

TEST(RunPasses, UnknownNameSuggestsTheNearest) {
  Graph graph;
  try {
    run_passes(graph, {.disabled = {"fold_pads"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'fold_pad'"), std::string::npos) << error.what();
  }
}

TEST(RunPasses, DisabledPassDoesNotRun) {
  ModelBuilder model = image();
  model.node("Identity", {"x"}, {"a"}).node("Relu", {"a"}, {"y"}).output("y");
  EXPECT_EQ(ops(after_passes(model)), "Relu");
  EXPECT_EQ(ops(after_passes(model, {.disabled = {"remove_identity"}})), "Identity Relu");
}

TEST(RunPasses, LogSaysWhatHappened) {
  Graph graph = image().node("Identity", {"x"}, {"a"}).node("Relu", {"a"}, {"y"}).output("y").import();
  const std::vector<PassLog> log = run_passes(graph);
  ASSERT_EQ(log.size(), passes().size());
  EXPECT_EQ(log[0].pass, "remove_identity");
  EXPECT_EQ(log[0].changes, std::vector<std::string>{"a"});
}

// ---- remove_identity

TEST(RemoveIdentity, DropsWhatReturnsItsInput) {
  ModelBuilder model = image();
  model.integers("pads", Ints(8, 0)).integers("same", {1, 3, 8, 8}).integers("starts", {0}).integers("ends", {99});
  model.node("Identity", {"x"}, {"a"}).node("Dropout", {"a"}, {"b"}).node("Pad", {"b", "pads"}, {"c"});
  model.node("Cast", {"c"}, {"d"}, {{"to", int64_t{1}}}).node("Reshape", {"d", "same"}, {"e"});
  model.node("Transpose", {"e"}, {"f"}, {{"perm", Ints{0, 1, 2, 3}}})
      .node("Concat", {"f"}, {"g"}, {{"axis", int64_t{1}}});
  model.node("Slice", {"g", "starts", "ends"}, {"h"}).node("Relu", {"h"}, {"y"}).output("y");
  const Graph graph = after_passes(model);
  EXPECT_EQ(ops(graph), "Relu");
  EXPECT_EQ(graph.nodes[0].origins.size(), 9U);  // all of them are still named
}

TEST(RemoveIdentity, LeavesWhatDoesSomething) {
  ModelBuilder model = image();
  model.node("Cast", {"x"}, {"a"}, {{"to", int64_t{11}}}).node("Cast", {"a"}, {"b"}, {{"to", int64_t{1}}});
  model.node("Transpose", {"b"}, {"c"}, {{"perm", Ints{0, 1, 3, 2}}});  // equal extents: the shape does not show it
  model.integers("starts", {-1}).integers("ends", {-99}).integers("axes", {3}).integers("steps", {-1});
  model.node("Slice", {"c", "starts", "ends", "axes", "steps"}, {"y"}).output("y");
  EXPECT_EQ(ops(after_passes(model)), "Cast Cast Transpose Slice");
}

TEST(RemoveIdentity, JoinsTransposesAndReshapes) {
  ModelBuilder model = image({2, 3, 4});
  model.node("Transpose", {"x"}, {"a"}, {{"perm", Ints{2, 0, 1}}})
      .node("Transpose", {"a"}, {"b"}, {{"perm", Ints{1, 2, 0}}});
  model.node("Relu", {"b"}, {"c"}).node("Flatten", {"c"}, {"d"}).integers("shape", {4, 6});
  model.node("Reshape", {"d", "shape"}, {"e"}).node("Exp", {"e"}, {"y"}).output("y");
  const Graph graph = after_passes(model);
  EXPECT_EQ(ops(graph), "Relu Reshape Exp");
  EXPECT_EQ(graph.nodes[1].origins, (std::vector<std::string>{"d", "e"}));
}

TEST(RemoveIdentity, OutputNamesLiveOn) {
  ModelBuilder model = image();
  model.node("Relu", {"x"}, {"a"})
      .node("Identity", {"a"}, {"y"})
      .node("Identity", {"a"}, {"z"})
      .node("Identity", {"x"}, {"w"});
  const Graph graph = after_passes(model.output("y").output("z").output("w").output("a"));
  ASSERT_EQ(graph.outputs.size(), 4U);
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "y");
  EXPECT_EQ(graph.values[graph.outputs[1]].name, "z");
  EXPECT_EQ(graph.values[graph.outputs[2]].name, "w");
  EXPECT_EQ(graph.values[graph.outputs[3]].name, "a");
  EXPECT_EQ(count(graph, "Identity"), 3);  // each is a copy between two named tensors
  ModelBuilder single = image();
  single.node("Relu", {"x"}, {"a"}).node("Identity", {"a"}, {"y"}).node("Exp", {"a"}, {"b"}).output("y").output("b");
  EXPECT_EQ(ops(after_passes(single)), "Relu Exp");
}

TEST(RemoveIdentity, ConstantOutput) {
  ModelBuilder model = image();
  model.weights("w", {2}).node("Relu", {"x"}, {"y"}).node("Identity", {"w"}, {"k"}).output("y").output("k");
  const Graph graph = after_passes(model);
  EXPECT_EQ(graph.values[graph.outputs[1]].name, "k");
  EXPECT_TRUE(graph.values[graph.outputs[1]].constant.has_value());
}

// ---- fold_pad

ModelBuilder padded(const std::string& op, const Ints& pads, const Attributes& attributes, float value = 0) {
  ModelBuilder model = image();
  model.integers("pads", pads).scalar("value", value).node("Pad", {"x", "pads", "value"}, {"p"});
  if (op == "Conv") {
    model.weights("w", {4, 3, 3, 3}).node("Conv", {"p", "w"}, {"y"}, attributes);
  } else {
    model.node(op, {"p"}, {"y"}, attributes);
  }
  return std::move(model.output("y"));
}

TEST(FoldPad, IntoConvWithItsOwnPads) {
  const Graph graph = after_passes(padded("Conv", {0, 0, 0, 1, 0, 0, 1, 2}, {{"pads", Ints{1, 0, 0, 0}}}));
  EXPECT_EQ(ops(graph), "Conv");
  EXPECT_EQ(ints_attribute(graph.nodes[0].attributes, "pads"), (Ints{1, 1, 1, 2}));
  EXPECT_EQ(graph.nodes[0].origins, (std::vector<std::string>{"p", "y"}));
}

TEST(FoldPad, IntoAveragePoolCountsThePadding) {
  const Graph graph = after_passes(padded("AveragePool", {0, 0, 1, 1, 0, 0, 1, 1}, {{"kernel_shape", Ints{3, 3}}}));
  EXPECT_EQ(ops(graph), "AveragePool");
}

TEST(FoldPad, LeavesWhatItWouldChange) {
  const Ints pads = {0, 0, 1, 1, 0, 0, 1, 1};
  const Attributes pool = {{"kernel_shape", Ints{3, 3}}};
  const Attributes own = {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}};
  const Attributes ceil = {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"ceil_mode", int64_t{1}}};
  EXPECT_EQ(ops(after_passes(padded("MaxPool", pads, pool))), "Pad MaxPool");
  EXPECT_EQ(ops(after_passes(padded("AveragePool", pads, own))), "Pad AveragePool");
  EXPECT_EQ(ops(after_passes(padded("AveragePool", pads, ceil))), "Pad AveragePool");
  EXPECT_EQ(ops(after_passes(padded("AveragePool", {0, 0, 4, 4, 0, 0, 4, 4}, pool))), "Pad AveragePool");
  EXPECT_EQ(ops(after_passes(padded("Conv", pads, {}, 1.0F))), "Pad Conv");
  EXPECT_EQ(ops(after_passes(padded("Conv", {0, 0, -1, 0, 0, 0, 0, 0}, {}))), "Pad Conv");
}

TEST(FoldPad, LeavesPaddedChannelsAndOtherModes) {
  ModelBuilder channels = image({1, 2, 8, 8});
  channels.integers("pads", {0, 1, 0, 0, 0, 0, 0, 0}).node("Pad", {"x", "pads"}, {"p"}).weights("w", {4, 3, 3, 3});
  EXPECT_EQ(ops(after_passes(channels.node("Conv", {"p", "w"}, {"y"}).output("y"))), "Pad Conv");
  ModelBuilder reflect = image();
  reflect.integers("pads", {0, 0, 1, 1, 0, 0, 1, 1})
      .node("Pad", {"x", "pads"}, {"p"}, {{"mode", std::string("reflect")}});
  EXPECT_EQ(ops(after_passes(reflect.weights("w", {4, 3, 3, 3}).node("Conv", {"p", "w"}, {"y"}).output("y"))),
            "Pad Conv");
}

TEST(FoldPad, LeavesAValueWithAnotherReaderOrName) {
  ModelBuilder reader = padded("Conv", {0, 0, 1, 1, 0, 0, 1, 1}, {});
  EXPECT_EQ(ops(after_passes(reader.node("Relu", {"p"}, {"z"}).output("z"))), "Pad Conv Relu");
  ModelBuilder output = padded("Conv", {0, 0, 1, 1, 0, 0, 1, 1}, {});
  EXPECT_EQ(ops(after_passes(output.output("p"))), "Pad Conv");
}

// ---- fold_batch_norm

ModelBuilder& batch_norm(ModelBuilder& model, const std::string& input, int64_t channels) {
  std::vector<float> variance;
  for (int64_t c = 0; c < channels; ++c) variance.push_back(0.5F + static_cast<float>(c));
  model.weights("gamma", {channels}).weights("beta", {channels}).weights("mean", {channels});
  model.weights("variance", {channels}, variance);
  return model.node("BatchNormalization", {input, "gamma", "beta", "mean", "variance"}, {"y"}, {{"epsilon", 1e-3}});
}

TEST(FoldBatchNorm, IntoConvWithAndWithoutBias) {
  for (const bool bias : {false, true}) {
    ModelBuilder model = image();
    model.weights("w", {4, 3, 3, 3}).weights("b", {4});
    model.node("Conv", bias ? std::vector<std::string>{"x", "w", "b"} : std::vector<std::string>{"x", "w"}, {"c"});
    const Graph graph = after_passes(batch_norm(model, "c", 4).output("y"));
    EXPECT_EQ(ops(graph), "Conv");
    EXPECT_EQ(graph.nodes[0].inputs.size(), 3U);
    EXPECT_EQ(graph.nodes[0].origins, (std::vector<std::string>{"c", "y"}));
  }
}

TEST(FoldBatchNorm, IntoGroupedConv) {
  ModelBuilder model = image({1, 4, 8, 8});
  model.weights("w", {8, 2, 3, 3}).node("Conv", {"x", "w"}, {"c"}, {{"group", int64_t{2}}});
  EXPECT_EQ(ops(after_passes(batch_norm(model, "c", 8).output("y"))), "Conv");
}

TEST(FoldBatchNorm, IntoGemmEitherWay) {
  for (const int64_t transposed : {0, 1}) {
    ModelBuilder model = image({2, 3});
    model.weights("w", transposed != 0 ? Shape{4, 3} : Shape{3, 4}).weights("c", {4});
    model.node("Gemm", {"x", "w", "c"}, {"g"}, {{"transB", transposed}, {"alpha", 0.5}, {"beta", 2.0}});
    EXPECT_EQ(ops(after_passes(batch_norm(model, "g", 4).output("y"))), "Gemm");
  }
}

TEST(FoldBatchNorm, LeavesAGemmWithABiasMatrix) {
  ModelBuilder model = image({2, 3});
  model.weights("w", {3, 4}).weights("c", {2, 4}).node("Gemm", {"x", "w", "c"}, {"g"});
  EXPECT_EQ(ops(after_passes(batch_norm(model, "g", 4).output("y"))), "Gemm Mul Add");
}

TEST(FoldBatchNorm, IntoMatMulLeavesAnAdd) {
  ModelBuilder model = image({2, 3});
  model.weights("w", {3, 4}).node("MatMul", {"x", "w"}, {"m"});
  EXPECT_EQ(ops(after_passes(batch_norm(model, "m", 4).output("y"))), "MatMul Add");
}

TEST(FoldBatchNorm, AloneItIsMulAndAdd) {
  ModelBuilder model = image();
  const Graph graph = after_passes(batch_norm(model, "x", 3).output("y"));
  EXPECT_EQ(ops(graph), "Mul Add");
  EXPECT_EQ(graph.nodes[1].origins, std::vector<std::string>{"y"});
}

TEST(FoldBatchNorm, LeavesAConvWithAnotherReaderOrName) {
  ModelBuilder reader = image();
  reader.weights("w", {4, 3, 3, 3}).node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"z"}).output("z");
  EXPECT_EQ(ops(after_passes(batch_norm(reader, "c", 4).output("y"))), "Conv Relu Mul Add");
  ModelBuilder output = image();
  output.weights("w", {4, 3, 3, 3}).node("Conv", {"x", "w"}, {"c"}).output("c");
  EXPECT_EQ(ops(after_passes(batch_norm(output, "c", 4).output("y"))), "Conv Mul Add");
}

TEST(FoldBatchNorm, SharedWeightsStayForTheirOtherReader) {
  ModelBuilder model = image();
  model.weights("w", {4, 3, 3, 3}).node("Conv", {"x", "w"}, {"c"}).node("Conv", {"x", "w"}, {"d"}).output("d");
  EXPECT_EQ(ops(after_passes(batch_norm(model, "c", 4).output("y"))), "Conv Conv");
}

TEST(FoldBatchNorm, LeavesStatisticsAndWeightsThatAreInputs) {
  ModelBuilder model = image();
  model.input("mean", {3}).weights("gamma", {3}).weights("beta", {3}).weights("variance", {3}, {1, 2, 3});
  model.node("BatchNormalization", {"x", "gamma", "beta", "mean", "variance"}, {"y"}).output("y");
  EXPECT_EQ(ops(after_passes(model)), "BatchNormalization");
  ModelBuilder weights = image();
  weights.input("w", {4, 3, 3, 3}).node("Conv", {"x", "w"}, {"c"});
  EXPECT_EQ(ops(after_passes(batch_norm(weights, "c", 4).output("y"))), "Conv Mul Add");
}

// ---- fold_scale_shift

ModelBuilder conv_then(const std::string& op, const Shape& shape, bool constant_first = false) {
  ModelBuilder model = image();
  model.weights("w", {4, 3, 3, 3}).node("Conv", {"x", "w"}, {"c"}).weights("k", shape);
  model.node(op, constant_first ? std::vector<std::string>{"k", "c"} : std::vector<std::string>{"c", "k"}, {"y"});
  return std::move(model.output("y"));
}

TEST(FoldScaleShift, PerChannelAndScalar) {
  for (const char* op : {"Add", "Sub", "Mul", "Div"}) {
    for (const Shape& shape : {Shape{1, 4, 1, 1}, Shape{4, 1, 1}, Shape{}, Shape{1}}) {
      EXPECT_EQ(ops(after_passes(conv_then(op, shape))), "Conv") << op;
    }
  }
  EXPECT_EQ(ops(after_passes(conv_then("Sub", {1, 4, 1, 1}, true))), "Conv");
}

TEST(FoldScaleShift, LeavesWhatVariesWithinAChannel) {
  EXPECT_EQ(ops(after_passes(conv_then("Add", {6}))), "Conv Add");           // along the width
  EXPECT_EQ(ops(after_passes(conv_then("Mul", {4, 6, 6}))), "Conv Mul");     // everywhere
  EXPECT_EQ(ops(after_passes(conv_then("Add", {2, 1, 1, 1}))), "Conv Add");  // broadcasts the result up
  EXPECT_EQ(ops(after_passes(conv_then("Div", {1, 4, 1, 1}, true))), "Conv Div");
}

TEST(FoldScaleShift, EqualExtentsDoNotHideTheWidth) {
  ModelBuilder model = image({1, 3, 6, 6});  // 4 channels, width 4: [4] is the width, not the channels
  model.weights("w", {4, 3, 3, 3}).node("Conv", {"x", "w"}, {"c"}).weights("k", {4});
  EXPECT_EQ(ops(after_passes(model.node("Add", {"c", "k"}, {"y"}).output("y"))), "Conv Add");
}

TEST(FoldScaleShift, LeavesValuesWithAnotherReader) {
  EXPECT_EQ(ops(after_passes(conv_then("Add", {}).output("c"))), "Conv Add");
  EXPECT_EQ(ops(after_passes(conv_then("Add", {}).node("Relu", {"c"}, {"z"}).output("z"))), "Conv Add Relu");
}

// ---- simplify_algebra

TEST(SimplifyAlgebra, DropsNeutralElements) {
  ModelBuilder model = image();
  model.scalar("one", 1).scalar("zero", 0).node("Mul", {"x", "one"}, {"a"}).node("Add", {"zero", "a"}, {"b"});
  model.node("Sub", {"b", "zero"}, {"c"}).node("Div", {"c", "one"}, {"d"}).node("Relu", {"d"}, {"y"}).output("y");
  EXPECT_EQ(ops(after_passes(model)), "Relu");
}

TEST(SimplifyAlgebra, LeavesWhatIsNotNeutral) {
  ModelBuilder model = image();
  model.scalar("one", 1).scalar("zero", 0).node("Div", {"one", "x"}, {"a"}).node("Sub", {"zero", "a"}, {"b"});
  model.weights("up", {2, 1, 1, 1}, {1, 1})
      .node("Mul", {"b", "up"}, {"c"})
      .node("Mul", {"c", "zero"}, {"y"})
      .output("y");
  EXPECT_EQ(ops(after_passes(model)), "Div Sub Mul Mul");
}

// ---- hard activations

ModelBuilder& constants(ModelBuilder& model) {
  return model.scalar("three", 3).scalar("zero", 0).scalar("six", 6).scalar("sixth", 1.0F / 6.0F);
}

TEST(FuseHardSigmoid, FromClip) {
  for (const bool divide : {true, false}) {
    ModelBuilder model = image();
    constants(model).node("Add", {"three", "x"}, {"a"}).node("Clip", {"a", "zero", "six"}, {"b"});
    model.node(divide ? "Div" : "Mul", {"b", divide ? "six" : "sixth"}, {"y"}).output("y");
    const Graph graph = after_passes(model);
    EXPECT_EQ(ops(graph), "HardSigmoid");
    EXPECT_EQ(graph.nodes[0].origins, (std::vector<std::string>{"a", "b", "y"}));
  }
}

TEST(FuseHardSigmoid, BehindAConvTheShiftIsNoBias) {
  ModelBuilder model = image();
  constants(model).weights("w", {4, 3, 1, 1}).node("Conv", {"x", "w"}, {"c"}).node("Add", {"c", "three"}, {"a"});
  model.node("Clip", {"a", "zero", "six"}, {"b"}).node("Div", {"b", "six"}, {"y"}).output("y");
  EXPECT_EQ(ops(after_passes(model)), "Conv HardSigmoid");
}

TEST(FuseHardSigmoid, LeavesOtherNumbersAndReaders) {
  ModelBuilder numbers = image();
  constants(numbers).node("Add", {"x", "three"}, {"a"}).node("Clip", {"a", "zero", "three"}, {"b"});
  EXPECT_EQ(ops(after_passes(numbers.node("Div", {"b", "six"}, {"y"}).output("y"))), "Add Clip Div");
  ModelBuilder reader = image();
  constants(reader).node("Add", {"x", "three"}, {"a"}).node("Clip", {"a", "zero", "six"}, {"b"});
  reader.node("Div", {"b", "six"}, {"y"}).output("y").output("b");
  EXPECT_EQ(ops(after_passes(reader)), "Add Clip Div");
}

TEST(FuseHardSwish, FromAllSpellings) {
  for (const std::string spelling : {"mul-div", "mul-mul", "div-mul", "sixth-first", "hardsigmoid"}) {
    ModelBuilder model = image();
    constants(model).node("Relu", {"x"}, {"r"}).node("Sub", {"x", "r"}, {"s"});  // an x with a maker
    if (spelling == "hardsigmoid") {
      model.node("HardSigmoid", {"s"}, {"b"}, {{"alpha", 1.0 / 6.0}, {"beta", 0.5}}).node("Mul", {"b", "s"}, {"y"});
    } else {
      model.node("Add", {"s", "three"}, {"a"}).node("Clip", {"a", "zero", "six"}, {"b"});
    }
    if (spelling == "mul-div") model.node("Mul", {"s", "b"}, {"c"}).node("Div", {"c", "six"}, {"y"});
    if (spelling == "mul-mul") model.node("Mul", {"b", "s"}, {"c"}).node("Mul", {"sixth", "c"}, {"y"});
    if (spelling == "div-mul") model.node("Div", {"b", "six"}, {"c"}).node("Mul", {"s", "c"}, {"y"});
    if (spelling == "sixth-first") model.node("Div", {"s", "six"}, {"c"}).node("Mul", {"c", "b"}, {"y"});
    const Graph graph = after_passes(model.output("y"));
    EXPECT_EQ(ops(graph), "Relu Sub HardSwish") << spelling;
    EXPECT_GE(graph.nodes[2].origins.size(), 2U);
  }
}

TEST(FuseHardSwish, LeavesTwoDifferentValues) {
  ModelBuilder model = image();
  constants(model)
      .input("z", {1, 3, 8, 8})
      .node("Add", {"x", "three"}, {"a"})
      .node("Clip", {"a", "zero", "six"}, {"b"});
  EXPECT_EQ(ops(after_passes(model.node("Mul", {"z", "b"}, {"c"}).node("Div", {"c", "six"}, {"y"}).output("y"))),
            "Add Clip Mul Div");
}

TEST(FuseHardSwish, LeavesAnInteriorOutput) {
  ModelBuilder model = image();
  constants(model).node("Add", {"x", "three"}, {"a"}).node("Clip", {"a", "zero", "six"}, {"b"});
  model.node("Mul", {"x", "b"}, {"c"}).node("Div", {"c", "six"}, {"y"}).output("y").output("c");
  EXPECT_EQ(ops(after_passes(model)), "Add Clip Mul Div");
}

TEST(FuseHardSwish, LeavesABroadcastSigmoid) {
  ModelBuilder model;  // squeeze-excite's gate has the same operators, but x is broadcast
  model.input("x", {1, 3, 8, 8})
      .input("gate", {1, 3, 1, 1})
      .node("HardSigmoid", {"gate"}, {"s"}, {{"alpha", 1.0 / 6.0}});
  EXPECT_EQ(ops(after_passes(model.node("Mul", {"x", "s"}, {"y"}).output("y"))), "HardSigmoid Mul");
}

// ---- fold_constants, common_subexpressions, dead_nodes

TEST(FoldConstants, FoldsWhatAPassMadeConstant) {
  Graph graph = image().weights("w", {3, 1, 1}).node("Add", {"x", "w"}, {"y"}).output("y").import();
  const int constant = value_index(graph, "w");
  graph.values.push_back({"e", graph.values[constant].type, std::nullopt});
  const int made = static_cast<int>(graph.values.size()) - 1;
  graph.nodes.insert(graph.nodes.begin(), {"e", "Exp", {}, {constant}, {made}, {"e"}});
  graph.nodes[1].inputs[1] = made;
  run_passes(graph);
  EXPECT_EQ(ops(graph), "Add");
  EXPECT_TRUE(graph.values[made].constant.has_value());
}

TEST(CommonSubexpressions, SharesNodesAndConstants) {
  ModelBuilder model = image();
  model.weights("k", {3, 1, 1}, {1, 2, 3}).weights("l", {3, 1, 1}, {1, 2, 3});
  model.node("Add", {"x", "k"}, {"a"})
      .node("Add", {"x", "l"}, {"b"})
      .node("Exp", {"a"}, {"c"})
      .node("Exp", {"b"}, {"d"});
  const Graph graph = after_passes(model.node("Mul", {"c", "d"}, {"y"}).output("y"));
  EXPECT_EQ(ops(graph), "Add Exp Mul");
  EXPECT_EQ(graph.nodes[1].origins, (std::vector<std::string>{"c", "d"}));
}

TEST(CommonSubexpressions, LeavesDifferentAttributesConstantsAndNamedOutputs) {
  ModelBuilder model = image();
  model.node("Elu", {"x"}, {"a"}, {{"alpha", 1.0}}).node("Elu", {"x"}, {"b"}, {{"alpha", 2.0}});
  model.weights("k", {3, 1, 1}, {1, 2, 3}).weights("l", {3, 1, 1}, {1, 2, 4}).weights("m", {1, 3, 1}, {1, 2, 3});
  model.node("Add", {"a", "k"}, {"c"}).node("Add", {"a", "l"}, {"d"}).node("Sum", {"b", "c", "d"}, {"e"}).output("e");
  EXPECT_EQ(ops(after_passes(model)), "Elu Elu Add Add Sum");
  ModelBuilder outputs = image();
  outputs.node("Exp", {"x"}, {"y"}).node("Exp", {"x"}, {"z"}).output("y").output("z");
  EXPECT_EQ(ops(after_passes(outputs)), "Exp Exp");
}

TEST(DeadNodes, DropsNodesAndFreesConstants) {
  Graph graph = image().weights("w", {3, 1, 1}).node("Add", {"x", "w"}, {"y"}).output("y").import();
  const int weights = value_index(graph, "w");
  graph.outputs[0] = graph.inputs[0];
  run_passes(graph);
  EXPECT_TRUE(graph.nodes.empty());
  EXPECT_FALSE(graph.values[weights].constant.has_value());
}

}  // namespace
}  // namespace hone
