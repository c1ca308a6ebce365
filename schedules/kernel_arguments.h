// SPDX-License-Identifier: MIT
// The parameters and outputs of a kernel with every extent and stride baked in, so that the compiled code reads nothing
// of a halide_buffer_t but `host`. Because of that a template may view the memory of an argument as it likes: packed
// weights, rows and columns fused into one pixel dimension, any order of dimensions.
#pragma once

#include <Halide.h>

#include <vector>

#include "generators/workload.h"

namespace hone {

class KernelArguments {
 public:
  explicit KernelArguments(const Workload& workload);

  /// Views `argument` as `shape` with `strides` (ONNX order) instead of as the Workload says.
  void view_as(int argument, const Shape& shape, const Strides& strides);
  /// Fuses the last two dimensions into one where memory allows it; answers whether it did.
  bool fuse_pixels(int argument);

  /// `index` in Halide order for the current view.
  Halide::Expr load(int argument, const std::vector<Halide::Expr>& index) const;
  std::vector<Halide::Argument> list() const;

 private:
  const Workload& workload_;
  std::vector<Halide::ImageParam> params_;
};

/// Bakes extents and strides (ONNX order) into output `index` of `func`.
void bake_output(Halide::Func func, const Shape& shape, const Strides& strides, int index = 0);

/// Whether the last two dimensions of a tensor can be walked as one, and the stride of that walk.
bool pixels_fuse(const Shape& shape, const Strides& strides);
int64_t pixel_stride(const Shape& shape, const Strides& strides);

}  // namespace hone
