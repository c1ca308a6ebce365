// SPDX-License-Identifier: MIT
#include "codegen/compile_kernel.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

#include "codegen/object_symbols.h"
#include "executor/error.h"
#include "schedules/kernel_pipeline.h"

namespace hone {
namespace {

/// Kernels reach the executor under hone's own names: an app may carry Halide's runtime (weak halide_*) of its own.
const std::map<std::string, std::string> kRenamed = {
    {"halide_malloc", "hone_malloc"}, {"halide_free", "hone_free"}, {"halide_do_par_for", "hone_do_par_for"}};

/// What libc and libm of every target have; anything else would need Halide's runtime.
bool library_symbol(const std::string& name) {
  static const std::vector<std::string> kNames = {"_GLOBAL_OFFSET_TABLE_",
                                                  "acosf",
                                                  "acos",
                                                  "acoshf",
                                                  "asinf",
                                                  "asinhf",
                                                  "atan2f",
                                                  "atanf",
                                                  "atan",
                                                  "atanhf",
                                                  "ceil",
                                                  "ceilf",
                                                  "cosf",
                                                  "cos",
                                                  "coshf",
                                                  "erff",
                                                  "exp",
                                                  "expf",
                                                  "floor",
                                                  "floorf",
                                                  "fmod",
                                                  "fmodf",
                                                  "log",
                                                  "logf",
                                                  "memcpy",
                                                  "memmove",
                                                  "memset",
                                                  "nearbyint",
                                                  "nearbyintf",
                                                  "pow",
                                                  "powf",
                                                  "rint",
                                                  "rintf",
                                                  "round",
                                                  "roundeven",
                                                  "roundevenf",
                                                  "roundf",
                                                  "sin",
                                                  "sinf",
                                                  "sinhf",
                                                  "sqrt",
                                                  "sqrtf",
                                                  "tan",
                                                  "tanf",
                                                  "tanh",
                                                  "tanhf",
                                                  "trunc",
                                                  "truncf"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

[[noreturn]] void stop(const std::string& reason, int code) {
  std::fprintf(stderr, "%s\n", first_line(reason).c_str());
  _exit(code);
}

Halide::Target kernel_target(const DeviceInfo& device) {
  return Halide::Target(device.halide_target)
      .with_feature(Halide::Target::NoRuntime)
      .with_feature(Halide::Target::UserContext)
      .with_feature(Halide::Target::NoAsserts)
      .with_feature(Halide::Target::NoBoundsQuery);
}

void write_object(const CompileRequest& request, const ImplementationTable& table, const std::string& file) {
  const Implementation& implementation = find_implementation(table, request.build.config);
  KernelPipeline kernel = implementation.build(request.build.workload, request.build.config, request.build.device);
  Halide::Module module = kernel.pipeline.compile_to_module(
      kernel.arguments, request.symbol, kernel_target(request.build.device), Halide::LinkageType::ExternalPlusMetadata);
  module.compile({{Halide::OutputFileType::object, file}});
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// objcopy only where there is something to rename, ld only where a shared object is wanted; the last one replaces this
/// process.
[[noreturn]] void finish_object(const CompileRequest& request, const std::string& raw, bool rename) {
  const std::string& prefix = request.build.device.binutils_prefix;
  const std::string object = request.build.object.string(), shared = request.build.shared.string();
  if (!rename && std::rename(raw.c_str(), object.c_str()) != 0)
    stop("cannot write " + object + ": " + std::strerror(errno), kExitFailed);
  if (!rename && shared.empty()) _exit(0);
  const std::string ld = prefix + "ld";
  if (!rename) {
    execlp(ld.c_str(), ld.c_str(), "-shared", "-z", "now", "-o", shared.c_str(), object.c_str(), nullptr);
    stop(ld, kExitMissingTool);
  }
  std::string script = "command -v " + prefix + "objcopy >/dev/null || { echo " + prefix + "objcopy >&2; exit 4; }\n" +
                       prefix + "objcopy";
  for (const auto& [from, to] : kRenamed) script += " --redefine-sym " + from + "=" + to;
  script += " " + quoted(raw) + " " + quoted(object) + " && rm -f " + quoted(raw);
  if (!shared.empty()) {
    script += " && { command -v " + ld + " >/dev/null || { echo " + ld + " >&2; exit 4; }; }";
    script += " && exec " + ld + " -shared -z now -o " + quoted(shared) + " " + quoted(object);
  }
  execlp("sh", "sh", "-c", script.c_str(), nullptr);
  stop("sh", kExitMissingTool);
}

}  // namespace

void compile_kernel(const CompileRequest& request, const ImplementationTable& table) {
  const std::string raw = request.build.object.string() + ".raw.o";
  // Halide's exceptions do not derive from std::exception.
  try {
    write_object(request, table, raw);
    bool rename = false;
    for (const std::string& name : undefined_symbols(raw)) {
      if (kRenamed.count(name) != 0) {
        rename = true;
      } else if (!library_symbol(name)) {
        stop("the kernel needs " + name + ", which the executor does not offer", kExitFailed);
      }
    }
    finish_object(request, raw, rename);
  } catch (const Halide::Error& error) {
    stop(error.what(), kExitFailed);
  } catch (const std::exception& error) {
    stop(error.what(), kExitFailed);
  } catch (...) {
    stop("an unknown exception", kExitFailed);
  }
}

void warm_up_compiler() {
  Halide::Var x("x"), y("y");
  Halide::ImageParam input(Halide::Float(32), 2, "warm_up_input");
  Halide::Func output("warm_up_output");
  output(x, y) = max(input(x, y) * 2.f, 0.f);
  output.vectorize(x, 8);
  const Halide::Target target = Halide::get_host_target().with_feature(Halide::Target::NoRuntime);
  // To a buffer in memory: lowering and LLVM's passes are what must be warm.
  output.compile_to_module({input}, "warm_up", target).compile({{Halide::OutputFileType::object, "/dev/null"}});
}

}  // namespace hone
