// Fuzzes PAF: every way to project gives the result of a slow, plain reader.
#include "core/formats/alignment/paf.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "../tests/cpp/twobit_files.h"
#include "pair_reading.h"

namespace ancify::fuzz {

namespace {

const test::Genome kGenome = {{"chrA", "ACGTTGCANNNNacgtTTAAGGCCnnATATCGCGatcgTACGGCATTACG"},
                              {"q", "GATTACA"}};

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find('\t', at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return fields;
}

// The last tag of this name; empty if there is none.
std::string tag_of(const std::vector<std::string>& fields, const std::string& name) {
  std::string value;
  for (std::size_t i = 12; i < fields.size(); ++i) {
    if (fields[i].rfind(name, 0) == 0) value = fields[i].substr(name.size());
  }
  return value;
}

bool is_base(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

char upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }

bool is_known(char c) { return std::string("ACGT").find(c) != std::string::npos; }

char complement(char c) {
  const std::size_t at = std::string("ACGTacgt").find(c);
  return at == std::string::npos ? c : "TGCAtgca"[at];
}

// Columns as letters: M, I or D, and the query's base; ? if the text does not give it. No sequence
// of the genomes has more than kMost, so others are only counted.
struct Columns {
  std::string kinds;
  std::string bases;
  std::int64_t target = 0;
  std::int64_t query = 0;

  void add(char kind, std::int64_t size, const std::string& letters) {
    constexpr std::int64_t most = 1000;
    constexpr std::int64_t more_than_any = std::int64_t{1} << 62;
    kinds += std::string(static_cast<std::size_t>(std::min(size, most)), kind);
    bases += letters.empty() ? std::string(static_cast<std::size_t>(std::min(size, most)), '?')
                             : letters;
    if (kind != 'I') target = std::min(target + size, more_than_any);
    if (kind != 'D') query = std::min(query + size, more_than_any);
  }
};

std::optional<Columns> columns_of_cigar(std::string text) {
  Columns columns;
  while (!text.empty()) {
    const std::size_t n = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto size = whole_number(text.substr(0, n));
    if (!size || n == text.size()) return {};
    const std::size_t kind = std::string("M=XID").find(text[n]);
    if (kind == std::string::npos) return {};
    columns.add("MMMID"[kind], *size, "");
    text.erase(0, n + 1);
  }
  return columns;
}

std::optional<Columns> columns_of_differences(std::string text) {
  Columns columns;
  while (!text.empty()) {
    const char kind = text.front();
    text.erase(0, 1);
    std::size_t n = 0;
    if (kind == ':') {
      while (n < text.size() && text[n] >= '0' && text[n] <= '9') ++n;
      const auto size = whole_number(text.substr(0, n));
      if (!size) return {};
      columns.add('M', *size, "");
    } else if (kind == '*') {
      n = 2;
      if (text.size() < n || !is_base(text[0]) || !is_base(text[1])) return {};
      columns.add('M', 1, std::string(1, upper(text[1])));
    } else {
      while (n < text.size() && is_base(text[n])) ++n;
      const std::size_t at = std::string("=+-").find(kind);
      if (at == std::string::npos || n == 0) return {};
      std::string letters = text.substr(0, n);
      std::transform(letters.begin(), letters.end(), letters.begin(), upper);
      columns.add("MID"[at], static_cast<std::int64_t>(n), letters);
    }
    text.erase(0, n);
  }
  return columns;
}

struct Result {
  Reading reading;
  bool lacks_bases = false;  // the first row without bases ends the reading
};

// The row's query along the target's strand; empty if it does not fit the genome.
std::optional<std::string> query_of(const std::vector<std::string>& fields) {
  const auto sequence = std::find_if(kGenome.begin(), kGenome.end(),
                                     [&](const auto& s) { return is_name_of(fields[0], s.first); });
  if (sequence == kGenome.end()) return {};
  const std::string& bases = sequence->second;
  if (*whole_number(fields[1]) != static_cast<std::int64_t>(bases.size())) return {};
  const auto start = static_cast<std::size_t>(*whole_number(fields[2]));
  std::string row = bases.substr(start, static_cast<std::size_t>(*whole_number(fields[3])) - start);
  if (fields[4] == "-") {
    std::reverse(row.begin(), row.end());
    for (char& c : row) c = complement(c);
  }
  return row;
}

// Adds the blocks of a row; false if it is bad.
bool add(const std::vector<std::string>& fields, bool with_genome, Result& result) {
  if (fields.size() < 12 || fields[0].empty() || fields[5].empty()) return false;
  for (const std::size_t i : {1, 2, 3, 6, 7, 8, 9, 10, 11}) {
    if (!whole_number(fields[i])) return false;
  }
  const bool has_strand = fields[4] == "+" || fields[4] == "-";
  if (!has_strand) return fields[4] == "*";
  for (const std::size_t i : {1, 6}) {
    if (*whole_number(fields[i + 1]) > *whole_number(fields[i + 2])) return false;
    if (*whole_number(fields[i + 2]) > *whole_number(fields[i])) return false;
  }
  const std::string given = tag_of(fields, "AS:i:");
  const auto score = score_of(given.empty() ? fields[9] : given);
  if (!score) return false;
  const std::string type = tag_of(fields, "tp:A:");
  if (type == "S" || type == "i") return true;
  const std::string differences = tag_of(fields, "cs:Z:");
  const std::string cigar = tag_of(fields, "cg:Z:");
  if (differences.empty() && cigar.empty()) return false;
  const auto columns =
      differences.empty() ? columns_of_cigar(cigar) : columns_of_differences(differences);
  if (!columns) return false;
  if (columns->target != *whole_number(fields[8]) - *whole_number(fields[7])) return false;
  if (columns->query != *whole_number(fields[3]) - *whole_number(fields[2])) return false;

  const auto chromosome =
      std::find_if(kChromosomes.begin(), kChromosomes.end(),
                   [&](const Chromosome& c) { return is_name_of(fields[5], c.name); });
  if (chromosome == kChromosomes.end()) return true;
  if (*whole_number(fields[6]) != chromosome->length) return false;
  std::string bases = columns->bases;
  if (with_genome) {
    const auto query = query_of(fields);
    if (!query) return false;
    std::size_t next = 0;
    for (std::size_t i = 0; i < bases.size(); ++i) {
      if (columns->kinds[i] == 'D') continue;
      const char base = (*query)[next++];
      const bool both_known = is_known(bases[i]) && is_known(upper(base));
      if (both_known && bases[i] != upper(base)) return false;
      bases[i] = base;
    }
  }
  std::string row;
  for (std::size_t i = 0; i < bases.size(); ++i) {
    if (columns->kinds[i] == 'M' && bases[i] == '?') result.lacks_bases = true;
    if (columns->kinds[i] != 'I') row += columns->kinds[i] == 'D' ? '-' : bases[i];
  }
  if (!with_genome && differences.empty()) result.lacks_bases = true;
  if (row.empty() || result.lacks_bases) return true;
  result.reading.blocks.push_back(
      {chromosome->name, *whole_number(fields[7]) + 1, std::string(row.size(), 'N'), row, *score});
  return true;
}

Result read_slowly(std::string_view text, bool with_genome) {
  Result result;
  for (const auto& line : lines_of(text)) {
    if (line.empty() || line.front() == '#') continue;
    if (!add(fields_of(line), with_genome, result)) ++result.reading.bad;
    if (result.lacks_bases) break;
  }
  return result;
}

}  // namespace

void check(std::string_view input) {
  if (format_of(input) != "PAF") return;
  static MemoryFile genome;
  for (const bool with_genome : {true, false}) {
    ProjectionOptions options;
    if (with_genome) options.genomes["input"] = genome.write(test::TwoBitWriter().file(kGenome));
    const Result result = read_slowly(input, with_genome);
    if (!result.lacks_bases) {
      check_projection(input, options, [&](std::string_view) { return result.reading; });
      continue;
    }
    options.on_bad_block = OnBadBlock::kSkip;
    const Way way;
    require(project(input, {""}, options, way, false).rfind("input error: ", 0) == 0,
            "rows without bases are read");
  }
}

}  // namespace ancify::fuzz
