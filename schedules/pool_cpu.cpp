// SPDX-License-Identifier: MIT
// Pooling and reductions over dimensions that are not innermost in memory: every lane of a vector reduces its own
// output, so that no lanes are ever added up. The accumulators of a tile stay in registers.
#include <algorithm>
#include <numeric>

#include "executor/error.h"
#include "generators/algorithms.h"
#include "schedules/epilogue.h"
#include "schedules/kernel_arguments.h"
#include "schedules/kernel_pipeline.h"
#include "schedules/packing.h"

namespace hone {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;

const std::vector<std::string_view> kOps{"MaxPool",    "AveragePool", "GlobalMaxPool", "GlobalAveragePool",
                                         "ReduceMean", "ReduceSum",   "ReduceMax",     "ReduceMin"};

/// ONNX dimension of the output over which vectors run: the one with stride 1, if it is a dimension of the input that
/// is not reduced and has stride 1 there too; -1 if there is none.
int vector_dimension(const Workload& workload, const Node& anchor) {
  const Argument& input = workload.arguments[static_cast<size_t>(anchor.inputs[0])];
  const bool reduce = anchor.op.starts_with("Reduce");
  const bool keeps = !reduce || int_attribute(anchor.attributes, "keepdims") != 0;
  std::vector<int64_t> reduced{2, 3};
  if (reduce) reduced = ints_attribute(anchor.attributes, "axes");
  if (reduced.empty()) return -1;
  int position = 0;  // in the output
  for (size_t d = 0; d < input.type.shape.size(); ++d) {
    const bool is_reduced = std::find(reduced.begin(), reduced.end(), static_cast<int64_t>(d)) != reduced.end();
    if (is_reduced) {
      position += keeps;
      continue;
    }
    const bool contiguous = input.strides[d] == 1 && input.type.shape[d] > 1;
    if (contiguous && workload.outputs[0].strides[static_cast<size_t>(position)] == 1) return position;
    ++position;
  }
  return -1;
}

class PoolCpu final : public Implementation {
 public:
  std::string_view name() const override { return "pool_cpu"; }
  int version() const override { return 1; }
  std::string_view description() const override { return "pooling and reduction, a vector of outputs at a time"; }

  Support supports(const Workload& workload, const DeviceInfo&) const override {
    const AnchorMatch match = match_anchor(workload, kOps);
    if (match.anchor == nullptr) return {false, match.reason};
    if (vector_dimension(workload, *match.anchor) < 0) return {false, "no kept dimension is innermost in memory"};
    return {true, ""};
  }

  SearchSpace space(const Workload& workload, const DeviceInfo& device, const TuningContext& context) const override {
    const AnchorMatch match = match_anchor(workload, kOps);
    const Shape& output = match.anchor->outputs[0].shape;
    const int64_t extent = output[static_cast<size_t>(vector_dimension(workload, *match.anchor))];
    const int64_t outputs = element_count(output) / extent;
    SearchSpace space;
    space.implementation = name();
    space.version = version();
    std::vector<int64_t> vectors{1, 2, 4, 8};
    std::erase_if(vectors, [&](int64_t nv) { return nv > 1 && nv * device.float_lanes() > extent; });
    space.params = {{"nv", vectors},
                    {"unroll", {0, 1}},
                    {"xr", outputs == 1 ? std::vector<int64_t>{1} : std::vector<int64_t>{1, 2, 4}}};
    if (context.threads > 1) space.params.push_back({"parallel", {0, 1}});
    space.constraints.push_back({"registers", [](const Config& c) { return c.at("nv") * c.at("xr") <= 8; }});
    space.default_config = {std::string(name()), version(), {{"nv", 1}, {"unroll", 1}, {"xr", 1}}};
    // A global pool has one output a channel: several vectors are the only independent chains.
    if (outputs == 1) space.default_config.values["nv"] = std::min<int64_t>(4, vectors.back());
    if (context.threads > 1) space.default_config.values["parallel"] = 1;
    return space;
  }

  std::vector<PackedConstant> pack(const Workload&, const Config&, std::span<const Tensor> constants) const override {
    std::vector<PackedConstant> packed;
    for (const Tensor& constant : constants) packed.push_back(pack_dense(constant));
    return packed;
  }

  KernelPipeline build(const Workload& workload, const Config& config, const DeviceInfo& device) const override;
};

Func argument_func(const Workload& workload, const KernelArguments& arguments, int argument) {
  std::vector<Var> vars;
  for (size_t k = 0; k < workload.type(argument).shape.size(); ++k) vars.emplace_back("a" + std::to_string(k));
  Func func("input");
  func(vars) = arguments.load(argument, std::vector<Expr>(vars.begin(), vars.end()));
  return func;
}

/// Unrolls the taps of a small window; a large one stays a loop.
void unroll_taps(Halide::Stage update, Func stage, int64_t limit) {
  int64_t taps = 1;
  const std::vector<Halide::RVar> domain = stage.rvars(0);
  for (const Halide::RVar& r : domain) {
    const auto extent = Halide::Internal::as_const_int(r.extent());
    taps *= extent ? *extent : limit + 1;
  }
  if (taps > limit) return;
  for (const Halide::RVar& r : domain) update.unroll(r);
}

KernelPipeline PoolCpu::build(const Workload& workload, const Config& config, const DeviceInfo& device) const {
  const AnchorMatch match = match_anchor(workload, kOps);
  const Node& anchor = *match.anchor;
  KernelArguments arguments(workload);
  std::vector<Func> stages;
  const Func input = argument_func(workload, arguments, anchor.inputs[0]);
  Func pooled =
      node_algorithm(anchor, std::vector<Func>{input}, std::vector<TensorType>{workload.type(anchor.inputs[0])},
                     workload.accumulator, stages, 0);
  const WorkloadOutput& result = workload.outputs[0];
  const Shape& shape = workload.type(result.value).shape;
  std::vector<Var> vars;
  for (size_t k = 0; k < shape.size(); ++k) vars.emplace_back("d" + std::to_string(k));
  const std::vector<Expr> index(vars.begin(), vars.end());
  const LoadArgument loader = [&](int argument, const std::vector<Expr>& i) { return arguments.load(argument, i); };
  Func output("output");
  output(vars) = epilogue_expr(workload, match.value, pooled(index), index, loader);
  bake_output(output, shape, result.strides);

  const size_t lane_dim = shape.size() - 1 - static_cast<size_t>(vector_dimension(workload, anchor));
  const Var c = vars[lane_dim];
  std::vector<Halide::VarOrRVar> order;
  for (const Var& v : vars) {
    if (v.name() != c.name()) order.emplace_back(v);
  }
  const int lanes = device.float_lanes(), vectors = static_cast<int>(config.at("nv"));
  const int64_t channels = shape[shape.size() - 1 - lane_dim];
  Var block("cb"), vector("cv"), lane("cl"), tile("xt"), pixel("xi");
  const auto tail = [](bool divides) { return divides ? TailStrategy::RoundUp : TailStrategy::GuardWithIf; };
  const int64_t whole_vectors = (channels + lanes - 1) / lanes;
  // Lanes first: the guard of a last block is a scalar branch per vector, not a mask.
  output.split(c, vector, lane, lanes, tail(channels % lanes == 0))
      .split(vector, block, vector, vectors, tail(whole_vectors % vectors == 0));
  std::vector<Halide::VarOrRVar> loops{lane, vector};
  Var level = block;
  if (!order.empty()) {
    const Var x(order[0].name());
    output.split(x, tile, pixel, static_cast<int>(config.at("xr")), TailStrategy::GuardWithIf);
    loops.insert(loops.end(), {pixel, block, tile});
    loops.insert(loops.end(), order.begin() + 1, order.end());
  } else {
    loops.push_back(block);
  }
  output.reorder(loops).vectorize(lane).unroll(vector);
  if (!order.empty()) output.unroll(pixel);
  if (config.values.contains("parallel") && config.at("parallel") != 0) {
    output.parallel(order.empty() ? block : order.size() > 1 ? Var(order.back().name()) : tile);
  }
  for (Func& stage : stages) {
    const Var inner = stage.args()[lane_dim];
    stage.compute_at(output, level).store_in(Halide::MemoryType::Stack);
    stage.vectorize(inner, lanes, TailStrategy::GuardWithIf);
    Halide::Stage update = stage.update();
    update.vectorize(inner, lanes, TailStrategy::GuardWithIf);
    if (config.at("unroll") != 0) unroll_taps(update, stage, 32);
  }
  return {Halide::Pipeline(output), arguments.list()};
}

}  // namespace

const Implementation* pool_cpu() {
  static const PoolCpu implementation;
  return &implementation;
}

}  // namespace hone
