// Fuzzes spectrum files: a slow, plain reader finds the same lines and numbers, or an error too.
// The first line that is not a comment is text and all others are numbers, as in a file of dadi.
#include <sstream>

#include "core/io/number_parser.h"
#include "core/io/text.h"
#include "core/spectra/spectrum_reader.h"
#include "harness.h"

namespace ancify::fuzz {

namespace {

constexpr std::int64_t kMostNumbers = 8;

std::string shown(double value) { return std::isnan(value) ? "nan" : number_text(value); }

std::string read(const std::string& path) {
  return outcome([&] {
    SpectrumReader reader(path);
    std::string table = "spectrum\n";
    for (bool is_first = true; reader.next_line(); is_first = false) {
      table += std::to_string(reader.line()) + ":";
      if (is_first) {
        table += " " + reader.text() + "\n";
        continue;
      }
      double numbers[kMostNumbers];
      const std::int64_t n = reader.numbers(numbers, kMostNumbers, "spectrum");
      require(n <= kMostNumbers + 1, "more numbers than were asked for");
      for (std::int64_t i = 0; i < std::min(n, kMostNumbers); ++i) table += " " + shown(numbers[i]);
      table += n > kMostNumbers ? " more\n" : "\n";
    }
    return table;
  });
}

std::optional<std::string> number_slowly(std::string word) {
  NumberParser parse;
  const auto value = parse(word);
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (word == "nan") return "nan";
  if (word == "inf" || word == "+inf") return "inf";
  if (word == "-inf") return "-inf";
  if (!value) return {};
  return shown(*value);
}

bool is_text(const std::string& text) { return is_utf8(text) && text.find('\0') == text.npos; }

// Empty if a line is refused.
std::string read_slowly(std::string text) {
  std::string table = "spectrum\n";
  std::istringstream lines(text);
  bool is_first = true;
  std::int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    constexpr const char* spaces = " \t\r\v\f";
    line.erase(0, std::min(line.find_first_not_of(spaces), line.size()));
    line.erase(line.find_last_not_of(spaces) + 1);
    if (line.empty() || line[0] == '#') continue;
    table += std::to_string(number) + ":";
    if (std::exchange(is_first, false)) {
      if (!is_text(line)) return {};
      table += " " + line + "\n";
      continue;
    }
    std::int64_t count = 0;
    for (std::size_t at = 0; at < line.size() && count <= kMostNumbers; ++count) {
      const std::size_t end = std::min(line.find_first_of(spaces, at), line.size());
      const std::string word = line.substr(at, end - at);
      at = std::min(line.find_first_not_of(spaces, end), line.size());
      if (!is_text(word)) return {};
      const auto value = number_slowly(word);
      if (count < kMostNumbers && !value) return {};
      table += count < kMostNumbers ? " " + *value : " more";
    }
    table += "\n";
  }
  return table;
}

}  // namespace

void check(std::string_view input) {
  const std::string found = read(as_file(input));
  if (const auto text = text_to_read(input, found)) {
    require_equal(is_error(found) ? "" : found, read_slowly(*text), "spectra and the slow way");
  }
}

}  // namespace ancify::fuzz
