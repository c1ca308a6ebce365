// SPDX-License-Identifier: MIT
// The knobs of the register tile: domains, constraints, and the model that picks default points.
#include <algorithm>
#include <cmath>

#include "executor/error.h"
#include "schedules/register_tile.h"

namespace hone {
namespace {

constexpr double kMaxWaste = 1.34;
constexpr int64_t kMinAccumulators =
    6;  // below latency (4) x throughput (2) the FMA units idle; 6 is still worth a try

int64_t round_up_division(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// The natural vector, and narrower ones where they waste fewer lanes (24 channels are three vectors of 8, not two of
/// 16).
std::vector<int64_t> lane_choices(int64_t channels, const DeviceInfo& device) {
  const int64_t natural = device.float_lanes();
  std::vector<int64_t> lanes;
  for (int64_t l = natural; l >= 4 && l * 4 >= natural; l /= 2) {
    if (lanes.empty() || round_up_division(channels, l) * l < round_up_division(channels, lanes[0]) * lanes[0]) {
      lanes.insert(lanes.begin(), l);
    }
  }
  return lanes;
}

/// Work per useful multiply-add: lanes and pixels that are computed and thrown away.
double waste(const RegisterTile& tile, const TileExtents& extents) {
  const double computed = static_cast<double>(round_up_division(extents.channels, tile.channels()) * tile.channels()) *
                          static_cast<double>(round_up_division(extents.pixels, tile.pixels) * tile.pixels);
  return computed / static_cast<double>(extents.channels * extents.pixels);
}

/// Visits the valid points with `block`, `ku` and `parallel` as they are in `config`.
void for_each_tile(const SearchSpace& space, Config config, size_t param,
                   const std::function<void(const Config&)>& visit) {
  if (param == space.params.size()) {
    if (space.violation(config).empty()) visit(config);
    return;
  }
  const TunableParam& knob = space.params[param];
  const bool fixed = knob.name == "block" || knob.name == "ku" || knob.name == "parallel";
  const std::vector<int64_t> values = fixed ? std::vector<int64_t>{config.at(knob.name)} : knob.values;
  for (const int64_t value : values) {
    config.values[knob.name] = value;
    for_each_tile(space, config, param + 1, visit);
  }
}

std::vector<int64_t> up_to(std::vector<int64_t> values, int64_t limit) {
  std::erase_if(values, [&](int64_t v) { return v > limit; });
  return values;
}

bool fits_registers(const RegisterTile& tile, int64_t registers) {
  // Accumulators, one row of weights, one broadcast input. One register more spills: nv2 xr7 on 16 registers runs at a
  // third of nv2 xr6 (Zen 3).
  return tile.vectors * tile.pixels + tile.vectors + 1 <= registers;
}

const std::vector<int64_t>& domain(const SearchSpace& space, std::string_view name) {
  const auto param =
      std::find_if(space.params.begin(), space.params.end(), [&](const TunableParam& p) { return p.name == name; });
  CHECK(param != space.params.end());
  return param->values;
}

/// Least waste and most accumulators that any tile of the domains reaches, so that constraints never exclude all.
struct Reachable {
  double waste = 0;
  int64_t accumulators = 0;
};

Reachable reachable(const SearchSpace& space, const TileExtents& extents, int64_t registers) {
  std::vector<RegisterTile> tiles;
  for (const int64_t lanes : domain(space, "vl")) {
    for (const int64_t vectors : domain(space, "nv")) {
      for (const int64_t pixels : domain(space, "xr")) {
        RegisterTile tile;
        tile.lanes = static_cast<int>(lanes), tile.vectors = vectors, tile.pixels = pixels;
        if (fits_registers(tile, registers)) tiles.push_back(tile);
      }
    }
  }
  Reachable result;
  for (const RegisterTile& tile : tiles) {
    if (result.waste == 0 || waste(tile, extents) < result.waste) result.waste = waste(tile, extents);
  }
  for (const RegisterTile& tile : tiles) {
    if (waste(tile, extents) > std::max(kMaxWaste, result.waste)) continue;
    result.accumulators = std::max(result.accumulators, tile.vectors * tile.pixels);
  }
  return result;
}

void add_tile_constraints(SearchSpace& space, const TileExtents& extents, int64_t registers) {
  const Reachable limit = reachable(space, extents, registers);
  space.constraints.push_back(
      {"registers", [registers](const Config& c) { return fits_registers(RegisterTile::of(c), registers); }});
  space.constraints.push_back({"accumulators", [most = limit.accumulators](const Config& c) {
                                 return c.at("nv") * c.at("xr") >= std::min(most, kMinAccumulators);
                               }});
  space.constraints.push_back({"waste", [extents, least = limit.waste](const Config& c) {
                                 return waste(RegisterTile::of(c), extents) <= std::max(kMaxWaste, least);
                               }});
}

}  // namespace

void add_tile_params(SearchSpace& space, const TileExtents& extents, const DeviceInfo& device) {
  const std::vector<int64_t> lanes = lane_choices(extents.channels, device);
  const int64_t vectors = round_up_division(extents.channels, lanes[0]);
  std::vector<int64_t> unrolls{1, 2, 4};
  std::erase_if(unrolls, [&](int64_t ku) { return extents.inner_reduction % ku != 0; });
  if (extents.inner_reduction <= 4) unrolls = {extents.inner_reduction};
  const int64_t max_pixels = std::min<int64_t>(extents.pixels, device.vector_registers - 2);
  // A single pixel (GEMV) has no other source of independent accumulators than vectors.
  const std::vector<int64_t> tall{1, 2, 4, 6, 8, 12}, wide{1, 2, 3, 4, 6};
  space.params.push_back({"block", {0, 1, 4, 8, 16, 32}});
  space.params.push_back({"ku", unrolls});
  space.params.push_back({"nv", up_to(extents.pixels == 1 ? tall : wide, vectors)});
  space.params.push_back({"vl", lanes});
  space.params.push_back({"xr", up_to({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 28}, max_pixels)});
  add_tile_constraints(space, extents, device.vector_registers);
}

double modelled_cycles(const RegisterTile& tile, const TileExtents& extents, bool pointers) {
  const double fma = static_cast<double>(tile.vectors * tile.pixels) / 2;
  const double spilled = pointers ? std::max(0.0, static_cast<double>(tile.pixels) - 11) : 0;
  const double loads = (static_cast<double>(tile.vectors + tile.pixels) + spilled) / 2;
  const double step = std::max({fma, loads, 4.0}) + 0.05;  // the constant: loop overhead, breaks ties for larger tiles
  const double tiles = static_cast<double>(round_up_division(extents.channels, tile.channels())) *
                       static_cast<double>(round_up_division(extents.pixels, tile.pixels));
  const double store = static_cast<double>(tile.vectors * tile.pixels) * 1.5 + 8;  // epilogue of a tile
  // Two vectors come out ahead of three or one where the rest is equal (16->96@112: 467 us against 509, Zen 3).
  const double preference = 1 + 0.01 * std::abs(static_cast<double>(tile.vectors) - 2);
  return tiles * (step * static_cast<double>(extents.reduction) + store) * preference;
}

int64_t default_block(const TileExtents& extents, const DeviceInfo& device, int threads) {
  const bool stays = extents.channels * extents.reduction * 4 <= device.l2_bytes / 2;
  if (!stays || extents.pixels == 1) return 0;
  return threads > 1 ? 8 : 1;  // a task of a parallel loop should be worth handing out
}

Config best_modelled_tile(const SearchSpace& space, int64_t block, const std::function<double(const Config&)>& cycles) {
  Config start{space.implementation, space.version, {}};
  for (const TunableParam& param : space.params) start.values[param.name] = param.values.front();
  if (start.values.contains("parallel")) start.values["parallel"] = 1;
  start.values["block"] = block;
  Config best;
  double fewest = 0;
  for_each_tile(space, start, 0, [&](const Config& candidate) {
    const double modelled = cycles(candidate);
    if (!best.implementation.empty() && modelled >= fewest) return;
    fewest = modelled;
    best = candidate;
  });
  CHECK(!best.implementation.empty());
  return best;
}

}  // namespace hone
