// SPDX-License-Identifier: MIT
// Canonical text of a TuningContext, as the database stores it.
#include "schedules/tuning_context.h"

#include <charconv>

#include "executor/error.h"

namespace hone {

std::string_view name(Accuracy accuracy) {
  return accuracy == Accuracy::strict ? "strict" : "fp32";
}

std::string TuningContext::canonical() const {
  return "threads=" + std::to_string(threads) + " weights=" + (cold_weights ? "cold" : "hot") +
         " accuracy=" + std::string(name(accuracy));
}

TuningContext TuningContext::parse(std::string_view text) {
  TuningContext context;
  constexpr std::string_view kThreads = "threads=";
  const size_t space = text.find(' ');
  if (text.starts_with(kThreads) && space != std::string_view::npos) {
    const std::string_view digits = text.substr(kThreads.size(), space - kThreads.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), context.threads);
  }
  for (const bool cold : {true, false}) {
    for (const Accuracy accuracy : {Accuracy::strict, Accuracy::fp32}) {
      context.cold_weights = cold;
      context.accuracy = accuracy;
      if (context.threads >= 1 && context.canonical() == text) return context;
    }
  }
  throw Error("cannot read tuning context '" + std::string(text) + "'", "it is not as hone writes it",
              "write it like 'threads=1 weights=cold accuracy=fp32'");
}

}  // namespace hone
