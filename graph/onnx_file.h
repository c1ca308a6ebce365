// SPDX-License-Identifier: MIT
// Reading ONNX files: protobuf in, hone's own tensors and types out. The only header of graph/ that shows protobuf.
// Everything in the file is hostile input: sizes, paths and enumerations are checked here.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "generators/tensor.h"

namespace hone {

/// Throws Error naming the file: missing, truncated, not ONNX, larger than protobuf can read.
onnx::ModelProto read_model_file(const std::filesystem::path& file);

/// `attempted` is the opening of the Error thrown for element types that hone does not have (strings, 4-bit, 8-bit
/// floats).
DType dtype_from_onnx(int32_t data_type, std::string_view attempted);

/// Raw, typed and external data. External data is read from inside `folder` only.
Tensor tensor_from_onnx(const onnx::TensorProto& proto, const std::filesystem::path& folder,
                        std::string_view attempted);

/// Name in quotes, shortened and without control characters: a file may call its nodes anything.
std::string quote_name(std::string_view name);

}  // namespace hone
