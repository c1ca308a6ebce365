// SPDX-License-Identifier: MIT
#include "tests/fakes/faulty_implementations.h"

#include <cstdlib>
#include <string>

#include "executor/error.h"
#include "schedules/kernel_arguments.h"
#include "schedules/kernel_pipeline.h"

namespace hone {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

const Implementation& generic() {
  for (const Implementation* implementation : implementations()) {
    if (implementation->name() == "generic_cpu") return *implementation;
  }
  std::abort();
}

Config generic_config() {
  return {std::string(generic().name()), generic().version(), {}};
}

std::vector<Expr> as_exprs(const std::vector<Var>& vars) {
  return {vars.begin(), vars.end()};
}

/// A right kernel for the workload whose output is then taken through `spoil`.
class Faulty : public Implementation {
 public:
  explicit Faulty(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  int version() const override { return 1; }
  std::string_view description() const override { return "wrong on purpose"; }
  Support supports(const Workload& workload, const DeviceInfo&) const override {
    const TensorType& type = workload.type(workload.outputs[0].value);
    const bool fits = workload.outputs.size() == 1 && type.dtype == DType::f32 && !type.shape.empty();
    return {fits, fits ? "" : "needs one float output with dimensions"};
  }
  SearchSpace space(const Workload&, const DeviceInfo&, const TuningContext&) const override {
    // Points without a meaning, so that a search has several of each fault to try.
    return {name_, 1, {{"variant", {0, 1, 2, 3}}}, {}, {name_, 1, {{"variant", 0}}}};
  }
  std::vector<PackedConstant> pack(const Workload& workload, const Config&,
                                   std::span<const Tensor> constants) const override {
    return generic().pack(workload, generic_config(), constants);
  }
  KernelPipeline build(const Workload& workload, const Config&, const DeviceInfo& device) const override {
    KernelPipeline right = generic().build(workload, generic_config(), device);
    Func value = right.pipeline.outputs()[0];
    value.compute_root();
    const Shape& shape = workload.type(workload.outputs[0].value).shape;
    const Func result = spoil(value, shape);
    bake_output(result, shape, strides(workload));
    return {Halide::Pipeline(result), right.arguments};
  }

 protected:
  virtual Func spoil(Func value, const Shape& shape) const = 0;
  virtual Strides strides(const Workload& workload) const { return workload.outputs[0].strides; }

 private:
  std::string name_;
};

class HangLlvm final : public Faulty {
 public:
  HangLlvm() : Faulty("faulty_hang_llvm") {}
  Func spoil(Func value, const Shape&) const override {
    constexpr int kColumns = 512, kRows = 256, kLanes = 8;  // 512 / 8 * 256 = 16,384
    const std::vector<Var> vars = value.args();
    std::vector<Expr> zero(vars.size(), 0);
    Var x("x"), y("y");
    Func a("a"), product("product"), result("hung");
    a(x, y) = value(zero) + Halide::cast<float>(x * 3 + y);
    Halide::RDom k(0, 64);
    product(x, y) += a(k, y) * a(x, k);
    a.compute_root();
    product.compute_root().bound(x, 0, kColumns).bound(y, 0, kRows);
    product.update().reorder(x, y, k).vectorize(x, kLanes).unroll(x).unroll(y);
    result(vars) = value(as_exprs(vars)) + product(Halide::clamp(vars[0], 0, kColumns - 1), 0);
    return result;
  }
};

class CrashCompiler final : public Faulty {
 public:
  CrashCompiler() : Faulty("faulty_crash_compiler") {}
  Func spoil(Func, const Shape&) const override { std::abort(); }
};

class Refused final : public Faulty {
 public:
  Refused() : Faulty("faulty_refused") {}
  Func spoil(Func value, const Shape&) const override {
    const std::vector<Var> vars = value.args();
    Func result("refused");
    result(vars) = value(as_exprs(vars));
    result.vectorize(Var("not_a_dimension"), 8);
    return result;
  }
};

class CrashAtRun final : public Faulty {
 public:
  CrashAtRun() : Faulty("faulty_crash_at_run") {}
  Func spoil(Func value, const Shape&) const override {
    const std::vector<Var> vars = value.args();
    Func result("crashed");
    result(vars) = value(as_exprs(vars));
    return result;
  }
  Strides strides(const Workload& workload) const override {
    Strides strides = workload.outputs[0].strides;
    for (int64_t& stride : strides) stride = 1 << 30;
    return strides;
  }
};

class LastPixel final : public Faulty {
 public:
  LastPixel() : Faulty("faulty_last_pixel") {}
  Func spoil(Func value, const Shape& shape) const override {
    const std::vector<Var> vars = value.args();
    Expr last = Halide::cast<bool>(true);
    for (size_t k = 0; k < vars.size(); ++k) {
      const int64_t extent = shape[shape.size() - 1 - k];
      const int64_t index = k == 0 && extent > 1 ? (extent - 2) / 2 * 2 + 1 : extent - 1;
      last = last && vars[k] == static_cast<int>(index);
    }
    Func result("last_pixel");
    const Expr right = value(as_exprs(vars));
    result(vars) = Halide::select(last, right + 10.0f + Halide::abs(right), right);
    return result;
  }
};

}  // namespace

const ImplementationTable& faulty_implementations() {
  static const HangLlvm hang_llvm;
  static const CrashCompiler crash_compiler;
  static const Refused refused;
  static const CrashAtRun crash_at_run;
  static const LastPixel last_pixel;
  static const ImplementationTable table = [] {
    ImplementationTable all = implementations();
    all.insert(all.end(), {&hang_llvm, &crash_compiler, &refused, &crash_at_run, &last_pixel});
    return all;
  }();
  return table;
}

}  // namespace hone
