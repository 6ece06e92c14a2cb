// Fuzzes 2bit: a slow, plain reader finds the same sequences, and the same ranges of them.
#include "core/formats/sequence/twobit.h"

#include <set>
#include <stdexcept>

#include "harness.h"

namespace ancify::fuzz {

namespace {

struct Bad : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void need(bool good) {
  if (!good) throw Bad("not a 2bit file that is read");
}

class Bytes {
 public:
  Bytes(std::string_view file, std::size_t at, bool big) : file_(file), at_(at), big_(big) {}
  std::size_t at() const { return at_; }

  std::string_view take(std::size_t n) {
    need(n <= file_.size() - at_);
    at_ += n;
    return file_.substr(at_ - n, n);
  }
  std::uint64_t number(std::size_t n = 4) {
    const std::string_view bytes = take(n);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const char byte = bytes[big_ ? i : n - 1 - i];
      value = value << 8 | static_cast<unsigned char>(byte);
    }
    return value;
  }

 private:
  std::string_view file_;
  std::size_t at_;
  bool big_;
};

std::string sequence_at(Bytes record, std::string_view file) {
  const std::size_t length = record.number();
  need(length / 4 <= file.size());
  std::string marks[2];
  for (auto& marked : marks) {
    marked.assign(length, '.');
    const std::size_t n = record.number();
    need(n <= file.size());
    std::vector<std::size_t> starts;
    for (std::size_t i = 0; i < n; ++i) starts.push_back(record.number());
    std::size_t filled = 0;
    for (const std::size_t start : starts) {
      const std::size_t end = start + record.number();
      need(start >= filled && end <= length);
      for (filled = start; filled < end; ++filled) marked[filled] = '!';
    }
  }
  record.number();
  const std::string_view packed = record.take((length + 3) / 4);
  std::string bases;
  for (std::size_t i = 0; i < length; ++i) {
    const int byte = static_cast<unsigned char>(packed[i / 4]);
    const char base = marks[0][i] == '!' ? 'N' : "TCAG"[byte >> (6 - 2 * (i % 4)) & 3];
    bases += static_cast<char>(marks[1][i] == '!' ? base + ('a' - 'A') : base);
  }
  return bases;
}

std::vector<std::string> read_all(std::string_view file) {
  const bool big = file.substr(0, 4) == "\x1A\x41\x27\x43";
  Bytes index(file, 0, big);
  need(index.number() == 0x1A412743);
  const std::size_t version = index.number();
  need(version <= 1);
  const std::size_t n = index.number();
  index.number();
  std::set<std::string_view> names;
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < n; ++i) {
    need(names.insert(index.take(index.number(1))).second);
    offsets.push_back(index.number(version == 1 ? 8 : 4));
    need(offsets.back() < file.size());
  }
  std::vector<std::string> sequences;
  for (const std::size_t offset : offsets) {
    need(offset >= index.at());
    sequences.push_back(sequence_at(Bytes(file, offset, big), file));
  }
  return sequences;
}

std::string as_text(const std::vector<std::string>& sequences) {
  std::string text;
  for (const auto& sequence : sequences) text += sequence + "\n";
  return text;
}

std::string read_slowly(std::string_view input) {
  try {
    return "read\n" + as_text(read_all(input));
  } catch (const Bad&) {
    return {};
  }
}

std::string range(TwoBitFile& file, std::size_t i, std::size_t start, std::size_t n) {
  std::string bases(n, '?');
  file.read(i, static_cast<std::int64_t>(start), n, bases.data());
  return bases;
}

}  // namespace

void check(std::string_view input) {
  Choices choices(input);
  const std::string read = outcome([&] {
    TwoBitFile file(as_file(input));
    std::vector<std::string> sequences;
    for (std::size_t i = 0; i < file.names().size(); ++i) {
      const auto length = static_cast<std::size_t>(file.length(i));
      sequences.push_back(range(file, i, 0, length));
      const std::size_t start = choices.below(length + 1);
      const std::size_t n = choices.below(length - start + 1);
      require_equal(range(file, i, start, n), sequences[i].substr(start, n), "a range and all");
    }
    return "read\n" + as_text(sequences);
  });
  require_equal(is_error(read) ? "" : read, read_slowly(input), "2bit and the slow way");
}

}  // namespace ancify::fuzz
