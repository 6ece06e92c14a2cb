// Sets of degrees of polynomials in the allele frequencies of several populations.
#pragma once

#include <cstddef>
#include <vector>

namespace ancify::moments {

// The most lineages that a sample has in each group of populations. Lineages move within groups.
struct LineageBounds {
  std::vector<int> group;     // of each population
  std::vector<int> lineages;  // of each group

  int populations() const { return static_cast<int>(group.size()); }
  int of_population(int population) const {
    return lineages[static_cast<std::size_t>(group[static_cast<std::size_t>(population)])];
  }
};

// The number of degrees within bounds, a double because it may exceed any integer.
double number_of_degrees(const LineageBounds& bounds);

// All degrees a_1, ..., a_P whose sum in each group is within its bound, in lexicographic order.
// Degrees that share all but a_P are a line, which is consecutive.
class DegreeSet {
 public:
  // InputError if there are too many degrees to index.
  explicit DegreeSet(LineageBounds bounds);

  const LineageBounds& bounds() const { return bounds_; }
  int populations() const { return bounds_.populations(); }
  std::size_t size() const { return first_.back(); }

  int lines() const { return static_cast<int>(first_.size()) - 1; }
  std::size_t first(int line) const { return first_[static_cast<std::size_t>(line)]; }
  int length(int line) const { return static_cast<int>(first(line + 1) - first(line)); }
  // The degree in a population but the last.
  int degree(int line, int population) const { return prefixes_[at(line, population)]; }
  // The line whose degree in a population is higher or lower by 1, or -1.
  int above(int line, int population) const { return above_[at(line, population)]; }
  int below(int line, int population) const { return below_[at(line, population)]; }

  // The position of P degrees, which must be in the set.
  std::size_t position(const std::vector<int>& degrees) const;

  // Calls f(position, degrees) for all degrees.
  template <class Function>
  void for_each(const Function& f) const {
    std::vector<int> degrees(static_cast<std::size_t>(populations()));
    for (int line = 0; line < lines(); ++line) {
      for (int k = 0; k + 1 < populations(); ++k) {
        degrees[static_cast<std::size_t>(k)] = degree(line, k);
      }
      for (int a = 0; a < length(line); ++a) {
        degrees.back() = a;
        f(first(line) + static_cast<std::size_t>(a), degrees);
      }
    }
  }

 private:
  std::size_t at(int line, int population) const {
    return static_cast<std::size_t>(line) * static_cast<std::size_t>(populations() - 1) +
           static_cast<std::size_t>(population);
  }
  // The line with these degrees in all populations but the last, or -1.
  int find(const int* prefix) const;
  void add_lines(std::vector<int>& prefix, std::vector<int>& left, int population);

  LineageBounds bounds_;
  std::vector<int> prefixes_;
  std::vector<std::size_t> first_;
  std::vector<int> above_;
  std::vector<int> below_;
};

}  // namespace ancify::moments
