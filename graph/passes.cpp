// SPDX-License-Identifier: MIT
#include "graph/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "executor/error.h"
#include "generators/nearest_name.h"
#include "graph/rewrite.h"

namespace hone {
namespace {

// The order matters: what one pass removes may stand between the parts of another one's pattern. Identities go first;
// a HardSwish is found through the HardSigmoid inside it; both before fold_scale_shift, which would take their "+ 3"
// for a bias; equal nodes are shared when all are in their final form.
constexpr std::array<Pass, 10> kPasses = {{
    {"remove_identity", "drops nodes that return their input; joins reshapes and transposes", pass_remove_identity},
    {"fold_constants", "evaluates nodes whose inputs are constants", pass_fold_constants},
    {"fold_pad", "zero Pad into the convolution or average pool behind it", pass_fold_pad},
    {"fold_batch_norm", "BatchNormalization into the weights before it, else Mul and Add", pass_fold_batch_norm},
    {"simplify_algebra", "drops multiplications by 1 and additions of 0", pass_simplify_algebra},
    {"fuse_hard_sigmoid", "Clip(x + 3, 0, 6) / 6 to HardSigmoid", pass_fuse_hard_sigmoid},
    {"fuse_hard_swish", "x * HardSigmoid(x), however it is spelled, to HardSwish", pass_fuse_hard_swish},
    {"fold_scale_shift", "per-channel Mul, Div, Add, Sub into the weights before them", pass_fold_scale_shift},
    {"common_subexpressions", "computes equal nodes once; stores equal constants once", pass_common_subexpressions},
    {"dead_nodes", "drops what no output needs", pass_dead_nodes},
}};

}  // namespace

std::span<const Pass> passes() {
  return kPasses;
}

std::vector<PassLog> run_passes(Graph& graph, const PassOptions& options) {
  std::vector<std::string_view> names;
  for (const Pass& pass : kPasses) names.push_back(pass.name);
  for (const std::string& disabled : options.disabled) {
    if (std::find(names.begin(), names.end(), disabled) != names.end()) continue;
    throw Error("cannot run the graph passes", fmt::format("there is no pass '{}'", disabled),
                fmt::format("did you mean '{}'?", nearest_name(disabled, names)));
  }
  std::vector<PassLog> log;
  for (const Pass& pass : kPasses) {
    if (std::find(options.disabled.begin(), options.disabled.end(), pass.name) != options.disabled.end()) continue;
    log.push_back({std::string(pass.name), pass.run(graph)});
    compact(graph);
    check_graph(graph);  // a pass that breaks the graph ends here, not in a wrong result
  }
  return log;
}

}  // namespace hone
