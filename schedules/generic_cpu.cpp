// SPDX-License-Identifier: MIT
// The fallback: any workload, any dtype, any layout. Pointwise nodes and copies are inlined into their consumers, what
// a reduction reads and every reduction itself is computed once, and loops follow the order in which the output lies in
// memory. Correctness before speed; the tuned templates exist for what matters.
#include <algorithm>
#include <numeric>

#include "executor/error.h"
#include "generators/algorithms.h"
#include "generators/operators.h"
#include "schedules/kernel_arguments.h"
#include "schedules/kernel_pipeline.h"
#include "schedules/packing.h"

namespace hone {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

class GenericCpu final : public Implementation {
 public:
  std::string_view name() const override { return "generic_cpu"; }
  int version() const override { return 1; }
  std::string_view description() const override { return "any workload: plain algorithm, vectorised along memory"; }
  Support supports(const Workload&, const DeviceInfo&) const override { return {true, ""}; }

  SearchSpace space(const Workload&, const DeviceInfo&, const TuningContext& context) const override {
    SearchSpace space;
    space.implementation = name();
    space.version = version();
    space.default_config = {std::string(name()), version(), {}};
    if (context.threads > 1) {
      space.params.push_back({"parallel", {0, 1}});
      space.default_config.values["parallel"] = 1;
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

/// Func dimensions (Halide order) from the one that is closest in memory outwards; `strides` in ONNX order.
std::vector<int> memory_order(const Strides& strides, const Shape& shape) {
  const int rank = static_cast<int>(strides.size());
  std::vector<int> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const size_t oa = static_cast<size_t>(rank - 1 - a), ob = static_cast<size_t>(rank - 1 - b);
    // Dimensions of one element go outermost: vectors over them would be empty.
    if ((shape[oa] == 1) != (shape[ob] == 1)) return shape[ob] == 1;
    return strides[oa] < strides[ob];
  });
  return order;
}

/// Builds one kernel; the members are what its steps share.
class GenericKernel {
 public:
  GenericKernel(const Workload& workload, const Config& config, const DeviceInfo& device)
      : workload_(workload),
        device_(device),
        parallel_(config.values.contains("parallel") && config.at("parallel") != 0),
        arguments_(workload) {}

  KernelPipeline build() {
    define_arguments();
    for (const Node& node : workload_.nodes) define_node(node);
    std::vector<Func> outputs;
    for (const WorkloadOutput& output : workload_.outputs) outputs.push_back(define_output(output));
    for (Func& stage : stages_) schedule_stage(stage);
    return {Halide::Pipeline(outputs), arguments_.list()};
  }

 private:
  void define_arguments();
  void define_node(const Node& node);
  Func define_output(const WorkloadOutput& output);
  void schedule_stage(Func stage);
  int lanes(const Func& func) const { return std::max(1, device_.vector_bits / 8 / func.types()[0].bytes()); }

  const Workload& workload_;
  const DeviceInfo& device_;
  bool parallel_;
  KernelArguments arguments_;
  std::vector<Func> values_;  // by value id
  std::vector<Func> stages_;
};

std::vector<Var> pure_vars(size_t rank) {
  std::vector<Var> vars;
  for (size_t k = 0; k < rank; ++k) vars.emplace_back("d" + std::to_string(k));
  return vars;
}

void GenericKernel::define_arguments() {
  for (size_t i = 0; i < workload_.arguments.size(); ++i) {
    const std::vector<Var> vars = pure_vars(workload_.arguments[i].type.shape.size());
    Func value("value" + std::to_string(i));
    value(vars) = arguments_.load(static_cast<int>(i), std::vector<Expr>(vars.begin(), vars.end()));
    values_.push_back(value);
  }
}

void GenericKernel::define_node(const Node& node) {
  std::vector<Func> inputs;
  std::vector<TensorType> types;
  const Operator* entry = find_operator(node.op);
  CHECK(entry != nullptr);
  for (const int input : node.inputs) {
    inputs.push_back(input < 0 ? Func() : values_[static_cast<size_t>(input)]);
    types.push_back(input < 0 ? TensorType() : workload_.type(input));
    // A reduction reads an element many times: what it reads is computed before it, unless it is memory already.
    if (input >= 0 && entry->kind == OperatorKind::anchor && workload_.producer(input) >= 0) {
      const Func& operand = inputs.back();
      const bool known =
          std::any_of(stages_.begin(), stages_.end(), [&](const Func& s) { return s.name() == operand.name(); });
      if (!known) stages_.push_back(operand);
    }
  }
  for (int output = 0; output < static_cast<int>(node.outputs.size()); ++output) {
    values_.push_back(node_algorithm(node, inputs, types, workload_.accumulator, stages_, output));
  }
}

Func GenericKernel::define_output(const WorkloadOutput& output) {
  const Shape& shape = workload_.type(output.value).shape;
  const std::vector<Var> vars = pure_vars(shape.size());
  const Func value = values_[static_cast<size_t>(output.value)];
  Func result("output");
  result(vars) = value(std::vector<Expr>(vars.begin(), vars.end()));
  bake_output(result, shape, output.strides);
  if (shape.empty()) return result;
  const std::vector<int> order = memory_order(output.strides, shape);
  std::vector<Halide::VarOrRVar> loops;
  for (const int k : order) loops.emplace_back(vars[static_cast<size_t>(k)]);
  result.reorder(loops);
  const size_t innermost = static_cast<size_t>(order[0]);
  const int64_t extent = shape[shape.size() - 1 - innermost];
  if (extent >= lanes(result) && output.strides[shape.size() - 1 - innermost] == 1) {
    result.vectorize(vars[innermost], lanes(result), Halide::TailStrategy::GuardWithIf);
  }
  const size_t outermost = static_cast<size_t>(order.back() == order[0] ? order[0] : order.back());
  if (parallel_ && order.size() > 1) result.parallel(vars[outermost]);
  return result;
}

/// A stage lies as the first output does where ranks agree: the loops that fill it then read and write in step.
void GenericKernel::schedule_stage(Func stage) {
  stage.compute_root();
  const std::vector<Var> vars = stage.args();
  if (vars.empty()) return;
  const WorkloadOutput& output = workload_.outputs[0];
  const Shape& shape = workload_.type(output.value).shape;
  std::vector<int> order(vars.size());
  std::iota(order.begin(), order.end(), 0);
  if (shape.size() == vars.size()) order = memory_order(output.strides, shape);
  std::vector<Var> storage;
  for (const int k : order) storage.push_back(vars[static_cast<size_t>(k)]);
  if (storage.size() > 1) stage.reorder_storage(storage);
  const Var inner = storage[0];
  const size_t position = static_cast<size_t>(order[0]);
  if (storage.size() > 1) stage.reorder(std::vector<Halide::VarOrRVar>(storage.begin(), storage.end()));
  if (stage.outputs() == 1) stage.vectorize(inner, lanes(stage), Halide::TailStrategy::GuardWithIf);
  for (int u = 0; u < stage.num_update_definitions(); ++u) {
    const auto* variable = stage.update_args(u)[position].as<Halide::Internal::Variable>();
    const bool pure = variable != nullptr && variable->name == inner.name() && !variable->reduction_domain.defined();
    if (pure && stage.outputs() == 1) stage.update(u).vectorize(inner, lanes(stage), Halide::TailStrategy::GuardWithIf);
  }
  if (parallel_ && storage.size() > 1) stage.parallel(storage.back());
}

KernelPipeline GenericCpu::build(const Workload& workload, const Config& config, const DeviceInfo& device) const {
  return GenericKernel(workload, config, device).build();
}

}  // namespace

const Implementation* generic_cpu() {
  static const GenericCpu implementation;
  return &implementation;
}

}  // namespace hone
