// SPDX-License-Identifier: MIT
// Random search: the hand-chosen defaults first, then uniform draws over the valid points of all implementations
// without repeats. Meant as the baseline and as the safe choice: 25-30 draws find the best tile within a few per cent
// in spaces made of good points. Ends when every valid point was seen.
#include <algorithm>
#include <random>
#include <set>

#include "tuner/space_points.h"
#include "tuner/strategies.h"

namespace hone {
namespace {

class RandomStrategy final : public SearchStrategy {
 public:
  RandomStrategy(const std::vector<SearchSpace>& spaces, uint64_t seed) : points_(spaces), generator_(seed) {
    if (points_.count() <= kEnumerated) {
      for (uint64_t i = 0; i < points_.count(); ++i) {
        if (points_.valid(i)) shuffled_.push_back(i);
      }
      // Fisher-Yates by hand: std::shuffle and std::uniform_int_distribution differ between standard libraries.
      for (size_t i = shuffled_.size(); i > 1; --i) std::swap(shuffled_[i - 1], shuffled_[generator_() % i]);
      std::reverse(shuffled_.begin(), shuffled_.end());
    }
  }

  std::vector<Config> propose(int max_count) override {
    std::vector<Config> batch;
    const auto wanted = static_cast<size_t>(std::max(max_count, 0));
    for (const Config& config : points_.defaults()) {
      if (batch.size() < wanted && seen_.insert(config).second) batch.push_back(config);
    }
    while (batch.size() < wanted) {
      std::optional<Config> config = points_.count() <= kEnumerated ? next_shuffled() : draw();
      if (!config) break;
      batch.push_back(std::move(*config));
    }
    return batch;
  }

  void observe(std::span<const Trial> trials) override {
    for (const Trial& trial : trials) seen_.insert(trial.config);
  }

 private:
  std::optional<Config> next_shuffled() {
    while (!shuffled_.empty()) {
      Config config = points_.decode(shuffled_.back());
      shuffled_.pop_back();
      if (seen_.insert(config).second) return config;
    }
    return std::nullopt;
  }

  std::optional<Config> draw() {
    // In a space too large to enumerate, this many misses in a row mean that hardly any point is valid or unseen.
    for (int attempt = 0; attempt < kMaxMisses; ++attempt) {
      const uint64_t index = generator_() % points_.count();
      if (!points_.valid(index)) continue;
      Config config = points_.decode(index);
      if (seen_.insert(config).second) return config;
    }
    return std::nullopt;
  }

  static constexpr uint64_t kEnumerated = 50'000;
  static constexpr int kMaxMisses = 100'000;
  SpacePoints points_;
  std::mt19937_64 generator_;
  std::vector<uint64_t> shuffled_;  // unseen points, next at the back
  std::set<Config> seen_;
};

}  // namespace

std::unique_ptr<SearchStrategy> make_random_strategy(const std::vector<SearchSpace>& spaces, uint64_t seed) {
  return std::make_unique<RandomStrategy>(spaces, seed);
}

}  // namespace hone
