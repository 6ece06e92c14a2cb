// The three-term recursion  b_k v_k+1 = A v_k - a_k v_k - b_k-1 v_k-1  (Lanczos 1950, J. Res. NBS
// 45:255). Earlier vectors are not kept. Rounding errors reintroduce their directions, so the run
// behaves as if A were a larger matrix, with eigenvalues in tiny intervals around A's. Its sums
// converge to the same limits, only later (Greenbaum 1989, Linear Algebra Appl. 113:7; Golub and
// Strakos 1994, Numer. Algorithms 8:241).
#include "core/reml/solvers/lanczos.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ancify::reml {

namespace {

// A next vector below this share of a run's size is rounding error.
constexpr double kExhausted = 1e-10;

}  // namespace

void Lanczos::add(int columns, const double* v) {
  const std::int64_t n = covariance_.model().samples();
  std::vector<double> squares(static_cast<std::size_t>(columns));
  column_products(covariance_.model().workers, n, columns, v, v, squares.data());
  vectors_.reserve(vectors_.size() + area(n, columns));
  for (int c = 0; c < columns; ++c) {
    LanczosRun run;
    run.square = squares[static_cast<std::size_t>(c)];
    run.exhausted = !(run.square > 0);
    if (!run.exhausted) {
      going_.push_back(runs_.size());
      const double length = std::sqrt(run.square);
      for (std::int64_t i = 0; i < n; ++i) vectors_.push_back(v[c * n + i] / length);
    }
    runs_.push_back(run);
  }
  earlier_.resize(vectors_.size());
}

void Lanczos::advance(int steps) {
  while (!going_.empty()) {
    // Later runs have at most as many steps.
    const int least = runs_[going_.back()].steps();
    if (least >= steps) return;
    const auto first = std::find_if(going_.begin(), going_.end(), [&](std::size_t number) {
      return runs_[number].steps() == least;
    });
    step(static_cast<std::size_t>(first - going_.begin()));
    drop_exhausted();
  }
}

void Lanczos::step(std::size_t from) {
  const RestrictedModel& model = covariance_.model();
  const std::int64_t n = model.samples();
  const int columns = static_cast<int>(going_.size() - from);
  double* const v = vectors_.data() + static_cast<std::ptrdiff_t>(from) * n;
  double* const u = earlier_.data() + static_cast<std::ptrdiff_t>(from) * n;
  if (of_first_ != nullptr && going_[from] == 0) of_first_->insert(of_first_->end(), v, v + n);
  std::vector<double> product(area(n, columns));
  covariance_.times(v, columns, Precision::kProbes, product.data());
  std::vector<double> along(static_cast<std::size_t>(columns));
  column_products(model.workers, n, columns, v, product.data(), along.data());
  for_chunks(model.workers, n, [&](std::int64_t first, std::int64_t size) {
    for (int c = 0; c < columns; ++c) {
      const LanczosRun& run = runs_[going_[from + static_cast<std::size_t>(c)]];
      const double before = run.beside.empty() ? 0 : run.beside.back();
      const double now = along[static_cast<std::size_t>(c)];
      const std::int64_t begin = c * n + first;
      for (std::int64_t i = begin; i < begin + size; ++i) {
        product[static_cast<std::size_t>(i)] -= now * v[i] + before * u[i];
      }
    }
  });
  // Near the end of a run only rounding errors remain, which must be projected onto the complement
  // too.
  model.fixed.project(model.workers, columns, product.data());
  std::vector<double> squares(static_cast<std::size_t>(columns));
  column_products(model.workers, n, columns, product.data(), product.data(), squares.data());
  for (std::size_t c = 0; c < squares.size(); ++c) {
    LanczosRun& run = runs_[going_[from + c]];
    const double beside = std::sqrt(squares[c]);
    const double before = run.beside.empty() ? 0 : run.beside.back();
    run.diagonal.push_back(along[c]);
    run.beside.push_back(beside);
    run.exhausted = !(beside > kExhausted * (std::abs(along[c]) + before));
  }
  for_chunks(model.workers, n, [&](std::int64_t first, std::int64_t size) {
    for (int c = 0; c < columns; ++c) {
      const LanczosRun& run = runs_[going_[from + static_cast<std::size_t>(c)]];
      if (run.exhausted) continue;
      const std::int64_t begin = c * n + first;
      for (std::int64_t i = begin; i < begin + size; ++i) {
        u[i] = v[i];
        v[i] = product[static_cast<std::size_t>(i)] / run.beside.back();
      }
    }
  });
}

void Lanczos::drop_exhausted() {
  const std::int64_t n = covariance_.model().samples();
  std::size_t to = 0;
  for (std::size_t k = 0; k < going_.size(); ++k) {
    if (runs_[going_[k]].exhausted) continue;
    if (to != k) {
      going_[to] = going_[k];
      for (std::vector<double>* block : {&vectors_, &earlier_}) {
        std::copy_n(block->begin() + static_cast<std::ptrdiff_t>(k) * n, n,
                    block->begin() + static_cast<std::ptrdiff_t>(to) * n);
      }
    }
    ++to;
  }
  going_.resize(to);
  vectors_.resize(to * static_cast<std::size_t>(n));
  earlier_.resize(vectors_.size());
}

}  // namespace ancify::reml
