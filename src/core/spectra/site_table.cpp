#include "core/spectra/site_table.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"

namespace ancify {

namespace {

constexpr std::size_t kFewestSlots = 1 << 10;
constexpr std::int64_t kPiece = 1 << 18;

std::uint64_t key_word(AlleleCount count) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(count.called)) << 32 |
         static_cast<std::uint32_t>(count.derived);
}

}  // namespace

SiteTable::SiteTable(std::vector<int> sizes)
    : sizes_(std::move(sizes)), too_few_(sizes_.size()), slots_(kFewestSlots) {}

void SiteTable::add(const AlleleCount* counts, double posterior, int window) {
  ++sites_;
  bool enough = true;
  for (std::size_t k = 0; k < sizes_.size(); ++k) {
    if (counts[k].called >= sizes_[k]) continue;
    ++too_few_[k];
    enough = false;
  }
  if (!enough) return;
  ++used_;
  const std::size_t end = keys_.size();
  for (std::size_t k = 0; k < sizes_.size(); ++k) keys_.push_back(key_word(counts[k]));
  keys_.push_back(static_cast<std::uint64_t>(window));
  Sums& sums = find(&keys_[end]);
  sums.as_counted += posterior;
  sums.swapped += 1 - posterior;
}

void SiteTable::add(const SiteTable& other) {
  sites_ += other.sites_;
  used_ += other.used_;
  for (std::size_t k = 0; k < sizes_.size(); ++k) too_few_[k] += other.too_few_[k];
  for (std::size_t i = 0; i < other.size(); ++i) {
    const std::size_t end = keys_.size();
    const auto key = other.keys_.begin() + static_cast<std::ptrdiff_t>(i * words());
    keys_.insert(keys_.end(), key, key + static_cast<std::ptrdiff_t>(words()));
    Sums& sums = find(&keys_[end]);
    sums.as_counted += other.sums_[i].as_counted;
    sums.swapped += other.sums_[i].swapped;
  }
}

AlleleCount SiteTable::count(std::size_t i, std::size_t population) const {
  const std::uint64_t word = keys_[i * words() + population];
  return {static_cast<int>(word >> 32), static_cast<int>(word & 0xffffffff)};
}

int SiteTable::window(std::size_t i) const {
  return static_cast<int>(keys_[i * words() + words() - 1]);
}

std::size_t SiteTable::slot_of(const std::uint64_t* key) const {
  std::uint64_t hash = 0;
  for (std::size_t k = 0; k < words(); ++k) {
    hash = (hash ^ key[k]) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash) & (slots_.size() - 1);
}

// The key is the last of keys_; where it is known it is taken away again.
SiteTable::Sums& SiteTable::find(const std::uint64_t* key) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t place = slot_of(key);; place = (place + 1) & mask) {
    if (slots_[place] == 0) {
      if (size() >= std::numeric_limits<std::uint32_t>::max() - 1) {
        throw InputError("there are more than four billion combinations of allele counts");
      }
      sums_.push_back({0, 0});
      slots_[place] = static_cast<std::uint32_t>(size());
      if (2 * size() > slots_.size()) grow();
      return sums_.back();
    }
    const std::size_t known = slots_[place] - 1;
    if (std::equal(key, key + words(), &keys_[known * words()])) {
      keys_.resize(keys_.size() - words());
      return sums_[known];
    }
  }
}

void SiteTable::grow() {
  slots_.assign(2 * slots_.size(), 0);
  for (std::size_t i = 0; i < size(); ++i) {
    std::size_t place = slot_of(&keys_[i * words()]);
    while (slots_[place] != 0) place = (place + 1) & (slots_.size() - 1);
    slots_[place] = static_cast<std::uint32_t>(i + 1);
  }
}

SiteTable tabulate_sites(const SiteColumns& columns, const std::vector<int>& sizes, int threads,
                         JobControl& control) {
  const std::size_t populations = sizes.size();
  const std::int64_t pieces = (columns.sites + kPiece - 1) / kPiece;
  control.expect(columns.sites);
  SiteTable all(sizes);
  // So many pieces are held at once, whatever the number of threads.
  constexpr std::int64_t at_once = 64;
  for (std::int64_t from = 0; from < pieces; from += at_once) {
    std::vector<std::unique_ptr<SiteTable>> tables(
        static_cast<std::size_t>(std::min(at_once, pieces - from)));
    run_tasks(control, threads, static_cast<std::int64_t>(tables.size()),
              [&](std::int64_t i, const TaskContext& context) {
                context.throw_if_stopped();
                auto table = std::make_unique<SiteTable>(sizes);
                std::vector<AlleleCount> counts(populations);
                const std::int64_t start = (from + i) * kPiece;
                const std::int64_t end = std::min(start + kPiece, columns.sites);
                for (std::int64_t site = start; site < end; ++site) {
                  for (std::size_t k = 0; k < populations; ++k) {
                    counts[k] = {columns.called[k][site], columns.derived[k][site]};
                  }
                  table->add(counts.data(),
                             columns.posterior != nullptr ? columns.posterior[site] : 1,
                             columns.window != nullptr ? columns.window[site] : 0);
                }
                control.advance(end - start);
                tables[static_cast<std::size_t>(i)] = std::move(table);
              });
    for (const auto& table : tables) {
      if (control.stop_requested()) throw Interrupted();
      all.add(*table);
    }
  }
  return all;
}

}  // namespace ancify
