// SPDX-License-Identifier: MIT
// graph_evaluator MODEL FOLDER [--shape name:1,3,8,8].. [--plain]: imports, runs the passes (not with --plain), groups,
// and evaluates in float64 references. Reads FOLDER/input_<i>.bin, writes FOLDER/output_<i>.bin (dense, native bytes)
// and prints one line of counts. tests/graph/models_vs_onnxruntime.py drives it.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "executor/error.h"
#include "tests/graph/evaluate.h"

namespace hone {
namespace {

Tensor read_tensor(const std::filesystem::path& file, const TensorType& type) {
  Tensor tensor = Tensor::zeros(type.dtype, type.shape);
  std::ifstream stream(file, std::ios::binary);
  stream.read(reinterpret_cast<char*>(tensor.bytes.data()), static_cast<std::streamsize>(tensor.bytes.size()));
  if (!stream) throw Error("cannot read " + file.string(), "missing or too short", "write all inputs first");
  return tensor;
}

InputShapes parse_shape(const std::string& option) {
  const size_t colon = option.rfind(':');
  Shape shape;
  std::istringstream numbers(option.substr(colon + 1));
  for (std::string number; std::getline(numbers, number, ',');) shape.push_back(std::stoll(number));
  return {{option.substr(0, colon), shape}};
}

void run(int argc, char** argv) {
  InputShapes shapes;
  bool plain = false;
  for (int i = 3; i < argc; ++i) {
    if (std::string(argv[i]) == "--plain") plain = true;
    if (std::string(argv[i]) == "--shape" && i + 1 < argc) shapes.merge(parse_shape(argv[++i]));
  }
  const std::filesystem::path folder = argv[2];
  Graph graph = import_onnx(argv[1], shapes);
  const size_t imported = graph.nodes.size();
  if (!plain) run_passes(graph);
  const auto layouts = assign_layouts(graph);
  const auto groups = make_groups(graph, layouts, {.fuse = !plain});
  std::set<std::string> workloads;
  for (const Group& group : groups) workloads.insert(group.workload.id());
  std::printf("imported %zu nodes, after passes %zu, groups %zu, unique workloads %zu\n", imported, graph.nodes.size(),
              groups.size(), workloads.size());
  for (const Group& group : groups) {
    std::printf("  %s <- %s\n", group.workload.summary().c_str(), graph.nodes[group.nodes[0]].name.c_str());
  }
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    inputs.push_back(read_tensor(folder / ("input_" + std::to_string(i) + ".bin"), graph.values[graph.inputs[i]].type));
  }
  const std::vector<Tensor> outputs = evaluate(graph, layouts, groups, inputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::ofstream stream(folder / ("output_" + std::to_string(i) + ".bin"), std::ios::binary);
    stream.write(reinterpret_cast<const char*>(outputs[i].bytes.data()),
                 static_cast<std::streamsize>(outputs[i].bytes.size()));
  }
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  try {
    hone::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
