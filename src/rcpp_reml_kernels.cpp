// Converts kernels from R, a class for each kind.
#include "rcpp_reml_kernels.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/reml/kernels/admixture_kernels.h"
#include "core/reml/kernels/genotype_kernels.h"
#include "core/reml/kernels/matrix_kernels.h"
#include "core/reml/kernels/weighted_kernels.h"
#include "rcpp_genotypes.h"

namespace reml = ancify::reml;

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
  MatrixKernel(const Rcpp::RObject& kernel, std::int64_t samples) : samples_(samples) {
    if (Rf_xlength(kernel) != static_cast<R_xlen_t>(samples * samples)) {
      guarded([&] {
        throw ancify::InputError("a kernel is no matrix with a row and a column for each of the " +
                                 std::to_string(samples) + " samples");
      });
    }
    matrix_ = Rcpp::NumericMatrix(kernel);
    values_ = matrix_.begin();
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
  const double* values_ = nullptr;
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
reml::KernelProduct as_product(const Rcpp::RObject& kernel, std::int64_t n, Mailbox& mail,
                               const ancify::JobControl& control) {
  return [&kernel, n, &mail, &control](const double* v, int columns, double* out) {
    const auto call = [&kernel, n, v, columns, out] {
      call_products(Rcpp::List(kernel)["products"], v, n, columns, out);
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

// Takes list(products = a function of an n x columns matrix, trace =).
class FunctionKernel : public OtherKernel {
 public:
  FunctionKernel(const Rcpp::RObject& kernel, std::int64_t samples)
      : kernel_(kernel), samples_(samples), trace_(Rcpp::as<double>(Rcpp::List(kernel)["trace"])) {}
  std::unique_ptr<reml::Kernels> open(const Names& /*names*/, ancify::JobControl& control,
                                      Mailbox& mail, KernelFacts& facts) override {
    facts.add(NA_REAL, NA_REAL);
    return std::make_unique<reml::ProductKernel>(
        samples_, as_product(kernel_, samples_, mail, control), trace_, control);
  }

 private:
  Rcpp::RObject kernel_;
  std::int64_t samples_;
  double trace_;
};

// ---- Of genotypes -------------------------------------------------------------------------------

// A kernel from a list with genotypes = as for as_chosen(), and scale_power =.
class KernelOfGenotypes : public OtherKernel {
 public:
  explicit KernelOfGenotypes(const Rcpp::List& list)
      : chosen_(as_chosen(Rcpp::List(list["genotypes"]))),
        scale_power_(Rcpp::as<double>(list["scale_power"])) {}
  std::int64_t variants() const override {
    return static_cast<std::int64_t>(chosen_.selection.variants.size());
  }
  void take(const ancify::GenotypeWork& work) override { work_ = work; }

 protected:
  ancify::GenotypeMatrix& open_genotypes(ancify::JobControl& control) {
    genotypes_ = std::make_unique<ancify::GenotypeMatrix>(chosen_.open(control.inputs()),
                                                          chosen_.selection, work_, control);
    return *genotypes_;
  }
  double scale_power() const { return scale_power_; }

 private:
  ChosenGenotypes chosen_;
  double scale_power_;
  ancify::GenotypeWork work_;
  std::unique_ptr<ancify::GenotypeMatrix> genotypes_;
};

// Its list also has blocks = matrices, component = of each block, from 0, and divisors = of each
// component; 0 for its mean diagonal.
class WeightedKernel : public KernelOfGenotypes {
 public:
  WeightedKernel(const Rcpp::RObject& kernel, std::int64_t /*samples*/)
      : KernelOfGenotypes(Rcpp::List(kernel)), kernel_(kernel) {
    const Rcpp::List list(kernel);
    divisors_ = Rcpp::as<std::vector<double>>(list["divisors"]);
    const Rcpp::List matrices = list["blocks"];
    const Rcpp::IntegerVector component = list["component"];
    for (R_xlen_t b = 0; b < matrices.size(); ++b) {
      blocks_.push_back({REAL(matrices[b]), Rf_nrows(matrices[b]), component[b]});
    }
  }
  std::unique_ptr<reml::Kernels> open(const Names& names, ancify::JobControl& control,
                                      Mailbox& /*mail*/, KernelFacts& facts) override {
    auto kernels =
        std::make_unique<reml::WeightedKernels>(open_genotypes(control), blocks_, divisors_,
                                                scale_power(), control, later_names(names, facts));
    for (int g = 0; g < kernels->components(); ++g) {
      facts.add(static_cast<double>(kernels->used_variants(g)),
                kernels->divisors()[static_cast<std::size_t>(g)]);
    }
    return kernels;
  }

 private:
  Rcpp::RObject kernel_;  // keeps the blocks' values
  std::vector<double> divisors_;
  std::vector<reml::WeightBlock> blocks_;
};

// Its list also has shares = n x ancestries.
class AdmixtureKernel : public KernelOfGenotypes {
 public:
  AdmixtureKernel(const Rcpp::RObject& kernel, std::int64_t /*samples*/)
      : KernelOfGenotypes(Rcpp::List(kernel)),
        shares_(Rcpp::as<std::vector<double>>(Rcpp::List(kernel)["shares"])) {}
  std::unique_ptr<reml::Kernels> open(const Names& names, ancify::JobControl& control,
                                      Mailbox& /*mail*/, KernelFacts& facts) override {
    std::vector<reml::ComponentWeight> weights;
    for (std::int64_t j = 0; j < variants(); ++j) weights.push_back({j, 0, 1});
    shared_ = std::make_unique<reml::GenotypeKernels>(
        open_genotypes(control), weights, 1, scale_power(), control, later_names(names, facts));
    auto kernels =
        std::make_unique<reml::AdmixtureKernels>(*shared_, shared_->diagonal(0), shares_);
    for (int a = 0; a < kernels->components(); ++a) facts.add(NA_REAL, NA_REAL);
    return kernels;
  }

 private:
  std::vector<double> shares_;
  std::unique_ptr<reml::GenotypeKernels> shared_;
};

// ---- Table --------------------------------------------------------------------------------------

template <class Kernel>
std::unique_ptr<OtherKernel> make_kernel(const Rcpp::RObject& kernel, std::int64_t samples) {
  return std::make_unique<Kernel>(kernel, samples);
}

struct KernelKind {
  const char* name;
  std::unique_ptr<OtherKernel> (*make)(const Rcpp::RObject& kernel, std::int64_t samples);
};

constexpr KernelKind kKinds[] = {
    {"products", make_kernel<FunctionKernel>},
    {"weighted", make_kernel<WeightedKernel>},
    {"admixture", make_kernel<AdmixtureKernel>},
};

}  // namespace

std::unique_ptr<OtherKernel> as_other_kernel(const Rcpp::RObject& kernel, std::int64_t samples) {
  if (!Rf_isNewList(kernel)) return make_kernel<MatrixKernel>(kernel, samples);
  const auto name = Rcpp::as<std::string>(Rcpp::List(kernel)["kind"]);
  const auto* const kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                        [&](const KernelKind& row) { return name == row.name; });
  return kind->make(kernel, samples);
}
