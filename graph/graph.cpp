// SPDX-License-Identifier: MIT
#include "graph/graph.h"

#include <algorithm>

namespace hone {

int Graph::producer(int value) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto& made = nodes[i].outputs;
    if (std::find(made.begin(), made.end(), value) != made.end()) return static_cast<int>(i);
  }
  return -1;
}

std::vector<int> Graph::readers(int value) const {
  std::vector<int> found;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto& read = nodes[i].inputs;
    if (std::find(read.begin(), read.end(), value) != read.end()) found.push_back(static_cast<int>(i));
  }
  return found;
}

bool Graph::is_output(int value) const {
  return std::find(outputs.begin(), outputs.end(), value) != outputs.end();
}

}  // namespace hone
