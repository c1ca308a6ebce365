// SPDX-License-Identifier: MIT
// hone build: takes the best known schedule of each kernel from the database (or the defaults) and writes a bundle.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bundle/bundle.h"
#include "bundle/npy.h"
#include "bundle/sha256.h"
#include "bundle/text_file.h"
#include "cli/installation.h"
#include "cli/model_session.h"
#include "cli/terminal.h"
#include "executor/error.h"

namespace po = boost::program_options;

namespace hone {
namespace {

Options build_options() {
  Options options("build MODEL.onnx --device host -o DIR [--db FILE] [--untuned] ...",
                  "Writes a bundle: static library, shared object, plan with packed weights, headers, CMake and "
                  "pkg-config packages,\n"
                  "a main.cpp that runs it, a sample with expected output, and a manifest. Kernels whose workload was "
                  "tuned for this\n"
                  "device and context use the winner from the database, the others their default schedule.");
  options.positional("model", 1);
  add_model_options(options);
  add_device_options(options);
  options.add()("output,o", po::value<std::string>()->value_name("DIR"),
                "bundle directory (replaced if it is a bundle)")(
      "db", po::value<std::string>()->value_name("FILE"), "tuning database (default: $XDG_DATA_HOME/hone/hone.sqlite)")(
      "untuned", "default schedules only; the database is not read")(
      "debug", "one kernel per node: every value can be looked at")(
      "name", po::value<std::string>()->value_name("NAME"), "C identifier of the bundle (default: from the file name)")(
      "preprocess", po::value<std::string>()->value_name("FILE.json"),
      "how hone run makes an input from an image: resize, mean, scale, channels, labels (a file)")(
      "sample", po::value<std::vector<std::string>>()->composing()->value_name("NAME=FILE.npy"),
      "sample input (default: random)")("json", "machine-readable result, on stdout");
  return options;
}

std::string identifier(const std::string& text) {
  std::string result;
  for (const unsigned char c : text) result += std::isalnum(c) ? static_cast<char>(c) : '_';
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0]))) result.insert(0, 1, 'm');
  return result;
}

int64_t find_environment(TuningDatabase& database, const std::string& device_cpu) {
  int64_t id = 0;
  for (const auto& [row, environment] : database.environments()) {
    if (environment.cpu == device_cpu && environment.hone_version == kVersion && environment.transport == "local")
      id = row;
  }
  return id;
}

std::map<std::string, KernelChoice> choose_kernels(TuningDatabase& database, const std::vector<TuningTask>& tasks,
                                                   const DeviceInfo& device, const TuningContext& context) {
  std::map<std::string, KernelChoice> choices;
  const int64_t environment = find_environment(database, detect_host_cpu().identity);
  for (const TuningTask& task : tasks) {
    const std::string id = task.workload.id();
    const TuningRecord record = database.best({id, device.name, context}, environment);
    if (record.match == Match::none) continue;
    // A schedule of an older version of its implementation, or one that this device's space no longer has, is not what
    // was measured.
    for (const SearchSpace& space : search_spaces(implementations(), task.workload, device, context)) {
      if (space.implementation != record.config.implementation || space.version != record.config.version) continue;
      if (space.violation(record.config).empty()) choices[id] = {record.config, record.trial, record.reason};
    }
  }
  return choices;
}

std::map<std::string, std::string> read_preprocessing(const std::filesystem::path& file) {
  std::map<std::string, std::string> values;
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(read_text(file, "preprocessing"));
  } catch (const nlohmann::json::exception& error) {
    throw Error("cannot read preprocessing " + file.string(), error.what(),
                "give a JSON object of strings and numbers");
  }
  for (const auto& [key, value] : json.items()) {
    if (key == "labels") {  // a file beside this one; its lines travel with the bundle
      values[key] = read_text(file.parent_path() / value.get<std::string>(), "labels");
    } else {
      values[key] = value.is_string() ? value.get<std::string>() : value.dump();
    }
  }
  return values;
}

std::map<std::string, Tensor> read_samples(const Graph& graph, const std::vector<std::string>& assignments) {
  std::map<std::string, Tensor> samples;
  for (const std::string& assignment : assignments) {
    const size_t equals = assignment.find('=');
    if (equals == std::string::npos) throw UsageError{"--sample takes NAME=FILE.npy, not '" + assignment + "'"};
    const std::string name = assignment.substr(0, equals);
    const auto known = [&](int input) { return graph.values[static_cast<size_t>(input)].name == name; };
    const auto found = std::find_if(graph.inputs.begin(), graph.inputs.end(), known);
    if (found == graph.inputs.end()) throw UsageError{"--sample names no input of the model: '" + name + "'"};
    Tensor tensor = read_npy(assignment.substr(equals + 1));
    if (tensor.type() != graph.values[static_cast<size_t>(*found)].type) {
      throw Error("cannot use sample " + assignment.substr(equals + 1),
                  "its type or shape is not that of input '" + name + "'", "give a fitting tensor");
    }
    samples[name] = std::move(tensor);
  }
  return samples;
}

void print_summary(const BundleSummary& summary, size_t tuned, const std::string& directory) {
  std::printf("bundle     %s\n", directory.c_str());
  std::printf("kernels    %d (%d different, %zu of them tuned) for %d nodes\n", summary.kernels, summary.unique_kernels,
              tuned, summary.nodes);
  std::printf("memory     weights %s, activations %s (lower bound %s)\n",
              format_bytes(static_cast<double>(summary.weight_bytes)).c_str(),
              format_bytes(static_cast<double>(summary.arena_bytes)).c_str(),
              format_bytes(static_cast<double>(summary.arena_lower_bound)).c_str());
  std::printf("compile    %s\n", summary.compile_command.c_str());
  std::printf("next       hone verify %s; hone profile %s\n", directory.c_str(), directory.c_str());
}

std::filesystem::path database_option(const Options& options, const Surroundings& surroundings) {
  return options.has("db") ? std::filesystem::path(options.get<std::string>("db")) : surroundings.database;
}

/// The database learns of the bundle where it may be written to; a bundle is complete without.
void note_artifact(const std::filesystem::path& file, const BundleRequest& request, ProgressLine& progress) {
  try {
    const auto database = TuningDatabase::open(file, TuningDatabase::Mode::read_write);
    const std::vector<std::string> models = database->models();
    if (std::find(models.begin(), models.end(), request.model_key) == models.end()) return;
    database->add_artifact({"bundle", request.model_key, request.device.name, request.context.canonical(),
                            std::filesystem::absolute(request.directory).string(),
                            file_sha256(request.directory / "manifest.json"), ""});
  } catch (const Error& error) {
    progress.note(std::string("note: the bundle is not listed in the database: ") + error.what());
  }
}

}  // namespace

int run_build(const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  Options options = build_options();
  if (!options.parse(arguments)) return 0;
  const std::string model = options.one("model", "one model file");
  if (!options.has("output")) throw UsageError{"hone build needs -o DIR"};
  BundleRequest request;
  request.hone_version = kVersion;
  request.device = device_option(options);
  request.context = context_option(options);
  request.directory = options.get<std::string>("output");
  request.executor_library = executor_library(surroundings, request.device.architecture);
  request.include_directory = include_directory(surroundings);
  request.model_file = model;
  ModelSession session = open_model(model, options, !options.has("debug"));
  const std::vector<TuningTask> tasks = make_tasks(session);
  request.model_key = session.key;
  request.name = identifier(options.has("name") ? options.get<std::string>("name") : session.graph.name);
  request.sample_inputs = read_samples(session.graph, options.list("sample"));
  if (options.has("preprocess")) request.preprocessing = read_preprocessing(options.get<std::string>("preprocess"));
  const std::unique_ptr<Builder> builder = start_builder(surroundings, std::max(1, detect_host_cpu().cores));
  ProgressLine progress(surroundings.terminal);
  if (!options.has("untuned")) {
    const std::filesystem::path file = database_option(options, surroundings);
    if (options.has("db") || std::filesystem::exists(file)) {
      request.choices = choose_kernels(*TuningDatabase::open(file, TuningDatabase::Mode::read_only), tasks,
                                       request.device, request.context);
    }
    if (request.choices.size() < tasks.size()) {
      progress.note(fmt::format("note: {} of {} workloads are not tuned for {} with {}; they get default schedules",
                                tasks.size() - request.choices.size(), tasks.size(), request.device.name,
                                request.context.canonical()));
    }
  }
  const size_t tuned = request.choices.size();
  request.graph = std::move(session.graph);
  request.layouts = std::move(session.layouts);
  request.groups = std::move(session.groups);
  const BundleSummary summary = write_bundle(
      request, *builder, [&](int done, int all) { progress.update(fmt::format("kernel {} of {}", done, all)); });
  if (tuned > 0) note_artifact(database_option(options, surroundings), request, progress);
  if (options.has("json")) {
    const nlohmann::json json = {{"directory", request.directory.string()},
                                 {"kernels", summary.kernels},
                                 {"unique_kernels", summary.unique_kernels},
                                 {"tuned", tuned},
                                 {"nodes", summary.nodes},
                                 {"weight_bytes", summary.weight_bytes},
                                 {"arena_bytes", summary.arena_bytes},
                                 {"arena_lower_bound", summary.arena_lower_bound},
                                 {"compile_command", summary.compile_command}};
    std::printf("%s\n", json.dump(2).c_str());
  } else {
    print_summary(summary, tuned, request.directory.string());
  }
  return 0;
}

}  // namespace hone
