// Passes jobs, errors and values between R and the core.
#include "rcpp_glue.h"

#include <algorithm>
#include <stdexcept>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/genome/sequence_store.h"
#include "rcpp_fields.h"

namespace {

// Checks for Ctrl-C or a time limit of the user's. R would jump away; unwindProtect() turns this
// into a C++ exception, so that the job can end first.
void check_interrupt() {
  Rcpp::unwindProtect([] {
    R_CheckUserInterrupt();
    return R_NilValue;
  });
}

}  // namespace

void abort_from_core(const std::string& type, const std::string& message, const Rcpp::List& facts) {
  const Rcpp::Environment package = Rcpp::Environment::namespace_env("ancify");
  const Rcpp::Function abort = package["abort_from_core"];
  abort(type, message, facts);
}

void guarded(const std::function<void()>& body) {
  using Rcpp::List;
  using Rcpp::Named;
  try {
    body();
  } catch (const ancify::Interrupted&) {
    throw Rcpp::internal::InterruptedException();
  } catch (const ancify::FormatError& error) {
    const List facts =
        List::create(Named("file") = error.file, Named("line") = static_cast<double>(error.line));
    abort_from_core("format", error.what(), facts);
  } catch (const ancify::LockError& error) {
    abort_from_core("lock", error.what(), List::create(Named("file") = error.file));
  } catch (const ancify::FileError& error) {
    abort_from_core("file", error.what(), List::create(Named("file") = error.file));
  } catch (const ancify::DeviceError& error) {
    abort_from_core("device", error.what(), List::create());
  } catch (const ancify::InputError& error) {
    abort_from_core("input", error.what(), List::create());
  } catch (const std::bad_alloc&) {
    abort_from_core("system", "there is too little memory for this job", List::create());
  } catch (const std::length_error&) {
    abort_from_core("system", "there is too little memory for this job", List::create());
  } catch (const ancify::SystemError& error) {
    abort_from_core("system", error.what(), List::create());
  }
}

void refuse_number(double value) {
  guarded([&] {
    throw ancify::InputError(tfm::format("the number %g is none that is possible here", value));
  });
  throw std::logic_error("guarded() passes errors on");
}

void Mailbox::post(std::function<void()> letter) {
  std::lock_guard<std::mutex> lock(mutex_);
  letters_.push_back(std::move(letter));
}

void Mailbox::deliver() {
  std::vector<std::function<void()>> letters;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    letters.swap(letters_);
  }
  for (const auto& letter : letters) letter();
}

ancify::InputIdentities inputs_of(const Rcpp::Function& watch) {
  ancify::InputIdentities inputs;
  if (!watch.hasAttribute("inputs")) return inputs;
  const Rcpp::CharacterVector identities = watch.attr("inputs");
  if (identities.size() == 0) return inputs;
  const Rcpp::CharacterVector paths = identities.names();
  for (R_xlen_t i = 0; i < identities.size(); ++i) {
    inputs[Rcpp::as<std::string>(paths[i])] = Rcpp::as<std::string>(identities[i]);
  }
  return inputs;
}

SEXP listener_of(const Rcpp::Function& watch, const char* name) {
  if (!watch.hasAttribute("tell")) return R_NilValue;
  const Rcpp::List listeners = watch.attr("tell");
  return listeners.containsElementNamed(name) ? static_cast<SEXP>(listeners[name]) : R_NilValue;
}

void run_job(const Rcpp::Function& watch, const std::function<void(ancify::JobControl&)>& job,
             Mailbox* mail) {
  ancify::JobControl control(inputs_of(watch));
  guarded([&] {
    ancify::run_beside(
        control, [&] { job(control); },
        [&] {
          // Mail comes first: an interrupt does not undo finished work.
          if (mail != nullptr) mail->deliver();
          check_interrupt();
          const auto expected = static_cast<double>(std::max<std::int64_t>(control.expected(), 1));
          watch(static_cast<double>(control.done()) / expected, control.take_log(),
                control.place());
        });
  });
}

SEXP make_string(const char* text, int n) {
  return Rcpp::unwindProtect([&] { return Rf_mkCharLenCE(text, n, CE_NATIVE); });
}

Rcpp::CharacterVector as_texts(const std::vector<std::string>& texts) {
  Rcpp::CharacterVector result(static_cast<R_xlen_t>(texts.size()));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    result[static_cast<R_xlen_t>(i)] =
        Rf_mkCharLenCE(texts[i].data(), static_cast<int>(texts[i].size()), CE_UTF8);
  }
  return result;
}

Rcpp::NumericMatrix make_matrix(int rows, int columns) {
  const Rcpp::Shield<SEXP> matrix(
      Rcpp::unwindProtect([&] { return Rf_allocMatrix(REALSXP, rows, columns); }));
  Rcpp::NumericMatrix result(static_cast<SEXP>(matrix));
  std::fill(result.begin(), result.end(), 0);
  return result;
}

ancify::SequenceSources as_sources(const Rcpp::CharacterVector& sequences) {
  ancify::SequenceSources sources;
  for (R_xlen_t i = 0; i < sequences.size(); ++i) {
    sources.push_back(
        ancify::memory_source(CHAR(STRING_ELT(sequences, i)), ancify::SequenceForm::kCharacters));
  }
  return sources;
}

std::vector<ancify::Chromosome> as_chromosomes(const Rcpp::NumericVector& lengths) {
  std::vector<ancify::Chromosome> chromosomes;
  if (lengths.size() == 0) return chromosomes;
  const Rcpp::CharacterVector names = lengths.names();
  for (R_xlen_t i = 0; i < lengths.size(); ++i) {
    chromosomes.push_back({Rcpp::as<std::string>(names[i]), as_integer<std::int64_t>(lengths[i])});
  }
  return chromosomes;
}

Rcpp::List as_list(const std::vector<ancify::FileChecksum>& sums) {
  const auto n = static_cast<R_xlen_t>(sums.size());
  Rcpp::NumericVector size(n, NA_REAL);
  Rcpp::CharacterVector checksum(n, NA_STRING);
  Rcpp::CharacterVector identity(n, NA_STRING);
  for (R_xlen_t i = 0; i < n; ++i) {
    const auto& [bytes, sum, known_by] = sums[static_cast<std::size_t>(i)];
    if (bytes < 0) continue;
    size[i] = static_cast<double>(bytes);
    checksum[i] = tfm::format("%08x", sum);
    if (!known_by.empty()) identity[i] = known_by;
  }
  return Rcpp::List::create(Rcpp::Named("size") = size, Rcpp::Named("checksum") = checksum,
                            Rcpp::Named("identity") = identity);
}

// The path of each chromosome's file.
struct FileColumns {
  std::vector<std::string> chromosome;
  std::vector<std::string> path;
};

template <>
struct Fields<FileColumns> {
  using All = FileColumns;
  static constexpr auto table =
      fields("FileColumns", field("chromosome", &All::chromosome), field("path", &All::path));
};

std::vector<ancify::SequenceFile> as_sequence_files(const Rcpp::DataFrame& files) {
  const auto [chromosomes, paths] = from_list<FileColumns>(files);
  std::vector<ancify::SequenceFile> result;
  for (std::size_t i = 0; i < paths.size(); ++i) result.push_back({chromosomes[i], paths[i]});
  return result;
}

std::unordered_map<std::string, std::string> as_paths(const Rcpp::DataFrame& files) {
  std::unordered_map<std::string, std::string> paths;
  for (const auto& [chromosome, path] : as_sequence_files(files)) paths[chromosome] = path;
  return paths;
}
