// SPDX-License-Identifier: MIT
// Running bundles from the command line: always in hone-runner's child, on the architecture they were built for, so
// that a broken bundle cannot take `hone` down. Shared by run, verify, bench, profile and report.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bundle/bundle.h"
#include "cli/installation.h"
#include "generators/tensor.h"

namespace hone {

struct BundleSession {
  BundleManifest manifest;
  TransportChoice transport;
  std::unique_ptr<Runner> runner;
};
/// Reads the manifest and starts a runner for its architecture. Throws Error.
BundleSession open_bundle(const Surroundings& surroundings, const std::filesystem::path& directory,
                          const std::string& transport);

TensorType input_type(const BundleManifest& manifest, const PlanTensor& tensor);

/// Inputs from NAME=FILE assignments (.npy, or an image by the bundle's preprocessing), the sample's where
/// `use_sample`. One that is missing, doubled, unknown, or of another type or shape is an Error (unknown: with the
/// nearest name).
std::vector<Tensor> read_inputs(const BundleManifest& manifest, const std::vector<std::string>& assignments,
                                bool use_sample);

/// Runs models interleaved; inputs are the same for all. Throws Error naming the bundle if one fails.
std::vector<ModelOutcome> run_bundles(Runner& runner, const std::vector<const BundleManifest*>& bundles,
                                      const std::vector<Tensor>& inputs, const MeasureOptions& options,
                                      bool profile_steps);

std::vector<Tensor> output_tensors(const BundleManifest& manifest, const ModelOutcome& outcome);

}  // namespace hone
