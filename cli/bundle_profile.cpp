// SPDX-License-Identifier: MIT
#include "cli/bundle_profile.h"

#include <algorithm>
#include <map>

#include "executor/error.h"
#include "schedules/config.h"

namespace hone {
namespace {

std::string implementation_of(const std::string& config) {
  return config.empty() ? "copy" : Config::parse(config).implementation;
}

}  // namespace

BundleProfile profile_bundles(Runner& runner, const std::vector<const BundleManifest*>& bundles,
                              const std::vector<std::string>& names, int threads, int rounds) {
  CHECK(bundles.size() == names.size() && !bundles.empty());
  const std::vector<Tensor> inputs = read_inputs(*bundles.front(), {}, true);
  MeasureOptions options;
  options.threads = threads;
  options.rounds = rounds;
  options.deadline_seconds = 600;
  options.want_outputs = false;
  BundleProfile profile;
  std::vector<ModelOutcome> plain = run_bundles(runner, bundles, inputs, options, false);
  profile.total_ns = plain.front().measurement.median_ns();
  for (size_t i = 0; i < bundles.size(); ++i) profile.variants.emplace_back(names[i], std::move(plain[i].measurement));
  const ModelOutcome hooked = run_bundles(runner, {bundles.front()}, inputs, options, true).front();
  const std::vector<BundleManifest::Kernel>& steps = bundles.front()->steps;
  CHECK(hooked.steps.size() == steps.size());
  double kernels_ns = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    KernelRow row;
    row.name = steps[i].name;
    row.nodes = steps[i].nodes;
    row.workload = steps[i].workload_summary;
    row.config = steps[i].config;
    row.implementation = implementation_of(steps[i].config);
    row.time_ns = hooked.steps[i].median_ns();
    row.flops = steps[i].flops;
    row.bytes = steps[i].bytes;
    row.trial = steps[i].trial;
    kernels_ns += row.time_ns;
    profile.kernels.push_back(std::move(row));
  }
  profile.unaccounted_ns = std::max(0.0, profile.total_ns - kernels_ns);
  return profile;
}

std::vector<std::pair<std::string, double>> time_by_type(const std::vector<KernelRow>& kernels) {
  std::map<std::string, double> by_type;
  for (const KernelRow& kernel : kernels)
    by_type[kernel.workload.substr(0, kernel.workload.find(' '))] += kernel.time_ns;
  std::vector<std::pair<std::string, double>> sorted(by_type.begin(), by_type.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

}  // namespace hone
