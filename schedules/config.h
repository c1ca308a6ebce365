// SPDX-License-Identifier: MIT
// Config: one point of one implementation's search space, and the space itself. Halide-free value types.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

struct Config {
  std::string implementation;  // "conv2d_direct_cpu"
  int version = 1;             // Implementation::version(): a changed schedule is a new version
  std::map<std::string, int64_t> values;
  auto operator<=>(const Config&) const = default;

  /// Canonical text and identity: "conv2d_direct_cpu@1{ku=2,nv=2,xr=7}".
  std::string canonical() const;
  /// Throws Error on text that canonical() cannot have written.
  static Config parse(std::string_view text);
  /// CHECKs that the value exists.
  int64_t at(std::string_view name) const;
};

struct TunableParam {
  std::string name;
  std::vector<int64_t> values;  // in ascending order
};

/// A named predicate over complete points; the name is shown when a pinned or stored Config is refused.
struct Constraint {
  std::string name;
  std::function<bool(const Config&)> holds;
};

/// All points of one implementation for one (workload, device, context).
struct SearchSpace {
  std::string implementation;
  int version = 1;
  std::vector<TunableParam> params;
  std::vector<Constraint> constraints;
  Config default_config;  // the hand-chosen one; satisfies all constraints

  /// Empty if the config is valid, else the name of the first violated constraint or unknown/out-of-domain parameter.
  std::string violation(const Config& config) const;
  /// Product of the domains (constraints not applied).
  double cartesian_size() const;
};

/// "{conv2d_direct_cpu: nv {1,2,4}, ...}" for humans is in reports; a space is stored by this JSON-free text hash.
std::string space_id(const std::vector<SearchSpace>& spaces);

}  // namespace hone
