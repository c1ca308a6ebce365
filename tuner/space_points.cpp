// SPDX-License-Identifier: MIT
#include "tuner/space_points.h"

#include <algorithm>

#include "executor/error.h"

namespace hone {
namespace {

uint64_t product_size(const SearchSpace& space) {
  uint64_t size = 1;
  for (const TunableParam& param : space.params) {
    CHECK(!param.values.empty());
    CHECK(size <= UINT64_MAX / 2 / param.values.size());
    size *= param.values.size();
  }
  return size;
}

}  // namespace

SpacePoints::SpacePoints(std::vector<SearchSpace> spaces) : spaces_(std::move(spaces)) {
  for (const SearchSpace& space : spaces_) {
    sizes_.push_back(product_size(space));
    total_ += sizes_.back();
    if (std::find(defaults_.begin(), defaults_.end(), space.default_config) == defaults_.end()) {
      defaults_.push_back(space.default_config);
    }
  }
}

size_t SpacePoints::space_of(uint64_t& index) const {
  size_t space = 0;
  while (index >= sizes_[space]) index -= sizes_[space++];
  return space;
}

Config SpacePoints::decode(uint64_t index) const {
  CHECK(index < total_);
  const SearchSpace& space = spaces_[space_of(index)];
  Config config{space.implementation, space.version, {}};
  for (auto param = space.params.rbegin(); param != space.params.rend(); ++param) {
    config.values[param->name] = param->values[index % param->values.size()];
    index /= param->values.size();
  }
  return config;
}

bool SpacePoints::valid(uint64_t index) const {
  const Config config = decode(index);
  return spaces_[space_of(index)].violation(config).empty();
}

}  // namespace hone
