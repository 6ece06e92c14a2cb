// Fuzzes FASTQ: chunks of any size give the reads of a slow, plain reader.
#include "core/formats/sequence/fastq.h"

#include <sstream>
#include <vector>

#include "core/io/text.h"
#include "harness.h"

namespace ancify::fuzz {

namespace {

std::string read_row(const std::string& header, const std::string& bases) {
  std::string_view name = std::string_view(header).substr(1);
  return std::string(next_field(name)) + " " + bases + "\n";
}

// The reads, a line each; empty if the input is not FASTQ.
std::string read_slowly(std::string_view input) {
  std::vector<std::string> lines;
  std::istringstream text{std::string(input)};
  for (std::string line; std::getline(text, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    lines.push_back(line);
  }
  // The last line may lack its newline, but must not be absent.
  std::string reads;
  std::size_t i = 0;
  for (; i + 4 <= lines.size(); i += 4) {
    const bool good = lines[i].substr(0, 1) == "@" && lines[i + 2].substr(0, 1) == "+" &&
                      lines[i + 1].size() == lines[i + 3].size();
    if (!good) return {};
    reads += read_row(lines[i], lines[i + 1]);
  }
  for (; i < lines.size(); ++i) {
    if (!lines[i].empty()) return {};
  }
  return reads;
}

std::string read(const std::string& path, std::size_t chunk) {
  return outcome([&] {
    std::string reads;
    JobControl control;
    const FastaSink sink = {
        [&](std::string_view name, std::int64_t) { reads.append(name).append(" "); },
        [&](std::string_view bases) { reads.append(bases).append("\n"); }};
    read_sequences(path, sink, control, TaskContext(), chunk);
    return reads;
  });
}

}  // namespace

void check(std::string_view input) {
  if (input.substr(0, 1) != "@") return;  // FASTA's
  const std::string whole = read_in_any_chunks(input, read);
  if (const auto text = text_to_read(input, whole)) {
    require_equal(is_error(whole) ? "" : whole, read_slowly(*text), "FASTQ and the slow way");
  }
}

}  // namespace ancify::fuzz
