// SPDX-License-Identifier: MIT
#include "graph/import_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "executor/error.h"
#include "graph/rewrite.h"

namespace hone {
namespace {

constexpr std::string_view kSimplify = "export the model with static shapes, or simplify it first (onnxsim)";
constexpr std::string_view kCheck = "check the model with onnx.checker";

// Attributes that mean nothing to inference; any other that the table does not know is refused rather than ignored.
constexpr std::array<std::string_view, 4> kTrainingAttributes = {"consumed_inputs", "is_test", "momentum", "seed"};

onnx::AttributeProto_AttributeType kind_of(const onnx::AttributeProto& attribute) {
  if (attribute.type() != onnx::AttributeProto_AttributeType_UNDEFINED) return attribute.type();
  if (attribute.has_i()) return onnx::AttributeProto_AttributeType_INT;  // IR version 1 did not write the type
  if (attribute.has_f()) return onnx::AttributeProto_AttributeType_FLOAT;
  if (attribute.has_s()) return onnx::AttributeProto_AttributeType_STRING;
  if (attribute.floats_size() > 0) return onnx::AttributeProto_AttributeType_FLOATS;
  return onnx::AttributeProto_AttributeType_INTS;
}

AttributeValue attribute_value(const onnx::AttributeProto& attribute, const std::string& attempted) {
  switch (kind_of(attribute)) {
    case onnx::AttributeProto_AttributeType_INT:
      return int64_t{attribute.i()};
    case onnx::AttributeProto_AttributeType_FLOAT:
      return double{attribute.f()};
    case onnx::AttributeProto_AttributeType_STRING:
      return attribute.s();
    case onnx::AttributeProto_AttributeType_INTS:
      return std::vector<int64_t>(attribute.ints().begin(), attribute.ints().end());
    case onnx::AttributeProto_AttributeType_FLOATS:
      return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
    default:
      throw Error(attempted,
                  fmt::format("attribute {} has a kind that hone does not read", quote_name(attribute.name())), kCheck);
  }
}

AttributeValue constant_as_attribute(const Tensor& tensor, const AttributeSpec& spec, const std::string& attempted) {
  const bool single = spec.default_value.index() < 2;
  if (spec.default_value.index() == 2 || (single && tensor.elements() != 1)) {
    throw Error(attempted, fmt::format("input {} ({}) should hold one number", spec.input, spec.name), kCheck);
  }
  if (std::holds_alternative<double>(spec.default_value)) return widen(tensor).values[0];
  if (std::holds_alternative<std::vector<double>>(spec.default_value)) return widen(tensor).values;
  // Not through double: INT64_MAX ("to the end") must stay what it is.
  std::vector<int64_t> integers;
  if (tensor.dtype == DType::i64) {
    integers.assign(tensor.as<int64_t>().begin(), tensor.as<int64_t>().end());
  } else if (tensor.dtype == DType::i32) {
    integers.assign(tensor.as<int32_t>().begin(), tensor.as<int32_t>().end());
  } else if (tensor.dtype == DType::boolean) {
    integers.assign(tensor.as<uint8_t>().begin(), tensor.as<uint8_t>().end());
  } else {
    throw Error(attempted, fmt::format("input {} ({}) should hold integers", spec.input, spec.name), kCheck);
  }
  if (single) return integers[0];
  return integers;
}

bool came_as_input(const AttributeSpec& spec, int opset) {
  return spec.input >= 0 && opset >= spec.input_since;
}

void read_attributes(const Operator& entry, const onnx::NodeProto& proto, Attributes& attributes,
                     const std::string& attempted) {
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    const auto spec = std::find_if(entry.attributes.begin(), entry.attributes.end(),
                                   [&](const AttributeSpec& s) { return s.name == attribute.name(); });
    if (spec == entry.attributes.end()) {
      if (std::count(kTrainingAttributes.begin(), kTrainingAttributes.end(), attribute.name()) > 0) continue;
      throw Error(attempted, fmt::format("{} has no attribute {}", entry.name, quote_name(attribute.name())),
                  "save the model with another opset (onnx.version_converter)");
    }
    if (!attribute.ref_attr_name().empty()) throw Error(attempted, "it refers to a function's attribute", kSimplify);
    AttributeValue value = attribute_value(attribute, attempted);
    if (value.index() != spec->default_value.index()) {
      throw Error(attempted, fmt::format("attribute {} is of the wrong kind", quote_name(attribute.name())), kCheck);
    }
    attributes[std::string(spec->name)] = std::move(value);
  }
}

// Moves the inputs that are attributes by now from `inputs` to `attributes`.
void read_attribute_inputs(const Graph& graph, const Operator& entry, int opset, std::vector<int>& inputs,
                           Attributes& attributes, const std::string& attempted) {
  std::vector<bool> taken(inputs.size());
  for (const AttributeSpec& spec : entry.attributes) {
    if (!came_as_input(spec, opset) || spec.input >= static_cast<int>(inputs.size())) continue;
    taken[spec.input] = true;
    const int value = inputs[spec.input];
    if (value < 0) continue;
    const Tensor* tensor = constant(graph, value);
    if (tensor == nullptr) {
      throw Error(attempted,
                  fmt::format("its input {} ({}) is computed from the model's input, hone needs it fixed",
                              quote_name(graph.values[value].name), spec.name),
                  kSimplify);
    }
    attributes[std::string(spec.name)] = constant_as_attribute(*tensor, spec, attempted);
  }
  std::vector<int> kept;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!taken[i]) kept.push_back(inputs[i]);
  }
  while (!kept.empty() && kept.back() < 0) kept.pop_back();
  inputs = std::move(kept);
}

void check_counts(const Operator& entry, const std::vector<int>& inputs, const std::string& attempted) {
  const int count = static_cast<int>(inputs.size());
  bool missing = count < entry.min_inputs;
  for (int i = 0; i < std::min(count, entry.min_inputs); ++i) missing = missing || inputs[i] < 0;
  if (missing || (entry.max_inputs >= 0 && count > entry.max_inputs)) {
    throw Error(attempted, fmt::format("{} does not take {} inputs like these", entry.name, count), kCheck);
  }
}

}  // namespace

void rethrow_for_node(const std::string& attempted, const std::exception& error) {
  const std::string text = error.what();
  const size_t split = text.rfind("; ");  // Error ends with "; <remedy>"
  if (split == std::string::npos) throw Error(attempted, text, kCheck);
  throw Error(attempted, text.substr(0, split), text.substr(split + 2));
}

GraphNode normalised_node(const Graph& graph, const ImportedNode& imported, int opset, const std::string& attempted) {
  const Operator* entry = find_operator(imported.proto->op_type());
  CHECK(entry != nullptr);
  GraphNode node{imported.name, std::string(entry->name), {}, imported.inputs, {}, {imported.name}};
  read_attributes(*entry, *imported.proto, node.attributes, attempted);
  read_attribute_inputs(graph, *entry, opset, node.inputs, node.attributes, attempted);
  if (node.op == "Split" && !node.attributes.contains("num_outputs")) {
    node.attributes["num_outputs"] = int64_t{imported.proto->output_size()};  // before opset 18 only the outputs tell
  }
  for (const AttributeSpec& spec : entry->attributes) {
    if (spec.required && !node.attributes.contains(std::string(spec.name))) {
      throw Error(attempted, fmt::format("{} lacks its attribute '{}'", entry->name, spec.name), kCheck);
    }
    node.attributes.emplace(spec.name, spec.default_value);
  }
  check_counts(*entry, node.inputs, attempted);
  if (entry->normalise != nullptr) {
    try {
      entry->normalise(node.attributes, opset, input_types(graph, node));
    } catch (const Error& error) {
      rethrow_for_node(attempted, error);
    }
  }
  return node;
}

}  // namespace hone
