// The nodes of a rule are the eigenvalues of the tridiagonal matrix. Its weights are v'v times the
// squared first components of the eigenvectors (Golub and Welsch 1969, Math. Comp. 23:221). For a
// node at a, the matrix gets one more row, with the diagonal element a + b_k^2 e_k'(T - a I)^-1 e_k
// (Golub and Meurant 2010, Matrices, Moments and Quadrature with Applications, chapter 6).
#include "core/reml/linear_algebra/quadrature.h"

#include <cmath>
#include <limits>

#include "core/exec/errors.h"

namespace ancify::reml {

namespace {

constexpr int kMostRounds = 100;

// The eigenvalues of a tridiagonal matrix and the first components of its eigenvectors, by the
// implicit QL method (Wilkinson and Reinsch 1971, Handbook for Automatic Computation II/4).
class TridiagonalSpectrum {
 public:
  TridiagonalSpectrum(std::vector<double> diagonal, std::vector<double> beside)
      : diagonal_(std::move(diagonal)), beside_(std::move(beside)), first_(diagonal_.size()) {
    beside_.resize(diagonal_.size());
    if (!beside_.empty()) beside_.back() = 0;
    if (!first_.empty()) first_.front() = 1;
    for (std::size_t i = 0; i < diagonal_.size(); ++i) split(i);
  }

  const std::vector<double>& values() const { return diagonal_; }
  const std::vector<double>& first() const { return first_; }

 private:
  // The end of the unreduced part that begins at i, without zeros beside the diagonal.
  std::size_t end_of_part(std::size_t i) const {
    for (; i + 1 < diagonal_.size(); ++i) {
      const double size = std::abs(diagonal_[i]) + std::abs(diagonal_[i + 1]);
      if (std::abs(beside_[i]) <= std::numeric_limits<double>::epsilon() * size) break;
    }
    return i;
  }

  // Rotates until diagonal_[i] is an eigenvalue.
  void split(std::size_t i) {
    for (int round = 0;; ++round) {
      const std::size_t end = end_of_part(i);
      if (end == i) return;
      if (round == kMostRounds) throw InputError("the eigenvalues of a kernel did not converge");
      rotate(i, end);
    }
  }

  void rotate(std::size_t i, std::size_t end) {
    double g = (diagonal_[i + 1] - diagonal_[i]) / (2 * beside_[i]);
    double r = std::hypot(g, 1.0);
    g = diagonal_[end] - diagonal_[i] + beside_[i] / (g + std::copysign(r, g));
    double sine = 1;
    double cosine = 1;
    double shift = 0;
    for (std::size_t k = end; k-- > i;) {
      const double f = sine * beside_[k];
      const double b = cosine * beside_[k];
      r = std::hypot(f, g);
      beside_[k + 1] = r;
      if (r == 0) {
        diagonal_[k + 1] -= shift;
        beside_[end] = 0;
        return;
      }
      sine = f / r;
      cosine = g / r;
      g = diagonal_[k + 1] - shift;
      r = (diagonal_[k] - g) * sine + 2 * cosine * b;
      shift = sine * r;
      diagonal_[k + 1] = g + shift;
      g = cosine * r - b;
      const double upper = first_[k + 1];
      first_[k + 1] = sine * first_[k] + cosine * upper;
      first_[k] = cosine * first_[k] - sine * upper;
    }
    diagonal_[i] -= shift;
    beside_[i] = g;
    beside_[end] = 0;
  }

  std::vector<double> diagonal_;
  std::vector<double> beside_;
  std::vector<double> first_;
};

SpectralSum rule(const TridiagonalSpectrum& spectrum, double square) {
  SpectralSum sum = {spectrum.values(), {}};
  for (const double first : spectrum.first()) sum.weights.push_back(square * first * first);
  return sum;
}

}  // namespace

std::string quadrature_message() {
  return "the Lanczos steps do not suffice for the tolerance; use the exact method";
}

// (a T + b I) c = |v| e_1, by elimination.
std::vector<double> krylov_solution(const LanczosRun& run, double a, double b) {
  const std::size_t k = run.diagonal.size();
  std::vector<double> pivots(k);
  std::vector<double> c(k);
  for (std::size_t i = 0; i < k; ++i) {
    const double factor = i == 0 ? 0 : a * run.beside[i - 1] / pivots[i - 1];
    pivots[i] = a * run.diagonal[i] + b - (i == 0 ? 0 : factor * a * run.beside[i - 1]);
    c[i] = i == 0 ? std::sqrt(run.square) : -factor * c[i - 1];
  }
  for (std::size_t i = k; i-- > 0;) {
    if (i + 1 < k) c[i] -= a * run.beside[i] * c[i + 1];
    c[i] /= pivots[i];
  }
  return c;
}

SpectralSum gauss_rule(const LanczosRun& run) {
  return rule(TridiagonalSpectrum(run.diagonal, run.beside), run.square);
}

SpectralSum gauss_radau_rule(const LanczosRun& run, double least) {
  double pivot = std::numeric_limits<double>::infinity();
  double before = 0;
  for (std::size_t i = 0; i < run.diagonal.size(); ++i) {
    pivot = run.diagonal[i] - least - before * before / pivot;
    if (!(pivot > 0)) return gauss_rule(run);
    before = run.beside[i];
  }
  if (run.exhausted) return gauss_rule(run);
  std::vector<double> diagonal = run.diagonal;
  diagonal.push_back(least + before * before / pivot);
  return rule(TridiagonalSpectrum(std::move(diagonal), run.beside), run.square);
}

}  // namespace ancify::reml
