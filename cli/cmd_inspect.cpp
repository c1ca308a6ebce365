// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/model_session.h"
#include "cli/terminal.h"
#include "executor/error.h"
#include "generators/operators.h"
#include "schedules/implementation.h"

namespace po = boost::program_options;

namespace hone {
namespace {

std::string shape_text(const Shape& shape) {
  std::string text;
  for (int64_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "scalar" : text;
}

std::string tensors_text(const Graph& graph, const std::vector<int>& ids) {
  std::string text;
  for (int id : ids) {
    const GraphValue& value = graph.values[static_cast<size_t>(id)];
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", value.name, name(value.type.dtype),
                        shape_text(value.type.shape));
  }
  return text;
}

void print_passes(const ModelSession& session) {
  for (const PassLog& log : session.passes) {
    std::printf("%s: %zu change%s\n", log.pass.c_str(), log.changes.size(), log.changes.size() == 1 ? "" : "s");
    for (const std::string& change : log.changes) std::printf("  %s\n", change.c_str());
  }
}

std::string implementations_text(const Workload& workload, const DeviceInfo& device) {
  std::string text;
  for (const Implementation* implementation : implementations()) {
    if (implementation->supports(workload, device))
      text += (text.empty() ? "" : ", ") + std::string(implementation->name());
  }
  return text;
}

nlohmann::json to_json(const ModelSession& session, const std::vector<TuningTask>& tasks, const DeviceInfo& device) {
  nlohmann::json json = {{"model", session.file.string()},
                         {"nodes_imported", session.imported_nodes},
                         {"nodes", session.graph.nodes.size()},
                         {"kernels", session.groups.size()}};
  for (const TuningTask& task : tasks) {
    json["workloads"].push_back({{"id", task.workload.id()},
                                 {"summary", task.workload.summary()},
                                 {"count", task.count},
                                 {"flops", flops(task.workload)},
                                 {"bytes", compulsory_bytes(task.workload)},
                                 {"nodes", task.nodes},
                                 {"implementations", implementations_text(task.workload, device)},
                                 {"workload", nlohmann::json::parse(task.workload.canonical_json())}});
  }
  for (const PassLog& log : session.passes) json["passes"].push_back({{"name", log.pass}, {"changes", log.changes}});
  return json;
}

}  // namespace

int run_inspect(const std::vector<std::string>& arguments, const Surroundings&) {
  Options options(
      "inspect MODEL.onnx [--shape NAME:1,3,224,224] [--passes] [--pass -NAME] [--json]",
      "Shows what hone makes of a model: graph, fused kernels, and the unique workloads that would be tuned.\n"
      "A model that cannot be taken is refused with the node and the reason.");
  options.positional("model", 1);
  add_model_options(options);
  add_device_options(options);
  options.add()("passes", "what each pass did to which nodes")("json", "machine-readable, on stdout");
  if (!options.parse(arguments)) return 0;
  const DeviceInfo device = device_option(options);
  const ModelSession session = open_model(options.one("model", "one model file"), options);
  const std::vector<TuningTask> tasks = make_tasks(session);
  if (options.has("json")) {
    std::printf("%s\n", to_json(session, tasks, device).dump(2).c_str());
    return 0;
  }
  if (options.has("passes")) {
    print_passes(session);
    return 0;
  }
  std::printf("%s\n  inputs   %s\n  outputs  %s\n", session.file.c_str(),
              tensors_text(session.graph, session.graph.inputs).c_str(),
              tensors_text(session.graph, session.graph.outputs).c_str());
  std::printf("  %d nodes after folding constants, %zu after passes, %zu kernels, %zu unique\n\n",
              session.imported_nodes, session.graph.nodes.size(), session.groups.size(), tasks.size());
  Table table({">count", "workload", ">MFLOP each", "implementations"});
  double total = 0;
  for (const TuningTask& task : tasks) {
    const double each = flops(task.workload);
    total += each * static_cast<double>(task.count);
    table.row({std::to_string(task.count), task.workload.summary(), format_fixed(each / 1e6, 2),
               implementations_text(task.workload, device)});
  }
  std::printf("%s\n%s GFLOP in all, on %s\n", table.text().c_str(), format_fixed(total / 1e9, 3).c_str(),
              device.name.c_str());
  return 0;
}

}  // namespace hone
