// SPDX-License-Identifier: MIT
// NEON loops.
#include <arm_neon.h>

#include "profiler/roof_loops.h"

namespace hone {
namespace {

// Up to four units with a latency of 4 cycles (Neoverse V, Apple) need 16 independent sums; 24 of the 32 registers are
// used.
constexpr int kSums = 24;
constexpr int kRepeats = 4;
constexpr int kLanes = 4;

// Written out, since an array of vectors would live in memory.
#define HONE_FOR_EACH_SUM(step)                                                                                       \
  step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7) step(8) step(9) step(10) step(11) step(12) step(13) \
      step(14) step(15) step(16) step(17) step(18) step(19) step(20) step(21) step(22) step(23)

// fmla adds into its first operand, which would grow without bound: the product is 0 * 1, which costs the same.
int64_t multiply_add_neon(int64_t operations) {
  float32x4_t zero = vdupq_n_f32(0), one = vdupq_n_f32(1);
  asm volatile("" : "+w"(zero), "+w"(one));  // unknown to the compiler, or it would drop the additions
#define HONE_DECLARE(i) float32x4_t sum##i = vdupq_n_f32(1 + 0.001F * (i));
  HONE_FOR_EACH_SUM(HONE_DECLARE)
#undef HONE_DECLARE
  int64_t done = 0;
  for (; done < operations; done += int64_t{kSums} * kLanes * kRepeats) {
#pragma GCC unroll 4
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
#define HONE_STEP(i)                     \
  sum##i = vfmaq_f32(sum##i, zero, one); \
  asm volatile("" : "+w"(sum##i));
      HONE_FOR_EACH_SUM(HONE_STEP)
#undef HONE_STEP
    }
  }
  return done;
}
#undef HONE_FOR_EACH_SUM

// A load whose value goes nowhere: the statement needs it in a register, and no arithmetic competes with the loads.
void read_neon(const std::byte* memory, size_t bytes) {
  for (const std::byte* end = memory + bytes; memory < end; memory += 1024) {
#pragma GCC unroll 64
    for (int i = 0; i < 64; ++i) {
      const uint8x16_t value = vld1q_u8(reinterpret_cast<const uint8_t*>(memory + 16 * i));
      asm volatile("" : : "w"(value));
    }
  }
}

}  // namespace

RoofLoops roof_loops() {
  return {multiply_add_neon, read_neon};
}

}  // namespace hone
