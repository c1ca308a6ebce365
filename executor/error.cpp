// SPDX-License-Identifier: MIT
#include "executor/error.h"

#include <cstdio>
#include <cstdlib>

namespace hone {
namespace {

std::string compose(std::string_view attempted, std::string_view problem, std::string_view remedy) {
  std::string text;
  text.append(attempted).append(": ").append(problem).append("; ").append(remedy);
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';  // one line, whatever a file name or library message contained
  }
  return text;
}

}  // namespace

Error::Error(std::string_view attempted, std::string_view problem, std::string_view remedy)
    : std::runtime_error(compose(attempted, problem, remedy)) {}

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "hone: broken invariant: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace hone
