// SPDX-License-Identifier: MIT
#include "cli/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "executor/error.h"

namespace hone {
namespace {

/// Characters as a terminal shows them: UTF-8 continuation bytes take no column.
size_t width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string format_ns(double ns) {
  if (!(ns > 0)) return "n/a";
  if (ns < 1e3) return fmt::format("{:.3g} ns", ns);
  if (ns < 1e6) return fmt::format("{:.3g} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.3g} ms", ns / 1e6);
  return fmt::format("{:.3g} s", ns / 1e9);
}

std::string format_seconds(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(seconds);
  if (whole < 3600) return fmt::format("{} m {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} m", whole / 3600, whole / 60 % 60);
}

std::string format_bytes(double bytes) {
  if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
  if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", bytes / 1024);
  return fmt::format("{:.1f} MiB", bytes / (1024 * 1024));
}

std::string format_count(double value) {
  if (value < 1e3) return fmt::format("{:.3g}", value);
  if (value < 1e6) return fmt::format("{:.3g} k", value / 1e3);
  if (value < 1e9) return fmt::format("{:.3g} M", value / 1e6);
  return fmt::format("{:.3g} G", value / 1e9);
}

std::string format_fixed(double value, int digits) {
  return fmt::format("{:.{}f}", value, digits);
}

Table::Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}

void Table::row(std::vector<std::string> cells) {
  CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::string> titles;
  std::vector<bool> right;
  std::vector<size_t> widths;
  for (const std::string& column : columns_) {
    right.push_back(column.starts_with('>'));
    titles.push_back(right.back() ? column.substr(1) : column);
    widths.push_back(width(titles.back()));
  }
  for (const auto& cells : rows_) {
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width(cells[i]));
  }
  std::string text;
  const auto append = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - width(cells[i]), ' ');
      line += right[i] ? padding + cells[i] : cells[i] + padding;
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  append(titles);
  for (const auto& cells : rows_) append(cells);
  return text;
}

ProgressLine::~ProgressLine() {
  clear();
}

void ProgressLine::clear() {
  if (shown_ && terminal_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

void ProgressLine::update(const std::string& text) {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < (terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(10'000))) return;
  last_ = now;
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
    shown_ = true;
  } else {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
}

void ProgressLine::note(const std::string& text) {
  clear();
  std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace hone
