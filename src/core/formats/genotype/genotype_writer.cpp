// Writes genotypes in pieces of variants, each at its own offset.
// Source: PLINK 2 File Format Specification Draft, section 2.2.
#include "core/formats/genotype/genotype_writer.h"

#include <cstddef>
#include <cstdint>
#include <string>
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

// What a format's files have besides calls.
struct Layout {
  const char* calls;
  const char* variants;
  const char* samples;
  std::string header;
  std::uint64_t (*codes)(std::uint64_t calls);
};

std::string four_bytes(std::size_t number) {
  std::string bytes;
  for (unsigned i = 0; i < 4; ++i) bytes += static_cast<char>(number >> 8 * i & 0xff);
  return bytes;
}

Layout layout_of(GenotypeFormat format, bool known_reference, const GenotypeSelection& selection) {
  if (format == GenotypeFormat::kBed) {
    return {".bed", ".bim", ".fam", std::string(kBedHeader), &calls_as_bed};
  }
  // The last byte says that no REF allele is provisional, or that all are.
  const std::string header = "\x6c\x1b\x02" + four_bytes(selection.variants.size()) +
                             four_bytes(selection.samples.size()) +
                             (known_reference ? '\x40' : '\x80');
  return {".pgen", ".pvar", ".psam", header, [](std::uint64_t calls) { return calls; }};
}

// The codes of the chosen samples at n variants.
std::vector<std::uint8_t> codes_of(const Layout& layout, const std::uint8_t* calls,
                                   std::int64_t stride, std::int64_t n,
                                   const std::vector<std::int64_t>& samples) {
  const auto chosen = static_cast<std::int64_t>(samples.size());
  const std::int64_t width = (chosen + 3) / 4;
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(n * width));
  for (std::int64_t i = 0; i < n; ++i) {
    pick_samples(calls + i * stride, samples, codes.data() + i * width);
  }
  convert_codes(codes.data(), codes.size(), layout.codes);
  for (std::int64_t i = 0; i < n; ++i) clear_padding(codes.data() + i * width, chosen);
  return codes;
}

}  // namespace

void write_genotypes(GenotypeFormat format, const GenotypeFile& file,
                     const GenotypeSelection& selection, const GenotypeTables& tables,
                     const std::string& stem, bool overwrite, int threads, JobControl& control) {
  check_selection(file, selection);
  const auto size = [](const auto& some) { return static_cast<std::int64_t>(some.size()); };
  const Layout layout = layout_of(format, tables.known_reference, selection);
  const std::int64_t width = (size(selection.samples) + 3) / 4;
  const std::int64_t header = size(layout.header);
  OutputFile calls(stem + layout.calls, header + width * size(selection.variants));
  OutputFile variants(stem + layout.variants, size(tables.variants));
  OutputFile samples(stem + layout.samples, size(tables.samples));
  write_at(variants, tables.variants, 0);
  write_at(samples, tables.samples, 0);
  write_at(calls, layout.header, 0);
  for_each_piece(file, selection.variants, threads, control,
                 [&](std::int64_t first, std::int64_t n, const std::uint8_t* piece) {
                   const auto codes = codes_of(layout, piece, file.stride(), n, selection.samples);
                   write_at(calls, as_text(codes), header + first * width);
                 });
  commit_set({&variants, &samples, &calls}, overwrite, TaskContext(control));
}

}  // namespace ancify
