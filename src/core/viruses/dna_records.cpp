// Reads FASTA and FASTQ, and refuses records without bases or names of their own.
#include "core/viruses/dna_records.h"

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/formats/sequence/fastq.h"
#include "core/genome/bases.h"
#include "core/io/text.h"

namespace ancify {

namespace {

// The upper case of IUPAC letters and gap signs, which a DNAStringSet accepts; 0 for others. RNA's
// U maps to T.
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

// True if all letters are A, C, G or T, as in most lines.
bool are_upper_bases(std::string_view bases) {
  constexpr int lower_case = 0x20;
  unsigned char others = 0;  // branch-free, so that compilers vectorise the loop
  for (const char c : bases) {
    others |= static_cast<unsigned char>((base_code(c) & kMissing) | (c & lower_case));
  }
  return others == 0;
}

// The ids of all records, each with the index of the last file that contains it.
class IdsOfFiles {
 public:
  void begin_file(std::size_t first_record) { first_records_.push_back(first_record); }
  // Returns false if this file already contains the id.
  bool add(const std::string& id) {
    const std::size_t file = first_records_.size();
    const auto [known, is_new] = files_.emplace(id, file);
    if (is_new) return true;
    share_ids_ = true;
    return std::exchange(known->second, file) != file;
  }
  bool share_ids() const { return share_ids_; }
  void append_files(std::vector<std::string>& ids) const {
    for (std::size_t file = 1, i = 0; i < ids.size(); ++i) {
      while (file < first_records_.size() && first_records_[file] <= i) ++file;
      ids[i] += "/" + std::to_string(file);
    }
  }

 private:
  std::unordered_map<std::string, std::size_t> files_;
  std::vector<std::size_t> first_records_;
  bool share_ids_ = false;
};

class RecordReader {
 public:
  RecordReader(const std::string& path, DnaRecords& records, IdsOfFiles& ids)
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
    if (!ids_.add(records_.ids.back())) fail("a record before it has the same name");
  }
  void add(std::string_view bases) {
    // Longer sequences do not fit in R.
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
  IdsOfFiles& ids_;
  std::array<char, 256> upper_ = upper_letters();
  std::int64_t line_ = 0;
  std::size_t length_ = 0;  // of the last record
  bool begun_ = false;
};

}  // namespace

DnaRecords read_dna(const std::vector<std::string>& paths, std::size_t part_size,
                    JobControl& control) {
  DnaRecords records{{}, JoinedTexts(part_size), {}};
  IdsOfFiles ids;
  const TaskContext context(control);
  for (const std::string& path : paths) {
    const std::size_t before = records.ids.size();
    ids.begin_file(before);
    RecordReader reader(path, records, ids);
    const FastaSink sink = {
        [&](std::string_view name, std::int64_t line) { reader.begin(name, line); },
        [&](std::string_view bases) { reader.add(bases); }, true};
    read_sequences(path, sink, control, context);
    reader.finish();
    if (records.ids.size() == before) records.empty.push_back(path);
  }
  if (records.ids.empty()) throw_no_sequences(paths);
  records.share_ids = ids.share_ids();
  if (records.share_ids) ids.append_files(records.ids);
  return records;
}

}  // namespace ancify
