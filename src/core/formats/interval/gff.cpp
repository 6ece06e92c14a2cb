// Parses GFF3 and GTF line by line, and keeps coding parts and the features that may own them.
#include "core/formats/interval/gff.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "core/exec/errors.h"
#include "core/io/lines.h"
#include "core/io/text.h"

namespace ancify {

namespace {

enum Column { kSequence, kSource, kType, kStart, kEnd, kScore, kStrand, kPhase, kColumns };

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return trim_end(text);
}

// Splits off the text before a separator, or all of it.
std::string_view split_off(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view first = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return first;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Attributes in use, as written in the line.
struct Attributes {
  std::string_view id;
  std::string_view parents;  // separated by commas
  std::string_view transcript;
  std::string_view gene;
  std::string_view genetic_code;
  std::string_view start_range;
  std::string_view end_range;
  std::vector<std::string_view> tags;  // of GFF3: separated by commas
  std::string_view repeated;           // a key other than `tag` with several values

  // Clears the attributes, but keeps the memory of tags.
  void clear() {
    std::vector<std::string_view> none = std::move(tags);
    none.clear();
    *this = {};
    tags = std::move(none);
  }

  void set(std::string_view key, std::string_view value) {
    static constexpr std::array<std::pair<std::string_view, std::string_view Attributes::*>, 7>
        fields = {{{"ID", &Attributes::id},
                   {"Parent", &Attributes::parents},
                   {"transcript_id", &Attributes::transcript},
                   {"gene_id", &Attributes::gene},
                   {"transl_table", &Attributes::genetic_code},
                   {"start_range", &Attributes::start_range},
                   {"end_range", &Attributes::end_range}}};
    if (key == "tag") tags.push_back(value);
    for (const auto& [name, field] : fields) {
      if (key != name) continue;
      if (!(this->*field).empty()) repeated = name;
      this->*field = value;
    }
  }
};

void split_gff3(std::string_view text, Attributes& attributes) {
  while (!text.empty()) {
    std::string_view value = split_off(text, ';');
    if (value.find('=') == value.npos) continue;
    const std::string_view key = trim(split_off(value, '='));
    attributes.set(key, trim(value));
  }
}

// key "value"; key "value"; quotes may be absent, and semicolons may be quoted.
void split_gtf(std::string_view text, Attributes& attributes) {
  while (!(text = trim(text)).empty()) {
    const std::size_t end = std::min(text.find_first_of(" \t;\""), text.size());
    const std::string_view key = text.substr(0, end);
    text = trim(text.substr(end));
    std::string_view value;
    if (!text.empty() && text.front() == '"') {
      text.remove_prefix(1);
      value = split_off(text, '"');
      split_off(text, ';');
    } else {
      value = trim(split_off(text, ';'));
    }
    attributes.set(key, value);
  }
}

// Features whose types contain these words may own coding parts: genes, their segments and
// transcripts.
bool may_own_parts(std::string_view type) {
  return type.find("RNA") != type.npos || type.find("transcript") != type.npos ||
         type.find("gene") != type.npos;
}

bool is_gene(std::string_view type) { return type.find("gene") != type.npos; }

class GffParser {
 public:
  GffParser(const std::string& path, const std::vector<std::string>& tags)
      : path_(path), tags_(tags) {
    if (tags.size() > kMostTags) throw InputError("there are too many tags to look for");
  }

  // False at the end of the features.
  bool take(std::string_view line, std::int64_t number) {
    line_ = number;
    if (starts_with(line, "##FASTA") || starts_with(line, ">")) return false;
    const bool is_feature = !line.empty() && line.front() != '#' && !starts_with(line, "track ") &&
                            !starts_with(line, "browser ");
    if (is_feature) take_feature(line);
    return true;
  }

  GffGenes genes() {
    refuse_repeats();
    return std::move(genes_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw FormatError(path_, line_, problem);
  }

  void take_feature(std::string_view line) {
    const std::string_view whole = line;
    const std::size_t tabs = static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t'));
    // A line may lack its last column, the attributes.
    if (tabs + 1 < kColumns) {
      fail("this is no line of GFF3 or GTF, which have nine columns between tabs: " +
           excerpt(whole));
    }
    for (std::string_view& field : fields_) field = split_off(line, '\t');
    const bool is_part = fields_[kType] == "CDS";
    if (!is_part && !may_own_parts(fields_[kType])) return;
    if (!is_utf8(whole) || whole.find('\0') != whole.npos) {
      fail("this line is not UTF-8 text. Is it the right file?");
    }
    split_attributes(line);
    const auto [start, end] = positions();
    if (is_part) {
      take_part(start, end);
    } else {
      take_owner();
    }
  }

  // Attributes are key=value in GFF3, and key "value" in GTF. A bare name, as in AUGUSTUS's GTF
  // lines of genes, is neither.
  void split_attributes(std::string_view text) {
    text = trim(text);
    if (!is_gtf_ && !text.empty()) {
      const std::size_t end = text.find_first_of("= \t\"");
      if (end != text.npos) is_gtf_ = text[end] != '=';
    }
    attributes_.clear();
    if (is_gtf_.value_or(false)) {
      split_gtf(text, attributes_);
    } else {
      split_gff3(text, attributes_);
    }
    if (!attributes_.repeated.empty()) {
      fail("the attribute " + std::string(attributes_.repeated) +
           " occurs twice. Separate its values by commas");
    }
  }

  std::int32_t position(Column column) const {
    const auto value = parse_whole_number(fields_[column]);
    if (!value || *value < 1 || *value > std::numeric_limits<std::int32_t>::max()) {
      fail(std::string("the ") + (column == kStart ? "start " : "end ") + excerpt(fields_[column]) +
           " is not a whole number from 1 below 2^31. Correct the line, or fetch the file again");
    }
    return static_cast<std::int32_t>(*value);
  }

  std::pair<std::int32_t, std::int32_t> positions() const {
    const std::int32_t start = position(kStart);
    const std::int32_t end = position(kEnd);
    if (start > end) {
      fail("the start " + std::to_string(start) + " lies behind the end " + std::to_string(end) +
           ". Correct the line: the start is first on both strands");
    }
    return {start, end};
  }

  bool forward() const {
    const std::string_view strand = fields_[kStrand];
    if (strand == "+" || strand == "-") return strand == "+";
    fail("the strand " + excerpt(strand) + " of a coding part is not + or -. Correct the line");
  }

  std::int8_t phase() const {
    const std::string_view phase = fields_[kPhase];
    if (phase == ".") return kUnknownPhase;
    if (phase.size() == 1 && phase[0] >= '0' && phase[0] <= '2') {
      return static_cast<std::int8_t>(phase[0] - '0');
    }
    fail("the phase " + excerpt(phase) + " is not 0, 1, 2 or a dot. Correct the line");
  }

  std::uint8_t genetic_code() const {
    if (attributes_.genetic_code.empty()) return 0;
    const auto number = parse_whole_number(attributes_.genetic_code);
    if (number && *number >= 1 && *number <= std::numeric_limits<std::uint8_t>::max()) {
      return static_cast<std::uint8_t>(*number);
    }
    fail("transl_table " + excerpt(attributes_.genetic_code) +
         " is no number of a genetic code. Correct the line");
  }

  bool open_start(bool forward) const {
    return forward ? starts_with(attributes_.start_range, ".,")
                   : !attributes_.end_range.empty() && attributes_.end_range.back() == '.';
  }

  void take_part(std::int32_t start, std::int32_t end) {
    GffPart part = {};
    part.chromosome = name(fields_[kSequence]);
    part.gene = is_gtf() ? name_or_none(attributes_.gene) : kNoName;
    part.id = is_gtf() ? kNoName : name_or_none(attributes_.id);
    part.start = start;
    part.end = end;
    part.line = line_;
    part.forward = forward();
    part.phase = phase();
    part.genetic_code = genetic_code();
    part.open_start = open_start(part.forward);
    const std::uint32_t tags = tags_of_feature();
    bool has_transcript = false;
    for_each_transcript([&](std::uint32_t transcript) {
      has_transcript = true;
      part.transcript = transcript;
      add_part(part);
      if (tags != 0) genes_.transcripts[transcript].tags |= tags;
    });
    if (!has_transcript) {
      fail(
          "this coding part names no transcript. Gene models need `Parent` (GFF3) or "
          "`transcript_id` (GTF)");
    }
  }

  template <class Take>
  void for_each_transcript(Take take) {
    std::string_view names = is_gtf() ? attributes_.transcript : attributes_.parents;
    while (!names.empty()) {
      const std::string_view one = is_gtf() ? std::exchange(names, {}) : split_off(names, ',');
      if (!one.empty()) take(name(one));
    }
  }

  // Repeated parts would be read twice. A check whenever the number of parts has doubled bounds the
  // memory that repeated lines take.
  void add_part(const GffPart& part) {
    genes_.parts.push_back(part);
    if (genes_.parts.size() < most_parts_) return;
    refuse_repeats();
    most_parts_ *= 2;
  }

  void refuse_repeats() const {
    const auto key = [](const GffPart* part) {
      return std::make_tuple(part->transcript, part->chromosome, part->start, part->end,
                             part->forward, part->gene, part->id);
    };
    std::vector<const GffPart*> sorted;
    sorted.reserve(genes_.parts.size());
    for (const GffPart& part : genes_.parts) sorted.push_back(&part);
    std::sort(sorted.begin(), sorted.end(), [&](const GffPart* a, const GffPart* b) {
      return std::make_pair(key(a), a->line) < std::make_pair(key(b), b->line);
    });
    const auto twice =
        std::adjacent_find(sorted.begin(), sorted.end(),
                           [&](const GffPart* a, const GffPart* b) { return key(a) == key(b); });
    if (twice == sorted.end()) return;
    throw FormatError(path_, twice[1]->line,
                      "the same coding part of " + excerpt(text(twice[1]->transcript)) +
                          " is also in line " + std::to_string(twice[0]->line) + ". Leave one out");
  }

  // In GTF, a transcript's tags may accompany any of its features.
  void take_owner() {
    const std::string_view id = is_gtf() ? attributes_.transcript : attributes_.id;
    if (id.empty()) return;
    const std::uint32_t number = name(id);
    GffTranscript& transcript = genes_.transcripts[number];
    transcript.tags |= tags_of_feature();
    if (is_gtf() || transcript.gene != kNoName) return;
    std::string_view parents = attributes_.parents;
    const std::string_view parent = split_off(parents, ',');
    if (!parent.empty()) {
      transcript.gene = name(parent);
    } else if (is_gene(fields_[kType])) {
      transcript.gene = number;
    }
  }

  std::uint32_t tags_of_feature() {
    std::uint32_t bits = 0;
    for (std::string_view values : attributes_.tags) {
      while (!values.empty()) {
        const std::string_view one = is_gtf() ? std::exchange(values, {}) : split_off(values, ',');
        const auto known = std::find(tags_.begin(), tags_.end(), decoded(trim(one)));
        if (known != tags_.end()) bits |= std::uint32_t{1} << (known - tags_.begin());
      }
    }
    return bits;
  }

  // In GFF3, %2C stands for a comma, and so on.
  std::string_view decoded(std::string_view value) {
    if (is_gtf() || value.find('%') == value.npos) return value;
    decoded_.clear();
    for (std::size_t i = 0; i < value.size(); ++i) {
      const int high = value[i] == '%' && i + 2 < value.size() ? hex_digit(value[i + 1]) : -1;
      const int low = high >= 0 ? hex_digit(value[i + 2]) : -1;
      decoded_ += low >= 0 ? static_cast<char>(high * 16 + low) : value[i];
      if (low >= 0) i += 2;
    }
    if (!is_utf8(decoded_) || decoded_.find('\0') != decoded_.npos) {
      fail("the codes by % in " + excerpt(value) + " are not UTF-8 text. Correct the line");
    }
    return decoded_;
  }

  std::uint32_t name(std::string_view value) {
    const std::string_view text = decoded(value);
    if (text.empty() || text.size() > kLongestName) {
      fail("the name " + excerpt(text) + " is empty, or longer than " +
           std::to_string(kLongestName) + " bytes. Correct the line");
    }
    return genes_.names.number(text);
  }
  std::uint32_t name_or_none(std::string_view value) {
    return value.empty() ? kNoName : name(value);
  }
  const std::string& text(std::uint32_t name) const { return genes_.names.texts()[name]; }
  bool is_gtf() const { return is_gtf_.value_or(false); }

  const std::string& path_;
  const std::vector<std::string>& tags_;
  std::int64_t line_ = 0;
  std::array<std::string_view, kColumns> fields_;
  Attributes attributes_;
  std::optional<bool> is_gtf_;
  std::string decoded_;
  std::size_t most_parts_ = 1 << 14;
  GffGenes genes_;
};

}  // namespace

std::uint32_t Names::number(std::string_view text) {
  const auto known = numbers_.find(text);
  if (known != numbers_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(texts_.size());
  texts_.emplace_back(text);
  numbers_.emplace(texts_.back(), number);
  return number;
}

GffGenes read_gff(const std::string& path, const std::vector<std::string>& tags,
                  const TaskContext& context, std::size_t chunk_size) {
  GffParser parser(path, tags);
  // Sequences after the features may occupy one line each. They are read to detect damage.
  LineReader reader(path, longest_record(), context, chunk_size);
  bool has_features = true;
  for (std::string_view line; reader.next(line);) {
    has_features = has_features && parser.take(line, reader.number());
  }
  return parser.genes();
}

}  // namespace ancify
