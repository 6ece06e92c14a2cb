// Functions shared by the slow readers of pairwise alignments, and the comparison with them.
#pragma once

#include <cmath>
#include <cstdint>
#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "../tests/cpp/ancestry/slow_projection.h"
#include "core/ancestry/projection/alignment_formats.h"
#include "projection.h"

namespace ancify::fuzz {

struct Reading {
  std::vector<test::Block> blocks;
  std::int64_t bad = 0;
};

// The lines of a text, without trailing blanks.
inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    lines.push_back(line);
  }
  return lines;
}

inline std::optional<std::int64_t> whole_number(const std::string& text) {
  if (text.empty() || text.size() > 18) return {};
  if (text.find_first_not_of("0123456789") != text.npos) return {};
  return std::stoll(text);
}

// True if a file may give the sequence `known` this name: a leading chr is added or removed. None
// is the mitochondria's.
inline bool is_name_of(const std::string& name, const std::string& known) {
  return name == known || name == (known.rfind("chr", 0) == 0 ? known.substr(3) : "chr" + known);
}

// The finite number that is the whole text; empty for any other text.
inline std::optional<double> score_of(const std::string& text) {
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  double score = 0;
  const bool whole = in >> score && in.peek() == std::istringstream::traits_type::eof();
  return whole && std::isfinite(score) ? std::optional<double>(score) : std::nullopt;
}

// The name of the format of a file with this text.
inline const std::string& format_of(std::string_view text) {
  std::int64_t lines = 0;
  return format_of_text(text, true, lines, alignment_formats())->name;
}

// Every way to project the input gives the bases and the number of bad blocks that
// read_slowly(input) finds.
template <class ReadSlowly>
void check_projection(std::string_view input, ProjectionOptions options, ReadSlowly read_slowly) {
  Choices choices(input);
  const Way way = any_way(choices);
  const bool codes = way.kept == Kept::kPacked;
  if (choices.one_in(2)) options.on_bad_block = OnBadBlock::kSkip;
  if (choices.one_in(4)) options.overlaps = Overlaps::kMissing;
  if (choices.one_in(4)) options.overlaps = Overlaps::kLast;
  const std::string plain = project(input, {""}, options, Way{}, codes);
  require_equal(plain, project(input, {""}, options, way, codes), "two ways to project");

  const Reading reading = read_slowly(input);
  const bool refused = options.on_bad_block == OnBadBlock::kError && reading.bad > 0;
  require(is_error(plain) == (refused || reading.blocks.empty()), "an error: " + plain);
  if (is_error(plain)) return;
  std::string bases;
  std::int64_t shared = 0;
  for (const auto& chromosome : kChromosomes) {
    const auto slow = test::project_slowly(reading.blocks, chromosome, options.overlaps);
    bases += (bases.empty() ? "" : " ") + slow.bases;
    shared += slow.shared;
  }
  if (codes) {
    for (char& c : bases) c = c == ' ' ? ' ' : upper_base(base_code(c));
  }
  require_equal(plain.substr(0, plain.find('\n')), bases, "projecting and the slow way");
  require(plain.find(", bad " + std::to_string(reading.bad) + "\n") != plain.npos,
          "the number of bad blocks: " + plain);
  require(plain.find("\nshared " + std::to_string(shared) + "\n") != plain.npos,
          "the number of shared positions: " + plain);
}

}  // namespace ancify::fuzz
