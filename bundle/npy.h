// SPDX-License-Identifier: MIT
// Tensors on disk: NumPy's .npy format, version 1.0 to 3.0, little-endian, C order (numpy.lib.format).
#pragma once

#include <filesystem>

#include "generators/tensor.h"

namespace hone {

/// Throws Error naming the file: not .npy, Fortran order, big-endian, unsupported dtype, truncated.
Tensor read_npy(const std::filesystem::path& file);
/// bf16 has no NumPy name and is written as its bits (<u2).
void write_npy(const std::filesystem::path& file, const Tensor& tensor);
/// NAME.npy with characters unfit for a file name percent-encoded.
std::string npy_file_name(std::string_view tensor_name);

}  // namespace hone
