// SPDX-License-Identifier: MIT
#include "schedules/register_tile.h"

#include <algorithm>

namespace hone {
namespace {

using Halide::TailStrategy;

int64_t round_up_division(int64_t a, int64_t b) {
  return (a + b - 1) / b;
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
