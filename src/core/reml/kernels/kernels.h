// The kernels of a model's genetic components, with the operations of a REML fit.
#pragma once

#include <cstdint>
#include <vector>

namespace ancify::reml {

// The precision of a product: 28 bits of each value for probes, 56 for all else.
enum class Precision { kProbes, kFull };

// Kernels K_1, ..., K_G of n samples. Matrices are n x columns, column-major. All members throw
// Interrupted within a second of a stop request.
class Kernels {
 public:
  virtual ~Kernels() = default;
  virtual std::int64_t samples() const = 0;
  virtual int components() const = 0;
  // tr(K_g) / n.
  virtual double mean_diagonal(int component) const = 0;
  // out = sum_g theta[g] K_g v. A component with theta 0 costs nothing.
  virtual void times(const double* theta, const double* v, int columns, Precision precision,
                     double* out) = 0;
  // forms[g * columns + c] = a_c' K_g b_c. `b` may be `a`. Takes one pass for any number of
  // components.
  virtual void quadratic_forms(const double* a, const double* b, int columns, Precision precision,
                               double* forms) = 0;
  // K_g as a dense n x n matrix.
  virtual void dense(int component, double* out) = 0;
  // The diagonal of K_g. Unless a class overrides it, from products with unit vectors.
  virtual std::vector<double> diagonal(int component);
  // The number of passes over all genotypes so far.
  virtual double passes() const = 0;
};

}  // namespace ancify::reml
