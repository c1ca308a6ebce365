// SPDX-License-Identifier: MIT
#include "graph/onnx_file.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>

#include <array>
#include <bit>
#include <climits>
#include <cstring>
#include <fstream>
#include <optional>

#include "executor/error.h"
#include "generators/operators.h"

namespace hone {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian");

constexpr std::string_view kExport = "export the model again";

// Index: TensorProto.DataType. Debian's onnx.proto ends at BFLOAT16; the later ones are here so that the message can
// say what was found.
constexpr std::array<std::string_view, 27> kTypeNames = {
    "UNDEFINED", "FLOAT",      "UINT8",      "INT8",         "UINT16",         "INT16",      "INT32",
    "INT64",     "STRING",     "BOOL",       "FLOAT16",      "DOUBLE",         "UINT32",     "UINT64",
    "COMPLEX64", "COMPLEX128", "BFLOAT16",   "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ",
    "UINT4",     "INT4",       "FLOAT4E2M1", "FLOAT8E8M0",   "UINT2",          "INT2"};

Shape checked_shape(const onnx::TensorProto& proto, DType dtype, std::string_view attempted) {
  Shape shape;
  int64_t bytes = element_bytes(dtype);
  for (const int64_t extent : proto.dims()) {
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes)) {
      throw Error(attempted, fmt::format("extent {} is not possible", extent), kExport);
    }
    shape.push_back(extent);
  }
  return shape;
}

[[noreturn]] void wrong_size(std::string_view attempted, int64_t found, int64_t expected, std::string_view unit) {
  throw Error(attempted, fmt::format("it holds {} {} where its shape needs {}", found, unit, expected), kExport);
}

template <typename Stored, typename Field>
void copy_field(const Field& field, Tensor& tensor, std::string_view attempted) {
  if (field.size() != tensor.elements()) wrong_size(attempted, field.size(), tensor.elements(), "values");
  auto* out = reinterpret_cast<Stored*>(tensor.bytes.data());
  for (int i = 0; i < field.size(); ++i) out[i] = static_cast<Stored>(field.Get(i));
}

void copy_typed_fields(const onnx::TensorProto& proto, Tensor& tensor, std::string_view attempted) {
  switch (tensor.dtype) {
    case DType::f32:
      return copy_field<float>(proto.float_data(), tensor, attempted);
    case DType::f64:
      return copy_field<double>(proto.double_data(), tensor, attempted);
    case DType::i64:
      return copy_field<int64_t>(proto.int64_data(), tensor, attempted);
    case DType::u32:
      return copy_field<uint32_t>(proto.uint64_data(), tensor, attempted);
    case DType::u64:
      return copy_field<uint64_t>(proto.uint64_data(), tensor, attempted);
    case DType::i32:
      return copy_field<int32_t>(proto.int32_data(), tensor, attempted);
    case DType::f16:
    case DType::bf16:
    case DType::i16:
    case DType::u16:  // the bits, in the low half
      return copy_field<uint16_t>(proto.int32_data(), tensor, attempted);
    case DType::i8:
    case DType::u8:
      return copy_field<uint8_t>(proto.int32_data(), tensor, attempted);
    case DType::boolean:
      return copy_field<bool>(proto.int32_data(), tensor, attempted);
  }
}

int64_t number_entry(const std::string& text, std::string_view key, std::string_view attempted) {
  size_t used = 0;
  int64_t number = -1;
  try {
    number = std::stoll(text, &used);
  } catch (const std::exception&) {
  }
  if (number < 0 || used != text.size()) {
    throw Error(attempted, fmt::format("external data {} {} is not a number", key, quote_name(text)), kExport);
  }
  return number;
}

// The location is relative to the model and must stay inside its folder: a model is no reason to read /etc/passwd.
std::filesystem::path external_path(const std::string& location, const std::filesystem::path& folder,
                                    std::string_view attempted) {
  std::error_code failed;
  const auto root = std::filesystem::weakly_canonical(folder.empty() ? "." : folder, failed);
  auto path = std::filesystem::weakly_canonical(root / location, failed);
  const auto [root_end, unused] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  if (failed || location.empty() || root_end != root.end()) {
    throw Error(attempted, fmt::format("external data {} is outside the model's folder", quote_name(location)),
                "put the data file beside the model and name it by a relative path");
  }
  return path;
}

struct ExternalData {
  std::filesystem::path file;
  int64_t offset = 0;
};

// Sizes are compared before anything is allocated: a few bytes of model must not ask for terabytes.
ExternalData find_external(const onnx::TensorProto& proto, const std::filesystem::path& folder, int64_t bytes,
                           std::string_view attempted) {
  std::string location;
  ExternalData data;
  int64_t length = bytes;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") data.offset = number_entry(entry.value(), "offset", attempted);
    if (entry.key() == "length") length = number_entry(entry.value(), "length", attempted);
  }
  if (length != bytes) wrong_size(attempted, length, bytes, "bytes");
  data.file = external_path(location, folder, attempted);
  std::error_code failed;
  const auto size = std::filesystem::file_size(data.file, failed);
  if (failed || static_cast<uint64_t>(data.offset) + static_cast<uint64_t>(bytes) > size) {
    throw Error(attempted, fmt::format("external data file {} is missing or too short", data.file.string()),
                "copy it beside the model");
  }
  return data;
}

void check_stored_bytes(const onnx::TensorProto& proto, int64_t bytes, std::string_view attempted) {
  if (proto.has_raw_data() && static_cast<int64_t>(proto.raw_data().size()) != bytes) {
    wrong_size(attempted, static_cast<int64_t>(proto.raw_data().size()), bytes, "bytes");
  }
  // A typed value needs at least one byte of file, and eight bytes at most of memory.
  if (bytes / 8 > static_cast<int64_t>(proto.ByteSizeLong())) wrong_size(attempted, 0, bytes, "bytes");
}

void read_external(const ExternalData& data, Tensor& tensor, std::string_view attempted) {
  std::ifstream stream(data.file, std::ios::binary);
  stream.seekg(data.offset);
  stream.read(reinterpret_cast<char*>(tensor.bytes.data()), static_cast<std::streamsize>(tensor.bytes.size()));
  if (!stream) {
    throw Error(attempted, fmt::format("external data file {} cannot be read", data.file.string()),
                "check its permissions");
  }
}

}  // namespace

std::string quote_name(std::string_view name) {
  constexpr size_t kLongest = 160;
  std::string text = "'";
  for (const char c : name.substr(0, kLongest)) text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text + (name.size() > kLongest ? "...'" : "'");
}

onnx::ModelProto read_model_file(const std::filesystem::path& file) {
  const std::string attempted = fmt::format("cannot import {}", file.string());
  std::error_code failed;
  if (!std::filesystem::is_regular_file(file, failed)) {
    throw Error(attempted, "there is no such file", "give the path of an ONNX model");
  }
  const auto bytes = std::filesystem::file_size(file, failed);
  if (!failed && bytes > INT_MAX) {
    throw Error(attempted, "it is larger than 2 GB, which protobuf cannot read", "save its weights as external data");
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Error(attempted, "it cannot be read", "check its permissions");

  google::protobuf::LogSilencer silence;  // the Error below says it in one line
  google::protobuf::io::IstreamInputStream zero_copy(&stream);
  google::protobuf::io::CodedInputStream coded(&zero_copy);
  coded.SetTotalBytesLimit(INT_MAX);
  onnx::ModelProto model;
  if (!model.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage()) {
    throw Error(attempted,
                fmt::format("it is damaged or no ONNX model ({} bytes, not a whole protobuf message)", bytes),
                "download or export it again");
  }
  // An arbitrary short file can be a valid message of unknown fields.
  if (!model.has_graph() || model.ir_version() <= 0) {
    throw Error(attempted, "there is no graph in it, so it is damaged or no ONNX model", "download or export it again");
  }
  return model;
}

DType dtype_from_onnx(int32_t data_type, std::string_view attempted) {
  if (const auto dtype = dtype_of_onnx(data_type)) return *dtype;
  const bool named = data_type >= 0 && data_type < static_cast<int32_t>(kTypeNames.size());
  const std::string what = named
                               ? fmt::format("hone has no element type {}", kTypeNames[static_cast<size_t>(data_type)])
                               : fmt::format("element type {} is unknown", data_type);
  throw Error(attempted, what, "convert the model to float32 or int64 there");
}

Tensor tensor_from_onnx(const onnx::TensorProto& proto, const std::filesystem::path& folder,
                        std::string_view attempted) {
  const DType dtype = dtype_from_onnx(proto.data_type(), attempted);
  const Shape shape = checked_shape(proto, dtype, attempted);
  const int64_t bytes = element_count(shape) * element_bytes(dtype);
  if (proto.data_location() == onnx::TensorProto_DataLocation_EXTERNAL) {
    const ExternalData data = find_external(proto, folder, bytes, attempted);
    Tensor tensor = Tensor::zeros(dtype, shape);
    read_external(data, tensor, attempted);
    return tensor;
  }
  check_stored_bytes(proto, bytes, attempted);
  Tensor tensor = Tensor::zeros(dtype, shape);
  if (bytes == 0) return tensor;
  if (proto.has_raw_data()) {
    std::memcpy(tensor.bytes.data(), proto.raw_data().data(), static_cast<size_t>(bytes));
  } else {
    copy_typed_fields(proto, tensor, attempted);
  }
  return tensor;
}

}  // namespace hone
