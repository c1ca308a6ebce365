// SPDX-License-Identifier: MIT
// The order of things: plan, kernels, libraries, packages, sample, hashes, manifest, and the rename that makes it a
// bundle.
#include <set>
#include <string_view>

#include "bundle/manifest.h"
#include "bundle/npy.h"
#include "bundle/objects.h"
#include "bundle/package_files.h"
#include "bundle/plan_builder.h"
#include "bundle/sample.h"
#include "bundle/sha256.h"
#include "bundle/staging_directory.h"
#include "bundle/text_file.h"
#include "executor/error.h"
#include "executor/plan_writer.h"
#include "generators/operators.h"

namespace fs = std::filesystem;

namespace hone {
namespace {

BundleManifest::Kernel describe_step(const BundleRequest& request, const BuiltPlan& built, size_t index) {
  const PlanStep& step = built.plan.steps[index];
  BundleManifest::Kernel kernel;
  kernel.name = step.name;
  kernel.nodes = step.nodes;
  if (built.step_groups[index] < 0) {
    const PlanView& view = built.plan.views[step.arguments[0]];
    kernel.workload_summary = "Copy";
    kernel.bytes = 2.0 * static_cast<double>(element_count(view.extents) * element_bytes(view.dtype));
    return kernel;
  }
  const Workload& workload = request.groups[static_cast<size_t>(built.step_groups[index])].workload;
  const KernelChoice& choice = built.kernels[step.kernel].choice;
  kernel.workload = workload.id();
  kernel.workload_summary = workload.summary();
  kernel.config = choice.config.canonical();
  kernel.reason = choice.reason;
  kernel.trial = choice.trial;
  kernel.flops = flops(workload);
  kernel.bytes = compulsory_bytes(workload);
  return kernel;
}

BundleManifest describe(const BundleRequest& request, const BuiltPlan& built) {
  BundleManifest manifest;
  manifest.name = request.name;
  manifest.symbol = "hone_" + request.name;
  manifest.device = request.device.name;
  manifest.target = request.device.halide_target;
  manifest.architecture = request.device.architecture;
  manifest.context = request.context.canonical();
  manifest.model_file = request.model_file.filename().string() + " sha256:" + file_sha256(request.model_file);
  manifest.model_key = request.model_key;
  manifest.hone_version = request.hone_version;
  manifest.inputs = built.plan.inputs;
  manifest.outputs = built.plan.outputs;
  for (std::vector<PlanTensor>* tensors : {&manifest.inputs, &manifest.outputs}) {
    for (PlanTensor& tensor : *tensors) {
      manifest.tensors.push_back(built.plan.views[tensor.view]);
      tensor.view = static_cast<uint32_t>(manifest.tensors.size() - 1);
    }
  }
  for (size_t i = 0; i < built.plan.steps.size(); ++i) manifest.steps.push_back(describe_step(request, built, i));
  manifest.preprocessing = request.preprocessing;
  manifest.weight_bytes = built.weights.size();
  manifest.arena_bytes = built.plan.arena_bytes;
  manifest.arena_lower_bound = built.arena_lower_bound;
  manifest.scratch_bytes = built.plan.scratch_bytes;
  return manifest;
}

void write_sample(const BundleRequest& request, const BundleManifest& manifest, const fs::path& directory) {
  const Sample sample = make_sample(request);
  fs::create_directories(directory / "inputs");
  fs::create_directories(directory / "outputs");
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    write_npy(directory / "inputs" / npy_file_name(manifest.inputs[i].name), sample.inputs[i]);
  }
  for (size_t i = 0; i < sample.outputs.size(); ++i) {
    write_npy(directory / "outputs" / npy_file_name(manifest.outputs[i].name), sample.outputs[i]);
  }
}

std::map<std::string, std::string> hash_files(const fs::path& directory) {
  std::map<std::string, std::string> hashes;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) hashes[fs::relative(entry.path(), directory).string()] = file_sha256(entry.path());
  }
  return hashes;
}

/// As a shell reads it: quoted if it is more than a plain path.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

int count_nodes(const BuiltPlan& built) {
  std::set<std::string> nodes;
  for (const PlanStep& step : built.plan.steps) nodes.insert(step.nodes.begin(), step.nodes.end());
  return static_cast<int>(nodes.size());
}

}  // namespace

BundleSummary write_bundle(const BundleRequest& request, Builder& builder, const BundleProgress& progress) try {
  StagingDirectory staging(request.directory);
  const fs::path directory = staging.bundle();
  for (const char* folder : {"lib", "share", "include"}) fs::create_directories(directory / folder);
  const BuiltPlan built = build_plan(request, builder);
  BundleManifest manifest = describe(request, built);
  build_objects(request, built.kernels, builder, staging.work(), progress);
  link_libraries(request, manifest.symbol, built.kernels, staging.work(), directory);
  write_bytes(directory / plan_file(request.name), encode_plan(built.plan), built.weights);
  write_package_files(request, manifest, directory);
  write_sample(request, manifest, directory / "sample");
  manifest.sha256 = hash_files(directory);
  write_manifest(manifest, request.device.cpu_flags, directory);
  staging.commit();
  BundleSummary summary;
  summary.directory = request.directory;
  summary.shared_object = request.directory / shared_object_file(manifest.symbol);
  summary.plan = request.directory / plan_file(request.name);
  summary.symbol = manifest.symbol;
  summary.kernels = static_cast<int>(request.groups.size());
  summary.unique_kernels = static_cast<int>(built.kernels.size());
  summary.nodes = count_nodes(built);
  summary.weight_bytes = manifest.weight_bytes;
  summary.arena_bytes = manifest.arena_bytes;
  summary.arena_lower_bound = manifest.arena_lower_bound;
  summary.scratch_bytes = manifest.scratch_bytes;
  summary.compile_command = "cd " + shell_word(request.directory.string()) + " && " +
                            compile_command(manifest, request.device.binutils_prefix + "g++");
  return summary;
} catch (const fs::filesystem_error& error) {
  throw Error("cannot write bundle " + request.directory.string(), error.code().message(),
              "choose a folder on a writable disk with free space");
}

}  // namespace hone
