// Needs no eigenvalues of a valid kernel: A + c I has a Cholesky factor if no eigenvalue is below
// -c.
#include "core/reml/kernels/kernel_checks.h"

#include "core/reml/linear_algebra/large_matrices.h"
#include "core/reml/linear_algebra/tridiagonal.h"

namespace ancify::reml {

void check_positive(const Workers& workers, std::int64_t n, const std::vector<double>& kernel,
                    const std::string& name) {
  const auto size = static_cast<std::size_t>(n);
  double trace = 0;
  for (std::size_t i = 0; i < size; ++i) trace += kernel[i * (size + 1)];
  const double mean = trace / static_cast<double>(n);
  std::vector<double> shifted = kernel;
  for (std::size_t i = 0; i < size; ++i) shifted[i * (size + 1)] += kNegativeEigenvalue * mean;
  if (factorise(workers, {n, shifted.data(), n})) return;
  shifted = kernel;
  const Tridiagonal form(workers, static_cast<int>(n), shifted.data());
  check_smallest_eigenvalue(form.eigenvalues().front(), mean, name);
}

}  // namespace ancify::reml
