// SPDX-License-Identifier: MIT
// Evaluates scalar references for operators_vs_onnxruntime.py: one JSON request a line on stdin, one answer a line on
// stdout. A request has "op", "opset", "attributes" (as ONNX writes them, tagged by type) and "inputs" (null where
// absent, else dtype, shape and bytes in hexadecimal); the answer has "outputs" in the same form, or "error".
#include <iostream>
#include <nlohmann/json.hpp>

#include "executor/error.h"
#include "generators/operators.h"

namespace hone {
namespace {

using Json = nlohmann::json;

AttributeValue attribute_of(const Json& json) {
  const std::string tag = json.begin().key();
  const Json& value = json.begin().value();
  if (tag == "int") return value.get<int64_t>();
  if (tag == "float") return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
  if (tag == "string") return value.get<std::string>();
  if (tag == "ints") return value.get<std::vector<int64_t>>();
  return value.get<std::vector<double>>();
}

Tensor tensor_of(const Json& json) {
  const std::optional<DType> dtype = parse_dtype(json["dtype"].get<std::string>());
  CHECK(dtype.has_value());
  Tensor tensor = Tensor::zeros(*dtype, json["shape"].get<Shape>());
  const std::string hex = json["bytes"].get<std::string>();
  CHECK(hex.size() == 2 * tensor.bytes.size());
  for (size_t i = 0; i < tensor.bytes.size(); ++i) {
    tensor.bytes[i] = static_cast<std::byte>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  }
  return tensor;
}

Json json_of(const Tensor& tensor) {
  std::string hex;
  for (const std::byte byte : tensor.bytes) {
    hex += "0123456789abcdef"[static_cast<int>(byte) >> 4];
    hex += "0123456789abcdef"[static_cast<int>(byte) & 15];
  }
  return {{"dtype", name(tensor.dtype)}, {"shape", tensor.shape}, {"bytes", hex}};
}

Json answer(const Json& request) {
  const Operator* entry = find_operator(request["op"].get<std::string>());
  if (entry == nullptr) return {{"error", "unknown operator"}};
  Node node{std::string(entry->name), {}, {}, {}};
  for (const auto& [key, value] : request["attributes"].items()) node.attributes[key] = attribute_of(value);
  for (const AttributeSpec& spec : entry->attributes) node.attributes.emplace(spec.name, spec.default_value);
  std::vector<TensorType> types;
  std::vector<ReferenceTensor> tensors;
  for (const Json& input : request["inputs"]) {
    node.inputs.push_back(input.is_null() ? -1 : static_cast<int>(types.size()));
    const Tensor tensor = input.is_null() ? Tensor::zeros(DType::f32, {0}) : tensor_of(input);
    types.push_back(input.is_null() ? TensorType{} : tensor.type());
    tensors.push_back(input.is_null() ? ReferenceTensor{} : widen(tensor));
  }
  if (entry->normalise != nullptr) entry->normalise(node.attributes, request["opset"].get<int>(), types);
  node.outputs = entry->infer(node, types);
  Json outputs = Json::array();
  for (const ReferenceTensor& output : entry->reference(node, tensors)) outputs.push_back(json_of(narrow(output)));
  return {{"outputs", std::move(outputs)}};
}

/// The inputs that each opset turned into attributes: the script needs them to write models.
Json table() {
  Json json = Json::object();
  for (const Operator& entry : operators()) {
    Json attributes = Json::object();
    for (const AttributeSpec& spec : entry.attributes) {
      attributes[std::string(spec.name)] = {{"input", spec.input}, {"input_since", spec.input_since}};
    }
    json[std::string(entry.name)] = {{"attributes", std::move(attributes)},
                                     {"fold_only", entry.kind == OperatorKind::fold_only}};
  }
  return json;
}

}  // namespace
}  // namespace hone

int main() {
  std::cout << hone::table().dump() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    hone::Json reply;
    try {
      reply = hone::answer(hone::Json::parse(line));
    } catch (const hone::Error& error) {
      reply = {{"error", error.what()}};
    }
    std::cout << reply.dump() << std::endl;
  }
}
