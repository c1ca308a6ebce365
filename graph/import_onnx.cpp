// SPDX-License-Identifier: MIT
// From an ONNX file to a Graph: one walk in topological order normalises each node, infers its types and folds it if
// it depends on constants only, so that whatever a later node needs to know (a shape, a pad) is known when it comes.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "executor/error.h"
#include "generators/nearest_name.h"
#include "generators/operators.h"
#include "graph/fold.h"
#include "graph/graph.h"
#include "graph/import_node.h"
#include "graph/onnx_file.h"
#include "graph/onnx_nodes.h"
#include "graph/rewrite.h"

namespace hone {
namespace {

constexpr std::string_view kExport = "export the model again";

std::string attempted_import(const std::filesystem::path& file) {
  return fmt::format("cannot import {}", file.string());
}

int opset_of(const onnx::ModelProto& model, const std::string& attempted) {
  for (const auto& opset : model.opset_import()) {
    const bool own = opset.domain().empty() || opset.domain() == "ai.onnx";
    if (own) return static_cast<int>(std::clamp<int64_t>(opset.version(), 1, 1 << 20));
  }
  if (model.ir_version() < 3) return 1;  // before opset_import existed
  throw Error(attempted, "it does not say which opset it uses (opset_import)", kExport);
}

class Importer {
 public:
  Importer(const std::filesystem::path& file, const InputShapes& shapes)
      : file_(file), attempted_(attempted_import(file)), model_(read_model_file(file)), shapes_(shapes) {
    graph_.name = file.stem().string();
    names_ = node_names(model_.graph());
  }

  Graph run() {
    refuse_unsupported();
    const std::vector<int> order = execution_order(model_.graph(), names_, attempted_);
    opset_ = opset_of(model_, attempted_);
    if (model_.graph().sparse_initializer_size() > 0) {
      throw Error(attempted_, "it has sparse initializers", "store its weights dense");
    }
    for (const auto& initializer : model_.graph().initializer()) initializers_[initializer.name()] = &initializer;
    add_inputs();
    for (const int index : order) add_node(index);
    for (const auto& output : model_.graph().output()) graph_.outputs.push_back(value_id(output.name()));
    if (graph_.outputs.empty()) throw Error(attempted_, "it has no outputs", kExport);
    return std::move(graph_);
  }

 private:
  std::string at_node(int index) const { return fmt::format("{}: node {}", attempted_, quote_name(names_[index])); }

  void refuse_unsupported() const;
  void add_inputs();
  Shape input_shape(const onnx::ValueInfoProto& input, std::vector<std::string>& wanted) const;
  void check_shape_names() const;
  void add_node(int index);
  void add_constant_node(int index);
  void add_constant_of_shape(int index);
  std::vector<int> add_outputs(int index, std::vector<TensorType> types);
  int value_id(const std::string& name);

  std::filesystem::path file_;
  std::string attempted_;
  onnx::ModelProto model_;
  const InputShapes& shapes_;
  std::vector<std::string> names_;
  std::map<std::string, const onnx::TensorProto*> initializers_;
  std::map<std::string, int> ids_;
  std::map<std::string, int> not_computed_;  // by tensor name: the node that would make it
  int opset_ = 0;
  Graph graph_;
};

void Importer::refuse_unsupported() const {
  const auto& nodes = model_.graph().node();
  int count = 0;
  std::optional<UnsupportedNode> first;
  int first_index = 0;
  for (int i = 0; i < nodes.size(); ++i) {
    std::optional<UnsupportedNode> found = unsupported(nodes[i], names_[i]);
    if (!found) continue;
    if (count++ == 0) first_index = i;
    if (!first) first = std::move(found);
  }
  if (!first) return;
  std::string problem;
  if (first->reason == "control flow") {
    problem = fmt::format("{} is control flow, which hone does not run", quote_name(first->op));
  } else if (!first->domain.empty()) {
    problem = fmt::format("operator {} of domain {} is unknown", quote_name(first->op), quote_name(first->domain));
  } else {
    problem = fmt::format("operator {} is unknown (nearest: {})", quote_name(first->op), first->nearest);
  }
  if (count > 1) problem += fmt::format(", and {} more nodes like this", count - 1);
  throw Error(at_node(first_index), problem,
              fmt::format("`hone inspect {}` lists all unsupported nodes; export without them", file_.string()));
}

// The extents of an input; for one that is not known, adds a "--shape" option to `wanted`.
Shape Importer::input_shape(const onnx::ValueInfoProto& input, std::vector<std::string>& wanted) const {
  const std::string at = fmt::format("{}: input {}", attempted_, quote_name(input.name()));
  const auto& declared = input.type().tensor_type();
  const auto given = shapes_.find(input.name());
  if (given != shapes_.end()) {
    const int rank = declared.has_shape() ? declared.shape().dim_size() : static_cast<int>(given->second.size());
    if (rank != static_cast<int>(given->second.size())) {
      throw Error(at, fmt::format("--shape gives {} dimensions, the model {}", given->second.size(), rank),
                  "give one number for each dimension");
    }
    int64_t elements = 1;
    for (const int64_t extent : given->second) {
      if (extent < 1 || __builtin_mul_overflow(elements, extent, &elements)) {
        throw Error(at, fmt::format("--shape gives the extent {}", extent), "give numbers from 1 on");
      }
    }
    return given->second;
  }
  Shape shape;
  std::string option;
  bool fixed = declared.has_shape();
  int64_t elements = 1;
  for (int i = 0; fixed && i < declared.shape().dim_size(); ++i) {
    const auto& dim = declared.shape().dim(i);
    const bool known = dim.dim_value() > 0 && !__builtin_mul_overflow(elements, dim.dim_value(), &elements);
    shape.push_back(known ? dim.dim_value() : -1);
    option += (i > 0 ? "," : "") + (known ? std::to_string(dim.dim_value()) : fmt::format("<dim{}>", i));
  }
  if (fixed && std::find(shape.begin(), shape.end(), -1) == shape.end()) return shape;
  wanted.push_back(fmt::format("--shape {}:{}", input.name(), fixed ? option : "<dim0>,<dim1>,..."));
  return shape;
}

void Importer::check_shape_names() const {
  std::vector<std::string> inputs;
  for (const int input : graph_.inputs) inputs.push_back(graph_.values[input].name);
  for (const auto& [name, shape] : shapes_) {
    if (std::find(inputs.begin(), inputs.end(), name) != inputs.end()) continue;
    throw Error(
        attempted_, fmt::format("--shape names {}, which is no input of the model", quote_name(name)),
        inputs.empty() ? "the model has no inputs" : fmt::format("did you mean '{}'?", nearest_name(name, inputs)));
  }
}

void Importer::add_inputs() {
  std::vector<std::string> wanted;
  std::string first_wanted;
  for (const auto& input : model_.graph().input()) {
    if (initializers_.contains(input.name())) continue;  // IR version 3 listed weights among the inputs
    const std::string at = fmt::format("{}: input {}", attempted_, quote_name(input.name()));
    if (!input.type().has_tensor_type()) throw Error(at, "it is no tensor", "export the model with tensors as inputs");
    if (ids_.contains(input.name())) throw Error(at, "it is listed twice", kExport);
    const DType dtype = dtype_from_onnx(input.type().tensor_type().elem_type(), at);
    const size_t before = wanted.size();
    const Shape shape = input_shape(input, wanted);
    if (before == 0 && !wanted.empty()) first_wanted = input.name();
    ids_[input.name()] = add_value(graph_, input.name(), {dtype, shape});
    graph_.inputs.push_back(ids_[input.name()]);
  }
  check_shape_names();
  if (wanted.empty()) return;
  std::string options;
  for (const std::string& option : wanted) options += " " + option;
  throw Error(fmt::format("{}: input {}", attempted_, quote_name(first_wanted)), "its shape is not fixed in the model",
              fmt::format("add{} with numbers for the names", options));
}

int Importer::value_id(const std::string& name) {
  if (name.empty()) return -1;
  const auto known = ids_.find(name);
  if (known != ids_.end()) return known->second;
  if (const auto skipped = not_computed_.find(name); skipped != not_computed_.end()) {
    throw Error(at_node(skipped->second), fmt::format("hone does not compute its output {}", quote_name(name)),
                "export the model for inference");
  }
  const auto initializer = initializers_.find(name);
  CHECK(initializer != initializers_.end());  // execution_order() has seen to it that something makes every name
  const std::string at = fmt::format("{}: initializer {}", attempted_, quote_name(name));
  const int id = add_constant(graph_, name, tensor_from_onnx(*initializer->second, file_.parent_path(), at));
  ids_[name] = id;
  return id;
}

std::vector<int> Importer::add_outputs(int index, std::vector<TensorType> types) {
  const auto& proto = model_.graph().node(index);
  std::vector<int> outputs;
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string name = static_cast<int>(i) < proto.output_size() ? proto.output(static_cast<int>(i)) : "";
    outputs.push_back(add_value(graph_, name, std::move(types[i])));
    if (!name.empty()) ids_[name] = outputs.back();
  }
  return outputs;
}

void Importer::add_constant_node(int index) {
  const auto& proto = model_.graph().node(index);
  const std::string at = at_node(index);
  if (proto.attribute_size() != 1 || proto.output_size() != 1) throw Error(at, "it is no valid Constant", kExport);
  const onnx::AttributeProto& attribute = proto.attribute(0);
  Tensor tensor;
  if (attribute.name() == "value" && attribute.has_t()) {
    tensor = tensor_from_onnx(attribute.t(), file_.parent_path(), at);
  } else if (attribute.name() == "value_float") {
    tensor = narrow({DType::f32, {}, {attribute.f()}});
  } else if (attribute.name() == "value_floats") {
    tensor = Tensor::zeros(DType::f32, {attribute.floats_size()});
    std::copy(attribute.floats().begin(), attribute.floats().end(), tensor.as<float>().begin());
  } else if (attribute.name() == "value_int") {
    tensor = Tensor::zeros(DType::i64, {});
    tensor.as<int64_t>()[0] = attribute.i();
  } else if (attribute.name() == "value_ints") {
    tensor = Tensor::zeros(DType::i64, {attribute.ints_size()});
    std::copy(attribute.ints().begin(), attribute.ints().end(), tensor.as<int64_t>().begin());
  } else {
    throw Error(at, fmt::format("hone does not read constants given as {}", quote_name(attribute.name())),
                "store the constant as an initializer");
  }
  ids_[proto.output(0)] = add_constant(graph_, proto.output(0), std::move(tensor));
}

void Importer::add_constant_of_shape(int index) {
  const auto& proto = model_.graph().node(index);
  const std::string at = at_node(index);
  const Tensor* extents = proto.input_size() == 1 ? constant(graph_, value_id(proto.input(0))) : nullptr;
  if (extents == nullptr || extents->dtype != DType::i64 || proto.output_size() != 1) {
    throw Error(at, "its shape is computed from the model's input, hone needs it fixed",
                "export the model with static shapes, or simplify it first (onnxsim)");
  }
  Tensor value = Tensor::zeros(DType::f32, {1});
  for (const auto& attribute : proto.attribute()) value = tensor_from_onnx(attribute.t(), file_.parent_path(), at);
  if (value.elements() != 1) throw Error(at, "its value is not one number", kExport);
  const Shape shape(extents->as<int64_t>().begin(), extents->as<int64_t>().end());
  int64_t bytes = element_bytes(value.dtype);
  for (const int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes) || bytes > kLargestFoldedBytes) {
      throw Error(at, "the tensor it makes is negative or larger than 256 MB", "export the model without it");
    }
  }
  Tensor filled = Tensor::zeros(value.dtype, shape);
  for (size_t i = 0; i < filled.bytes.size(); ++i) filled.bytes[i] = value.bytes[i % value.bytes.size()];
  ids_[proto.output(0)] = add_constant(graph_, proto.output(0), std::move(filled));
}

void Importer::add_node(int index) {
  const auto& proto = model_.graph().node(index);
  if (proto.op_type() == kConstant) return add_constant_node(index);
  if (proto.op_type() == kConstantOfShape) return add_constant_of_shape(index);
  const std::string at = at_node(index);
  ImportedNode imported{&proto, names_[index], {}};
  for (const std::string& input : proto.input()) imported.inputs.push_back(value_id(input));
  GraphNode node = normalised_node(graph_, imported, opset_, at);

  const Operator* entry = find_operator(node.op);
  Node described = table_node(graph_, node);
  described.outputs.resize(static_cast<size_t>(proto.output_size()));  // Split asks how many there are
  std::vector<TensorType> types;
  try {
    types = entry->infer(described, input_types(graph_, node));
  } catch (const Error& error) {
    rethrow_for_node(at, error);
  }
  for (int i = static_cast<int>(types.size()); i < proto.output_size(); ++i) {
    if (proto.output(i).empty()) continue;
    not_computed_[proto.output(i)] = index;  // legal as long as nobody reads it: BatchNormalization's statistics, ...
  }
  node.outputs = add_outputs(index, std::move(types));
  if (fold_node(graph_, node)) return;
  if (entry->kind == OperatorKind::fold_only) {
    throw Error(at, fmt::format("the result of {} depends on the model's input, hone needs it fixed", node.op),
                "export the model with static shapes, or simplify it first (onnxsim)");
  }
  graph_.nodes.push_back(std::move(node));
}

}  // namespace

Graph import_onnx(const std::filesystem::path& file, const InputShapes& shapes) {
  return Importer(file, shapes).run();
}

std::vector<UnsupportedNode> list_unsupported(const std::filesystem::path& file) {
  const onnx::ModelProto model = read_model_file(file);
  const std::vector<std::string> names = node_names(model.graph());
  std::vector<UnsupportedNode> found;
  for (int i = 0; i < model.graph().node_size(); ++i) {
    if (auto node = unsupported(model.graph().node(i), names[i])) found.push_back(std::move(*node));
  }
  return found;
}

}  // namespace hone
