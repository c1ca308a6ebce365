// SPDX-License-Identifier: MIT
#include "schedules/kernel_arguments.h"

#include "executor/error.h"
#include "generators/algorithms.h"

namespace hone {
namespace {

/// `dimensions` is an ImageParam or an OutputImageParam; the default constraint "stride of dimension 0 is 1" is
/// replaced too.
template <typename Dimensions>
void bake(Dimensions dimensions, const Shape& shape, const Strides& strides) {
  CHECK(shape.size() == strides.size());
  const int rank = static_cast<int>(shape.size());
  for (int k = 0; k < rank; ++k) {
    const size_t onnx = static_cast<size_t>(rank - 1 - k);
    dimensions.dim(k).set_bounds(0, static_cast<int>(shape[onnx]));
    dimensions.dim(k).set_stride(static_cast<int>(strides[onnx]));
  }
}

Halide::ImageParam baked_param(const Workload& workload, int argument, const Shape& shape, const Strides& strides) {
  const Halide::Type type = halide_type(workload.arguments[static_cast<size_t>(argument)].type.dtype);
  Halide::ImageParam param(type, static_cast<int>(shape.size()), "argument" + std::to_string(argument));
  bake(param, shape, strides);
  return param;
}

}  // namespace

bool pixels_fuse(const Shape& shape, const Strides& strides) {
  const size_t rank = shape.size();
  if (rank < 2) return false;
  return shape[rank - 1] == 1 || shape[rank - 2] == 1 || strides[rank - 2] == strides[rank - 1] * shape[rank - 1];
}

int64_t pixel_stride(const Shape& shape, const Strides& strides) {
  const size_t rank = shape.size();
  return shape[rank - 1] == 1 ? strides[rank - 2] : strides[rank - 1];
}

KernelArguments::KernelArguments(const Workload& workload) : workload_(workload) {
  for (size_t i = 0; i < workload.arguments.size(); ++i) {
    const Argument& argument = workload.arguments[i];
    params_.push_back(baked_param(workload, static_cast<int>(i), argument.type.shape, argument.strides));
  }
}

void KernelArguments::view_as(int argument, const Shape& shape, const Strides& strides) {
  params_[static_cast<size_t>(argument)] = baked_param(workload_, argument, shape, strides);
}

bool KernelArguments::fuse_pixels(int argument) {
  const Argument& stored = workload_.arguments[static_cast<size_t>(argument)];
  if (!pixels_fuse(stored.type.shape, stored.strides)) return false;
  Shape shape = stored.type.shape;
  Strides strides = stored.strides;
  const int64_t stride = pixel_stride(shape, strides);
  const int64_t pixels = shape[shape.size() - 1] * shape[shape.size() - 2];
  shape.pop_back();
  strides.pop_back();
  shape.back() = pixels;
  strides.back() = stride;
  view_as(argument, shape, strides);
  return true;
}

Halide::Expr KernelArguments::load(int argument, const std::vector<Halide::Expr>& index) const {
  const Halide::ImageParam& param = params_[static_cast<size_t>(argument)];
  CHECK(static_cast<int>(index.size()) == param.dimensions());
  return param(index);
}

std::vector<Halide::Argument> KernelArguments::list() const {
  return std::vector<Halide::Argument>(params_.begin(), params_.end());
}

void bake_output(Halide::Func func, const Shape& shape, const Strides& strides, int index) {
  bake(func.output_buffers()[static_cast<size_t>(index)], shape, strides);
}

}  // namespace hone
