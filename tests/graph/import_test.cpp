// SPDX-License-Identifier: MIT
// What the importer reads, and what it says about models that it cannot.
#include <gtest/gtest.h>

#include <fstream>

#include "executor/error.h"
#include "tests/graph/model_builder.h"

namespace hone {
namespace {

void expect_error(const std::string& error, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(error.find(part), std::string::npos) << part << " is not in: " << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

std::string file_error(const std::filesystem::path& file) {
  try {
    import_onnx(file);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

ModelBuilder conv_relu() {
  ModelBuilder model;
  model.input("x", {1, 3, 8, 8}).weights("w", {4, 3, 3, 3}).node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"y"});
  return std::move(model.output("y"));
}

TEST(Import, ReadsNodesWithTypesAndDefaults) {
  const Graph graph = conv_relu().import();
  EXPECT_EQ(ops(graph), "Conv Relu");
  EXPECT_EQ(graph.name, "Import.ReadsNodesWithTypesAndDefaults");
  EXPECT_EQ(graph.values[graph.outputs[0]].type, (TensorType{DType::f32, {1, 4, 6, 6}}));
  EXPECT_EQ(ints_attribute(graph.nodes[0].attributes, "strides"), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(graph.nodes[0].origins, std::vector<std::string>{"c"});
  EXPECT_TRUE(graph.values[graph.nodes[0].inputs[1]].constant.has_value());
}

TEST(Import, TruncatedFileNamesFile) {
  const auto file = conv_relu().save();
  std::filesystem::resize_file(file, std::filesystem::file_size(file) * 2 / 3);
  expect_error(file_error(file), {"cannot import", file.filename().string(), "damaged", "download or export"});
}

// Whatever the length, a cut file is refused; it never crashes and is never taken for a smaller model.
TEST(Import, EveryTruncationIsRefused) {
  const auto file = conv_relu().save();
  std::ifstream stream(file, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  for (size_t length = 0; length < whole.size(); length += 7) {
    std::ofstream(file, std::ios::binary) << whole.substr(0, length);
    EXPECT_NE(file_error(file), "") << length;
  }
}

TEST(Import, FlippedBytesNeverCrash) {
  const auto file = conv_relu().save();
  std::ifstream stream(file, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    std::ofstream(file, std::ios::binary) << damaged;
    file_error(file);  // an Error or, where the byte is a weight or a name, none
  }
}

TEST(Import, GarbageAndMissingFiles) {
  const auto file = conv_relu().save();
  std::ofstream(file, std::ios::binary) << "this is a text, not a model";
  expect_error(file_error(file), {"cannot import", "damaged or no ONNX model"});
  std::ofstream(file, std::ios::binary) << "";
  expect_error(file_error(file), {"damaged or no ONNX model"});
  expect_error(file_error("no/such/model.onnx"), {"no/such/model.onnx", "no such file"});
  expect_error(file_error(file.parent_path()), {"no such file"});
}

TEST(Import, UnknownOperatorNamesNodeAndNearest) {
  ModelBuilder model;
  model.input("x", {2}).node("Rellu", {"x"}, {"a"}).node("NoSuchThing", {"a"}, {"y"}).output("y");
  expect_error(model.import_error(),
               {"node 'a'", "operator 'Rellu' is unknown", "nearest: Relu", "1 more", "hone inspect"});
  const auto unsupported = list_unsupported(model.save());
  ASSERT_EQ(unsupported.size(), 2U);
  EXPECT_EQ(unsupported[0].nearest, "Relu");
  EXPECT_EQ(unsupported[1].node, "y");
  EXPECT_EQ(unsupported[1].op, "NoSuchThing");
  EXPECT_TRUE(list_unsupported(conv_relu().save()).empty());
}

TEST(Import, OtherDomainIsRefused) {
  ModelBuilder model;
  model.input("x", {2}).node("Relu", {"x"}, {"y"}).output("y");
  model.last_node().set_domain("com.microsoft");
  expect_error(model.import_error(), {"node 'y'", "'Relu' of domain 'com.microsoft'"});
  model.last_node().set_domain("ai.onnx");
  EXPECT_EQ(model.import_error(), "");
}

TEST(Import, ControlFlowIsRefused) {
  ModelBuilder model;
  model.input("x", {2}).node("If", {"x"}, {"y"}).output("y");
  auto* branch = model.last_node().add_attribute();
  branch->set_name("then_branch");
  branch->set_type(onnx::AttributeProto_AttributeType_GRAPH);
  branch->mutable_g()->set_name("branch");
  expect_error(model.import_error(), {"node 'y'", "'If' is control flow"});
}

TEST(Import, CycleNamesANodeInIt) {
  ModelBuilder model;
  model.input("x", {2}).node("Relu", {"x"}, {"before"}).node("Add", {"before", "c"}, {"a"});
  model.node("Relu", {"a"}, {"b"}).node("Relu", {"b"}, {"c"}).node("Relu", {"c"}, {"behind"}).output("behind");
  const std::string error = model.import_error();
  expect_error(error, {"cycle"});
  const bool names_one = error.find("'a'") != std::string::npos || error.find("'b'") != std::string::npos ||
                         error.find("'c'") != std::string::npos;
  EXPECT_TRUE(names_one) << error;
}

TEST(Import, UnsortedNodesAreSorted) {
  ModelBuilder model;
  model.input("x", {2}).node("Sqrt", {"b"}, {"y"}).node("Exp", {"a"}, {"b"}).node("Abs", {"x"}, {"a"}).output("y");
  EXPECT_EQ(ops(model.import()), "Abs Exp Sqrt");
}

TEST(Import, NodesWithoutNamesAndDoubledNames) {
  ModelBuilder model;
  model.input("x", {2}).node("Abs", {"x"}, {"a"});
  model.last_node().set_name("");
  model.node("Exp", {"a"}, {"b"});
  model.last_node().set_name("same");
  model.node("Sqrt", {"b"}, {"c"});
  model.last_node().set_name("same");
  model.node("Relu", {"c"}, {"y"});
  model.last_node().set_name("same_2");
  const Graph graph = model.output("y").import();
  EXPECT_EQ(graph.nodes[0].name, "Abs_0");
  EXPECT_EQ(graph.nodes[1].name, "same");
  EXPECT_EQ(graph.nodes[2].name, "same_3");
  EXPECT_EQ(graph.nodes[3].name, "same_2");
}

TEST(Import, NameMadeTwiceOrByNobody) {
  ModelBuilder twice;
  twice.input("x", {2}).node("Abs", {"x"}, {"y"}).node("Exp", {"x"}, {"y"}).output("y");
  expect_error(twice.import_error(), {"a second time"});
  ModelBuilder nobody;
  nobody.input("x", {2}).node("Add", {"x", "ghost"}, {"y"}).output("y");
  expect_error(nobody.import_error(), {"node 'y'", "'ghost', which nothing makes"});
  ModelBuilder output;
  output.input("x", {2}).node("Abs", {"x"}, {"y"}).output("other");
  expect_error(output.import_error(), {"nothing makes the output 'other'"});
}

TEST(Import, FreeDimensionNeedsShape) {
  ModelBuilder model;
  model.input("image", {-1, 3, 8, 8}).node("Relu", {"image"}, {"y"}).output("y");
  expect_error(model.import_error(), {"input 'image'", "--shape image:<dim0>,3,8,8"});
  const Graph graph = model.import({{"image", {2, 3, 4, 4}}});
  EXPECT_EQ(graph.values[graph.outputs[0]].type.shape, (Shape{2, 3, 4, 4}));
  expect_error(model.import_error({{"imge", {2, 3, 8, 8}}}), {"'imge'", "did you mean 'image'"});
  expect_error(model.import_error({{"image", {2, 3, 8}}}), {"input 'image'", "3 dimensions", "4"});
  expect_error(model.import_error({{"image", {0, 3, 8, 8}}}), {"input 'image'", "extent 0"});
}

TEST(Import, ElementTypesThatHoneHasNot) {
  ModelBuilder model;
  model.input("x", {2}, onnx::TensorProto_DataType_STRING).node("Identity", {"x"}, {"y"}).output("y");
  expect_error(model.import_error(), {"input 'x'", "no element type STRING"});
  ModelBuilder later;
  later.input("x", {2}).weights("w", {2}).node("Add", {"x", "w"}, {"y"}).output("y");
  later.proto().mutable_graph()->mutable_initializer(0)->set_data_type(22);
  expect_error(later.import_error(), {"initializer 'w'", "no element type INT4"});
  later.proto().mutable_graph()->mutable_initializer(0)->set_data_type(99);
  expect_error(later.import_error(), {"initializer 'w'", "element type 99 is unknown"});
}

TEST(Import, WeightsOfTheWrongSize) {
  ModelBuilder model;
  model.input("x", {2}).weights("w", {2}, {1, 2, 3}).node("Add", {"x", "w"}, {"y"}).output("y");
  expect_error(model.import_error(), {"initializer 'w'", "3 values", "needs 2"});
  ModelBuilder huge;
  huge.input("x", {2}).weights("w", {2}).node("Add", {"x", "w"}, {"y"}).output("y");
  huge.proto().mutable_graph()->mutable_initializer(0)->set_dims(0, int64_t{1} << 40);
  expect_error(huge.import_error(), {"initializer 'w'", "shape needs"});
}

TEST(Import, TypedFieldsOfEveryKind) {
  const std::vector<std::pair<int, DType>> kinds = {
      {1, DType::f32}, {2, DType::u8},      {3, DType::i8},   {4, DType::u16},  {5, DType::i16}, {6, DType::i32},
      {7, DType::i64}, {9, DType::boolean}, {11, DType::f64}, {12, DType::u32}, {13, DType::u64}};
  for (const auto& [data_type, dtype] : kinds) {
    ModelBuilder model;
    model.input("x", {1}).weights("w", {2}, {1, 0}).node("Identity", {"w"}, {"y"}).output("y");
    auto* tensor = model.proto().mutable_graph()->mutable_initializer(0);
    tensor->set_data_type(data_type);
    for (const int number : {1, 0}) {
      tensor->add_int32_data(number);
      tensor->add_int64_data(number);
      tensor->add_double_data(number);
      tensor->add_uint64_data(static_cast<uint64_t>(number));
    }
    const Graph graph = model.import();
    ASSERT_TRUE(graph.values[graph.outputs[0]].constant.has_value());
    EXPECT_EQ(graph.values[graph.outputs[0]].type.dtype, dtype);
    EXPECT_EQ(widen(*graph.values[graph.outputs[0]].constant).values, (std::vector<double>{1, 0}));
  }
}

TEST(Import, ConstantNodesInAllForms) {
  const std::vector<std::pair<std::string, AttributeValue>> forms = {{"value_float", 2.5},
                                                                     {"value_floats", std::vector<double>{2.5}}};
  for (const auto& [name, value] : forms) {
    ModelBuilder model;
    model.input("x", {1}).node("Constant", {}, {"k"}, {{name, value}}).node("Add", {"x", "k"}, {"y"}).output("y");
    const Graph graph = model.import();
    EXPECT_EQ(ops(graph), "Add");
    EXPECT_EQ(graph.values[graph.nodes[0].inputs[1]].constant->as<float>()[0], 2.5F);
  }
  ModelBuilder integer;
  integer.input("x", {2, 3}).node("Constant", {}, {"k"}, {{"value_ints", std::vector<int64_t>{3, 2}}});
  integer.node("Reshape", {"x", "k"}, {"y"}).output("y");
  const Graph graph = integer.import();
  EXPECT_EQ(graph.values[graph.outputs[0]].type.shape, (Shape{3, 2}));
  ModelBuilder text;
  text.input("x", {1}).node("Constant", {}, {"k"}, {{"value_string", std::string("a")}});
  text.node("Add", {"x", "k"}, {"y"}).output("y");
  expect_error(text.import_error(), {"node 'k'", "value_string"});
}

TEST(Import, InitializersListedAsInputs) {
  ModelBuilder model = conv_relu();
  model.input("w", {4, 3, 3, 3});
  EXPECT_EQ(model.import().inputs.size(), 1U);
}

TEST(Import, ExternalDataIsReadBesideTheModelOnly) {
  ModelBuilder model;
  model.input("x", {2}).weights("w", {2}).node("Add", {"x", "w"}, {"y"}).output("y");
  auto* tensor = model.proto().mutable_graph()->mutable_initializer(0);
  tensor->clear_float_data();
  tensor->set_data_location(onnx::TensorProto_DataLocation_EXTERNAL);
  auto set = [&](const std::string& location, const std::string& offset) {
    tensor->clear_external_data();
    auto* entry = tensor->add_external_data();
    entry->set_key("location");
    entry->set_value(location);
    entry = tensor->add_external_data();
    entry->set_key("offset");
    entry->set_value(offset);
  };
  const float data[] = {0, 1.5F, -2};
  std::ofstream(model.save().parent_path() / "weights.bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(data), sizeof(data));
  set("weights.bin", "4");
  const Graph graph = model.import();
  EXPECT_EQ(widen(*graph.values[graph.nodes[0].inputs[1]].constant).values, (std::vector<double>{1.5, -2}));
  set("weights.bin", "8");
  expect_error(model.import_error(), {"initializer 'w'", "missing or too short"});
  set("../weights.bin", "0");
  expect_error(model.import_error(), {"outside the model's folder"});
  set("/etc/passwd", "0");
  expect_error(model.import_error(), {"outside the model's folder"});
  set("weights.bin", "-4");
  expect_error(model.import_error(), {"offset '-4' is not a number"});
}

TEST(Import, ShapeArithmeticVanishes) {
  ModelBuilder model;  // Reshape(x, Concat(Gather(Shape(x), 0), [-1]))
  model.input("x", {2, 3, 4}).integers("zero", {0}).integers("rest", {-1});
  model.node("Shape", {"x"}, {"s"}).node("Gather", {"s", "zero"}, {"n"}, {{"axis", int64_t{0}}});
  model.node("Concat", {"n", "rest"}, {"shape"}, {{"axis", int64_t{0}}}).node("Reshape", {"x", "shape"}, {"y"});
  const Graph graph = model.output("y").import();
  EXPECT_EQ(ops(graph), "Reshape");
  EXPECT_EQ(graph.values[graph.outputs[0]].type.shape, (Shape{2, 12}));
}

TEST(Import, ValueDependentShapeIsRefused) {
  ModelBuilder model;
  model.input("x", {6}).input("shape", {2}, onnx::TensorProto_DataType_INT64);
  model.node("Reshape", {"x", "shape"}, {"y"}).output("y");
  expect_error(model.import_error(), {"node 'y'", "'shape'", "computed from the model's input"});
}

TEST(Import, ConstantOfShapeWithAndWithoutValue) {
  ModelBuilder model;
  model.input("x", {2, 2}).integers("extents", {2, 2}).node("ConstantOfShape", {"extents"}, {"ones"});
  auto* value = model.last_node().add_attribute();
  value->set_name("value");
  value->set_type(onnx::AttributeProto_AttributeType_TENSOR);
  value->mutable_t()->set_data_type(onnx::TensorProto_DataType_FLOAT);
  value->mutable_t()->add_dims(1);
  value->mutable_t()->add_float_data(1.5F);
  model.node("ConstantOfShape", {"extents"}, {"zeros"}).node("Add", {"ones", "zeros"}, {"k"});
  const Graph graph = model.node("Add", {"x", "k"}, {"y"}).output("y").import();
  EXPECT_EQ(ops(graph), "Add");
  EXPECT_EQ(widen(*graph.values[graph.nodes[0].inputs[1]].constant).values, (std::vector<double>(4, 1.5)));
}

TEST(Import, EnormousConstantsAreNotFolded) {
  ModelBuilder model;
  model.input("x", {1}).scalar("k", 1).integers("extents", {300, 1024, 1024});
  model.node("Expand", {"k", "extents"}, {"big"}).node("ReduceMax", {"big"}, {"m"}).node("Add", {"m", "x"}, {"y"});
  EXPECT_EQ(ops(model.output("y").import()), "Expand ReduceMax Add");
}

TEST(Import, AttributesOfTheWrongKindOrName) {
  ModelBuilder model;
  model.input("x", {2, 2}).node("Flatten", {"x"}, {"y"}, {{"axis", 1.0}}).output("y");
  expect_error(model.import_error(), {"node 'y'", "attribute 'axis' is of the wrong kind"});
  ModelBuilder unknown;
  unknown.input("x", {2, 2}).node("Relu", {"x"}, {"y"}, {{"alpha", 1.0}}).output("y");
  expect_error(unknown.import_error(), {"node 'y'", "Relu has no attribute 'alpha'"});
  ModelBuilder required;
  required.input("x", {1, 2, 8, 8}).node("MaxPool", {"x"}, {"y"}).output("y");
  expect_error(required.import_error(), {"node 'y'", "MaxPool lacks its attribute 'kernel_shape'"});
}

TEST(Import, InferenceErrorsNameFileAndNode) {
  ModelBuilder model;
  model.input("x", {2, 3}).input("z", {4, 5}).node("MatMul", {"x", "z"}, {"product"}).output("product");
  expect_error(model.import_error(), {"cannot import", ".onnx", "node 'product'", "MatMul"});
}

TEST(Import, WrongNumberOfInputs) {
  ModelBuilder model;
  model.input("x", {2}).node("Add", {"x"}, {"y"}).output("y");
  expect_error(model.import_error(), {"node 'y'", "Add", "1 input"});
}

TEST(Import, OutputsThatHoneDoesNotCompute) {
  ModelBuilder unread;
  unread.input("x", {2, 2}).node("Dropout", {"x"}, {"y", "mask"}).output("y");
  EXPECT_EQ(ops(unread.import()), "Dropout");
  ModelBuilder read;
  read.input("x", {2, 2}).node("Dropout", {"x"}, {"y", "mask"}).output("y").output("mask");
  expect_error(read.import_error(), {"node 'y'", "'mask'"});
}

TEST(Import, MissingOpset) {
  ModelBuilder model = conv_relu();
  model.proto().clear_opset_import();
  expect_error(model.import_error(), {"opset"});
}

TEST(Import, OptionalInputsMayBeAbsent) {
  ModelBuilder model;
  model.input("x", {2}).scalar("high", 6).node("Clip", {"x", "", "high"}, {"y"}).output("y");
  const Graph graph = model.import();
  EXPECT_EQ(graph.nodes[0].inputs.size(), 1U);
  EXPECT_EQ(float_attribute(graph.nodes[0].attributes, "max"), 6.0);
  EXPECT_LT(float_attribute(graph.nodes[0].attributes, "min"), -1e30);
}

TEST(Import, NodesThatNoOutputNeedsAreDropped) {
  ModelBuilder model;
  model.input("x", {2}).node("Abs", {"x"}, {"y"}).node("Exp", {"x"}, {"unused"}).output("y");
  EXPECT_EQ(ops(model.import()), "Abs");
}

TEST(Import, OutputsThatAreInputsOrConstants) {
  ModelBuilder model;
  model.input("x", {2}).weights("w", {2}).output("x").output("w").output("x");
  const Graph graph = model.import();
  EXPECT_TRUE(graph.nodes.empty());
  EXPECT_EQ(graph.outputs[0], graph.inputs[0]);
  EXPECT_TRUE(graph.values[graph.outputs[1]].constant.has_value());
  EXPECT_EQ(graph.outputs[2], graph.inputs[0]);
}

}  // namespace
}  // namespace hone
