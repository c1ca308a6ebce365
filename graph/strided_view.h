// SPDX-License-Identifier: MIT
// Which copies are no copies: the strides under which a node's result can be read from its input's memory.
// Private to graph/.
#pragma once

#include <optional>

#include "graph/graph.h"

namespace hone {

struct StridedView {
  int64_t offset = 0;  // elements, from the input's first
  Strides strides;
};

/// Strides of `to` over memory that holds `from` with `strides`; empty if no strides say it (numpy's no-copy reshape).
std::optional<Strides> reshaped_strides(const Shape& from, const Strides& strides, const Shape& to);

/// View of output number `output` of a copy operator over its first input, which lies in memory with `strides`; empty
/// if the operator moves data in another way (negative steps, Pad, Concat, an order-changing reshape, ...).
std::optional<StridedView> view_of_input(const Graph& graph, const GraphNode& node, int output, const Strides& strides);

/// The same memory with the strides of extent-1 dimensions, which mean nothing, in one form: that of the channels-last
/// or the dense strides if the others are theirs (the preferred first), else row-major over the inner dimensions.
Strides canonical_strides(const Shape& shape, const Strides& strides, bool prefer_channels_last);

}  // namespace hone
