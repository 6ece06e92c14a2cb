// Fuzzes tables of samples and variants: a slow, plain reader finds the same, or an error too.
#include <algorithm>
#include <set>
#include <sstream>
#include <vector>

#include "core/formats/genotype/tables.h"
#include "core/io/text.h"
#include "harness.h"

namespace ancify::fuzz {

namespace {

using Row = std::vector<std::string>;

std::vector<Row> rows_of(std::string text) {
  if (text.compare(0, 3, "\xef\xbb\xbf") == 0) text.erase(0, 3);
  std::vector<Row> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    const Row row = words_of(line);
    if (!row.empty()) rows.push_back(row);
  }
  return rows;
}

// Begins a table as text, so that its words cannot look like an error.
constexpr const char* kTable = "a table\n";

// The rows after the first comments, and the header, if the first row is one.
template <class IsHeader>
std::pair<std::vector<Row>, Row> split_header(std::vector<Row> rows, IsHeader is_header) {
  while (!rows.empty() && rows[0][0][0] == '#' && !is_header(rows[0])) rows.erase(rows.begin());
  Row header;
  if (!rows.empty() && is_header(rows[0])) {
    header = rows[0];
    rows.erase(rows.begin());
  }
  return {rows, header};
}

bool all_of_one_width(const std::vector<Row>& rows, const Row& header) {
  const std::size_t width = header.empty() && !rows.empty() ? rows[0].size() : header.size();
  return !rows.empty() &&
         std::all_of(rows.begin(), rows.end(), [&](const Row& row) { return row.size() == width; });
}

std::string joined(const Row& row) {
  std::string text;
  for (const std::string& word : row) text += word + " ";
  return text + "\n";
}

std::string samples_slowly(const std::string& text) {
  const auto has_family = [](const Row& row) {
    return (row[0] == "FID" || row[0] == "#FID") && row.size() > 1 && row[1] == "IID";
  };
  const auto [rows, header] = split_header(rows_of(text), [&](const Row& row) {
    return has_family(row) || row[0] == "IID" || row[0] == "#IID";
  });
  if (!all_of_one_width(rows, header)) return {};
  const bool families = header.empty() ? rows[0].size() > 1 : has_family(header);
  std::string table = kTable;
  const Row names(header.begin() + std::min<long>(header.size(), families ? 2 : 1), header.end());
  if (!names.empty()) table += joined(names);
  std::set<std::string> ids;
  for (Row row : rows) {
    if (!families) row.insert(row.begin(), "0");
    if (!ids.insert(row[1]).second) return {};
    table += joined(row);
  }
  return table;
}

std::string samples_of(const std::string& path) {
  return outcome([&] {
    const SampleTable table = read_samples(path, TaskContext());
    std::string text = kTable;
    if (!table.names.empty()) text += joined(table.names);
    for (std::size_t i = 0; i < table.id.size(); ++i) {
      Row row = {std::string(table.family[i]), std::string(table.id[i])};
      for (const TextColumn& column : table.columns) row.emplace_back(column[i]);
      text += joined(row);
    }
    return text;
  });
}

bool is_position(std::string text) {
  if (text[0] == '-') text.erase(0, 1);
  return !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == text.npos &&
         std::stoll(text) < 2147483648;
}

std::string variants_slowly(const std::string& text) {
  const auto [rows, header] =
      split_header(rows_of(text), [](const Row& row) { return row[0] == "#CHROM"; });
  std::vector<std::size_t> columns;
  for (const char* name : {"#CHROM", "ID", "POS", "ALT", "REF"}) {
    columns.push_back(
        static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin()));
    if (!header.empty() && columns.back() == header.size()) return {};
  }
  if (!all_of_one_width(rows, header)) return {};
  if (header.empty()) {
    if (rows[0].size() == 5) columns = {0, 1, 2, 3, 4};
    if (rows[0].size() == 6) columns = {0, 1, 3, 4, 5};
    if (rows[0].size() != 5 && rows[0].size() != 6) return {};
  }
  std::string table = kTable;
  for (const Row& row : rows) {
    Row wanted;
    for (const std::size_t column : columns) wanted.push_back(row[column]);
    if (!is_position(wanted[2]) || wanted[3].find(',') != std::string::npos) return {};
    wanted[2] = std::to_string(std::stoll(wanted[2]));
    table += joined(wanted);
  }
  return table;
}

std::string variants_of(const std::string& path) {
  return outcome([&] {
    const VariantTable table = read_variants(path, TaskContext());
    std::string text = kTable;
    for (std::size_t i = 0; i < table.id.size(); ++i) {
      text += joined({std::string(table.chromosome[i]), std::string(table.id[i]),
                      std::to_string(table.position[i]), std::string(table.counted[i]),
                      std::string(table.other[i])});
    }
    return text;
  });
}

}  // namespace

void check(std::string_view input) {
  const std::string& path = as_file(input);
  const std::string samples = samples_of(path);
  const std::string variants = variants_of(path);
  if (input.substr(0, 2) == "\x1f\x8b") return;
  const std::string text(input);
  const bool is_text = is_utf8(text) && text.find('\0') == text.npos;
  require_equal(is_error(samples) ? "" : samples, is_text ? samples_slowly(text) : "",
                "samples and the slow way");
  require_equal(is_error(variants) ? "" : variants, is_text ? variants_slowly(text) : "",
                "variants and the slow way");
}

}  // namespace ancify::fuzz
