// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "bundle/npy.h"
#include "cli/bundle_session.h"
#include "cli/options.h"
#include "executor/error.h"

namespace po = boost::program_options;

namespace hone {
namespace {

// Between a float64 reference and fp32 kernels over a whole model; the same gate as hone's own tests.
constexpr double kTolerance = 1e-4;

}  // namespace

int run_verify(const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  Options options(
      "verify BUNDLE [--threads N]",
      "Checks every file of a bundle against its SHA-256 in the manifest, then runs the bundle's sample and compares "
      "with the\n"
      "expected output (a float64 reference, made when the bundle was built) within 1e-4 as max|a-b| / max|b|.");
  options.positional("bundle", 1);
  options.add()("threads", po::value<int>()->default_value(1)->value_name("N"), "threads")(
      "transport", po::value<std::string>()->default_value("")->value_name("T"),
      "local, qemu or ssh:HOST[:RUNNER] (default: by architecture)")("json", "machine-readable, on stdout");
  if (!options.parse(arguments)) return 0;
  const std::string directory = options.one("bundle", "one bundle directory");
  const std::vector<std::string> problems = verify_files(directory);
  if (!problems.empty()) {
    throw Error("bundle " + directory + " is damaged",
                problems.front() + (problems.size() > 1 ? fmt::format(" (and {} more)", problems.size() - 1) : ""),
                "build it again with `hone build`");
  }
  const BundleSession session = open_bundle(surroundings, directory, options.get<std::string>("transport"));
  const BundleManifest& manifest = session.manifest;
  MeasureOptions measure;
  measure.threads = options.get<int>("threads");
  if (measure.threads < 1 || measure.threads > 256) throw UsageError{"--threads takes 1 to 256"};
  measure.deadline_seconds = 600;
  const ModelOutcome outcome =
      run_bundles(*session.runner, {&manifest}, read_inputs(manifest, {}, true), measure, false).front();
  const std::vector<Tensor> outputs = output_tensors(manifest, outcome);
  nlohmann::json json = {
      {"bundle", manifest.name}, {"files", manifest.sha256.size()}, {"outputs", nlohmann::json::array()}};
  std::string wrong;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = manifest.outputs[i].name;
    const double error =
        relative_error(outputs[i], read_npy(manifest.sample_directory / "outputs" / npy_file_name(name)));
    json["outputs"].push_back({{"name", name}, {"relative_error", error}});
    if (!options.has("json")) std::printf("%-24s relative error %.2e\n", name.c_str(), error);
    if (!(error <= kTolerance)) wrong = fmt::format("output '{}' departs from the expected one by {:.2e}", name, error);
  }
  if (options.has("json")) std::printf("%s\n", json.dump(2).c_str());
  if (!wrong.empty())
    throw Error("bundle " + directory + " computes wrong results", wrong,
                "build it again; if it stays, report it with the model");
  if (!options.has("json")) std::printf("%zu files intact, sample right\n", manifest.sha256.size());
  return 0;
}

}  // namespace hone
