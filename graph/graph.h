// SPDX-License-Identifier: MIT
// Graph: a model between import and bundle. Values and nodes are referred to by index; both vectors only grow until
// compact().
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "generators/tensor.h"
#include "generators/workload.h"

namespace hone {

struct GraphValue {
  std::string name;  // ONNX tensor name; may be empty, doubled, contain anything
  TensorType type;   // static shape (inference has run)
  std::optional<Tensor> constant;
};

struct GraphNode {
  std::string name;  // ONNX node name or "<op>_<index>" if it has none
  std::string op;
  Attributes attributes;    // normalised
  std::vector<int> inputs;  // value ids, -1: absent
  std::vector<int> outputs;
  std::vector<std::string> origins;  // names of the ONNX nodes that this one stands for
};

struct Graph {
  std::string name;  // file stem
  std::vector<GraphValue> values;
  std::vector<GraphNode> nodes;  // topological order
  std::vector<int> inputs;
  std::vector<int> outputs;  // a value may be listed twice, be an input or a constant

  /// Node that makes `value`, or -1.
  int producer(int value) const;
  /// Nodes that read `value` (a node that reads it twice is listed once); the graph's outputs are not counted.
  std::vector<int> readers(int value) const;
  bool is_output(int value) const;
};

/// Shapes given on the command line, by input name; they override the model's and fill its free dimensions.
using InputShapes = std::map<std::string, Shape>;

/// Reads, checks and normalises a model; infers all shapes and folds what depends on constants only (shape arithmetic
/// needs it). Throws Error naming file, node and remedy: truncated file, unknown operator, cycle, free dimension
/// without --shape, ...
Graph import_onnx(const std::filesystem::path& file, const InputShapes& shapes = {});

/// A node that hone cannot import, for `hone inspect`.
struct UnsupportedNode {
  std::string node, op, domain;  // domain: empty for ONNX's own
  std::string reason;            // "unknown operator", "control flow", "operator of another domain"
  std::string nearest;           // the known operator with the most similar name
};
/// Every such node of a model (none: import_onnx finds all its operators). Throws Error if the file is no model.
std::vector<UnsupportedNode> list_unsupported(const std::filesystem::path& file);

/// A pass rewrites the graph in place and returns what it did, one line per change ("bn1 into conv1").
struct Pass {
  std::string_view name;
  std::string_view description;
  std::vector<std::string> (*run)(Graph& graph);
};
/// graph/passes.cpp: the table, in the order in which they run.
std::span<const Pass> passes();

struct PassLog {
  std::string pass;
  std::vector<std::string> changes;
};
struct PassOptions {
  std::vector<std::string> disabled;  // --pass -name
};
/// Runs all passes. Throws Error on an unknown name in `disabled` (with the nearest one).
std::vector<PassLog> run_passes(Graph& graph, const PassOptions& options = {});

/// Where a value lives: its own storage, or a view of another value's.
struct ValueLayout {
  int storage = -1;    // value id that owns the storage; itself if it is no view
  int64_t offset = 0;  // elements from the start of the storage
  Strides strides;     // elements
};
/// Layout assignment: convolution tensors channels-last, model inputs and outputs dense row-major, reshapes/transposes/
/// slices/splits whose result is a view of their input get one. Index: value id; constants have dense layouts.
/// A model output always owns dense storage: if it is a view of another value, its node stays a copy kernel. (An output
/// that is itself an input, a constant or listed twice is the bundle's to copy.) Strides of extent-1 dimensions are
/// those of the dense or channels-last form, so that equal computations have equal Workloads.
std::vector<ValueLayout> assign_layouts(const Graph& graph);

/// One kernel's worth of nodes.
struct Group {
  std::vector<int> nodes;  // graph node ids, topological order; the anchor first if there is one
  Workload workload;
  std::vector<int> arguments;  // graph value of each workload argument (inputs, then constants)
  std::vector<int> outputs;    // graph value of each workload output
};
struct GroupOptions {
  bool fuse = true;  // false: a group per node (debug bundles)
};
/// Anchor + pointwise epilogue (residual adds included), pointwise chains. A group ends where an interior value has an
/// outside reader or is a graph output. Nodes that are views form no group. Groups come in execution order.
std::vector<Group> make_groups(const Graph& graph, const std::vector<ValueLayout>& layouts,
                               const GroupOptions& options = {});

}  // namespace hone
