// SPDX-License-Identifier: MIT
#include "executor/text.h"

namespace hone {

std::string concatenate(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts) text.append(part);
  return text;
}

std::string decimal(int64_t number) {
  return std::to_string(number);
}

}  // namespace hone
