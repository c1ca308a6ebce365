// SPDX-License-Identifier: MIT
// MatMul (numpy's rules: batch broadcasting, vectors) and Gemm (transposes, alpha, beta, broadcast C).
#include <algorithm>

#include "generators/operators.h"
#include "generators/shape_rules.h"

namespace hone {
namespace {

/// A vector on the left is a row, on the right a column; the added dimension does not appear in the output.
Shape as_matrices(Shape shape, bool left) {
  if (shape.size() == 1) shape.insert(left ? shape.begin() : shape.end(), 1);
  return shape;
}

Shape batch_of(const Shape& matrices) {
  return Shape(matrices.begin(), matrices.end() - 2);
}

std::vector<TensorType> infer_matmul(const Node&, std::span<const TensorType> inputs) {
  if (inputs[0].shape.empty() || inputs[1].shape.empty()) {
    refuse("MatMul", "an input is a scalar", "supported: vectors, matrices and batches of matrices");
  }
  const Shape a = as_matrices(inputs[0].shape, true);
  const Shape b = as_matrices(inputs[1].shape, false);
  if (a[a.size() - 1] != b[b.size() - 2]) {
    refuse("MatMul", "shapes " + shape_text(inputs[0].shape) + " and " + shape_text(inputs[1].shape) + " do not fit",
           "columns of the left must equal rows of the right");
  }
  Shape output = broadcast_shapes("MatMul", batch_of(a), batch_of(b));
  if (inputs[0].shape.size() > 1) output.push_back(a[a.size() - 2]);
  if (inputs[1].shape.size() > 1) output.push_back(b[b.size() - 1]);
  return {checked_type("MatMul", inputs[0].dtype, std::move(output))};
}

struct Strided {
  const double* values;
  int64_t row, column;
};

/// output[m][n] += scale * a[m][k] * b[k][n]
void multiply(Strided a, Strided b, int64_t rows, int64_t terms, int64_t columns, double scale, double* output) {
  for (int64_t m = 0; m < rows; ++m) {
    double* to = output + m * columns;
    for (int64_t k = 0; k < terms; ++k) {
      const double left = scale * a.values[m * a.row + k * a.column];
      const double* right = b.values + k * b.row;
      if (b.column == 1) {
        for (int64_t n = 0; n < columns; ++n) to[n] += left * right[n];
      } else {
        for (int64_t n = 0; n < columns; ++n) to[n] += left * right[n * b.column];
      }
    }
  }
}

std::vector<ReferenceTensor> reference_matmul(const Node& node, std::span<const ReferenceTensor> inputs) {
  const Shape a = as_matrices(inputs[0].shape, true);
  const Shape b = as_matrices(inputs[1].shape, false);
  const int64_t rows = a[a.size() - 2];
  const int64_t terms = a[a.size() - 1];
  const int64_t columns = b[b.size() - 1];
  ReferenceTensor output{node.outputs[0].dtype, node.outputs[0].shape, {}};
  output.values.resize(static_cast<size_t>(element_count(output.shape)));
  const Shape batch = broadcast_shapes("MatMul", batch_of(a), batch_of(b));
  const std::array<Strides, 3> strides = {broadcast_strides(batch_of(a), batch), broadcast_strides(batch_of(b), batch),
                                          dense_strides(batch)};
  walk<3>(batch, strides, [&](const std::array<int64_t, 3>& offset) {
    multiply({inputs[0].values.data() + offset[0] * rows * terms, terms, 1},
             {inputs[1].values.data() + offset[1] * terms * columns, columns, 1}, rows, terms, columns, 1,
             output.values.data() + offset[2] * rows * columns);
  });
  return {std::move(output)};
}

struct GemmSizes {
  int64_t rows, terms, columns;
};

GemmSizes gemm_sizes(const Attributes& attributes, const Shape& a, const Shape& b) {
  if (a.size() != 2 || b.size() != 2) {
    refuse("Gemm", "shapes " + shape_text(a) + " and " + shape_text(b) + " are no matrices", "use MatMul for batches");
  }
  const size_t left = int_attribute(attributes, "transA") != 0;
  const size_t right = int_attribute(attributes, "transB") != 0;
  if (a[1 - left] != b[right]) {
    refuse("Gemm", "shapes " + shape_text(a) + " and " + shape_text(b) + " do not fit",
           "columns of op(A) must equal rows of op(B)");
  }
  return {a[left], a[1 - left], b[1 - right]};
}

void normalise_gemm(Attributes& attributes, int, std::span<const TensorType>) {
  for (const char* name : {"transA", "transB"}) mutable_int(attributes, name) = int_attribute(attributes, name) != 0;
}

bool has_addend(const Node& node) {
  return node.inputs.size() > 2 && node.inputs[2] >= 0;
}

std::vector<TensorType> infer_gemm(const Node& node, std::span<const TensorType> inputs) {
  const GemmSizes sizes = gemm_sizes(node.attributes, inputs[0].shape, inputs[1].shape);
  Shape output = {sizes.rows, sizes.columns};
  if (has_addend(node) && broadcast_shapes("Gemm", output, inputs[2].shape) != output) {
    refuse("Gemm", "C " + shape_text(inputs[2].shape) + " does not broadcast to " + shape_text(output),
           "check the shape of C");
  }
  return {checked_type("Gemm", inputs[0].dtype, std::move(output))};
}

std::vector<ReferenceTensor> reference_gemm(const Node& node, std::span<const ReferenceTensor> inputs) {
  const GemmSizes sizes = gemm_sizes(node.attributes, inputs[0].shape, inputs[1].shape);
  ReferenceTensor output{node.outputs[0].dtype, node.outputs[0].shape, {}};
  output.values.resize(static_cast<size_t>(element_count(output.shape)));
  if (has_addend(node)) {
    const double beta = float_attribute(node.attributes, "beta");
    walk<2>(output.shape, {broadcast_strides(inputs[2].shape, output.shape), dense_strides(output.shape)},
            [&](const std::array<int64_t, 2>& offset) {
              output.values[static_cast<size_t>(offset[1])] = beta * inputs[2].values[static_cast<size_t>(offset[0])];
            });
  }
  const auto matrix = [&](size_t i, const char* transposed) -> Strided {
    const int64_t columns = inputs[i].shape[1];
    if (int_attribute(node.attributes, transposed) != 0) return {inputs[i].values.data(), 1, columns};
    return {inputs[i].values.data(), columns, 1};
  };
  multiply(matrix(0, "transA"), matrix(1, "transB"), sizes.rows, sizes.terms, sizes.columns,
           float_attribute(node.attributes, "alpha"), output.values.data());
  return {std::move(output)};
}

int64_t matmul_terms(const Node&, std::span<const TensorType> inputs) {
  return inputs[0].shape.back();
}

int64_t gemm_terms(const Node& node, std::span<const TensorType> inputs) {
  return gemm_sizes(node.attributes, inputs[0].shape, inputs[1].shape).terms;
}

double matmul_flops(const Node& node, std::span<const TensorType> inputs) {
  return 2.0 * static_cast<double>(element_count(node.outputs[0].shape)) *
         static_cast<double>(matmul_terms(node, inputs));
}

double gemm_flops(const Node& node, std::span<const TensorType> inputs) {
  return 2.0 * static_cast<double>(element_count(node.outputs[0].shape)) *
         static_cast<double>(gemm_terms(node, inputs));
}

}  // namespace

std::vector<Operator> matmul_operators() {
  return {
      {"MatMul", OperatorKind::anchor, 2, 2, {}, nullptr, infer_matmul, reference_matmul, matmul_flops, matmul_terms},
      {"Gemm",
       OperatorKind::anchor,
       2,
       3,
       {{"alpha", 1.0}, {"beta", 1.0}, {"transA", int64_t{0}}, {"transB", int64_t{0}}},
       normalise_gemm,
       infer_gemm,
       reference_gemm,
       gemm_flops,
       gemm_terms}};
}

}  // namespace hone
