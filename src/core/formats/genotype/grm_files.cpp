// Format: the manual of GCTA, options --make-grm and --make-bK-sparse.
#include "core/formats/genotype/grm_files.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>

#include "core/exec/errors.h"
#include "core/io/little_endian.h"
#include "core/io/number_parser.h"
#include "core/io/text.h"

namespace ancify {

namespace {

constexpr std::int64_t kFloat = 4;

float float_at(const unsigned char* bytes) {
  const auto bits = little_endian<std::uint32_t>(bytes);
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

}  // namespace

GrmTriangle::GrmTriangle(const std::string& path, std::int64_t samples)
    : file_(path), samples_(samples) {
  const std::int64_t right = kFloat * (samples * (samples + 1) / 2);
  if (file_.size() == right) return;
  throw FormatError(path, 0,
                    "the file has " + std::to_string(file_.size()) + " bytes, but the " +
                        std::to_string(samples) + " samples of its .grm.id make " +
                        std::to_string(right) +
                        ". Is it whole, and does this .grm.id belong to it?");
}

template <class Take>
void GrmTriangle::for_each_row_of(const TextColumn& ids, const TaskContext& context,
                                  Take take) const {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(kFloat * samples_));
  std::vector<double> values(static_cast<std::size_t>(samples_));
  for (std::int64_t row = 0; row < samples_; ++row) {
    context.throw_if_stopped();
    const auto n = static_cast<std::size_t>(row + 1);
    file_.read_at(reinterpret_cast<char*>(bytes.data()), n * kFloat,
                  kFloat * (row * (row + 1) / 2));
    for (std::size_t i = 0; i < n; ++i) {
      values[i] = float_at(&bytes[i * kFloat]);
      if (std::isfinite(values[i])) continue;
      throw FormatError(file_.path(), 0,
                        "the value of the samples " + excerpt(ids[n - 1]) + " and " +
                            excerpt(ids[i]) + " is not finite. Have they no variant in common?");
    }
    take(row, values.data());
  }
  file_.check_unchanged();
}

void GrmTriangle::read(const TextColumn& ids, const TaskContext& context, double* matrix) const {
  for_each_row_of(ids, context, [&](std::int64_t row, const double* values) {
    std::copy(values, values + row + 1, matrix + row * samples_);
    for (std::int64_t i = 0; i < row; ++i) matrix[i * samples_ + row] = values[i];
  });
}

std::pair<double, double> GrmTriangle::range(const TextColumn& ids,
                                             const TaskContext& context) const {
  std::pair<double, double> range = {std::numeric_limits<double>::infinity(),
                                     -std::numeric_limits<double>::infinity()};
  for_each_row_of(ids, context, [&](std::int64_t row, const double* values) {
    const auto [least, most] = std::minmax_element(values, values + row + 1);
    range = {std::min(range.first, *least), std::max(range.second, *most)};
  });
  return range;
}

namespace {

// Entries as they stand in a file, and their lines.
class SparseReader {
 public:
  SparseReader(const std::string& path, std::int64_t samples) : path_(path), samples_(samples) {}

  void add(const Fields& fields, std::int64_t line) {
    if (fields.size() != 3) {
      throw FormatError(path_, line,
                        "this line has " + count_of(fields.size(), "column") +
                            ", not 3: the indices of two samples, and a value");
    }
    const std::int32_t one = sample(fields[0], line);
    const std::int32_t other = sample(fields[1], line);
    const auto value = parse_(fields[2]);
    if (!value) throw FormatError(path_, line, excerpt(fields[2]) + " is not a finite number");
    entries_.row.push_back(std::max(one, other));
    entries_.column.push_back(std::min(one, other));
    entries_.value.push_back(*value);
    lines_.push_back(line);
  }

  SparseTriangle sorted() const {
    std::vector<std::size_t> order(lines_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto key = [&](std::size_t i) { return std::pair(entries_.column[i], entries_.row[i]); };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    SparseTriangle sorted;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t at = order[i];
      if (i > 0 && key(order[i - 1]) == key(at)) {
        throw FormatError(
            path_, lines_[at],
            "this pair of samples is also in line " + std::to_string(lines_[order[i - 1]]));
      }
      sorted.row.push_back(entries_.row[at]);
      sorted.column.push_back(entries_.column[at]);
      sorted.value.push_back(entries_.value[at]);
    }
    return sorted;
  }

 private:
  std::int32_t sample(std::string_view text, std::int64_t line) const {
    const auto index = parse_whole_number(text);
    if (index && *index < samples_) return static_cast<std::int32_t>(*index);
    throw FormatError(path_, line,
                      excerpt(text) + " is not an index of a sample, from 0 to " +
                          std::to_string(samples_ - 1) + ". Does this .grm.id belong to it?");
  }

  const std::string& path_;
  std::int64_t samples_;
  NumberParser parse_;
  SparseTriangle entries_;
  std::vector<std::int64_t> lines_;
};

}  // namespace

SparseTriangle read_sparse_grm(const std::string& path, std::int64_t samples,
                               const TaskContext& context) {
  SparseReader reader(path, samples);
  for_each_row(path, context,
               [&](const Fields& fields, std::int64_t line) { reader.add(fields, line); });
  return reader.sorted();
}

}  // namespace ancify
