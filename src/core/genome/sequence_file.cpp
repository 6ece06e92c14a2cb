// Reads and writes FASTA files of one sequence on one line.
#include "core/genome/sequence_file.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/exec/errors.h"
#include "core/io/text.h"

namespace ancify {

std::string SequenceReader::read_header(const std::string& name) {
  constexpr std::int64_t longest_header = 1 << 16;
  std::string head(static_cast<std::size_t>(std::min(file_.size(), longest_header)), '\0');
  file_.read_at(&head[0], head.size(), 0);
  const std::string_view text = head;
  const std::size_t newline = text.find('\n');
  if (text.empty() || text.front() != '>' || newline == text.npos) {
    throw FormatError(file_.path(), 1, "not a FASTA file: it begins with " + excerpt(text));
  }
  std::string_view header = trim_end(text.substr(1, newline - 1));
  const std::string_view found = next_field(header);
  if (found != name) {
    throw FormatError(file_.path(), 1,
                      "the sequence is called " + excerpt(found) + ", not " + excerpt(name));
  }
  first_base_ = static_cast<std::int64_t>(newline) + 1;
  return head;
}

SequenceReader::SequenceReader(const std::string& path, const std::string& name,
                               std::int64_t length, const InputIdentities& inputs)
    : file_(path, inputs), length_(length) {
  read_header(name);

  // The file must end with the last base and at most one line end.
  const std::int64_t last_base = first_base_ + length - 1;
  const std::int64_t rest = std::clamp<std::int64_t>(file_.size() - last_base, 0, 4);
  std::string tail(static_cast<std::size_t>(rest), '\0');
  if (rest > 0) file_.read_at(&tail[0], tail.size(), last_base);
  const bool has_base = !tail.empty() && tail[0] != '\n' && tail[0] != '\r';
  const std::string end = has_base ? tail.substr(1) : tail;
  if (!has_base || (!end.empty() && end != "\n" && end != "\r\n")) {
    throw FormatError(path, 2,
                      "the sequence is not one line of " + std::to_string(length) +
                          " bases (the chromosome's length). Make the file again");
  }
}

SequenceReader::SequenceReader(const std::string& path, const std::string& name) : file_(path) {
  std::string head = read_header(name);
  std::string tail(static_cast<std::size_t>(std::min<std::int64_t>(file_.size(), 2)), '\0');
  file_.read_at(&tail[0], tail.size(), file_.size() - static_cast<std::int64_t>(tail.size()));
  const std::int64_t end_of_line = tail == "\r\n" ? 2 : tail.back() == '\n' ? 1 : 0;
  length_ = std::max<std::int64_t>(file_.size() - end_of_line - first_base_, 0);
  head.resize(std::min(head.size(), static_cast<std::size_t>(first_base_ + length_)));
  if (length_ == 0 || head.find('\n', static_cast<std::size_t>(first_base_)) != head.npos) {
    throw FormatError(path, 2, "the sequence is not on one line, as ancify writes it");
  }
}

void SequenceReader::read(std::int64_t start, std::size_t n, char* out) const {
  file_.read_at(out, n, first_base_ + start);
  if (std::memchr(out, '\n', n) != nullptr) {
    throw FormatError(
        file_.path(), 2,
        "the sequence must be on one line, but its line is shorter than the chromosome. "
        "Make the file again");
  }
}

SequenceWriter::SequenceWriter(const std::string& path, const std::string& name,
                               std::int64_t length)
    : header_(">" + name + "\n"),
      file_(path, static_cast<std::int64_t>(header_.size()) + length + 1) {
  file_.write_at(header_.data(), header_.size(), 0);
  file_.write_at("\n", 1, file_.size() - 1);
}

FileChecksum SequenceWriter::checksum(std::uint32_t of_sequence) const {
  const auto length = file_.size() - static_cast<std::int64_t>(header_.size()) - 1;
  const auto header = extend_checksum(0, header_.data(), header_.size());
  return {file_.size(), extend_checksum(join_checksums(header, of_sequence, length), "\n", 1), {}};
}

}  // namespace ancify
