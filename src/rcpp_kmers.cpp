// Connects k-mers with the core.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/io/memory.h"
#include "core/kmers/counter.h"
#include "core/kmers/queries.h"
#include "core/kmers/set_operations.h"
#include "rcpp_glue.h"
#include "rcpp_sequences.h"

namespace {

using ancify::KmerDatabase;

ancify::KmerSettings as_kmer_settings(const Rcpp::List& list) {
  ancify::KmerSettings settings;
  settings.k = Rcpp::as<int>(list["k"]);
  settings.canonical = Rcpp::as<bool>(list["canonical"]);
  settings.min_count = static_cast<std::uint32_t>(Rcpp::as<double>(list["min_count"]));
  settings.max_count = static_cast<std::uint32_t>(Rcpp::as<double>(list["max_count"]));
  return settings;
}

// A memory of 0 is half of the machine's.
ancify::KmerWork as_kmer_work(const Rcpp::List& list) {
  ancify::KmerWork work;
  const auto memory = Rcpp::as<double>(list["memory"]);
  work.memory = memory > 0 ? static_cast<std::size_t>(memory) : ancify::memory_size() / 2;
  work.scratch = Rcpp::as<std::string>(list["scratch"]);
  work.out = Rcpp::as<std::string>(list["out"]);
  work.threads = Rcpp::as<int>(list["threads"]);
  return work;
}

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

const KmerDatabase& as_database(const Rcpp::List& kmers) {
  return *Rcpp::XPtr<KmerDatabase>(static_cast<SEXP>(kmers["database"])).checked_get();
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

// Counts the k-mers of files, or of sequences in memory.
// [[Rcpp::export]]
Rcpp::List count_kmers_impl(const Rcpp::RObject& x, bool are_files, const Rcpp::List& settings,
                            const Rcpp::List& work, const Rcpp::List& backend,
                            const Rcpp::Function& watch) {
  const ancify::KmerSettings how = as_kmer_settings(settings);
  const ancify::KmerWork where = as_kmer_work(work);
  const ancify::Backend& used = as_backend(backend);
  const Sequences read(x);
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
  return make_kmers(watch, [&](ancify::JobControl& control) {
    return ancify::count_kmers(are_files ? ancify::sequences_of_files(paths, control) : sequences,
                               how, where, control, ancify::open_kmer_devices(used));
  });
}

// [[Rcpp::export]]
Rcpp::List open_kmers_impl(const std::string& stem, const Rcpp::Function& watch) {
  return make_kmers(watch, [&](ancify::JobControl& control) {
    return KmerDatabase::open(stem, control.inputs());
  });
}

// [[Rcpp::export]]
Rcpp::List read_kmer_text_impl(const std::string& path, bool canonical, const Rcpp::List& work,
                               const Rcpp::Function& watch) {
  const ancify::KmerWork where = as_kmer_work(work);
  return make_kmers(watch, [&](ancify::JobControl& control) {
    return ancify::read_kmer_text(path, canonical, where, control);
  });
}

// [[Rcpp::export]]
void write_kmer_text_impl(const Rcpp::List& kmers, const std::string& path,
                          const Rcpp::Function& watch) {
  const KmerDatabase& database = as_database(kmers);
  run_job(watch, [&](ancify::JobControl& control) {
    ancify::write_kmer_text(database, path, ancify::TaskContext(control));
  });
}

// [[Rcpp::export]]
void write_kmer_files_impl(const Rcpp::List& kmers, const std::string& stem,
                           const Rcpp::Function& watch) {
  const KmerDatabase& database = as_database(kmers);
  run_job(watch, [&](ancify::JobControl& control) {
    ancify::write_kmer_files(database, stem, ancify::TaskContext(control));
  });
}

// [[Rcpp::export]]
Rcpp::List filter_kmers_impl(const Rcpp::List& kmers, const Rcpp::List& settings,
                             const Rcpp::List& work, const Rcpp::Function& watch) {
  const KmerDatabase& database = as_database(kmers);
  const ancify::KmerSettings how = as_kmer_settings(settings);
  const ancify::KmerWork where = as_kmer_work(work);
  return make_kmers(watch, [&](ancify::JobControl& control) {
    return ancify::filter(database, how, where, control);
  });
}

// `operation` and `rule` count from 0, in the order of the core's lists.
// [[Rcpp::export]]
Rcpp::List combine_kmers_impl(const Rcpp::List& x, const Rcpp::List& y, int operation, int rule,
                              const Rcpp::List& settings, const Rcpp::List& work,
                              const Rcpp::Function& watch) {
  const KmerDatabase& one = as_database(x);
  const KmerDatabase& other = as_database(y);
  const ancify::KmerSettings how = as_kmer_settings(settings);
  const ancify::KmerWork where = as_kmer_work(work);
  return make_kmers(watch, [&](ancify::JobControl& control) {
    return ancify::combine(one, other, static_cast<ancify::KmerOperation>(operation),
                           static_cast<ancify::KmerCountRule>(rule), how, where, control);
  });
}

// Returns list(count =, kmers =).
// [[Rcpp::export]]
Rcpp::List kmer_histogram_impl(const Rcpp::List& kmers, const Rcpp::Function& watch) {
  const KmerDatabase& database = as_database(kmers);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> rows;
  run_job(watch, [&](ancify::JobControl& control) {
    rows = ancify::histogram(database, ancify::TaskContext(control));
  });
  Rcpp::NumericVector counts(static_cast<R_xlen_t>(rows.size()));
  Rcpp::NumericVector numbers(static_cast<R_xlen_t>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    counts[static_cast<R_xlen_t>(i)] = rows[i].first;
    numbers[static_cast<R_xlen_t>(i)] = static_cast<double>(rows[i].second);
  }
  return Rcpp::List::create(Rcpp::Named("count") = counts, Rcpp::Named("kmers") = numbers);
}

// The sums that distances are made of, by their names.
// [[Rcpp::export]]
Rcpp::List compare_kmers_impl(const Rcpp::List& x, const Rcpp::List& y,
                              const Rcpp::Function& watch) {
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
Rcpp::List kmer_rows_impl(const Rcpp::List& kmers, double n, const Rcpp::Function& watch) {
  const KmerDatabase& database = as_database(kmers);
  std::vector<ancify::KmerRow> rows;
  run_job(watch, [&](ancify::JobControl& control) {
    rows = ancify::kmer_rows(database, static_cast<std::uint64_t>(n), ancify::TaskContext(control));
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

// The counts along each sequence, NA where there is no k-mer.
// [[Rcpp::export]]
Rcpp::List kmer_profile_impl(const Rcpp::List& kmers, const Rcpp::CharacterVector& sequences,
                             const Rcpp::Function& watch) {
  const KmerDatabase& database = as_database(kmers);
  const auto views = as_views(sequences);
  std::vector<std::vector<std::int64_t>> counts;
  run_job(watch, [&](ancify::JobControl& control) {
    counts = ancify::counts_along(database, views, ancify::TaskContext(control));
  });
  Rcpp::List profiles(sequences.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    Rcpp::NumericVector profile(counts[i].begin(), counts[i].end());
    std::replace(profile.begin(), profile.end(), static_cast<double>(ancify::kNoKmer), NA_REAL);
    profiles[static_cast<R_xlen_t>(i)] = profile;
  }
  return profiles;
}

// The counts of the k-mers of one sequence: list(number = from 0, count =), of those that it has.
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
