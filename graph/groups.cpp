// SPDX-License-Identifier: MIT
// Cuts the graph into groups, one kernel each: an anchor with the pointwise nodes behind it, or a chain of pointwise
// nodes. A group has one value that others read (its exit), and every node of it leads there. Hence no group can need,
// by way of others, its own result: such a path would be a cycle of nodes. So a residual Add may join either of its
// convolutions, and all that is needed is to run the groups in topological order.
#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <set>

#include "executor/error.h"
#include "generators/operators.h"
#include "graph/graph.h"
#include "graph/group_workload.h"

namespace hone {
namespace {

constexpr size_t kLongestDetour = 16;  // nodes looked at before x * Sigmoid(x) and the like come together again

class Grouper {
 public:
  Grouper(const Graph& graph, const std::vector<ValueLayout>& layouts)
      : graph_(graph),
        layouts_(layouts),
        group_of_(graph.nodes.size(), -1),
        producer_(graph.values.size(), -1),
        readers_(graph.values.size()) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const int output : graph.nodes[i].outputs) producer_[output] = static_cast<int>(i);
      const std::set<int> inputs(graph.nodes[i].inputs.begin(), graph.nodes[i].inputs.end());
      for (const int input : inputs) {
        if (input >= 0) readers_[input].push_back(static_cast<int>(i));
      }
    }
  }

  /// Anchors choose first, so that a pointwise node joins the convolution before it rather than a neighbour.
  void run(bool fuse) {
    for (const bool pointwise : {false, true}) {
      for (size_t i = 0; i < graph_.nodes.size(); ++i) {
        const int node = static_cast<int>(i);
        const OperatorKind kind = find_operator(graph_.nodes[i].op)->kind;
        if ((kind == OperatorKind::pointwise) != pointwise || group_of_[i] >= 0 || is_view(node)) continue;
        std::vector<int> members = {node};
        group_of_[i] = static_cast<int>(groups_.size());
        if (fuse && kind != OperatorKind::copy) grow(members);
        groups_.push_back(std::move(members));
      }
    }
  }

  std::vector<std::vector<int>> in_execution_order() const {
    std::vector<int> waiting(groups_.size());
    std::vector<std::vector<int>> readers(groups_.size());
    using Entry = std::pair<int, int>;  // first node, group: file order where there is a choice
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (size_t i = 0; i < groups_.size(); ++i) {
      const std::set<int> needs = needed_groups(static_cast<int>(i));
      waiting[i] = static_cast<int>(needs.size());
      for (const int need : needs) readers[need].push_back(static_cast<int>(i));
      if (needs.empty()) ready.emplace(groups_[i][0], static_cast<int>(i));
    }
    std::vector<std::vector<int>> ordered;
    while (!ready.empty()) {
      const int group = ready.top().second;
      ready.pop();
      ordered.push_back(groups_[group]);
      for (const int reader : readers[group]) {
        if (--waiting[reader] == 0) ready.emplace(groups_[reader][0], reader);
      }
    }
    CHECK(ordered.size() == groups_.size());
    return ordered;
  }

 private:
  bool is_view(int node) const {
    for (const int output : graph_.nodes[node].outputs) {
      if (layouts_[output].storage == output) return false;
    }
    return true;
  }

  bool may_join(int node, const Shape& shape) const {
    const GraphNode& candidate = graph_.nodes[node];
    return group_of_[node] < 0 && !is_view(node) && candidate.outputs.size() == 1 &&
           find_operator(candidate.op)->kind == OperatorKind::pointwise &&
           graph_.values[candidate.outputs[0]].type.shape == shape;
  }

  // True if something outside `inside` reads the value, or nothing at all does.
  bool is_open(int value, const std::set<int>& inside) const {
    if (graph_.is_output(value) || readers_[value].empty()) return true;
    return std::any_of(readers_[value].begin(), readers_[value].end(),
                       [&](int node) { return !inside.contains(node); });
  }

  void grow(std::vector<int>& members) {
    if (graph_.nodes[members[0]].outputs.size() != 1) return;
    const int group = group_of_[members[0]];
    int exit = graph_.nodes[members[0]].outputs[0];
    while (const auto step = extension(exit)) {
      for (const int node : *step) {
        group_of_[node] = group;
        members.push_back(node);
      }
      exit = graph_.nodes[step->back()].outputs[0];
    }
  }

  // The fewest nodes behind `exit` that leave one value open again, the one that makes it last.
  std::optional<std::vector<int>> extension(int exit) const {
    std::vector<int> open = {exit};
    std::set<int> inside;
    while (inside.size() < kLongestDetour) {
      int next = -1;
      for (const int value : open) {
        if (graph_.is_output(value)) return std::nullopt;
        for (const int reader : readers_[value]) {
          if (!inside.contains(reader) && (next < 0 || reader < next)) next = reader;
        }
      }
      if (next < 0 || !may_join(next, graph_.values[exit].type.shape)) return std::nullopt;
      inside.insert(next);
      open.push_back(graph_.nodes[next].outputs[0]);
      std::erase_if(open, [&](int value) { return !is_open(value, inside); });
      if (open.size() == 1 && open[0] == graph_.nodes[next].outputs[0])
        return std::vector(inside.begin(), inside.end());
    }
    return std::nullopt;
  }

  std::set<int> needed_groups(int group) const {
    std::set<int> needed;
    for (const int node : groups_[group]) {
      for (const int input : graph_.nodes[node].inputs) {
        const int maker = input < 0 ? -1 : producer_[layouts_[input].storage];
        if (maker >= 0 && group_of_[maker] != group) needed.insert(group_of_[maker]);
      }
    }
    return needed;
  }

  const Graph& graph_;
  const std::vector<ValueLayout>& layouts_;
  std::vector<int> group_of_;  // by node, -1: none
  std::vector<int> producer_;  // by value, -1: none
  std::vector<std::vector<int>> readers_;
  std::vector<std::vector<int>> groups_;
};

}  // namespace

std::vector<Group> make_groups(const Graph& graph, const std::vector<ValueLayout>& layouts,
                               const GroupOptions& options) {
  Grouper grouper(graph, layouts);
  grouper.run(options.fuse);
  std::vector<Group> groups;
  for (std::vector<int>& nodes : grouper.in_execution_order()) {
    groups.push_back(group_workload(graph, layouts, std::move(nodes)));
  }
  return groups;
}

}  // namespace hone
