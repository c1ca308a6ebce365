// SPDX-License-Identifier: MIT
#include "profiler/guarded_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>

namespace hone {
namespace {

TEST(GuardedBuffer, IsAlignedAndWritable) {
  for (const size_t bytes : {0, 1, 63, 64, 65, 4095, 4096, 4097, 1'000'000}) {
    GuardedBuffer buffer(bytes);
    EXPECT_EQ(buffer.bytes().size(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.bytes().data()) % GuardedBuffer::kAlignment, 0u);
    std::fill(buffer.bytes().begin(), buffer.bytes().end(), std::byte{1});
    EXPECT_TRUE(buffer.surroundings_intact()) << bytes;
  }
}

TEST(GuardedBuffer, NoticesAByteOnEitherSide) {
  GuardedBuffer after(100);
  after.bytes().data()[100] = std::byte{0};
  EXPECT_FALSE(after.surroundings_intact());
  GuardedBuffer before(100);
  before.bytes().data()[-1] = std::byte{0};
  EXPECT_FALSE(before.surroundings_intact());
}

TEST(GuardedBuffer, MovesWithItsMemory) {
  GuardedBuffer first(10);
  first.bytes()[3] = std::byte{7};
  const GuardedBuffer second = std::move(first);
  EXPECT_EQ(second.bytes()[3], std::byte{7});
}

void write_byte(std::byte* place) {
  *static_cast<volatile std::byte*>(place) = std::byte{1};
}

TEST(GuardedBufferDeathTest, EndsAtAnInaccessiblePage) {
  GuardedBuffer buffer(128);
  EXPECT_DEATH(write_byte(buffer.bytes().data() + 128), "");
  buffer.make_read_only();
  EXPECT_EQ(buffer.bytes()[0], std::byte{0});
  EXPECT_DEATH(write_byte(buffer.bytes().data()), "");
}

}  // namespace
}  // namespace hone
