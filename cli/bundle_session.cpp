// SPDX-License-Identifier: MIT
#include "cli/bundle_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bundle/npy.h"
#include "cli/image.h"
#include "executor/error.h"
#include "generators/nearest_name.h"

namespace hone {
namespace {

const PlanView& view_of(const BundleManifest& manifest, const PlanTensor& tensor) {
  CHECK(tensor.view < manifest.tensors.size());
  return manifest.tensors[tensor.view];
}

std::string type_text(const TensorType& type) {
  return fmt::format("{} [{}]", name(type.dtype), fmt::join(type.shape, ", "));
}

std::string subject(const BundleManifest& manifest) {
  return "bundle " + manifest.name;
}

Tensor read_input(const BundleManifest& manifest, const PlanTensor& input, const std::filesystem::path& file) {
  const TensorType type = input_type(manifest, input);
  Tensor tensor = is_image_file(file) ? read_image(file, type, manifest.preprocessing) : read_npy(file);
  if (tensor.type() != type) {
    throw Error("cannot run " + subject(manifest),
                fmt::format("input '{}' is {}, but {} holds {}", input.name, type_text(type), file.string(),
                            type_text(tensor.type())),
                "give a tensor of the input's type and shape, or build with another --shape");
  }
  return tensor;
}

std::map<std::string, std::filesystem::path> parse_assignments(const BundleManifest& manifest,
                                                               const std::vector<std::string>& assignments) {
  std::vector<std::string> names;
  for (const PlanTensor& input : manifest.inputs) names.push_back(input.name);
  std::map<std::string, std::filesystem::path> files;
  for (const std::string& assignment : assignments) {
    size_t equals = assignment.find('=');
    if (equals == std::string::npos && names.size() == 1) {  // a single input needs no name
      files[names.front()] = assignment;
      continue;
    }
    if (equals == std::string::npos) throw UsageError{"--input takes NAME=FILE, not '" + assignment + "'"};
    const std::string name = assignment.substr(0, equals);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw Error("cannot run " + subject(manifest), "it has no input '" + name + "'",
                  "did you mean '" + nearest_name(name, names) + "'?");
    }
    if (!files.emplace(name, assignment.substr(equals + 1)).second)
      throw UsageError{"--input names '" + name + "' twice"};
  }
  return files;
}

}  // namespace

BundleSession open_bundle(const Surroundings& surroundings, const std::filesystem::path& directory,
                          const std::string& transport) {
  BundleSession session;
  session.manifest = read_manifest(directory);
  session.transport = choose_transport(surroundings, transport, session.manifest.architecture);
  session.runner = start_runner(session.transport.options);
  return session;
}

TensorType input_type(const BundleManifest& manifest, const PlanTensor& tensor) {
  const PlanView& view = view_of(manifest, tensor);
  return {view.dtype, view.extents};
}

std::vector<Tensor> read_inputs(const BundleManifest& manifest, const std::vector<std::string>& assignments,
                                bool use_sample) {
  const auto files = parse_assignments(manifest, assignments);
  std::vector<Tensor> inputs;
  for (const PlanTensor& input : manifest.inputs) {
    if (const auto given = files.find(input.name); given != files.end()) {
      inputs.push_back(read_input(manifest, input, given->second));
    } else if (use_sample) {
      inputs.push_back(read_input(manifest, input, manifest.sample_directory / "inputs" / npy_file_name(input.name)));
    } else {
      throw Error("cannot run " + subject(manifest),
                  "input '" + input.name + "' " + type_text(input_type(manifest, input)) + " is not given",
                  "add --input " + input.name + "=FILE.npy, or --sample for the bundle's own");
    }
  }
  return inputs;
}

std::vector<ModelOutcome> run_bundles(Runner& runner, const std::vector<const BundleManifest*>& bundles,
                                      const std::vector<Tensor>& inputs, const MeasureOptions& options,
                                      bool profile_steps) {
  ModelRequest request;
  for (const BundleManifest* bundle : bundles) {
    request.models.push_back(
        {std::filesystem::absolute(bundle->shared_object), std::filesystem::absolute(bundle->plan), bundle->symbol});
  }
  CHECK(!bundles.empty());
  for (size_t i = 0; i < inputs.size(); ++i) {
    request.inputs.push_back(to_physical(inputs[i], view_of(*bundles.front(), bundles.front()->inputs[i]).strides));
  }
  request.options = options;
  request.profile_steps = profile_steps;
  std::vector<ModelOutcome> outcomes = runner.run_models(request);
  CHECK(outcomes.size() == bundles.size());
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].status == RunStatus::ok) continue;
    throw Error("cannot run " + subject(*bundles[i]), outcomes[i].message,
                "`hone verify` tells whether its files are intact");
  }
  return outcomes;
}

std::vector<Tensor> output_tensors(const BundleManifest& manifest, const ModelOutcome& outcome) {
  CHECK(outcome.outputs.size() == manifest.outputs.size());
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < manifest.outputs.size(); ++i) {
    const PlanView& view = view_of(manifest, manifest.outputs[i]);
    tensors.push_back(from_physical(outcome.outputs[i], {view.dtype, view.extents}, view.strides));
  }
  return tensors;
}

}  // namespace hone
