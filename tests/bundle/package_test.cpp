// SPDX-License-Identifier: MIT
// The files for apps: compiled and run as their users would.
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tests/bundle/bundle_fixture.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

struct Shell {
  int code = -1;
  std::string output;
};
Shell shell(const std::string& command) {
  FILE* pipe = popen(("exec 2>&1; " + command).c_str(), "r");
  Shell result;
  char chunk[4096];
  for (size_t count; (count = fread(chunk, 1, sizeof chunk, pipe)) > 0;) result.output.append(chunk, count);
  result.code = pclose(pipe);
  return result;
}

class PackageTest : public BundleTest {
 protected:
  PackageTest() {
    BundleRequest wanted = request(small_classifier());
    wanted.directory = directory_.path() / "it's a folder";  // a shell must be told
    summary_ = write_bundle(wanted, *builder_);
  }
  void write(const std::string& file, const std::string& text) { std::ofstream(directory_.path() / file) << text; }
  /// In the folder above the bundle, where `$B` is the bundle.
  Shell compile_and_run(const std::string& command) {
    return shell("cd " + directory_.path().string() + " && B=\"it's a folder\" && " + command);
  }
  const std::string cxx_ = std::string(HONE_CXX) + " " + HONE_CXX_FLAGS + " -std=c++20 -Wall -Wextra -Werror ";

  BundleSummary summary_;
};

TEST_F(PackageTest, ThePrintedCommandCompilesMainWhichRunsTheSample) {
  std::string command = summary_.compile_command;
  ASSERT_THAT(command, testing::HasSubstr("&& g++ "));
  command.replace(command.find("g++ "), 4, std::string(HONE_CXX) + " " + HONE_CXX_FLAGS + " -Wall -Wextra -Werror ");
  const Shell built = shell(command);
  ASSERT_EQ(built.code, 0) << command << "\n" << built.output;
  const Shell ran = compile_and_run("\"$B\"/small_main \"$B\" 2");
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_THAT(ran.output, testing::ContainsRegex("scores: relative error [0-9.]+e-0[6-9]"));
  EXPECT_THAT(ran.output, testing::HasSubstr("on 2 threads"));
  EXPECT_TRUE(verify_files(summary_.directory).empty());  // a program beside them does no harm

  // A wrong expectation is noticed.
  const fs::path expected = summary_.directory / "sample" / "outputs" / "scores.npy";
  std::fstream stream(expected, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(-4, std::ios::end);
  stream.write("\0\0\xc0\x7f", 4);  // NaN
  stream.close();
  EXPECT_NE(compile_and_run("\"$B\"/small_main \"$B\"").code, 0);
}

TEST_F(PackageTest, TheCHeaderIsC) {
  write("app.c", R"(#include "hone_small.h"
#include <stdio.h>
int main(int argc, char** argv) {
  static const int64_t shape[] = HONE_small_INPUT_0_SHAPE;
  hone_model* model;
  if (argc != 2 || hone_model_load(&hone_small, argv[1], &model) != 0) return 1;
  printf("%s %d %s %d\n", HONE_small_INPUT_0_NAME, (int)shape[3], HONE_small_OUTPUT_0_DTYPE, HONE_small_OUTPUT_COUNT);
  hone_model_free(model);
  return 0;
}
)");
  const Shell ran =
      compile_and_run("gcc -std=c11 -Wall -Wextra -Werror -pedantic -I\"$B\"/include -c app.c && " + cxx_ +
                      "app.o -L\"$B\"/lib -lhone_small -lhone_executor -lm -pthread -o app && "
                      "./app \"$B\"/share/small.hone");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.output, "image 7 f32 1\n");
}

TEST_F(PackageTest, TheCppHeaderAndPkgConfig) {
  write("app.cpp", R"(#include "hone_small.hpp"
int main(int, char** argv) { return hone::load_small(argv[1])->plan().inputs.size() == 1 ? 0 : 1; }
)");
  if (shell("pkg-config --version").code != 0) GTEST_SKIP() << "pkg-config is not installed";
  // pkg-config does not quote for a shell.
  const Shell ran =
      compile_and_run("ln -s \"$B\" plain && export PKG_CONFIG_PATH=\"$PWD/plain/lib/pkgconfig\" && " + cxx_ +
                      "app.cpp $(pkg-config --cflags --libs hone_small) -o app && "
                      "./app $(pkg-config --variable=plan hone_small)");
  EXPECT_EQ(ran.code, 0) << ran.output;
}

TEST_F(PackageTest, OnlyTheTableIsVisible) {
  const std::string lib = "\"$B\"/lib/";
  const Shell archive = compile_and_run("nm --defined-only --extern-only --format=posix " + lib + "libhone_small.a");
  EXPECT_THAT(archive.output, testing::HasSubstr("hone_small D"));
  EXPECT_THAT(archive.output, testing::Not(testing::HasSubstr("hone_k")));
  const Shell module = compile_and_run("nm -D --defined-only --format=posix " + lib + "hone_small.so");
  EXPECT_THAT(module.output, testing::StartsWith("hone_small "));
  EXPECT_THAT(module.output, testing::Not(testing::HasSubstr("hone_k")));
  const Shell undefined = compile_and_run("nm -D --undefined-only " + lib + "hone_small.so");
  EXPECT_THAT(undefined.output, testing::Not(testing::HasSubstr("halide")));
  EXPECT_THAT(compile_and_run("readelf -d " + lib + "hone_small.so").output,
              testing::Not(testing::HasSubstr("TEXTREL")));
}

}  // namespace
}  // namespace hone
