// SPDX-License-Identifier: MIT
// The register tile that all GEMM-like templates share (direct convolution, 1x1, MatMul): `vectors` vectors of output
// channels times `pixels` output pixels are accumulated in registers by a Func stored on the stack, over weights packed
// so that a tile reads them as one stream.
// Source: the common form of oneDNN's brgemm and MLAS kernels, stated in Halide.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "schedules/config.h"
#include "schedules/device_info.h"

namespace hone {

struct RegisterTile {
  int lanes = 8;        // of one vector
  int64_t vectors = 1;  // nv
  int64_t pixels = 1;   // xr
  int64_t unroll = 1;   // ku: reduction steps per loop iteration
  int64_t block = 0;    // pixel tiles that share one pass over the channels; 0: all of them
  bool parallel = false;

  int64_t channels() const { return lanes * vectors; }
  static RegisterTile of(const Config& config);
};

/// Output extents that a tile is laid over.
struct TileExtents {
  int64_t channels = 1, pixels = 1;
  int64_t reduction = 1;        // terms of one output
  int64_t inner_reduction = 1;  // extent of the innermost reduction loop, which ku divides
};

/// Knobs vl, nv, xr, ku and block with the domains and constraints that hold for every GEMM-like template.
void add_tile_params(SearchSpace& space, const TileExtents& extents, const DeviceInfo& device);

/// Cycles that the tile needs for one pass over `extents` by the model of a core with two FMA and two load ports and a
/// latency of four cycles; used to choose default configs, relative values only. `pointers` counts tile rows that need
/// an address register of their own.
double modelled_cycles(const RegisterTile& tile, const TileExtents& extents, bool pointers);

/// Pixel tiles that should share one pass over the channels. Weights that stay in the L2 cache are walked for every
/// tile, so that outputs and residuals are touched in memory order (64->256@56 with a residual: 1.34 ms instead
/// of 1.78, Zen 3, one core); larger ones are walked once.
int64_t default_block(const TileExtents& extents, const DeviceInfo& device, int threads);

/// The valid point with the fewest modelled cycles, `block` as given and the reduction not unrolled.
Config best_modelled_tile(const SearchSpace& space, int64_t block, const std::function<double(const Config&)>& cycles);

/// Loop variables of the scheduled output.
struct TileLoops {
  Halide::Var channel_block{"cob"}, channel_vector{"cv"}, lane{"cl"};
  Halide::Var pixel_block{"pb"}, pixel_tile{"pt"}, pixel{"pi"};
};

/// Splits, vectorises and unrolls `output`(channel, pixel, rest...) into tiles; loop nest, innermost first:
/// lane, vector, pixel, tile, channel block, pixel block, rest.
TileLoops tile_output(Halide::Func output, Halide::Var channel, Halide::Var pixel, const std::vector<Halide::Var>& rest,
                      const TileExtents& extents, const RegisterTile& tile);

/// Keeps `accumulator`(channel, pixel, ...) in registers within a tile of `output`. `reduction`: innermost RVar first;
/// the innermost one is unrolled by tile.unroll (which divides its extent), those in `unrolled` entirely.
void hold_in_registers(Halide::Func accumulator, Halide::Var channel, Halide::Var pixel,
                       const std::vector<Halide::RVar>& reduction, const std::vector<Halide::RVar>& unrolled,
                       Halide::Func output, Halide::Var level, const RegisterTile& tile);

}  // namespace hone
