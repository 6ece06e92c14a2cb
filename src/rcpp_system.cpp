// Describes the machine and the build, and reads small files for R.
#include "core/ancestry/calling/methods.h"
#include "core/ancestry/coalescent/coalescent.h"
#include "core/ancestry/comparison/call_comparison.h"
#include "core/ancestry/patterns/site_patterns.h"
#include "core/device/backend.h"
#include "core/diffusion/model.h"
#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/formats/variant/variant_file.h"
#include "core/genome/lengths.h"
#include "core/io/blosc.h"
#include "core/io/byte_source.h"
#include "core/io/file.h"
#include "core/io/inflate.h"
#include "core/io/lines.h"
#include "core/io/text.h"
#include "core/io/zstd_source.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"

// [[Rcpp::export]]
Rcpp::List build_info_impl() {
  using Rcpp::Named;
#ifdef ANCIFY_HAVE_CUDA
  const Rcpp::CharacterVector cuda = ANCIFY_CUDA_VERSION;
  const Rcpp::CharacterVector archs = ANCIFY_CUDA_ARCHS;
#else
  const Rcpp::CharacterVector cuda = NA_STRING;
  const Rcpp::CharacterVector archs = NA_STRING;
#endif
  const std::string version = ancify::htslib_version();
  const Rcpp::CharacterVector htslib(1, version.empty() ? NA_STRING : Rf_mkChar(version.c_str()));
  const std::string of_zstd = ancify::zstd_version();
  const Rcpp::CharacterVector zstd(1, of_zstd.empty() ? NA_STRING : Rf_mkChar(of_zstd.c_str()));
  const std::string of_blosc = ancify::blosc_version();
  const Rcpp::CharacterVector blosc(1, of_blosc.empty() ? NA_STRING : Rf_mkChar(of_blosc.c_str()));
  return Rcpp::List::create(
      Named("compiler") = __VERSION__, Named("inflater") = ancify::inflater_name(),
      Named("zstd") = zstd, Named("blosc") = blosc, Named("htslib") = htslib, Named("cuda") = cuda,
      Named("cuda_archs") = archs, Named("simd") = ancify::simd_name(ancify::best_simd_level()));
}

namespace {

ancify::BackendKind as_backend_kind(const std::string& name) {
  using ancify::BackendKind;
  return choice<BackendKind>(name, {{"cpu", BackendKind::kCpu}, {"gpu", BackendKind::kGpu}});
}

bool is_half(const std::string& precision) {
  return choice<bool>(precision, {{"fp32", false}, {"fp16", true}});
}

}  // namespace

template <>
struct Fields<ancify::Work> {
  using All = ancify::Work;
  using Backend = ancify::Backend;
  static constexpr auto table =
      fields("Work", field("threads", within(&All::backend, &Backend::threads)),
             field("backend", within(&All::backend, &Backend::kind), as_backend_kind),
             field("devices", within(&All::backend, &Backend::devices)),
             field("gpus_per_card", within(&All::backend, &Backend::gpus_per_card)),
             field("gpu_memory", within(&All::backend, &Backend::gpu_memory)),
             field("simd", within(&All::backend, &Backend::simd), ancify::choose_simd_level),
             field("memory", &All::memory), field("precision", &All::half, is_half),
             field("progress", &All::progress));
};

ancify::Work as_work(const Rcpp::List& work) {
  ancify::Work result;
  guarded([&] { result = from_list<ancify::Work>(work); });
  return result;
}

int threads_of(const Rcpp::List& work) { return as_work(work).backend.threads; }

// Chooses the CPU or GPUs, and checks that the machine has them. `kind`: "auto", "cpu" or "gpu";
// `devices`: numbers of GPUs, none for all. Returns list(kind =, devices =).
// [[Rcpp::export]]
Rcpp::List backend_impl(const std::string& kind, const std::vector<int>& devices, int gpus_per_card,
                        const std::string& simd) {
  ancify::BackendWish wish;
  wish.kind = kind;
  wish.devices = devices;
  wish.simd = simd;
  wish.gpus_per_card = gpus_per_card;
  ancify::Backend backend;
  guarded([&] { backend = ancify::choose_backend(wish); });
  const bool gpu = backend.kind == ancify::BackendKind::kGpu;
  return Rcpp::List::create(Rcpp::Named("kind") = gpu ? "gpu" : "cpu",
                            Rcpp::Named("devices") = backend.devices);
}

// A line for logs.
// [[Rcpp::export]]
std::string describe_work_impl(const Rcpp::List& work) {
  return as_work(work).backend.description();
}

// Returns list(number =, name =, memory =, compute_capability =, problem =). `problem` is a single
// text, empty without a problem.
// [[Rcpp::export]]
Rcpp::List available_gpus_impl(int gpus_per_card) {
  ancify::Gpus gpus;
  guarded([&] { gpus = ancify::available_gpus(gpus_per_card); });
  std::vector<int> number;
  std::vector<std::string> name;
  std::vector<double> memory;
  std::vector<std::string> capability;
  for (const auto& gpu : gpus.usable) {
    number.push_back(gpu.number);
    name.push_back(gpu.name);
    memory.push_back(static_cast<double>(gpu.memory));
    capability.push_back(std::to_string(gpu.major) + "." + std::to_string(gpu.minor));
  }
  return Rcpp::List::create(
      Rcpp::Named("number") = number, Rcpp::Named("name") = name, Rcpp::Named("memory") = memory,
      Rcpp::Named("compute_capability") = capability, Rcpp::Named("problem") = gpus.problem);
}

// The values for core_limits() in R.
// [[Rcpp::export]]
Rcpp::List core_limits_impl() {
  using Rcpp::Named;
  Rcpp::CharacterVector always;
  for (const auto& method : ancify::calling_methods()) {
    if (method.on_devices == ancify::OnDevices::kAlways) always.push_back(method.name);
  }
  return Rcpp::List::create(
      Named("threads") = ancify::kMostThreads,
      Named("name_bytes") = static_cast<int>(ancify::kMostNameBytes),
      Named("temporary") = std::string(ancify::kTemporary),
      Named("tabulated") = ancify::kMostTabulated, Named("methods_always_on_devices") = always,
      Named("populations") = ancify::diffusion::kMostPopulations,
      Named("haplotypes") = ancify::kMostHaplotypes, Named("compared_runs") = ancify::kMostRuns,
      Named("coalescent_outgroups") = ancify::kMostCoalescentOutgroups);
}

// True if each name is a valid name of a file or folder.
// [[Rcpp::export]]
Rcpp::LogicalVector are_file_names_impl(const Rcpp::CharacterVector& names) {
  Rcpp::LogicalVector result(names.size());
  for (R_xlen_t i = 0; i < names.size(); ++i) {
    if (Rcpp::CharacterVector::is_na(names[i])) continue;
    const std::string name(names[i]);
    result[i] = static_cast<int>(ancify::is_safe_file_name(name) && ancify::is_utf8(name));
  }
  return result;
}

// [[Rcpp::export]]
int hardware_threads_impl() { return ancify::hardware_threads(); }

// Reads a table of lengths. `identity` is the file's expected identity, or "".
// [[Rcpp::export]]
Rcpp::NumericVector read_chromosome_lengths(const std::string& path,
                                            const std::string& identity = "") {
  ancify::InputIdentities inputs;
  if (!identity.empty()) inputs[path] = identity;
  const ancify::JobControl control(std::move(inputs));
  std::vector<ancify::Chromosome> chromosomes;
  guarded(
      [&] { chromosomes = ancify::read_chromosome_lengths(path, ancify::TaskContext(control)); });
  // Allocates the vectors first: push_back() copies the whole vector, and a genome may have 100,000
  // contigs.
  const auto n = static_cast<R_xlen_t>(chromosomes.size());
  Rcpp::NumericVector lengths(n);
  Rcpp::CharacterVector names(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    const auto& [name, length] = chromosomes[static_cast<std::size_t>(i)];
    lengths[i] = static_cast<double>(length);
    names[i] = Rcpp::String(name, CE_UTF8);
  }
  lengths.names() = names;
  return lengths;
}

// Reads a table of other names of `chromosomes`: a character vector of chromosomes named by
// aliases. `identity` is the file's expected identity, or "".
// [[Rcpp::export]]
Rcpp::CharacterVector read_chromosome_aliases(const std::string& path,
                                              const std::vector<std::string>& chromosomes,
                                              const std::string& identity = "") {
  ancify::InputIdentities inputs;
  if (!identity.empty()) inputs[path] = identity;
  const ancify::JobControl control(std::move(inputs));
  std::vector<ancify::ChromosomeAlias> aliases;
  guarded([&] {
    aliases = ancify::read_chromosome_aliases(path, chromosomes, ancify::TaskContext(control));
  });
  const auto n = static_cast<R_xlen_t>(aliases.size());
  Rcpp::CharacterVector result(n);
  Rcpp::CharacterVector names(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    const auto& [alias, chromosome] = aliases[static_cast<std::size_t>(i)];
    result[i] = Rcpp::String(chromosomes[chromosome], CE_UTF8);
    names[i] = Rcpp::String(alias, CE_UTF8);
  }
  result.names() = names;
  return result;
}

// Reads a small file, plain or gzip, of at most `most` bytes.
// [[Rcpp::export]]
Rcpp::CharacterVector read_text_impl(const std::string& path, double most) {
  std::string text;
  guarded([&] { text = ancify::read_text(path, as_integer<std::size_t>(most)); });
  return Rcpp::CharacterVector::create(Rcpp::String(text, CE_UTF8));
}

// The first `n` bytes of a file's text, plain or inflated; fewer if the text is shorter. Throws an
// error for a format that ancify does not read.
// [[Rcpp::export]]
Rcpp::RawVector text_start_impl(const std::string& path, int n) {
  std::vector<char> start(static_cast<std::size_t>(n));
  guarded([&] {
    const auto source = ancify::open_text(path);
    std::size_t size = 0;
    while (const std::size_t got = source->read(start.data() + size, start.size() - size))
      size += got;
    start.resize(size);
  });
  return Rcpp::RawVector(start.begin(), start.end());
}

// The raw bytes of a file; throws an error if it has more than `most`.
// [[Rcpp::export]]
Rcpp::RawVector read_bytes_impl(const std::string& path, double most) {
  std::vector<char> bytes;
  guarded([&] { bytes = ancify::read_bytes(path, as_integer<std::size_t>(most)); });
  return Rcpp::RawVector(bytes.begin(), bytes.end());
}

// The bytes `from` to `to` of a file, counted from 1.
// [[Rcpp::export]]
Rcpp::RawVector read_range_impl(const std::string& path, double from, double to) {
  const auto offset = as_integer<std::int64_t>(from) - 1;
  const auto n = as_integer<std::size_t>(to - from + 1);
  std::vector<char> bytes;
  guarded([&] { bytes = ancify::read_range(path, offset, n); });
  return Rcpp::RawVector(bytes.begin(), bytes.end());
}
