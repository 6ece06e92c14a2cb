// Converts kernels from R, a class for each kind.
#include "rcpp_reml_kernels.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <future>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/reml/kernels/admixture_kernels.h"
#include "core/reml/kernels/genotype_kernels.h"
#include "core/reml/kernels/matrix_kernels.h"
#include "core/reml/kernels/sparse_product.h"
#include "core/reml/kernels/weighted_kernels.h"
#include "rcpp_fields.h"
#include "rcpp_genotypes.h"

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

// `blocks`: matrices. `component`: of each block, from 0. `divisors`: of each component; 0 for its
// mean diagonal.
struct WeightedFields {
  ChosenGenotypes genotypes;
  double scale_power;
  Rcpp::List blocks;
  Rcpp::IntegerVector component;
  std::vector<double> divisors;
};

// `shares`: n x ancestries.
struct AdmixtureFields {
  ChosenGenotypes genotypes;
  double scale_power;
  std::vector<double> shares;
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
struct Fields<WeightedFields> {
  using All = WeightedFields;
  static constexpr auto table =
      fields("WeightedKernel", field("genotypes", &All::genotypes, as_chosen),
             field("scale_power", &All::scale_power), field("blocks", &All::blocks),
             field("component", &All::component), field("divisors", &All::divisors));
};

template <>
struct Fields<AdmixtureFields> {
  using All = AdmixtureFields;
  static constexpr auto table =
      fields("AdmixtureKernel", field("genotypes", &All::genotypes, as_chosen),
             field("scale_power", &All::scale_power), field("shares", &All::shares));
};

namespace {

using Names = std::vector<std::string>;

// The names of the components that have no facts yet.
Names later_names(const Names& names, const KernelFacts& facts) {
  const auto earlier = std::min(facts.divisors.size(), names.size());
  return {names.begin() + static_cast<std::ptrdiff_t>(earlier), names.end()};
}

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

// The job's thread passes the call to R's thread and waits. In a forked child they are the same
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

// ---- Of genotypes -------------------------------------------------------------------------------

// `List`: a struct with `genotypes`.
template <class List>
class KernelOfGenotypes : public OtherKernel {
 public:
  using Given = List;
  KernelOfGenotypes(Given given, std::int64_t /*samples*/) : given_(std::move(given)) {}
  std::int64_t variants() const override {
    return static_cast<std::int64_t>(given_.genotypes.selection.variants.size());
  }
  void take(const ancify::GenotypeWork& work) override { work_ = work; }

 protected:
  ancify::GenotypeMatrix& open_genotypes(ancify::JobControl& control) {
    const ChosenGenotypes& chosen = given_.genotypes;
    genotypes_ = std::make_unique<ancify::GenotypeMatrix>(chosen.open(control.inputs()),
                                                          chosen.selection, work_, control);
    return *genotypes_;
  }
  const Given& given() const { return given_; }

 private:
  Given given_;
  ancify::GenotypeWork work_;
  std::unique_ptr<ancify::GenotypeMatrix> genotypes_;
};

class WeightedKernel : public KernelOfGenotypes<WeightedFields> {
 public:
  WeightedKernel(const Given& list, std::int64_t samples) : KernelOfGenotypes(list, samples) {
    for (R_xlen_t b = 0; b < list.blocks.size(); ++b) {
      const SEXP block = list.blocks[b];
      blocks_.push_back({REAL(block), Rf_nrows(block), list.component[b]});
    }
  }
  std::unique_ptr<reml::Kernels> open(const Names& names, ancify::JobControl& control,
                                      Mailbox& /*mail*/, KernelFacts& facts) override {
    auto kernels = std::make_unique<reml::WeightedKernels>(open_genotypes(control), blocks_,
                                                           given().divisors, given().scale_power,
                                                           control, later_names(names, facts));
    for (int g = 0; g < kernels->components(); ++g) {
      facts.add(static_cast<double>(kernels->used_variants(g)),
                kernels->divisors()[static_cast<std::size_t>(g)]);
    }
    return kernels;
  }

 private:
  std::vector<reml::WeightBlock> blocks_;
};

class AdmixtureKernel : public KernelOfGenotypes<AdmixtureFields> {
 public:
  using KernelOfGenotypes::KernelOfGenotypes;
  std::unique_ptr<reml::Kernels> open(const Names& names, ancify::JobControl& control,
                                      Mailbox& /*mail*/, KernelFacts& facts) override {
    std::vector<reml::ComponentWeight> weights;
    for (std::int64_t j = 0; j < variants(); ++j) weights.push_back({j, 0, 1});
    shared_ = std::make_unique<reml::GenotypeKernels>(open_genotypes(control), weights, 1,
                                                      given().scale_power, control,
                                                      later_names(names, facts));
    auto kernels =
        std::make_unique<reml::AdmixtureKernels>(*shared_, shared_->diagonal(0), given().shares);
    for (int a = 0; a < kernels->components(); ++a) facts.add(NA_REAL, NA_REAL);
    return kernels;
  }

 private:
  std::unique_ptr<reml::GenotypeKernels> shared_;
};

// ---- Kinds --------------------------------------------------------------------------------------

using MakeKernel = std::unique_ptr<OtherKernel> (*)(SEXP fields, std::int64_t samples);

template <class Kernel>
std::unique_ptr<OtherKernel> make_kernel(SEXP fields, std::int64_t samples) {
  return std::make_unique<Kernel>(from_list<typename Kernel::Given>(fields), samples);
}

MakeKernel as_kernel_kind(const std::string& name) {
  return choice<MakeKernel>(name, {{"matrix", make_kernel<MatrixKernel>},
                                   {"sparse", make_kernel<SparseKernel>},
                                   {"products", make_kernel<ProductsKernel>},
                                   {"weighted", make_kernel<WeightedKernel>},
                                   {"admixture", make_kernel<AdmixtureKernel>}});
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

std::unique_ptr<OtherKernel> as_other_kernel(SEXP kernel, std::int64_t samples) {
  const auto given = from_list<KernelFields>(kernel);
  return given.make(given.fields, samples);
}
