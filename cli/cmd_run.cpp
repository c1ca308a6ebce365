// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "bundle/npy.h"
#include "cli/bundle_session.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "executor/error.h"

namespace po = boost::program_options;

namespace hone {
namespace {

constexpr size_t kBestLabels = 5;

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Softmax over the scores unless they are probabilities already.
std::vector<double> probabilities(const std::vector<double>& scores) {
  const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  const bool normal =
      std::all_of(scores.begin(), scores.end(), [](double s) { return s >= 0 && s <= 1; }) && std::abs(sum - 1) < 1e-3;
  if (normal) return scores;
  std::vector<double> result;
  const double top = *std::max_element(scores.begin(), scores.end());
  for (double score : scores) result.push_back(std::exp(score - top));
  const double total = std::accumulate(result.begin(), result.end(), 0.0);
  for (double& value : result) value /= total;
  return result;
}

struct Label {
  std::string text;
  double probability = 0;
};

std::vector<Label> best_labels(const Tensor& output, const std::vector<std::string>& labels) {
  if (labels.empty() || output.elements() != static_cast<int64_t>(labels.size())) return {};
  const std::vector<double> chances = probabilities(widen(output).values);
  std::vector<size_t> order(chances.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return chances[a] > chances[b]; });
  std::vector<Label> best;
  for (size_t i = 0; i < std::min(kBestLabels, order.size()); ++i)
    best.push_back({labels[order[i]], chances[order[i]]});
  return best;
}

std::string statistics(const Tensor& tensor) {
  const std::vector<double> values = widen(tensor).values;
  double low = INFINITY, high = -INFINITY, sum = 0;
  int64_t nans = 0;
  for (double value : values) {
    if (std::isnan(value)) {
      ++nans;
      continue;
    }
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
  }
  const auto count = static_cast<double>(values.size()) - static_cast<double>(nans);
  return fmt::format("{} [{}] min {:.6g} max {:.6g} mean {:.6g}{}", name(tensor.dtype), fmt::join(tensor.shape, ", "),
                     low, high, count > 0 ? sum / count : 0.0, nans > 0 ? fmt::format(", {} NaN", nans) : "");
}

void write_outputs(const BundleManifest& manifest, const std::vector<Tensor>& outputs,
                   const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw Error("cannot write outputs to " + directory.string(), error.message(), "choose another --output folder");
  for (size_t i = 0; i < outputs.size(); ++i)
    write_npy(directory / npy_file_name(manifest.outputs[i].name), outputs[i]);
}

}  // namespace

int run_run(const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  Options options(
      "run BUNDLE --input NAME=FILE [--output DIR] [--threads N]",
      "Runs a bundle once and shows its outputs; a classifier with labels prints the five best. Inputs are .npy files, "
      "or\n"
      "images where the bundle was built with --preprocess. A bundle for another architecture runs under qemu.");
  options.positional("bundle", 1);
  options.add()("input,i", po::value<std::vector<std::string>>()->composing()->value_name("NAME=FILE"),
                "an input; the name may be left out if there is one only")(
      "sample", "use the bundle's own sample for inputs that are not given")(
      "output", po::value<std::string>()->value_name("DIR"), "write each output as DIR/NAME.npy")(
      "threads", po::value<int>()->default_value(1)->value_name("N"), "threads")(
      "transport", po::value<std::string>()->default_value("")->value_name("T"),
      "local, qemu or ssh:HOST[:RUNNER] (default: by architecture)")("json", "machine-readable, on stdout");
  if (!options.parse(arguments)) return 0;
  const BundleSession session =
      open_bundle(surroundings, options.one("bundle", "one bundle directory"), options.get<std::string>("transport"));
  const BundleManifest& manifest = session.manifest;
  const std::vector<Tensor> inputs = read_inputs(manifest, options.list("input"), options.has("sample"));
  MeasureOptions measure;
  measure.threads = options.get<int>("threads");
  if (measure.threads < 1 || measure.threads > 256) throw UsageError{"--threads takes 1 to 256"};
  measure.deadline_seconds = 600;
  const ModelOutcome outcome = run_bundles(*session.runner, {&manifest}, inputs, measure, false).front();
  const std::vector<Tensor> outputs = output_tensors(manifest, outcome);
  if (options.has("output")) write_outputs(manifest, outputs, options.get<std::string>("output"));
  const auto found = manifest.preprocessing.find("labels");
  const std::vector<std::string> labels =
      found == manifest.preprocessing.end() ? std::vector<std::string>{} : split_lines(found->second);
  nlohmann::json json = {
      {"bundle", manifest.name}, {"evidence", name(session.runner->evidence())}, {"outputs", nlohmann::json::array()}};
  for (size_t i = 0; i < outputs.size(); ++i) {
    nlohmann::json row = {
        {"name", manifest.outputs[i].name}, {"shape", outputs[i].shape}, {"dtype", name(outputs[i].dtype)}};
    if (!options.has("json")) std::printf("%s  %s\n", manifest.outputs[i].name.c_str(), statistics(outputs[i]).c_str());
    for (const Label& label : best_labels(outputs[i], labels)) {
      row["best"].push_back({{"label", label.text}, {"probability", label.probability}});
      if (!options.has("json")) std::printf("  %5.1f %%  %s\n", 100 * label.probability, label.text.c_str());
    }
    json["outputs"].push_back(row);
  }
  if (options.has("json")) std::printf("%s\n", json.dump(2).c_str());
  return 0;
}

}  // namespace hone
