// SPDX-License-Identifier: MIT
// The importer has folded what was constant in the file; this folds what other passes made constant.
#include "graph/fold.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace hone {

std::vector<std::string> pass_fold_constants(Graph& graph) {
  std::vector<std::string> changes;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (is_erased(graph.nodes[i]) || !fold_node(graph, graph.nodes[i])) continue;
    changes.push_back(graph.nodes[i].name);
    erase_node(graph, static_cast<int>(i));
  }
  return changes;
}

}  // namespace hone
