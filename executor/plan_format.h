// SPDX-License-Identifier: MIT
// The bytes of NAME.hone. Little-endian; the reader (plan_file.cpp) ships, the writer (plan_writer.cpp) does not; both
// follow the one list of fields below, so they cannot disagree.
//
//   offset  bytes
//        0      8  magic "HONEPLAN"
//        8      4  version (kPlanVersion)
//       12      4  0
//       16      8  bytes of the plan
//       24      8  offset of the weight section, a multiple of 4096
//       32      8  bytes of the weight section; it ends the file
//       40      8  plan_hash of bytes 0-39 and the plan
//       48         the plan: fields in the order below; numbers at their width, a string or list as a u32 count and its
//                  elements; then zeros up to the weight section
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "executor/plan.h"

namespace hone {

inline constexpr char kPlanMagic[8] = {'H', 'O', 'N', 'E', 'P', 'L', 'A', 'N'};
inline constexpr size_t kPlanHeaderBytes = 48;
inline constexpr size_t kPlanHashOffset = 40;
inline constexpr uint64_t kWeightAlignment = 4096;

/// FNV-1a, 64 bits (Fowler, Noll, Vo). Each step is a bijection of the state, so no single damaged byte goes unseen. A
/// byte at a time is slow, but plans have kilobytes; the weights are covered by the manifest's SHA-256.
inline constexpr uint64_t kPlanHashStart = 0xcbf29ce484222325u;
inline uint64_t plan_hash(std::span<const std::byte> bytes, uint64_t state = kPlanHashStart) {
  for (std::byte byte : bytes) state = (state ^ static_cast<uint64_t>(byte)) * 0x100000001b3u;
  return state;
}

/// Calls `codec` with each field of a part of the plan (const when writing): numbers, strings, and lists of numbers,
/// strings or parts.
template <typename Codec, typename Part>
void code_fields(Codec& codec, Part& part) {
  using Type = std::remove_const_t<Part>;
  const auto fields = [&codec](auto&... field) { (codec(field), ...); };
  if constexpr (std::is_same_v<Type, PlanStorage>) {
    fields(part.kind, part.bytes, part.offset, part.index);
  } else if constexpr (std::is_same_v<Type, PlanView>) {
    fields(part.storage, part.offset_bytes, part.dtype, part.extents, part.strides);
  } else if constexpr (std::is_same_v<Type, PlanStep>) {
    fields(part.kernel, part.arguments, part.output_count, part.name, part.nodes);
  } else if constexpr (std::is_same_v<Type, PlanTensor>) {
    fields(part.name, part.view);
  } else {
    static_assert(std::is_same_v<Type, Plan>);
    fields(part.name, part.target, part.cpu_flags, part.kernel_count, part.storages, part.views, part.steps,
           part.inputs, part.outputs, part.arena_bytes, part.scratch_bytes, part.threads);
  }
}

}  // namespace hone
