// The machine and the build, and the small files that R reads itself.
#include "core/device/backend.h"
#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/io/inflate.h"
#include "core/io/lengths.h"
#include "core/io/lines.h"
#include "core/io/variant_file.h"
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
  return Rcpp::List::create(Named("compiler") = __VERSION__,
                            Named("inflater") = ancify::inflater_name(), Named("htslib") = htslib,
                            Named("cuda") = cuda, Named("cuda_archs") = archs,
                            Named("simd") = ancify::simd_name(ancify::best_simd_level()));
}

// Chooses a backend as `wish` says, a list of the fields of BackendWish; gives what as_backend()
// takes, and its description.
// [[Rcpp::export]]
Rcpp::List backend_impl(const Rcpp::List& wish) {
  using Rcpp::Named;
  ancify::BackendWish wanted;
  wanted.kind = Rcpp::as<std::string>(wish["kind"]);
  wanted.devices = Rcpp::as<std::vector<int>>(wish["devices"]);
  wanted.threads = Rcpp::as<int>(wish["threads"]);
  wanted.simd = Rcpp::as<std::string>(wish["simd"]);
  wanted.gpus_per_card = Rcpp::as<int>(wish["gpus_per_card"]);
  ancify::Backend backend;
  guarded([&] { backend = ancify::choose_backend(wanted); });
  const bool gpu = backend.kind == ancify::BackendKind::kGpu;
  return Rcpp::List::create(Named("kind") = gpu ? "gpu" : "cpu", Named("devices") = backend.devices,
                            Named("threads") = backend.threads, Named("simd") = wanted.simd,
                            Named("gpus_per_card") = wanted.gpus_per_card,
                            Named("gpu_memory") = wish["gpu_memory"],
                            Named("description") = backend.description());
}

// list(number =, name =, memory =, compute_capability =, problem =), where `problem` is one text,
// empty where there is none.
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

// [[Rcpp::export]]
int hardware_threads_impl() { return ancify::hardware_threads(); }

// `identity`: that which the file must have, or "".
// [[Rcpp::export]]
Rcpp::NumericVector read_chromosome_lengths(const std::string& path,
                                            const std::string& identity = "") {
  ancify::InputIdentities inputs;
  if (!identity.empty()) inputs[path] = identity;
  const ancify::JobControl control(std::move(inputs));
  std::vector<ancify::Chromosome> chromosomes;
  guarded(
      [&] { chromosomes = ancify::read_chromosome_lengths(path, ancify::TaskContext(control)); });
  // Sized first: push_back() copies all there is, and there may be 100,000 contigs.
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

// The lines of a small file of text, plain or gzip, without blanks at their ends.
// [[Rcpp::export]]
Rcpp::CharacterVector read_lines_impl(const std::string& path) {
  std::vector<std::string> lines;
  guarded([&] {
    ancify::for_each_line(path, {}, [&](std::string_view line, std::int64_t number) {
      if (!ancify::is_utf8(line) || line.find('\0') != line.npos) {
        throw ancify::FormatError(path, number, "not text in UTF-8");
      }
      lines.emplace_back(line);
    });
  });
  Rcpp::CharacterVector result(static_cast<R_xlen_t>(lines.size()));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    result[static_cast<R_xlen_t>(i)] = Rcpp::String(lines[i], CE_UTF8);
  }
  return result;
}
