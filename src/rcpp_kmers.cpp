// Connects k-mers with the core.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/kmers/counter.h"
#include "core/kmers/queries.h"
#include "core/kmers/set_operations.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"
#include "rcpp_sequences.h"

using ancify::KmerDatabase;

template <>
struct Fields<ancify::KmerSettings> {
  using All = ancify::KmerSettings;
  static constexpr auto table =
      fields("KmerSettings", field("k", &All::k), field("canonical", &All::canonical),
             field("min_count", &All::min_count), field("max_count", &All::max_count));
};

// The destination of a job's result. `scratch`: a folder for data that do not fit in memory.
struct KmerOutput {
  ancify::Work work;
  std::string scratch;
  std::string out;
};

template <>
struct Fields<KmerOutput> {
  using All = KmerOutput;
  static constexpr auto table = fields("KmerOutput", field("work", &All::work, as_work),
                                       field("scratch", &All::scratch), field("out", &All::out));
};

// `operation` and `rule` count from 0, in the order of the core's lists.
struct KmerCombination {
  int operation;
  int rule;
  ancify::KmerSettings settings;
};

template <>
struct Fields<KmerCombination> {
  using All = KmerCombination;
  static constexpr auto table =
      fields("KmerCombination", field("operation", &All::operation), field("rule", &All::rule),
             field("settings", &All::settings));
};

namespace {

// Returns list(database = a pointer, k =, canonical =, min_count =, max_count =, n =).
Rcpp::List as_kmers(KmerDatabase&& database) {
  const Rcpp::XPtr<KmerDatabase> pointer(new KmerDatabase(std::move(database)));
  const ancify::KmerHeader& header = pointer->header();
  using Rcpp::Named;
  return Rcpp::List::create(Named("database") = pointer, Named("k") = header.k,
                            Named("canonical") = header.canonical,
                            Named("min_count") = static_cast<double>(header.min_count),
                            Named("max_count") = static_cast<double>(header.max_count),
                            Named("n") = static_cast<double>(header.size));
}

ancify::KmerWork as_kmer_work(const KmerOutput& output) {
  return {static_cast<std::size_t>(output.work.memory), output.scratch, output.out,
          output.work.backend.threads};
}

const KmerDatabase& as_database(SEXP database) {
  return *Rcpp::XPtr<KmerDatabase>(database).checked_get();
}

// Runs a job that makes a database.
template <class Make>
Rcpp::List make_kmers(const Rcpp::Function& watch, Make make) {
  std::unique_ptr<KmerDatabase> made;
  run_job(watch, [&](ancify::JobControl& control) {
    made = std::make_unique<KmerDatabase>(make(control));
  });
  return as_kmers(std::move(*made));
}

}  // namespace

// Counts the k-mers of files, whose paths are `x`, or of a set of sequences. `letters` of the
// result counts the letters of each file.
// [[Rcpp::export]]
Rcpp::List count_kmers_impl(const Rcpp::RObject& x, const Rcpp::List& settings,
                            const Rcpp::List& output, const Rcpp::Function& watch) {
  const ancify::KmerSettings how = from_list<ancify::KmerSettings>(settings);
  const auto to = from_list<KmerOutput>(output);
  const Sequences read(x);
  const bool are_files = Rf_isString(x);
  const auto paths = are_files ? Rcpp::as<std::vector<std::string>>(x) : std::vector<std::string>();
  const ancify::PassSequences sequences = [&](const ancify::SequencePasser& passer,
                                              const ancify::TaskContext& context) {
    std::string room;
    for (std::size_t i = 0; i < read.size(); ++i) {
      context.throw_if_stopped();
      passer.begin();
      passer.bases(read.letters(i, room));
    }
  };
  std::vector<std::int64_t> letters;
  Rcpp::List made = make_kmers(watch, [&](ancify::JobControl& control) {
    return ancify::count_kmers(
        are_files ? ancify::sequences_of_files(paths, control, letters) : sequences, how,
        as_kmer_work(to), control, ancify::open_kmer_devices(to.work.backend));
  });
  made["letters"] = Rcpp::NumericVector(letters.begin(), letters.end());
  return made;
}

// [[Rcpp::export]]
Rcpp::List open_kmers_impl(const std::string& stem, const Rcpp::Function& watch) {
  return make_kmers(watch, [&](ancify::JobControl& control) {
    return KmerDatabase::open(stem, control.inputs());
  });
}

// [[Rcpp::export]]
Rcpp::List read_kmer_text_impl(const std::string& path, bool canonical, const Rcpp::List& output,
                               const Rcpp::Function& watch) {
  const ancify::KmerWork where = as_kmer_work(from_list<KmerOutput>(output));
  return make_kmers(watch, [&](ancify::JobControl& control) {
    return ancify::read_kmer_text(path, canonical, where, control);
  });
}

// [[Rcpp::export]]
void write_kmer_text_impl(SEXP database, const std::string& path, const Rcpp::Function& watch) {
  const KmerDatabase& counted = as_database(database);
  run_job(watch, [&](ancify::JobControl& control) {
    ancify::write_kmer_text(counted, path, ancify::TaskContext(control));
  });
}

// [[Rcpp::export]]
void write_kmer_files_impl(SEXP database, const std::string& stem, const Rcpp::Function& watch) {
  const KmerDatabase& counted = as_database(database);
  run_job(watch, [&](ancify::JobControl& control) {
    ancify::write_kmer_files(counted, stem, ancify::TaskContext(control));
  });
}

// [[Rcpp::export]]
Rcpp::List filter_kmers_impl(SEXP database, const Rcpp::List& settings, const Rcpp::List& output,
                             const Rcpp::Function& watch) {
  const KmerDatabase& counted = as_database(database);
  const ancify::KmerSettings how = from_list<ancify::KmerSettings>(settings);
  const ancify::KmerWork where = as_kmer_work(from_list<KmerOutput>(output));
  return make_kmers(watch, [&](ancify::JobControl& control) {
    return ancify::filter(counted, how, where, control);
  });
}

// [[Rcpp::export]]
Rcpp::List combine_kmers_impl(SEXP x, SEXP y, const Rcpp::List& how, const Rcpp::List& output,
                              const Rcpp::Function& watch) {
  const KmerDatabase& one = as_database(x);
  const KmerDatabase& other = as_database(y);
  const auto combined = from_list<KmerCombination>(how);
  const ancify::KmerWork where = as_kmer_work(from_list<KmerOutput>(output));
  return make_kmers(watch, [&](ancify::JobControl& control) {
    return ancify::combine(one, other, static_cast<ancify::KmerOperation>(combined.operation),
                           static_cast<ancify::KmerCountRule>(combined.rule), combined.settings,
                           where, control);
  });
}

// Returns list(count =, kmers =).
// [[Rcpp::export]]
Rcpp::List kmer_histogram_impl(SEXP database, const Rcpp::Function& watch) {
  const KmerDatabase& counted = as_database(database);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> rows;
  run_job(watch, [&](ancify::JobControl& control) {
    rows = ancify::histogram(counted, ancify::TaskContext(control));
  });
  Rcpp::NumericVector counts(static_cast<R_xlen_t>(rows.size()));
  Rcpp::NumericVector numbers(static_cast<R_xlen_t>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    counts[static_cast<R_xlen_t>(i)] = rows[i].first;
    numbers[static_cast<R_xlen_t>(i)] = static_cast<double>(rows[i].second);
  }
  return Rcpp::List::create(Rcpp::Named("count") = counts, Rcpp::Named("kmers") = numbers);
}

// The sums from which distances are computed, by their names.
// [[Rcpp::export]]
Rcpp::List compare_kmers_impl(SEXP x, SEXP y, const Rcpp::Function& watch) {
  const KmerDatabase& one = as_database(x);
  const KmerDatabase& other = as_database(y);
  ancify::KmerComparison sums;
  run_job(watch, [&](ancify::JobControl& control) {
    sums = ancify::compare(one, other, ancify::TaskContext(control));
  });
  using Rcpp::Named;
  return Rcpp::List::create(
      Named("one") = sums.one, Named("other") = sums.other, Named("shared") = sums.shared,
      Named("least") = sums.least, Named("total") = sums.total, Named("product") = sums.product,
      Named("square_one") = sums.square_one, Named("square_other") = sums.square_other);
}

// Returns list(kmer =, count =) of the first n k-mers.
// [[Rcpp::export]]
Rcpp::List kmer_rows_impl(SEXP database, double n, const Rcpp::Function& watch) {
  const KmerDatabase& counted = as_database(database);
  const auto most = as_integer<std::uint64_t>(n);
  std::vector<ancify::KmerRow> rows;
  run_job(watch, [&](ancify::JobControl& control) {
    rows = ancify::kmer_rows(counted, most, ancify::TaskContext(control));
  });
  Rcpp::CharacterVector texts(static_cast<R_xlen_t>(rows.size()));
  Rcpp::NumericVector counts(static_cast<R_xlen_t>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    SET_STRING_ELT(texts, static_cast<R_xlen_t>(i),
                   make_string(rows[i].text.data(), static_cast<int>(rows[i].text.size())));
    counts[static_cast<R_xlen_t>(i)] = rows[i].count;
  }
  return Rcpp::List::create(Rcpp::Named("kmer") = texts, Rcpp::Named("count") = counts);
}

// The k-mer counts along each sequence; NA for positions without a k-mer.
// [[Rcpp::export]]
Rcpp::List kmer_profile_impl(SEXP database, const Rcpp::CharacterVector& sequences,
                             const Rcpp::Function& watch) {
  const KmerDatabase& counted = as_database(database);
  const auto views = as_views(sequences);
  std::vector<std::vector<std::int64_t>> counts;
  run_job(watch, [&](ancify::JobControl& control) {
    counts = ancify::counts_along(counted, views, ancify::TaskContext(control));
  });
  Rcpp::List profiles(sequences.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    Rcpp::NumericVector profile(counts[i].begin(), counts[i].end());
    std::replace(profile.begin(), profile.end(), static_cast<double>(ancify::kNoKmer), NA_REAL);
    profiles[static_cast<R_xlen_t>(i)] = profile;
  }
  return profiles;
}

// The counts of the k-mers that one sequence contains: list(number = from 0, count =).
// [[Rcpp::export]]
Rcpp::List kmer_numbers_impl(const Rcpp::CharacterVector& sequence, int k, bool canonical) {
  const auto rows = ancify::count_numbers(as_views(sequence).front(), k, canonical);
  Rcpp::IntegerVector numbers(static_cast<R_xlen_t>(rows.size()));
  Rcpp::IntegerVector counts(static_cast<R_xlen_t>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    numbers[static_cast<R_xlen_t>(i)] = rows[i].number;
    counts[static_cast<R_xlen_t>(i)] = rows[i].count;
  }
  return Rcpp::List::create(Rcpp::Named("number") = numbers, Rcpp::Named("count") = counts);
}
