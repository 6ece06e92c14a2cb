// Variants from VCF and BCF, plain or compressed: all that the core sees of htslib.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/threads.h"

namespace ancify {

// htslib's version; empty in a build without it, where opening a file is an InputError.
std::string htslib_version();

// Reads records in the order of the file, which has to be sorted. FormatError, with the record and
// its line, for what is no record, for positions that go back and for chromosomes that come again.
class VariantReader {
 public:
  // `threads`: how many inflate besides the caller's; 0 for none. InputError for a remote name.
  explicit VariantReader(const std::string& path, int threads = 0);
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

  // Chromosomes that the header or an index declares.
  std::vector<std::string> declared() const;
  const std::string& path() const;
  [[noreturn]] void fail(const std::string& problem) const;  // with the record and its line

 private:
  friend class VariantWriter;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// A field of INFO: its name, and how the header declares it.
struct InfoField {
  std::string id;
  std::string number;
  std::string type;
  std::string description;
};

// Writes the records of a reader, with other values in their INFO, to a VCF (.vcf), a VCF
// compressed by bgzip (.vcf.gz) or a BCF (.bcf), which appears at commit().
class VariantWriter {
 public:
  // Before the reader's first record. The header becomes the reader's, with `fields` declared in
  // place of what it says of them, and `chromosomes` besides its own. `threads` compress besides
  // the caller's. InputError for another ending of the name.
  VariantWriter(VariantReader& reader, const std::string& path,
                const std::vector<InfoField>& fields, const std::vector<std::string>& chromosomes,
                int threads = 0);
  VariantWriter(const VariantWriter&) = delete;
  VariantWriter& operator=(const VariantWriter&) = delete;
  ~VariantWriter();

  // Of the reader's record.
  void set_text(const char* id, const std::string& value);
  void set_number(const char* id, float value);
  void remove(const char* id);
  void write();

  void commit(const TaskContext& context);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ancify
