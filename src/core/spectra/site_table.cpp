// Groups sites with equal allele counts, piece by piece; the pieces are joined in order.
#include "core/spectra/site_table.h"

#include <algorithm>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/join_in_order.h"

namespace ancify {

namespace {

constexpr std::int64_t kPiece = 1 << 18;

AlleleCount count_of(std::uint64_t word) {
  return {static_cast<int>(word >> 32), static_cast<int>(word & 0xffffffff)};
}

std::uint64_t word_of(AlleleCount count) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(count.called)) << 32 |
         static_cast<std::uint32_t>(count.derived);
}

}  // namespace

SiteTable::SiteTable(std::vector<int> sizes)
    : sizes_(std::move(sizes)),
      too_few_(sizes_.size()),
      combinations_(sizes_.size() + 1),
      words_(sizes_.size() + 1) {}

void SiteTable::add(const AlleleCount* counts, double posterior, int window) {
  add(counts, window, {1, posterior, 1 - posterior});
}

void SiteTable::add(const AlleleCount* counts, int window, const Sums& more) {
  sites_ += more.sites;
  bool enough = true;
  for (std::size_t k = 0; k < sizes_.size(); ++k) {
    words_[k] = word_of(counts[k]);
    if (counts[k].called >= sizes_[k]) continue;
    too_few_[k] += more.sites;
    enough = false;
  }
  if (!enough) return;
  used_ += more.sites;
  words_.back() = static_cast<std::uint64_t>(window);
  const std::size_t number = combinations_.number(words_.data());
  if (number == sums_.size()) sums_.push_back({0, 0, 0});
  Sums& sums = sums_[number];
  sums.sites += more.sites;
  sums.as_counted += more.as_counted;
  sums.swapped += more.swapped;
}

void SiteTable::add(const SiteTable& other) {
  sites_ += other.sites_ - other.used_;
  for (std::size_t k = 0; k < sizes_.size(); ++k) too_few_[k] += other.too_few_[k];
  std::vector<AlleleCount> counts(sizes_.size());
  for (std::size_t i = 0; i < other.size(); ++i) {
    for (std::size_t k = 0; k < counts.size(); ++k) counts[k] = other.count(i, k);
    add(counts.data(), other.window(i), other.sums_[i]);
  }
}

SiteTable SiteTable::projected_to(std::vector<int> sizes) const {
  SiteTable result(std::move(sizes));
  result.add(*this);
  return result;
}

std::vector<int> SiteTable::most_called() const {
  std::vector<int> most(sizes_.size());
  for (std::size_t i = 0; i < size(); ++i) {
    for (std::size_t k = 0; k < most.size(); ++k) most[k] = std::max(most[k], count(i, k).called);
  }
  return most;
}

AlleleCount SiteTable::count(std::size_t i, std::size_t population) const {
  return count_of(combinations_.tuple(i)[population]);
}

int SiteTable::window(std::size_t i) const {
  return static_cast<int>(combinations_.tuple(i)[sizes_.size()]);
}

SiteTable tabulate_sites(const SiteColumns& columns, const std::vector<int>& sizes, int threads,
                         JobControl& control) {
  const std::size_t populations = sizes.size();
  const std::int64_t pieces = (columns.sites + kPiece - 1) / kPiece;
  control.expect(columns.sites);
  SiteTable all(sizes);
  join_in_order(
      control, threads, pieces, 64,
      [&](std::int64_t piece, const TaskContext& context) {
        context.throw_if_stopped();
        SiteTable table(sizes);
        std::vector<AlleleCount> counts(populations);
        const std::int64_t start = piece * kPiece;
        const std::int64_t end = std::min(start + kPiece, columns.sites);
        for (std::int64_t site = start; site < end; ++site) {
          for (std::size_t k = 0; k < populations; ++k) {
            counts[k] = {columns.called[k][site], columns.derived[k][site]};
          }
          table.add(counts.data(), columns.posterior != nullptr ? columns.posterior[site] : 1,
                    columns.window != nullptr ? columns.window[site] : 0);
        }
        control.advance(end - start);
        return table;
      },
      [&](std::int64_t /*piece*/, const SiteTable& table) {
        if (control.stop_requested()) throw Interrupted();
        all.add(table);
      });
  return all;
}

}  // namespace ancify
