// SPDX-License-Identifier: MIT
// The one exception type of hone, and CHECK for broken invariants.
// Three kinds of trouble: an expected outcome is a value (TrialStatus and friends); a bad input or environment
// throws Error, caught in main (or at the C API); a broken invariant aborts through CHECK.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace hone {

class Error : public std::runtime_error {
 public:
  /// One line: "<attempted>: <problem>; <remedy>". Each part is a phrase without a trailing full stop.
  /// `attempted` names the file, node or workload ("cannot import model.onnx"), `problem` says what was found there,
  /// `remedy` what the user can do.
  Error(std::string_view attempted, std::string_view problem, std::string_view remedy);
};

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace hone

#define CHECK(condition) ((condition) ? void(0) : ::hone::check_failed(#condition, __FILE__, __LINE__))
