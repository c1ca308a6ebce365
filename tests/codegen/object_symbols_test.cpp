// SPDX-License-Identifier: MIT
#include "codegen/object_symbols.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "executor/error.h"
#include "tests/fakes/fake_bundle.h"

namespace hone {
namespace {

TEST(UndefinedSymbols, AreReadFromARelocatableObject) {
  const TemporaryDirectory directory;
  const std::filesystem::path source = directory.path() / "a.s", object = directory.path() / "a.o";
  std::ofstream(source) << ".globl here\nhere: .quad there, expf\n";
  ASSERT_EQ(std::system(("as -o " + object.string() + " " + source.string()).c_str()), 0);
  EXPECT_EQ(undefined_symbols(object), (std::vector<std::string>{"there", "expf"}));
  std::filesystem::resize_file(object, std::filesystem::file_size(object) / 2);
  EXPECT_THROW(undefined_symbols(object), Error);
  EXPECT_THROW(undefined_symbols(source), Error);
  EXPECT_THROW(undefined_symbols(directory.path() / "missing.o"), Error);
}

TEST(MayBeUndefined, HooksAndTheMathLibrary) {
  for (const char* name : {"halide_malloc", "hone_do_par_for", "memset", "expf", "exp", "tanhf", "atan2f"}) {
    EXPECT_TRUE(may_be_undefined(name)) << name;
  }
  for (const char* name : {"halide_error", "halide_do_parallel_tasks", "malloc", "f", "", "printf", "expff"}) {
    EXPECT_FALSE(may_be_undefined(name)) << name;
  }
}

}  // namespace
}  // namespace hone
