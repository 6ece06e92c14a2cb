// Reads a table of chromosome names and lengths.
#include "core/genome/lengths.h"

#include <string_view>
#include <unordered_set>

#include "core/exec/errors.h"
#include "core/io/file.h"
#include "core/io/lines.h"
#include "core/io/text.h"

namespace ancify {

namespace {

class LengthsParser {
 public:
  explicit LengthsParser(const std::string& path) : path_(path) {}

  std::vector<Chromosome> take() {
    if (chromosomes_.empty()) throw FormatError(path_, 0, "there is no chromosome in this file");
    return std::move(chromosomes_);
  }

  void parse_line(std::string_view line, std::int64_t number) {
    line_ = number;
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (line_ == 1 && line.substr(0, 3) == byte_order_mark) line.remove_prefix(3);
    const std::string_view whole = line;
    const std::string name(next_field(line));
    if (name.empty() || name.front() == '#') return;
    const auto length = parse_whole_number(next_field(line));
    if (!length || *length < 1) {
      throw FormatError(
          path_, line_,
          "not a chromosome name and its length (a positive whole number): " + excerpt(whole));
    }
    if (!is_safe_file_name(name) || !is_utf8(name)) {
      throw FormatError(path_, line_,
                        "the name " + excerpt(name) +
                            " cannot be a file name. It must be UTF-8 of at most " +
                            std::to_string(kMostNameBytes) +
                            " bytes, without spaces, control characters and '/', and not . or ..");
    }
    if (!names_.insert(name).second) {
      throw FormatError(path_, line_, "the name " + excerpt(name) + " is listed twice");
    }
    chromosomes_.push_back({name, *length});
  }

 private:
  std::string path_;
  std::int64_t line_ = 0;
  std::vector<Chromosome> chromosomes_;
  std::unordered_set<std::string> names_;
};

}  // namespace

std::vector<Chromosome> read_chromosome_lengths(const std::string& path, const TaskContext& context,
                                                std::size_t chunk_size) {
  LengthsParser parser(path);
  for_each_line(
      path, context,
      [&](std::string_view line, std::int64_t number) { parser.parse_line(line, number); },
      chunk_size);
  return parser.take();
}

std::string with_other_prefix(const std::string& name) {
  return name.compare(0, 3, "chr") == 0 ? name.substr(3) : "chr" + name;
}

std::vector<std::string> names_of(const std::vector<Chromosome>& chromosomes) {
  std::vector<std::string> names;
  names.reserve(chromosomes.size());
  for (const auto& chromosome : chromosomes) names.push_back(chromosome.name);
  return names;
}

ChromosomeNames::ChromosomeNames(const std::vector<std::string>& names) : names_(names) {
  for (const auto& name : names) names_.push_back(with_other_prefix(name));
  // The first that is added stays: an identical name.
  for (std::size_t i = 0; i < names_.size(); ++i) numbers_.emplace(names_[i], i % names.size());
}

ChromosomeNames::ChromosomeNames(const std::vector<Chromosome>& chromosomes)
    : ChromosomeNames(names_of(chromosomes)) {}

std::optional<std::size_t> ChromosomeNames::find(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace ancify
