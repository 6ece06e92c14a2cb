// Variants from VCF and BCF, plain or compressed: all that the core sees of htslib.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/job_control.h"
#include "core/exec/threads.h"

namespace ancify {

// htslib's version; empty in a build without it, where opening a file is an InputError.
std::string htslib_version();

// How much of each record is to be had; what comes after it in a line of VCF is not parsed.
enum class RecordParts { kAlleles, kInfo, kGenotypes };

constexpr int kMissingAllele = -1;  // written as a dot
constexpr int kNoAllele = -2;       // of a sample with fewer alleles than others

// The genotypes of a record, phased or not.
struct Genotypes {
  int ploidy = 0;            // the most alleles of any sample; 0 where the record has no GT
  std::vector<int> alleles;  // so many of each sample: the record's, from 0, or one of the above
};

// Reads records in the order of the file, which has to be sorted. FormatError, with the record and
// its line, for what is no record, for positions that go back or are behind the length that the
// header declares, and for chromosomes that come again.
class VariantReader {
 public:
  // `threads`: how many inflate besides the caller's; 0 for none. InputError for a remote name,
  // FileError where `inputs` has another file under this path.
  explicit VariantReader(const std::string& path, int threads = 0,
                         RecordParts parts = RecordParts::kAlleles,
                         const InputIdentities& inputs = {});
  VariantReader(const VariantReader&) = delete;
  VariantReader& operator=(const VariantReader&) = delete;
  ~VariantReader();

  // False at the end of the file. What the others give is of the record that was read last, and
  // valid until the next.
  bool next();
  std::string_view chromosome() const;
  std::int64_t position() const;         // from 1; 0 is before the first base
  int alleles() const;                   // REF among them
  std::string_view allele(int i) const;  // REF is the first
  std::int64_t records() const;          // read so far
  std::int64_t consumed() const;         // bytes of the file, as it is stored

  // With RecordParts::kInfo or more: a field of INFO, nothing where it is missing. FormatError for
  // one that is declared as something else, or is written as another thing than numbers.
  std::optional<std::string_view> info_text(const char* id);
  std::vector<float> info_numbers(const char* id);  // NaN where one of several is missing
  // With RecordParts::kGenotypes. FormatError for an allele that the record does not have.
  const Genotypes& genotypes();

  // Chromosomes that the header or an index declares.
  std::vector<std::string> declared() const;
  std::vector<std::string> samples() const;  // in the order of their columns
  const std::string& path() const;
  [[noreturn]] void fail(const std::string& problem) const;  // with the record and its line

 private:
  friend class VariantWriter;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// For the progress bar of a job that reads a file once; record() is told of each record.
class ReadingProgress {
 public:
  ReadingProgress(const std::string& path, JobControl& control);
  void record(const VariantReader& reader);

 private:
  JobControl& control_;
  std::int64_t consumed_ = 0;
};

// A field of INFO: its name, and how the header declares it.
struct InfoField {
  std::string id;
  std::string number;
  std::string type;
  std::string description;
};

// What a header gets besides what it has.
struct HeaderAdditions {
  std::vector<InfoField> fields;  // in place of what it says of them
  std::vector<std::string> chromosomes;
  std::vector<std::string> lines;  // ##key=value
};

// Writes the records of a reader, with other values in their INFO, to a VCF (.vcf), a VCF
// compressed by bgzip (.vcf.gz) or a BCF (.bcf), which appears at commit().
class VariantWriter {
 public:
  // Before the reader's first record. The header becomes the reader's with `additions`. `threads`
  // compress besides the caller's. InputError for another ending of the name.
  VariantWriter(VariantReader& reader, const std::string& path, const HeaderAdditions& additions,
                int threads = 0);
  VariantWriter(const VariantWriter&) = delete;
  VariantWriter& operator=(const VariantWriter&) = delete;
  ~VariantWriter();

  // Of the reader's record.
  void set_text(const char* id, const std::string& value);
  void set_numbers(const char* id, const std::vector<float>& values);
  void remove(const char* id);
  // Exchanges REF and ALT, of two alleles of one base, and with them all that is told by allele
  // (see allele_swap.h). INFO's `id` gets REF as it was; where it has one, the record was
  // exchanged before and is now as it was then, so that it is taken out.
  void swap_alleles(const char* id);
  void write();

  // In how many records swap_alleles() took out each field that it could not recompute; INFO/ and
  // FORMAT/ before its name.
  const std::map<std::string, std::int64_t>& dropped() const;

  void commit(const TaskContext& context);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ancify
