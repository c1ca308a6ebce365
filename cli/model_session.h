// SPDX-License-Identifier: MIT
// From a model file to groups and tuning tasks: the part that inspect, tune and build share, with their common options.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "db/database.h"
#include "graph/graph.h"
#include "tuner/loop.h"

namespace hone {

struct ModelSession {
  std::filesystem::path file;
  std::string key;     // "<file name> <first 16 digits of its SHA-256> <shapes>": JobKey::model
  std::string shapes;  // canonical text of the model's input shapes
  Graph graph;         // after passes
  int imported_nodes = 0;
  std::vector<PassLog> passes;
  std::vector<ValueLayout> layouts;
  std::vector<Group> groups;
};

/// --shape, --pass
void add_model_options(Options& options);
ModelSession open_model(const std::filesystem::path& file, const Options& options, bool fuse = true);

/// Unique workloads with their counts, in order of first use.
std::vector<TuningTask> make_tasks(const ModelSession& session);
/// A model of one workload, from a .json file.
std::vector<TuningTask> read_workload_task(const std::filesystem::path& file);
bool is_workload_file(const std::filesystem::path& file);
/// Key of a workload file: "<file name> <workload id, first 16 digits>".
std::string workload_key(const std::filesystem::path& file, const Workload& workload);

/// Keeps the tasks that --only NAME... selects and drops those of --skip NAME...; a name is a node's or an operator
/// type's. Throws UsageError with the nearest name on one that matches nothing.
std::vector<TuningTask> select_tasks(std::vector<TuningTask> tasks, const std::vector<std::string>& only,
                                     const std::vector<std::string>& skip);

/// --device, --threads, --weights, --accuracy
void add_device_options(Options& options);
DeviceInfo device_option(const Options& options);
TuningContext context_option(const Options& options);

}  // namespace hone
