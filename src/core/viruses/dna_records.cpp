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
#include "core/io/text.h"

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

class RecordReader {
 public:
  RecordReader(const std::string& path, std::vector<DnaRecord>& records,
               std::unordered_set<std::string>& ids)
      : path_(path), records_(records), ids_(ids) {}

  void begin(std::string_view name, std::int64_t line) {
    finish();
    line_ = line;
    begun_ = true;
    records_.push_back({std::string(name), ""});
    if (name.empty()) fail("it has no name");
    if (!is_utf8(name) || name.find('\0') != name.npos) {
      throw FormatError(path_, line_, "the name " + excerpt(name) + " is not UTF-8 text");
    }
    if (!ids_.insert(records_.back().id).second) fail("a record before it has the same name");
  }
  void add(std::string_view bases) {
    std::string& all = records_.back().bases;
    // A string of R has no more letters.
    if (bases.size() > std::numeric_limits<std::int32_t>::max() - all.size()) {
      fail("it has more than 2^31 - 1 bases: cut it");
    }
    const std::size_t before = all.size();
    all.append(bases);
    bool all_known = true;
    for (std::size_t i = before; i < all.size(); ++i) {
      all[i] = upper_[static_cast<unsigned char>(all[i])];
      all_known = all_known && all[i] != 0;
    }
    if (all_known) return;
    const char wrong = bases[all.find('\0', before) - before];
    fail(std::string("the letter '") + wrong + "' stands for no base of DNA: is it a protein?");
  }
  void finish() const {
    if (begun_ && records_.back().bases.empty()) fail("it has no bases: remove it");
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw FormatError(path_, line_, "record '" + records_.back().id + "': " + problem);
  }

  const std::string& path_;
  std::vector<DnaRecord>& records_;
  std::unordered_set<std::string>& ids_;
  std::array<char, 256> upper_ = upper_letters();
  std::int64_t line_ = 0;
  bool begun_ = false;
};

}  // namespace

std::vector<DnaRecord> read_dna(const std::vector<std::string>& paths, JobControl& control) {
  std::vector<DnaRecord> records;
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
