// Writes genotypes in pieces of variants, each at its own offset.
// Source: PLINK 2 File Format Specification Draft, section 2.2.
#include "core/formats/genotype/genotype_writer.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/threads.h"
#include "core/formats/genotype/bed_genotypes.h"
#include "core/formats/genotype/call_codes.h"
#include "core/formats/genotype/selected_dosages.h"
#include "core/io/file.h"
#include "core/io/file_set.h"
#include "core/io/little_endian.h"

namespace ancify {

namespace {

std::string_view as_text(const std::vector<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write_at(OutputFile& file, std::string_view text, std::int64_t offset) {
  file.write_at(text.data(), text.size(), offset);
}

// The parts of a format's files besides calls.
struct Layout {
  const char* calls;
  const char* variants;
  const char* samples;
  std::string header;
  std::uint64_t (*codes)(std::uint64_t calls);
  bool dosages = false;
};

std::string four_bytes(std::size_t number) {
  std::string bytes(4, '\0');
  put_little_endian(number, bytes.data(), bytes.size());
  return bytes;
}

Layout layout_of(GenotypeFormat format, bool known_reference, bool dosages,
                 const GenotypeSelection& selection) {
  if (format == GenotypeFormat::kBed) {
    return {".bed", ".bim", ".fam", std::string(kBedHeader), &calls_as_bed};
  }
  // The last byte says that no REF allele is provisional, or that all are.
  const std::string header = std::string("\x6c\x1b") + (dosages ? '\x03' : '\x02') +
                             four_bytes(selection.variants.size()) +
                             four_bytes(selection.samples.size()) +
                             (known_reference ? '\x40' : '\x80');
  return {".pgen", ".pvar", ".psam", header, [](std::uint64_t calls) { return calls; }, dosages};
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

// Sets a call to missing if there is no dosage, or one that is more than half a copy away: the
// format excludes such calls.
void check_call(std::uint8_t* calls, std::int64_t i, Dosage dosage, int unit) {
  const auto call = static_cast<int>(call_at(calls, i));
  const bool fits = dosage != kMissingDosage && 2 * std::abs(dosage - (call - 1) * unit) <= unit;
  if (!fits) calls[i / 4] = static_cast<std::uint8_t>(calls[i / 4] | kMissingCall << 2 * (i % 4));
}

// Appends a dosage in two bytes, in steps of 1 / kMostUnit from no copy on.
void append_dosage(std::string& bytes, Dosage dosage, int unit) {
  constexpr long missing = 0xffff;
  const long stored = dosage == kMissingDosage
                          ? missing
                          : std::lround(static_cast<double>(dosage) * kMostUnit / unit) + kMostUnit;
  bytes.resize(bytes.size() + sizeof(Dosage));
  put_little_endian(stored, &bytes[bytes.size() - sizeof(Dosage)], sizeof(Dosage));
}

// A variant's record of a PGEN of the storage mode 03: calls, and a dosage of each sample.
void append_record(std::string& bytes, const std::uint8_t* calls, const Dosage* dosages, int unit,
                   const std::vector<std::int64_t>& samples) {
  std::vector<std::uint8_t> chosen((samples.size() + 3) / 4);
  pick_samples(calls, samples, chosen.data());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    check_call(chosen.data(), static_cast<std::int64_t>(i), dosages[samples[i]], unit);
  }
  bytes += as_text(chosen);
  for (const std::int64_t sample : samples) append_dosage(bytes, dosages[sample], unit);
}

// Writes the records of the chosen variants, of `width` bytes each.
void write_dosages(const GenotypeFile& file, const GenotypeSelection& selection, std::int64_t begin,
                   std::int64_t width, int threads, JobControl& control, OutputFile& output) {
  for_each_dosages(
      file, selection.variants, threads, control,
      [&](std::int64_t first, std::int64_t n, const Dosage* dosages, const int* units) {
        std::vector<std::uint8_t> calls(static_cast<std::size_t>(n * file.stride()));
        read_chosen(file, selection.variants.data() + first, n, calls.data());
        std::string bytes;
        for (std::int64_t j = 0; j < n; ++j) {
          append_record(bytes, calls.data() + j * file.stride(), dosages + j * file.samples(),
                        units[j], selection.samples);
        }
        write_at(output, bytes, begin + first * width);
      });
}

}  // namespace

void write_genotypes(GenotypeFormat format, const GenotypeFile& file,
                     const GenotypeSelection& selection, const GenotypeTables& tables,
                     const std::string& stem, bool overwrite, int threads, JobControl& control) {
  check_selection(file, selection);
  const auto size = [](const auto& some) { return static_cast<std::int64_t>(some.size()); };
  const Layout layout = layout_of(format, tables.known_reference, file.gives_dosages(), selection);
  std::int64_t width = (size(selection.samples) + 3) / 4;
  if (layout.dosages) width += static_cast<std::int64_t>(sizeof(Dosage)) * size(selection.samples);
  const std::int64_t header = size(layout.header);
  OutputFile calls(stem + layout.calls, header + width * size(selection.variants));
  OutputFile variants(stem + layout.variants, size(tables.variants));
  OutputFile samples(stem + layout.samples, size(tables.samples));
  write_at(variants, tables.variants, 0);
  write_at(samples, tables.samples, 0);
  write_at(calls, layout.header, 0);
  if (layout.dosages) {
    write_dosages(file, selection, header, width, threads, control, calls);
  } else {
    for_each_piece(file, selection.variants, threads, control,
                   [&](std::int64_t first, std::int64_t n, const std::uint8_t* piece) {
                     const auto codes =
                         codes_of(layout, piece, file.stride(), n, selection.samples);
                     write_at(calls, as_text(codes), header + first * width);
                   });
  }
  commit_set({&variants, &samples, &calls}, overwrite, TaskContext(control));
}

}  // namespace ancify
