// A pass has three steps over some blocks of weights: T = Z'V, U = W T, and out += Z U. Blocks of
// weights and of genotypes have different bounds, so U is computed only when T is complete. The
// intermediates are variants x columns, for as many variants as allowed.
#include "core/reml/kernels/weighted_kernels.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/genotypes/standardise.h"
#include "core/reml/kernels/genotype_kernels.h"
#include "core/reml/kernels/matrix_kernels.h"

namespace ancify::reml {

namespace {

// Rows of a block in a task, or of several small blocks.
constexpr std::int64_t kRows = 64;
// Samples per task of a trace.
constexpr std::int64_t kTraceSamples = 64;

// Rows [first, end) of W t. `at`: the block's first row in `t` and `out`. A few rows of W at a time
// stay in the caches for all panels.
void times_panels(const WeightBlock& block, std::int64_t first, std::int64_t end, const Panels& t,
                  std::int64_t at, SimdLevel simd, Panels& out) {
  constexpr std::int64_t kAtOnce = 8;
  for (; first < end; first += kAtOnce) {
    const std::int64_t last = std::min(first + kAtOnce, end);
    for (std::int64_t panel = 0; panel < t.panels(); ++panel) {
      block_times(block.values, block.size, first, last, t.at(panel, at), simd, out.at(panel, at));
    }
  }
}

}  // namespace

WeightedKernels::WeightedKernels(const GenotypeMatrix& matrix, std::vector<WeightBlock> blocks,
                                 std::vector<double> divisors, double scale_power,
                                 JobControl& control, const std::vector<std::string>& names,
                                 std::int64_t variants_at_once, std::vector<double> traces)
    : matrix_(matrix),
      control_(control),
      variants_at_once_(variants_at_once),
      products_(standardise(matrix, scale_power)),
      blocks_(std::move(blocks)),
      divisors_(std::move(divisors)),
      used_(divisors_.size()) {
  first_variants_.push_back(0);
  for (const auto& block : blocks_) {
    first_variants_.push_back(first_variants_.back() + block.size);
  }
  if (first_variants_.back() != matrix.variants()) {
    throw InputError("the blocks of weights have " + std::to_string(first_variants_.back()) +
                     " variants, but the genotypes have " + std::to_string(matrix.variants()));
  }
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    for (std::int64_t j = first_variants_[b]; j < first_variants_[b + 1]; ++j) {
      if (products_.scales()[static_cast<std::size_t>(j)] == 0) continue;
      ++used_[static_cast<std::size_t>(blocks_[b].component)];
    }
  }
  const std::vector<double> sums = traces.empty() ? measure_traces() : std::move(traces);
  const auto n = static_cast<double>(matrix.samples());
  for (std::size_t g = 0; g < sums.size(); ++g) {
    if (!(sums[g] > 0)) throw no_variance(g, names);
    if (divisors_[g] == 0) divisors_[g] = sums[g] / n;
    mean_diagonals_.push_back(sums[g] / (n * divisors_[g]));
  }
}

// tr(sum_b Z_b W_b Z_b') by component. The genotypes of a block of weights are gathered from the
// tiles.
std::vector<double> WeightedKernels::measure_traces() {
  std::vector<double> sums(divisors_.size());
  std::deque<BlockColumns> columns;
  std::size_t b = 0;
  matrix_.for_each_stored_tile(
      control_, [](std::int64_t) { return true; },
      [&](const StoredTile& tile) {
        for (std::size_t i = 0; i < tile.blocks.size(); ++i) {
          const GenotypeBlock block(tile.first_block + static_cast<std::int64_t>(i),
                                    tile.blocks[i]);
          columns.emplace_back(products_, block);
          const std::int64_t end = block.first_variant() + block.variants();
          for (; b < blocks_.size() && first_variants_[b + 1] <= end; ++b) {
            sums[static_cast<std::size_t>(blocks_[b].component)] +=
                trace_of_block(blocks_[b], first_variants_[b], columns);
            while (columns.size() > 1 && columns[1].first_variant() <= first_variants_[b + 1]) {
              columns.pop_front();
            }
          }
        }
      });
  ++passes_;
  return sums;
}

// sum_i z_i'W z_i over samples. `columns`: of genotype blocks from the one with the first variant.
double WeightedKernels::trace_of_block(const WeightBlock& block, std::int64_t first_variant,
                                       const std::deque<BlockColumns>& columns) const {
  const std::int64_t n = matrix_.samples();
  const std::int64_t chunks = (n + kTraceSamples - 1) / kTraceSamples;
  std::vector<double> sums(static_cast<std::size_t>(chunks));
  run_tasks(control_, matrix_.work().threads, chunks, [&](std::int64_t chunk, const TaskContext&) {
    const std::int64_t begin = chunk * kTraceSamples;
    const std::int64_t width = std::min(kTraceSamples, n - begin);
    Panels z(block.size, static_cast<int>(width));
    Panels weighted(block.size, static_cast<int>(width));
    for (std::int64_t j = 0; j < block.size; ++j) {
      const std::int64_t at = first_variant + j - columns.front().first_variant();
      std::array<double, kTraceSamples> values;
      columns[static_cast<std::size_t>(at / kBlockVariants)].write(
          static_cast<int>(at % kBlockVariants), begin, width, values.data());
      for (std::int64_t i = 0; i < width; ++i) {
        z.value(j, i) = values[static_cast<std::size_t>(i)];
      }
    }
    times_panels(block, 0, block.size, z, 0, matrix_.work().simd, weighted);
    double& sum = sums[static_cast<std::size_t>(chunk)];
    for (std::int64_t panel = 0; panel < z.panels(); ++panel) {
      const double* const left = z.at(panel, 0);
      sum = std::inner_product(left, left + block.size * Panels::kColumns, weighted.at(panel, 0),
                               sum);
    }
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// `wanted`: components.
void WeightedKernels::for_each_segment(const std::vector<bool>& wanted,
                                       const std::function<void(const Segment&)>& use) {
  for (std::size_t b = 0; b < blocks_.size();) {
    Segment segment = {b, b, first_variants_[b], 0,
                       std::vector<bool>(static_cast<std::size_t>(matrix_.blocks()))};
    do {
      if (wanted[static_cast<std::size_t>(blocks_[b].component)]) {
        const std::int64_t last = (first_variants_[b + 1] - 1) / kBlockVariants;
        for (std::int64_t k = first_variants_[b] / kBlockVariants; k <= last; ++k) {
          segment.wanted[static_cast<std::size_t>(k)] = true;
        }
      }
      segment.variants += blocks_[b].size;
      segment.end_block = ++b;
    } while (b < blocks_.size() && segment.variants + blocks_[b].size <= variants_at_once_);
    use(segment);
    const auto read = std::count(segment.wanted.begin(), segment.wanted.end(), true);
    passes_ += static_cast<double>(read) / static_cast<double>(matrix_.blocks());
  }
}

GenotypeProducts::Pass WeightedKernels::pass_over(const Segment& segment,
                                                  Precision precision) const {
  GenotypeProducts::Pass pass;
  pass.bits = bits_of(precision);
  pass.wanted = [&segment](std::int64_t block) {
    return segment.wanted[static_cast<std::size_t>(block)];
  };
  return pass;
}

// T = Z'V.
Panels WeightedKernels::first_half(const Segment& segment, const double* v, int columns,
                                   Precision precision) {
  Panels t(segment.variants, columns);
  GenotypeProducts::Pass pass = pass_over(segment, precision);
  pass.v = v;
  pass.columns = columns;
  products_.run(control_, pass, [&](const GenotypeBlock& block, const double* rows, double*) {
    for (int j = 0; j < block.variants(); ++j, rows += columns) {
      const std::int64_t at = block.first_variant() + j - segment.first_variant;
      if (at < 0 || at >= segment.variants) continue;
      for (int c = 0; c < columns; ++c) t.value(at, c) = rows[c];
    }
  });
  return t;
}

// factors[g] W_b T of each block b of g; 0 for a factor of 0.
Panels WeightedKernels::weigh(const Segment& segment, const std::vector<double>& factors,
                              int columns, const Panels& t) {
  struct Part {
    std::size_t block;
    std::int64_t first;
    std::int64_t end;
  };
  std::vector<std::vector<Part>> tasks;
  std::int64_t rows = kRows;  // of the last task
  for (std::size_t b = segment.first_block; b < segment.end_block; ++b) {
    if (factors[static_cast<std::size_t>(blocks_[b].component)] == 0) continue;
    for (std::int64_t first = 0; first < blocks_[b].size; first += kRows) {
      const std::int64_t end = std::min(first + kRows, blocks_[b].size);
      if (rows + end - first > kRows) {
        tasks.emplace_back();
        rows = 0;
      }
      tasks.back().push_back({b, first, end});
      rows += end - first;
    }
  }
  Panels u(segment.variants, columns);
  run_tasks(control_, matrix_.work().threads, static_cast<std::int64_t>(tasks.size()),
            [&](std::int64_t i, const TaskContext&) {
              for (const Part& part : tasks[static_cast<std::size_t>(i)]) {
                const WeightBlock& block = blocks_[part.block];
                const double factor = factors[static_cast<std::size_t>(block.component)];
                const std::int64_t at = first_variants_[part.block] - segment.first_variant;
                times_panels(block, part.first, part.end, t, at, matrix_.work().simd, u);
                for (std::int64_t panel = 0; panel < u.panels(); ++panel) {
                  double* const values = u.at(panel, at + part.first);
                  for (std::int64_t k = 0; k < (part.end - part.first) * Panels::kColumns; ++k) {
                    values[k] *= factor;
                  }
                }
              }
            });
  return u;
}

// out += Z U.
void WeightedKernels::second_half(const Segment& segment, const Panels& u, int columns,
                                  Precision precision, double* out) {
  GenotypeProducts::Pass pass = pass_over(segment, precision);
  pass.out = out;
  pass.out_columns = columns;
  products_.run(control_, pass, [&](const GenotypeBlock& block, const double*, double* rows) {
    for (int j = 0; j < block.variants(); ++j, rows += columns) {
      const std::int64_t at = block.first_variant() + j - segment.first_variant;
      if (at < 0 || at >= segment.variants) continue;
      for (int c = 0; c < columns; ++c) rows[c] = u.value(at, c);
    }
  });
}

void WeightedKernels::times(const double* theta, const double* v, int columns, Precision precision,
                            double* out) {
  std::fill_n(out, samples() * columns, 0.0);
  std::vector<double> factors;
  std::vector<bool> wanted;
  for (std::size_t g = 0; g < divisors_.size(); ++g) {
    factors.push_back(theta[g] / divisors_[g]);
    wanted.push_back(theta[g] != 0);
  }
  for_each_segment(wanted, [&](const Segment& segment) {
    const Panels t = first_half(segment, v, columns, precision);
    second_half(segment, weigh(segment, factors, columns, t), columns, precision, out);
  });
}

void WeightedKernels::quadratic_forms(const double* a, const double* b, int columns,
                                      Precision precision, double* forms) {
  const bool same = a == b;
  std::vector<double> factors;
  for (const double divisor : divisors_) factors.push_back(1 / divisor);
  std::fill_n(forms, static_cast<std::ptrdiff_t>(columns) * components(), 0.0);
  const std::vector<bool> all(divisors_.size(), true);
  for_each_segment(all, [&](const Segment& segment) {
    const Panels right = first_half(segment, b, columns, precision);
    const Panels left = same ? right : first_half(segment, a, columns, precision);
    const Panels weighted = weigh(segment, factors, columns, right);
    for (std::size_t k = segment.first_block; k < segment.end_block; ++k) {
      double* const of = forms + static_cast<std::ptrdiff_t>(blocks_[k].component) * columns;
      for (std::int64_t j = first_variants_[k]; j < first_variants_[k + 1]; ++j) {
        const std::int64_t at = j - segment.first_variant;
        for (int c = 0; c < columns; ++c) of[c] += left.value(at, c) * weighted.value(at, c);
      }
    }
  });
}

void WeightedKernels::dense(int component, double* out) {
  std::vector<double> theta(divisors_.size());
  theta[static_cast<std::size_t>(component)] = 1;
  for_unit_columns(samples(), out, [&](const double* units, int columns, double* product) {
    times(theta.data(), units, columns, Precision::kFull, product);
  });
}

}  // namespace ancify::reml
