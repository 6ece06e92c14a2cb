// A sample is followed back in time. In units of 2 Nref generations, with the parameters of
// model.h: two lineages of population i coalesce at rate 1 / nu_i; a lineage moves from i to j at
// rate m_ij, as migrants into i come from j; a haplotype with both loci recombines at rate 2 Nref
// r; and a lineage mutates at rate theta / 2 at a locus. Lineages that coalesce at a locus do not
// differ there, so the sample's value becomes 0. If a lineage mutates at a locus, the two lineages
// differ there, so only the other locus remains to be followed. No site mutates twice. See
// Griffiths (1981) Theor. Popul. Biol. 19:169; McVean (2002) Genetics 162:987. Differences of these
// values are the statistics of Hill and Robertson (1968) Theor. Appl. Genet. 38:226, and of
// Ragsdale and Gravel (2019) PLoS Genet. 15:e1008204; so both systems of equations are equivalent.
#include "core/two_locus/rates.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace ancify::two_locus {

namespace {

// Parameters of a time step, in the order of Term::parameter.
std::uint32_t coalescence(int population) { return static_cast<std::uint32_t>(population); }
std::uint32_t migration(int into, int from, int populations) {
  return static_cast<std::uint32_t>(populations * (into + 1) + from);
}
std::uint32_t mutation(int populations) {
  return static_cast<std::uint32_t>(populations * (populations + 1));
}
std::uint32_t recombination(int populations) { return mutation(populations) + 1; }

// Changes of a sample with the same parameter are summed.
struct Place {
  std::size_t row;
  std::size_t column;
  bool operator<(const Place& other) const {
    return row != other.row ? row < other.row : column < other.column;
  }
};
using Weights = std::map<std::uint32_t, double>;
using Changes = std::map<Place, Weights>;

Sample without(const Sample& sample, unsigned locus) {
  Sample rest;
  for (const auto& lineage : sample) {
    if ((lineage.loci & ~locus) != 0) rest.push_back({lineage.population, lineage.loci & ~locus});
  }
  return rest;
}

Sample moved(Sample sample, std::size_t lineage, int population) {
  sample[lineage].population = population;
  return sample;
}

Sample recombined(Sample sample, std::size_t lineage) {
  sample[lineage].loci = Lineage::kLeft;
  sample.push_back({sample[lineage].population, Lineage::kRight});
  return sample;
}

Sample coalesced(Sample sample, std::size_t one, std::size_t other) {
  sample[one].loci |= sample[other].loci;
  sample.erase(sample.begin() + static_cast<std::ptrdiff_t>(other));
  return sample;
}

// All transitions between samples, with their rates.
class Collection {
 public:
  Collection(const Samples& samples, const diffusion::Schedule& schedule)
      : samples_(samples), schedule_(schedule), populations_(samples.populations()) {
    for (row_ = 0; row_ < samples.size(); ++row_) {
      changes_[{row_, row_}];  // store the diagonal even if it is 0
      const Sample& sample = samples.all()[row_];
      for (std::size_t a = 0; a < sample.size(); ++a) {
        if (flag(schedule.frozen, sample[a]) == 0) add_changes(sample, a);
      }
    }
  }

  const Changes& changes() const { return changes_; }

 private:
  static char flag(const std::vector<char>& flags, const Lineage& lineage) {
    return flags[static_cast<std::size_t>(lineage.population)];
  }

  void add_changes(const Sample& sample, std::size_t a) {
    const Lineage& lineage = sample[a];
    for (int j = 0; j < populations_; ++j) {
      if (j != lineage.population) {
        become(moved(sample, a, j), migration(lineage.population, j, populations_));
      }
    }
    if (lineage.loci == Lineage::kBoth) become(recombined(sample, a), recombination(populations_));
    for (std::size_t b = a + 1; b < sample.size(); ++b) {
      if (sample[b].population != lineage.population) continue;
      if ((lineage.loci & sample[b].loci) != 0) {
        add(row_, coalescence(lineage.population), -1);
      } else {
        become(coalesced(sample, a, b), coalescence(lineage.population));
      }
    }
    for (const unsigned locus : {Lineage::kLeft, Lineage::kRight}) {
      if ((lineage.loci & locus) != 0 && flag(schedule_.mutates, lineage) != 0) {
        add(samples_.index(without(sample, locus)), mutation(populations_), 1);
      }
    }
  }

  void become(const Sample& next, std::uint32_t parameter) {
    add(samples_.index(next), parameter, 1);
    add(row_, parameter, -1);
  }

  void add(std::size_t column, std::uint32_t parameter, double weight) {
    changes_[{row_, column}][parameter] += weight;
  }

  const Samples& samples_;
  const diffusion::Schedule& schedule_;
  int populations_;
  std::size_t row_ = 0;
  Changes changes_;
};

void start_row(SparseMatrix& matrix) {
  matrix.starts.push_back(static_cast<std::uint32_t>(matrix.columns.size()));
}

void append(SparseMatrix& matrix, std::size_t column, double value) {
  matrix.columns.push_back(static_cast<std::uint32_t>(column));
  matrix.values.push_back(value);
}

// The origins of a population's lineage, and their shares.
std::vector<std::pair<int, double>> origins(int population, int before,
                                            const diffusion::Transition& transition) {
  using Kind = diffusion::Transition::Kind;
  const bool is_mixed = (transition.kind == Kind::kNewPopulation && population == before) ||
                        (transition.kind == Kind::kPulse && population == transition.population);
  if (is_mixed) {
    std::vector<std::pair<int, double>> all;
    for (int k = 0; k < before; ++k) {
      if (transition.shares[k] > 0) all.emplace_back(k, transition.shares[k]);
    }
    return all;
  }
  if (transition.kind == Kind::kReordering) return {{transition.order[population], 1.0}};
  const bool is_shifted = transition.kind == Kind::kRemoval && population >= transition.population;
  return {{population + (is_shifted ? 1 : 0), 1.0}};
}

}  // namespace

Rates::Rates(const Samples& samples, const diffusion::Schedule& schedule)
    : populations_(samples.populations()) {
  const Collection collection(samples, schedule);
  std::size_t row = samples.size();
  for (const auto& [place, weights] : collection.changes()) {
    if (place.row != row) {
      row = place.row;
      start_row(pattern_.fixed);
      start_row(pattern_.recombination);
    }
    if (place.row == place.column) {
      diagonal_.push_back(static_cast<std::uint32_t>(pattern_.fixed.columns.size()));
    }
    const auto value = static_cast<std::uint32_t>(pattern_.fixed.columns.size());
    append(pattern_.fixed, place.column, 0);
    for (const auto& [parameter, weight] : weights) {
      if (parameter == recombination(populations_)) {
        append(pattern_.recombination, place.column, weight);
        pattern_.fastest_recombination = std::max(pattern_.fastest_recombination, -weight);
      } else {
        terms_.push_back({value, parameter, weight});
      }
    }
  }
  start_row(pattern_.fixed);
  start_row(pattern_.recombination);
}

void Rates::fill(const diffusion::TimeStep& step, RateMatrix& matrix) const {
  std::vector<double> parameters(mutation(populations_) + 1);
  for (int i = 0; i < populations_; ++i) {
    parameters[coalescence(i)] = 1 / step.size[i];
    for (int j = 0; j < populations_; ++j) {
      parameters[migration(i, j, populations_)] = step.migration[i][j];
    }
  }
  parameters[mutation(populations_)] = step.theta / 2;
  auto& values = matrix.fixed.values;
  std::fill(values.begin(), values.end(), 0.0);
  for (const auto& term : terms_) values[term.value] += term.weight * parameters[term.parameter];
  matrix.fastest_fixed = 0;
  for (const auto value : diagonal_) {
    matrix.fastest_fixed = std::max(matrix.fastest_fixed, -values[value]);
  }
}

SparseMatrix transition_matrix(const Samples& before, const Samples& after,
                               const diffusion::Transition& transition) {
  SparseMatrix matrix;
  for (const Sample& sample : after.all()) {
    std::map<std::size_t, double> row;
    Sample origin = sample;
    // The origins of each lineage, one lineage after another.
    const auto follow = [&](const auto& self, std::size_t lineage, double share) -> void {
      if (lineage == sample.size()) {
        row[before.index(origin)] += share;
        return;
      }
      for (const auto& [population, part] :
           origins(sample[lineage].population, before.populations(), transition)) {
        origin[lineage].population = population;
        self(self, lineage + 1, share * part);
      }
    };
    follow(follow, 0, 1);
    start_row(matrix);
    for (const auto& [column, share] : row) append(matrix, column, share);
  }
  start_row(matrix);
  return matrix;
}

}  // namespace ancify::two_locus
