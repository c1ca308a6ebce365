// SPDX-License-Identifier: MIT
#include "bundle/package_files.h"

#include <cctype>

#include "bundle/npy.h"
#include "bundle/text_file.h"
#include "executor/error.h"

namespace fs = std::filesystem;

namespace hone {
namespace {

/// Replaces @NAME@ and @SYMBOL@, so that the texts below read as they will be written.
std::string filled(std::string text, const BundleManifest& manifest) {
  for (const auto& [key, value] :
       {std::pair<std::string, std::string>{"@NAME@", manifest.name}, {"@SYMBOL@", manifest.symbol}}) {
    for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + value.size()))
      text.replace(at, key.size(), value);
  }
  return text;
}

std::string c_string(const std::string& text) {
  std::string result = "\"";
  for (const unsigned char c : text) {
    const bool plain =
        std::isalnum(c) != 0 || std::string_view(" _-./:+").find(static_cast<char>(c)) != std::string_view::npos;
    if (plain) {
      result += static_cast<char>(c);
    } else {  // octal: at most three digits, so that what follows cannot join in
      result += '\\';
      for (const int shift : {6, 3, 0}) result += static_cast<char>('0' + (c >> shift & 7));
    }
  }
  return result + "\"";
}

std::string tensor_list(const BundleManifest& manifest, const std::vector<PlanTensor>& tensors, const char* kind) {
  const std::string head = "#define HONE_" + manifest.name + "_" + kind + "_";
  std::string text;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const PlanView& view = manifest.tensors[tensors[i].view];
    std::string shape;
    for (int64_t extent : view.extents) shape.append(shape.empty() ? "" : ", ").append(std::to_string(extent));
    const auto define = [&](const char* what, const std::string& value) {
      text.append(head).append(std::to_string(i)).append(what).append(value).append("\n");
    };
    define("_NAME ", c_string(tensors[i].name));
    define("_DTYPE ", c_string(std::string(name(view.dtype))));
    define("_SHAPE ", "{" + shape + "} /* rank " + std::to_string(view.extents.size()) + " */");
  }
  return text + head + "COUNT " + std::to_string(tensors.size()) + "\n";
}

constexpr const char* kCHeaderHead = R"(/* SPDX-License-Identifier: MIT
 * Bundle @NAME@, written by hone build. Link lib@SYMBOL@.a and libhone_executor.a; see main.cpp.
 *   hone_model* model;
 *   hone_model_load(&@SYMBOL@, "share/@NAME@.hone", &model); */
#ifndef @SYMBOL@_H
#define @SYMBOL@_H

#include "executor/hone.h"

#ifdef __cplusplus
extern "C" {
#endif
extern const struct hone_kernel_table @SYMBOL@;
#ifdef __cplusplus
}
#endif

)";

constexpr const char* kCppHeader = R"(// SPDX-License-Identifier: MIT
// Bundle @NAME@ for C++: auto model = hone::load_@NAME@("share/@NAME@.hone");
#pragma once

#include <memory>
#include <string>

#include "executor/executor.h"
#include "@SYMBOL@.h"

namespace hone {

inline std::shared_ptr<const Model> load_@NAME@(const std::string& plan_file) { return Model::load(@SYMBOL@, plan_file); }

}  // namespace hone
)";

constexpr const char* kCMakeConfig =
    R"(# Bundle @NAME@: find_package(@SYMBOL@), then link hone::@NAME@. @SYMBOL@_PLAN is the file to load.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
get_filename_component(_hone_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET hone::executor)  # every bundle brings it
  add_library(hone::executor STATIC IMPORTED)
  set_target_properties(hone::executor PROPERTIES
    IMPORTED_LOCATION "${_hone_root}/lib/libhone_executor.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES CXX
    INTERFACE_INCLUDE_DIRECTORIES "${_hone_root}/include"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
if(NOT TARGET hone::@NAME@)
  add_library(hone::@NAME@ STATIC IMPORTED)
  set_target_properties(hone::@NAME@ PROPERTIES
    IMPORTED_LOCATION "${_hone_root}/lib/lib@SYMBOL@.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_hone_root}/include"
    INTERFACE_LINK_LIBRARIES "hone::executor;m")
endif()
set(@SYMBOL@_PLAN "${_hone_root}/share/@NAME@.hone")
unset(_hone_root)
)";

constexpr const char* kPkgConfig = R"(prefix=${pcfiledir}/../..
libdir=${prefix}/lib
includedir=${prefix}/include
plan=${prefix}/share/@NAME@.hone

Name: @SYMBOL@
Description: tuned kernels of @NAME@ for hone's executor
Version: 1
Cflags: -I${includedir}
Libs: -L${libdir} -l@SYMBOL@ -lhone_executor -lstdc++ -lm -pthread
)";

constexpr const char* kMain = R"(// SPDX-License-Identifier: MIT
// Runs bundle @NAME@ on its sample, compares with the expected output and times it. Written by hone build as a start for
// an app of your own. Arguments: [bundle directory, default .] [threads, default 1]. Exit code 1 if an output is wrong.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "@SYMBOL@.h"

// The data of a .npy file: what follows its header.
static std::vector<char> read_npy_data(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<char> bytes(std::istreambuf_iterator<char>(stream), {});
  if (bytes.size() < 12) {
    std::fprintf(stderr, "cannot read %s\n", file.c_str());
    std::exit(1);
  }
  const size_t header = 10 + static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]);
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header));
  return bytes;
}

static void check(int code) {
  if (code == 0) return;
  std::fprintf(stderr, "%s\n", hone_last_error());
  std::exit(1);
}

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : ".";
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  static const char* const kInputFiles[] = {@INPUT_FILES@};
  static const char* const kOutputFiles[] = {@OUTPUT_FILES@};

  hone_model* model = nullptr;
  check(hone_model_load(&@SYMBOL@, (directory + "/share/@NAME@.hone").c_str(), &model));
  hone_context* context = nullptr;
  check(hone_context_create(model, threads, &context));
  std::vector<std::vector<char>> inputs;
  for (int i = 0; i < hone_model_input_count(model); ++i) {
    inputs.push_back(read_npy_data(directory + "/sample/inputs/" + kInputFiles[i]));
    check(hone_set_input(context, i, inputs.back().data()));
  }
  check(hone_run(context));

  bool right = true;
  for (int i = 0; i < hone_model_output_count(model); ++i) {
    hone_tensor_info info;
    check(hone_model_output(model, i, &info));
    const std::vector<char> expected = read_npy_data(directory + "/sample/outputs/" + kOutputFiles[i]);
    if (info.dtype != 1) {  // not f32: compared byte by byte
      const bool equal = std::memcmp(expected.data(), hone_output(context, i), info.bytes) == 0;
      std::printf("%s: %s\n", info.name, equal ? "equal" : "differs");
      right = right && equal;
      continue;
    }
    const auto* actual = static_cast<const float*>(hone_output(context, i));
    double difference = 0, largest = 0;
    for (size_t k = 0; k < info.bytes / sizeof(float); ++k) {
      float value = 0;
      std::memcpy(&value, expected.data() + k * sizeof(float), sizeof value);
      const double error = std::fabs(actual[k] - value);
      difference = std::isnan(error) ? INFINITY : std::fmax(difference, error);
      largest = std::fmax(largest, std::fabs(value));
    }
    const double relative = largest > 0 ? difference / largest : difference;
    std::printf("%s: relative error %.2e\n", info.name, relative);
    right = right && relative <= 1e-4;
  }

  double best_ms = 1e30;
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    check(hone_run(context));
    best_ms = std::fmin(best_ms, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::printf("fastest of 20 runs on %d thread%s: %.3f ms\n", threads, threads == 1 ? "" : "s", best_ms);
  hone_context_free(context);
  hone_model_free(model);
  return right ? 0 : 1;
}
)";

std::string file_list(const std::vector<PlanTensor>& tensors) {
  std::string text;
  for (const PlanTensor& tensor : tensors) text += (text.empty() ? "" : ", ") + c_string(npy_file_name(tensor.name));
  return text;
}

void copy_into(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  if (!error) fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (error)
    throw Error("cannot copy " + from.string() + " to " + to.string(), error.message(),
                "choose another folder or free some space");
}

}  // namespace

std::string compile_command(const BundleManifest& manifest, const std::string& compiler) {
  return compiler + " -std=c++20 -O2 -Iinclude main.cpp -Llib -l" + manifest.symbol +
         " -lhone_executor -lm -pthread -o " + manifest.name + "_main";
}

void write_package_files(const BundleRequest& request, const BundleManifest& manifest, const fs::path& directory) {
  copy_into(request.executor_library, directory / "lib" / "libhone_executor.a");
  for (const char* header : {"dtype.h", "error.h", "executor.h", "hone.h", "plan.h"}) {
    copy_into(request.include_directory / "executor" / header, directory / "include" / "executor" / header);
  }
  const std::string borders =
      tensor_list(manifest, manifest.inputs, "INPUT") + tensor_list(manifest, manifest.outputs, "OUTPUT");
  write_text(directory / "include" / (manifest.symbol + ".h"), filled(kCHeaderHead, manifest) + borders + "\n#endif\n");
  write_text(directory / "include" / (manifest.symbol + ".hpp"), filled(kCppHeader, manifest));
  const fs::path cmake = directory / "lib" / "cmake" / manifest.symbol;
  fs::create_directories(cmake);
  write_text(cmake / (manifest.symbol + "Config.cmake"), filled(kCMakeConfig, manifest));
  fs::create_directories(directory / "lib" / "pkgconfig");
  write_text(directory / "lib" / "pkgconfig" / (manifest.symbol + ".pc"), filled(kPkgConfig, manifest));
  std::string program = filled(kMain, manifest);
  for (const auto& [key, value] : {std::pair<std::string, std::string>{"@INPUT_FILES@", file_list(manifest.inputs)},
                                   {"@OUTPUT_FILES@", file_list(manifest.outputs)}}) {
    program.replace(program.find(key), key.size(), value);
  }
  write_text(directory / "main.cpp", program);
}

}  // namespace hone
