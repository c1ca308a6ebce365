// SPDX-License-Identifier: MIT
#include "executor/plan_check.h"

#include <algorithm>
#include <limits>

#include "executor/text.h"

namespace hone {
namespace {

using Kind = PlanStorage::Kind;

bool fits(uint64_t offset, uint64_t bytes, uint64_t total) {
  return offset <= total && bytes <= total - offset;
}

std::string storage_problem(const PlanStorage& storage, const Plan& plan, uint64_t weight_bytes) {
  switch (storage.kind) {
    case Kind::input:
      return storage.index < plan.inputs.size() ? "" : "belongs to an input that does not exist";
    case Kind::output:
      return storage.index < plan.outputs.size() ? "" : "belongs to an output that does not exist";
    case Kind::arena:
    case Kind::weights: {
      if (storage.offset % 64 != 0) return "is not aligned to 64 bytes";
      const uint64_t total = storage.kind == Kind::arena ? plan.arena_bytes : weight_bytes;
      return fits(storage.offset, storage.bytes, total) ? "" : "ends outside of its section";
    }
  }
  return "is of an unknown kind";
}

/// Lowest and highest element that a view reaches, relative to its first; `empty` if an extent is 0.
struct Reach {
  int64_t lowest = 0, highest = 0;
  bool empty = false;
};

bool compute_reach(const PlanView& view, Reach& reach) {
  int64_t elements = 1;
  for (size_t d = 0; d < view.extents.size(); ++d) {
    if (view.extents[d] < 0) return false;
    if (view.extents[d] == 0) {
      reach.empty = true;
      continue;
    }
    int64_t distance = 0;
    int64_t& end = view.strides[d] > 0 ? reach.highest : reach.lowest;
    if (__builtin_mul_overflow(elements, view.extents[d], &elements) ||
        __builtin_mul_overflow(view.extents[d] - 1, view.strides[d], &distance) ||
        __builtin_add_overflow(end, distance, &end)) {
      return false;
    }
  }
  return true;
}

std::string view_problem(const PlanView& view, const Plan& plan) {
  if (view.storage >= plan.storages.size()) return "looks at a storage that does not exist";
  if (view.extents.size() != view.strides.size()) return "has not one stride for each extent";
  if (view.extents.size() > kMaxRank) return "has too many dimensions";
  const int64_t element = element_bytes(view.dtype);
  if (element == 0) return "has an unknown element type";
  const uint64_t bytes = plan.storages[view.storage].bytes;
  Reach reach;
  if (bytes > std::numeric_limits<int64_t>::max() || !compute_reach(view, reach)) return "has impossible extents";
  if (view.offset_bytes > bytes || view.offset_bytes % static_cast<uint64_t>(element) != 0) {
    return "starts outside of its storage or between two elements";
  }
  if (reach.empty) return "";
  const auto before = static_cast<int64_t>(view.offset_bytes) / element;
  const auto after = static_cast<int64_t>(bytes - view.offset_bytes) / element;
  return reach.lowest >= -before && reach.highest < after ? "" : "reaches outside of its storage";
}

std::string step_problem(const PlanStep& step, const Plan& plan) {
  for (uint32_t view : step.arguments) {
    if (view >= plan.views.size()) return "uses a view that does not exist";
  }
  if (step.output_count == 0 || step.output_count > step.arguments.size()) return "has an impossible number of outputs";
  for (size_t i = step.arguments.size() - step.output_count; i < step.arguments.size(); ++i) {
    const Kind kind = plan.storages[plan.views[step.arguments[i]].storage].kind;
    if (kind != Kind::arena && kind != Kind::output) return "writes to an input or to the weights";
  }
  if (step.kernel != PlanStep::kCopy)
    return step.kernel < plan.kernel_count ? "" : "calls a kernel that does not exist";
  if (step.arguments.size() != 2) return "is a copy with other than two arguments";
  const PlanView& from = plan.views[step.arguments[0]];
  const PlanView& to = plan.views[step.arguments[1]];
  return from.extents == to.extents && from.dtype == to.dtype ? "" : "copies between different shapes or types";
}

/// Each border tensor owns exactly one storage, and its view starts there: so the app's pointer means one thing.
std::string border_problem(const std::vector<PlanTensor>& tensors, Kind kind, const Plan& plan) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].view >= plan.views.size()) return "uses a view that does not exist";
    const PlanView& view = plan.views[tensors[i].view];
    const PlanStorage& storage = plan.storages[view.storage];
    if (storage.kind != kind || storage.index != i || view.offset_bytes != 0) return "is not the start of its storage";
  }
  const auto count =
      std::count_if(plan.storages.begin(), plan.storages.end(), [kind](const auto& s) { return s.kind == kind; });
  return static_cast<size_t>(count) == tensors.size() ? "" : "shares its storage";
}

std::string numbered(const char* what, size_t index, const std::string& problem) {
  return concatenate({what, " ", decimal(static_cast<int64_t>(index)), " ", problem});
}

}  // namespace

std::string plan_problem(const Plan& plan, uint64_t weight_bytes) {
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    const std::string problem = storage_problem(plan.storages[i], plan, weight_bytes);
    if (!problem.empty()) return numbered("storage", i, problem);
  }
  for (size_t i = 0; i < plan.views.size(); ++i) {
    const std::string problem = view_problem(plan.views[i], plan);
    if (!problem.empty()) return numbered("view", i, problem);
  }
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const std::string problem = step_problem(plan.steps[i], plan);
    if (!problem.empty()) return numbered("step", i, problem);
  }
  const std::string input = border_problem(plan.inputs, Kind::input, plan);
  if (!input.empty()) return concatenate({"an input ", input});
  const std::string output = border_problem(plan.outputs, Kind::output, plan);
  return output.empty() ? "" : concatenate({"an output ", output});
}

uint64_t weight_section_bytes(const Plan& plan) {
  uint64_t bytes = 0;
  for (const PlanStorage& storage : plan.storages) {
    if (storage.kind == Kind::weights) bytes = std::max(bytes, storage.offset + storage.bytes);
  }
  return bytes;
}

}  // namespace hone
