// Fuzzes .sample tables: a slow, plain reader finds the same samples, or an error too.
#include "core/formats/genotype/oxford_samples.h"

#include <set>

#include "core/io/text.h"
#include "harness.h"
#include "plain_rows.h"

namespace ancify::fuzz {

namespace {

// Begins a table as text, so that its words cannot look like an error.
constexpr const char* kTable = "a table\n";

std::string joined(const Row& row) {
  std::string text;
  for (const std::string& word : row) text += word + " ";
  return text + "\n";
}

// Empty if the text is not a .sample.
std::string read_slowly(const std::string& text) {
  std::vector<Row> rows = rows_of(text);
  if (rows.size() < 3 || !all_have_width(rows, rows[0].size())) return {};
  const Row names = rows[0];
  const Row types = rows[1];
  for (const std::string& type : types) {
    if (type != "0" && type != "D" && type != "C" && type != "P" && type != "B") return {};
  }
  std::size_t ids = 0;
  while (ids < types.size() && types[ids] == "0" && names[ids] != "missing") ++ids;
  if (ids != 1 && ids != 2) return {};
  std::string table = kTable + joined({names.begin() + static_cast<long>(ids), names.end()});
  std::set<std::string> known;
  for (std::size_t i = 2; i < rows.size(); ++i) {
    Row row = rows[i];
    if (ids == 1) row.insert(row.begin(), "0");
    if (!known.insert(row[1]).second) return {};
    table += joined(row);
  }
  return table;
}

std::string read_table(const std::string& path) {
  return outcome([&] {
    const SampleTable table = read_oxford_samples(path, TaskContext());
    std::string text = kTable + joined(table.names);
    for (std::size_t i = 0; i < table.id.size(); ++i) {
      Row row = {std::string(table.family[i]), std::string(table.id[i])};
      for (const TextColumn& column : table.columns) row.emplace_back(column[i]);
      text += joined(row);
    }
    return text;
  });
}

}  // namespace

void check(std::string_view input) {
  const std::string found = read_table(as_file(input));
  const auto text = text_to_read(input, found);
  if (!text) return;
  const bool is_text = is_utf8(*text) && text->find('\0') == text->npos;
  require_equal(is_error(found) ? "" : found, is_text ? read_slowly(*text) : "",
                "samples and the slow way");
}

}  // namespace ancify::fuzz
