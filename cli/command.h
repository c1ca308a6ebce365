// SPDX-License-Identifier: MIT
// A subcommand of `hone`: one file each, one line in the table in main.cpp. Commands parse options, call the libraries,
// and return an exit code; Error is caught in main.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

/// What main read from the process environment; nothing else in hone reads it.
struct Surroundings {
  std::filesystem::path program;    // absolute path of the running executable
  std::filesystem::path database;   // default database
  std::filesystem::path temporary;  // $TMPDIR or /tmp
  bool color = false;               // stdout is a terminal and NO_COLOR is unset
  bool terminal = false;            // stderr is a terminal: progress may rewrite its line
  std::string command_line;         // as typed, for provenance
};

struct Command {
  std::string_view name;
  std::string_view summary;  // one line
  int (*run)(const std::vector<std::string>& arguments, const Surroundings& surroundings);
};

/// Wrong use of the command line: message and exit code 2.
struct UsageError {
  std::string message;
};

int run_bench(const std::vector<std::string>& arguments, const Surroundings& surroundings);
int run_build(const std::vector<std::string>& arguments, const Surroundings& surroundings);
int run_db(const std::vector<std::string>& arguments, const Surroundings& surroundings);
int run_devices(const std::vector<std::string>& arguments, const Surroundings& surroundings);
int run_inspect(const std::vector<std::string>& arguments, const Surroundings& surroundings);
int run_profile(const std::vector<std::string>& arguments, const Surroundings& surroundings);
int run_report(const std::vector<std::string>& arguments, const Surroundings& surroundings);
int run_run(const std::vector<std::string>& arguments, const Surroundings& surroundings);
int run_tune(const std::vector<std::string>& arguments, const Surroundings& surroundings);
int run_verify(const std::vector<std::string>& arguments, const Surroundings& surroundings);

inline constexpr std::string_view kVersion = HONE_VERSION;

}  // namespace hone
