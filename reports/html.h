// SPDX-License-Identifier: MIT
// Text for HTML: escaping, numbers for people, and tables. Every text that a section shows goes through escape() or one
// of the functions here: names of models, nodes and configs come from files that strangers wrote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

/// Fit for text and for quoted attributes. Invalid UTF-8 and control characters become U+FFFD.
std::string escape(std::string_view text);
/// At most `most` characters (code points) with "…" as the last; for what is given in full in a title.
std::string truncated(std::string_view text, size_t most);
/// A <span> that shows at most `most` characters, with all of it in its title if that is more.
std::string span_with_title(std::string_view text, size_t most);

/// What stands in place of a value that was not measured; never 0.
inline constexpr std::string_view kNotAvailable = "<span class=\"absent\">not available</span>";
/// A paragraph in place of a section's content, with the way to get it (HTML).
std::string absent_paragraph(std::string_view how_to_get_it);

/// Three significant digits: "1.23", "45.6", "789", "12300".
std::string significant(double value);
/// "1.23 ms"; kNotAvailable unless ns is positive and finite. `ns` is nanoseconds.
std::string format_time(double ns);
/// Value in units of 10^9, "not available" unless positive and finite.
std::string format_giga(double value);
/// 0.123 -> "12.3 %".
std::string format_percent(double fraction);
/// "1.310" with "1.280 to 1.350" as the detail under it, or with the reason why there is no interval.
std::string format_ratio(double ratio, double low, double high);

/// Rows of cells that are HTML already.
class HtmlTable {
 public:
  struct Column {
    std::string title;
    std::string css_class;  // "number", "name", ...; may be empty
  };
  explicit HtmlTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add_row(std::vector<std::string> cells, std::string_view css_class = {});
  std::string html() const;

 private:
  std::vector<Column> columns_;
  std::string rows_;
};

/// A bar of `fraction` of the cell's width, under the text.
std::string bar(double fraction);

}  // namespace hone
