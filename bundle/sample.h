// SPDX-License-Identifier: MIT
// The sample of a bundle: inputs and what the float64 reference makes of them, group by group.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bundle/bundle.h"

namespace hone {

struct Sample {
  std::vector<Tensor> inputs, outputs;  // in the model's order
};
/// Inputs that are not given are standard normal floats or small integers.
Sample make_sample(const BundleRequest& request);

}  // namespace hone
