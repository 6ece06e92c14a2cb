// Fuzzes AXT: every way to project gives the result of a slow, plain reader.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <sstream>

#include "../tests/cpp/ancestry/slow_projection.h"
#include "core/formats/alignment/maf.h"
#include "projection.h"

namespace ancify::fuzz {

namespace {

using test::Block;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    lines.push_back(line);
  }
  return lines;
}

std::optional<std::int64_t> whole_number(const std::string& text) {
  if (text.empty() || text.size() > 18) return {};
  if (text.find_first_not_of("0123456789") != text.npos) return {};
  return std::stoll(text);
}

struct Header {
  std::string chromosome;
  std::int64_t start;
  std::int64_t end;
};

std::optional<Header> header_of(const std::string& line) {
  std::vector<std::string> fields;
  for (std::size_t at = line.find_first_not_of(" \t"); at != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(" \t", end);
  }
  if (fields.size() != 8 && fields.size() != 9) return {};
  const auto start = whole_number(fields[2]);
  const auto end = whole_number(fields[3]);
  if (!start || !end) return {};
  return Header{fields[1], *start, *end};
}

bool is_letter_or_gap(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-';
}

bool is_row(const std::string& line) { return !line.empty() && is_letter_or_gap(line.front()); }

struct Reading {
  std::vector<Block> blocks;
  std::int64_t bad = 0;
};

void add(const Header& header, const std::string& focal, const std::string& outgroup,
         Reading& reading) {
  const auto good_row = [](const std::string& row) {
    return std::all_of(row.begin(), row.end(), is_letter_or_gap);
  };
  const auto letters =
      static_cast<std::int64_t>(focal.size()) - std::count(focal.begin(), focal.end(), '-');
  const auto chromosome =
      std::find_if(kChromosomes.begin(), kChromosomes.end(), [&](const Chromosome& c) {
        const std::string other = c.name.rfind("chr", 0) == 0 ? c.name.substr(3) : "chr" + c.name;
        return header.chromosome == c.name || header.chromosome == other;
      });
  const bool equal = focal.size() == outgroup.size();
  if (equal && chromosome == kChromosomes.end()) return;
  if (equal && good_row(focal) && good_row(outgroup) && header.start >= 1 &&
      header.end >= header.start && header.end <= chromosome->length &&
      letters == header.end - header.start + 1) {
    reading.blocks.push_back({chromosome->name, header.start, focal, outgroup});
  } else {
    ++reading.bad;
  }
}

// Consecutive lines that belong to no block are one bad block.
Reading read_slowly(std::string_view text) {
  Reading reading;
  const auto lines = lines_of(text);
  bool behind_bad = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty() || lines[i].front() == '#') continue;
    const auto header = header_of(lines[i]);
    const bool whole =
        header && i + 2 < lines.size() && is_row(lines[i + 1]) && is_row(lines[i + 2]);
    if (whole) {
      add(*header, lines[i + 1], lines[i + 2], reading);
      i += 2;
    } else {
      if (header || !behind_bad) ++reading.bad;
      if (header && i + 1 < lines.size() && is_row(lines[i + 1])) ++i;
    }
    behind_bad = !whole;
  }
  return reading;
}

}  // namespace

void check(std::string_view input) {
  std::string_view rest = input;
  std::int64_t lines = 0;
  if (is_maf_text(rest, true, lines).value()) return;
  Choices choices(input);
  const Way way = any_way(choices);
  const bool codes = way.kept == Kept::kPacked;
  ProjectionOptions options;
  if (choices.one_in(2)) options.on_bad_block = OnBadBlock::kSkip;
  const std::string plain = project(input, {""}, options, Way{}, codes);
  require_equal(plain, project(input, {""}, options, way, codes), "two ways to project");

  const Reading reading = read_slowly(input);
  const bool refused = options.on_bad_block == OnBadBlock::kError && reading.bad > 0;
  require(is_error(plain) == (refused || reading.blocks.empty()), "an error: " + plain);
  if (is_error(plain)) return;
  std::string bases;
  for (const auto& chromosome : kChromosomes) {
    bases += (bases.empty() ? "" : " ") + test::project_slowly(reading.blocks, chromosome);
  }
  if (codes) {
    for (char& c : bases) c = c == ' ' ? ' ' : upper_base(base_code(c));
  }
  require_equal(plain.substr(0, plain.find('\n')), bases, "projecting and the slow way");
  require(plain.find(", bad " + std::to_string(reading.bad) + "\n") != plain.npos,
          "the number of bad blocks: " + plain);
}

}  // namespace ancify::fuzz
