// SPDX-License-Identifier: MIT
// The pieces that HardSigmoid and HardSwish are spelled with. Private to graph/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace hone {

/// `v` if the node computes v / 6 or v * (1/6).
std::optional<int> match_sixth(const Graph& graph, const GraphNode& node);

struct ShiftedRelu6 {
  int x = -1;
  std::vector<std::string> origins;  // of the Add and the Clip
};
/// If `value` is Clip(x + 3, 0, 6) and neither it nor the sum has another reader.
std::optional<ShiftedRelu6> match_shifted_relu6(const Graph& graph, int value);

}  // namespace hone
