// SPDX-License-Identifier: MIT
// The `hone` command: finds the subcommand, reads the environment once, turns Error into one line and an exit code.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>

#include "cli/command.h"
#include "db/database.h"
#include "executor/error.h"
#include "generators/nearest_name.h"

namespace hone {
namespace {

constexpr Command kCommands[] = {
    {"devices", "what can be tuned for here, with facts and why something is unavailable", run_devices},
    {"inspect", "a model's graph, groups, workloads, and what is unsupported where", run_inspect},
    {"tune", "search schedules for each kernel of a model on a device", run_tune},
    {"build", "write a bundle: kernels, packed weights and plan for an app to link", run_build},
    {"run", "run a bundle on tensors or images", run_run},
    {"verify", "check a bundle's files, and its sample against the expected output", run_verify},
    {"bench", "time bundles or one workload, with Google Benchmark's flags and JSON", run_bench},
    {"profile", "where a bundle's time goes, kernel by kernel", run_profile},
    {"report", "one HTML file: summary, kernels, convergence, provenance", run_report},
    {"db", "look into the tuning database: stats, list, show, check", run_db},
};

void print_overview(std::FILE* out) {
  std::fprintf(out, "hone %s: tunes, builds and profiles the kernels of an ONNX model on your device\n\n",
               std::string(kVersion).c_str());
  std::fprintf(out, "usage: hone COMMAND [options]\n\n");
  for (const Command& command : kCommands) {
    std::fprintf(out, "  %-9s %s\n", std::string(command.name).c_str(), std::string(command.summary).c_str());
  }
  std::fprintf(out,
               "\nThe usual way from a model to an app:\n"
               "  hone tune  model.onnx --device host --time 2m\n"
               "  hone build model.onnx --device host -o model.bundle\n"
               "  hone run   model.bundle --input x=x.npy --output out\n"
               "\n`hone help COMMAND` is the manual of each. Exit codes: 0 ok, 1 failed, 2 wrong use.\n");
}

Surroundings read_surroundings(std::span<char*> arguments) {
  const auto variable = [](const char* name) { return std::string_view(std::getenv(name) ? std::getenv(name) : ""); };
  Surroundings result;
  std::error_code error;
  result.program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) result.program = std::filesystem::absolute(arguments[0]);
  result.database = TuningDatabase::default_path(variable("XDG_DATA_HOME"), variable("HOME"));
  result.temporary = variable("TMPDIR").empty() ? "/tmp" : variable("TMPDIR");
  result.color = isatty(STDOUT_FILENO) == 1 && variable("NO_COLOR").empty();
  result.terminal = isatty(STDERR_FILENO) == 1 && variable("TERM") != "dumb";
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const bool plain = !argument.empty() && argument.find_first_of(" \t\n\"'\\$`;&|<>()*?") == std::string_view::npos;
    result.command_line += i == 0 ? "hone" : plain ? " " + std::string(argument) : " '" + std::string(argument) + "'";
  }
  return result;
}

int dispatch(std::span<char*> arguments) {
  std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (rest.empty()) {
    print_overview(stdout);
    return 0;
  }
  std::string name = rest.front();
  rest.erase(rest.begin());
  if (name == "--version") {
    std::printf("hone %s\n", std::string(kVersion).c_str());
    return 0;
  }
  if (name == "help" || name == "--help" || name == "-h") {
    if (rest.empty()) {
      print_overview(stdout);
      return 0;
    }
    name = rest.front();
    rest = {"--help"};
  }
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) {
    if (command.name == name) return command.run(rest, read_surroundings(arguments));
    names.push_back(command.name);
  }
  throw UsageError{"unknown command '" + name + "'; did you mean '" + nearest_name(name, names) +
                   "'? `hone` alone lists all"};
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a helper that died, or `hone ... | head`, is a write error and not the end
  try {
    const int code = hone::dispatch({argv, static_cast<size_t>(argc)});
    return std::fflush(stdout) == 0 ? code : 1;
  } catch (const hone::UsageError& error) {
    std::fprintf(stderr, "hone: %s\n", error.message.c_str());
    return 2;
  } catch (const hone::Error& error) {
    std::fprintf(stderr, "hone: %s\n", error.what());
    return 1;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "hone: out of memory; free some or use a machine with more\n");
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hone: unexpected failure: %s; please report it with the command line\n", error.what());
    return 1;
  }
}
