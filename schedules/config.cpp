// SPDX-License-Identifier: MIT
// Canonical text of configs and the checks that keep a stored or pinned point honest.
#include "schedules/config.h"

#include <algorithm>
#include <charconv>

#include "executor/error.h"

namespace hone {
namespace {

[[noreturn]] void refuse(std::string_view text, std::string_view problem) {
  throw Error("cannot read configuration '" + std::string(text) + "'", problem,
              "write it as hone prints it, NAME@VERSION{knob=value,...}");
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

int64_t parse_integer(std::string_view digits, std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || std::to_string(value) != digits) {
    refuse(text, "'" + std::string(digits) + "' is not an integer");
  }
  return value;
}

/// FNV-1a, so that the id is the same on every machine.
uint64_t hash_text(std::string_view text, uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

}  // namespace

std::string Config::canonical() const {
  std::string text = implementation + "@" + std::to_string(version) + "{";
  std::string_view separator;
  for (const auto& [name, value] : values) {
    text.append(separator).append(name).append("=").append(std::to_string(value));
    separator = ",";
  }
  return text + "}";
}

Config Config::parse(std::string_view text) {
  const size_t at = text.find('@');
  const size_t open = text.find('{');
  if (at == std::string_view::npos || open == std::string_view::npos || open < at || text.back() != '}') {
    refuse(text, "it is not of the form NAME@VERSION{knob=value,...}");
  }
  Config config;
  config.implementation = text.substr(0, at);
  if (!is_word(config.implementation)) refuse(text, "the implementation's name is empty or has strange characters");
  const int64_t version = parse_integer(text.substr(at + 1, open - at - 1), text);
  if (version < 1 || version > 1'000'000) refuse(text, "the version is out of range");
  config.version = static_cast<int>(version);
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos || !is_word(item.substr(0, equals))) {
      refuse(text, "'" + std::string(item) + "' is not knob=value");
    }
    config.values[std::string(item.substr(0, equals))] = parse_integer(item.substr(equals + 1), text);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  if (config.canonical() != text) refuse(text, "knobs are repeated or out of alphabetical order");
  return config;
}

int64_t Config::at(std::string_view name) const {
  const auto found = values.find(std::string(name));
  CHECK(found != values.end());
  return found->second;
}

std::string SearchSpace::violation(const Config& config) const {
  if (config.implementation != implementation) return "implementation is " + implementation;
  if (config.version != version) return "version is " + std::to_string(version);
  for (const auto& [name, value] : config.values) {
    const auto param =
        std::find_if(params.begin(), params.end(), [&](const TunableParam& p) { return p.name == name; });
    if (param == params.end()) return "unknown parameter " + name;
    if (std::find(param->values.begin(), param->values.end(), value) == param->values.end()) {
      return name + "=" + std::to_string(value) + " is out of its domain";
    }
  }
  for (const TunableParam& param : params) {
    if (!config.values.contains(param.name)) return "parameter " + param.name + " is missing";
  }
  for (const Constraint& constraint : constraints) {
    if (!constraint.holds(config)) return constraint.name;
  }
  return "";
}

double SearchSpace::cartesian_size() const {
  double size = 1;
  for (const TunableParam& param : params) size *= static_cast<double>(param.values.size());
  return size;
}

std::string space_id(const std::vector<SearchSpace>& spaces) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const SearchSpace& space : spaces) {
    std::string text = space.implementation + "@" + std::to_string(space.version) + "{";
    for (const TunableParam& param : space.params) {
      text += param.name + ":";
      for (const int64_t value : param.values) text += std::to_string(value) + ",";
      text += ";";
    }
    for (const Constraint& constraint : space.constraints) text += constraint.name + ";";
    hash = hash_text(text + "}" + space.default_config.canonical(), hash);
  }
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string id(16, '0');
  for (int i = 15; i >= 0; --i, hash >>= 4) id[static_cast<size_t>(i)] = kDigits[hash & 15];
  return id;
}

}  // namespace hone
