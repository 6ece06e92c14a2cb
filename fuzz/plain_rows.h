// Rows of tables by a slow, plain reader, shared by harnesses of tables.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "harness.h"

namespace ancify::fuzz {

using Row = std::vector<std::string>;

// The words of all lines that have any.
inline std::vector<Row> rows_of(std::string text) {
  std::vector<Row> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    const Row row = words_of(line);
    if (!row.empty()) rows.push_back(row);
  }
  return rows;
}

inline bool all_have_width(const std::vector<Row>& rows, std::size_t width) {
  return std::all_of(rows.begin(), rows.end(), [&](const Row& row) { return row.size() == width; });
}

}  // namespace ancify::fuzz
