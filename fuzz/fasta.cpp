// Fuzzes FASTA: chunks of any size give the sequences of a slow, plain reader. Also one-line FASTA,
// as runs write it.
#include "core/formats/sequence/fasta.h"

#include <algorithm>
#include <sstream>

#include "core/genome/sequence_file.h"
#include "harness.h"

namespace ancify::fuzz {

namespace {

// A name may put any number of N before a sequence. Sequences with more than this are not compared.
constexpr std::int64_t kMostUnknown = 1 << 12;
const std::string kTooLong = "too many N";

// The sequences as text; empty if the input is not FASTA.
std::string read_slowly(std::string_view input) {
  std::string result;
  std::istringstream lines{std::string(input)};
  std::int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.substr(0, 1) == ">") {
      line.erase(line.find_last_not_of(" \t\r") + 1);
      const std::size_t begin = std::min(line.find_first_not_of(" \t", 1), line.size());
      const std::string name = line.substr(begin, line.find_first_of(" \t", begin) - begin);
      result += "\n" + std::to_string(number) + " " + name + " ";
      const auto slice = ensembl_slice(name);
      if (!slice) continue;
      if (slice->minus) return {};
      if (slice->start > kMostUnknown) return kTooLong;
      result.append(static_cast<std::size_t>(slice->start - 1), 'N');
    } else {
      line.erase(line.find_last_not_of(" \t\r") + 1);
      if (result.empty()) return {};
      if (std::any_of(line.begin(), line.end(), [](char c) { return c < '!' || c > '~'; })) {
        return {};
      }
      result += line;
    }
  }
  return result;
}

struct TooLong {};

std::string read(const std::string& path, std::size_t chunk) {
  std::string result;
  FastaSink sink;
  sink.begin = [&](std::string_view name, std::int64_t line) {
    const auto slice = ensembl_slice(name);
    if (slice && !slice->minus && slice->start > kMostUnknown) throw TooLong();
    result.append("\n" + std::to_string(line) + " ").append(name).append(" ");
  };
  sink.bases = [&](std::string_view bases) { result += bases; };
  try {
    return outcome([&] {
      JobControl control;
      read_fasta(path, sink, control, TaskContext(), chunk);
      return result;
    });
  } catch (const TooLong&) {
    return kTooLong;
  }
}

std::string all_bases(const SequenceReader& reader) {
  std::string bases(static_cast<std::size_t>(reader.length()), '\0');
  reader.read(0, bases.size(), &bases[0]);
  return "bases " + bases;
}

// The line after a header with this name, if it is the only line; otherwise empty.
std::string one_line(std::string_view input, const std::string& name) {
  const std::size_t newline = input.find('\n');
  if (input.substr(0, 1) != ">" || newline == input.npos) return {};
  std::istringstream header{std::string(input.substr(1, newline - 1))};
  std::string text = header.str();
  text.erase(text.find_last_not_of(" \t\r") + 1);
  text.erase(0, std::min(text.find_first_not_of(" \t"), text.size()));
  if (text.substr(0, text.find_first_of(" \t")) != name) return {};
  std::string bases(input.substr(newline + 1));
  if (!bases.empty() && bases.back() == '\n') bases.pop_back();
  if (bases.size() + newline + 1 < input.size() && !bases.empty() && bases.back() == '\r') {
    bases.pop_back();
  }
  return bases.find('\n') == bases.npos ? bases : "";
}

}  // namespace

void check(std::string_view input) {
  const std::string whole = read_in_any_chunks(input, read);
  if (const auto text = text_to_read(input, whole)) {
    require_equal(is_error(whole) ? "" : whole, read_slowly(*text), "FASTA and the slow way");
  }

  const std::string& path = as_file(input);
  const std::string bases = one_line(input, "chr1");
  const std::string any = outcome([&] { return all_bases(SequenceReader(path, "chr1")); });
  require_equal(is_error(any) ? "bases " : any, "bases " + bases, "one line and the slow way");
  const std::string five = outcome([&] { return all_bases(SequenceReader(path, "chr1", 5)); });
  const bool fits = bases.size() == 5 && bases.back() != '\r';
  require_equal(is_error(five) ? "" : five, fits ? "bases " + bases : "", "five bases");
}

}  // namespace ancify::fuzz
