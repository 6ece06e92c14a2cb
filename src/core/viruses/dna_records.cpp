// Reads FASTA and FASTQ, and refuses records without bases or names of their own.
#include "core/viruses/dna_records.h"

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <unordered_set>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/formats/sequence/fastq.h"
#include "core/genome/bases.h"
#include "core/io/text.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")  // for the vectoriser
#endif

namespace ancify {

namespace {

// The upper case of IUPAC's letters and of signs for gaps, which a DNAStringSet takes; 0 for
// others. RNA's U is T.
std::array<char, 256> upper_letters() {
  std::array<char, 256> upper = {};
  for (const char c : std::string_view("ACGTMRWSYKVHDBN-+.")) {
    const auto byte = static_cast<unsigned char>(c);
    upper[byte] = c;
    if (c >= 'A') upper[byte + ('a' - 'A')] = c;
  }
  upper['U'] = upper['u'] = 'T';
  return upper;
}

// Whether there is nothing but A, C, G and T, as in most lines.
bool are_upper_bases(std::string_view bases) {
  constexpr int lower_case = 0x20;
  unsigned char others = 0;  // no branch, so that compilers vectorise the loop
  for (const char c : bases) {
    others |= static_cast<unsigned char>((base_code(c) & kMissing) | (c & lower_case));
  }
  return others == 0;
}

class RecordReader {
 public:
  RecordReader(const std::string& path, DnaRecords& records, std::unordered_set<std::string>& ids)
      : path_(path), records_(records), ids_(ids) {}

  void begin(std::string_view name, std::int64_t line) {
    finish();
    line_ = line;
    begun_ = true;
    length_ = 0;
    records_.ids.emplace_back(name);
    records_.bases.begin();
    if (name.empty()) fail("it has no name");
    if (!is_utf8(name) || name.find('\0') != name.npos) {
      throw FormatError(path_, line_, "the name " + excerpt(name) + " is not UTF-8 text");
    }
    if (!ids_.insert(records_.ids.back()).second) fail("a record before it has the same name");
  }
  void add(std::string_view bases) {
    // A sequence of R has no more letters.
    if (bases.size() > std::numeric_limits<std::int32_t>::max() - length_) {
      fail("it has more than 2^31 - 1 bases: cut it");
    }
    char* const added = records_.bases.add(bases) + length_;
    length_ += bases.size();
    if (are_upper_bases(bases)) return;
    bool all_known = true;
    for (std::size_t i = 0; i < bases.size(); ++i) {
      added[i] = upper_[static_cast<unsigned char>(added[i])];
      all_known &= added[i] != 0;
    }
    if (all_known) return;
    const char wrong = bases[std::string_view(added, bases.size()).find('\0')];
    fail(std::string("the letter '") + wrong + "' stands for no base of DNA: is it a protein?");
  }
  void finish() const {
    if (begun_ && length_ == 0) fail("it has no bases: remove it");
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw FormatError(path_, line_, "record '" + records_.ids.back() + "': " + problem);
  }

  const std::string& path_;
  DnaRecords& records_;
  std::unordered_set<std::string>& ids_;
  std::array<char, 256> upper_ = upper_letters();
  std::int64_t line_ = 0;
  std::size_t length_ = 0;  // of the last record
  bool begun_ = false;
};

}  // namespace

DnaRecords read_dna(const std::vector<std::string>& paths, std::size_t part_size,
                    JobControl& control) {
  DnaRecords records{{}, JoinedTexts(part_size)};
  std::unordered_set<std::string> ids;
  const TaskContext context(control);
  for (const std::string& path : paths) {
    RecordReader reader(path, records, ids);
    const FastaSink sink = {
        [&](std::string_view name, std::int64_t line) { reader.begin(name, line); },
        [&](std::string_view bases) { reader.add(bases); }};
    read_sequences(path, sink, control, context);
    reader.finish();
  }
  return records;
}

}  // namespace ancify
