// SPDX-License-Identifier: MIT
#include "tests/graph/model_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "executor/error.h"

namespace hone {
namespace {

struct SetAttribute {
  onnx::AttributeProto& proto;
  void operator()(int64_t value) const {
    proto.set_type(onnx::AttributeProto_AttributeType_INT);
    proto.set_i(value);
  }
  void operator()(double value) const {
    proto.set_type(onnx::AttributeProto_AttributeType_FLOAT);
    proto.set_f(static_cast<float>(value));
  }
  void operator()(const std::string& value) const {
    proto.set_type(onnx::AttributeProto_AttributeType_STRING);
    proto.set_s(value);
  }
  void operator()(const std::vector<int64_t>& values) const {
    proto.set_type(onnx::AttributeProto_AttributeType_INTS);
    for (const int64_t value : values) proto.add_ints(value);
  }
  void operator()(const std::vector<double>& values) const {
    proto.set_type(onnx::AttributeProto_AttributeType_FLOATS);
    for (const double value : values) proto.add_floats(static_cast<float>(value));
  }
};

}  // namespace

ModelBuilder::ModelBuilder(int64_t opset) {
  model_.set_ir_version(8);
  model_.add_opset_import()->set_version(opset);
  model_.mutable_graph()->set_name("test");
}

ModelBuilder& ModelBuilder::input(const std::string& name, const Shape& shape, onnx::TensorProto_DataType type) {
  auto* info = model_.mutable_graph()->add_input();
  info->set_name(name);
  auto* tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (const int64_t extent : shape) {
    auto* dim = tensor->mutable_shape()->add_dim();
    if (extent < 0) {
      dim->set_dim_param("free");
    } else {
      dim->set_dim_value(extent);
    }
  }
  return *this;
}

ModelBuilder& ModelBuilder::output(const std::string& name) {
  model_.mutable_graph()->add_output()->set_name(name);
  return *this;
}

ModelBuilder& ModelBuilder::weights(const std::string& name, const Shape& shape, std::vector<float> values) {
  auto* tensor = model_.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto_DataType_FLOAT);
  for (const int64_t extent : shape) tensor->add_dims(extent);
  if (values.empty()) {
    uint32_t state = 1;
    for (const char c : name) state = state * 31 + static_cast<unsigned char>(c);
    for (int64_t i = 0; i < element_count(shape); ++i) {
      state = state * 1664525 + 1013904223;
      values.push_back(static_cast<float>(static_cast<int>(state >> 16) % 200 - 100) / 100.0F + 0.005F);
    }
  }
  for (const float value : values) tensor->add_float_data(value);
  return *this;
}

ModelBuilder& ModelBuilder::integers(const std::string& name, const std::vector<int64_t>& values) {
  auto* tensor = model_.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto_DataType_INT64);
  tensor->add_dims(static_cast<int64_t>(values.size()));
  tensor->set_raw_data(values.data(), values.size() * sizeof(int64_t));
  return *this;
}

ModelBuilder& ModelBuilder::scalar(const std::string& name, float value) {
  return weights(name, {}, {value});
}

ModelBuilder& ModelBuilder::node(const std::string& op, const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& outputs, const Attributes& attributes) {
  auto* node = model_.mutable_graph()->add_node();
  node->set_op_type(op);
  node->set_name(outputs.empty() ? op : outputs[0]);
  for (const std::string& input : inputs) node->add_input(input);
  for (const std::string& output : outputs) node->add_output(output);
  for (const auto& [name, value] : attributes) {
    auto* attribute = node->add_attribute();
    attribute->set_name(name);
    std::visit(SetAttribute{*attribute}, value);
  }
  return *this;
}

std::filesystem::path ModelBuilder::save() const {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  const auto folder = std::filesystem::path(testing::TempDir()) / "hone_graph_test";
  std::filesystem::create_directories(folder);
  const auto file = folder / (std::string(info->test_suite_name()) + "." + info->name() + ".onnx");
  std::ofstream stream(file, std::ios::binary);
  model_.SerializeToOstream(&stream);
  return file;
}

Graph ModelBuilder::import(const InputShapes& shapes) const {
  return import_onnx(save(), shapes);
}

std::string ModelBuilder::import_error(const InputShapes& shapes) const {
  try {
    import(shapes);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

int node_index(const Graph& graph, const std::string& name) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].name == name) return static_cast<int>(i);
  }
  ADD_FAILURE() << "no node " << name << " in " << ops(graph);
  return 0;
}

int value_index(const Graph& graph, const std::string& name) {
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].name == name) return static_cast<int>(i);
  }
  ADD_FAILURE() << "no value " << name;
  return 0;
}

std::string ops(const Graph& graph) {
  std::string text;
  for (const GraphNode& node : graph.nodes) text += (text.empty() ? "" : " ") + node.op;
  return text;
}

int count(const Graph& graph, const std::string& op) {
  return static_cast<int>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const auto& n) { return n.op == op; }));
}

}  // namespace hone
