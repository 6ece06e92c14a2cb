// Reads and writes variants in VCF and BCF, plain or compressed. Other folders do not see htslib.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/errors.h"
#include "core/exec/job_control.h"
#include "core/exec/threads.h"

namespace ancify {

// htslib's version; empty in a build without htslib, where opening a file is an InputError.
std::string htslib_version();

// The parts of each record to read. The later parts of a line of VCF are not parsed.
enum class RecordParts { kAlleles, kInfo, kGenotypes };

constexpr int kMissingAllele = -1;  // written as a dot
constexpr int kNoAllele = -2;       // the sample has fewer alleles than others

// The genotypes of a record, phased or not.
struct Genotypes {
  int ploidy = 0;            // the most alleles of any sample; 0 if the record has no GT
  std::vector<int> alleles;  // `ploidy` for each sample: an index, from 0, or a constant above
};

// A field of FORMAT with numbers.
struct SampleNumbers {
  int per_sample = 0;         // the most numbers of any sample; 0 if the record lacks the field
  std::vector<float> values;  // `per_sample` for each sample; NaN if absent
};

// True if an ALT is not an allele of its own: a deletion that began before the record (*), or
// unobserved alleles (<*>, <NON_REF> and <X>).
bool is_no_allele(std::string_view alt);

// The fields of INFO that count a population's alleles.
struct CountFields {
  std::string copies = "AC";  // of each ALT
  std::string called = "AN";  // all alleles
};

// The count of ALT according to INFO.
struct AltCount {
  std::int64_t copies = 0;
  std::int64_t called = 0;  // alleles of the record in all samples
};

// Reads the records of a sorted file in order. ALTs for which is_no_allele() holds are left out:
// other alleles are renumbered without them, and in genotypes they are missing. Throws FormatError,
// with the record and its line, for a malformed record or a chromosome that recurs. It also does so
// for a position that decreases or exceeds the declared length.
class VariantReader {
 public:
  // `threads` threads inflate, in addition to the caller's thread. Throws InputError for a URL, and
  // FileError if `inputs` has another identity for this path.
  explicit VariantReader(const std::string& path, int threads = 0,
                         RecordParts parts = RecordParts::kAlleles,
                         const InputIdentities& inputs = {});
  VariantReader(const VariantReader&) = delete;
  VariantReader& operator=(const VariantReader&) = delete;
  ~VariantReader();

  // Reads the next record; false at the end of the file. The other functions return values of this
  // record, which are valid until the next call.
  bool next();
  std::string_view chromosome() const;
  std::int64_t position() const;         // from 1; 0 is before the first base
  std::string_view id() const;           // a dot if absent
  int alleles() const;                   // REF included
  std::string_view allele(int i) const;  // REF is the first
  int stored_alleles() const;            // including those left out
  int stored_index(int i) const;         // of an allele among all stored ones
  std::int64_t records() const;          // records read so far
  std::int64_t consumed() const;         // bytes of the stored file read so far

  // A field of INFO; empty if it is missing, and a missing text is ".". Needs RecordParts::kInfo or
  // more. Throws FormatError if the header declares another type, if the record has the field
  // twice, or if a number is malformed.
  std::optional<std::string_view> info_text(const char* id);
  std::vector<float> info_numbers(const char* id);  // NaN for a missing one of several
  // The count of a record with two alleles; empty unless it has both fields, declared as Integer in
  // the header. Throws FormatError if copies exceed called alleles and, like the other functions,
  // for a malformed number or a repeated field.
  std::optional<AltCount> info_counts(const CountFields& fields = {});
  // As above, but copies may exceed called alleles.
  std::optional<AltCount> stated_counts(const CountFields& fields);
  // Throws FormatError unless the header declares the fields as Integer, with a number for each ALT
  // and one for all alleles. Call it before the first record.
  void require_declared(const CountFields& fields) const;
  // The last position of the record: END in INFO or, without it, the last base of REF. Needs
  // RecordParts::kInfo or more. Throws FormatError if END is before the record, or is not declared
  // as one Integer.
  std::int64_t end();
  // Needs RecordParts::kGenotypes. Throws FormatError for an allele that the record does not have.
  const Genotypes& genotypes();
  // True if a sample's second allele is phased with the first. The record must have genotypes of
  // two or more alleles.
  bool is_phased(std::size_t sample) const;
  // True if the header declares a field of FORMAT.
  bool declares_sample_field(const char* id) const;
  // Another field of FORMAT. Throws FormatError if the header declares it as text.
  const SampleNumbers& sample_numbers(const char* id);

  // Chromosomes declared by the header or an index.
  std::vector<std::string> declared() const;
  std::int64_t declared_length() const;      // of the record's chromosome; 0 if the header has none
  std::vector<std::string> samples() const;  // in the order of their columns
  const std::string& path() const;
  // Throws FormatError with the record and its line.
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  friend class VariantWriter;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Advances the progress bar of a job that reads a file once. Call record() for each record.
class ReadingProgress {
 public:
  ReadingProgress(const std::string& path, JobControl& control);
  void record(const VariantReader& reader);

 private:
  JobControl& control_;
  std::int64_t consumed_ = 0;
};

// Calls use() at each record of a job that reads a file once.
template <class Use>
void for_each_record(VariantReader& reader, JobControl& control, Use use) {
  ReadingProgress progress(reader.path(), control);
  while (reader.next()) {
    if (control.stop_requested()) throw Interrupted();
    progress.record(reader);
    use();
  }
}

// A field of INFO: its name and its declaration in the header.
struct InfoField {
  std::string id;
  std::string number;
  std::string type;
  std::string description;
};

// A name in FILTER, and its declaration in the header.
struct Filter {
  std::string id;
  std::string description;
};

// Additions to a header.
struct HeaderAdditions {
  std::vector<InfoField> fields;  // replace the header's declarations
  std::vector<Filter> filters;    // likewise
  std::vector<std::string> chromosomes;
  std::vector<std::string> lines;  // ##key=value
};

// Writes a reader's records, with changes, to VCF (.vcf), VCF compressed by bgzip (.vcf.gz) or BCF
// (.bcf). The file appears at commit(). The path - means VCF, streamed to the standard output.
class VariantWriter {
 public:
  // Create it before the reader reads its first record. Adds `additions` to the reader's header and
  // writes it. `threads` threads compress, in addition to the caller's thread. Throws InputError
  // for another file name extension.
  VariantWriter(VariantReader& reader, const std::string& path, const HeaderAdditions& additions,
                int threads = 0);
  VariantWriter(const VariantWriter&) = delete;
  VariantWriter& operator=(const VariantWriter&) = delete;
  ~VariantWriter();

  // Change a field of INFO in the reader's record.
  void set_text(const char* id, const std::string& value);
  void set_numbers(const char* id, const std::vector<float>& values);
  void remove(const char* id);
  // Adds a declared filter to FILTER, or removes it. A record that loses its only filter passes.
  void set_filter(const char* id, bool failed);
  // Exchanges REF and ALT of a record with two alleles, and all values that depend on allele order
  // (see allele_fields.h), including alleles left out. INFO's `id` gets the old REF. If it already
  // holds the current ALT, the record was exchanged before: it is now restored, and `id` is
  // removed.
  void swap_alleles(const char* id);
  // These fields remain unchanged in swap_alleles(). Names begin with INFO/ or FORMAT/. Throws
  // InputError if the header lacks one.
  void keep(const std::vector<std::string>& fields);
  void write();

  // The number of records from which swap_alleles() removed each field that it could not recompute.
  // Names begin with INFO/ or FORMAT/.
  const std::map<std::string, std::int64_t>& dropped() const;

  void commit(const TaskContext& context);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ancify
