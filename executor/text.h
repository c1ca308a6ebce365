// SPDX-License-Identifier: MIT
// The few string operations of the executor's messages, out of line: as C++20 strings are constexpr, g++ 12 puts a copy
// of std::to_string and of every operator+ into each object that uses one (a third of the library's text, once).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace hone {

std::string concatenate(std::initializer_list<std::string_view> parts);
std::string decimal(int64_t number);

}  // namespace hone
