// SPDX-License-Identifier: MIT
#include "cli/options.h"

#include <charconv>
#include <cmath>
#include <iostream>
#include <sstream>

#include "generators/nearest_name.h"

namespace po = boost::program_options;

namespace hone {

Options::Options(std::string usage, std::string manual)
    : usage_(std::move(usage)), manual_(std::move(manual)), described_("options", 110, 60) {
  described_.add_options()("help,h", "this manual");
}

void Options::positional(const char* name, int max_count) {
  hidden_.add_options()(name, po::value<std::vector<std::string>>(), "");
  positional_.add(name, max_count);
}

std::string Options::nearest_option(const std::string& wrong) const {
  std::vector<std::string> names;
  for (const auto& option : described_.options()) names.push_back("--" + option->long_name());
  return nearest_name(wrong, names);
}

bool Options::parse(const std::vector<std::string>& arguments) {
  po::options_description all;
  all.add(described_).add(hidden_);
  try {
    // Guessing by prefix is off: an option added later must not change what an old script means.
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(arguments).options(all).positional(positional_).style(style).run(), values_);
    po::notify(values_);
  } catch (const po::unknown_option& error) {
    throw UsageError{"unknown option '" + error.get_option_name() + "'; did you mean '" +
                     nearest_option(error.get_option_name()) + "'?"};
  } catch (const po::too_many_positional_options_error&) {
    throw UsageError{"too many arguments; usage: hone " + usage_.substr(0, usage_.find('\n'))};
  } catch (const po::error& error) {
    throw UsageError{std::string(error.what()) + "; usage: hone " + usage_.substr(0, usage_.find('\n'))};
  }
  if (values_.count("help") == 0) return true;
  std::cout << "usage: hone " << usage_ << "\n\n" << manual_ << "\n\n" << described_;
  return false;
}

std::vector<std::string> Options::list(const std::string& name) const {
  return values_.count(name) == 0 ? std::vector<std::string>{} : values_[name].as<std::vector<std::string>>();
}

std::string Options::one(const std::string& name, std::string_view what) const {
  const std::vector<std::string> all = list(name);
  if (all.size() != 1) {
    throw UsageError{"expected " + std::string(what) + "; usage: hone " + usage_.substr(0, usage_.find('\n'))};
  }
  return all.front();
}

double parse_duration(const std::string& text, std::string_view option) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (error != std::errc() || scale == 0 || !(value > 0) || !std::isfinite(value)) {
    throw UsageError{std::string(option) + " takes a duration such as 90s, 2m or 1h, not '" + text + "'"};
  }
  return value * scale;
}

InputShapes parse_shapes(const std::vector<std::string>& entries) {
  InputShapes shapes;
  for (const std::string& entry : entries) {
    const size_t colon = entry.rfind(':');  // tensor names may contain colons ("input:0")
    Shape shape;
    std::istringstream numbers(colon == std::string::npos ? "" : entry.substr(colon + 1));
    for (std::string number; std::getline(numbers, number, ',');) {
      int64_t extent = 0;
      const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), extent);
      if (error != std::errc() || end != number.data() + number.size() || extent < 1) {
        throw UsageError{"--shape takes NAME:1,3,224,224 with positive extents, not '" + entry + "'"};
      }
      shape.push_back(extent);
    }
    if (colon == std::string::npos || colon == 0) {
      throw UsageError{"--shape takes NAME:1,3,224,224, not '" + entry + "'"};
    }
    shapes[entry.substr(0, colon)] = std::move(shape);
  }
  return shapes;
}

}  // namespace hone
