// Fuzzes kernels in GCTA's files: a slow, plain reader finds the same values, or an error too.
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/formats/genotype/grm_files.h"
#include "core/io/number_parser.h"
#include "core/io/text.h"
#include "harness.h"
#include "plain_rows.h"

namespace ancify::fuzz {

namespace {

TextColumn some_ids(std::size_t n) {
  TextColumn ids;
  for (std::size_t i = 0; i < n; ++i) ids.add("i" + std::to_string(i));
  return ids;
}

std::string matrix_text(const std::vector<double>& matrix) {
  std::string text = "a matrix\n";
  for (const double value : matrix) text += number_text(value) + " ";
  return text;
}

std::string triangle_slowly(std::string_view input, std::size_t n) {
  if (input.size() != 2 * n * (n + 1)) return {};
  std::vector<double> matrix(n * n);
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j, at += 4) {
      float value = 0;
      std::memcpy(&value, input.data() + at, 4);
      if (!std::isfinite(value)) return {};
      matrix[i * n + j] = matrix[j * n + i] = value;
    }
  }
  return matrix_text(matrix);
}

std::string triangle_of(const std::string& path, std::size_t n) {
  return outcome([&] {
    const GrmTriangle triangle(path, static_cast<std::int64_t>(n));
    std::vector<double> matrix(n * n);
    triangle.read(some_ids(n), TaskContext(), matrix.data());
    const auto [least, most] = triangle.range(some_ids(n), TaskContext());
    for (const double value : matrix) {
      require(least <= value && value <= most, "a value is beyond the range");
    }
    return matrix_text(matrix);
  });
}

std::optional<std::size_t> index_of(const std::string& text, std::size_t n) {
  if (text.size() > 18 || text.find_first_not_of("0123456789") != text.npos) return {};
  const auto index = static_cast<std::size_t>(std::stoll(text));
  return index < n ? std::optional(index) : std::nullopt;
}

using Entries = std::map<std::pair<std::size_t, std::size_t>, double>;

std::string entries_text(const Entries& entries) {
  std::string text = "entries\n";
  for (const auto& [pair, value] : entries) {
    text += std::to_string(pair.first) + " " + std::to_string(pair.second) + " " +
            number_text(value) + "\n";
  }
  return text;
}

std::string entries_slowly(const std::string& text, std::size_t n) {
  Entries entries;
  NumberParser parse;
  for (const Row& row : rows_of(text)) {
    if (row.size() != 3) return {};
    const auto one = index_of(row[0], n);
    const auto other = index_of(row[1], n);
    const auto value = parse(row[2]);
    if (!one || !other || !value) return {};
    const auto pair = std::pair(std::min(*one, *other), std::max(*one, *other));
    if (!entries.emplace(pair, *value).second) return {};
  }
  return entries_text(entries);
}

std::string entries_of(const std::string& path, std::size_t n) {
  return outcome([&] {
    const SparseTriangle read = read_sparse_grm(path, static_cast<std::int64_t>(n), TaskContext());
    Entries entries;
    std::pair<std::int32_t, std::int32_t> last(-1, -1);
    for (std::size_t i = 0; i < read.value.size(); ++i) {
      const auto place = std::pair(read.column[i], read.row[i]);
      require(place.first <= place.second && last < place, "entries are not in order");
      last = place;
      entries.emplace(place, read.value[i]);
    }
    return entries_text(entries);
  });
}

}  // namespace

void check(std::string_view input) {
  const std::string& path = as_file(input);
  Choices choices(input);
  std::size_t n = 1;
  while (2 * n * (n + 1) < input.size()) ++n;
  if (choices.one_in(8)) n = 1 + choices.below(20);
  const std::string triangle = triangle_of(path, n);
  require_equal(is_error(triangle) ? "" : triangle, triangle_slowly(input, n),
                "the triangle and the slow way");
  const std::size_t samples = 1 + choices.below(12);
  const std::string entries = entries_of(path, samples);
  const auto text = text_to_read(input, entries);
  if (!text) return;
  const bool is_text = is_utf8(*text) && text->find('\0') == text->npos;
  require_equal(is_error(entries) ? "" : entries, is_text ? entries_slowly(*text, samples) : "",
                "the entries and the slow way");
}

}  // namespace ancify::fuzz
