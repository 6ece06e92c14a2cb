#include "core/io/sequence_file.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/exec/errors.h"
#include "core/io/text.h"

namespace ancify {

SequenceReader::SequenceReader(const std::string& path, const std::string& name,
                               std::int64_t length)
    : file_(path) {
  constexpr std::int64_t longest_header = 1 << 16;
  std::vector<char> head(static_cast<std::size_t>(std::min(file_.size(), longest_header)));
  file_.read_at(head.data(), head.size(), 0);
  const std::string_view text(head.data(), head.size());
  const std::size_t newline = text.find('\n');
  if (text.empty() || text.front() != '>' || newline == text.npos) {
    throw FormatError(path, 1, "not a FASTA file: it begins with " + excerpt(text));
  }
  std::string_view header = trim_end(text.substr(1, newline - 1));
  const std::string_view found = next_field(header);
  if (found != name) {
    throw FormatError(path, 1,
                      "the sequence is called " + excerpt(found) + ", not " + excerpt(name));
  }
  first_base_ = static_cast<std::int64_t>(newline) + 1;

  // From the last base on there must be that base and the end of its line.
  const std::int64_t last_base = first_base_ + length - 1;
  const std::int64_t rest = std::clamp<std::int64_t>(file_.size() - last_base, 0, 4);
  std::string tail(static_cast<std::size_t>(rest), '\0');
  if (rest > 0) file_.read_at(&tail[0], tail.size(), last_base);
  const bool has_base = !tail.empty() && tail[0] != '\n' && tail[0] != '\r';
  const std::string end = has_base ? tail.substr(1) : tail;
  if (!has_base || (!end.empty() && end != "\n" && end != "\r\n")) {
    throw FormatError(path, 2,
                      "not one line of " + std::to_string(length) +
                          " bases as the chromosome's length asks. Project the alignment again");
  }
}

void SequenceReader::read(std::int64_t start, std::size_t n, char* out) const {
  file_.read_at(out, n, first_base_ + start);
  if (std::memchr(out, '\n', n) != nullptr) {
    throw FormatError(file_.path(), 2,
                      "the sequence must stand on one line, and is shorter than the chromosome. "
                      "Project the alignment again");
  }
}

SequenceWriter::SequenceWriter(const std::string& path, const std::string& name,
                               std::int64_t length)
    : first_base_(static_cast<std::int64_t>(name.size()) + 2),
      file_(path, first_base_ + length + 1) {
  const std::string header = ">" + name + "\n";
  file_.write_at(header.data(), header.size(), 0);
  file_.write_at("\n", 1, first_base_ + length);
}

}  // namespace ancify
