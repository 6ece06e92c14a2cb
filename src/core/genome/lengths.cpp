// Reads chromosomes' lengths and tables of their other names.
#include "core/genome/lengths.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/exec/errors.h"
#include "core/formats/sequence/twobit.h"
#include "core/io/file.h"
#include "core/io/lines.h"
#include "core/io/text.h"

namespace ancify {

namespace {

class LengthsTable {
 public:
  explicit LengthsTable(const std::string& path) : path_(path) {}

  std::vector<Chromosome> take() {
    if (chromosomes_.empty()) throw FormatError(path_, 0, "there is no chromosome in this file");
    return std::move(chromosomes_);
  }

  void parse_line(std::string_view line, std::int64_t number) {
    const std::string_view whole = line;
    const std::string name(next_field(line));
    if (name.empty() || name.front() == '#') return;
    const auto length = parse_whole_number(next_field(line));
    if (!length || *length < 1) {
      throw FormatError(
          path_, number,
          "not a chromosome name and its length (a positive whole number): " + excerpt(whole));
    }
    add(name, *length, number);
  }

  // `line` is 0 in a file without lines.
  void add(const std::string& name, std::int64_t length, std::int64_t line) {
    if (!is_safe_file_name(name) || !is_utf8(name)) {
      throw FormatError(path_, line,
                        "the name " + excerpt(name) +
                            " cannot be a file name. It must be UTF-8 of at most " +
                            std::to_string(kMostNameBytes) +
                            " bytes, without spaces, control characters and '/', and not . or ..");
    }
    if (!names_.insert(name).second) {
      throw FormatError(path_, line, "the name " + excerpt(name) + " is listed twice");
    }
    chromosomes_.push_back({name, length});
  }

 private:
  std::string path_;
  std::vector<Chromosome> chromosomes_;
  std::unordered_set<std::string> names_;
};

class AliasParser {
 public:
  AliasParser(const std::string& path, const std::vector<std::string>& names)
      : path_(path), names_(names) {
    for (std::size_t i = 0; i < names.size(); ++i) numbers_.emplace(names[i], i);
  }

  // In the table's order.
  std::vector<ChromosomeAlias> take() {
    if (!found_) {
      throw FormatError(path_, 0,
                        "no line has one of the chromosomes' names, such as " + excerpt(names_[0]));
    }
    std::vector<ChromosomeAlias> aliases;
    for (const auto& alias : in_order_) {
      if (const auto& number = aliases_.at(alias)) aliases.push_back({alias, *number});
    }
    return aliases;
  }

  void parse_line(std::string_view line, std::int64_t number) {
    if (!line.empty() && line.front() == '#') return;
    const auto chromosome = chromosome_of(line, number);
    if (!chromosome) return;
    found_ = true;
    for (auto name = next_field(line); !name.empty(); name = next_field(line)) {
      if (numbers_.count(name) == 0) add(std::string(name), *chromosome);
    }
  }

 private:
  std::optional<std::size_t> chromosome_of(std::string_view line, std::int64_t number) const {
    std::optional<std::size_t> chromosome;
    for (auto name = next_field(line); !name.empty(); name = next_field(line)) {
      const auto found = numbers_.find(name);
      if (found == numbers_.end()) continue;
      if (chromosome && *chromosome != found->second) {
        throw FormatError(path_, number,
                          "this line has names of two chromosomes, " +
                              excerpt(names_[*chromosome]) + " and " +
                              excerpt(names_[found->second]));
      }
      chromosome = found->second;
    }
    return chromosome;
  }

  void add(std::string alias, std::size_t chromosome) {
    const auto [place, is_new] = aliases_.emplace(alias, chromosome);
    if (is_new) {
      in_order_.push_back(std::move(alias));
    } else if (place->second != chromosome) {
      place->second.reset();  // such as the texts of a column of sources
    }
  }

  std::string path_;
  const std::vector<std::string>& names_;
  std::unordered_map<std::string_view, std::size_t> numbers_;
  bool found_ = false;
  std::vector<std::string> in_order_;
  std::unordered_map<std::string, std::optional<std::size_t>> aliases_;
};

}  // namespace

std::vector<Chromosome> read_chromosome_lengths(const std::string& path, const TaskContext& context,
                                                std::size_t chunk_size) {
  LengthsTable table(path);
  if (is_twobit(path)) {
    TwoBitFile genome(path, context.inputs());
    for (std::size_t i = 0; i < genome.names().size(); ++i) {
      // An empty sequence has nothing to call.
      if (genome.length(i) > 0) table.add(genome.names()[i], genome.length(i), 0);
    }
    genome.check_unchanged();
  } else {
    for_each_line(
        path, context,
        [&](std::string_view line, std::int64_t number) { table.parse_line(line, number); },
        chunk_size);
  }
  return table.take();
}

std::vector<ChromosomeAlias> read_chromosome_aliases(const std::string& path,
                                                     const std::vector<std::string>& names,
                                                     const TaskContext& context,
                                                     std::size_t chunk_size) {
  AliasParser parser(path, names);
  for_each_line(
      path, context,
      [&](std::string_view line, std::int64_t number) { parser.parse_line(line, number); },
      chunk_size);
  return parser.take();
}

std::vector<std::string> other_spellings(const std::string& name) {
  const std::string prefix = "chr";
  const bool has_prefix = name.compare(0, prefix.size(), prefix) == 0;
  const std::string bare = has_prefix ? name.substr(prefix.size()) : name;
  std::vector<std::string> others = {has_prefix ? bare : prefix + bare};
  if (bare == "M" || bare == "MT") {
    const std::string other = bare == "M" ? "MT" : "M";
    others.push_back(other);
    others.push_back(prefix + other);
  }
  return others;
}

bool is_same_chromosome(const std::string& name, const std::string& other) {
  const auto others = other_spellings(name);
  return name == other || std::find(others.begin(), others.end(), other) != others.end();
}

std::vector<std::string> names_of(const std::vector<Chromosome>& chromosomes) {
  std::vector<std::string> names;
  names.reserve(chromosomes.size());
  for (const auto& chromosome : chromosomes) names.push_back(chromosome.name);
  return names;
}

ChromosomeNames::ChromosomeNames(const std::vector<std::string>& names,
                                 const std::vector<ChromosomeAlias>& aliases) {
  for (std::size_t i = 0; i < names.size(); ++i) add(names[i], i);
  for (const auto& [alias, chromosome] : aliases) add(alias, chromosome);
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (auto& other : other_spellings(names[i])) add(std::move(other), i);
  }
}

ChromosomeNames::ChromosomeNames(const std::vector<Chromosome>& chromosomes,
                                 const std::vector<ChromosomeAlias>& aliases)
    : ChromosomeNames(names_of(chromosomes), aliases) {}

void ChromosomeNames::add(std::string name, std::size_t chromosome) {
  names_.push_back(std::move(name));
  numbers_.emplace(names_.back(), chromosome);
}

std::optional<std::size_t> ChromosomeNames::find(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace ancify
