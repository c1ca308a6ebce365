// SPDX-License-Identifier: MIT
// Small models made into bundles by the real helper, and loaded into the test program.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bundle/bundle.h"
#include "executor/executor.h"
#include "tests/fakes/fake_bundle.h"
#include "tests/graph/evaluate.h"
#include "tests/graph/model_builder.h"

namespace hone {

/// A convolution net with a squeeze-excite, a residual, a concat and a classifier: 3 x 9 x 7 in, 5 scores out.
inline ModelBuilder small_classifier() {
  ModelBuilder model;
  model.input("image", {1, 3, 9, 7}).weights("w1", {8, 3, 3, 3}).weights("b1", {8}).weights("w2", {8, 8, 1, 1});
  model.weights("w3", {8, 8, 1, 1}).weights("w4", {11, 5}).integers("flat", {1, 11});
  const Attributes same = {{"pads", std::vector<int64_t>{1, 1, 1, 1}}};
  model.node("Conv", {"image", "w1", "b1"}, {"c1"}, same).node("Relu", {"c1"}, {"r1"});
  model.node("GlobalAveragePool", {"r1"}, {"squeezed"}).node("Conv", {"squeezed", "w2"}, {"c2"});
  model.node("Sigmoid", {"c2"}, {"gate"}).node("Mul", {"r1", "gate"}, {"gated"});
  model.node("Conv", {"gated", "w3"}, {"c3"}).node("Add", {"c3", "r1"}, {"sum"});
  model.node("Concat", {"sum", "image"}, {"both"}, {{"axis", int64_t{1}}});
  model.node("GlobalAveragePool", {"both"}, {"pooled"}).node("Reshape", {"pooled", "flat"}, {"features"});
  model.node("MatMul", {"features", "w4"}, {"logits"}).node("Softmax", {"logits"}, {"scores"}).output("scores");
  return model;
}

/// A bundle's shared form and plan, as an app would load them.
class LoadedBundle {
 public:
  LoadedBundle(const std::filesystem::path& shared, const std::string& symbol, const std::string& plan)
      : handle_(dlopen(shared.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    CHECK(handle_ != nullptr);
    const void* table = dlsym(handle_, symbol.c_str());
    CHECK(table != nullptr);
    model_ = Model::load(*static_cast<const hone_kernel_table*>(table), plan);
  }
  ~LoadedBundle() {
    model_.reset();
    dlclose(handle_);
  }
  LoadedBundle(const LoadedBundle&) = delete;
  LoadedBundle& operator=(const LoadedBundle&) = delete;

  const Plan& plan() const { return model_->plan(); }
  std::vector<Tensor> run(const std::vector<Tensor>& inputs, int threads) const {
    const auto context = Context::create(model_, {.threads = threads});
    for (size_t i = 0; i < inputs.size(); ++i) context->set_input(static_cast<int>(i), inputs[i].bytes.data());
    context->run();
    context->run();  // the second finds the scratch and the arena as the first left them
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < plan().outputs.size(); ++i) {
      const PlanView& view = plan().views[plan().outputs[i].view];
      Tensor tensor = Tensor::zeros(view.dtype, view.extents);
      std::memcpy(tensor.bytes.data(), context->output(static_cast<int>(i)), tensor.bytes.size());
      outputs.push_back(std::move(tensor));
    }
    return outputs;
  }

 private:
  void* handle_;
  std::shared_ptr<const Model> model_;
};

class BundleTest : public testing::Test {
 protected:
  BundleRequest request(const ModelBuilder& model, bool fuse = true) const {
    BundleRequest request;
    request.hone_version = "test";
    request.name = "small";
    request.graph = model.import();
    run_passes(request.graph);
    request.layouts = assign_layouts(request.graph);
    request.groups = make_groups(request.graph, request.layouts, {.fuse = fuse});
    request.device = resolve_device("host", detect_host_cpu());
    request.directory = directory_.path() / "bundle";
    request.model_file = model.save();
    request.executor_library = HONE_EXECUTOR_LIBRARY;
    request.include_directory = HONE_SOURCE_DIRECTORY;
    return request;
  }
  std::vector<Tensor> inputs_for(const Graph& graph, uint64_t seed = 3) const {
    Workload border;
    for (const int input : graph.inputs) {
      const TensorType& type = graph.values[static_cast<size_t>(input)].type;
      border.arguments.push_back({type, dense_strides(type.shape), false});
    }
    return make_arguments(border, seed);
  }
  /// Builds, loads and runs it; the outputs must be those of the unoptimised graph's reference.
  BundleSummary expect_right(const ModelBuilder& model, bool fuse = true, double tolerated = 1e-5) {
    const BundleRequest wanted = request(model, fuse);
    BundleSummary summary = write_bundle(wanted, *builder_);
    const LoadedBundle bundle(summary.shared_object, summary.symbol, summary.plan);
    const std::vector<Tensor> inputs = inputs_for(wanted.graph);
    const std::vector<Tensor> expected = evaluate_unfused(model.import(), inputs);
    for (const int threads : {1, 2}) {
      const std::vector<Tensor> outputs = bundle.run(inputs, threads);
      EXPECT_EQ(outputs.size(), expected.size());
      for (size_t i = 0; i < outputs.size(); ++i) {
        EXPECT_LE(relative_error(outputs[i], expected[i]), tolerated)
            << "output " << i << ", " << threads << " threads";
      }
    }
    return summary;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Builder> builder_ = start_halide_builder({.helper = HONE_COMPILE, .workers = 2});
};

}  // namespace hone
