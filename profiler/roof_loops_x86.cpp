// SPDX-License-Identifier: MIT
// AVX-512, AVX2 with FMA, and SSE2 loops. Each function is compiled for its instruction set by attribute, so that the
// program itself runs on every x86-64.
#include <immintrin.h>

#include "profiler/roof_loops.h"

namespace hone {
namespace {

// Two units with a latency of 4 or 5 cycles need 8 to 10 independent sums; 12 and the two operands fit the 16 registers
// that AVX2 has. A fixed point of x = x * 0.5 + 0.5 is 1: neither overflow nor denormals, which would be slow.
constexpr int kSums = 12;
constexpr int kRepeats = 8;

// Written out, since an array of vectors would live in memory. The empty statement keeps the compiler from knowing the
// sum.
#define HONE_FOR_EACH_SUM(step) \
  step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7) step(8) step(9) step(10) step(11)

__attribute__((target("avx512f"))) int64_t multiply_add_avx512(int64_t operations) {
  constexpr int kLanes = 16;
  const __m512 half = _mm512_set1_ps(0.5F);
#define HONE_DECLARE(i) __m512 sum##i = _mm512_set1_ps(1 + 0.001F * (i));
  HONE_FOR_EACH_SUM(HONE_DECLARE)
#undef HONE_DECLARE
  int64_t done = 0;
  for (; done < operations; done += int64_t{kSums} * kLanes * kRepeats) {
#pragma GCC unroll 8
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
#define HONE_STEP(i)                            \
  sum##i = _mm512_fmadd_ps(sum##i, half, half); \
  asm volatile("" : "+v"(sum##i));
      HONE_FOR_EACH_SUM(HONE_STEP)
#undef HONE_STEP
    }
  }
  return done;
}

__attribute__((target("avx2,fma"))) int64_t multiply_add_avx2(int64_t operations) {
  constexpr int kLanes = 8;
  const __m256 half = _mm256_set1_ps(0.5F);
#define HONE_DECLARE(i) __m256 sum##i = _mm256_set1_ps(1 + 0.001F * (i));
  HONE_FOR_EACH_SUM(HONE_DECLARE)
#undef HONE_DECLARE
  int64_t done = 0;
  for (; done < operations; done += int64_t{kSums} * kLanes * kRepeats) {
#pragma GCC unroll 8
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
#define HONE_STEP(i)                            \
  sum##i = _mm256_fmadd_ps(sum##i, half, half); \
  asm volatile("" : "+x"(sum##i));
      HONE_FOR_EACH_SUM(HONE_STEP)
#undef HONE_STEP
    }
  }
  return done;
}

int64_t multiply_add_sse2(int64_t operations) {
  constexpr int kLanes = 4;
  const __m128 half = _mm_set1_ps(0.5F);
#define HONE_DECLARE(i) __m128 sum##i = _mm_set1_ps(1 + 0.001F * (i));
  HONE_FOR_EACH_SUM(HONE_DECLARE)
#undef HONE_DECLARE
  int64_t done = 0;
  for (; done < operations; done += int64_t{kSums} * kLanes * kRepeats) {
#pragma GCC unroll 8
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
#define HONE_STEP(i)                                   \
  sum##i = _mm_add_ps(_mm_mul_ps(sum##i, half), half); \
  asm volatile("" : "+x"(sum##i));
      HONE_FOR_EACH_SUM(HONE_STEP)
#undef HONE_STEP
    }
  }
  return done;
}

// A load whose value goes nowhere: the statement needs it in a register, and no arithmetic competes with the loads.
__attribute__((target("avx512f"))) void read_avx512(const std::byte* memory, size_t bytes) {
  for (const std::byte* end = memory + bytes; memory < end; memory += 1024) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      const __m512i value = _mm512_load_si512(memory + 64 * i);
      asm volatile("" : : "v"(value));
    }
  }
}

__attribute__((target("avx2"))) void read_avx2(const std::byte* memory, size_t bytes) {
  for (const std::byte* end = memory + bytes; memory < end; memory += 1024) {
#pragma GCC unroll 32
    for (int i = 0; i < 32; ++i) {
      const __m256i value = _mm256_load_si256(reinterpret_cast<const __m256i*>(memory + 32 * i));
      asm volatile("" : : "x"(value));
    }
  }
}

void read_sse2(const std::byte* memory, size_t bytes) {
  for (const std::byte* end = memory + bytes; memory < end; memory += 1024) {
#pragma GCC unroll 64
    for (int i = 0; i < 64; ++i) {
      const __m128i value = _mm_load_si128(reinterpret_cast<const __m128i*>(memory + 16 * i));
      asm volatile("" : : "x"(value));
    }
  }
}

#undef HONE_FOR_EACH_SUM

}  // namespace

RoofLoops roof_loops() {
  if (__builtin_cpu_supports("avx512f")) return {multiply_add_avx512, read_avx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {multiply_add_avx2, read_avx2};
  return {multiply_add_sse2, read_sse2};
}

}  // namespace hone
