// SPDX-License-Identifier: MIT
// Command-line options by Boost.Program_options, with hone's habits: --help is the manual, an unknown option suggests
// the nearest one, durations read "90s", "2m", "1h".
#pragma once

#include <boost/program_options.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "graph/graph.h"

namespace hone {

class Options {
 public:
  /// `usage`: the line(s) after "usage: hone ". `manual`: a paragraph on what the command does.
  Options(std::string usage, std::string manual);
  boost::program_options::options_description_easy_init add() { return described_.add_options(); }
  /// Positional arguments are collected under `name` (a vector<string> option), at most `max_count` (-1: any).
  void positional(const char* name, int max_count);
  /// Prints the manual and returns false on --help. Throws UsageError.
  bool parse(const std::vector<std::string>& arguments);

  bool has(const std::string& name) const { return values_.count(name) != 0 && !values_[name].defaulted(); }
  template <typename T>
  const T& get(const std::string& name) const {
    return values_[name].as<T>();
  }
  std::vector<std::string> list(const std::string& name) const;
  /// The only positional, or UsageError saying that `what` is missing.
  std::string one(const std::string& name, std::string_view what) const;

 private:
  std::string nearest_option(const std::string& wrong) const;

  std::string usage_, manual_;
  boost::program_options::options_description described_;
  boost::program_options::options_description hidden_;
  boost::program_options::positional_options_description positional_;
  boost::program_options::variables_map values_;
};

/// "90", "90s", "2m", "1.5h" -> seconds. Throws UsageError naming the option.
double parse_duration(const std::string& text, std::string_view option);
/// "x:1,3,224,224" entries -> shapes by input name. Throws UsageError.
InputShapes parse_shapes(const std::vector<std::string>& entries);

}  // namespace hone
