// Fuzzes GFF3 and GTF: a slow, plain reader agrees, in values or in failing.
#include "core/formats/interval/gff.h"

#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "core/io/text.h"
#include "harness.h"

namespace ancify::fuzz {

namespace {

const std::vector<std::string> kTags = {"MANE_Select", "a,b"};

std::string reading(const std::string& path, std::size_t chunk) {
  return outcome([&] {
    const GffGenes genes = read_gff(path, kTags, TaskContext(), chunk);
    const auto text = [&](std::uint32_t name) {
      return name == kNoName ? std::string("<none>") : genes.names.texts().at(name);
    };
    std::ostringstream out;
    for (const GffPart& part : genes.parts) {
      require(part.start >= 1 && part.end >= part.start, "a part is outside its range");
      out << text(part.chromosome) << '|' << part.start << '|' << part.end << '|' << part.forward
          << '|' << int{part.phase} << '|' << text(part.transcript) << '|' << text(part.gene) << '|'
          << text(part.id) << '|' << int{part.genetic_code} << '|' << part.open_start << '\n';
    }
    std::map<std::string, std::string> owners;
    for (const auto& [number, owner] : genes.transcripts) {
      owners[text(number)] = text(owner.gene) + '|' + std::to_string(owner.tags);
    }
    for (const auto& [name, what] : owners) out << name << '|' << what << '\n';
    return out.str();
  });
}

struct Bad {};

void need(bool good) {
  if (!good) throw Bad();
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> pieces(1);
  for (const char c : text) {
    if (c == separator) {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

std::string trimmed(std::string text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.erase(0, 1);
  while (!text.empty() && is_space(text.back())) text.pop_back();
  return text;
}

std::string decode(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string code = text.substr(i, 3);
    const bool is_code = code.size() == 3 && code[0] == '%' && std::isxdigit(code[1]) != 0 &&
                         std::isxdigit(code[2]) != 0;
    plain += is_code ? static_cast<char>(std::stoi(code.substr(1), nullptr, 16)) : text[i];
    if (is_code) i += 2;
  }
  return plain;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs pairs_of_gff3(const std::string& text) {
  Pairs pairs;
  for (const std::string& piece : split(text, ';')) {
    const std::size_t at = piece.find('=');
    if (at != piece.npos)
      pairs.emplace_back(trimmed(piece.substr(0, at)), trimmed(piece.substr(at + 1)));
  }
  return pairs;
}

// A state machine over characters.
Pairs pairs_of_gtf(const std::string& text) {
  Pairs pairs;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ' || text[i] == '\t') {
      ++i;
      continue;
    }
    std::string key;
    while (i < text.size() && std::string(" \t;\"").find(text[i]) == std::string::npos)
      key += text[i++];
    while (i < text.size() && (text[i] == ' ' || text[i] == '\t')) ++i;
    std::string value;
    if (i < text.size() && text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"';) value += text[i++];
      ++i;
      while (i < text.size() && text[i] != ';') ++i;
    } else {
      while (i < text.size() && text[i] != ';') value += text[i++];
      value = trimmed(value);
    }
    ++i;
    pairs.emplace_back(key, value);
  }
  return pairs;
}

class Slow {
 public:
  void line(std::string line) {
    if (line.rfind("##FASTA", 0) == 0 || line.rfind('>', 0) == 0) ended_ = true;
    if (ended_ || line.empty() || line[0] == '#' || line.rfind("track ", 0) == 0 ||
        line.rfind("browser ", 0) == 0) {
      return;
    }
    std::vector<std::string> fields = split(line, '\t');
    need(fields.size() >= 8);
    std::string attributes;
    for (std::size_t i = 8; i < fields.size(); ++i) {
      attributes += (i > 8 ? "\t" : "") + fields[i];
    }
    attributes = trimmed(attributes);
    const std::string& type = fields[2];
    const auto has = [&](const char* word) { return type.find(word) != type.npos; };
    if (type != "CDS" && !has("gene") && !has("RNA") && !has("transcript")) return;
    need(is_utf8(line) && line.find('\0') == line.npos);
    if (!attributes.empty() && format_ == 0) {
      const std::size_t at = attributes.find_first_of("= \t\"");
      if (at != attributes.npos) format_ = attributes[at] == '=' ? 3 : 2;
    }
    read(fields, format_ == 2 ? pairs_of_gtf(attributes) : pairs_of_gff3(attributes));
  }

  std::string text() const {
    std::string all;
    for (const std::string& part : parts_) all += part + '\n';
    for (const auto& [name, owner] : owners_) {
      all += name + '|' + (owner.first.empty() ? "<none>" : owner.first) + '|' +
             std::to_string(owner.second) + '\n';
    }
    return all;
  }

 private:
  std::string plain(const std::string& value) const {
    const std::string text = format_ == 2 ? value : decode(value);
    need(is_utf8(text) && (text.find('\0') == text.npos));
    return text;
  }
  std::string name(const std::string& value) const {
    const std::string text = plain(value);
    need(!text.empty() && text.size() <= kLongestName);
    return text;
  }
  std::vector<std::string> several(const std::string& value) const {
    return format_ == 2 ? std::vector<std::string>{value} : split(value, ',');
  }
  static std::int64_t number(const std::string& text, std::int64_t most) {
    need(!text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == text.npos);
    const std::int64_t value = std::stoll(text);
    need(value >= 1 && value <= most);
    return value;
  }

  void read(const std::vector<std::string>& fields, const Pairs& pairs) {
    std::map<std::string, std::string> last;
    unsigned tags = 0;
    const std::set<std::string> once = {"ID",           "Parent",      "transcript_id", "gene_id",
                                        "transl_table", "start_range", "end_range"};
    for (const auto& [key, value] : pairs) {
      need(last[key].empty() || once.count(key) == 0);
      last[key] = value;
    }
    const std::int64_t start = number(fields[3], INT32_MAX);
    const std::int64_t end = number(fields[4], INT32_MAX);
    need(start <= end);
    const auto tags_of = [&] {
      for (const auto& [key, value] : pairs) {
        if (key != "tag") continue;
        for (const std::string& one : several(value)) {
          const std::string tag = plain(trimmed(one));
          for (std::size_t t = 0; t < kTags.size(); ++t) tags |= tag == kTags[t] ? 1U << t : 0;
        }
      }
    };
    if (fields[2] != "CDS") {
      const std::string id = format_ == 2 ? last["transcript_id"] : last["ID"];
      if (id.empty()) return;
      tags_of();
      auto& owner = owners_[name(id)];
      owner.second |= tags;
      if (format_ == 2 || !owner.first.empty()) return;
      const std::string parent = split(last["Parent"], ',')[0];
      if (!parent.empty()) {
        owner.first = name(parent);
      } else if (fields[2].find("gene") != std::string::npos) {
        owner.first = name(id);
      }
      return;
    }
    const bool forward = fields[6] == "+";
    need(forward || fields[6] == "-");
    need(fields[7] == "." || fields[7] == "0" || fields[7] == "1" || fields[7] == "2");
    const std::string code = last["transl_table"];
    const std::string range = forward ? last["start_range"] : last["end_range"];
    const bool open = forward ? range.rfind(".,", 0) == 0 : !range.empty() && range.back() == '.';
    const auto or_none = [&](const std::string& value) {
      return value.empty() ? std::string("<none>") : name(value);
    };
    const std::string chromosome = name(fields[0]);
    const std::string gene = format_ == 2 ? or_none(last["gene_id"]) : "<none>";
    const std::string id = format_ == 2 ? "<none>" : or_none(last["ID"]);
    const std::int64_t table = code.empty() ? 0 : number(code, 255);
    tags_of();
    bool any = false;
    for (const std::string& one : several(format_ == 2 ? last["transcript_id"] : last["Parent"])) {
      if (one.empty()) continue;
      any = true;
      const std::string transcript = name(one);
      const std::string place = chromosome + '|' + std::to_string(start) + '|' +
                                std::to_string(end) + '|' + (forward ? "1" : "0") + '|';
      const std::string who = transcript + '|' + gene + '|' + id + '|';
      need(seen_.insert(place + who).second);
      parts_.push_back(place + (fields[7] == "." ? "-1" : fields[7]) + '|' + who +
                       std::to_string(table) + '|' + (open ? "1" : "0"));
      if (tags != 0) owners_[transcript].second |= tags;
    }
    need(any);
  }

  bool ended_ = false;
  int format_ = 0;  // 2 for GTF, 3 for GFF3
  std::vector<std::string> parts_;
  std::set<std::string> seen_;
  std::map<std::string, std::pair<std::string, unsigned>> owners_;
};

}  // namespace

void check(std::string_view input) {
  const std::string fast = read_in_any_chunks(input, reading);
  const auto text = text_to_read(input, fast);
  if (!text) return;
  std::string slow;
  try {
    Slow reader;
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
      line.erase(line.find_last_not_of(" \t\r") + 1);
      reader.line(line);
    }
    slow = reader.text();
  } catch (const Bad&) {
    require(is_error(fast), "only the slow way finds an error\n" + fast);
    return;
  }
  require_equal(fast, slow, "genes and the slow way");
}

}  // namespace ancify::fuzz
