// Fuzzes chains: every way to project gives the result of a slow, plain reader.
#include "core/formats/alignment/chain.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "../tests/cpp/twobit_files.h"
#include "pair_reading.h"

namespace ancify::fuzz {

namespace {

const test::Genome kGenome = {{"chrA", "ACGTTGCANNNNacgtTTAAGGCCnnATATCGCGatcgTACGGCATTACG"},
                              {"q", "GATTACA"}};

using Words = std::vector<std::string>;

std::vector<Words> lines_in_words(std::string_view text) {
  std::vector<Words> lines;
  for (const auto& line : lines_of(text)) {
    Words words = words_of(line);
    // A comment has its mark in the first column.
    if (!line.empty() && line.front() == '#') words = {"#"};
    // A header too.
    if (!words.empty() && words.front() == "chain" && line.front() != 'c') words.front() = "other";
    lines.push_back(words);
  }
  return lines;
}

struct Range {
  std::string name;
  std::int64_t size;
  std::string strand;
  std::int64_t start;
  std::int64_t end;
};

std::optional<Range> range_of(const Words& words, std::size_t at) {
  const auto size = whole_number(words[at + 1]);
  const auto start = whole_number(words[at + 3]);
  const auto end = whole_number(words[at + 4]);
  const std::string& strand = words[at + 2];
  if (!size || !start || !end || (strand != "+" && strand != "-")) return {};
  if (*start > *end || *end > *size) return {};
  return Range{words[at], *size, strand, *start, *end};
}

char complement(char c) {
  const std::size_t at = std::string("ACGTacgt").find(c);
  return at == std::string::npos ? c : "TGCAtgca"[at];
}

// Adds the blocks of a chain whose lines fit its header; false if it does not fit the genomes.
bool add(const Range& target, const Range& query, double score,
         const std::vector<std::vector<std::int64_t>>& lines, Reading& reading) {
  const auto chromosome =
      std::find_if(kChromosomes.begin(), kChromosomes.end(),
                   [&](const Chromosome& c) { return is_name_of(target.name, c.name); });
  if (chromosome == kChromosomes.end()) return true;
  const auto sequence = std::find_if(kGenome.begin(), kGenome.end(), [&](const auto& s) {
    return is_name_of(query.name, s.first);
  });
  if (target.size != chromosome->length || sequence == kGenome.end()) return false;
  std::string bases = sequence->second;
  if (query.size != static_cast<std::int64_t>(bases.size())) return false;
  if (query.strand == "-") {
    std::reverse(bases.begin(), bases.end());
    for (char& c : bases) c = complement(c);
  }
  std::int64_t t = target.start;
  std::int64_t q = query.start;
  for (const auto& line : lines) {
    const auto size = static_cast<std::size_t>(line[0]);
    std::string row = bases.substr(static_cast<std::size_t>(q), size);
    if (line.size() == 3 && line[2] == 0 && line[1] <= 100) {
      row += std::string(static_cast<std::size_t>(line[1]), '-');
    }
    if (!row.empty()) {
      reading.blocks.push_back({chromosome->name, t + 1, std::string(row.size(), 'N'), row, score});
    }
    t += line[0] + (line.size() == 3 ? line[1] : 0);
    q += line[0] + (line.size() == 3 ? line[2] : 0);
  }
  return true;
}

// Takes a chain's lines after its header from `at` on; false if they are bad.
bool take_chain(const std::vector<Words>& lines, std::size_t& at, const Words& header,
                Reading& reading) {
  if (header.size() != 12 && header.size() != 13) return false;
  const auto target = range_of(header, 2);
  const auto query = range_of(header, 7);
  const auto score = score_of(header[1]);
  if (!target || !query || target->strand == "-" || !score) return false;
  std::vector<std::vector<std::int64_t>> blocks;
  std::int64_t t = target->start;
  std::int64_t q = query->start;
  do {
    if (at == lines.size() || lines[at].empty() || lines[at].front() == "chain") return false;
    blocks.emplace_back();
    const Words& words = lines[at++];
    if (words.size() != 1 && words.size() != 3) return false;
    for (const auto& word : words) {
      const auto number = whole_number(word);
      if (!number) return false;
      blocks.back().push_back(*number);
    }
    t += blocks.back()[0] + (words.size() == 3 ? blocks.back()[1] : 0);
    q += blocks.back()[0] + (words.size() == 3 ? blocks.back()[2] : 0);
    if (t > target->end || q > query->end) return false;
  } while (blocks.back().size() == 3);
  if (t != target->end || q != query->end) return false;
  // Its lines are still valid.
  if (!add(*target, *query, *score, blocks, reading)) ++reading.bad;
  return true;
}

// Consecutive lines that belong to no chain, or to a chain with bad lines, count as one bad block.
Reading read_slowly(std::string_view text) {
  Reading reading;
  const auto lines = lines_in_words(text);
  bool behind_bad = false;
  for (std::size_t at = 0; at < lines.size();) {
    const Words& words = lines[at++];
    if (words.empty() || words.front() == "#") continue;
    const bool begins = words.front() == "chain";
    const bool good = begins && take_chain(lines, at, words, reading);
    if (!good && (begins || !behind_bad)) ++reading.bad;
    behind_bad = !good;
  }
  return reading;
}

}  // namespace

void check(std::string_view input) {
  if (format_of(input) != "chain") return;
  static MemoryFile genome;
  ProjectionOptions options;
  options.genomes["input"] = genome.write(test::TwoBitWriter().file(kGenome));
  check_projection(input, options, read_slowly);
}

}  // namespace ancify::fuzz
