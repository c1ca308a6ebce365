// SPDX-License-Identifier: MIT
// The schema is what the approved dump and db/README.md say: a landed migration never changes, and nothing is
// undocumented.
#include <iterator>
#include <set>
#include <sstream>

#include "tests/db/database_fixture.h"

namespace hone {
namespace {

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  EXPECT_TRUE(in.is_open()) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The names in backquotes in the first cell of each row of a section's table.
std::set<std::string> documented_columns(const std::string& section) {
  std::set<std::string> names;
  std::istringstream lines(section);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string cell = line.substr(0, line.find(" |"));
    for (size_t open = cell.find('`'); open != std::string::npos;) {
      const size_t close = cell.find('`', open + 1);
      names.insert(cell.substr(open + 1, close - open - 1));
      open = close == std::string::npos ? close : cell.find('`', close + 1);
    }
  }
  return names;
}

std::string dump(SQLite::Database& database) {
  std::string text = "PRAGMA application_id = " + database.execAndGet("PRAGMA application_id").getString() +
                     ";\nPRAGMA user_version = " + database.execAndGet("PRAGMA user_version").getString() + ";\n";
  SQLite::Statement query(database, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, name");
  while (query.executeStep()) text += query.getColumn(0).getString() + ";\n";
  return text;
}

TEST_F(DatabaseTest, SchemaIsTheApprovedOne) {
  open();
  const std::filesystem::path approved = std::filesystem::path(HONE_SOURCE_DIR) / "tests/db/schema_v1.sql";
  const std::string actual = dump(database_->connection().sqlite());
  EXPECT_EQ(actual, read_file(approved)) << "a landed migration must not change: add one";
}

TEST_F(DatabaseTest, EveryTableAndColumnIsDocumented) {
  open();
  const std::string readme = read_file(std::filesystem::path(HONE_SOURCE_DIR) / "db/README.md");
  for (const auto& [table, rows] : database_->row_counts()) {
    const size_t start = readme.find("### `" + table + "`");
    ASSERT_NE(start, std::string::npos) << table << " has no section";
    const std::string section = readme.substr(start, readme.find("\n### ", start + 1) - start);
    const std::set<std::string> documented = documented_columns(section);
    std::set<std::string> present;
    SQLite::Statement columns(database_->connection().sqlite(), "SELECT name FROM pragma_table_info(?)");
    columns.bind(1, table);
    while (columns.executeStep()) present.insert(columns.getColumn(0).getString());
    EXPECT_EQ(documented, present) << "in the section of " << table;
  }
}

}  // namespace
}  // namespace hone
