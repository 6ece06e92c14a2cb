// Reads a BGEN file's samples and variants, and the places of their probabilities.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/exec/job_control.h"
#include "core/formats/genotype/tables.h"
#include "core/io/file.h"

namespace ancify {

enum class BgenCompression : std::uint8_t { kNone = 0, kZlib = 1, kZstd = 2 };

struct BgenHeader {
  std::int64_t samples;
  std::int64_t variants;
  BgenCompression compression;
  bool has_ids;
  std::int64_t ids_begin;
  std::int64_t variants_begin;
};

// Throws FormatError for a file that is not BGEN of layout 2, or that is too short for its header.
BgenHeader read_bgen_header(const InputFile& file);

struct BgenIndex {
  BgenHeader header;
  TextColumn ids;  // of samples; empty if the file has none
  // The second allele is the counted one. A variant of another number of alleles has dots.
  VariantTable variants;
  // Indices of variants of more than two alleles, and of one.
  std::vector<std::int64_t> multiallelic;
  std::vector<std::int64_t> one_allele;
  // The offset of each variant's block in the file, and the file's end.
  std::vector<std::int64_t> begins;
};

// Reads the identifying data of each variant and skips its block. Memory is bounded by the size of
// the file. Throws FormatError, with the variant's number, for a damaged or truncated file.
BgenIndex read_bgen_index(const std::string& path, JobControl& control);

}  // namespace ancify
