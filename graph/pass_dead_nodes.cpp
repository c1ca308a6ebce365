// SPDX-License-Identifier: MIT
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace hone {

std::vector<std::string> pass_dead_nodes(Graph& graph) {
  std::vector<bool> needed(graph.values.size());
  for (const int output : graph.outputs) needed[output] = true;
  std::vector<std::string> changes;
  for (int i = static_cast<int>(graph.nodes.size()) - 1; i >= 0; --i) {
    const GraphNode& node = graph.nodes[i];
    if (is_erased(node)) continue;
    bool live = false;
    for (const int output : node.outputs) live = live || needed[output];
    if (!live) {
      changes.push_back(node.name);
      erase_node(graph, i);
      continue;
    }
    for (const int input : node.inputs) {
      if (input >= 0) needed[input] = true;
    }
  }
  for (const int input : graph.inputs) needed[input] = true;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    if (!needed[i]) graph.values[i].constant.reset();  // folded weights and shape arithmetic: memory, and bundle size
  }
  return changes;
}

}  // namespace hone
