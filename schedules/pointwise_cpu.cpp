// SPDX-License-Identifier: MIT
// Chains of pointwise operators. Dimensions that all tensors walk in step are merged, so that most workloads become one
// long loop (or two where an operand is broadcast), vectorised and unrolled.
#include <algorithm>
#include <numeric>

#include "executor/error.h"
#include "generators/algorithms.h"
#include "generators/operators.h"
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

/// Extents of the merged loops, innermost first, and every tensor's strides over them (0: broadcast).
struct MergedLoops {
  std::vector<int64_t> extents;
  std::vector<std::vector<int64_t>> argument_strides;  // [argument][loop]
  std::vector<int64_t> output_strides;
};

/// The strides of an operand over the dimensions of the output (ONNX order); broadcast ones are 0.
Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& output) {
  Strides result(output.size(), 0);
  const size_t missing = output.size() - shape.size();
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1) result[d + missing] = strides[d];
  }
  return result;
}

MergedLoops merge_loops(const Workload& workload) {
  const Shape& output = workload.type(workload.outputs[0].value).shape;
  std::vector<Strides> strides{workload.outputs[0].strides};
  for (const Argument& argument : workload.arguments) {
    strides.push_back(broadcast_strides(argument.type.shape, argument.strides, output));
  }
  std::vector<size_t> order;
  for (size_t d = output.size(); d-- > 0;) {
    if (output[d] != 1) order.push_back(d);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return strides[0][a] < strides[0][b]; });
  MergedLoops loops;
  std::vector<std::vector<int64_t>> merged(strides.size());
  for (const size_t d : order) {
    bool in_step = !loops.extents.empty();
    for (size_t t = 0; in_step && t < strides.size(); ++t) {
      in_step = strides[t][d] == merged[t].back() * loops.extents.back();
    }
    if (in_step) {
      loops.extents.back() *= output[d];
      continue;
    }
    loops.extents.push_back(output[d]);
    for (size_t t = 0; t < strides.size(); ++t) merged[t].push_back(strides[t][d]);
  }
  loops.output_strides = merged[0];
  loops.argument_strides.assign(merged.begin() + 1, merged.end());
  return loops;
}

int64_t widest_element(const Workload& workload) {
  int64_t bytes = 1;
  for (int id = 0; id < workload.value_count(); ++id) bytes = std::max(bytes, element_bytes(workload.type(id).dtype));
  return bytes;
}

class PointwiseCpu final : public Implementation {
 public:
  std::string_view name() const override { return "pointwise_cpu"; }
  int version() const override { return 1; }
  std::string_view description() const override { return "pointwise chains over merged dimensions"; }

  Support supports(const Workload& workload, const DeviceInfo&) const override {
    for (const Node& node : workload.nodes) {
      const Operator* entry = find_operator(node.op);
      if (entry == nullptr || entry->kind != OperatorKind::pointwise) return {false, "has a " + node.op};
    }
    if (workload.outputs.size() != 1) return {false, "has more than one output"};
    if (workload.producer(workload.outputs[0].value) < 0) return {false, "computes nothing"};
    return {true, ""};
  }

  SearchSpace space(const Workload& workload, const DeviceInfo&, const TuningContext& context) const override {
    SearchSpace space;
    space.implementation = name();
    space.version = version();
    space.params = {{"unroll", {1, 2, 4}}};
    space.default_config = {std::string(name()), version(), {{"unroll", 2}}};
    if (context.threads > 1) {
      // Handing out chunks costs about a microsecond: small tensors are done before it pays.
      const bool large = element_count(workload.type(workload.outputs[0].value).shape) >= 16384;
      space.params.push_back({"parallel", {0, 1}});
      space.default_config.values["parallel"] = large;
    }
    return space;
  }

  std::vector<PackedConstant> pack(const Workload&, const Config&, std::span<const Tensor> constants) const override {
    std::vector<PackedConstant> packed;
    for (const Tensor& constant : constants) packed.push_back(pack_dense(constant));
    return packed;
  }

  KernelPipeline build(const Workload& workload, const Config& config, const DeviceInfo& device) const override;
};

/// In ONNX order (outermost first), as KernelArguments wants it.
std::vector<int64_t> reversed(std::vector<int64_t> values) {
  std::reverse(values.begin(), values.end());
  return values;
}

void schedule(Func output, const std::vector<Var>& vars, const MergedLoops& loops, int lanes, const Config& config) {
  if (vars.empty()) return;
  const Var inner = vars[0];
  Var chunk("chunk"), lane("lane");
  const bool parallel = config.values.contains("parallel") && config.at("parallel") != 0;
  constexpr int kChunk = 4096;  // elements that one parallel task takes of a single long loop
  if (parallel && vars.size() == 1 && loops.extents[0] > kChunk) {
    output.split(inner, chunk, inner, kChunk, TailStrategy::GuardWithIf).parallel(chunk);
  } else if (parallel && vars.size() > 1) {
    output.parallel(vars.back());
  }
  if (loops.extents[0] < lanes || loops.output_strides[0] != 1) return;
  const int unroll = static_cast<int>(config.at("unroll"));
  if (unroll > 1 && loops.extents[0] >= lanes * unroll) {
    Var group("group");
    output.split(inner, inner, group, lanes * unroll, TailStrategy::GuardWithIf)
        .split(group, group, lane, lanes)
        .vectorize(lane)
        .unroll(group);
  } else {
    output.vectorize(inner, lanes, TailStrategy::GuardWithIf);
  }
}

KernelPipeline PointwiseCpu::build(const Workload& workload, const Config& config, const DeviceInfo& device) const {
  const MergedLoops loops = merge_loops(workload);
  KernelArguments arguments(workload);
  std::vector<Var> vars;
  for (size_t k = 0; k < loops.extents.size(); ++k) vars.emplace_back("d" + std::to_string(k));
  for (size_t a = 0; a < workload.arguments.size(); ++a) {
    Shape shape;
    for (size_t k = 0; k < vars.size(); ++k) shape.push_back(loops.argument_strides[a][k] == 0 ? 1 : loops.extents[k]);
    arguments.view_as(static_cast<int>(a), reversed(shape), reversed(loops.argument_strides[a]));
  }
  // Every operand is read at the merged loops, whatever index broadcasting asks for.
  const LoadArgument loader = [&](int argument, const std::vector<Expr>&) {
    std::vector<Expr> index;
    for (size_t k = 0; k < vars.size(); ++k) {
      const bool broadcast = loops.argument_strides[static_cast<size_t>(argument)][k] == 0;
      index.push_back(broadcast ? Expr(0) : Expr(vars[k]));
    }
    return arguments.load(argument, index);
  };
  const std::vector<Expr> any_index(workload.type(workload.outputs[0].value).shape.size(), Expr(0));
  Func output("output");
  output(vars) = epilogue_expr(workload, -1, Expr(), any_index, loader);
  bake_output(output, reversed(loops.extents), reversed(loops.output_strides));
  schedule(output, vars, loops, device.vector_bits / 8 / static_cast<int>(widest_element(workload)), config);
  return {Halide::Pipeline(output), arguments.list()};
}

}  // namespace

const Implementation* pointwise_cpu() {
  static const PointwiseCpu implementation;
  return &implementation;
}

}  // namespace hone
