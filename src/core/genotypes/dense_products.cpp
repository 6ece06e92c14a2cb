// Outer products of variants as a dense matrix, and quadratic forms of variants with one: see
// pattern_sums.cpp. Only the lower triangle of symmetric matrices is processed.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "core/exec/threads.h"
#include "core/genotypes/call_patterns.h"
#include "core/genotypes/genotype_products.h"
#include "core/genotypes/pattern_sums.h"
#include "core/genotypes/stripes.h"

namespace ancify {

namespace {

// The most values of pattern pairs that are kept at once: 32 MB.
constexpr std::size_t kPairNumbers = std::size_t{1} << 22;
// Groups that pass over the stripes together, so that a stripe is still cached when reused.
constexpr std::int64_t kGroupsOfTask = 2 * kGroupsAtOnce;

struct Group {
  std::int64_t first_variant;  // of its block
  CallPatterns patterns;
};

// The groups of a tile's selected variants.
template <class Wanted>
std::vector<Group> groups_of(const GenotypeMatrix& matrix, const GenotypeTile& tile,
                             const Wanted& wanted, JobControl& control) {
  const std::int64_t n = matrix.samples();
  std::vector<std::vector<CallPatterns>> of_blocks(static_cast<std::size_t>(tile.blocks));
  run_tasks(control, matrix.work().threads, tile.blocks, [&](std::int64_t k, const TaskContext&) {
    const std::int64_t block = tile.first_block + k;
    std::vector<std::uint8_t> variants;
    for (int j = 0; j < matrix.variants_in(block); ++j) {
      if (wanted(block * kBlockVariants + j)) variants.push_back(static_cast<std::uint8_t>(j));
    }
    of_blocks[static_cast<std::size_t>(k)] = find_patterns(tile.rows(k), n, variants);
  });
  std::vector<Group> groups;
  for (std::size_t k = 0; k < of_blocks.size(); ++k) {
    const std::int64_t block = tile.first_block + static_cast<std::int64_t>(k);
    for (CallPatterns& patterns : of_blocks[k]) {
      groups.push_back({block * kBlockVariants, std::move(patterns)});
    }
  }
  return groups;
}

// Calls use(variant, values of the patterns) for all variants of a group.
template <class Use>
void for_each_variant(const GenotypeProducts& products, const Group& group, Use&& use) {
  std::vector<double> values(pattern_stride(group.patterns.count));
  for (std::size_t v = 0; v < group.patterns.variants.size(); ++v) {
    const std::int64_t variant = group.first_variant + group.patterns.variants[v];
    values_of_patterns(group.patterns, static_cast<int>(v), products.values_of_calls(variant),
                       values.data());
    use(variant, values.data());
  }
}

// The first group whose values no longer fit beside those from group `begin` on.
std::size_t end_of_batch(const std::vector<Group>& groups, std::size_t begin) {
  std::size_t end = begin;
  for (std::size_t numbers = 0; end < groups.size(); ++end) {
    const std::size_t stride = pattern_stride(groups[end].patterns.count);
    numbers += stride * stride;
    if (numbers > kPairNumbers && end > begin) break;
  }
  return end;
}

}  // namespace

void GenotypeProducts::outer(JobControl& control, const std::vector<double>& factors,
                             double* out) const {
  scale_all(control);
  const GenotypeWork& work = matrix_.work();
  const std::int64_t n = matrix_.samples();
  const auto factor_of = [&](std::int64_t j) { return factors[static_cast<std::size_t>(j)]; };
  const auto wanted = [&](std::int64_t j) { return factor_of(j) != 0; };
  const auto any_wanted = [&](std::int64_t block) {
    const auto first = factors.begin() + block * kBlockVariants;
    return !matrix_.has_dosages(block) && std::any_of(first, first + matrix_.variants_in(block),
                                                      [](double factor) { return factor != 0; });
  };
  Stripes sums(n);
  const auto add_groups = [&](const std::vector<Group>& groups, std::size_t begin,
                              std::size_t end) {
    std::vector<PatternPairs> pairs(end - begin);
    run_tasks(control, work.threads, static_cast<std::int64_t>(pairs.size()),
              [&](std::int64_t i, const TaskContext&) {
                const Group& group = groups[begin + static_cast<std::size_t>(i)];
                PatternPairs& of_group = pairs[static_cast<std::size_t>(i)];
                of_group = PatternPairs(group.patterns);
                for_each_variant(*this, group, [&](std::int64_t j, const double* values) {
                  add_outer(values, factor_of(j), work.simd, of_group);
                });
              });
    // Later stripes are shorter.
    run_tasks(control, work.threads, sums.count(),
              [&](std::int64_t stripe, const TaskContext& context) {
                const std::unique_ptr<PatternTables> tables(new PatternTables);  // uninitialised
                for (std::size_t g = 0; g < pairs.size(); g += kGroupsAtOnce) {
                  context.throw_if_stopped();
                  add_pairs(&pairs[g], std::min(kGroupsAtOnce, pairs.size() - g),
                            stripe * kStripeColumns, n, work.simd, *tables, sums[stripe]);
                }
              });
  };
  matrix_.for_each_tile(control, any_wanted, [&](const GenotypeTile& tile) {
    const std::vector<Group> groups = groups_of(matrix_, tile, wanted, control);
    for (std::size_t begin = 0; begin < groups.size();) {
      const std::size_t end = end_of_batch(groups, begin);
      add_groups(groups, begin, end);
      begin = end;
    }
  });
  add_outer_of_dosages(control, factors, sums);
  run_tasks(control, work.threads, sums.count(), [&](std::int64_t stripe, const TaskContext&) {
    sums.for_each_number(stripe, [&](std::int64_t i, std::int64_t c, double number) {
      out[c * n + i] = out[i * n + c] = number;
    });
  });
}

std::vector<double> GenotypeProducts::quadratic_forms(JobControl& control,
                                                      const double* matrix) const {
  scale_all(control);
  const GenotypeWork& work = matrix_.work();
  const std::int64_t n = matrix_.samples();
  const auto wanted = [&](std::int64_t j) { return scales_[static_cast<std::size_t>(j)] != 0; };
  // Elements below the diagonal count twice.
  Stripes lower(n);
  run_tasks(control, work.threads, lower.count(), [&](std::int64_t stripe, const TaskContext&) {
    lower.for_each_number(stripe, [&](std::int64_t i, std::int64_t c, double& number) {
      number = (i == c ? 1 : 2) * matrix[c * n + i];
    });
  });
  std::vector<double> forms(static_cast<std::size_t>(matrix_.variants()));
  const auto form_groups = [&](const Group* groups, std::size_t count, const TaskContext& context) {
    std::vector<PatternPairs> pairs;
    for (std::size_t g = 0; g < count; ++g) pairs.emplace_back(groups[g].patterns);
    const std::unique_ptr<PatternTables> tables(new PatternTables);
    for (std::int64_t stripe = 0; stripe < lower.count(); ++stripe) {
      context.throw_if_stopped();
      for (std::size_t g = 0; g < count; g += kGroupsAtOnce) {
        sum_pairs(lower[stripe], stripe * kStripeColumns, n, work.simd, *tables, &pairs[g],
                  std::min(kGroupsAtOnce, count - g));
      }
    }
    for (std::size_t g = 0; g < count; ++g) {
      for_each_variant(*this, groups[g], [&](std::int64_t j, const double* values) {
        forms[static_cast<std::size_t>(j)] = form(pairs[g], values, work.simd);
      });
    }
  };
  matrix_.for_each_tile(
      control, [&](std::int64_t block) { return !matrix_.has_dosages(block); },
      [&](const GenotypeTile& tile) {
        const std::vector<Group> groups = groups_of(matrix_, tile, wanted, control);
        const auto all = static_cast<std::int64_t>(groups.size());
        run_tasks(control, work.threads, (all + kGroupsOfTask - 1) / kGroupsOfTask,
                  [&](std::int64_t task, const TaskContext& context) {
                    const std::int64_t first = task * kGroupsOfTask;
                    form_groups(&groups[static_cast<std::size_t>(first)],
                                static_cast<std::size_t>(std::min(kGroupsOfTask, all - first)),
                                context);
                  });
      });
  add_forms_of_dosages(control, lower, forms);
  return forms;
}

}  // namespace ancify
