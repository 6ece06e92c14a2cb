// Converts kernels from R, a class for each kind. Kernels of genotypes, and combinations of other
// kernels, have files of their own.
#include "rcpp_reml_kernels.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <future>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/reml/kernels/group_product.h"
#include "core/reml/kernels/matrix_kernels.h"
#include "core/reml/kernels/sparse_product.h"
#include "rcpp_fields.h"

namespace reml = ancify::reml;

namespace {

// ---- Lists, one for each kind -------------------------------------------------------------------

struct MatrixFields {
  Rcpp::NumericMatrix matrix;
};

// `products`: a function of an n x columns matrix.
struct ProductsFields {
  Rcpp::RObject products;
  double trace;
};

// The lower triangle, sorted by column, then row, from 0.
struct SparseFields {
  std::vector<std::int32_t> row;
  std::vector<std::int32_t> column;
  std::vector<double> value;
};

// Of each sample, from 0.
struct GroupsFields {
  std::vector<std::int32_t> groups;
};

}  // namespace

template <>
struct Fields<MatrixFields> {
  static constexpr auto table = fields("MatrixKernel", field("matrix", &MatrixFields::matrix));
};

template <>
struct Fields<ProductsFields> {
  using All = ProductsFields;
  static constexpr auto table =
      fields("ProductsKernel", field("products", &All::products), field("trace", &All::trace));
};

template <>
struct Fields<SparseFields> {
  using All = SparseFields;
  static constexpr auto table = fields("SparseKernel", field("row", &All::row),
                                       field("column", &All::column), field("value", &All::value));
};

template <>
struct Fields<GroupsFields> {
  static constexpr auto table = fields("GroupsKernel", field("groups", &GroupsFields::groups));
};

namespace {

using Names = std::vector<std::string>;

// ---- Matrices -----------------------------------------------------------------------------------

class MatrixKernel : public OtherKernel {
 public:
  using Given = MatrixFields;
  MatrixKernel(const Given& given, std::int64_t samples)
      : samples_(samples), matrix_(given.matrix), values_(matrix_.begin()) {
    if (matrix_.size() != static_cast<R_xlen_t>(samples * samples)) {
      guarded([&] {
        throw ancify::InputError("a kernel is no matrix with a row and a column for each of the " +
                                 std::to_string(samples) + " samples");
      });
    }
  }
  std::unique_ptr<reml::Kernels> open(const Names& /*names*/, ancify::JobControl& control,
                                      Mailbox& /*mail*/, KernelFacts& facts) override {
    facts.add(NA_REAL, NA_REAL);
    return std::make_unique<reml::MatrixKernels>(samples_, std::vector<const double*>{values_},
                                                 control);
  }

 private:
  std::int64_t samples_;
  Rcpp::NumericMatrix matrix_;
  const double* values_;
};

class SparseKernel : public OtherKernel {
 public:
  using Given = SparseFields;
  SparseKernel(const Given& given, std::int64_t samples)
      : samples_(samples), product_(samples, given.row, given.column, given.value) {}
  std::unique_ptr<reml::Kernels> open(const Names& /*names*/, ancify::JobControl& control,
                                      Mailbox& /*mail*/, KernelFacts& facts) override {
    facts.add(NA_REAL, NA_REAL);
    return std::make_unique<reml::ProductKernel>(samples_, std::cref(product_), product_.trace(),
                                                 control);
  }

 private:
  std::int64_t samples_;
  reml::SparseProduct product_;
};

class GroupsKernel : public OtherKernel {
 public:
  using Given = GroupsFields;
  GroupsKernel(const Given& given, std::int64_t samples)
      : samples_(samples), product_(given.groups) {
    check_one_for_each_sample(given.groups.size(), samples);
  }
  std::unique_ptr<reml::Kernels> open(const Names& /*names*/, ancify::JobControl& control,
                                      Mailbox& /*mail*/, KernelFacts& facts) override {
    facts.add(NA_REAL, NA_REAL);
    return std::make_unique<reml::ProductKernel>(samples_, std::cref(product_),
                                                 static_cast<double>(samples_), control);
  }

 private:
  std::int64_t samples_;
  reml::GroupProduct product_;
};

// ---- Functions ----------------------------------------------------------------------------------

// out = f(v), on R's thread.
void call_products(const Rcpp::Function& f, const double* v, std::int64_t n, int columns,
                   double* out) {
  auto block = make_matrix(static_cast<int>(n), columns);
  std::copy(v, v + n * columns, block.begin());
  const Rcpp::NumericVector product = f(block);
  if (product.size() != block.size()) {
    throw ancify::InputError("a kernel's products have " + std::to_string(product.size()) +
                             " numbers, not " + std::to_string(block.size()) +
                             ": one for each of its argument's");
  }
  if (!std::all_of(product.begin(), product.end(), [](double x) { return std::isfinite(x); })) {
    throw ancify::InputError("a kernel's products have a value that is not finite");
  }
  std::copy(product.begin(), product.end(), out);
}

// The job's thread passes the call to R's thread and waits. In a forked child both are one
// thread.
reml::KernelProduct as_product(const Rcpp::RObject& f, std::int64_t n, Mailbox& mail,
                               const ancify::JobControl& control) {
  return [&f, n, &mail, &control](const double* v, int columns, double* out) {
    const auto call = [&f, n, v, columns, out] {
      call_products(Rcpp::Function(f), v, n, columns, out);
    };
    if (ancify::in_forked_child()) return call();
    const auto answer = std::make_shared<std::promise<void>>();
    auto answered = answer->get_future();
    mail.post([call, answer] {
      call();
      answer->set_value();
    });
    while (answered.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
      ancify::TaskContext(control).throw_if_stopped();
    }
  };
}

class ProductsKernel : public OtherKernel {
 public:
  using Given = ProductsFields;
  ProductsKernel(const Given& given, std::int64_t samples) : given_(given), samples_(samples) {}
  std::unique_ptr<reml::Kernels> open(const Names& /*names*/, ancify::JobControl& control,
                                      Mailbox& mail, KernelFacts& facts) override {
    facts.add(NA_REAL, NA_REAL);
    return std::make_unique<reml::ProductKernel>(
        samples_, as_product(given_.products, samples_, mail, control), given_.trace, control);
  }

 private:
  Given given_;
  std::int64_t samples_;
};

// ---- Kinds --------------------------------------------------------------------------------------

MakeKernel as_kernel_kind(const std::string& name) {
  return choice<MakeKernel>(name, {{"matrix", make_kernel<MatrixKernel>},
                                   {"sparse", make_kernel<SparseKernel>},
                                   {"products", make_kernel<ProductsKernel>},
                                   {"groups", make_kernel<GroupsKernel>},
                                   {"weighted", make_weighted_kernel},
                                   {"admixture", make_admixture_kernel},
                                   {"grm", make_grm_kernel},
                                   {"dominance", make_dominance_kernel},
                                   {"records", make_records_kernel},
                                   {"interaction", make_interaction_kernel},
                                   {"blocks", make_blocks_kernel},
                                   {"product", make_product_of_kernels}});
}

struct KernelFields {
  MakeKernel make;
  Rcpp::RObject fields;
};

}  // namespace

template <>
struct Fields<KernelFields> {
  using All = KernelFields;
  static constexpr auto table = fields("OtherKernel", field("kind", &All::make, as_kernel_kind),
                                       field("fields", &All::fields));
};

void check_one_for_each_sample(std::size_t values, std::int64_t samples) {
  if (static_cast<std::int64_t>(values) == samples) return;
  guarded([&] {
    throw ancify::InputError("a kernel has values of " + std::to_string(values) +
                             " samples, but the fit has " + std::to_string(samples));
  });
}

std::unique_ptr<OtherKernel> as_other_kernel(SEXP kernel, std::int64_t samples) {
  const auto given = from_list<KernelFields>(kernel);
  return given.make(given.fields, samples);
}
