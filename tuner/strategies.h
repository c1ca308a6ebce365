// SPDX-License-Identifier: MIT
// Factories behind the table in strategies.cpp, one a file.
#pragma once

#include "tuner/strategy.h"

namespace hone {

std::unique_ptr<SearchStrategy> make_random_strategy(const std::vector<SearchSpace>& spaces, uint64_t seed);
std::unique_ptr<SearchStrategy> make_exhaustive_strategy(const std::vector<SearchSpace>& spaces, uint64_t seed);

}  // namespace hone
