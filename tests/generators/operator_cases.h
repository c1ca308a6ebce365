// SPDX-License-Identifier: MIT
// Small workloads, one or more for each operator of the table, at odd sizes: the shapes on which an algorithm or a
// schedule is checked against the reference.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "generators/workload.h"

namespace hone {

struct OperatorCase {
  std::string name;   // unique: "Conv_grouped"
  Workload workload;  // one node, dense arguments and outputs
  friend std::ostream& operator<<(std::ostream& out, const OperatorCase& one) { return out << one.name; }
};

/// The node is normalised as of opset 21 unless a case says otherwise; inputs come first, the rest are constants.
std::vector<OperatorCase> operator_cases();

/// One-node workload. `attributes` as ONNX writes them, defaults are added. The first `inputs` of `types` are inputs.
Workload one_node(const std::string& op, Attributes attributes, const std::vector<TensorType>& types, int inputs = 1,
                  int opset = 21);

}  // namespace hone
