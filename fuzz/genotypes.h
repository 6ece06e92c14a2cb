// Reads genotypes for their harnesses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/genotype/genotype_file.h"
#include "core/formats/genotype/selected_calls.h"
#include "harness.h"

namespace ancify::fuzz {

// Calls as text, a line for each variant; a missing call is a dot.
inline std::string calls_of(const GenotypeFile& file, std::int64_t first, std::int64_t n) {
  std::vector<std::uint8_t> calls(static_cast<std::size_t>(n * file.stride()), 0xff);
  file.read(first, n, calls.data());
  std::string text;
  for (std::int64_t j = 0; j < n; ++j) {
    const std::uint8_t* const variant = calls.data() + j * file.stride();
    for (std::int64_t i = 0; i < file.samples(); ++i) text += "012."[call_at(variant, i)];
    for (std::int64_t i = file.samples(); i < 4 * file.stride(); ++i) {
      require(call_at(variant, i) == 0, "padding that is not 0");
    }
    text += '\n';
  }
  return text;
}

// Dosages as text, a line for each variant that begins with its unit; a missing one is a dot.
inline std::string dosages_of(const GenotypeFile& file, std::int64_t first, std::int64_t n) {
  std::vector<Dosage> dosages(static_cast<std::size_t>(n * file.samples()));
  std::vector<int> units(static_cast<std::size_t>(n));
  file.read_dosages(first, n, dosages.data(), units.data());
  std::string text;
  const Dosage* dosage = dosages.data();
  for (const int unit : units) {
    text += std::to_string(unit);
    for (std::int64_t i = 0; i < file.samples(); ++i, ++dosage) {
      text += *dosage == kMissingDosage ? " ." : ' ' + std::to_string(*dosage);
    }
    text += '\n';
  }
  return text;
}

// The calls of all variants, or their dosages, read at once. Reading in pieces must agree.
// `alts`: as for open_genotype_file(). `file`: the path of the input, if it is in a file already.
inline std::string read_in_any_pieces(std::string_view input, std::size_t samples,
                                      std::size_t variants, const std::vector<int>& alts = {},
                                      bool dosages = false, const std::string& file = {}) {
  const std::string& path = file.empty() ? as_file(input) : file;
  const auto read = [&](std::int64_t piece) {
    return outcome([&] {
      const auto file = open_genotype_file(path, static_cast<std::int64_t>(samples),
                                           static_cast<std::int64_t>(variants), {}, alts, dosages);
      std::string text;
      for (std::int64_t first = 0; first < file->variants(); first += piece) {
        const std::int64_t n = std::min(piece, file->variants() - first);
        text += dosages ? dosages_of(*file, first, n) : calls_of(*file, first, n);
      }
      return text;
    });
  };
  const auto all = std::accumulate(alts.begin(), alts.end(), static_cast<std::int64_t>(variants));
  const std::string whole = read(std::max<std::int64_t>(all, 1));
  const std::size_t piece = 1 + Choices(input).below(5);
  require_equal(without_message(whole), without_message(read(static_cast<std::int64_t>(piece))),
                "two sizes of pieces");
  return whole;
}

}  // namespace ancify::fuzz
