// SPDX-License-Identifier: MIT
#include "schedules/register_tile.h"

#include <algorithm>

namespace hone {
namespace {

using Halide::TailStrategy;

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

std::vector<int64_t> up_to(std::vector<int64_t> values, int64_t limit) {
  std::erase_if(values, [&](int64_t v) { return v > limit; });
  return values;
}

}  // namespace

RegisterTile RegisterTile::of(const Config& config) {
  RegisterTile tile;
  tile.lanes = static_cast<int>(config.at("vl"));
  tile.vectors = config.at("nv");
  tile.pixels = config.at("xr");
  tile.unroll = config.at("ku");
  tile.block = config.at("block");
  tile.parallel = config.values.contains("parallel") && config.at("parallel") != 0;
  return tile;
}

void add_tile_params(SearchSpace& space, const TileExtents& extents, const DeviceInfo& device) {
  const std::vector<int64_t> lanes = lane_choices(extents.channels, device);
  const int64_t vectors = round_up_division(extents.channels, lanes[0]);
  std::vector<int64_t> unrolls{1, 2, 4};
  std::erase_if(unrolls, [&](int64_t ku) { return extents.reduction % ku != 0; });
  if (extents.reduction <= 4) unrolls = {extents.reduction};
  const int64_t max_pixels = std::min<int64_t>(extents.pixels, device.vector_registers - 2);
  space.params.push_back({"block", {0, 1, 4, 8, 16, 32}});
  space.params.push_back({"ku", unrolls});
  space.params.push_back({"nv", up_to({1, 2, 3, 4, 6}, vectors)});
  space.params.push_back({"vl", lanes});
  space.params.push_back({"xr", up_to({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 28}, max_pixels)});

  const int64_t registers = device.vector_registers;
  space.constraints.push_back({"registers", [registers](const Config& c) {
                                 // Accumulators, one row of weights, one broadcast input. On 16 registers one more
                                 // spills: nv2 xr7 runs at a third of nv2 xr6 (Zen 3).
                                 return c.at("nv") * c.at("xr") + c.at("nv") + 1 <= registers;
                               }});
  const int64_t most = std::min<int64_t>(8, vectors * max_pixels);
  space.constraints.push_back({"accumulators", [most](const Config& c) {
                                 // Fewer than latency (4) x throughput (2) chains leave the FMA units idle.
                                 return c.at("nv") * c.at("xr") >= std::min<int64_t>(most, 8) ||
                                        c.at("nv") * c.at("xr") >= 6;
                               }});
  space.constraints.push_back(
      {"waste", [extents](const Config& c) { return waste(RegisterTile::of(c), extents) <= 1.34; }});
}

double modelled_cycles(const RegisterTile& tile, const TileExtents& extents, const DeviceInfo& device, bool pointers) {
  const double fma = static_cast<double>(tile.vectors * tile.pixels) / 2;
  const double spilled = pointers ? std::max(0.0, static_cast<double>(tile.pixels) - 11) : 0;
  const double loads = (static_cast<double>(tile.vectors + tile.pixels) + spilled) / 2;
  const double step = std::max({fma, loads, 4.0}) + 0.05;  // the constant: loop overhead, breaks ties for larger tiles
  const double tiles = static_cast<double>(round_up_division(extents.channels, tile.channels())) *
                       static_cast<double>(round_up_division(extents.pixels, tile.pixels));
  const double lanes = static_cast<double>(device.float_lanes()) / tile.lanes;
  const double store = static_cast<double>(tile.vectors * tile.pixels) * 1.5 + 8;  // epilogue of a tile
  return tiles * (step * static_cast<double>(extents.reduction) + store) * (lanes > 1 ? 1.0 : 1.0);
}

TileLoops tile_output(Halide::Func output, Halide::Var channel, Halide::Var pixel, const std::vector<Halide::Var>& rest,
                      const TileExtents& extents, const RegisterTile& tile) {
  TileLoops v;
  Halide::Var vectors("cvs"), tiles("pts");
  const int lanes = tile.lanes;
  const int64_t whole_vectors = round_up_division(extents.channels, lanes);
  const int64_t whole_tiles = round_up_division(extents.pixels, tile.pixels);
  const auto tail = [](bool divides) { return divides ? TailStrategy::RoundUp : TailStrategy::GuardWithIf; };
  // The channel guard is per vector (a scalar branch) where vectors divide the channels, per lane only where they
  // don't.
  output.split(channel, vectors, v.lane, lanes, tail(extents.channels % lanes == 0))
      .split(vectors, v.channel_block, v.channel_vector, static_cast<int>(tile.vectors),
             tail(whole_vectors % tile.vectors == 0))
      .split(pixel, tiles, v.pixel, static_cast<int>(tile.pixels), tail(extents.pixels % tile.pixels == 0));
  const int64_t block = tile.block == 0 ? whole_tiles : std::min(tile.block, whole_tiles);
  output.split(tiles, v.pixel_block, v.pixel_tile, static_cast<int>(block), tail(whole_tiles % block == 0));
  std::vector<Halide::VarOrRVar> order{v.lane, v.channel_vector, v.pixel, v.pixel_tile, v.channel_block, v.pixel_block};
  order.insert(order.end(), rest.begin(), rest.end());
  output.reorder(order).vectorize(v.lane).unroll(v.channel_vector).unroll(v.pixel);
  return v;
}

void hold_in_registers(Halide::Func accumulator, Halide::Var channel, Halide::Var pixel,
                       const std::vector<Halide::RVar>& reduction, const std::vector<Halide::RVar>& unrolled,
                       Halide::Func output, Halide::Var level, const RegisterTile& tile) {
  accumulator.compute_at(output, level)
      .store_in(Halide::MemoryType::Stack)
      .bound_extent(channel, static_cast<int>(tile.channels()))
      .bound_extent(pixel, static_cast<int>(tile.pixels))
      .vectorize(channel, tile.lanes)
      .unroll(channel)
      .unroll(pixel);
  Halide::RVar outer("ro"), inner("ri");
  std::vector<Halide::VarOrRVar> order{channel, pixel, inner, outer};
  order.insert(order.end(), reduction.begin() + 1, reduction.end());
  Halide::Stage update = accumulator.update();
  update.split(reduction[0], outer, inner, static_cast<int>(tile.unroll)).reorder(order).unroll(inner);
  for (const Halide::RVar& r : unrolled) update.unroll(r);
  update.vectorize(channel, tile.lanes).unroll(channel).unroll(pixel);
}

}  // namespace hone
