// Fuzzes tables of samples and variants: a slow, plain reader agrees, in values or in failing.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "core/formats/genotype/sample_values.h"
#include "core/formats/genotype/tables.h"
#include "core/io/number_parser.h"
#include "core/io/text.h"
#include "harness.h"
#include "plain_rows.h"

namespace ancify::fuzz {

namespace {

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
  return !rows.empty() && all_have_width(rows, width);
}

std::string joined(const Row& row) {
  std::string text;
  for (const std::string& word : row) text += word + " ";
  return text + "\n";
}

struct Samples {
  Row names;
  std::vector<Row> rows;  // FID, IID, values
};

std::optional<Samples> samples_slowly(const std::string& text) {
  const auto has_family = [](const Row& row) {
    return (row[0] == "FID" || row[0] == "#FID") && row.size() > 1 && row[1] == "IID";
  };
  const auto [rows, header] = split_header(rows_of(text), [&](const Row& row) {
    return has_family(row) || row[0] == "IID" || row[0] == "#IID";
  });
  if (!all_of_one_width(rows, header)) return {};
  const bool families = header.empty() ? rows[0].size() > 1 : has_family(header);
  Samples samples;
  samples.names.assign(header.begin() + std::min<long>(header.size(), families ? 2 : 1),
                       header.end());
  std::set<std::string> ids;
  for (Row row : rows) {
    if (!families) row.insert(row.begin(), "0");
    if (!ids.insert(row[1]).second) return {};
    samples.rows.push_back(row);
  }
  return samples;
}

std::string text_of(const Samples& samples) {
  std::string text = kTable;
  if (!samples.names.empty()) text += joined(samples.names);
  for (const Row& row : samples.rows) text += joined(row);
  return text;
}

// A value as text: a number, "missing", or nothing for other texts.
std::string value_of(const std::string& text) {
  std::string small = text;
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  const auto number = NumberParser()(text);
  if (small == "na" || small == "nan" || text == "." || (number && *number == -9)) return "missing";
  return number ? number_text(*number) : "";
}

// The result that read_sample_values() should have.
std::string values_slowly(const Samples& samples, bool factors) {
  const std::size_t columns = samples.rows[0].size() - 2;
  Row names = samples.names;
  for (std::size_t i = names.size(); i < columns; ++i) names.push_back("v" + std::to_string(i + 1));
  std::set<std::string> known(names.begin(), names.end());
  if (columns == 0 || known.size() < columns || known.count("id") > 0) return {};
  std::string text = kTable + joined(names);
  for (std::size_t i = 0; i < columns; ++i) {
    bool any_number = false;
    bool any_text = false;
    for (const Row& row : samples.rows) {
      const std::string value = value_of(row[i + 2]);
      any_text = any_text || value.empty();
      any_number = any_number || (!value.empty() && value != "missing");
      text += row[1] + " " + (value.empty() ? "the level " + row[i + 2] : value) + "\n";
    }
    if (any_text && (any_number || !factors)) return {};
  }
  return text;
}

std::string values_of(const std::string& path, bool factors) {
  return outcome([&] {
    const SampleValues table = read_sample_values(path, {{"-9"}, "v", factors}, TaskContext());
    std::string text = kTable + joined(table.names);
    for (const ValueColumn& column : table.columns) {
      for (std::size_t i = 0; i < table.id.size(); ++i) {
        std::string value = "missing";
        if (!column.codes.empty() && column.codes[i] > 0) {
          const auto level = static_cast<std::size_t>(column.codes[i] - 1);
          value = "the level " + std::string(column.levels[level]);
        }
        if (column.codes.empty() && !std::isnan(column.numbers[i])) {
          value = number_text(column.numbers[i]);
        }
        text += std::string(table.id[i]) + " " + value + "\n";
      }
    }
    return text;
  });
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
    if (!is_position(wanted[2])) return {};
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
  const auto text = text_to_read(input, samples);
  if (!text || !text_to_read(input, variants)) return;
  const bool is_text = is_utf8(*text) && text->find('\0') == text->npos;
  const auto expected = is_text ? samples_slowly(*text) : std::nullopt;
  require_equal(is_error(samples) ? "" : samples, expected ? text_of(*expected) : "",
                "samples and the slow way");
  for (const bool factors : {false, true}) {
    const std::string values = values_of(path, factors);
    require_equal(is_error(values) ? "" : values, expected ? values_slowly(*expected, factors) : "",
                  "values and the slow way");
  }
  require_equal(is_error(variants) ? "" : variants, is_text ? variants_slowly(*text) : "",
                "variants and the slow way");
}

}  // namespace ancify::fuzz
