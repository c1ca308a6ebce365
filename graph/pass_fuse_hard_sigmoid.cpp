// SPDX-License-Identifier: MIT
// Clip(x + 3, 0, 6) / 6 is HardSigmoid(x) with alpha 1/6 and beta 1/2; exporters spell it in pieces (opset 13 and older
// have no HardSwish either). Left alone: other numbers, pieces with another reader (they would be computed twice).
#include "graph/hard_activation.h"
#include "graph/passes.h"
#include "graph/rewrite.h"

namespace hone {

std::vector<std::string> pass_fuse_hard_sigmoid(Graph& graph) {
  std::vector<std::string> changes;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode node = graph.nodes[i];
    const auto sixth = match_sixth(graph, node);
    if (!sixth) continue;
    const auto clip = match_shifted_relu6(graph, *sixth);
    if (!clip || graph.values[clip->x].type != graph.values[node.outputs[0]].type) continue;
    GraphNode fused{node.name, "HardSigmoid", default_attributes("HardSigmoid"),
                    {clip->x}, node.outputs,  clip->origins};
    fused.attributes["alpha"] = double{1.0F / 6.0F};
    fused.attributes["beta"] = 0.5;
    fused.origins.insert(fused.origins.end(), node.origins.begin(), node.origins.end());
    changes.push_back(node.name);
    graph.nodes[i] = std::move(fused);
    erase_unread(graph, *sixth);
  }
  return changes;
}

}  // namespace hone
