// SPDX-License-Identifier: MIT
// Packed forms of constant arguments that several templates share.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "schedules/implementation.h"

namespace hone {

/// The constant as it is, dense.
PackedConstant pack_dense(const Tensor& tensor);
/// A vector padded with zeros to a multiple of `block`.
PackedConstant pack_vector(const Tensor& tensor, int64_t block);
/// [outer/block][inner][block]: `at(o, i)` is the element index of row o and reduction position i in `tensor`, rows
/// beyond `outer` are zeros. What a register tile of `block` outputs reads as one sequential stream.
PackedConstant pack_panels(const Tensor& tensor, int64_t outer, int64_t inner, int64_t block,
                           const std::function<int64_t(int64_t outer, int64_t inner)>& at,
                           const std::string& description);

}  // namespace hone
