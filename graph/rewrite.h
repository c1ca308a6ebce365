// SPDX-License-Identifier: MIT
// What passes are written with: looking at a graph, and changing it without breaking it. Private to graph/.
// A node that is erased during a pass stays as a tombstone (no inputs, no outputs, empty op) so that indices hold;
// run_passes() compacts between passes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generators/operators.h"
#include "graph/graph.h"

namespace hone {

inline bool is_erased(const GraphNode& node) {
  return node.op.empty();
}

/// The node as the operator table's functions want it: input ids are positions (0, 1, ..), -1 stays.
Node table_node(const Graph& graph, const GraphNode& node);
std::vector<TensorType> input_types(const Graph& graph, const GraphNode& node);

const Tensor* constant(const Graph& graph, int value);  // null: absent or not constant
/// The number that all elements of a constant equal, if they do and there is one.
std::optional<double> uniform_constant(const Graph& graph, int value);
bool nearly(double a, double b);  // equal but for float32 rounding

/// Index of the only node that reads `value`; empty if it has several readers or none, or is a graph output.
std::optional<int> sole_reader(const Graph& graph, int value);
/// The node that makes `value` if it is an `op` whose result has no other reader and is no graph output.
std::optional<int> sole_producer(const Graph& graph, int value, std::string_view op);

/// Adds a value; the caller connects it.
int add_constant(Graph& graph, std::string name, Tensor tensor);
int add_value(Graph& graph, std::string name, TensorType type);
/// All attributes of the operator at their defaults. CHECKs that the operator is in the table.
Attributes default_attributes(std::string_view op);

/// Lets every reader of `from` read `to`, which must have the same type. If `from` is a graph output, its name must
/// live on: the node that makes `to` makes `from` instead. Returns false (nothing changed) where that cannot be: `to`
/// is a graph input or itself a graph output.
bool substitute(Graph& graph, int from, int to);

void erase_node(Graph& graph, int node);
/// Erases the producer of `value`, and then theirs, as long as nothing reads them.
void erase_unread(Graph& graph, int value);
/// Lets the maker of `value` (or, if it has none, the first reader) stand for these ONNX nodes too.
void adopt_origins(Graph& graph, int value, const std::vector<std::string>& origins);
/// Removes tombstones.
void compact(Graph& graph);

/// CHECKs topological order, one producer a value, and that every type is what the table infers.
void check_graph(const Graph& graph);

}  // namespace hone
