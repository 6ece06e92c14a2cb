// Fuzzes AXT: every way to project gives the result of a slow, plain reader.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "pair_reading.h"

namespace ancify::fuzz {

namespace {

struct Header {
  std::string chromosome;
  std::int64_t start;
  std::int64_t end;
  double score;
};

std::optional<Header> header_of(const std::string& line) {
  const auto fields = words_of(line);
  if (fields.size() != 8 && fields.size() != 9) return {};
  const auto start = whole_number(fields[2]);
  const auto end = whole_number(fields[3]);
  const auto score = fields.size() == 9 ? score_of(fields[8]) : kNoScore;
  if (!start || !end || !score) return {};
  return Header{fields[1], *start, *end, *score};
}

bool is_letter_or_gap(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-';
}

bool is_row(const std::string& line) { return !line.empty() && is_letter_or_gap(line.front()); }

void add(const Header& header, const std::string& focal, const std::string& outgroup,
         Reading& reading) {
  const auto good_row = [](const std::string& row) {
    return std::all_of(row.begin(), row.end(), is_letter_or_gap);
  };
  const auto letters =
      static_cast<std::int64_t>(focal.size()) - std::count(focal.begin(), focal.end(), '-');
  const auto chromosome =
      std::find_if(kChromosomes.begin(), kChromosomes.end(),
                   [&](const Chromosome& c) { return is_name_of(header.chromosome, c.name); });
  const bool equal = focal.size() == outgroup.size();
  if (equal && chromosome == kChromosomes.end()) return;
  if (equal && good_row(focal) && good_row(outgroup) && header.start >= 1 &&
      header.end >= header.start && header.end <= chromosome->length &&
      letters == header.end - header.start + 1) {
    reading.blocks.push_back({chromosome->name, header.start, focal, outgroup, header.score});
  } else {
    ++reading.bad;
  }
}

// Consecutive lines that belong to no block count as one bad block.
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
  if (format_of(input) == "AXT") check_projection(input, {}, read_slowly);
}

}  // namespace ancify::fuzz
