// SPDX-License-Identifier: MIT
// The text and identity of workloads (golden: they key databases and bundles), and the hostile reader.
#include "generators/workload.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "executor/error.h"
#include "generators/operators.h"
#include "operator_cases.h"

namespace hone {
namespace {

Workload conv_relu() {
  Workload workload = one_node("Conv", {{"pads", std::vector<int64_t>{1, 1, 1, 1}}},
                               {{DType::f32, {1, 64, 56, 56}}, {DType::f32, {64, 64, 3, 3}}, {DType::f32, {64}}});
  workload.arguments[0].strides = channels_last_strides({1, 64, 56, 56});
  workload.nodes.push_back({"Relu", {}, {3}, {workload.nodes[0].outputs[0]}});
  workload.outputs = {{4, channels_last_strides({1, 64, 56, 56})}};
  return workload;
}

constexpr const char* kConvRelu =
    R"({"accumulator":"f32","arguments":[)"
    R"({"constant":false,"dtype":"f32","shape":[1,64,56,56],"strides":[200704,1,3584,64]},)"
    R"({"constant":true,"dtype":"f32","shape":[64,64,3,3],"strides":[576,9,3,1]},)"
    R"({"constant":true,"dtype":"f32","shape":[64],"strides":[1]}],"format":1,"nodes":[)"
    R"({"attributes":{"auto_pad":{"string":"NOTSET"},"dilations":{"ints":[1,1]},"group":{"int":1},)"
    R"("kernel_shape":{"ints":[3,3]},"pads":{"ints":[1,1,1,1]},"strides":{"ints":[1,1]}},)"
    R"("inputs":[0,1,2],"op":"Conv","outputs":[{"dtype":"f32","shape":[1,64,56,56]}]},)"
    R"({"attributes":{},"inputs":[3],"op":"Relu","outputs":[{"dtype":"f32","shape":[1,64,56,56]}]}],)"
    R"("outputs":[{"strides":[200704,1,3584,64],"value":4}]})";

TEST(Workload, CanonicalTextAndIdAreFixed) {
  EXPECT_EQ(conv_relu().canonical_json(), kConvRelu);
  // Computed by sha256sum from the text above.
  EXPECT_EQ(conv_relu().id(), "0bc4d42e5e30550b3a0cada99c0fe9ff17de52292c81c8c17f48a7d532bd0478");
}

TEST(Workload, EveryOperatorsTextIsReadBack) {
  for (const OperatorCase& one : operator_cases()) {
    const std::string text = one.workload.canonical_json();
    const Workload read = Workload::parse(text);
    EXPECT_EQ(read, one.workload) << one.name;
    EXPECT_EQ(read.canonical_json(), text) << one.name;
  }
}

TEST(Workload, FloatsKeepEveryBit) {
  for (const double value : {0.0, -0.0, 0.1, -1.5, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308,
                             std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    const Workload workload = one_node("Clip", {{"min", value}}, {{DType::f32, {3}}});
    const Workload read = Workload::parse(workload.canonical_json());
    const double back = float_attribute(read.nodes[0].attributes, "min");
    EXPECT_EQ(back, value);
    EXPECT_EQ(std::signbit(back), std::signbit(value));
  }
  const Workload nan = one_node("Clip", {{"min", std::nan("")}}, {{DType::f32, {3}}});
  EXPECT_NE(nan.canonical_json().find(R"("min":{"float":"nan"})"), std::string::npos);
  EXPECT_TRUE(std::isnan(float_attribute(Workload::parse(nan.canonical_json()).nodes[0].attributes, "min")));
  EXPECT_NE(one_node("Clip", {{"max", 1.5}}, {{DType::f32, {3}}}).canonical_json().find(R"("0x1.8p+0")"),
            std::string::npos);
}

TEST(Workload, AnyDifferenceIsAnotherId) {
  const std::string id = conv_relu().id();
  Workload other = conv_relu();
  other.arguments[0].strides = dense_strides({1, 64, 56, 56});
  EXPECT_NE(other.id(), id);
  other = conv_relu();
  other.arguments[2].constant = false;
  EXPECT_NE(other.id(), id);
  other = conv_relu();
  other.accumulator = DType::f64;
  EXPECT_NE(other.id(), id);
}

TEST(Workload, SummaryIsForPeople) {
  EXPECT_EQ(conv_relu().summary(), "Conv 3x3 s1 64->64 @56x56 + Relu [f32]");
  const Workload depthwise = one_node("Conv", {{"group", int64_t{5}}, {"strides", std::vector<int64_t>{2, 1}}},
                                      {{DType::f32, {1, 5, 9, 7}}, {DType::f32, {5, 1, 3, 3}}});
  EXPECT_EQ(depthwise.summary(), "Conv 3x3 s2x1 g5 5->5 @9x7 [f32]");
  EXPECT_EQ(one_node("MatMul", {}, {{DType::f32, {7, 5}}, {DType::f32, {5, 9}}}).summary(),
            "MatMul 7x5,5x9->7x9 [f32]");
  EXPECT_EQ(one_node("Softmax", {}, {{DType::f32, {3, 4}}}).summary(), "Softmax 3x4 [f32]");
}

TEST(Workload, ValuesAreArgumentsThenNodeOutputs) {
  const Workload workload = conv_relu();
  EXPECT_EQ(workload.value_count(), 5);
  EXPECT_EQ(workload.input_count(), 1);
  EXPECT_EQ(workload.constant_count(), 2);
  EXPECT_EQ(workload.producer(0), -1);
  EXPECT_EQ(workload.producer(3), 0);
  EXPECT_EQ(workload.producer(4), 1);
  EXPECT_EQ(workload.type(1).shape, (Shape{64, 64, 3, 3}));
}

TEST(Workload, CountsWorkAndBytes) {
  const Workload workload = conv_relu();
  EXPECT_EQ(flops(workload), 2.0 * 64 * 56 * 56 * 64 * 9 + 64 * 56 * 56);
  EXPECT_EQ(compulsory_bytes(workload), 4.0 * (2 * 64 * 56 * 56 + 64 * 64 * 9 + 64));
}

struct Hostile {
  const char* from;
  const char* to;
  const char* message;  // part of it
};

/// Each replaces one piece of a good text.
constexpr Hostile kHostile[] = {
    {"\"format\":1", "\"format\":2", "format"},
    {"\"format\":1", "\"format\":1.0", "format"},
    {"\"inputs\":[3]", "\"inputs\":[4]", "input"},      // its own output: a cycle
    {"\"inputs\":[3]", "\"inputs\":[9]", "input"},      // no such value
    {"\"inputs\":[3]", "\"inputs\":[-1]", "required"},  // absent
    {"\"inputs\":[3]", "\"inputs\":[3,3]", "number of inputs"},
    {"\"inputs\":[0,1,2]", "\"inputs\":[0,2,1]", "Conv"},
    {"\"op\":\"Relu\"", "\"op\":\"Rleu\"", "Rleu"},
    {"\"op\":\"Relu\"", "\"op\":7", "string"},
    {"\"value\":4", "\"value\":5", "output"},
    {"\"value\":4", "\"value\":-1", "output"},
    {"\"value\":4", "\"value\":99999999999999999999", "output"},
    {"\"constant\":true,\"dtype\":\"f32\",\"shape\":[64,", "\"constant\":1,\"dtype\":\"f32\",\"shape\":[64,",
     "constant"},
    {"\"constant\":true,\"dtype\":\"f32\",\"shape\":[64]", "\"constant\":false,\"dtype\":\"f32\",\"shape\":[64]",
     "before"},
    {"\"shape\":[64],", "\"shape\":[-64],", "shape"},
    {"\"shape\":[64],", "\"shape\":[99999999999],", "2^31-1"},
    {"\"shape\":[64],", "\"shape\":[63],", "bias"},
    {"\"strides\":[1]", "\"strides\":[1,1]", "rank"},
    {"\"strides\":[1]", "\"strides\":[-1]", "strides"},
    {"\"strides\":[1]", "\"strides\":[1099511627776]", "reach"},
    {"\"strides\":[200704,1,3584,64],\"value\"", "\"strides\":[200704,1,64,64],\"value\"", "overlap"},
    {"\"strides\":[200704,1,3584,64],\"value\"", "\"strides\":[200704,0,3584,64],\"value\"", "overlap"},
    {"\"group\":{\"int\":1}", "\"group\":{\"int\":0}", "group"},
    {"\"group\":{\"int\":1}", "\"group\":{\"int\":9223372036854775807}", "attribute"},
    {"\"group\":{\"int\":1}", "\"group\":{\"float\":\"0x1p+0\"}", "group"},
    {"\"group\":{\"int\":1}", "\"grope\":{\"int\":1}", "group"},
    {"\"strides\":{\"ints\":[1,1]}", "\"strides\":{\"ints\":[0,1]}", "strides"},
    {"\"strides\":{\"ints\":[1,1]}", "\"strides\":{\"ints\":[1]}", "strides"},
    {"\"pads\":{\"ints\":[1,1,1,1]}", "\"pads\":{\"ints\":[1,1,1,2]}", "do not follow"},
    {"\"attributes\":{}", "\"attributes\":{\"x\":{\"int\":1}}", "attributes"},
    {"\"accumulator\":\"f32\"", "\"accumulator\":\"f33\"", "f33"},
    {"\"accumulator\"", "\"accumulators\"", "accumulator"},
    {"{\"accumulator\"", "{\"x\":1,\"accumulator\"", "members"},
};

TEST(Workload, HostileTextIsRefused) {
  for (const Hostile& hostile : kHostile) {
    std::string text = kConvRelu;
    const size_t at = text.find(hostile.from);
    ASSERT_NE(at, std::string::npos) << hostile.from;
    text.replace(at, std::string(hostile.from).size(), hostile.to);
    try {
      Workload::parse(text);
      ADD_FAILURE() << "accepted " << hostile.to;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(hostile.message), std::string::npos)
          << hostile.to << " gave: " << error.what();
    }
  }
}

/// A slice is the one copy whose attributes are addresses.
TEST(Workload, HostileSlicesAreRefused) {
  const Workload good = one_node(
      "Slice",
      {{"starts", std::vector<int64_t>{1}}, {"ends", std::vector<int64_t>{6}}, {"steps", std::vector<int64_t>{2}}},
      {{DType::f32, {7}}});
  const std::vector<std::pair<std::string, int64_t>> changes = {
      {"starts", -1}, {"starts", 7}, {"ends", 9}, {"steps", 0}, {"steps", -2}, {"axes", 1}, {"axes", -1}};
  for (const auto& [name, value] : changes) {
    Workload bad = good;
    bad.nodes[0].attributes[name] = std::vector<int64_t>{value};
    EXPECT_THROW(Workload::parse(bad.canonical_json()), Error) << name << " " << value;
  }
}

TEST(Workload, BrokenTextIsRefused) {
  const std::string text = kConvRelu;
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_THROW(Workload::parse(std::string_view(text).substr(0, length)), Error) << length;
  }
  EXPECT_THROW(Workload::parse(std::string(100000, '[')), Error);
  EXPECT_THROW(Workload::parse("[]"), Error);
  EXPECT_THROW(Workload::parse("\"\xff\""), Error);
}

TEST(Strides, DescribeMemory) {
  EXPECT_EQ(dense_strides({2, 3, 4}), (Strides{12, 4, 1}));
  EXPECT_EQ(dense_strides({}), Strides{});
  EXPECT_EQ(channels_last_strides({2, 3, 4, 5}), (Strides{60, 1, 15, 3}));
  EXPECT_EQ(channels_last_strides({2, 3, 4}), (Strides{12, 1, 3}));
  EXPECT_EQ(channels_last_strides({3, 4}), (Strides{4, 1}));
  EXPECT_EQ(physical_elements({2, 3}, {10, 2}), 15);
  EXPECT_EQ(physical_elements({2, 0}, {10, 2}), 0);
  EXPECT_EQ(physical_elements({}, {}), 1);
  EXPECT_TRUE(is_dense({2, 1, 3}, {3, 77, 1}));
  EXPECT_FALSE(is_dense({2, 3}, {4, 1}));
  EXPECT_EQ(element_count({1ll << 40, 1ll << 40}), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(element_count({1ll << 40, 1ll << 40, 0}), 0);
}

}  // namespace
}  // namespace hone
