// Computes, with the rounded columns V and coefficients W = diag(scales) U,
//   t_j = scale_j (sum_i c_ij V_i - 3 m_j - mu_j (sum_i V_i - m_j)),  m_j = sum of V over missing,
//   out_i += sum_j c_ij W_j - sum_{j missing} (3 - mu_j) W_j - sum_j mu_j W_j,
// where c is 0, 1, 2, or 3 for a missing call. Sums of whole numbers are exact, so their order is
// free; all others have a fixed order.
#include "core/genotypes/genotype_products.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/genotypes/block_sums.h"
#include "core/genotypes/fixed_point.h"

namespace ancify {

namespace {

// Samples of a task of the second half.
constexpr std::int64_t kChunkSamples = 512;

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

// Whole-number columns: coarse ones, then with 56 bits as many fine ones.
struct Columns {
  int n;      // columns of the caller
  int parts;  // 1 or 2
  int all() const { return n * parts; }
};

// V in whole numbers.
class FixedColumns {
 public:
  FixedColumns(const double* v, std::int64_t n, Columns columns, int threads, JobControl& control);
  int all() const { return columns_.all(); }
  // The numbers of a sample, in a row.
  const std::int32_t* row(std::int64_t sample) const { return &numbers_[index(sample * all())]; }
  const std::int8_t* digits(std::int64_t tile, int column) const {
    return &digits_[index((tile * all() + column) * kDigits * kTileSamples)];
  }
  double step(int column) const { return steps_[index(column)]; }
  std::int64_t sum(int column) const { return sums_[index(column)]; }

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

  Columns columns_;
  std::vector<std::int32_t> numbers_;
  std::vector<std::int8_t> digits_;
  std::vector<double> steps_;
  std::vector<std::int64_t> sums_;
};

FixedColumns::FixedColumns(const double* v, std::int64_t n, Columns columns, int threads,
                           JobControl& control)
    : columns_(columns),
      numbers_(index(n * columns.all())),
      digits_(
          index((n + kTileSamples - 1) / kTileSamples * columns.all() * kDigits * kTileSamples)),
      steps_(index(columns.all())),
      sums_(index(columns.all())) {
  run_tasks(control, threads, columns.n, [&](std::int64_t c, const TaskContext&) {
    const double* const column = v + c * n;
    double most = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      if (!std::isfinite(column[i])) {
        throw InputError("a column to multiply with has a number that is not finite");
      }
      most = std::max(most, std::abs(column[i]));
    }
    const FixedSteps steps(most);
    steps_[index(c)] = steps.coarse;
    if (columns_.parts == 2) steps_[index(columns_.n + c)] = steps.fine;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int32_t coarse = steps.coarse_part(column[i]);
      numbers_[index(i * all() + c)] = coarse;
      if (columns_.parts == 2) {
        numbers_[index(i * all() + columns_.n + c)] = steps.fine_part(column[i], coarse);
      }
    }
    for (int part = 0; part < columns_.parts; ++part) {
      const std::int64_t of = part * columns_.n + c;
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int32_t number = numbers_[index(i * all() + of)];
        sums_[index(of)] += number;
        std::int8_t* const out = &digits_[index(
            (i / kTileSamples * all() + of) * kDigits * kTileSamples + i % kTileSamples)];
        for (int d = 0; d < kDigits; ++d) out[d * kTileSamples] = digit(number, d);
      }
    }
  });
}

// U of a block in whole numbers.
class FixedCoefficients {
 public:
  // `u`: variants x columns.n.
  FixedCoefficients(const double* u, const double* means, const double* scales, int variants,
                    Columns columns);
  const std::int8_t* digits(int column) const {
    return &digits_[static_cast<std::size_t>(column) * kBlockVariants * kDigits];
  }
  double step(int column) const { return steps_[static_cast<std::size_t>(column)]; }
  // sum_j mu_j W_j, in steps.
  double centre(int column) const { return centres_[static_cast<std::size_t>(column)]; }
  // (3 - mu_j) W_j in steps, of all columns.
  const double* missing(int variant) const {
    return &missing_[static_cast<std::size_t>(variant) * steps_.size()];
  }

 private:
  std::vector<std::int8_t> digits_;
  std::vector<double> steps_;
  std::vector<double> centres_;
  std::vector<double> missing_;
};

FixedCoefficients::FixedCoefficients(const double* u, const double* means, const double* scales,
                                     int variants, Columns columns)
    : digits_(static_cast<std::size_t>(columns.all()) * kBlockVariants * kDigits),
      steps_(static_cast<std::size_t>(columns.all())),
      centres_(steps_.size()),
      missing_(static_cast<std::size_t>(variants) * steps_.size()) {
  for (int c = 0; c < columns.n; ++c) {
    double most = 0;
    for (int j = 0; j < variants; ++j) {
      most = std::max(most, std::abs(scales[j] * u[j * columns.n + c]));
    }
    const FixedSteps steps(most);
    for (int j = 0; j < variants; ++j) {
      const double w = scales[j] * u[j * columns.n + c];
      const std::int32_t coarse = steps.coarse_part(w);
      const std::array<std::int32_t, 2> parts = {
          coarse, columns.parts == 2 ? steps.fine_part(w, coarse) : 0};
      for (int part = 0; part < columns.parts; ++part) {
        const int of = part * columns.n + c;
        const std::int32_t number = parts[static_cast<std::size_t>(part)];
        steps_[static_cast<std::size_t>(of)] = part == 0 ? steps.coarse : steps.fine;
        centres_[static_cast<std::size_t>(of)] += means[j] * number;
        missing_[static_cast<std::size_t>(j) * steps_.size() + static_cast<std::size_t>(of)] =
            (3 - means[j]) * number;
        std::int8_t* const out =
            &digits_[static_cast<std::size_t>(of) * kBlockVariants * kDigits +
                     static_cast<std::size_t>(j / kQuad * kQuad * kDigits + j % kQuad)];
        for (int d = 0; d < kDigits; ++d) out[d * kQuad] = digit(number, d);
      }
    }
  }
}

// The first half of a block: t = Z'V.
class FirstHalf {
 public:
  FirstHalf(const FixedColumns& columns, int n, std::int64_t samples, bool misses, SimdLevel simd)
      : columns_(columns), n_(n), samples_(samples), misses_(misses), simd_(simd) {}

  void compute(const std::uint8_t* rows, int variants, const double* means, const double* scales,
               double* t) const {
    const std::int64_t stride = quad_stride(samples_);
    const int quads = (variants + kQuad - 1) / kQuad;
    std::vector<std::array<std::int64_t, kQuad>> sums(
        static_cast<std::size_t>(quads * columns_.all()));
    for (std::int64_t begin = 0; begin < samples_; begin += kTileSamples) {
      const std::int64_t n = std::min(kTileSamples, stride - begin);
      for (int c = 0; c < columns_.all(); ++c) {
        const std::int8_t* const digits = columns_.digits(begin / kTileSamples, c);
        for (int quad = 0; quad < quads; ++quad) {
          sum_over_samples(rows + quad * stride + begin, digits, n, simd_,
                           sums[static_cast<std::size_t>(quad * columns_.all() + c)]);
        }
      }
    }
    std::vector<std::int64_t> missing(static_cast<std::size_t>(kQuad * columns_.all()));
    for (int quad = 0; quad < quads; ++quad) {
      if (misses_) sum_missing(rows + quad * stride, missing);
      for (int v = 0; v < std::min(kQuad, variants - quad * kQuad); ++v) {
        const int j = quad * kQuad + v;
        for (int c = 0; c < n_; ++c) {
          double sum = 0;
          for (int part = c; part < columns_.all(); part += n_) {
            const std::int64_t of_missing =
                missing[static_cast<std::size_t>(v * columns_.all() + part)];
            const std::int64_t observed =
                sums[static_cast<std::size_t>(quad * columns_.all() + part)]
                    [static_cast<std::size_t>(v)] -
                3 * of_missing;
            sum += columns_.step(part) *
                   (static_cast<double>(observed) -
                    means[j] * static_cast<double>(columns_.sum(part) - of_missing));
          }
          t[j * n_ + c] = scales[j] * sum;
        }
      }
    }
  }

 private:
  void sum_missing(const std::uint8_t* row, std::vector<std::int64_t>& missing) const {
    std::fill(missing.begin(), missing.end(), 0);
    for_each_missing(row, quad_stride(samples_), [&](int v, std::int64_t i) {
      const std::int32_t* const numbers = columns_.row(i);
      std::int64_t* const sums = &missing[static_cast<std::size_t>(v * columns_.all())];
      for (int c = 0; c < columns_.all(); ++c) sums[c] += numbers[c];
    });
  }

  const FixedColumns& columns_;
  int n_;
  std::int64_t samples_;
  bool misses_;
  SimdLevel simd_;
};

// The second half of a block for kLane samples: out += Z U.
class SecondHalf {
 public:
  SecondHalf(Columns columns, SimdLevel simd) : columns_(columns), simd_(simd) {}

  // `rows` and `out` begin at the first of `n` samples; `stride` bytes lie between rows, and
  // `out_stride` numbers between columns of `out`.
  void add(const std::uint8_t* rows, std::int64_t stride, int variants, bool misses,
           const FixedCoefficients& coefficients, std::int64_t n, std::int64_t out_stride,
           double* out) {
    const int quads = (variants + kQuad - 1) / kQuad;
    expand_calls(rows, stride, quads, simd_, calls_);
    if (misses) sum_missing(rows, stride, quads, coefficients);
    std::array<double, kLane> sums;
    for (int c = 0; c < columns_.all(); ++c) {
      sum_over_variants(calls_, coefficients.digits(c), quads, simd_, sums);
      if (misses) {
        for (std::size_t i = 0; i < kLane; ++i) {
          sums[i] -=
              missing_[i * static_cast<std::size_t>(columns_.all()) + static_cast<std::size_t>(c)];
        }
      }
      const double step = coefficients.step(c);
      const double centre = coefficients.centre(c);
      double* const column = out + c % columns_.n * out_stride;
      for (std::int64_t i = 0; i < n; ++i) {
        column[i] += step * (sums[static_cast<std::size_t>(i)] - centre);
      }
    }
  }

 private:
  void sum_missing(const std::uint8_t* rows, std::int64_t stride, int quads,
                   const FixedCoefficients& coefficients) {
    missing_.assign(static_cast<std::size_t>(kLane * columns_.all()), 0);
    for (int quad = 0; quad < quads; ++quad) {
      for_each_missing(rows + quad * stride, kLane, [&](int v, std::int64_t i) {
        const double* const of_variant = coefficients.missing(quad * kQuad + v);
        double* const sums = &missing_[static_cast<std::size_t>(i * columns_.all())];
        for (int c = 0; c < columns_.all(); ++c) sums[c] += of_variant[c];
      });
    }
  }

  Columns columns_;
  SimdLevel simd_;
  alignas(64) ExpandedCalls calls_;
  std::vector<double> missing_;
};

}  // namespace

GenotypeProducts::GenotypeProducts(const GenotypeMatrix& matrix, std::vector<double> means,
                                   std::vector<double> scales)
    : matrix_(matrix),
      means_(std::move(means)),
      scales_(std::move(scales)),
      block_misses_(static_cast<std::size_t>(matrix.blocks())) {
  for (std::int64_t j = 0; j < matrix.variants(); ++j) {
    if (matrix.counts()[static_cast<std::size_t>(j)].missing > 0) {
      block_misses_[static_cast<std::size_t>(j / kBlockVariants)] = true;
    }
  }
}

void GenotypeProducts::run(JobControl& control, const Pass& pass, const Take& take) const {
  const GenotypeWork& work = matrix_.work();
  const int parts = pass.bits == ProductBits::k56 ? 2 : 1;
  const std::int64_t n = matrix_.samples();
  const std::int64_t stride = quad_stride(n);
  const FixedColumns columns(pass.v, n, {pass.columns, parts}, work.threads, control);
  const Columns out_columns = {pass.out_columns, parts};
  const auto misses = [&](std::int64_t block) {
    return block_misses_[static_cast<std::size_t>(block)];
  };
  matrix_.for_each_tile(control, pass.wanted, [&](const GenotypeTile& tile) {
    const auto rows_of = [&](std::int64_t i) { return tile.rows + i * kBlockQuads * stride; };
    std::vector<std::unique_ptr<FixedCoefficients>> coefficients(
        static_cast<std::size_t>(tile.blocks));
    run_tasks(control, work.threads, tile.blocks, [&](std::int64_t i, const TaskContext&) {
      const GenotypeBlock block(matrix_, tile.first_block + i, rows_of(i));
      const double* const means = &means_[static_cast<std::size_t>(block.first_variant())];
      const double* const scales = &scales_[static_cast<std::size_t>(block.first_variant())];
      const auto variants = static_cast<std::size_t>(block.variants());
      std::vector<double> t(variants * static_cast<std::size_t>(pass.columns));
      std::vector<double> u(variants * static_cast<std::size_t>(pass.out_columns));
      FirstHalf(columns, pass.columns, n, misses(block.number()), work.simd)
          .compute(rows_of(i), block.variants(), means, scales, t.data());
      take(block, t.data(), u.data());
      if (pass.out_columns > 0) {
        coefficients[static_cast<std::size_t>(i)] = std::make_unique<FixedCoefficients>(
            u.data(), means, scales, block.variants(), out_columns);
      }
    });
    if (pass.out_columns == 0) return;
    const std::int64_t first = pass.first_sample / kLane * kLane;
    const std::int64_t chunks = (n - first + kChunkSamples - 1) / kChunkSamples;
    run_tasks(control, work.threads, chunks, [&](std::int64_t chunk, const TaskContext&) {
      SecondHalf half(out_columns, work.simd);
      const std::int64_t begin = first + chunk * kChunkSamples;
      for (std::int64_t i = 0; i < tile.blocks; ++i) {
        const std::int64_t block = tile.first_block + i;
        for (std::int64_t s = begin; s < std::min(n, begin + kChunkSamples); s += kLane) {
          half.add(rows_of(i) + s, stride, matrix_.variants_in(block), misses(block),
                   *coefficients[static_cast<std::size_t>(i)], std::min<std::int64_t>(kLane, n - s),
                   n, pass.out + s);
        }
      }
    });
  });
}

}  // namespace ancify
