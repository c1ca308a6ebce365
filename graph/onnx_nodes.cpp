// SPDX-License-Identifier: MIT
#include "graph/onnx_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>

#include "executor/error.h"
#include "generators/nearest_name.h"
#include "generators/operators.h"

namespace hone {
namespace {

constexpr std::string_view kExport = "export the model again";

// Who makes each tensor: a node's index, or kGiven for inputs and initializers.
constexpr int kGiven = -1;

class Order {
 public:
  Order(const onnx::GraphProto& graph, const std::vector<std::string>& names, const std::string& attempted)
      : graph_(graph), names_(names), attempted_(attempted) {
    for (const auto& input : graph.input()) makers_[input.name()] = kGiven;
    for (const auto& initializer : graph.initializer()) makers_[initializer.name()] = kGiven;
    for (int i = 0; i < graph.node_size(); ++i) {
      for (const std::string& output : graph.node(i).output()) {
        if (output.empty()) continue;
        if (!makers_.emplace(output, i).second) fail(i, fmt::format("it makes {} a second time", quote_name(output)));
      }
    }
    for (int i = 0; i < graph.node_size(); ++i) needs_.push_back(needed_by(i));
  }

  std::vector<int> sorted() const {
    std::vector<int> waiting(needs_.size());
    std::vector<std::vector<int>> readers(needs_.size());
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (size_t i = 0; i < needs_.size(); ++i) {
      waiting[i] = static_cast<int>(needs_[i].size());
      for (const int maker : needs_[i]) readers[maker].push_back(static_cast<int>(i));
      if (waiting[i] == 0) ready.push(static_cast<int>(i));
    }
    std::vector<int> order;
    while (!ready.empty()) {
      const int node = ready.top();
      ready.pop();
      order.push_back(node);
      for (const int reader : readers[node]) {
        if (--waiting[reader] == 0) ready.push(reader);
      }
    }
    if (order.size() < needs_.size()) report_cycle(waiting);
    return order;
  }

  // The nodes that the outputs need, as flags.
  std::vector<bool> needed() const {
    std::vector<bool> marked(needs_.size());
    std::vector<int> stack;
    for (const auto& output : graph_.output()) {
      const auto maker = makers_.find(output.name());
      if (maker == makers_.end()) {
        throw Error(attempted_, fmt::format("nothing makes the output {}", quote_name(output.name())), kExport);
      }
      if (maker->second != kGiven) stack.push_back(maker->second);
    }
    while (!stack.empty()) {
      const int node = stack.back();
      stack.pop_back();
      if (marked[node]) continue;
      marked[node] = true;
      stack.insert(stack.end(), needs_[node].begin(), needs_[node].end());
    }
    return marked;
  }

 private:
  [[noreturn]] void fail(int node, const std::string& problem) const {
    throw Error(fmt::format("{}: node {}", attempted_, quote_name(names_[node])), problem, kExport);
  }

  std::vector<int> needed_by(int node) const {
    std::set<int> makers;
    for (const std::string& input : graph_.node(node).input()) {
      if (input.empty()) continue;
      const auto maker = makers_.find(input);
      // A subgraph's own inputs are not looked at: control flow is refused elsewhere, by name.
      if (maker == makers_.end()) fail(node, fmt::format("it reads {}, which nothing makes", quote_name(input)));
      if (maker->second != kGiven) makers.insert(maker->second);
    }
    return {makers.begin(), makers.end()};
  }

  // Each node left waits for another one that is left: going backwards must come to a node twice.
  [[noreturn]] void report_cycle(const std::vector<int>& waiting) const {
    int node = 0;
    while (waiting[node] == 0) ++node;
    std::set<int> seen;
    while (seen.insert(node).second) {
      const auto& needs = needs_[node];
      node = *std::find_if(needs.begin(), needs.end(), [&](int maker) { return waiting[maker] > 0; });
    }
    fail(node, "it is part of a cycle: it needs its own result");
  }

  const onnx::GraphProto& graph_;
  const std::vector<std::string>& names_;
  const std::string& attempted_;
  std::map<std::string, int, std::less<>> makers_;
  std::vector<std::vector<int>> needs_;
};

}  // namespace

std::vector<std::string> node_names(const onnx::GraphProto& graph) {
  std::set<std::string> taken;
  for (const auto& node : graph.node()) taken.insert(node.name());
  std::set<std::string> used;
  std::vector<std::string> names;
  for (int i = 0; i < graph.node_size(); ++i) {
    const auto& node = graph.node(i);
    std::string name = node.name();
    if (name.empty()) name = fmt::format("{}_{}", node.op_type(), i);
    const std::string base = name;
    // "a", "a", "a_2" must not end in two "a_2".
    for (int k = 2; used.contains(name) || (name != node.name() && taken.contains(name)); ++k) {
      name = fmt::format("{}_{}", base, k);
    }
    used.insert(name);
    names.push_back(name);
  }
  return names;
}

std::optional<UnsupportedNode> unsupported(const onnx::NodeProto& node, const std::string& name) {
  const std::string& op = node.op_type();
  const bool own_domain = node.domain().empty() || node.domain() == "ai.onnx";
  const bool has_graph = std::any_of(node.attribute().begin(), node.attribute().end(), [](const auto& attribute) {
    return attribute.has_g() || attribute.graphs_size() > 0;
  });
  if (own_domain && !has_graph && (op == kConstant || op == kConstantOfShape || find_operator(op) != nullptr)) {
    return std::nullopt;
  }
  std::vector<std::string_view> known;
  for (const Operator& entry : operators()) known.push_back(entry.name);
  const std::string reason = !own_domain ? "operator of another domain"
                             : has_graph ? "control flow"
                                         : "unknown operator";
  return UnsupportedNode{name, op, own_domain ? "" : node.domain(), reason, nearest_name(op, known)};
}

std::vector<int> execution_order(const onnx::GraphProto& graph, const std::vector<std::string>& names,
                                 const std::string& attempted) {
  const Order order(graph, names, attempted);
  std::vector<int> sorted = order.sorted();
  const std::vector<bool> needed = order.needed();
  std::erase_if(sorted, [&](int node) { return !needed[node]; });
  return sorted;
}

}  // namespace hone
