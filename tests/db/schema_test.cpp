// SPDX-License-Identifier: MIT
// The schema is what the approved dump and db/README.md say: a landed migration never changes, and nothing is
// undocumented.
#include <iterator>
#include <regex>
#include <set>

#include "tests/db/database_fixture.h"

namespace hone {
namespace {

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  EXPECT_TRUE(in.is_open()) << file;
  return {std::istreambuf_iterator<char>(in), {}};
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
    std::set<std::string> documented, present;
    const std::regex row_pattern("\\| `([a-z_0-9`, ]+)` \\|");
    for (std::sregex_iterator match(section.begin(), section.end(), row_pattern), end; match != end; ++match) {
      const std::string names = (*match)[1];
      const std::regex word("[a-z_0-9]+");
      for (std::sregex_iterator name(names.begin(), names.end(), word); name != end; ++name)
        documented.insert(name->str());
    }
    SQLite::Statement columns(database_->connection().sqlite(), "SELECT name FROM pragma_table_info(?)");
    columns.bind(1, table);
    while (columns.executeStep()) present.insert(columns.getColumn(0).getString());
    EXPECT_EQ(documented, present) << "in the section of " << table;
  }
}

}  // namespace
}  // namespace hone
