// SPDX-License-Identifier: MIT
// The table of implementations, and what the tuner asks of it.
#include "executor/error.h"
#include "generators/nearest_name.h"
#include "schedules/implementation.h"

namespace hone {

const Implementation* conv2d_depthwise_cpu();
const Implementation* conv2d_direct_cpu();
const Implementation* conv2d_winograd_cpu();
const Implementation* generic_cpu();
const Implementation* matmul_cpu();
const Implementation* pointwise_cpu();
const Implementation* pool_cpu();

const ImplementationTable& implementations() {
  // clang-format off
  static const ImplementationTable table{
      conv2d_depthwise_cpu(),
      conv2d_winograd_cpu(),
      conv2d_direct_cpu(),
      matmul_cpu(),
      pool_cpu(),
      pointwise_cpu(),
      generic_cpu(),
  };
  // clang-format on
  return table;
}

std::vector<SearchSpace> search_spaces(const ImplementationTable& table, const Workload& workload,
                                       const DeviceInfo& device, const TuningContext& context) {
  std::vector<SearchSpace> spaces;
  for (const Implementation* implementation : table) {
    if (implementation->supports(workload, device)) {
      spaces.push_back(implementation->space(workload, device, context));
    }
  }
  CHECK(!spaces.empty());
  return spaces;
}

const Implementation& find_implementation(const ImplementationTable& table, const Config& config) {
  std::vector<std::string_view> names;
  for (const Implementation* implementation : table) {
    if (implementation->name() != config.implementation) {
      names.push_back(implementation->name());
      continue;
    }
    if (implementation->version() == config.version) return *implementation;
    throw Error("cannot build " + config.canonical(),
                "this hone has version " + std::to_string(implementation->version()) + " of that schedule",
                "tune the kernel again");
  }
  throw Error("cannot build " + config.canonical(), "there is no implementation of that name",
              "did you mean '" + nearest_name(config.implementation, names) + "'?");
}

}  // namespace hone
