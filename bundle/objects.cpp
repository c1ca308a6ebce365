// SPDX-License-Identifier: MIT
#include "bundle/objects.h"

#include <cerrno>
#include <cstring>

#include "bundle/manifest.h"
#include "bundle/text_file.h"
#include "bundle/tool.h"
#include "executor/error.h"

namespace hone {

std::string function_table(const std::string& symbol, const std::vector<PlannedKernel>& kernels) {
  // Relocations against the kernels make it data.rel.ro: read-only once loaded.
  std::string text = "\t.section .data.rel.ro.hone,\"aw\",%progbits\n\t.p2align 4\n";
  text += "\t.globl " + symbol + "\n\t.type " + symbol + ", %object\n" + symbol + ":\n";
  text += "\t.long 0x454e4f48, 1\n\t.quad " + std::to_string(kernels.size()) + "\n";
  for (const PlannedKernel& kernel : kernels) text += "\t.quad " + kernel.symbol + "_argv\n";
  text += "\t.size " + symbol + ", . - " + symbol + "\n\t.section .note.GNU-stack,\"\",%progbits\n";
  return text;
}

void build_objects(const BundleRequest& request, const std::vector<PlannedKernel>& kernels, Builder& builder,
                   const std::filesystem::path& work, const BundleProgress& progress) {
  std::vector<BuildRequest> builds;
  for (const PlannedKernel& kernel : kernels) {
    BuildRequest build;
    build.workload = *kernel.workload;
    build.config = kernel.choice.config;
    build.device = request.device;
    build.object = work / (kernel.symbol + ".o");
    build.deadline_seconds = 120;  // not a candidate: it was measured, or it is the default
    builds.push_back(std::move(build));
  }
  int done = 0;
  const auto outcomes = builder.build(builds, [&](size_t, const BuildOutcome& outcome) {
    if (outcome.status != BuildStatus::ok) return false;
    if (progress) progress(++done, static_cast<int>(kernels.size()));
    return true;
  });
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].status == BuildStatus::ok || outcomes[i].message == "cancelled") continue;
    // Whichever tool met it first: it says nothing about the kernel.
    const std::string full = std::strerror(ENOSPC);
    if (outcomes[i].message.find(full) != std::string::npos) {
      throw Error("cannot write bundle " + request.directory.string(), full,
                  "free some space or choose another folder");
    }
    if (outcomes[i].message.find("No space left on device") != std::string::npos) {
      throw Error("cannot write " + builds[i].object.string(), "No space left on device",
                  "choose another folder or free some space");
    }
    throw Error("cannot build the kernel of '" + kernels[i].workload->summary() + "' as " +
                    kernels[i].choice.config.canonical(),
                outcomes[i].message, "build with --untuned, or report it with `hone inspect --json`");
  }
}

void link_libraries(const BundleRequest& request, const std::string& symbol, const std::vector<PlannedKernel>& kernels,
                    const std::filesystem::path& work, const std::filesystem::path& directory) {
  const std::string& prefix = request.device.binutils_prefix;
  const std::string lib = std::filesystem::absolute(directory / "lib").string();
  write_text(work / "table.s", function_table(symbol, kernels));
  write_text(work / "exports.map", "{ global: " + symbol + "; local: *; };\n");
  run_tool({prefix + "as", "-o", "table.o", "table.s"}, work);
  std::vector<std::string> join = {
      prefix + "ld", "-r", "--force-group-allocation", "--gc-sections", "-u", symbol, "-o", "all.o", "table.o"};
  for (const PlannedKernel& kernel : kernels) join.push_back(kernel.symbol + ".o");
  run_tool(join, work);
  // Only the table stays visible: two bundles that share a kernel can be linked into one program.
  run_tool({prefix + "objcopy", "--keep-global-symbol=" + symbol, "-R", ".comment", "all.o", symbol + ".o"}, work);
  run_tool({prefix + "ar", "rcsD", lib + "/lib" + symbol + ".a", symbol + ".o"}, work);
  const std::filesystem::path shared = shared_object_file(symbol);
  run_tool({prefix + "ld", "-shared", "-z", "now", "-z", "text", "--version-script=exports.map", "-soname",
            shared.filename(), "-o", std::filesystem::absolute(directory / shared), symbol + ".o"},
           work);
}

}  // namespace hone
