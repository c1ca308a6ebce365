// SPDX-License-Identifier: MIT
// Small ONNX models for tests, made with the protobuf classes directly (no Python, no exporter in between).
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace hone {

class ModelBuilder {
 public:
  explicit ModelBuilder(int64_t opset = 17);

  /// An extent of -1 is left free.
  ModelBuilder& input(const std::string& name, const Shape& shape,
                      onnx::TensorProto_DataType type = onnx::TensorProto_DataType_FLOAT);
  ModelBuilder& output(const std::string& name);
  /// Float weights, deterministic and of both signs; `values` instead if given.
  ModelBuilder& weights(const std::string& name, const Shape& shape, std::vector<float> values = {});
  ModelBuilder& integers(const std::string& name, const std::vector<int64_t>& values);
  ModelBuilder& scalar(const std::string& name, float value);
  /// The node is named after its first output.
  ModelBuilder& node(const std::string& op, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs, const Attributes& attributes = {});

  onnx::NodeProto& last_node() { return *model_.mutable_graph()->mutable_node()->rbegin(); }
  onnx::ModelProto& proto() { return model_; }
  /// Writes the model to a file named after the running test.
  std::filesystem::path save() const;
  Graph import(const InputShapes& shapes = {}) const;
  /// What import() throws; empty if it does not.
  std::string import_error(const InputShapes& shapes = {}) const;

 private:
  onnx::ModelProto model_;
};

/// Index of the node with this name; fails the test (and gives 0) if there is none.
int node_index(const Graph& graph, const std::string& name);
/// Id of the value with this name.
int value_index(const Graph& graph, const std::string& name);
/// Operators in order, joined by blanks.
std::string ops(const Graph& graph);
/// How many nodes of this operator there are.
int count(const Graph& graph, const std::string& op);

}  // namespace hone
