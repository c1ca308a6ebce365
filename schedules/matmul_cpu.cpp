// SPDX-License-Identifier: MIT
// MatMul and Gemm with the register tile of register_tile.h: columns of B are the channels, rows of A the pixels.
// A constant B is packed into panels at build time, so that one row (a classifier's last layer) is a single sequential
// stream over the weights; a computed B is packed into the same panels at run time.
#include <algorithm>

#include "executor/error.h"
#include "generators/algorithms.h"
#include "schedules/epilogue.h"
#include "schedules/kernel_arguments.h"
#include "schedules/kernel_pipeline.h"
#include "schedules/packing.h"
#include "schedules/register_tile.h"

namespace hone {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

struct MatmulShape {
  int a = 0, b = 1, addend = -1;  // argument ids
  bool transpose_a = false, transpose_b = false, constant_b = false;
  double alpha = 1, beta = 1;
  int64_t rows = 1, columns = 1, terms = 1;
  Shape batch;        // leading dimensions of the output
  bool flat = false;  // batch and rows walk as one dimension of `rows` rows in every tensor that has them
};

bool has_shape_of(const Workload& workload, int argument, const Shape& shape) {
  return workload.type(argument).shape == shape;
}

/// Whether all dimensions but the last walk as one; extents of 1 don't matter.
bool rows_fuse(const Shape& shape, const Strides& strides) {
  int64_t expected = -1;
  for (size_t k = shape.size() - 1; k-- > 0;) {
    if (shape[k] == 1) continue;
    if (expected >= 0 && strides[k] != expected) return false;
    expected = strides[k] * shape[k];
  }
  return true;
}

int64_t row_stride(const Shape& shape, const Strides& strides) {
  for (size_t k = shape.size() - 1; k-- > 0;) {
    if (shape[k] != 1) return strides[k];
  }
  return 0;
}

/// A batch is walked as more rows if B has none and memory allows it everywhere.
bool is_flat(const Workload& workload, const MatmulShape& s, const Shape& output) {
  if (output.size() == 2) return false;
  if (workload.type(s.b).shape.size() != 2 || !rows_fuse(output, workload.outputs[0].strides)) return false;
  for (int k = 0; k < static_cast<int>(workload.arguments.size()); ++k) {
    const Argument& argument = workload.arguments[static_cast<size_t>(k)];
    if (k != s.a && !has_shape_of(workload, k, output)) continue;
    if (argument.constant || !rows_fuse(argument.type.shape, argument.strides)) return false;
  }
  return true;
}

MatmulShape matmul_shape(const Workload& workload, const Node& node) {
  MatmulShape s;
  s.a = node.inputs[0], s.b = node.inputs[1];
  if (node.op == "Gemm") {
    s.transpose_a = int_attribute(node.attributes, "transA") != 0;
    s.transpose_b = int_attribute(node.attributes, "transB") != 0;
    s.alpha = float_attribute(node.attributes, "alpha"), s.beta = float_attribute(node.attributes, "beta");
    if (node.inputs.size() > 2) s.addend = node.inputs[2];
  }
  const Shape& output = node.outputs[0].shape;
  const Shape& a = workload.type(s.a).shape;
  s.columns = output.back(), s.rows = output[output.size() - 2];
  s.terms = s.transpose_a ? a[0] : a.back();
  s.batch.assign(output.begin(), output.end() - 2);
  s.constant_b = workload.arguments[static_cast<size_t>(s.b)].constant;
  s.flat = is_flat(workload, s, output);
  if (s.flat) {
    for (const int64_t extent : s.batch) s.rows *= extent;
    s.batch.clear();
  }
  return s;
}

TileExtents extents_of(const MatmulShape& s) {
  return {s.columns, s.rows, s.terms, s.terms};
}

class MatmulCpu final : public Implementation {
 public:
  std::string_view name() const override { return "matmul_cpu"; }
  int version() const override { return 1; }
  std::string_view description() const override { return "matrix product, register tile over packed panels of B"; }

  Support supports(const Workload& workload, const DeviceInfo&) const override {
    const AnchorMatch match = match_anchor(workload, {"MatMul", "Gemm"});
    if (match.anchor == nullptr) return {false, match.reason};
    const Shape& a = workload.type(match.anchor->inputs[0]).shape;
    const Shape& b = workload.type(match.anchor->inputs[1]).shape;
    if (a.size() < 2 || b.size() < 2) return {false, "has a vector operand"};
    if (workload.arguments[static_cast<size_t>(match.anchor->inputs[1])].constant && b.size() != 2) {
      return {false, "has a constant batch of matrices"};
    }
    return {true, ""};
  }

  SearchSpace space(const Workload& workload, const DeviceInfo& device, const TuningContext& context) const override;
  std::vector<PackedConstant> pack(const Workload& workload, const Config& config,
                                   std::span<const Tensor> constants) const override;
  KernelPipeline build(const Workload& workload, const Config& config, const DeviceInfo& device) const override;
};

SearchSpace MatmulCpu::space(const Workload& workload, const DeviceInfo& device, const TuningContext& context) const {
  const MatmulShape s = matmul_shape(workload, *match_anchor(workload, {"MatMul", "Gemm"}).anchor);
  SearchSpace space;
  space.implementation = name();
  space.version = version();
  add_tile_params(space, extents_of(s), device);
  if (context.threads > 1) space.params.push_back({"parallel", {0, 1}});
  space.default_config = best_modelled_tile(
      space, default_block(extents_of(s), device, context.threads),
      [&](const Config& config) { return modelled_cycles(RegisterTile::of(config), extents_of(s), false); });
  return space;
}

std::vector<PackedConstant> MatmulCpu::pack(const Workload& workload, const Config& config,
                                            std::span<const Tensor> constants) const {
  const MatmulShape s = matmul_shape(workload, *match_anchor(workload, {"MatMul", "Gemm"}).anchor);
  const int64_t block = RegisterTile::of(config).channels();
  std::vector<PackedConstant> packed;
  int argument = workload.input_count();
  for (const Tensor& constant : constants) {
    if (argument++ != s.b) {
      packed.push_back(pack_dense(constant));
      continue;
    }
    const auto at = [&](int64_t column, int64_t term) {
      return s.transpose_b ? column * s.terms + term : term * s.columns + column;
    };
    packed.push_back(pack_panels(constant, s.columns, s.terms, block, at, "B [k]"));
  }
  return packed;
}

/// Builds one kernel; the members are what its steps share.
class MatmulKernel {
 public:
  MatmulKernel(const Workload& workload, const Config& config)
      : workload_(workload),
        match_(match_anchor(workload, {"MatMul", "Gemm"})),
        s_(matmul_shape(workload, *match_.anchor)),
        tile_(RegisterTile::of(config)),
        arguments_(workload) {
    for (size_t k = s_.batch.size(); k-- > 0;) batch_.emplace_back("b" + std::to_string(k));
    if (s_.constant_b) {
      const Shape packed{panels(), s_.terms, tile_.channels()};
      arguments_.view_as(s_.b, packed, dense_strides(packed));
    }
    if (!s_.flat) return;
    const Shape& output = workload.type(match_.value).shape;
    for (int k = 0; k < workload.input_count(); ++k) {
      if (k != s_.a && !has_shape_of(workload, k, output)) continue;
      const Argument& argument = workload.arguments[static_cast<size_t>(k)];
      arguments_.view_as(k, {s_.rows, argument.type.shape.back()},
                         {row_stride(argument.type.shape, argument.strides), argument.strides.back()});
    }
  }

  KernelPipeline build() {
    define();
    schedule();
    const Shape& shape = workload_.type(workload_.outputs[0].value).shape;
    const Strides& strides = workload_.outputs[0].strides;
    if (s_.flat) {
      bake_output(output_, {s_.rows, s_.columns}, {row_stride(shape, strides), strides.back()});
    } else {
      bake_output(output_, shape, strides);
    }
    return {Halide::Pipeline(output_), arguments_.list()};
  }

 private:
  int64_t panels() const { return (s_.columns + tile_.channels() - 1) / tile_.channels(); }
  /// An index of the batch dimensions of an operand that may have fewer or extents of 1.
  void append_batch(std::vector<Expr>& index, const Shape& operand) const;
  Expr a_value(const Expr& term) const;
  Expr b_value(const Expr& term);
  Expr load(int argument, const std::vector<Expr>& index) const;
  void define();
  void schedule();

  const Workload& workload_;
  AnchorMatch match_;
  MatmulShape s_;
  RegisterTile tile_;
  KernelArguments arguments_;
  Var c_{"c"}, p_{"p"}, k_{"k"}, panel_{"panel"};
  std::vector<Var> batch_;  // innermost first
  RDom r_;
  Func panels_{"panels"}, accumulator_{"accumulator"}, output_{"output"};
};

void MatmulKernel::append_batch(std::vector<Expr>& index, const Shape& operand) const {
  for (size_t k = 0; k + 2 < operand.size(); ++k) {
    index.push_back(operand[operand.size() - 3 - k] == 1 ? Expr(0) : Expr(batch_[k]));
  }
}

Expr MatmulKernel::a_value(const Expr& term) const {
  // A last tile that the rows don't fill repeats the last row; its results are not stored.
  const Expr row = s_.rows % tile_.pixels == 0 ? Expr(p_) : min(p_, static_cast<int>(s_.rows) - 1);
  std::vector<Expr> index = s_.transpose_a ? std::vector<Expr>{row, term} : std::vector<Expr>{term, row};
  if (!s_.flat) append_batch(index, workload_.type(s_.a).shape);
  return arguments_.load(s_.a, index);
}

Expr MatmulKernel::b_value(const Expr& term) {
  const int block = static_cast<int>(tile_.channels());
  if (s_.constant_b) return arguments_.load(s_.b, {c_ % block, term, c_ / block});
  const Expr column = min(panel_ * block + c_, static_cast<int>(s_.columns) - 1);
  std::vector<Expr> index = s_.transpose_b ? std::vector<Expr>{k_, column} : std::vector<Expr>{column, k_};
  append_batch(index, workload_.type(s_.b).shape);
  std::vector<Var> vars{c_, k_, panel_};
  vars.insert(vars.end(), batch_.begin(), batch_.end());
  panels_(vars) = arguments_.load(s_.b, index);
  std::vector<Expr> at{c_ % block, term, c_ / block};
  at.insert(at.end(), batch_.begin(), batch_.end());
  return panels_(at);
}

/// Epilogue operands: those of the output's own shape share its flattened rows; others were pinned by broadcasting.
Expr MatmulKernel::load(int argument, const std::vector<Expr>& index) const {
  if (s_.flat && has_shape_of(workload_, argument, workload_.type(match_.value).shape)) {
    return arguments_.load(argument, {index[0], p_});
  }
  return arguments_.load(argument, index);
}

void MatmulKernel::define() {
  r_ = RDom(0, static_cast<int>(s_.terms));
  std::vector<Var> vars{c_, p_};
  vars.insert(vars.end(), batch_.begin(), batch_.end());
  accumulator_(vars) = 0.0f;
  accumulator_(vars) += b_value(r_.x) * a_value(r_.x);
  const Shape& shape = workload_.type(match_.value).shape;
  std::vector<Expr> index{c_, p_};
  if (s_.flat) {
    Expr rest = p_;
    index.pop_back();
    for (size_t k = shape.size() - 1; k-- > 0; rest = rest / static_cast<int>(shape[k])) {
      index.push_back(k == 0 ? rest : rest % static_cast<int>(shape[k]));
    }
  } else {
    index.insert(index.end(), batch_.begin(), batch_.end());
  }
  const LoadArgument loader = [&](int argument, const std::vector<Expr>& i) { return load(argument, i); };
  Expr value = accumulator_(std::vector<Expr>(vars.begin(), vars.end()));
  if (s_.alpha != 1) value *= static_cast<float>(s_.alpha);
  if (s_.addend >= 0) {
    const Expr addend = load(s_.addend, broadcast_index(index, workload_.type(s_.addend).shape, shape));
    value += s_.beta == 1 ? addend : addend * static_cast<float>(s_.beta);
  }
  output_(vars) = epilogue_expr(workload_, match_.value, value, index, loader);
}

void MatmulKernel::schedule() {
  const TileLoops loops = tile_output(output_, c_, p_, batch_, extents_of(s_), tile_);
  hold_in_registers(accumulator_, c_, p_, {r_.x}, {}, output_, loops.pixel_tile, tile_);
  if (tile_.parallel) output_.parallel(tile_.block == 0 ? loops.channel_block : loops.pixel_block);
  if (s_.constant_b) return;
  panels_.compute_root().vectorize(c_, tile_.lanes);
  if (tile_.parallel) panels_.parallel(panel_);
}

KernelPipeline MatmulCpu::build(const Workload& workload, const Config& config, const DeviceInfo&) const {
  return MatmulKernel(workload, config).build();
}

}  // namespace

const Implementation* matmul_cpu() {
  static const MatmulCpu implementation;
  return &implementation;
}

}  // namespace hone
