// SPDX-License-Identifier: MIT
#include "bundle/manifest.h"

#include <nlohmann/json.hpp>

#include "bundle/sha256.h"
#include "bundle/text_file.h"
#include "executor/error.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace hone {
namespace {

constexpr int kFormat = 1;
constexpr const char* kFile = "manifest.json";

json view_json(const PlanView& view) {
  return {{"dtype", name(view.dtype)}, {"shape", view.extents}, {"strides", view.strides}};
}

PlanView view_from(const json& text) {
  PlanView view;
  const auto dtype = parse_dtype(text.at("dtype").get<std::string>());
  if (!dtype) throw std::invalid_argument("unknown dtype");
  view.dtype = *dtype;
  text.at("shape").get_to(view.extents);
  text.at("strides").get_to(view.strides);
  if (view.extents.size() != view.strides.size()) throw std::invalid_argument("shape and strides differ in rank");
  return view;
}

void read_tensors(const json& text, BundleManifest& manifest, std::vector<PlanTensor>& tensors) {
  for (const json& entry : text) {
    tensors.push_back({entry.at("name").get<std::string>(), static_cast<uint32_t>(manifest.tensors.size())});
    manifest.tensors.push_back(view_from(entry));
  }
}

json tensors_json(const BundleManifest& manifest, const std::vector<PlanTensor>& tensors) {
  json list = json::array();
  for (const PlanTensor& tensor : tensors) {
    json entry = view_json(manifest.tensors[tensor.view]);
    entry["name"] = tensor.name;
    list.push_back(std::move(entry));
  }
  return list;
}

json kernel_json(const BundleManifest::Kernel& kernel) {
  return {{"name", kernel.name},         {"nodes", kernel.nodes},
          {"workload", kernel.workload}, {"summary", kernel.workload_summary},
          {"config", kernel.config},     {"reason", kernel.reason},
          {"trial", kernel.trial},       {"flops", kernel.flops},
          {"bytes", kernel.bytes}};
}

BundleManifest::Kernel kernel_from(const json& text) {
  BundleManifest::Kernel kernel;
  text.at("name").get_to(kernel.name);
  text.at("nodes").get_to(kernel.nodes);
  text.at("workload").get_to(kernel.workload);
  text.at("summary").get_to(kernel.workload_summary);
  text.at("config").get_to(kernel.config);
  text.at("reason").get_to(kernel.reason);
  text.at("trial").get_to(kernel.trial);
  text.at("flops").get_to(kernel.flops);
  text.at("bytes").get_to(kernel.bytes);
  return kernel;
}

BundleManifest parse(const json& text, const fs::path& directory) {
  BundleManifest manifest;
  text.at("name").get_to(manifest.name);
  text.at("symbol").get_to(manifest.symbol);
  text.at("device").get_to(manifest.device);
  text.at("target").get_to(manifest.target);
  text.at("architecture").get_to(manifest.architecture);
  text.at("context").get_to(manifest.context);
  text.at("model_file").get_to(manifest.model_file);
  text.at("model_key").get_to(manifest.model_key);
  text.at("hone_version").get_to(manifest.hone_version);
  read_tensors(text.at("inputs"), manifest, manifest.inputs);
  read_tensors(text.at("outputs"), manifest, manifest.outputs);
  for (const json& kernel : text.at("steps")) manifest.steps.push_back(kernel_from(kernel));
  text.at("preprocessing").get_to(manifest.preprocessing);
  text.at("sha256").get_to(manifest.sha256);
  const json& memory = text.at("memory");
  memory.at("weight_bytes").get_to(manifest.weight_bytes);
  memory.at("arena_bytes").get_to(manifest.arena_bytes);
  memory.at("arena_lower_bound").get_to(manifest.arena_lower_bound);
  memory.at("scratch_bytes").get_to(manifest.scratch_bytes);
  manifest.shared_object = directory / shared_object_file(manifest.symbol);
  manifest.plan = directory / plan_file(manifest.name);
  manifest.sample_directory = directory / "sample";
  return manifest;
}

bool plain_relative(const std::string& name) {
  const fs::path path(name);
  if (path.is_absolute()) return false;
  for (const fs::path& part : path) {
    if (part == "..") return false;
  }
  return true;
}

}  // namespace

std::string plan_file(const std::string& name) {
  return "share/" + name + ".hone";
}

std::string shared_object_file(const std::string& symbol) {
  return "lib/" + symbol + ".so";
}

bool is_bundle(const fs::path& directory) {
  std::error_code error;
  return fs::is_regular_file(directory / kFile, error);
}

void write_manifest(const BundleManifest& manifest, const std::vector<std::string>& cpu_flags,
                    const fs::path& directory) {
  json text = {{"format", kFormat},
               {"name", manifest.name},
               {"symbol", manifest.symbol},
               {"plan", plan_file(manifest.name)},
               {"shared_object", shared_object_file(manifest.symbol)},
               {"device", manifest.device},
               {"target", manifest.target},
               {"architecture", manifest.architecture},
               {"cpu_flags", cpu_flags},
               {"context", manifest.context},
               {"model_file", manifest.model_file},
               {"model_key", manifest.model_key},
               {"hone_version", manifest.hone_version},
               {"inputs", tensors_json(manifest, manifest.inputs)},
               {"outputs", tensors_json(manifest, manifest.outputs)},
               {"preprocessing", manifest.preprocessing},
               {"sha256", manifest.sha256},
               {"memory",
                {{"weight_bytes", manifest.weight_bytes},
                 {"arena_bytes", manifest.arena_bytes},
                 {"arena_lower_bound", manifest.arena_lower_bound},
                 {"scratch_bytes", manifest.scratch_bytes}}},
               {"steps", json::array()}};
  for (const BundleManifest::Kernel& kernel : manifest.steps) text["steps"].push_back(kernel_json(kernel));
  // Names come from the model and may be anything; what is not UTF-8 is replaced.
  write_text(directory / kFile, text.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

BundleManifest read_manifest(const fs::path& directory) {
  const std::string attempted = "cannot open bundle " + directory.string();
  if (!is_bundle(directory))
    throw Error(attempted, "it has no manifest.json", "give a directory that `hone build` wrote");
  try {
    const json text = json::parse(read_text(directory / kFile, "manifest"));
    const int format = text.at("format").get<int>();
    if (format != kFormat) {
      throw Error(attempted, "its format is " + std::to_string(format) + ", this hone reads " + std::to_string(kFormat),
                  "build it again with this hone");
    }
    return parse(text, directory);
  } catch (const json::exception& error) {
    throw Error(attempted, "manifest.json is damaged (" + std::string(error.what()) + ")",
                "build it again with `hone build`");
  } catch (const std::invalid_argument& error) {
    throw Error(attempted, "manifest.json is damaged (" + std::string(error.what()) + ")",
                "build it again with `hone build`");
  }
}

std::vector<std::string> verify_files(const fs::path& directory) {
  std::vector<std::string> problems;
  for (const auto& [file, expected] : read_manifest(directory).sha256) {
    if (!plain_relative(file)) {
      problems.push_back("manifest.json names a file outside of the bundle: " + file);
    } else if (!fs::is_regular_file(directory / file)) {
      problems.push_back(file + " is missing");
    } else if (file_sha256(directory / file) != expected) {
      problems.push_back(file + " differs from what was built");
    }
  }
  return problems;
}

}  // namespace hone
