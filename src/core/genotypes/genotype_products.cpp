// Computes, with the rounded columns V and coefficients W = diag(scales) U,
//   t_j = scale_j (sum_i c_ij V_i - 3 m_j - mu_j (sum_i V_i - m_j)),  m_j = sum of V over missing,
//   out_i += sum_j c_ij W_j - sum_j mu_j W_j - sum_{j missing} (3 - mu_j) W_j,
// where c is 0, 1, 2, or 3 for a missing call. For a listed variant, all samples count with its
// modal call, and non-modal ones add differences. Dosages are integers c too, with means and scales
// in their steps; a missing one is stored as 0, and listed as a call that adds 3. Integer sums are
// exact, so their order is free; all others have a fixed order.
#include "core/genotypes/genotype_products.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/genotypes/block_sums.h"
#include "core/genotypes/device_products.h"
#include "core/genotypes/fixed_point.h"
#include "core/genotypes/stored_block.h"

namespace ancify {

namespace {

// Samples of a task of the second half.
constexpr std::int64_t kChunkSamples = 512;

// With at most this many columns, a thread computes both halves of a block while it is cached.
constexpr std::int64_t kFewColumns = 4;
// The most sums that may wait for an earlier block: 16 MB.
constexpr std::int64_t kSumsAtOnce = std::int64_t{1} << 21;

// Calls use(variant of the quad, i) for the missing calls of n bytes, a multiple of 8.
template <class Use>
void for_each_missing(const std::uint8_t* row, std::int64_t n, Use&& use) {
  constexpr std::uint64_t low_bits = 0x5555555555555555;
  for (std::int64_t i = 0; i < n; i += 8) {
    std::uint64_t calls;
    std::memcpy(&calls, row + i, sizeof calls);
    for (std::uint64_t both = calls & calls >> 1 & low_bits; both != 0; both &= both - 1) {
      const int bit = __builtin_ctzll(both);
      use(bit % 8 / 2, i + bit / 8);
    }
  }
}

// True if a block's missing calls are best added one by one, rather than summed as calls. Measured:
// adding takes some 10 + columns / 3 ns per missing call, summing 2 ns per sample and column.
bool are_few(std::int64_t missing, std::int64_t samples, std::int64_t columns) {
  return missing * (30 + columns) < 6 * samples * columns;
}

// Integer columns: the coarse ones, then, at 56 bits, as many fine ones.
struct Columns {
  std::int64_t n;      // columns of the caller
  std::int64_t parts;  // 1 or 2
  std::int64_t all() const { return n * parts; }
};

// Writes the digits of eight numbers in the devices' layout.
void write_eight(const std::array<std::int32_t, kEight>& numbers, std::int8_t* out) {
  std::array<std::int8_t, kEight * kNumberDigits> digits;
  for (int d = 0; d < kNumberDigits; ++d) {
    for (std::size_t i = 0; i < kEight; ++i) {
      digits[digit_at(i, static_cast<std::size_t>(d))] = digit(numbers[i], d);
    }
  }
  std::copy(digits.begin(), digits.end(), out);
}

// A column of V as integers: its coarse or fine part.
struct FixedColumn {
  const double* values;
  FixedSteps steps;
  bool is_fine;

  std::int32_t operator[](std::int64_t i) const {
    const std::int32_t coarse = steps.coarse_part(values[i]);
    return is_fine ? steps.fine_part(values[i], coarse) : coarse;
  }
};

// V as integers. V must outlive this.
class FixedColumns {
 public:
  FixedColumns(const double* v, std::int64_t n, Columns columns, int threads, JobControl& control);
  // Keeps the numbers and their digits, in the CPU's layout: for calls, dosages or both.
  void keep(bool calls, bool dosages, int threads, JobControl& control);
  // Writes the digits of a column in the devices' layout, for samples [first, first + n).
  void write_digits(std::int64_t column, std::int64_t first, std::int64_t n,
                    std::int8_t* out) const {
    const FixedColumn numbers = this->column(column);
    const auto there = static_cast<std::size_t>(n);
    for (std::size_t k = 0; k < static_cast<std::size_t>(quad_stride(n)); k += kEight) {
      std::array<std::int32_t, kEight> eight{};
      for (std::size_t i = k; i < std::min(k + kEight, there); ++i) {
        eight[i - k] = numbers[first + static_cast<std::int64_t>(i)];
      }
      write_eight(eight, out + digit_at(k, 0));
    }
  }
  std::int64_t all() const { return columns_.all(); }
  // The kept numbers of a sample, in a row.
  const std::int32_t* row(std::int64_t sample) const { return &numbers_[index(sample * all())]; }
  const std::int8_t* digits(std::int64_t tile, std::int64_t column) const {
    return &digits_[index((tile * all() + column) * kNumberDigits * kTileSamples)];
  }
  const std::int16_t* wide_digits(std::int64_t tile, std::int64_t column) const {
    return &wide_digits_[index((tile * all() + column) * kWideDigits * kTileSamples)];
  }
  double step(std::int64_t column) const {
    return column < columns_.n ? steps_[index(column)].coarse
                               : steps_[index(column - columns_.n)].fine;
  }
  std::int64_t sum(std::int64_t column) const { return sums_[index(column)]; }
  // All columns are 0 at the samples before this one.
  std::int64_t first_sample() const {
    return firsts_.empty() ? 0 : *std::min_element(firsts_.begin(), firsts_.end());
  }

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  FixedColumn column(std::int64_t column) const {
    const std::int64_t c = column % columns_.n;
    return {v_ + c * n_, steps_[index(c)], column >= columns_.n};
  }

  const double* v_;
  std::int64_t n_;
  Columns columns_;
  std::vector<FixedSteps> steps_;  // of each given column
  std::vector<std::int64_t> sums_;
  std::vector<std::int64_t> firsts_;  // the first nonzero sample of each given column
  std::vector<std::int32_t> numbers_;
  std::vector<std::int8_t> digits_;
  std::vector<std::int16_t> wide_digits_;
};

FixedColumns::FixedColumns(const double* v, std::int64_t n, Columns columns, int threads,
                           JobControl& control)
    : v_(v),
      n_(n),
      columns_(columns),
      steps_(index(columns.n), FixedSteps(0)),
      sums_(index(columns.all())),
      firsts_(index(columns.n)) {
  run_tasks(control, threads, columns.n, [&](std::int64_t c, const TaskContext&) {
    const double* const values = v + c * n;
    double most = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      if (!std::isfinite(values[i])) {
        throw InputError("a column to multiply with has a number that is not finite");
      }
      most = std::max(most, std::abs(values[i]));
    }
    firsts_[index(c)] = std::find_if(values, values + n, [](double x) { return x != 0; }) - values;
    steps_[index(c)] = FixedSteps(most);
    for (std::int64_t of = c; of < all(); of += columns_.n) {
      const FixedColumn numbers = column(of);
      std::int64_t sum = 0;
      for (std::int64_t i = 0; i < n; ++i) sum += numbers[i];
      sums_[index(of)] = sum;
    }
  });
}

void FixedColumns::keep(bool calls, bool dosages, int threads, JobControl& control) {
  const std::int64_t tiles = (n_ + kTileSamples - 1) / kTileSamples;
  numbers_.resize(index(n_ * all()));
  if (calls) digits_.resize(index(tiles * all() * kNumberDigits * kTileSamples));
  if (dosages) wide_digits_.resize(index(tiles * all() * kWideDigits * kTileSamples));
  run_tasks(control, threads, tiles, [&](std::int64_t tile, const TaskContext&) {
    const std::int64_t first = tile * kTileSamples;
    const std::int64_t here = std::min(kTileSamples, n_ - first);
    for (std::int64_t c = 0; c < all(); ++c) {
      const FixedColumn numbers = column(c);
      const std::int64_t at = (tile * all() + c) * kTileSamples;
      std::int8_t* const out = calls ? &digits_[index(at * kNumberDigits)] : nullptr;
      std::int16_t* const wide = dosages ? &wide_digits_[index(at * kWideDigits)] : nullptr;
      for (std::int64_t i = 0; i < here; ++i) {
        const std::int32_t number = numbers[first + i];
        numbers_[index((first + i) * all() + c)] = number;
        for (int d = 0; calls && d < kNumberDigits; ++d) {
          out[d * kTileSamples + i] = digit(number, d);
        }
        for (int d = 0; dosages && d < kWideDigits; ++d) {
          wide[d * kTileSamples + i] = wide_digit(number, d);
        }
      }
    }
  });
}

// Coefficients of a block's variants as integers.
class FixedCoefficients {
 public:
  // `most`: the largest magnitude of each of columns.n columns.
  FixedCoefficients(const std::vector<double>& most, std::int64_t variants, Columns columns)
      : columns_(columns),
        variants_(variants),
        numbers_(static_cast<std::size_t>(variants * columns.all())),
        steps_(most.begin(), most.end()) {}

  void set(std::int64_t variant, std::int64_t column, double value) {
    const FixedSteps& steps = steps_[static_cast<std::size_t>(column)];
    const std::int32_t coarse = steps.coarse_part(value);
    numbers_[static_cast<std::size_t>(variant * columns_.all() + column)] = coarse;
    if (columns_.parts == 2) {
      numbers_[static_cast<std::size_t>(variant * columns_.all() + columns_.n + column)] =
          steps.fine_part(value, coarse);
    }
  }
  // Makes the digits of packed variants or of dosages, in the CPU's layout.
  void split(const BlockLayout& layout) {
    if (layout.dosed > 0) return split_wide();
    quads_ = layout.quads();
    digits_.resize(static_cast<std::size_t>(columns_.all() * quads_ * kQuad * kNumberDigits));
    for (std::size_t slot = 0; slot < layout.packed.size(); ++slot) {
      const double* const numbers = row(layout.packed[slot]);
      for (std::int64_t c = 0; c < columns_.all(); ++c) {
        std::int8_t* const out =
            &digits_[digits_at(c) + slot / kQuad * kQuad * kNumberDigits + slot % kQuad];
        for (std::int64_t d = 0; d < kNumberDigits; ++d) {
          out[d * kQuad] = digit(static_cast<std::int32_t>(numbers[c]), static_cast<int>(d));
        }
      }
    }
  }
  // Writes the digits of all variants in the devices' layout, column by column.
  void write_digits(std::int8_t* out) const {
    if (columns_.all() == 0) return;  // then `out` has no space for them
    const std::vector<double> zeros(static_cast<std::size_t>(columns_.all()));
    for (std::size_t place = 0; place < kBlockVariants; place += kEight) {
      std::array<const double*, kEight> rows{};
      for (std::size_t i = 0; i < kEight; ++i) {
        const auto variant = static_cast<std::int64_t>(variant_at(place + i));
        rows[i] = variant < variants_ ? row(variant) : zeros.data();
      }
      std::int8_t* to = out + digit_at(place, 0);
      for (std::size_t c = 0; c < zeros.size(); ++c, to += kBlockDigits) {
        std::array<std::int32_t, kEight> eight;
        for (std::size_t i = 0; i < kEight; ++i) eight[i] = static_cast<std::int32_t>(rows[i][c]);
        write_eight(eight, to);
      }
    }
  }
  const std::int8_t* digits(std::int64_t column) const {
    return digits_.data() + digits_at(column);
  }
  const std::int16_t* wide_digits(std::int64_t column) const {
    return wide_digits_.data() + column * pairs() * 2 * kWideDigits;
  }
  std::int64_t pairs() const { return dosage_pairs(variants_); }
  double step(std::int64_t column) const {
    const FixedSteps& steps = steps_[static_cast<std::size_t>(column % columns_.n)];
    return column < columns_.n ? steps.coarse : steps.fine;
  }
  // The numbers of a variant, in a row.
  const double* row(std::int64_t variant) const {
    return numbers_.data() + variant * columns_.all();
  }

 private:
  void split_wide() {
    wide_digits_.resize(static_cast<std::size_t>(columns_.all() * pairs() * 2 * kWideDigits));
    for (std::int64_t v = 0; v < variants_; ++v) {
      for (std::int64_t c = 0; c < columns_.all(); ++c) {
        std::int16_t* const out =
            &wide_digits_[static_cast<std::size_t>((c * pairs() + v / 2) * 2 * kWideDigits)];
        for (int d = 0; d < kWideDigits; ++d) {
          out[std::int64_t{2} * d + v % 2] = wide_digit(static_cast<std::int32_t>(row(v)[c]), d);
        }
      }
    }
  }
  std::size_t digits_at(std::int64_t column) const {
    return static_cast<std::size_t>(column * quads_ * kQuad * kNumberDigits);
  }

  Columns columns_;
  std::int64_t variants_;
  std::int64_t quads_ = 0;  // packed
  std::vector<std::int8_t> digits_;
  std::vector<std::int16_t> wide_digits_;
  std::vector<double> numbers_;
  std::vector<FixedSteps> steps_;
};

// A block's input to the second half.
struct BlockCoefficients {
  FixedCoefficients calls;      // W_j
  FixedCoefficients missing;    // (3 - mu_j) W_j; without variants if no call is missing
  std::vector<double> centres;  // sum_j mu_j W_j in steps of W, by integer column
  // Contributions of listed variants' modal calls: c_j W_j, and (3 - mu_j) W_j if it is missing.
  std::vector<double> modal_calls;
  std::vector<double> modal_missing;
};

// `u`: variants x columns.n.
BlockCoefficients block_coefficients(const double* u, const double* means, const double* scales,
                                     const BlockLayout& layout, Columns columns) {
  const std::int64_t variants = layout.variants();
  const bool any_missing = layout.any_missing();
  std::vector<double> most(static_cast<std::size_t>(columns.n));
  std::vector<double> most_missing(most.size());
  for (std::int64_t j = 0; j < variants; ++j) {
    for (std::int64_t c = 0; c < columns.n; ++c) {
      const double w = std::abs(scales[j] * u[j * columns.n + c]);
      const auto at = static_cast<std::size_t>(c);
      most[at] = std::max(most[at], w);
      if (any_missing) most_missing[at] = std::max(most_missing[at], std::abs(3 - means[j]) * w);
    }
  }
  const std::vector<double> zeros(static_cast<std::size_t>(columns.all()));
  BlockCoefficients result = {FixedCoefficients(most, variants, columns),
                              FixedCoefficients(most_missing, any_missing ? variants : 0, columns),
                              zeros, zeros, zeros};
  for (std::int64_t j = 0; j < variants; ++j) {
    for (std::int64_t c = 0; c < columns.n; ++c) {
      const double w = scales[j] * u[j * columns.n + c];
      result.calls.set(j, c, w);
      if (any_missing) result.missing.set(j, c, (3 - means[j]) * w);
    }
    for (std::int64_t c = 0; c < columns.all(); ++c) {
      result.centres[static_cast<std::size_t>(c)] += means[j] * result.calls.row(j)[c];
    }
  }
  for (const std::uint8_t j : layout.listed) {
    const unsigned modal = layout.modal[j];
    for (std::size_t c = 0; c < zeros.size(); ++c) {
      result.modal_calls[c] += modal * result.calls.row(j)[c];
      if (modal == kMissingCall) result.modal_missing[c] += result.missing.row(j)[c];
    }
  }
  return result;
}

// Writes coefficients of a block in the devices' layout.
void write_numbers(const BlockCoefficients& coefficients, bool any_missing, std::int64_t columns,
                   const BlockNumbers& to) {
  for (std::int64_t c = 0; c < columns; ++c) {
    to.of_genotypes.scales[c] = {coefficients.calls.step(c),
                                 coefficients.centres[static_cast<std::size_t>(c)]};
  }
  coefficients.calls.write_digits(to.of_genotypes.digits);
  if (!any_missing) return;
  for (std::int64_t c = 0; c < columns; ++c) {
    to.of_missing.scales[c] = {-coefficients.missing.step(c), 0};
  }
  coefficients.missing.write_digits(to.of_missing.digits);
}

// t = Z'V of a block, from the sums of each variant and integer column over calls and over missing
// calls. `of_missing` is null if no call is missing.
void products_of_sums(const FixedColumns& columns, std::int64_t n, std::int64_t variants,
                      const double* means, const double* scales, const std::int64_t* of_calls,
                      const std::int64_t* of_missing, double* t) {
  for (std::int64_t j = 0; j < variants; ++j) {
    for (std::int64_t c = 0; c < n; ++c) {
      double sum = 0;
      for (std::int64_t part = c; part < columns.all(); part += n) {
        const std::int64_t at = j * columns.all() + part;
        const std::int64_t missing = of_missing != nullptr ? of_missing[at] : 0;
        sum += columns.step(part) * (static_cast<double>(of_calls[at] - 3 * missing) -
                                     means[j] * static_cast<double>(columns.sum(part) - missing));
      }
      t[j * n + c] = scales[j] * sum;
    }
  }
}

// The first half of a block: t = Z'V.
class FirstHalf {
 public:
  FirstHalf(const FixedColumns& columns, std::int64_t n, std::int64_t samples, SimdLevel simd)
      : columns_(columns),
        n_(n),
        samples_(samples),
        simd_(simd),
        block_sums_(block_sums_of(simd)) {}

  void compute(const StoredBlock& block, const double* means, const double* scales,
               double* t) const {
    const std::int64_t variants = block.layout->variants();
    // Sums by variant and integer column, over calls and over missing calls.
    std::vector<std::int64_t> of_calls(static_cast<std::size_t>(variants * columns_.all()));
    std::vector<std::int64_t> of_missing(of_calls.size());
    if (block.layout->dosed > 0) {
      sum_dosages(block, of_calls.data());
    } else {
      sum_packed(block, of_calls.data(), of_missing.data());
    }
    if (block.layout->any_listed()) sum_listed(block, of_calls.data(), of_missing.data());
    products_of_sums(columns_, n_, variants, means, scales, of_calls.data(), of_missing.data(), t);
  }

 private:
  void sum_packed(const StoredBlock& block, std::int64_t* of_calls,
                  std::int64_t* of_missing) const {
    const BlockLayout& layout = *block.layout;
    const std::int64_t quads = layout.quads();
    const std::int64_t missing = layout.missing_packed;
    take_variants(sums_of_rows(block.rows, quads), layout, of_calls);
    if (missing == 0) return;
    take_variants(are_few(missing, samples_, columns_.all()) ? sums_one_by_one(block.rows, quads)
                                                             : sums_of_marks(block.rows, quads),
                  layout, of_missing);
  }

  // A few rows of dosages stay in the nearest cache for all columns.
  void sum_dosages(const StoredBlock& block, std::int64_t* sums) const {
    const std::int64_t stride = quad_stride(samples_);
    const std::int64_t first = columns_.first_sample() / kLaneSamples * kLaneSamples;
    const std::int64_t narrow = narrow_pairs(block.layout->largest_unit);
    const std::int64_t last = block.layout->dosed - 1;
    for (std::int64_t tile = first / kDosageSamples * kDosageSamples; tile < samples_;
         tile += kDosageSamples) {
      const std::int64_t begin = std::max(tile, first);
      const std::int64_t n = std::min(tile + kDosageSamples, stride) - begin;
      for (std::int64_t v = 0; v <= last; v += kDosageRows) {
        std::array<const Dosage*, kDosageRows> rows;
        for (std::int64_t k = 0; k < kDosageRows; ++k) {
          rows[static_cast<std::size_t>(k)] =
              block.dosages + std::min(v + k, last) * stride + begin;
        }
        for (std::int64_t c = 0; c < columns_.all(); ++c) {
          const std::int16_t* const digits =
              columns_.wide_digits(begin / kTileSamples, c) + begin % kTileSamples;
          std::int64_t of_rows[kDosageRows][kWideDigits] = {};
          block_sums_.dosages_over_samples(rows.data(), digits, n, narrow, of_rows);
          for (std::int64_t k = 0; k < std::min(kDosageRows, last + 1 - v); ++k) {
            sums[(v + k) * columns_.all() + c] += of_rows[k][0] + kWideBase * of_rows[k][1];
          }
        }
      }
    }
  }

  void sum_listed(const StoredBlock& block, std::int64_t* of_calls,
                  std::int64_t* of_missing) const {
    for (const std::uint8_t j : block.layout->listed) {
      const unsigned modal = block.layout->modal[j];
      for (std::int64_t c = 0; c < columns_.all(); ++c) {
        of_calls[j * columns_.all() + c] = modal * columns_.sum(c);
        if (modal == kMissingCall) of_missing[j * columns_.all() + c] = columns_.sum(c);
      }
    }
    sum_non_modal_over_samples(block, columns_.first_sample() / kLaneSamples, columns_.row(0),
                               columns_.all(), simd_, of_calls, of_missing);
  }

  // By quad and integer column.
  using Sums = std::vector<std::array<std::int64_t, kQuad>>;

  // Copies the sums of packed variants to their rows.
  void take_variants(const Sums& sums, const BlockLayout& layout, std::int64_t* out) const {
    for (std::size_t slot = 0; slot < layout.packed.size(); ++slot) {
      const auto* const of_quad = &sums[slot / kQuad * static_cast<std::size_t>(columns_.all())];
      for (std::int64_t c = 0; c < columns_.all(); ++c) {
        out[layout.packed[slot] * columns_.all() + c] = of_quad[c][slot % kQuad];
      }
    }
  }

  Sums no_sums(std::int64_t quads) const {
    return Sums(static_cast<std::size_t>(quads * columns_.all()));
  }

  Sums sums_of_rows(const std::uint8_t* rows, std::int64_t quads) const {
    const std::int64_t stride = quad_stride(samples_);
    Sums sums = no_sums(quads);
    // Samples are summed by lanes.
    const std::int64_t first = columns_.first_sample() / kLaneSamples * kLaneSamples;
    for (std::int64_t tile = first / kTileSamples * kTileSamples; tile < samples_;
         tile += kTileSamples) {
      const std::int64_t begin = std::max(tile, first);
      const std::int64_t n = std::min(tile + kTileSamples, stride) - begin;
      for (std::int64_t c = 0; c < columns_.all(); ++c) {
        const std::int8_t* const digits = columns_.digits(tile / kTileSamples, c) + (begin - tile);
        for (std::int64_t quad = 0; quad < quads; ++quad) {
          // The first column brings the genotypes into the caches for all others.
          block_sums_.over_samples(
              rows + quad * stride + begin, c == 0 ? stride : 0, digits, n,
              sums[static_cast<std::size_t>(quad * columns_.all() + c)].data());
        }
      }
    }
    return sums;
  }

  Sums sums_of_marks(const std::uint8_t* rows, std::int64_t quads) const {
    const std::int64_t stride = quad_stride(samples_);
    std::vector<std::uint8_t> marks(static_cast<std::size_t>(quads * stride));
    mark_missing(rows, quads * stride, marks.data());
    return sums_of_rows(marks.data(), quads);
  }

  Sums sums_one_by_one(const std::uint8_t* rows, std::int64_t quads) const {
    const std::int64_t stride = quad_stride(samples_);
    Sums sums = no_sums(quads);
    std::vector<std::int64_t> of_variants(static_cast<std::size_t>(kQuad * columns_.all()));
    for (std::int64_t quad = 0; quad < quads; ++quad) {
      std::fill(of_variants.begin(), of_variants.end(), 0);
      for_each_missing(rows + quad * stride, stride, [&](int v, std::int64_t i) {
        const std::int32_t* const numbers = columns_.row(i);
        std::int64_t* const of_variant = &of_variants[static_cast<std::size_t>(v * columns_.all())];
        for (std::int64_t c = 0; c < columns_.all(); ++c) of_variant[c] += numbers[c];
      });
      for (std::int64_t c = 0; c < columns_.all(); ++c) {
        for (std::int64_t v = 0; v < kQuad; ++v) {
          sums[static_cast<std::size_t>(quad * columns_.all() + c)][static_cast<std::size_t>(v)] =
              of_variants[static_cast<std::size_t>(v * columns_.all() + c)];
        }
      }
    }
    return sums;
  }

  const FixedColumns& columns_;
  std::int64_t n_;
  std::int64_t samples_;
  SimdLevel simd_;
  const BlockSums& block_sums_;
};

// The second half of a block for kLaneSamples samples: out += Z U.
class SecondHalf {
 public:
  SecondHalf(Columns columns, std::int64_t samples, SimdLevel simd)
      : columns_(columns), samples_(samples), simd_(simd), block_sums_(block_sums_of(simd)) {}

  // Adds the products of a lane's samples. `out` begins at the lane's first sample; its columns
  // have all samples.
  void add(const StoredBlock& block, std::int64_t lane, const BlockCoefficients& coefficients,
           double* out) {
    const BlockLayout& layout = *block.layout;
    const std::int64_t packed_missing = layout.missing_packed;
    const bool few = are_few(packed_missing, samples_, columns_.all());
    const bool any_missing = packed_missing + layout.missing_listed > 0;
    const std::uint8_t* const rows = block.rows + lane * kLaneSamples;
    const std::int64_t stride = quad_stride(samples_);
    if (layout.dosed > 0) {
      block_sums_.expand_dosages(block.dosages + lane * kLaneSamples, stride, layout.dosed,
                                 dosages_.data());
    } else {
      block_sums_.expand_calls(rows, stride, layout.quads(), calls_.data());
    }
    if (any_missing) start_sums(of_missing_, coefficients.modal_missing);
    if (packed_missing > 0 && few) sum_one_by_one(rows, layout, coefficients.missing);
    if (packed_missing > 0 && !few) {
      for (std::size_t i = 0; i < calls_.size(); ++i) {
        marks_[i] = static_cast<std::uint8_t>(calls_[i] & calls_[i] >> 1);
      }
    }
    if (layout.any_listed()) {
      start_sums(of_listed_, coefficients.modal_calls);
      sum_non_modal_over_variants(block, lane, coefficients.calls.row(0),
                                  coefficients.missing.row(0), columns_.all(), simd_,
                                  of_listed_.data(), of_missing_.data());
    }
    const std::int64_t n = std::min(kLaneSamples, samples_ - lane * kLaneSamples);
    for (std::int64_t c = 0; c < columns_.n; ++c) {
      std::array<double, kLaneSamples> of_block{};
      for (std::int64_t part = c; part < columns_.all(); part += columns_.n) {
        sum_block(layout, coefficients.calls, part);
        if (layout.any_listed()) add_column(of_listed_, part);
        const double step = coefficients.calls.step(part);
        const double centre = coefficients.centres[static_cast<std::size_t>(part)];
        for (std::size_t i = 0; i < kLaneSamples; ++i) of_block[i] += step * (sums_[i] - centre);
        if (!any_missing) continue;
        sums_.fill(0);
        if (packed_missing > 0 && !few) {
          block_sums_.over_variants(marks_.data(), coefficients.missing.digits(part),
                                    layout.quads(), sums_.data());
        }
        add_column(of_missing_, part);
        const double missing_step = coefficients.missing.step(part);
        for (std::size_t i = 0; i < kLaneSamples; ++i) of_block[i] -= missing_step * sums_[i];
      }
      double* const column = out + c * samples_;
      for (std::int64_t i = 0; i < n; ++i) column[i] += of_block[static_cast<std::size_t>(i)];
    }
  }

 private:
  // The sums of a lane's packed calls or dosages.
  void sum_block(const BlockLayout& layout, const FixedCoefficients& coefficients,
                 std::int64_t column) {
    if (layout.dosed > 0) {
      block_sums_.dosages_over_variants(dosages_.data(), coefficients.wide_digits(column),
                                        coefficients.pairs(), narrow_pairs(layout.largest_unit),
                                        sums_.data());
    } else {
      block_sums_.over_variants(calls_.data(), coefficients.digits(column), layout.quads(),
                                sums_.data());
    }
  }

  // Starts each sample's sums from a common row.
  static void start_sums(std::vector<double>& sums, const std::vector<double>& row) {
    sums.clear();
    for (std::int64_t i = 0; i < kLaneSamples; ++i) sums.insert(sums.end(), row.begin(), row.end());
  }

  void add_column(const std::vector<double>& sums, std::int64_t column) {
    for (std::size_t i = 0; i < kLaneSamples; ++i) {
      sums_[i] +=
          sums[i * static_cast<std::size_t>(columns_.all()) + static_cast<std::size_t>(column)];
    }
  }

  void sum_one_by_one(const std::uint8_t* rows, const BlockLayout& layout,
                      const FixedCoefficients& coefficients) {
    for (std::int64_t quad = 0; quad < layout.quads(); ++quad) {
      for_each_missing(
          rows + quad * quad_stride(samples_), kLaneSamples, [&](int v, std::int64_t i) {
            const std::uint8_t variant = layout.packed[static_cast<std::size_t>(quad * kQuad + v)];
            const double* const of_variant = coefficients.row(variant);
            double* const sums = &of_missing_[static_cast<std::size_t>(i * columns_.all())];
            for (std::int64_t c = 0; c < columns_.all(); ++c) sums[c] += of_variant[c];
          });
    }
  }

  alignas(64) std::array<std::uint8_t, kExpandedCalls> calls_;
  alignas(64) std::array<std::uint8_t, kExpandedCalls> marks_;
  alignas(64) std::array<Dosage, kExpandedDosages> dosages_;
  std::array<double, kLaneSamples> sums_;
  Columns columns_;
  std::int64_t samples_;
  // By sample and column.
  std::vector<double> of_listed_;
  std::vector<double> of_missing_;
  SimdLevel simd_;
  const BlockSums& block_sums_;
};

// Adds the sums of blocks in block order, whichever thread finishes first.
class SumsInOrder {
 public:
  SumsInOrder(std::int64_t blocks, double* out)
      : sums_(static_cast<std::size_t>(blocks)), out_(out) {}

  void add(std::int64_t block, std::vector<double> sums) {
    std::unique_lock<std::mutex> lock(mutex_);
    sums_[static_cast<std::size_t>(block)] = std::move(sums);
    if (is_adding_) return;  // the adding thread takes these too
    is_adding_ = true;
    for (; next_ < sums_.size() && sums_[next_]; ++next_) {
      const std::vector<double> now = std::move(*sums_[next_]);
      lock.unlock();
      for (std::size_t k = 0; k < now.size(); ++k) out_[k] += now[k];
      lock.lock();
    }
    is_adding_ = false;
  }

 private:
  std::mutex mutex_;
  std::vector<std::optional<std::vector<double>>> sums_;
  std::size_t next_ = 0;
  bool is_adding_ = false;
  double* out_;
};

}  // namespace

void GenotypeProducts::run(JobControl& control, const Pass& pass, const Take& take) const {
  if (matrix_.work().devices != nullptr) matrix_.read(control);
  if (matrix_.on_devices() != nullptr) {
    return run_on_devices(control, pass, take, *matrix_.on_devices());
  }
  const GenotypeWork& work = matrix_.work();
  const std::int64_t parts = pass.bits == ProductBits::k56 ? 2 : 1;
  const std::int64_t n = matrix_.samples();
  FixedColumns columns(pass.v, n, {pass.columns, parts}, work.threads, control);
  columns.keep(matrix_.any_calls(), matrix_.any_dosages(), work.threads, control);
  const Columns out_columns = {pass.out_columns, parts};
  const auto first_half = [&](const GenotypeBlock& block) {
    const double* const means = &stored_means_[static_cast<std::size_t>(block.first_variant())];
    const double* const scales = &stored_scales_[static_cast<std::size_t>(block.first_variant())];
    const auto variants = static_cast<std::size_t>(block.variants());
    std::vector<double> t(variants * static_cast<std::size_t>(pass.columns));
    std::vector<double> u(variants * static_cast<std::size_t>(pass.out_columns));
    if (pass.columns > 0) {
      FirstHalf(columns, pass.columns, n, work.simd)
          .compute(block.stored(), means, scales, t.data());
    }
    take(block, t.data(), u.data());
    const BlockLayout& layout = *block.stored().layout;
    BlockCoefficients result = block_coefficients(u.data(), means, scales, layout, out_columns);
    result.calls.split(layout);
    if (layout.missing_packed > 0) result.missing.split(layout);
    return result;
  };
  const auto second_half = [&](const GenotypeBlock& block, const BlockCoefficients& coefficients,
                               std::int64_t begin, std::int64_t end, double* out) {
    SecondHalf half(out_columns, n, work.simd);
    for (std::int64_t lane = begin / kLaneSamples; lane < lanes_of(end); ++lane) {
      half.add(block.stored(), lane, coefficients, out + lane * kLaneSamples);
    }
  };
  const auto block_of = [&](const StoredTile& tile, std::int64_t i) {
    return GenotypeBlock(tile.first_block + i, tile.blocks[static_cast<std::size_t>(i)]);
  };

  if (pass.out_columns <= kFewColumns) {
    const std::int64_t size = n * pass.out_columns;
    const std::int64_t at_once = kSumsAtOnce / std::max<std::int64_t>(size, 1);
    for_each_stored_tile(
        control, pass.wanted,
        [&](const StoredTile& tile) {
          const auto blocks = static_cast<std::int64_t>(tile.blocks.size());
          SumsInOrder sums(blocks, pass.out);
          run_tasks(control, work.threads, blocks, [&](std::int64_t i, const TaskContext&) {
            const GenotypeBlock block = block_of(tile, i);
            const BlockCoefficients coefficients = first_half(block);
            std::vector<double> of_block(static_cast<std::size_t>(size));
            if (size > 0) second_half(block, coefficients, 0, n, of_block.data());
            sums.add(i, std::move(of_block));
          });
        },
        at_once);
    return;
  }
  for_each_stored_tile(control, pass.wanted, [&](const StoredTile& tile) {
    const auto blocks = static_cast<std::int64_t>(tile.blocks.size());
    std::vector<std::optional<BlockCoefficients>> coefficients(tile.blocks.size());
    run_tasks(control, work.threads, blocks, [&](std::int64_t i, const TaskContext&) {
      coefficients[static_cast<std::size_t>(i)] = first_half(block_of(tile, i));
    });
    const std::int64_t chunks = (n + kChunkSamples - 1) / kChunkSamples;
    run_tasks(control, work.threads, chunks, [&](std::int64_t chunk, const TaskContext&) {
      const std::int64_t begin = chunk * kChunkSamples;
      for (std::int64_t i = 0; i < blocks; ++i) {
        second_half(block_of(tile, i), *coefficients[static_cast<std::size_t>(i)], begin,
                    std::min(n, begin + kChunkSamples), pass.out);
      }
    });
  });
}

// The devices compute integer sums, and add blocks in order. The host converts the sums with the
// functions of the CPU path.
void GenotypeProducts::run_on_devices(JobControl& control, const Pass& pass, const Take& take,
                                      DeviceGenotypes& genotypes) const {
  const int threads = matrix_.work().threads;
  const std::int64_t parts = pass.bits == ProductBits::k56 ? 2 : 1;
  const FixedColumns columns(pass.v, matrix_.samples(), {pass.columns, parts}, threads, control);
  const Columns out_columns = {pass.out_columns, parts};
  DeviceColumns on_devices;
  on_devices.columns = static_cast<std::size_t>(columns.all());
  on_devices.write_digits = [&](std::size_t column, std::int64_t first, std::int64_t n,
                                std::int8_t* digits) {
    columns.write_digits(static_cast<std::int64_t>(column), first, n, digits);
  };
  on_devices.out_columns = static_cast<std::size_t>(pass.out_columns);
  on_devices.parts = static_cast<std::size_t>(parts);
  on_devices.out = pass.out;
  DevicePass devices(genotypes, on_devices, matrix_.samples(), threads, control);
  devices.start();
  const auto use = [&](const StoredTile& tile) {
    devices.run(tile, [&](std::int64_t i, const std::int64_t* of_genotypes,
                          const std::int64_t* of_missing, const BlockNumbers& numbers) {
      const GenotypeBlock block(tile.first_block + i, tile.blocks[static_cast<std::size_t>(i)]);
      const auto first = static_cast<std::size_t>(block.first_variant());
      const double* const means = &stored_means_[first];
      const double* const scales = &stored_scales_[first];
      const std::int64_t variants = block.variants();
      std::vector<double> t(static_cast<std::size_t>(variants * pass.columns));
      std::vector<double> u(static_cast<std::size_t>(variants * pass.out_columns));
      products_of_sums(columns, pass.columns, variants, means, scales, of_genotypes, of_missing,
                       t.data());
      take(block, t.data(), u.data());
      // Devices have lists unpacked.
      const BlockLayout layout = matrix_.has_dosages(block.number())
                                     ? *block.stored().layout
                                     : packed_layout(&matrix_.counts()[first], block.variants());
      write_numbers(block_coefficients(u.data(), means, scales, layout, out_columns),
                    layout.any_missing(), out_columns.all(), numbers);
    });
  };
  for_each_stored_tile(control, pass.wanted, use, matrix_.blocks());
  devices.finish();
}

std::array<double, 4> GenotypeProducts::values_of_calls(std::int64_t variant) const {
  const double mean = means_[static_cast<std::size_t>(variant)];
  const double scale = scales_[static_cast<std::size_t>(variant)];
  return {-scale * mean, scale * (1 - mean), scale * (2 - mean), 0};
}

std::vector<double> GenotypeProducts::squares(JobControl& control,
                                              const std::vector<double>& factors) const {
  scale_all(control);
  const std::int64_t n = matrix_.samples();
  std::vector<double> sums(static_cast<std::size_t>(n));
  // Contributions of two variants' calls, by their four bits.
  using Pair = std::array<double, 16>;
  const auto pair_of = [&](std::int64_t variant) {
    std::array<std::array<double, 4>, 2> of_call{};
    for (std::int64_t v = 0; v < 2 && variant + v < matrix_.variants(); ++v) {
      auto& squares = of_call[static_cast<std::size_t>(v)];
      squares = values_of_calls(variant + v);
      for (double& z : squares) z *= z * factors[static_cast<std::size_t>(variant + v)];
    }
    Pair pair{};
    for (std::size_t bits = 0; bits < pair.size(); ++bits) {
      pair[bits] = of_call[0][bits & 3U] + of_call[1][bits >> 2];
    }
    return pair;
  };
  matrix_.for_each_tile(
      control, [&](std::int64_t block) { return !matrix_.has_dosages(block); },
      [&](const GenotypeTile& tile) {
        const std::int64_t first = tile.first_block * kBlockQuads;
        const std::int64_t end =
            std::min(first + tile.blocks * kBlockQuads, (matrix_.variants() + kQuad - 1) / kQuad);
        const std::int64_t chunks = (n + kChunkSamples - 1) / kChunkSamples;
        run_tasks(control, matrix_.work().threads, chunks,
                  [&](std::int64_t chunk, const TaskContext&) {
                    for (std::int64_t quad = first; quad < end; ++quad) {
                      const std::int64_t at = quad - first;
                      const std::uint8_t* const row =
                          tile.rows(at / kBlockQuads) + at % kBlockQuads * quad_stride(n);
                      const Pair low = pair_of(quad * kQuad);
                      const Pair high = pair_of(quad * kQuad + 2);
                      for (std::int64_t i = chunk * kChunkSamples;
                           i < std::min(n, (chunk + 1) * kChunkSamples); ++i) {
                        sums[static_cast<std::size_t>(i)] += low[row[i] & 15U] + high[row[i] >> 4];
                      }
                    }
                  });
      });
  add_squares_of_dosages(control, factors, sums);
  return sums;
}

}  // namespace ancify
