#include "rcpp_glue.h"

#include <algorithm>
#include <stdexcept>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/io/sequence_store.h"

namespace {

// Ctrl-C, or a time limit of the user's: R's jump becomes a C++ exception until the job has ended.
void check_interrupt() {
  Rcpp::unwindProtect([] {
    R_CheckUserInterrupt();
    return R_NilValue;
  });
}

void abort_from_core(const std::string& type, const std::string& message, const Rcpp::List& facts) {
  const Rcpp::Environment package = Rcpp::Environment::namespace_env("ancify");
  const Rcpp::Function abort = package["abort_from_core"];
  abort(type, message, facts);
}

}  // namespace

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

void run_job(const Rcpp::Function& watch, const std::function<void(ancify::JobControl&)>& job,
             Mailbox* mail) {
  ancify::JobControl control(inputs_of(watch));
  guarded([&] {
    ancify::run_beside(
        control, [&] { job(control); },
        [&] {
          // First what is finished: an interrupt does not undo it.
          if (mail != nullptr) mail->deliver();
          check_interrupt();
          const auto expected = static_cast<double>(std::max<std::int64_t>(control.expected(), 1));
          watch(static_cast<double>(control.done()) / expected, control.take_log());
        });
  });
}

SEXP make_string(const char* text, int n) {
  return Rcpp::unwindProtect([&] { return Rf_mkCharLenCE(text, n, CE_NATIVE); });
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

std::vector<ancify::ChromosomeToCall> chromosomes_in(const std::vector<std::string>& folders,
                                                     const Rcpp::NumericVector& lengths,
                                                     const Rcpp::Function& watch) {
  const auto inputs = std::make_shared<const ancify::InputIdentities>(inputs_of(watch));
  std::vector<ancify::ChromosomeToCall> chromosomes;
  for (const auto& chromosome : as_chromosomes(lengths)) {
    const auto& [name, length] = chromosome;
    chromosomes.push_back(
        {name, length, [chromosome, &folders, inputs] {
           ancify::SequenceSources sources;
           for (const auto& folder : folders) {
             sources.push_back(ancify::file_source(ancify::sequence_path(folder, chromosome.name),
                                                   chromosome.name, chromosome.length, *inputs));
           }
           return sources;
         }});
  }
  return chromosomes;
}

std::vector<ancify::Chromosome> as_chromosomes(const Rcpp::NumericVector& lengths) {
  std::vector<ancify::Chromosome> chromosomes;
  if (lengths.size() == 0) return chromosomes;
  const Rcpp::CharacterVector names = lengths.names();
  for (R_xlen_t i = 0; i < lengths.size(); ++i) {
    chromosomes.push_back({Rcpp::as<std::string>(names[i]), static_cast<std::int64_t>(lengths[i])});
  }
  return chromosomes;
}

ancify::Backend as_backend(const Rcpp::List& backend) {
  ancify::Backend result;
  result.kind = Rcpp::as<std::string>(backend["kind"]) == "gpu" ? ancify::BackendKind::kGpu
                                                                : ancify::BackendKind::kCpu;
  result.devices = Rcpp::as<std::vector<int>>(backend["devices"]);
  result.threads = Rcpp::as<int>(backend["threads"]);
  result.gpus_per_card = Rcpp::as<int>(backend["gpus_per_card"]);
  result.gpu_memory = static_cast<std::size_t>(Rcpp::as<double>(backend["gpu_memory"]));
  guarded([&] { result.simd = ancify::choose_simd_level(Rcpp::as<std::string>(backend["simd"])); });
  return result;
}

ancify::AlignmentProjected tell_projected(Mailbox& mail, const Rcpp::Function& projected) {
  return [&](std::size_t i, const ancify::ProjectionReport& report,
             const std::vector<ancify::FileChecksum>& checksums) {
    mail.post([&projected, i, report, checksums] {
      projected(static_cast<double>(i + 1), as_list(report), as_list(checksums));
    });
  };
}

Rcpp::List as_list(const std::vector<ancify::FileChecksum>& sums) {
  const auto n = static_cast<R_xlen_t>(sums.size());
  Rcpp::NumericVector size(n, NA_REAL);
  Rcpp::CharacterVector checksum(n, NA_STRING);
  for (R_xlen_t i = 0; i < n; ++i) {
    const auto& [bytes, sum] = sums[static_cast<std::size_t>(i)];
    if (bytes < 0) continue;
    size[i] = static_cast<double>(bytes);
    checksum[i] = tfm::format("%08x", sum);
  }
  return Rcpp::List::create(Rcpp::Named("size") = size, Rcpp::Named("checksum") = checksum);
}

Rcpp::List as_list(const ancify::ProjectionReport& report) {
  using Rcpp::Named;
  Rcpp::NumericVector lines;
  Rcpp::CharacterVector problems;
  for (const auto& example : report.bad_examples) {
    lines.push_back(static_cast<double>(example.line));
    problems.push_back(example.problem);
  }
  return Rcpp::List::create(
      Named("blocks") = Rcpp::NumericVector(report.blocks.begin(), report.blocks.end()),
      Named("passed_over") = static_cast<double>(report.passed_over),
      Named("other_prefix") = report.other_prefix, Named("bad") = static_cast<double>(report.bad),
      Named("bad_lines") = lines, Named("bad_problems") = problems,
      Named("duplicates") = static_cast<double>(report.duplicates));
}

ancify::ProjectionOptions as_options(const Rcpp::List& maf, const std::string& on_bad_block,
                                     double chunk_size, const ancify::Backend& backend) {
  ancify::ProjectionOptions options;
  options.maf_focal = Rcpp::as<std::string>(maf["focal"]);
  options.maf_chromosomes = Rcpp::as<std::vector<std::string>>(maf["chromosomes"]);
  options.simd = backend.simd;
  if (on_bad_block == "skip") options.on_bad_block = ancify::OnBadBlock::kSkip;
  options.chunk_size = static_cast<std::size_t>(chunk_size);
  return options;
}

std::vector<std::string> maf_outgroups(const Rcpp::List& maf) {
  return Rcpp::as<std::vector<std::string>>(maf["outgroups"]);
}

std::vector<ancify::SequenceFile> as_sequence_files(const Rcpp::DataFrame& files) {
  const auto chromosomes = Rcpp::as<std::vector<std::string>>(files["chromosome"]);
  const auto paths = Rcpp::as<std::vector<std::string>>(files["path"]);
  std::vector<ancify::SequenceFile> result;
  for (std::size_t i = 0; i < paths.size(); ++i) result.push_back({chromosomes[i], paths[i]});
  return result;
}

std::unordered_map<std::string, std::string> as_paths(const Rcpp::DataFrame& files) {
  std::unordered_map<std::string, std::string> paths;
  for (const auto& [chromosome, path] : as_sequence_files(files)) paths[chromosome] = path;
  return paths;
}

Rcpp::DataFrame as_data_frame(const std::vector<ancify::AnnotatedChromosome>& chromosomes) {
  using Rcpp::Named;
  const auto n = static_cast<R_xlen_t>(chromosomes.size());
  Rcpp::CharacterVector names(n);
  Rcpp::CharacterVector sequences(n);
  Rcpp::NumericVector records(n);
  for (R_xlen_t i = 0; i < n; ++i) {
    const auto& chromosome = chromosomes[static_cast<std::size_t>(i)];
    names[i] = chromosome.name;
    if (chromosome.sequence.empty()) {
      sequences[i] = NA_STRING;
    } else {
      sequences[i] = chromosome.sequence;
    }
    records[i] = static_cast<double>(chromosome.records);
  }
  return Rcpp::DataFrame::create(Named("chromosome") = names, Named("sequence") = sequences,
                                 Named("records") = records, Named("stringsAsFactors") = false);
}

Rcpp::NumericMatrix reasons_of(const std::vector<ancify::AnnotatedChromosome>& chromosomes) {
  Rcpp::NumericMatrix reasons(static_cast<int>(chromosomes.size()),
                              static_cast<int>(ancify::kReasons));
  for (int i = 0; i < reasons.nrow(); ++i) {
    const auto& counts = chromosomes[static_cast<std::size_t>(i)].reasons;
    for (int k = 0; k < reasons.ncol(); ++k) {
      reasons(i, k) = static_cast<double>(counts[static_cast<std::size_t>(k)]);
    }
  }
  Rcpp::colnames(reasons) =
      Rcpp::CharacterVector(ancify::kReasonNames.begin(), ancify::kReasonNames.end());
  return reasons;
}
