// The part of blocks of dosages in dense products:
//   sum_j f_j z_j z_j',  z_j'A z_j,  sum_j f_j z_ij^2.
// Samples share no patterns of dosages, so these are plain products with the columns z_j, each in a
// fixed order of terms.
#include <algorithm>
#include <array>
#include <cstddef>

#include "core/device/lanes.h"
#include "core/exec/threads.h"
#include "core/genotypes/block_columns.h"
#include "core/genotypes/genotype_products.h"
#include "core/genotypes/stripes.h"

namespace ancify {

namespace {

// Variants of a task of quadratic forms, which reads a stripe once from the nearer caches.
constexpr std::int64_t kVariantsOfTask = 64;
constexpr std::int64_t kRowsOfTask = 512;

// Factors of a product: term k of row r is at values[k * term + r * row].
struct Strided {
  const double* values;
  std::int64_t term;
  std::int64_t row;
};

// out[r][c] += sum_k left(k, r) right[k][c], for kRows rows of kStripeColumns columns.
template <class Lanes, std::size_t kRows>
ANCIFY_ALWAYS_INLINE void multiply_rows(const Strided& left, const double* right,
                                        std::int64_t terms, double* out) {
  using Row = LaneBlock<Lanes, static_cast<std::size_t>(kStripeColumns)>;
  Row sums[kRows];
  for (std::size_t r = 0; r < kRows; ++r) sums[r].load_from(out + r * kStripeColumns);
  const double* at = left.values;
  for (std::int64_t k = 0; k < terms; ++k, at += left.term, right += kStripeColumns) {
    Row columns;
    columns.load_from(right);
    for (std::size_t r = 0; r < kRows; ++r) {
      const double factor = at[static_cast<std::int64_t>(r) * left.row];
      for (std::size_t v = 0; v < Row::kRegisters; ++v) {
        sums[r].lanes[v] += factor * columns.lanes[v];
      }
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) sums[r].store_to(out + r * kStripeColumns);
}

template <class Lanes, std::size_t kRows>
ANCIFY_ALWAYS_INLINE void multiply_all(Strided left, const double* right, std::int64_t terms,
                                       std::int64_t rows, double* out) {
  constexpr auto some = static_cast<std::int64_t>(kRows);
  for (; rows >= some; rows -= some) {
    multiply_rows<Lanes, kRows>(left, right, terms, out);
    left.values += some * left.row;
    out += some * kStripeColumns;
  }
  for (; rows > 0; --rows, left.values += left.row, out += kStripeColumns) {
    multiply_rows<Lanes, 1>(left, right, terms, out);
  }
}

#if defined(__x86_64__)
ANCIFY_TARGET_AVX512 void multiply_avx512(const Strided& left, const double* right,
                                          std::int64_t terms, std::int64_t rows, double* out) {
  multiply_all<Avx512Lanes, 8>(left, right, terms, rows, out);
}
ANCIFY_TARGET_AVX2 void multiply_avx2(const Strided& left, const double* right, std::int64_t terms,
                                      std::int64_t rows, double* out) {
  multiply_all<Avx2Lanes, 2>(left, right, terms, rows, out);
}
#endif

void multiply(const Strided& left, const double* right, std::int64_t terms, std::int64_t rows,
              [[maybe_unused]] SimdLevel simd, double* out) {
#if defined(__x86_64__)
  if (simd == SimdLevel::kAvx512) return multiply_avx512(left, right, terms, rows, out);
  if (simd == SimdLevel::kAvx2) return multiply_avx2(left, right, terms, rows, out);
#endif
  multiply_all<PlainLanes, 1>(left, right, terms, rows, out);
}

// The standardised dosages of a block, a row of kBlockVariants for each sample.
class DosedBlock {
 public:
  DosedBlock(const GenotypeProducts& products, const GenotypeBlock& block)
      : first_variant_(block.first_variant()),
        variants_(block.variants()),
        values_(static_cast<std::size_t>(products.matrix().samples() * kBlockVariants)) {
    const BlockColumns columns(products, block);
    for (int v = 0; v < variants_; ++v) {
      columns.write(v, 0, products.matrix().samples(), values_.data() + v, kBlockVariants);
    }
  }
  std::int64_t first_variant() const { return first_variant_; }
  int variants() const { return variants_; }
  const double* row(std::int64_t sample) const { return values_.data() + sample * kBlockVariants; }

 private:
  std::int64_t first_variant_;
  int variants_;
  std::vector<double> values_;
};

// Calls use(blocks) for the blocks of dosages, some at a time.
template <class Use>
void for_dosed_blocks(const GenotypeProducts& products, JobControl& control, const Use& use) {
  const GenotypeMatrix& matrix = products.matrix();
  if (!matrix.any_dosages()) return;
  matrix.for_each_stored_tile(
      control, [&](std::int64_t block) { return matrix.has_dosages(block); },
      [&](const StoredTile& tile) {
        std::vector<DosedBlock> blocks;
        for (std::size_t i = 0; i < tile.blocks.size(); ++i) {
          blocks.emplace_back(
              products,
              GenotypeBlock(tile.first_block + static_cast<std::int64_t>(i), tile.blocks[i]));
        }
        use(blocks);
      });
}

// right[v][c] = factor of v times the dosage of v in sample first + c; 0 after the last sample.
std::vector<double> scaled_columns(const DosedBlock& block, const double* factors,
                                   std::int64_t first, std::int64_t n) {
  std::vector<double> right(static_cast<std::size_t>(kBlockVariants * kStripeColumns));
  for (std::int64_t c = 0; c < std::min(kStripeColumns, n - first); ++c) {
    const double* const row = block.row(first + c);
    for (int v = 0; v < block.variants(); ++v) {
      right[static_cast<std::size_t>(v * kStripeColumns + c)] = factors[v] * row[v];
    }
  }
  return right;
}

}  // namespace

void GenotypeProducts::add_outer_of_dosages(JobControl& control, const std::vector<double>& factors,
                                            Stripes& sums) const {
  const std::int64_t n = matrix_.samples();
  for_dosed_blocks(*this, control, [&](const std::vector<DosedBlock>& blocks) {
    run_tasks(control, matrix_.work().threads, sums.count(),
              [&](std::int64_t stripe, const TaskContext& context) {
                const std::int64_t first = stripe * kStripeColumns;
                for (const DosedBlock& block : blocks) {
                  context.throw_if_stopped();
                  const std::vector<double> right =
                      scaled_columns(block, factors.data() + block.first_variant(), first, n);
                  multiply({block.row(first), 1, kBlockVariants}, right.data(), block.variants(),
                           n - first, matrix_.work().simd, sums[stripe] + first * kStripeColumns);
                }
              });
  });
}

void GenotypeProducts::add_forms_of_dosages(JobControl& control, Stripes& lower,
                                            std::vector<double>& forms) const {
  const std::int64_t n = matrix_.samples();
  constexpr std::int64_t tasks_of_block = kBlockVariants / kVariantsOfTask;
  for_dosed_blocks(*this, control, [&](const std::vector<DosedBlock>& blocks) {
    const auto tasks = static_cast<std::int64_t>(blocks.size()) * tasks_of_block;
    run_tasks(
        control, matrix_.work().threads, tasks, [&](std::int64_t task, const TaskContext& context) {
          const DosedBlock& block = blocks[static_cast<std::size_t>(task / tasks_of_block)];
          const std::int64_t begin = task % tasks_of_block * kVariantsOfTask;
          const std::int64_t rows =
              std::min<std::int64_t>(kVariantsOfTask, block.variants() - begin);
          for (std::int64_t stripe = 0; stripe < lower.count(); ++stripe) {
            context.throw_if_stopped();
            const std::int64_t first = stripe * kStripeColumns;
            std::array<double, kVariantsOfTask * kStripeColumns> sums{};
            multiply({block.row(first) + begin, kBlockVariants, 1},
                     lower[stripe] + first * kStripeColumns, n - first, rows, matrix_.work().simd,
                     sums.data());
            for (std::int64_t v = 0; v < rows; ++v) {
              double& form = forms[static_cast<std::size_t>(block.first_variant() + begin + v)];
              for (std::int64_t c = 0; c < std::min(kStripeColumns, n - first); ++c) {
                form += sums[static_cast<std::size_t>(v * kStripeColumns + c)] *
                        block.row(first + c)[begin + v];
              }
            }
          }
        });
  });
}

void GenotypeProducts::add_squares_of_dosages(JobControl& control,
                                              const std::vector<double>& factors,
                                              std::vector<double>& sums) const {
  const std::int64_t n = matrix_.samples();
  for_dosed_blocks(*this, control, [&](const std::vector<DosedBlock>& blocks) {
    run_tasks(control, matrix_.work().threads, (n + kRowsOfTask - 1) / kRowsOfTask,
              [&](std::int64_t task, const TaskContext&) {
                for (const DosedBlock& block : blocks) {
                  const double* const of_block = factors.data() + block.first_variant();
                  for (std::int64_t i = task * kRowsOfTask;
                       i < std::min(n, (task + 1) * kRowsOfTask); ++i) {
                    const double* const z = block.row(i);
                    double& sum = sums[static_cast<std::size_t>(i)];
                    for (int v = 0; v < block.variants(); ++v) sum += of_block[v] * z[v] * z[v];
                  }
                }
              });
  });
}

}  // namespace ancify
