// SPDX-License-Identifier: MIT
// Exhaustive search: the defaults, then every valid point in the order of the spaces. Meant for spaces of up to a few
// hundred points and for finding the true optimum that other strategies are judged against.
#include <set>

#include "tuner/space_points.h"
#include "tuner/strategies.h"

namespace hone {
namespace {

class ExhaustiveStrategy final : public SearchStrategy {
 public:
  explicit ExhaustiveStrategy(const std::vector<SearchSpace>& spaces) : points_(spaces) {}

  std::vector<Config> propose(int max_count) override {
    std::vector<Config> batch;
    const auto wanted = static_cast<size_t>(max_count > 0 ? max_count : 0);
    for (const Config& config : points_.defaults()) {
      if (batch.size() < wanted && seen_.insert(config).second) batch.push_back(config);
    }
    for (; next_ < points_.count() && batch.size() < wanted; ++next_) {
      if (!points_.valid(next_)) continue;
      Config config = points_.decode(next_);
      if (seen_.insert(config).second) batch.push_back(std::move(config));
    }
    return batch;
  }

  void observe(std::span<const Trial> trials) override {
    for (const Trial& trial : trials) seen_.insert(trial.config);
  }

 private:
  SpacePoints points_;
  uint64_t next_ = 0;
  std::set<Config> seen_;
};

}  // namespace

std::unique_ptr<SearchStrategy> make_exhaustive_strategy(const std::vector<SearchSpace>& spaces, uint64_t) {
  return std::make_unique<ExhaustiveStrategy>(spaces);
}

}  // namespace hone
