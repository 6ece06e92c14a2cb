// Kernels from matrices and from functions, and combinations of them.
#include "core/reml/kernels/matrix_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/reml/linear_algebra/lapack.h"

namespace ancify::reml {

namespace {

// Columns per product, few enough that a stop request is noticed soon.
constexpr int kColumns = 16;

void throw_if_stopped(const JobControl& control) { TaskContext(control).throw_if_stopped(); }

// forms[c] = a_c' kb_c.
void dot_columns(std::int64_t n, int columns, const double* a, const double* kb, double* forms) {
  for (int c = 0; c < columns; ++c) {
    const double* const column = a + c * n;
    forms[c] = std::inner_product(column, column + n, kb + c * n, 0.0);
  }
}

class JoinedKernels : public Kernels {
 public:
  explicit JoinedKernels(std::vector<std::unique_ptr<Kernels>> parts) : parts_(std::move(parts)) {}

  std::int64_t samples() const override { return parts_.front()->samples(); }

  int components() const override {
    int sum = 0;
    for (const auto& part : parts_) sum += part->components();
    return sum;
  }

  double mean_diagonal(int component) const override {
    const auto [part, within] = find(component);
    return part->mean_diagonal(within);
  }

  void times(const double* theta, const double* v, int columns, Precision precision,
             double* out) override {
    const std::int64_t size = samples() * columns;
    std::fill(out, out + size, 0.0);
    std::vector<double> product(static_cast<std::size_t>(size));
    for (const auto& part : parts_) {
      const int n = part->components();
      if (std::any_of(theta, theta + n, [](double value) { return value != 0; })) {
        part->times(theta, v, columns, precision, product.data());
        for (std::size_t i = 0; i < product.size(); ++i) out[i] += product[i];
      }
      theta += n;
    }
  }

  void quadratic_forms(const double* a, const double* b, int columns, Precision precision,
                       double* forms) override {
    for (const auto& part : parts_) {
      part->quadratic_forms(a, b, columns, precision, forms);
      forms += static_cast<std::ptrdiff_t>(part->components()) * columns;
    }
  }

  void dense(int component, double* out) override {
    const auto [part, within] = find(component);
    part->dense(within, out);
  }

  std::vector<double> diagonal(int component) override {
    const auto [part, within] = find(component);
    return part->diagonal(within);
  }

  double passes() const override {
    double most = 0;
    for (const auto& part : parts_) most = std::max(most, part->passes());
    return most;
  }

 private:
  // The part that holds a component, and its index there.
  std::pair<Kernels*, int> find(int component) const {
    auto part = parts_.begin();
    for (; component >= (*part)->components(); ++part) component -= (*part)->components();
    return {part->get(), component};
  }

  std::vector<std::unique_ptr<Kernels>> parts_;
};

}  // namespace

MatrixKernels::MatrixKernels(std::int64_t n, std::vector<const double*> matrices,
                             JobControl& control)
    : n_(n), matrices_(std::move(matrices)), control_(control) {}

double MatrixKernels::mean_diagonal(int component) const {
  double trace = 0;
  for (std::int64_t i = 0; i < n_; ++i) trace += matrix(component)[i * n_ + i];
  return trace / static_cast<double>(n_);
}

std::vector<double> MatrixKernels::diagonal(int component) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < n_; ++i) result.push_back(matrix(component)[i * n_ + i]);
  return result;
}

void MatrixKernels::times(const double* theta, const double* v, int columns,
                          Precision /*precision*/, double* out) {
  const auto n = static_cast<int>(n_);
  std::fill(out, out + n_ * columns, 0.0);
  for (int g = 0; g < components(); ++g) {
    for (int first = 0; first < columns && theta[g] != 0; first += kColumns) {
      throw_if_stopped(control_);
      add_symmetric_product(n, std::min(kColumns, columns - first), theta[g], matrix(g),
                            v + n_ * first, out + n_ * first);
    }
  }
  ++passes_;
}

void MatrixKernels::quadratic_forms(const double* a, const double* b, int columns,
                                    Precision /*precision*/, double* forms) {
  std::vector<double> product(static_cast<std::size_t>(n_ * kColumns));
  for (int g = 0; g < components(); ++g, forms += columns) {
    for (int first = 0; first < columns; first += kColumns) {
      throw_if_stopped(control_);
      const int width = std::min(kColumns, columns - first);
      symmetric_product(static_cast<int>(n_), width, matrix(g), b + n_ * first, product.data());
      dot_columns(n_, width, a + n_ * first, product.data(), forms + first);
    }
  }
  ++passes_;
}

void MatrixKernels::dense(int component, double* out) {
  std::copy(matrix(component), matrix(component) + n_ * n_, out);
}

ProductKernel::ProductKernel(std::int64_t n, KernelProduct product, double trace,
                             JobControl& control)
    : n_(n), product_(std::move(product)), trace_(trace), control_(control) {}

double ProductKernel::mean_diagonal(int /*component*/) const {
  return trace_ / static_cast<double>(n_);
}

void ProductKernel::multiply(const double* v, int columns, double* out) {
  throw_if_stopped(control_);
  product_(v, columns, out);
  ++passes_;
}

void ProductKernel::times(const double* theta, const double* v, int columns,
                          Precision /*precision*/, double* out) {
  if (theta[0] == 0) {
    std::fill(out, out + n_ * columns, 0.0);
    return;
  }
  multiply(v, columns, out);
  for (std::int64_t i = 0; i < n_ * columns; ++i) out[i] *= theta[0];
}

void ProductKernel::quadratic_forms(const double* a, const double* b, int columns,
                                    Precision /*precision*/, double* forms) {
  std::vector<double> product(static_cast<std::size_t>(n_ * columns));
  multiply(b, columns, product.data());
  dot_columns(n_, columns, a, product.data(), forms);
}

namespace {

void check_symmetric(std::int64_t n, double mean_diagonal, const double* k) {
  constexpr double kRounding = 1e-6;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j + 1; i < n; ++i) {
      if (!(std::abs(k[j * n + i] - k[i * n + j]) <= kRounding * mean_diagonal)) {
        throw InputError("a kernel's products belong to a matrix that is not symmetric: " +
                         std::to_string(k[j * n + i]) + " in row " + std::to_string(i + 1) +
                         ", column " + std::to_string(j + 1) + ", but " +
                         std::to_string(k[i * n + j]) + " the other way round");
      }
    }
  }
}

}  // namespace

void ProductKernel::dense(int /*component*/, double* out) {
  for_unit_columns(n_, out, [&](const double* units, int columns, double* product) {
    multiply(units, columns, product);
  });
  // A trace given by the user may be rounded.
  constexpr double kRoundingOfTrace = 1e-4;
  double sum = 0;
  for (std::int64_t i = 0; i < n_; ++i) sum += out[i * (n_ + 1)];
  if (!(std::abs(sum - trace_) <= kRoundingOfTrace * std::abs(sum))) {
    char text[96];
    std::snprintf(text, sizeof(text),
                  "the products of a kernel have the trace %.6g, but `trace` is %.6g", sum, trace_);
    throw InputError(text);
  }
  check_symmetric(n_, std::abs(sum) / static_cast<double>(n_), out);
}

void for_unit_columns(std::int64_t n, double* out, const KernelProduct& multiply) {
  constexpr std::int64_t kBlock = 256;
  for (std::int64_t first = 0; first < n; first += kBlock) {
    const auto width = std::min(kBlock, n - first);
    std::vector<double> units(static_cast<std::size_t>(n * width), 0.0);
    for (std::int64_t c = 0; c < width; ++c) {
      units[static_cast<std::size_t>(c * n + first + c)] = 1;
    }
    multiply(units.data(), static_cast<int>(width), out + n * first);
  }
}

std::unique_ptr<Kernels> join_kernels(std::vector<std::unique_ptr<Kernels>> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  return std::make_unique<JoinedKernels>(std::move(parts));
}

}  // namespace ancify::reml
