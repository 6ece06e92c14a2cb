// Connects genotypes and their tables with the core.
#include "rcpp_genotypes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/errors.h"
#include "core/formats/genotype/bgen_genotypes.h"
#include "core/formats/genotype/bgen_index.h"
#include "core/formats/genotype/genotype_writer.h"
#include "core/formats/genotype/joined_genotypes.h"
#include "core/formats/genotype/memory_genotypes.h"
#include "core/formats/genotype/oxford_samples.h"
#include "core/formats/genotype/sample_values.h"
#include "core/formats/genotype/tables.h"
#include "core/formats/genotype/vcf_zarr_genotypes.h"
#include "core/genotypes/hardy_weinberg.h"
#include "rcpp_fields.h"
#include "rcpp_glue.h"

Rcpp::CharacterVector as_strings(const ancify::TextColumn& column) {
  return static_cast<SEXP>(Rcpp::unwindProtect([&] {
    const Rcpp::Shield<SEXP> strings(Rf_allocVector(STRSXP, static_cast<R_xlen_t>(column.size())));
    for (std::size_t i = 0; i < column.size(); ++i) {
      SET_STRING_ELT(strings, static_cast<R_xlen_t>(i),
                     Rf_mkCharLenCE(column[i].data(), static_cast<int>(column[i].size()), CE_UTF8));
    }
    return static_cast<SEXP>(strings);
  }));
}

Rcpp::List as_list(const ancify::VariantTable& table) {
  using Rcpp::Named;
  return Rcpp::List::create(
      Named("chromosome") = as_strings(table.chromosome), Named("id") = as_strings(table.id),
      Named("position") = Rcpp::IntegerVector(table.position.begin(), table.position.end()),
      Named("counted") = as_strings(table.counted), Named("other") = as_strings(table.other));
}

namespace {

SEXP as_values(const ancify::ValueColumn& column) {
  if (!column.fault.empty()) return Rcpp::wrap(column.fault);
  if (!column.codes.empty()) {
    Rcpp::IntegerVector codes(column.codes.begin(), column.codes.end());
    std::replace(codes.begin(), codes.end(), 0, NA_INTEGER);
    return Rcpp::List::create(Rcpp::Named("codes") = codes,
                              Rcpp::Named("levels") = as_strings(column.levels));
  }
  Rcpp::NumericVector numbers(column.numbers.begin(), column.numbers.end());
  std::replace_if(
      numbers.begin(), numbers.end(), [](double x) { return std::isnan(x); }, NA_REAL);
  return numbers;
}

// An uninitialised matrix of integers.
Rcpp::IntegerMatrix make_integers(std::size_t rows, std::size_t columns) {
  const Rcpp::Shield<SEXP> matrix(Rcpp::unwindProtect(
      [&] { return Rf_allocMatrix(INTSXP, static_cast<int>(rows), static_cast<int>(columns)); }));
  return static_cast<SEXP>(matrix);
}

std::string lines_of(const Rcpp::CharacterVector& texts) {
  std::string lines;
  for (R_xlen_t i = 0; i < texts.size(); ++i) {
    lines += CHAR(STRING_ELT(texts, i));
    lines += '\n';
  }
  return lines;
}

// list(family =, id =, names = of further columns, empty without a header, columns = a list of
// character vectors, line =)
Rcpp::List as_list(const ancify::SampleTable& table) {
  Rcpp::List columns(static_cast<R_xlen_t>(table.columns.size()));
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    columns[static_cast<R_xlen_t>(i)] = as_strings(table.columns[i]);
  }
  ancify::TextColumn names;
  for (const std::string& name : table.names) names.add(name);
  using Rcpp::Named;
  return Rcpp::List::create(
      Named("family") = as_strings(table.family), Named("id") = as_strings(table.id),
      Named("names") = as_strings(names), Named("columns") = columns,
      Named("line") = Rcpp::NumericVector(table.lines.begin(), table.lines.end()));
}

// The most rows to read of a table whose genotypes have space for `room`. A few extra rows are
// harmless: opening genotypes compares the counts, and its error is more precise.
std::int64_t rows_to_read(std::int64_t room) {
  constexpr std::int64_t few = 1'000'000;
  return std::max(few, 2 * room);
}

// Sets the address of genotypes in memory: packed by the core; or bytes of R: calls, or list(calls
// =, dosages =, units =).
void find_in_memory(GenotypesOfPart& part) {
  const Rcpp::RObject& kept = part.keeper;
  if (kept.isNULL()) return;
  if (TYPEOF(kept) == RAWSXP) {
    part.memory.calls = RAW(kept);
    part.bytes = Rf_xlength(kept);
  } else if (TYPEOF(kept) == VECSXP) {
    part.memory.calls = RAW(VECTOR_ELT(kept, 0));
    part.bytes = Rf_xlength(VECTOR_ELT(kept, 0));
    part.memory.dosages = reinterpret_cast<const ancify::Dosage*>(RAW(VECTOR_ELT(kept, 1)));
    part.memory.units = INTEGER(VECTOR_ELT(kept, 2));
  } else {
    const Rcpp::XPtr<ancify::PackedGenotypes> packed(static_cast<SEXP>(kept));
    part.memory.calls = packed->calls.data();
    part.bytes = static_cast<std::int64_t>(packed->calls.size());
    if (packed->units.empty()) return;
    part.memory.dosages = packed->dosages.data();
    part.memory.units = packed->units.data();
  }
}

ancify::Separator separator_of(bool commas) {
  return commas ? ancify::Separator::kCommas : ancify::Separator::kBlanks;
}

// The call for a value of an R matrix; kNoCall for any other value.
constexpr unsigned kNoCall = 4;

unsigned call_of(int value) {
  if (value == NA_INTEGER) return ancify::kMissingCall;
  return value >= 0 && value <= 2 ? static_cast<unsigned>(value) : kNoCall;
}

unsigned call_of(double value) {
  if (R_IsNA(value)) return ancify::kMissingCall;
  return value == 0 || value == 1 || value == 2 ? static_cast<unsigned>(value) : kNoCall;
}

// snpStats's codes: 0 is missing, 1 to 3 are 0 to 2 copies of the second allele, others are
// uncertain genotypes.
unsigned call_of(Rbyte code) {
  constexpr std::array<unsigned, 4> calls = {ancify::kMissingCall, 0, 1, 2};
  return code < calls.size() ? calls[code] : kNoCall;
}

// Packs a matrix. Returns the index of the first value that is not a call, or `rows * columns`.
template <class Value>
std::int64_t pack(const Value* values, std::int64_t rows, std::int64_t columns,
                  std::uint8_t* calls) {
  for (std::int64_t j = 0; j < columns; ++j, calls += (rows + 3) / 4) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const unsigned call = call_of(values[j * rows + i]);
      if (call == kNoCall) return j * rows + i;
      ancify::set_call(calls, i, call);
    }
  }
  return rows * columns;
}

}  // namespace

std::unique_ptr<ancify::GenotypeFile> GenotypesOfPart::open(
    const ancify::InputIdentities& inputs) const {
  if (memory.calls == nullptr) {
    ancify::InputIdentities expected = inputs;
    expected.emplace(path, identity);
    for (const std::string& index : index_identity) expected.emplace(path + ".pgi", index);
    if (!block_begins.empty()) {
      return std::make_unique<ancify::BgenGenotypes>(
          ancify::InputFile(path, expected), samples, block_begins,
          ancify::BgenRule{hard_call_threshold, dosages});
    }
    if (!places.places.empty()) {
      return std::make_unique<ancify::VcfZarrGenotypes>(path, samples, places, expected);
    }
    return ancify::open_genotype_file(path, samples, variants, expected, alts, dosages);
  }
  if (bytes != (samples + 3) / 4 * variants) {
    throw ancify::InputError("the calls in memory do not fit the samples and variants");
  }
  return std::make_unique<ancify::MemoryGenotypes>(path, memory, samples, variants);
}

std::unique_ptr<ancify::GenotypeFile> ChosenGenotypes::open(
    const ancify::InputIdentities& inputs) const {
  auto file = open_unmasked(inputs);
  if (masks.empty()) return file;
  return std::make_unique<ancify::MaskedGenotypes>(std::move(file), masks);
}

std::unique_ptr<ancify::GenotypeFile> ChosenGenotypes::open_unmasked(
    const ancify::InputIdentities& inputs) const {
  if (parts.size() == 1 && parts[0].order.empty()) return parts[0].open(inputs);
  std::vector<ancify::GenotypePart> opened;
  for (const GenotypesOfPart& part : parts) opened.push_back({part.open(inputs), part.order});
  return std::make_unique<ancify::JoinedGenotypes>(std::move(opened));
}

namespace {

std::vector<std::int64_t> as_indices(const Rcpp::NumericVector& numbers) {
  return {numbers.begin(), numbers.end()};
}

// A set of files to write: a format, and the lines of its tables.
struct GenotypeFiles {
  std::string format;
  std::string stem;
  Rcpp::CharacterVector variants;
  Rcpp::CharacterVector samples;
  bool known_reference;
  bool overwrite;
  int threads;
};

}  // namespace

template <>
struct Fields<GenotypesOfPart> {
  using All = GenotypesOfPart;
  static constexpr auto table = fields(
      "GenotypesOfPart", field("path", &All::path), field_or_default("identity", &All::identity),
      field_or_default("index_identity", &All::index_identity), field("samples", &All::samples),
      field("variants", &All::variants), field_or_default("order", &All::order, as_indices),
      field_or_default("alts", &All::alts),
      field_or_default("block_begins", &All::block_begins, as_indices),
      field_or_default("hard_call_threshold", &All::hard_call_threshold),
      field_or_default("dosages", &All::dosages),
      field_or_default("places", &All::places, as_vcf_zarr_places), field("calls", &All::keeper));
};

template <>
struct Fields<ancify::CallMask> {
  using All = ancify::CallMask;
  static constexpr auto table = fields("CallMask", field("variants", &All::variants, as_indices),
                                       field("heterozygous", &All::heterozygous, as_indices),
                                       field("all", &All::all, as_indices));
};

namespace {

std::vector<GenotypesOfPart> as_parts(const Rcpp::List& list) {
  std::vector<GenotypesOfPart> parts;
  for (SEXP one : list) {
    auto part = from_list<GenotypesOfPart>(one);
    find_in_memory(part);
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<ancify::CallMask> as_masks(const Rcpp::List& masks) {
  std::vector<ancify::CallMask> result;
  for (const SEXP mask : masks) result.push_back(from_list<ancify::CallMask>(mask));
  return result;
}

}  // namespace

template <>
struct Fields<ChosenGenotypes> {
  using All = ChosenGenotypes;
  using Selection = ancify::GenotypeSelection;
  static constexpr auto table =
      fields("ChosenGenotypes", field("parts", &All::parts, as_parts),
             field("sample_index", within(&All::selection, &Selection::samples), as_indices),
             field("variant_index", within(&All::selection, &Selection::variants), as_indices),
             field("masks", &All::masks, as_masks));
};

template <>
struct Fields<GenotypeFiles> {
  using All = GenotypeFiles;
  static constexpr auto table =
      fields("GenotypeFiles", field("format", &All::format), field("stem", &All::stem),
             field("variants", &All::variants), field("samples", &All::samples),
             field("known_reference", &All::known_reference), field("overwrite", &All::overwrite),
             field("work", &All::threads, threads_of));
};

ChosenGenotypes as_chosen(const Rcpp::List& genotypes) {
  return from_list<ChosenGenotypes>(genotypes);
}

// `genotypes`: the path of the genotypes that a .fam or .psam belongs to, or "".
// [[Rcpp::export]]
Rcpp::List read_samples_impl(const std::string& path, const std::string& genotypes,
                             const Rcpp::Function& watch) {
  ancify::SampleTable table;
  run_job(watch, [&](ancify::JobControl& control) {
    const std::int64_t most =
        genotypes.empty() ? ancify::kAnyRows : rows_to_read(ancify::most_samples(genotypes));
    table = ancify::read_samples(path, ancify::TaskContext(control), most);
  });
  return as_list(table);
}

template <>
struct Fields<ancify::ValueRules> {
  using All = ancify::ValueRules;
  static constexpr auto table =
      fields("ValueRules", field("missing", &All::missing), field("stem", &All::stem),
             field("factors", &All::factors), field("keep_faults", &All::keep_faults));
};

// Returns list(id =, names =, columns = a list) of a table of values. A column is a numeric vector,
// list(codes = from 1 on, levels =) or, if faults are kept, a string: why it has no values.
// [[Rcpp::export]]
Rcpp::List read_values_impl(const std::string& path, const Rcpp::List& rules,
                            const Rcpp::Function& watch) {
  const auto values = from_list<ancify::ValueRules>(rules);
  ancify::SampleValues table;
  run_job(watch, [&](ancify::JobControl& control) {
    table = ancify::read_sample_values(path, values, ancify::TaskContext(control));
  });
  Rcpp::List columns(static_cast<R_xlen_t>(table.columns.size()));
  std::transform(table.columns.begin(), table.columns.end(), columns.begin(), as_values);
  table.columns.clear();
  using Rcpp::Named;
  return Rcpp::List::create(Named("id") = as_strings(table.id), Named("names") = table.names,
                            Named("columns") = columns);
}

// Texts as numbers, by the rule of read_values_impl(); or the first text that is not a number.
// [[Rcpp::export]]
SEXP numbers_of_impl(const Rcpp::CharacterVector& texts, const std::vector<std::string>& na) {
  ancify::ValueParser parse(na);
  Rcpp::NumericVector numbers(texts.size());
  for (R_xlen_t i = 0; i < texts.size(); ++i) {
    const auto number = parse(CHAR(STRING_ELT(texts, i)));
    if (!number) return Rf_ScalarString(STRING_ELT(texts, i));
    numbers[i] = std::isnan(*number) ? NA_REAL : *number;
  }
  return numbers;
}

template <>
struct Fields<ancify::WordRows> {
  using All = ancify::WordRows;
  static constexpr auto table =
      fields("WordRows", field("least", &All::least), field("most", &All::most),
             field("header", &All::header), field("commas", &All::separator, separator_of),
             field("comments", &All::comments));
};

// Returns list(columns = a list of character vectors, line = of each row).
// [[Rcpp::export]]
Rcpp::List read_words_impl(const std::string& path, const Rcpp::List& shape,
                           const Rcpp::Function& watch) {
  const auto expected = from_list<ancify::WordRows>(shape);
  ancify::WordTable table;
  run_job(watch, [&](ancify::JobControl& control) {
    table = ancify::read_words(path, expected, ancify::TaskContext(control));
  });
  Rcpp::List columns(static_cast<R_xlen_t>(table.columns.size()));
  std::transform(table.columns.begin(), table.columns.end(), columns.begin(), as_strings);
  using Rcpp::Named;
  return Rcpp::List::create(
      Named("columns") = columns,
      Named("line") = Rcpp::NumericVector(table.lines.begin(), table.lines.end()));
}

// Returns list(values = a matrix, line = of each row) of a table of numbers.
// [[Rcpp::export]]
Rcpp::List read_numbers_impl(const std::string& path, bool commas, const Rcpp::Function& watch) {
  ancify::NumberTable table;
  run_job(watch, [&](ancify::JobControl& control) {
    table = ancify::read_numbers(path, ancify::TaskContext(control), separator_of(commas));
  });
  const auto rows = static_cast<int>(table.lines.size());
  const auto columns = static_cast<int>(table.columns);
  Rcpp::NumericMatrix values = make_matrix(rows, columns);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      values(row, column) = table.values[static_cast<std::size_t>(row) * table.columns +
                                         static_cast<std::size_t>(column)];
    }
  }
  using Rcpp::Named;
  return Rcpp::List::create(Named("values") = values, Named("line") = Rcpp::NumericVector(
                                                          table.lines.begin(), table.lines.end()));
}

// Returns a list with the columns of a table of variants, which belongs to genotypes of this many
// samples.
// [[Rcpp::export]]
Rcpp::List read_variants_impl(const std::string& path, const std::string& genotypes, int samples,
                              const Rcpp::Function& watch) {
  ancify::VariantTable table;
  run_job(watch, [&](ancify::JobControl& control) {
    const std::int64_t most = rows_to_read(ancify::most_variants(genotypes, samples));
    table = ancify::read_variants(path, ancify::TaskContext(control), most);
  });
  return as_list(table);
}

// The samples of a .sample, as from read_samples_impl(), which belongs to genotypes of `n` samples.
// [[Rcpp::export]]
Rcpp::List read_oxford_samples_impl(const std::string& path, double n,
                                    const Rcpp::Function& watch) {
  ancify::SampleTable table;
  run_job(watch, [&](ancify::JobControl& control) {
    const std::int64_t most = rows_to_read(static_cast<std::int64_t>(n));
    table = ancify::read_oxford_samples(path, ancify::TaskContext(control), most);
  });
  return as_list(table);
}

// Returns list(n_samples =, ids = empty if the file has none, variants = as from
// read_variants_impl(), block_begins =, multiallelic = and one_allele = indices of variants).
// [[Rcpp::export]]
Rcpp::List read_bgen_impl(const std::string& path, const Rcpp::Function& watch) {
  ancify::BgenIndex index;
  run_job(watch,
          [&](ancify::JobControl& control) { index = ancify::read_bgen_index(path, control); });
  using Rcpp::Named;
  const auto as_numbers = [](const std::vector<std::int64_t>& numbers) {
    return Rcpp::NumericVector(numbers.begin(), numbers.end());
  };
  for (auto* numbers : {&index.multiallelic, &index.one_allele}) {
    for (std::int64_t& number : *numbers) ++number;
  }
  return Rcpp::List::create(Named("n_samples") = static_cast<double>(index.header.samples),
                            Named("ids") = as_strings(index.ids),
                            Named("variants") = as_list(index.variants),
                            Named("block_begins") = as_numbers(index.begins),
                            Named("multiallelic") = as_numbers(index.multiallelic),
                            Named("one_allele") = as_numbers(index.one_allele));
}

// The calls of a matrix as bytes, or the index of a value that is not a call, as a single number.
// [[Rcpp::export]]
Rcpp::RObject pack_calls_impl(const Rcpp::RObject& matrix) {
  const std::int64_t rows = Rf_nrows(matrix);
  const std::int64_t columns = Rf_ncols(matrix);
  Rcpp::RawVector packed(static_cast<R_xlen_t>((rows + 3) / 4 * columns));
  std::uint8_t* const calls = packed.begin();
  std::int64_t bad = 0;
  if (TYPEOF(matrix) == RAWSXP) bad = pack(RAW(matrix), rows, columns, calls);
  if (TYPEOF(matrix) == INTSXP) bad = pack(INTEGER(matrix), rows, columns, calls);
  if (TYPEOF(matrix) == REALSXP) bad = pack(REAL(matrix), rows, columns, calls);
  if (bad < rows * columns) return Rcpp::wrap(static_cast<double>(bad + 1));
  return packed;
}

// Opens a genotype file to check that it has this many samples and variants, with these numbers of
// ALT alleles (none if all have one). Returns the number of variants with dosages.
// [[Rcpp::export]]
double check_genotypes_impl(const std::string& path, int samples, int variants,
                            const std::vector<int>& alts, const Rcpp::Function& watch) {
  std::int64_t dosages = 0;
  run_job(watch, [&](ancify::JobControl& control) {
    dosages =
        ancify::open_genotype_file(path, samples, variants, control.inputs(), alts)->with_dosages();
  });
  return static_cast<double>(dosages);
}

// The calls as a matrix of integers, with a row for each sample.
// [[Rcpp::export]]
Rcpp::IntegerMatrix genotype_matrix_impl(const Rcpp::List& genotypes, const Rcpp::List& work,
                                         const Rcpp::Function& watch) {
  const int threads = threads_of(work);
  const ChosenGenotypes chosen = as_chosen(genotypes);
  Rcpp::IntegerMatrix matrix =
      make_integers(chosen.selection.samples.size(), chosen.selection.variants.size());
  int* const values = matrix.begin();
  run_job(watch, [&](ancify::JobControl& control) {
    const auto file = chosen.open(control.inputs());
    ancify::calls_as_integers(*file, chosen.selection, NA_INTEGER, threads, control, values);
  });
  return matrix;
}

// A matrix with a row for each call (0, 1, 2, missing) and a column for each variant.
// [[Rcpp::export]]
Rcpp::IntegerMatrix genotype_counts_impl(const Rcpp::List& genotypes, const Rcpp::List& work,
                                         const Rcpp::Function& watch) {
  const int threads = threads_of(work);
  const ChosenGenotypes chosen = as_chosen(genotypes);
  Rcpp::IntegerMatrix counts = make_integers(4, chosen.selection.variants.size());
  int* const values = counts.begin();
  run_job(watch, [&](ancify::JobControl& control) {
    const auto file = chosen.open(control.inputs());
    ancify::count_calls(*file, chosen.selection, threads, control, values);
  });
  return counts;
}

// Writes genotypes and their tables. `files` is for GenotypeFiles.
// [[Rcpp::export]]
void write_genotypes_impl(const Rcpp::List& genotypes, const Rcpp::List& files,
                          const Rcpp::Function& watch) {
  const ChosenGenotypes chosen = as_chosen(genotypes);
  const auto wanted = from_list<GenotypeFiles>(files);
  const auto format =
      wanted.format == "bed" ? ancify::GenotypeFormat::kBed : ancify::GenotypeFormat::kPgen;
  const ancify::GenotypeTables tables = {lines_of(wanted.variants), lines_of(wanted.samples),
                                         wanted.known_reference};
  run_job(watch, [&](ancify::JobControl& control) {
    const auto file = chosen.open(control.inputs());
    ancify::write_genotypes(format, *file, chosen.selection, tables, wanted.stem, wanted.overwrite,
                            wanted.threads, control);
  });
}

// The p-value of each column of counts, as from genotype_counts_impl().
// [[Rcpp::export]]
Rcpp::NumericVector hardy_weinberg_impl(const Rcpp::IntegerMatrix& counts) {
  Rcpp::NumericVector p(counts.ncol());
  for (int j = 0; j < counts.ncol(); ++j) {
    p[j] = ancify::hardy_weinberg_p(counts(1, j), counts(0, j), counts(2, j));
  }
  return p;
}
