// docs/operators.md names every operator of the table, and no other.
#include "planner/operator_table.hpp"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "paths.hpp"
#include "planner/graph_builder.hpp"
#include "tests/core/temporary_folder.hpp"

namespace fm {
namespace {

std::set<std::string> documented_operators() {
  std::istringstream lines(contents_of(FM_MODELS "/../docs/operators.md"));
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("| ", 0) != 0 || line.rfind("| operators |", 0) == 0) continue;
    std::istringstream cell(line.substr(2, line.find(" |", 2) - 2));
    for (std::string name; std::getline(cell, name, ',');) {
      names.insert(name.substr(name.find_first_not_of(' ')));
    }
  }
  return names;
}

TEST(OperatorTable, IsDocumented) {
  const std::set<std::string> documented = documented_operators();
  for (const auto& [name, spec] : operator_table()) {
    EXPECT_EQ(documented.count(name), 1u) << name << " is missing in docs/operators.md";
  }
  for (const std::string& name : documented) {
    EXPECT_TRUE(operator_table().count(name) != 0 || is_expanded_operator(name))
        << name << " is no operator";
  }
}

}  // namespace
}  // namespace fm
