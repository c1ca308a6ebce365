// SPDX-License-Identifier: MIT
#include "cli/model_session.h"

#include <algorithm>
#include <map>
#include <set>

#include "bundle/sha256.h"
#include "bundle/text_file.h"
#include "executor/error.h"
#include "generators/nearest_name.h"

namespace po = boost::program_options;
namespace fs = std::filesystem;

namespace hone {
namespace {

using StringList = std::vector<std::string>;

std::string shapes_text(const Graph& graph) {
  std::string text;
  for (int input : graph.inputs) {
    const GraphValue& value = graph.values[static_cast<size_t>(input)];
    text += (text.empty() ? "" : ";") + value.name + ":";
    for (size_t i = 0; i < value.type.shape.size(); ++i) {
      text += (i == 0 ? "" : ",") + std::to_string(value.type.shape[i]);
    }
  }
  return text;
}

bool names_task(const TuningTask& task, const std::string& name) {
  const auto is_type = [&](const Node& node) { return node.op == name; };
  return std::find(task.nodes.begin(), task.nodes.end(), name) != task.nodes.end() ||
         std::any_of(task.workload.nodes.begin(), task.workload.nodes.end(), is_type);
}

void require_known(const std::vector<TuningTask>& tasks, const StringList& names, std::string_view option) {
  for (const std::string& name : names) {
    if (std::any_of(tasks.begin(), tasks.end(), [&](const TuningTask& task) { return names_task(task, name); }))
      continue;
    std::set<std::string> known;
    for (const TuningTask& task : tasks) {
      known.insert(task.nodes.begin(), task.nodes.end());
      for (const Node& node : task.workload.nodes) known.insert(node.op);
    }
    throw UsageError{std::string(option) + " names no node or operator type of the model: '" + name +
                     "'; did you mean '" + nearest_name(name, known) + "'?"};
  }
}

}  // namespace

void add_model_options(Options& options) {
  options.add()("shape", po::value<StringList>()->composing()->value_name("NAME:1,3,224,224"),
                "shape of an input; once per input that has free dimensions")(
      "pass", po::value<StringList>()->composing()->value_name("-NAME"),
      "leave out a graph pass (hone inspect --passes lists them)");
}

ModelSession open_model(const fs::path& file, const Options& options, bool fuse) {
  ModelSession session;
  session.file = file;
  session.graph = import_onnx(file, parse_shapes(options.list("shape")));
  session.imported_nodes = static_cast<int>(session.graph.nodes.size());
  session.shapes = shapes_text(session.graph);
  session.key = file.filename().string() + " " + file_sha256(file).substr(0, 16) + " " + session.shapes;
  PassOptions passes;
  for (const std::string& pass : options.list("pass")) {
    if (!pass.starts_with('-')) throw UsageError{"--pass takes -NAME (all passes are on already), not '" + pass + "'"};
    passes.disabled.push_back(pass.substr(1));
  }
  session.passes = run_passes(session.graph, passes);
  session.layouts = assign_layouts(session.graph);
  session.groups = make_groups(session.graph, session.layouts, GroupOptions{fuse});
  return session;
}

std::vector<TuningTask> make_tasks(const ModelSession& session) {
  std::vector<TuningTask> tasks;
  std::map<std::string, size_t> by_workload;
  for (const Group& group : session.groups) {
    const auto [found, added] = by_workload.try_emplace(group.workload.id(), tasks.size());
    if (added) tasks.push_back({group.workload, 0, {}});
    TuningTask& task = tasks[found->second];
    ++task.count;
    for (int node : group.nodes) {
      const auto& origins = session.graph.nodes[static_cast<size_t>(node)].origins;
      task.nodes.insert(task.nodes.end(), origins.begin(), origins.end());
    }
  }
  return tasks;
}

bool is_workload_file(const fs::path& file) {
  return file.extension() == ".json";
}

std::vector<TuningTask> read_workload_task(const fs::path& file) {
  return {{Workload::parse(read_text(file, "workload")), 1, {file.stem().string()}}};
}

std::string workload_key(const fs::path& file, const Workload& workload) {
  return file.filename().string() + " " + workload.id().substr(0, 16);
}

std::vector<TuningTask> select_tasks(std::vector<TuningTask> tasks, const StringList& only, const StringList& skip) {
  require_known(tasks, only, "--only");
  require_known(tasks, skip, "--skip");
  std::erase_if(tasks, [&](const TuningTask& task) {
    const auto named = [&](const std::string& name) { return names_task(task, name); };
    if (std::any_of(skip.begin(), skip.end(), named)) return true;
    return !only.empty() && std::none_of(only.begin(), only.end(), named);
  });
  return tasks;
}

void add_device_options(Options& options) {
  options.add()("device", po::value<std::string>()->default_value("host")->value_name("NAME"),
                "host, or a name that `hone devices` lists")(
      "threads", po::value<int>()->default_value(1)->value_name("N"), "threads that the kernels are tuned for")(
      "weights", po::value<std::string>()->default_value("cold")->value_name("cold|hot"),
      "whether weights come from memory, as between two runs of a large model")(
      "accuracy", po::value<std::string>()->default_value("fp32")->value_name("strict|fp32"),
      "strict leaves out algorithms with a larger error than direct summation");
}

DeviceInfo device_option(const Options& options) {
  return resolve_device(options.get<std::string>("device"), detect_host_cpu());
}

TuningContext context_option(const Options& options) {
  TuningContext context;
  context.threads = options.get<int>("threads");
  if (context.threads < 1 || context.threads > 256) throw UsageError{"--threads takes 1 to 256"};
  const auto& weights = options.get<std::string>("weights");
  if (weights != "cold" && weights != "hot") throw UsageError{"--weights takes cold or hot, not '" + weights + "'"};
  context.cold_weights = weights == "cold";
  const auto& accuracy = options.get<std::string>("accuracy");
  if (accuracy != "strict" && accuracy != "fp32") {
    throw UsageError{"--accuracy takes strict or fp32, not '" + accuracy + "'"};
  }
  context.accuracy = accuracy == "strict" ? Accuracy::strict : Accuracy::fp32;
  return context;
}

}  // namespace hone
