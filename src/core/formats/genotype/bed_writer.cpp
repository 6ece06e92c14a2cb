// Writes PLINK 1 BED in pieces of variants, each at its own offset.
#include "core/formats/genotype/bed_writer.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/exec/threads.h"
#include "core/formats/genotype/bed_genotypes.h"
#include "core/formats/genotype/call_codes.h"
#include "core/io/file.h"
#include "core/io/file_set.h"

namespace ancify {

namespace {

std::string_view as_text(const std::vector<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write_at(OutputFile& file, std::string_view text, std::int64_t offset) {
  file.write_at(text.data(), text.size(), offset);
}

// BED codes of the chosen samples at n variants.
std::vector<std::uint8_t> bed_codes(const std::uint8_t* calls, std::int64_t stride, std::int64_t n,
                                    const std::vector<std::int64_t>& samples) {
  const auto chosen = static_cast<std::int64_t>(samples.size());
  const std::int64_t width = (chosen + 3) / 4;
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(n * width));
  for (std::int64_t i = 0; i < n; ++i) {
    pick_samples(calls + i * stride, samples, codes.data() + i * width);
  }
  convert_codes(codes.data(), codes.size(), calls_as_bed);
  for (std::int64_t i = 0; i < n; ++i) clear_padding(codes.data() + i * width, chosen);
  return codes;
}

}  // namespace

void write_bed(const GenotypeFile& file, const GenotypeSelection& selection,
               const BedTables& tables, const std::string& stem, bool overwrite, int threads,
               JobControl& control) {
  check_selection(file, selection);
  const auto size = [](const auto& some) { return static_cast<std::int64_t>(some.size()); };
  const std::int64_t width = (size(selection.samples) + 3) / 4;
  const std::int64_t header = size(kBedHeader);
  OutputFile bed(stem + ".bed", header + width * size(selection.variants));
  OutputFile bim(stem + ".bim", size(tables.bim));
  OutputFile fam(stem + ".fam", size(tables.fam));
  write_at(bim, tables.bim, 0);
  write_at(fam, tables.fam, 0);
  write_at(bed, kBedHeader, 0);
  for_each_piece(file, selection.variants, threads, control,
                 [&](std::int64_t first, std::int64_t n, const std::uint8_t* calls) {
                   const auto codes = bed_codes(calls, file.stride(), n, selection.samples);
                   write_at(bed, as_text(codes), header + first * width);
                 });
  commit_set({&bim, &fam, &bed}, overwrite, TaskContext(control));
}

}  // namespace ancify
