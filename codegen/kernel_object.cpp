// SPDX-License-Identifier: MIT
#include "codegen/kernel_object.h"

#include <sys/mman.h>
#include <unistd.h>

#include "codegen/builder.h"
#include "codegen/object_symbols.h"
#include "executor/error.h"
#include "schedules/kernel_pipeline.h"

namespace hone {
namespace {

// What the executor relies on (docs/reference/bundle.md): no runtime, the context as first argument, and no checks:
// they cost as much as a small kernel, and shapes are checked once at load.
Halide::Target kernel_target(const std::string& device_target) {
  return Halide::Target(device_target)
      .with_feature(Halide::Target::NoRuntime)
      .with_feature(Halide::Target::UserContext)
      .with_feature(Halide::Target::NoAsserts)
      .with_feature(Halide::Target::NoBoundsQuery);
}

std::string first_line(const std::string& text) {
  size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "Halide gave no reason";
  if (text.compare(begin, 7, "Error: ") == 0) begin += 7;
  return text.substr(begin, text.find('\n', begin) - begin);
}

void check_symbols(const std::filesystem::path& object, const std::string& attempted) {
  for (const std::string& name : undefined_symbols(object)) {
    if (!may_be_undefined(name)) {
      throw Error(attempted, "its code needs " + name + ", which the executor does not have",
                  "avoid the schedule directive or function behind it");
    }
  }
}

}  // namespace

void compile_kernel(const ImplementationTable& table, const Workload& workload, const Config& config,
                    const DeviceInfo& device, const std::filesystem::path& object) {
  const std::string attempted = "cannot compile " + workload.summary() + " as " + config.canonical();
  const std::string remedy = "choose another schedule";
  try {
    const Implementation& implementation = find_implementation(table, config);
    KernelPipeline kernel = implementation.build(workload, config, device);
    // ExternalPlusMetadata is what makes Halide emit the argv form that the executor calls.
    const Halide::Module module = kernel.pipeline.compile_to_module(
        kernel.arguments, kernel_symbol(workload, config, device), kernel_target(device.halide_target),
        Halide::LinkageType::ExternalPlusMetadata);
    module.compile({{Halide::OutputFileType::object, object.string()}});
  } catch (const Halide::Error& error) {  // not a std::exception; CompileError derives from it
    throw Error(attempted, first_line(error.what()), remedy);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(attempted, first_line(error.what()), remedy);
  }
  check_symbols(object, attempted);
}

void warm_up_compiler() {
  using namespace Halide;
  ImageParam a(Float(32), 2, "warm_a"), b(Float(32), 2, "warm_b");
  Var x("warm_x"), y("warm_y"), xi("warm_xi");
  Func product("warm_product"), result("warm_result");
  RDom k(0, 64, "warm_k");
  product(x, y) += a(k, y) * b(x, k);
  result(x, y) = max(product(x, y), 0.0f);
  result.bound(x, 0, 64).bound(y, 0, 4).split(x, x, xi, 16).vectorize(xi, 8).unroll(xi);
  product.compute_at(result, x).vectorize(x, 8).unroll(x).update().reorder(x, k, y).vectorize(x, 8).unroll(x);
  // A fixed target: every child starts from the same state on every machine, which keeps objects reproducible.
  const Module module = Pipeline(result).compile_to_module(
      {a, b}, "warm_up", kernel_target("x86-64-linux-avx-avx2-f16c-fma-sse41"), LinkageType::ExternalPlusMetadata);
  const int file = memfd_create("warm-up", MFD_CLOEXEC);
  CHECK(file >= 0);
  module.compile({{OutputFileType::object, "/proc/self/fd/" + std::to_string(file)}});
  close(file);
}

}  // namespace hone
