// SPDX-License-Identifier: MIT
// What people see: numbers with units, aligned tables, and a progress line that rewrites itself on a terminal and is a
// plain line now and then elsewhere. Results go to stdout, progress to stderr.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace hone {

std::string format_ns(double ns);            // "1.23 ms"; "n/a" for 0
std::string format_seconds(double seconds);  // "12.3 s", "2 m 05 s"
std::string format_bytes(double bytes);      // "1.50 MiB"
std::string format_count(double value);      // "1.23 G"
std::string format_fixed(double value, int digits);

/// Left-aligned text columns, right-aligned where the name of the column starts with '>'.
class Table {
 public:
  explicit Table(std::vector<std::string> columns);
  void row(std::vector<std::string> cells);
  std::string text() const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

class ProgressLine {
 public:
  explicit ProgressLine(bool terminal) : terminal_(terminal) {}
  ~ProgressLine();
  /// At most ten times a second on a terminal, every ten seconds otherwise.
  void update(const std::string& text);
  /// A line that stays.
  void note(const std::string& text);

 private:
  void clear();

  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace hone
