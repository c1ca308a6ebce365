// SPDX-License-Identifier: MIT
#include "bundle/npy.h"

#include <gtest/gtest.h>

#include <fstream>

#include "executor/error.h"
#include "tests/fakes/fake_bundle.h"

namespace hone {
namespace {

Tensor counting(DType dtype, Shape shape) {
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  for (size_t i = 0; i < tensor.bytes.size(); ++i) tensor.bytes[i] = static_cast<std::byte>(i * 37);
  return tensor;
}

TEST(Npy, ReadsWhatItWrote) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "t.npy";
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::i8, DType::u8, DType::i16, DType::u16,
                            DType::i32, DType::u32, DType::i64, DType::u64, DType::boolean}) {
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3, 4}, Shape{3, 0}}) {
      const Tensor tensor = counting(dtype, shape);
      write_npy(file, tensor);
      EXPECT_EQ(read_npy(file), tensor) << name(dtype) << " of rank " << shape.size();
    }
  }
}

TEST(Npy, DataBeginsAtAMultipleOf64) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "t.npy";
  write_npy(file, counting(DType::f32, {3, 5}));
  EXPECT_EQ((std::filesystem::file_size(file) - 15 * 4) % 64, 0u);
}

TEST(Npy, RefusesWhatIsDamaged) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "t.npy";
  write_npy(file, counting(DType::f32, {3, 5}));
  const auto size = std::filesystem::file_size(file);
  for (uintmax_t length = 0; length < size; length += 7) {
    write_npy(file, counting(DType::f32, {3, 5}));
    std::filesystem::resize_file(file, length);
    EXPECT_THROW(read_npy(file), Error) << length;
  }
  EXPECT_THROW(read_npy(directory.path() / "missing.npy"), Error);
  EXPECT_THROW(read_npy(directory.path()), Error);
}

TEST(Npy, FileNamesAreSafe) {
  EXPECT_EQ(npy_file_name("scores"), "scores.npy");
  EXPECT_EQ(npy_file_name("a/b").find('/'), std::string::npos);
  EXPECT_NE(npy_file_name("a/b"), npy_file_name("a%2Fb"));
  EXPECT_NE(npy_file_name(".."), "..");
}

}  // namespace
}  // namespace hone
