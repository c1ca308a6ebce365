// SPDX-License-Identifier: MIT
// Bundle: chosen kernels + packed weights + plan, written to a directory that an app links. Last stop of the compile
// side.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "codegen/builder.h"
#include "executor/plan.h"
#include "graph/graph.h"

namespace hone {

/// The kernel that was chosen for a workload and why.
struct KernelChoice {
  Config config;
  int64_t trial = 0;   // database row, 0: none (default schedule)
  std::string reason;  // TuningRecord::reason or "default schedule"
};

struct BundleRequest {
  std::string hone_version;
  std::string name;  // C identifier: file and symbol names
  Graph graph;       // after passes
  std::vector<ValueLayout> layouts;
  std::vector<Group> groups;
  std::map<std::string, KernelChoice> choices;  // by Workload::id(); missing: the default config of the first space
  DeviceInfo device;
  TuningContext context;
  std::filesystem::path
      directory;          // created; replaced atomically if it holds a bundle, refused if it holds anything else
  std::string model_key;  // JobKey::model, by which the database knows the model
  std::filesystem::path model_file;                  // for the manifest: name and hash
  std::filesystem::path executor_library;            // libhone_executor.a for the device's architecture, copied in
  std::filesystem::path include_directory;           // public headers, copied in
  std::map<std::string, Tensor> sample_inputs;       // by input name; missing ones are generated
  std::map<std::string, std::string> preprocessing;  // free keys for the manifest ("mean", "scale", "layout", "labels")
};

struct BundleSummary {
  std::filesystem::path directory, shared_object, plan;
  std::string symbol;
  int kernels = 0, unique_kernels = 0, nodes = 0;
  uint64_t weight_bytes = 0, arena_bytes = 0, arena_lower_bound = 0, scratch_bytes = 0;
  std::string compile_command;  // the one command that compiles main.cpp
};

/// Progress: (kernels done, kernels in all).
using BundleProgress = std::function<void(int, int)>;
/// Same request, same bytes. Throws Error: unwritable or full directory, missing binutils, kernel that does not build
/// (named).
BundleSummary write_bundle(const BundleRequest& request, Builder& builder, const BundleProgress& progress = nullptr);

/// What `hone run`, `verify`, `bench`, `profile` and `report` read back. Throws Error: not a bundle, damaged, other
/// version.
struct BundleManifest {
  std::string name, symbol, device, target, architecture, context, model_file, model_key, hone_version;
  std::filesystem::path shared_object, plan, sample_directory;
  std::vector<PlanTensor> inputs, outputs;  // view indices into `tensors`
  std::vector<PlanView> tensors;
  struct Kernel {
    std::string name;  // step name
    std::vector<std::string> nodes;
    std::string workload;  // id
    std::string workload_summary;
    std::string config;  // canonical
    std::string reason;
    int64_t trial = 0;
    double flops = 0, bytes = 0;
  };
  std::vector<Kernel> steps;  // one per plan step
  std::map<std::string, std::string> preprocessing;
  std::map<std::string, std::string> sha256;  // by relative file name
  uint64_t weight_bytes = 0, arena_bytes = 0, arena_lower_bound = 0, scratch_bytes = 0;
};
BundleManifest read_manifest(const std::filesystem::path& directory);
/// Hashes every file against the manifest; empty if all is well, else one line per problem.
std::vector<std::string> verify_files(const std::filesystem::path& directory);

}  // namespace hone
