// Converts kernels that combine others from R, a class for each kind.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/reml/kernels/block_kernels.h"
#include "core/reml/kernels/matrix_kernels.h"
#include "core/reml/kernels/record_kernels.h"
#include "core/reml/kernels/scaled_kernels.h"
#include "rcpp_fields.h"
#include "rcpp_reml_kernels.h"

namespace reml = ancify::reml;

namespace {

// ---- Lists, one for each kind -------------------------------------------------------------------

// `individuals`: of each record, from 0, out of `n`.
struct RecordsFields {
  Rcpp::RObject kernel;
  std::vector<std::int32_t> individuals;
  std::int64_t n;
};

// `values`: of each sample.
struct InteractionFields {
  Rcpp::RObject kernel;
  std::vector<double> values;
};

// `groups`: of each sample, from 0.
struct BlocksFields {
  Rcpp::RObject kernel;
  std::vector<std::int32_t> groups;
};

struct ProductFields {
  Rcpp::RObject one;
  Rcpp::RObject other;
};

}  // namespace

template <>
struct Fields<RecordsFields> {
  using All = RecordsFields;
  static constexpr auto table =
      fields("RecordsKernel", field("kernel", &All::kernel),
             field("individuals", &All::individuals), field("n", &All::n));
};

template <>
struct Fields<InteractionFields> {
  using All = InteractionFields;
  static constexpr auto table =
      fields("InteractionKernel", field("kernel", &All::kernel), field("values", &All::values));
};

template <>
struct Fields<BlocksFields> {
  using All = BlocksFields;
  static constexpr auto table =
      fields("BlocksKernel", field("kernel", &All::kernel), field("groups", &All::groups));
};

template <>
struct Fields<ProductFields> {
  using All = ProductFields;
  static constexpr auto table =
      fields("ProductOfKernels", field("one", &All::one), field("other", &All::other));
};

namespace {

using Names = std::vector<std::string>;

// A kernel that changes the products of another.
class ChangedKernel : public OtherKernel {
 public:
  ChangedKernel(SEXP kernel, std::int64_t samples) : inner_(as_other_kernel(kernel, samples)) {}
  std::int64_t variants() const override { return inner_->variants(); }
  void take(const ancify::GenotypeWork& work) override { inner_->take(work); }
  std::unique_ptr<reml::Kernels> open(const Names& names, ancify::JobControl& control,
                                      Mailbox& mail, KernelFacts& facts) override {
    return change(inner_->open(names, control, mail, facts));
  }

 private:
  virtual std::unique_ptr<reml::Kernels> change(std::unique_ptr<reml::Kernels> kernels) const = 0;

  std::unique_ptr<OtherKernel> inner_;
};

class RecordsKernel : public ChangedKernel {
 public:
  using Given = RecordsFields;
  RecordsKernel(Given given, std::int64_t samples)
      : ChangedKernel(given.kernel, given.n), individuals_(std::move(given.individuals)) {
    check_one_for_each_sample(individuals_.size(), samples);
  }

 private:
  std::unique_ptr<reml::Kernels> change(std::unique_ptr<reml::Kernels> kernels) const override {
    return std::make_unique<reml::RecordKernels>(std::move(kernels), individuals_);
  }

  std::vector<std::int32_t> individuals_;
};

class InteractionKernel : public ChangedKernel {
 public:
  using Given = InteractionFields;
  InteractionKernel(Given given, std::int64_t samples)
      : ChangedKernel(given.kernel, samples), values_(std::move(given.values)) {}

 private:
  std::unique_ptr<reml::Kernels> change(std::unique_ptr<reml::Kernels> kernels) const override {
    return std::make_unique<reml::ScaledKernels>(std::move(kernels), values_,
                                                 reml::ScaledDiagonal::kOwn);
  }

  std::vector<double> values_;
};

class BlocksKernel : public ChangedKernel {
 public:
  using Given = BlocksFields;
  BlocksKernel(Given given, std::int64_t samples)
      : ChangedKernel(given.kernel, samples), groups_(std::move(given.groups)) {}

 private:
  std::unique_ptr<reml::Kernels> change(std::unique_ptr<reml::Kernels> kernels) const override {
    return std::make_unique<reml::BlockKernels>(std::move(kernels), groups_);
  }

  std::vector<std::int32_t> groups_;
};

class ProductOfKernels : public OtherKernel {
 public:
  using Given = ProductFields;
  ProductOfKernels(const Given& given, std::int64_t samples)
      : samples_(samples),
        one_(as_other_kernel(given.one, samples)),
        other_(as_other_kernel(given.other, samples)) {}
  std::int64_t variants() const override { return one_->variants() + other_->variants(); }
  // One kernel is read after the other.
  void take(const ancify::GenotypeWork& work) override {
    one_->take(work);
    other_->take(work);
  }
  std::unique_ptr<reml::Kernels> open(const Names& names, ancify::JobControl& control,
                                      Mailbox& mail, KernelFacts& facts) override {
    KernelFacts unused = facts;
    matrix_ = dense(*one_, names, control, mail, unused);
    const std::vector<double> factor = dense(*other_, names, control, mail, unused);
    for (std::size_t k = 0; k < matrix_.size(); ++k) matrix_[k] *= factor[k];
    facts.add(NA_REAL, NA_REAL);
    return std::make_unique<reml::MatrixKernels>(
        samples_, std::vector<const double*>{matrix_.data()}, control);
  }

 private:
  std::vector<double> dense(OtherKernel& kernel, const Names& names, ancify::JobControl& control,
                            Mailbox& mail, KernelFacts& facts) const {
    std::vector<double> result(static_cast<std::size_t>(samples_ * samples_));
    kernel.open(names, control, mail, facts)->dense(0, result.data());
    return result;
  }

  std::int64_t samples_;
  std::unique_ptr<OtherKernel> one_;
  std::unique_ptr<OtherKernel> other_;
  std::vector<double> matrix_;
};

}  // namespace

std::unique_ptr<OtherKernel> make_records_kernel(SEXP fields, std::int64_t samples) {
  return make_kernel<RecordsKernel>(fields, samples);
}

std::unique_ptr<OtherKernel> make_interaction_kernel(SEXP fields, std::int64_t samples) {
  return make_kernel<InteractionKernel>(fields, samples);
}

std::unique_ptr<OtherKernel> make_blocks_kernel(SEXP fields, std::int64_t samples) {
  return make_kernel<BlocksKernel>(fields, samples);
}

std::unique_ptr<OtherKernel> make_product_of_kernels(SEXP fields, std::int64_t samples) {
  return make_kernel<ProductOfKernels>(fields, samples);
}
