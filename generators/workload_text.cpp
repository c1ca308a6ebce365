// SPDX-License-Identifier: MIT
// Canonical JSON of a Workload, its SHA-256, and the reader. The text is the identity of a kernel in the database, in
// bundles and between processes, so it must be the same on every machine, and the reader trusts nothing.
#include <openssl/evp.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "executor/error.h"
#include "generators/operators.h"
#include "generators/workload.h"

namespace hone {
namespace {

using Json = nlohmann::json;  // objects are std::map: keys come out sorted

constexpr int64_t kFormat = 1;
constexpr size_t kMaxText = 4 << 20;
constexpr size_t kMaxItems = 4096;          // arguments, nodes or outputs
constexpr size_t kMaxRank = 16;             // of any tensor
constexpr int64_t kMaxInteger = 1ll << 40;  // extents, strides, integer attributes: sums of a few never overflow
constexpr int64_t kMaxElements = std::numeric_limits<int32_t>::max();  // Halide indexes with 32 bits

[[noreturn]] void refuse_text(const std::string& problem) {
  throw Error("cannot read workload", problem, "use a workload file that hone wrote, of this version of hone");
}

/// Hexadecimal floats are exact and need no agreement on shortest decimals. Every NaN is "nan".
std::string hex_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char digits[40];
  const char* end = std::to_chars(digits, digits + sizeof digits, std::fabs(value), std::chars_format::hex).ptr;
  return (std::signbit(value) ? "-0x" : "0x") + std::string(static_cast<const char*>(digits), end);
}

double parse_hex_float(const Json& json) {
  if (!json.is_string()) refuse_text("a float attribute is not a hexadecimal string");
  const std::string& text = json.get_ref<const std::string&>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf" || text == "-inf") {
    return text[0] == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  }
  const bool negative = text.starts_with('-');
  const std::string_view digits = std::string_view(text).substr(negative ? 1 : 0);
  double value = 0;
  if (digits.starts_with("0x")) {
    const auto [end, error] =
        std::from_chars(digits.data() + 2, digits.data() + digits.size(), value, std::chars_format::hex);
    if (error == std::errc() && end == digits.data() + digits.size()) {
      value = negative ? -value : value;
      if (hex_float(value) == text) return value;
    }
  }
  refuse_text("'" + text.substr(0, 40) + "' is not a hexadecimal float");
}

Json type_json(const TensorType& type) {
  return {{"dtype", name(type.dtype)}, {"shape", type.shape}};
}

/// Tagged, so that an empty list keeps its type and a string is never taken for a float.
Json attribute_json(const AttributeValue& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return {{"int", *integer}};
  if (const auto* number = std::get_if<double>(&value)) return {{"float", hex_float(*number)}};
  if (const auto* text = std::get_if<std::string>(&value)) return {{"string", *text}};
  if (const auto* integers = std::get_if<std::vector<int64_t>>(&value)) return {{"ints", *integers}};
  Json list = Json::array();
  for (const double number : std::get<std::vector<double>>(value)) list.push_back(hex_float(number));
  return {{"floats", std::move(list)}};
}

Json node_json(const Node& node) {
  Json attributes = Json::object();
  for (const auto& [key, value] : node.attributes) attributes[key] = attribute_json(value);
  Json outputs = Json::array();
  for (const TensorType& type : node.outputs) outputs.push_back(type_json(type));
  return {
      {"op", node.op}, {"attributes", std::move(attributes)}, {"inputs", node.inputs}, {"outputs", std::move(outputs)}};
}

/// The member `key` of an object. Objects have exactly the members that are written: the caller checks the size.
const Json& member(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) refuse_text(std::string("'") + key + "' is missing");
  return *found;
}

const Json& object_of(const Json& json, size_t members, const char* what) {
  if (!json.is_object() || json.size() != members) refuse_text(std::string(what) + " has the wrong members");
  return json;
}

int64_t parse_integer(const Json& json, int64_t low, int64_t high, const char* what) {
  const bool integer = json.is_number_integer() && !(json.is_number_unsigned() && json.get<uint64_t>() >> 63);
  if (!integer || json.get<int64_t>() < low || json.get<int64_t>() > high) {
    refuse_text(std::string(what) + " is no integer between " + std::to_string(low) + " and " + std::to_string(high));
  }
  return json.get<int64_t>();
}

const Json& parse_list(const Json& json, size_t most, const char* what) {
  if (!json.is_array() || json.size() > most) {
    refuse_text(std::string(what) + " is no list of at most " + std::to_string(most) + " items");
  }
  return json;
}

std::vector<int64_t> parse_integers(const Json& json, int64_t low, size_t most, const char* what) {
  std::vector<int64_t> values;
  for (const Json& item : parse_list(json, most, what)) values.push_back(parse_integer(item, low, kMaxInteger, what));
  return values;
}

std::string parse_string(const Json& json, const char* what) {
  if (!json.is_string() || json.get_ref<const std::string&>().size() > 100) {
    refuse_text(std::string(what) + " is no string of at most 100 characters");
  }
  return json.get<std::string>();
}

DType parse_type_name(const Json& json) {
  const std::string text = parse_string(json, "a dtype");
  const std::optional<DType> dtype = parse_dtype(text);
  if (!dtype) refuse_text("'" + text + "' is no element type");
  return *dtype;
}

TensorType parse_type(const Json& dtype, const Json& shape) {
  TensorType type{parse_type_name(dtype), parse_integers(shape, 0, kMaxRank, "a shape")};
  if (element_count(type.shape) > kMaxElements) refuse_text("a tensor has more than 2^31-1 elements");
  return type;
}

Strides parse_strides(const Json& json, const Shape& shape) {
  Strides strides = parse_integers(json, 0, kMaxRank, "strides");
  if (strides.size() != shape.size()) refuse_text("strides and shape differ in rank");
  int64_t last = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(std::max<int64_t>(shape[i] - 1, 0), strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last) || last >= kMaxElements) {
      refuse_text("a tensor's strides reach beyond 2^31-1 elements");
    }
  }
  return strides;
}

/// An output whose elements share memory would be written twice. Sufficient test: sorted by stride, each dimension
/// steps over all that lies inside it.
void check_no_overlap(const Shape& shape, const Strides& strides) {
  std::vector<std::pair<int64_t, int64_t>> dimensions;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > 1) dimensions.emplace_back(strides[i], shape[i]);
  }
  std::sort(dimensions.begin(), dimensions.end());
  int64_t inner = 0;
  for (const auto& [stride, extent] : dimensions) {
    if (stride <= inner) refuse_text("an output's strides overlap");
    inner += stride * (extent - 1);
  }
}

AttributeValue parse_attribute(const Json& json) {
  if (!json.is_object() || json.size() != 1) refuse_text("an attribute is not {type: value}");
  const std::string& tag = json.begin().key();
  const Json& value = json.begin().value();
  if (tag == "int") return parse_integer(value, -kMaxInteger, kMaxInteger, "an attribute");
  if (tag == "float") return parse_hex_float(value);
  if (tag == "string") return parse_string(value, "an attribute");
  if (tag == "ints") return parse_integers(value, -kMaxInteger, kMaxItems, "an attribute");
  if (tag != "floats") refuse_text("an attribute has the unknown type '" + tag.substr(0, 40) + "'");
  std::vector<double> numbers;
  for (const Json& item : parse_list(value, kMaxItems, "an attribute")) numbers.push_back(parse_hex_float(item));
  return numbers;
}

Node parse_node(const Json& json, int64_t values) {
  object_of(json, 4, "a node");
  Node node;
  node.op = parse_string(member(json, "op"), "an operator");
  const Json& attributes = member(json, "attributes");
  if (!attributes.is_object()) refuse_text("attributes are no object");
  for (const auto& [key, value] : attributes.items()) node.attributes[key] = parse_attribute(value);
  for (const Json& input : parse_list(member(json, "inputs"), kMaxItems, "inputs")) {
    // Only values that exist already: this is the topological order.
    node.inputs.push_back(static_cast<int>(parse_integer(input, -1, values - 1, "a node's input")));
  }
  for (const Json& output : parse_list(member(json, "outputs"), kMaxItems, "a node's outputs")) {
    object_of(output, 2, "a node's output");
    node.outputs.push_back(parse_type(member(output, "dtype"), member(output, "shape")));
  }
  if (node.outputs.empty()) refuse_text("a node has no output");
  return node;
}

/// The same arguments may be an operator's whatever the text says: its own rules decide.
void check_node(const Workload& workload, const Node& node) {
  const Operator* op = find_operator(node.op);
  if (op == nullptr) refuse_text("'" + node.op + "' is no operator");
  const int inputs = static_cast<int>(node.inputs.size());
  if (inputs < op->min_inputs || (op->max_inputs >= 0 && inputs > op->max_inputs)) {
    refuse_text(node.op + " has the wrong number of inputs");
  }
  std::vector<TensorType> types;
  for (int i = 0; i < inputs; ++i) {
    if (node.inputs[i] < 0 && i < op->min_inputs) refuse_text(node.op + " lacks a required input");
    types.push_back(node.inputs[i] < 0 ? TensorType{} : workload.type(node.inputs[i]));
  }
  if (node.attributes.size() != op->attributes.size()) refuse_text(node.op + " has the wrong number of attributes");
  for (const AttributeSpec& spec : op->attributes) {
    const auto found = node.attributes.find(std::string(spec.name));
    if (found == node.attributes.end() || found->second.index() != spec.default_value.index()) {
      refuse_text(node.op + " lacks the attribute '" + std::string(spec.name) + "' or has it with another type");
    }
  }
  if (op->infer(node, types) != node.outputs)
    refuse_text("the outputs of " + node.op + " do not follow from its inputs");
}

Workload parse_workload(const Json& json) {
  object_of(json, 5, "the workload");
  if (parse_integer(member(json, "format"), 0, kMaxInteger, "'format'") != kFormat) {
    refuse_text("its format is not " + std::to_string(kFormat));
  }
  Workload workload;
  workload.accumulator = parse_type_name(member(json, "accumulator"));
  for (const Json& item : parse_list(member(json, "arguments"), kMaxItems, "'arguments'")) {
    object_of(item, 4, "an argument");
    Argument argument{parse_type(member(item, "dtype"), member(item, "shape")), {}, false};
    argument.strides = parse_strides(member(item, "strides"), argument.type.shape);
    if (!member(item, "constant").is_boolean()) refuse_text("'constant' is neither true nor false");
    argument.constant = member(item, "constant").get<bool>();
    if (!argument.constant && !workload.arguments.empty() && workload.arguments.back().constant) {
      refuse_text("a constant comes before an input");
    }
    workload.arguments.push_back(std::move(argument));
  }
  for (const Json& item : parse_list(member(json, "nodes"), kMaxItems, "'nodes'")) {
    workload.nodes.push_back(parse_node(item, workload.value_count()));
    Node node = std::move(workload.nodes.back());
    workload.nodes.pop_back();
    check_node(workload, node);
    workload.nodes.push_back(std::move(node));
  }
  for (const Json& item : parse_list(member(json, "outputs"), kMaxItems, "'outputs'")) {
    object_of(item, 2, "an output");
    WorkloadOutput output;
    output.value = static_cast<int>(parse_integer(member(item, "value"), 0, workload.value_count() - 1, "an output"));
    output.strides = parse_strides(member(item, "strides"), workload.type(output.value).shape);
    check_no_overlap(workload.type(output.value).shape, output.strides);
    workload.outputs.push_back(std::move(output));
  }
  if (workload.nodes.empty() || workload.outputs.empty()) refuse_text("it computes nothing");
  return workload;
}

}  // namespace

std::string Workload::canonical_json() const {
  Json json = {{"format", kFormat}, {"accumulator", name(accumulator)}};
  json["arguments"] = Json::array();
  for (const Argument& argument : arguments) {
    Json item = type_json(argument.type);
    item["strides"] = argument.strides;
    item["constant"] = argument.constant;
    json["arguments"].push_back(std::move(item));
  }
  json["nodes"] = Json::array();
  for (const Node& node : nodes) json["nodes"].push_back(node_json(node));
  json["outputs"] = Json::array();
  for (const WorkloadOutput& output : outputs) {
    json["outputs"].push_back({{"value", output.value}, {"strides", output.strides}});
  }
  return json.dump();
}

std::string Workload::id() const {
  const std::string text = canonical_json();
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int bytes = 0;
  CHECK(EVP_Digest(text.data(), text.size(), digest, &bytes, EVP_sha256(), nullptr) == 1);
  std::string hex;
  for (unsigned int i = 0; i < bytes; ++i) {
    hex += "0123456789abcdef"[digest[i] >> 4];
    hex += "0123456789abcdef"[digest[i] & 15];
  }
  return hex;
}

Workload Workload::parse(std::string_view json) {
  if (json.size() > kMaxText) refuse_text("it is larger than 4 MiB");
  const Json parsed = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) refuse_text("it is not JSON");
  return parse_workload(parsed);
}

}  // namespace hone
