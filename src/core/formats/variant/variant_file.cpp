// Reads and writes VCF and BCF with htslib.
#include "core/formats/variant/variant_file.h"

#include "core/exec/errors.h"
#include "core/io/file.h"
#include "core/io/foreign_format.h"
#include "core/io/number_parser.h"
#include "core/io/text.h"

namespace ancify {

bool is_no_allele(std::string_view alt) {
  return alt == "*" || alt == "<*>" || alt == "<NON_REF>" || alt == "<X>";
}

}  // namespace ancify

#ifdef ANCIFY_HAVE_HTSLIB

#include <htslib/bgzf.h>
#include <htslib/hfile.h>
#include <htslib/hts.h>
#include <htslib/hts_log.h>
#include <htslib/kstring.h>
#include <htslib/vcf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "core/formats/variant/allele_swap.h"
#include "core/formats/variant/vcf_line.h"

namespace ancify {

struct CloseFile {
  void operator()(htsFile* file) const { hts_close(file); }
};
struct DestroyHeader {
  void operator()(bcf_hdr_t* header) const { bcf_hdr_destroy(header); }
};
struct FreedText : kstring_t {
  FreedText() : kstring_t(KS_INITIALIZE) {}
  FreedText(const FreedText&) = delete;
  FreedText& operator=(const FreedText&) = delete;
  ~FreedText() { std::free(s); }
};
struct DestroyRecord {
  void operator()(bcf1_t* record) const { bcf_destroy(record); }
};

namespace {

// htslib would take a name with a scheme for a URL, and "-" for its standard input.
std::string local_name(const std::string& path) { return path.front() == '/' ? path : "./" + path; }

InputFile open_input(const std::string& path, const InputIdentities& inputs) {
  if (path.find("://") != path.npos) {
    throw InputError("'" + path + "' is a URL: download the file, and give its path");
  }
  return InputFile(path, inputs);
}

std::string first_bytes(const InputFile& file) {
  std::string start(static_cast<std::size_t>(std::min<std::int64_t>(file.size(), kForeignStart)),
                    '\0');
  file.read_at(start.data(), start.size(), 0);
  return start;
}

// htslib reads the text itself, bypassing open_text().
void refuse_odd_text(const InputFile& file) {
  const std::string start = first_bytes(file);
  if (start.compare(0, 3, "\xef\xbb\xbf") == 0) {
    throw FormatError(file.path(), 1,
                      "a byte order mark stands before the text. Remove it: tail -c +4 FILE");
  }
  if (start.compare(0, 2, "##") == 0 && start.find('\r') != start.npos &&
      start.find('\n') == start.npos) {
    throw FormatError(file.path(), 1,
                      "its lines end in CR alone. Convert them: tr '\\r' '\\n' < FILE");
  }
}

// htslib gets the open file, as another file may have taken its name by now.
std::unique_ptr<htsFile, CloseFile> open_variants(const InputFile& file, int threads) {
  const std::string& path = file.path();
  refuse_odd_text(file);
  hts_set_log_level(HTS_LOG_OFF);
  hFILE* const bytes = hdopen(dup(file.descriptor()), "r");
  std::unique_ptr<htsFile, CloseFile> result(
      bytes == nullptr ? nullptr : hts_hopen(bytes, local_name(path).c_str(), "r"));
  if (!result && bytes != nullptr) hclose_abruptly(bytes);
  const auto format = result ? result->format.format : unknown_format;
  if (format != vcf && format != bcf) {
    refuse_foreign_format(path, first_bytes(file));
    throw FormatError(path, file.size() > 0 ? 1 : 0,
                      "neither VCF nor BCF: a VCF begins with '##fileformat=VCF'");
  }
  if (result->format.compression == bgzf && hts_check_EOF(result.get()) == 0) {
    throw FormatError(path, 0,
                      "bgzip's end-of-file mark is missing: the file was cut short. Fetch or "
                      "compress it again");
  }
  if (threads > 0 && result->format.compression == bgzf) hts_set_threads(result.get(), threads);
  return result;
}

const char* problem_of(int errcode) {
  if ((errcode & BCF_ERR_NCOLS) != 0) return "the number of samples differs from the header's";
  if ((errcode & BCF_ERR_LIMITS) != 0) return "a number is too large";
  if ((errcode & BCF_ERR_CHAR) != 0) return "a value contains invalid characters";
  if ((errcode & BCF_ERR_CTG_INVALID) != 0) return "the chromosome name is invalid";
  if ((errcode & BCF_ERR_TAG_INVALID) != 0) return "a tag name is invalid";
  return "it is not a valid record, or it is damaged";
}

// A record may use a chromosome or tag that the header does not declare.
constexpr int kUndeclared = BCF_ERR_CTG_UNDEF | BCF_ERR_TAG_UNDEF;

constexpr int kFixedColumns = 8;  // CHROM to INFO

bool is_integer(std::string_view text) {
  if (text.substr(0, 1) == "-") text.remove_prefix(1);
  return parse_whole_number(text).has_value();
}

// Splits off the text before a character, or all of it.
std::string_view next_part(std::string_view& text, char end) {
  const std::size_t size = text.find(end);
  const std::string_view part = text.substr(0, size);
  text.remove_prefix(size == text.npos ? text.size() : size + 1);
  return part;
}

// The parts of a record that htslib parses.
int unpacked(RecordParts parts) {
  if (parts == RecordParts::kAlleles) return BCF_UN_STR;
  return parts == RecordParts::kInfo ? BCF_UN_SHR : 0;  // 0 is all
}

// Decodes BCF's allele codes: 2 * (1 + the index), plus 1 if phased. It has no branches on the
// codes, which would be mispredicted.
template <typename Number>
void decode_alleles(const bcf_fmt_t& field, std::size_t samples, std::vector<int>& alleles) {
  constexpr Number missing = std::numeric_limits<Number>::min();
  constexpr Number end = missing + 1;
  const std::size_t n = samples * static_cast<std::size_t>(field.n);
  alleles.resize(n);
  const std::uint8_t* const from = field.p;
  int* const to = alleles.data();
  for (std::size_t i = 0; i < n; ++i) {
    Number number;
    std::memcpy(&number, from + i * sizeof number, sizeof number);
    const int allele = number == missing ? kMissingAllele : (number >> 1) - 1;
    to[i] = number == end ? kNoAllele : allele;
  }
}

// True if the lowest bit of a sample's second code marks its allele as phased.
template <typename Number>
bool is_phased_in(const bcf_fmt_t& field, std::size_t sample) {
  Number number;
  const std::size_t at = sample * static_cast<std::size_t>(field.n) + 1;
  std::memcpy(&number, field.p + at * sizeof number, sizeof number);
  return (number & 1) != 0;
}

// Decodes BCF's integers. The smallest means missing, and the next one ends a sample's values.
template <typename Number>
void decode_numbers(const bcf_fmt_t& field, std::vector<float>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Number number;
    std::memcpy(&number, field.p + i * sizeof number, sizeof number);
    const bool is_none = number <= std::numeric_limits<Number>::min() + 1;
    values[i] = is_none ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(number);
  }
}

// Works in pieces of one size, which compilers turn into vector instructions.
std::size_t count_tabs(std::string_view line) {
  constexpr std::size_t piece = 64;
  std::size_t n = 0;
  for (; line.size() >= piece; line.remove_prefix(piece)) {
    std::uint8_t in_piece = 0;
    for (std::size_t i = 0; i < piece; ++i) {
      in_piece = static_cast<std::uint8_t>(in_piece + static_cast<std::uint8_t>(line[i] == '\t'));
    }
    n += in_piece;
  }
  return n + static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t'));
}

// An integer of INFO; negative for a missing or non-integer value.
std::int64_t integer_at(const std::uint8_t* bytes, int type) {
  const auto as = [bytes](auto number) {
    std::memcpy(&number, bytes, sizeof number);
    return static_cast<std::int64_t>(number);
  };
  if (type == BCF_BT_INT8) return as(std::int8_t{});
  if (type == BCF_BT_INT16) return as(std::int16_t{});
  return type == BCF_BT_INT32 ? as(std::int32_t{}) : -1;
}

template <typename Number>
void write_dots(const bcf_fmt_t& field, std::size_t samples) {
  for (std::size_t sample = 0; sample < samples; ++sample) {
    std::uint8_t* const at = field.p + sample * static_cast<std::size_t>(field.size);
    Number number;
    std::memcpy(&number, at, sizeof number);
    if (number == std::numeric_limits<Number>::min()) std::memset(at, 0, sizeof number);
  }
}

}  // namespace

class VariantReader::Impl {
 public:
  Impl(const std::string& path, int threads, RecordParts parts, const InputIdentities& inputs)
      : path_(path),
        input_(open_input(path, inputs)),
        file_(open_variants(input_, threads)),
        record_(bcf_init()) {
    header_.reset(bcf_hdr_read(file_.get()));
    if (!header_) {
      throw FormatError(path_, file_->lineno,
                        "the header is invalid: #CHROM is missing, repeats a sample, or has FORMAT "
                        "without samples; or the file is damaged. Correct the header");
    }
    is_text_ = file_->format.format == vcf;
    record_->max_unpack = unpacked(parts);
    line_.emplace(header_.get());
  }

  bool next() {
    if (!(is_text_ ? read_text() : read_binary())) {
      input_.check_unchanged();
      return false;
    }
    ++records_;
    if (!is_line_) check_record();
    find_alleles();
    check_order();
    check_position();
    if (!is_line_ && record_->max_unpack == 0) {
      check_fields();
      if (record_->n_fmt > 0) mend_genotypes();
    }
    return true;
  }

  // The record as htslib parses it.
  bcf1_t* record() {
    if (is_line_ && !is_parsed_) parse_line();
    return record_.get();
  }

  // The record, for changes that a line cannot take.
  bcf1_t* record_to_change() {
    if (std::exchange(is_line_, false)) {
      if (!is_parsed_) parse_line();
      find_alleles();
    }
    return record_.get();
  }

  // The record's line; null if htslib had to parse or to change it.
  const VcfLine* line() const { return is_line_ ? &*line_ : nullptr; }
  VcfLine* line_to_change() {
    is_parsed_ = false;
    return &*line_;
  }

  // Records are written as text, with all their parts.
  void change_lines() { changes_lines_ = is_text_; }

  void find_alleles() {
    if (is_line_) {
      stored_ = line_->alleles();
    } else {
      stored_.assign(record_->d.allele, record_->d.allele + record_->n_allele);
    }
    alleles_.clear();
    for (std::size_t i = 0; i < stored_.size(); ++i) {
      if (i == 0 || !is_no_allele(stored_[i])) alleles_.push_back(static_cast<int>(i));
    }
  }

  const std::vector<std::string_view>& stored() const { return stored_; }
  std::string_view id() const { return is_line_ ? line_->id() : record_->d.id; }

  std::string_view chromosome() const { return name_; }
  std::int64_t declared_length() const { return length_; }
  std::int64_t consumed() const {
    return file_->is_bgzf != 0 ? file_->fp.bgzf->block_address : htell(file_->fp.hfile);
  }

  std::optional<std::string_view> info_text(const char* id) {
    const bcf_info_t* const field = info(id);
    if (field == nullptr || field->len == 0) return {};
    if (field->type != BCF_BT_CHAR)
      fail(std::string(id) + " is not text: the header must declare it as String");
    const std::string_view text(reinterpret_cast<const char*>(field->vptr),
                                static_cast<std::size_t>(field->len));
    const std::string_view value = text.substr(0, text.find('\0'));
    if (value.empty()) return {};
    return value.front() == bcf_str_missing ? "." : value;
  }

  std::vector<float> info_numbers(const char* id) {
    const bcf_info_t* const field = info(id);
    if (field == nullptr || field->len == 0) return {};
    if (field->type != BCF_BT_FLOAT) {
      fail(std::string(id) + " is not a number: the header must declare it as Float");
    }
    if (is_text_) check_numbers(id);
    std::vector<float> numbers(static_cast<std::size_t>(field->len));
    std::memcpy(numbers.data(), field->vptr, numbers.size() * sizeof(float));
    if (numbers.size() == 1 && bcf_float_is_missing(numbers.front()) != 0) return {};
    return numbers;
  }

  std::optional<AltCount> stated_counts(const CountFields& fields) {
    const auto copies = info_integers(fields.copies.c_str(), static_cast<int>(stored_.size()) - 1);
    const auto called = info_integers(fields.called.c_str(), 1);
    if (!copies || !called || alleles_.size() != 2) return {};
    AltCount count = {(*copies)[static_cast<std::size_t>(alleles_[1] - 1)], called->front()};
    for (const std::int64_t other : *copies) count.called -= other;
    count.called += count.copies;
    return count;
  }

  std::optional<AltCount> info_counts(const CountFields& fields) {
    const auto count = stated_counts(fields);
    if (count && count->copies > count->called) {
      fail(fields.copies + " is " + std::to_string(count->copies) + ", but " + fields.called +
           " is " + std::to_string(info_integers(fields.called.c_str(), 1)->front()) +
           ": correct or remove them");
    }
    return count;
  }

  std::int64_t end() {
    const std::int64_t position = record_->pos + 1;
    if (info("END") == nullptr) {
      return position + static_cast<std::int64_t>(stored_.front().size()) - 1;
    }
    const auto end = info_integers("END", 1);
    if (!end || end->front() < position) {
      fail("END is not a position from POS on, declared as one Integer: correct it or the header");
    }
    return end->front();
  }

  void require_declared(const std::string& id, std::uint32_t length, const char* number) const {
    const int field = bcf_hdr_id2int(header_.get(), BCF_DT_ID, id.c_str());
    if (!bcf_hdr_idinfo_exists(header_.get(), BCF_HL_INFO, field)) {
      const auto there = allele_counts();
      throw FormatError(path_, 0,
                        "the header declares no field " + excerpt(id) + " of INFO; it has " +
                            (there.empty() ? "no counts of alleles" : quoted_list(there)));
    }
    if (!is_declared(field, BCF_HT_INT, length)) {
      throw FormatError(path_, 0,
                        "the header must declare " + excerpt(id) +
                            " of INFO with Number=" + number +
                            ",Type=Integer: correct it, for example by bcftools annotate "
                            "--header-lines");
    }
  }

  const Genotypes& genotypes() {
    const bcf_fmt_t* const field = bcf_get_fmt(header_.get(), record(), "GT");
    const auto samples = static_cast<std::size_t>(record_->n_sample);
    genotypes_.ploidy = field == nullptr ? 0 : field->n;
    if (genotypes_.ploidy == 0) {
      genotypes_.alleles.clear();
      return genotypes_;
    }
    if (field->type == BCF_BT_INT8) {
      decode_alleles<std::int8_t>(*field, samples, genotypes_.alleles);
    } else if (field->type == BCF_BT_INT16) {
      decode_alleles<std::int16_t>(*field, samples, genotypes_.alleles);
    } else if (field->type == BCF_BT_INT32) {
      decode_alleles<std::int32_t>(*field, samples, genotypes_.alleles);
    } else {
      fail("GT contains no alleles");
    }
    check_alleles();
    if (has_no_alleles()) leave_out_alleles();
    return genotypes_;
  }

  bool is_phased(std::size_t sample) const {
    const bcf_fmt_t& field = *bcf_get_fmt(header_.get(), record_.get(), "GT");
    if (field.type == BCF_BT_INT8) return is_phased_in<std::int8_t>(field, sample);
    if (field.type == BCF_BT_INT16) return is_phased_in<std::int16_t>(field, sample);
    return is_phased_in<std::int32_t>(field, sample);
  }

  const SampleNumbers& sample_numbers(const char* id) {
    const bcf_fmt_t* const field = bcf_get_fmt(header_.get(), record(), id);
    numbers_.per_sample = field == nullptr ? 0 : field->n;
    numbers_.values.resize(static_cast<std::size_t>(record_->n_sample) *
                           static_cast<std::size_t>(numbers_.per_sample));
    if (numbers_.values.empty()) return numbers_;
    if (field->type == BCF_BT_INT8) {
      decode_numbers<std::int8_t>(*field, numbers_.values);
    } else if (field->type == BCF_BT_INT16) {
      decode_numbers<std::int16_t>(*field, numbers_.values);
    } else if (field->type == BCF_BT_INT32) {
      decode_numbers<std::int32_t>(*field, numbers_.values);
    } else if (field->type == BCF_BT_FLOAT) {
      // A missing float, and the end of a sample's floats, are NaN already.
      std::memcpy(numbers_.values.data(), field->p, numbers_.values.size() * sizeof(float));
    } else {
      fail(std::string(id) +
           " contains no numbers: the header must declare it as Integer or Float");
    }
    return numbers_;
  }

  // Fails while reading the next record, which `records_` does not count yet.
  [[noreturn]] void fail_next(const std::string& problem) {
    ++records_;
    fail(problem);
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw FormatError(path_, is_text_ ? file_->lineno : 0,
                      "record " + std::to_string(records_) + ": " + problem);
  }

  // The fields of INFO with an integer for each ALT.
  std::vector<std::string> allele_counts() const {
    std::vector<std::string> names;
    for (int field = 0; field < header_->n[BCF_DT_ID]; ++field) {
      const bool is_there = header_->id[BCF_DT_ID][field].val != nullptr;  // IDX may leave gaps
      if (is_there && bcf_hdr_idinfo_exists(header_.get(), BCF_HL_INFO, field) &&
          is_declared(field, BCF_HT_INT, BCF_VL_A)) {
        names.emplace_back(bcf_hdr_int2id(header_.get(), BCF_DT_ID, field));
      }
    }
    return names;
  }

  const std::vector<int>& alleles() const { return alleles_; }

  std::string path_;
  InputFile input_;
  std::unique_ptr<htsFile, CloseFile> file_;
  std::unique_ptr<bcf_hdr_t, DestroyHeader> header_;
  std::unique_ptr<bcf1_t, DestroyRecord> record_;
  bool is_text_ = false;
  std::int64_t records_ = 0;

 private:
  bool read_binary() {
    const int status = bcf_read(file_.get(), header_.get(), record_.get());
    if (status < -1) fail_next("the data are damaged, or were cut short");
    return status == 0;
  }

  // Checks a line before htslib parses it. htslib would accept a truncated line, and would read a
  // word as position 0.
  bool read_text() {
    const int status = hts_getline(file_.get(), '\n', &file_->line);
    // If a block is damaged, htslib returns the part of a line before it as a whole line.
    const BGZF* const compressed = file_->is_bgzf != 0 ? file_->fp.bgzf : nullptr;
    if (status < -1 || (compressed != nullptr && compressed->errcode != 0)) {
      fail_next("the data are damaged, or were cut short");
    }
    if (status < 0) return false;
    const std::string_view line(file_->line.s, file_->line.l);
    // htslib would take a NUL for the line's end.
    if (const std::size_t at = line.find('\0'); at != line.npos) {
      fail_next(
          "byte " + std::to_string(at + 1) +
          " of the line is a NUL, which text cannot contain: the file is damaged. Fetch it again");
    }
    is_line_ = take_line(line);
    if (is_line_) return true;
    check_columns(line);
    if (record_->max_unpack == 0) check_samples(line);
    if (vcf_parse(&file_->line, header_.get(), record_.get()) != 0) {
      fail_next(problem_of(record_->errcode));
    }
    return true;
  }

  // Takes a line without htslib, if no more than that is needed and possible.
  bool take_line(std::string_view line) {
    const bool alone = record_->max_unpack == unpacked(RecordParts::kAlleles);
    if (alone ? !line_->take_alleles(line) : !changes_lines_ || !line_->take(line)) return false;
    record_->rid = line_->chromosome();
    record_->pos = line_->position() - 1;
    is_parsed_ = false;
    return true;
  }

  // Takes it as a record of htslib, with its changes.
  void parse_line() {
    std::string_view text = line_->text();
    text.remove_suffix(1);  // the newline
    check_columns(text);
    parsed_line_.l = 0;
    kputsn(text.data(), text.size(), &parsed_line_);
    if (vcf_parse(&parsed_line_, header_.get(), record_.get()) != 0) {
      fail(problem_of(record_->errcode));
    }
    check_record();
    is_parsed_ = true;
  }

  void check_record() const {
    if ((record_->errcode & ~kUndeclared) != 0) fail(problem_of(record_->errcode));
    if (bcf_unpack(record_.get(), BCF_UN_STR) != 0) fail(problem_of(0));
    if (record_->n_allele == 0) fail("the record has no REF");
  }

  void check_columns(std::string_view line) {
    int columns = 1;
    for (std::size_t tab = line.find('\t'); tab != line.npos && columns < kFixedColumns;
         tab = line.find('\t')) {
      check_value(columns, line.substr(0, tab));
      line.remove_prefix(tab + 1);
      ++columns;
    }
    if (columns < kFixedColumns) {
      fail_next("it has only " + std::to_string(columns) + " of the " +
                std::to_string(kFixedColumns) +
                " tab-separated columns from CHROM to INFO; was the file cut short?");
    }
    if (record_->max_unpack != unpacked(RecordParts::kAlleles)) {
      info_ = line.substr(0, line.find('\t'));
    }
  }

  // htslib reads a word as a missing number, and ignores text after a number: it reads 1e3 as 1.
  void check_numbers(std::string_view id, bool whole = false) {
    for (std::string_view rest = info_; !rest.empty();) {
      std::string_view values = next_part(rest, ';');
      if (next_part(values, '=') != id) continue;
      while (!values.empty()) {
        const std::string_view value = next_part(values, ',');
        const bool is_number = whole ? is_integer(value) : number_(value).has_value();
        if (value != "." && !is_number) {
          fail(std::string(id) + " is " + excerpt(value) + ", not a " + (whole ? "whole " : "") +
               "number");
        }
      }
      return;
    }
  }

  // htslib drops columns that the header does not declare.
  void check_samples(std::string_view line) {
    const int samples = bcf_hdr_nsamples(header_.get());
    const auto columns = 1 + static_cast<int>(count_tabs(line));
    if (samples > 0) {
      if (columns != kFixedColumns + 1 + samples) fail_next(problem_of(BCF_ERR_NCOLS));  // FORMAT
    } else if (columns != kFixedColumns) {
      fail_next(
          "it has columns after INFO, but the header names no samples, so they would be "
          "lost: correct the line #CHROM");
    }
  }

  // A sample may end before its GT if GT is not the first field. htslib cannot write such a
  // genotype, so it becomes a dot.
  void mend_genotypes() {
    const auto* const fields = reinterpret_cast<const std::uint8_t*>(record_->indiv.s);
    std::uint8_t* behind = nullptr;
    const auto first = static_cast<int>(bcf_dec_typed_int1(fields, &behind));
    if (std::strcmp(bcf_hdr_int2id(header_.get(), BCF_DT_ID, first), "GT") == 0) return;
    const bcf_fmt_t* const field = bcf_get_fmt(header_.get(), record_.get(), "GT");
    if (field == nullptr || field->n == 0) return;
    const auto samples = static_cast<std::size_t>(record_->n_sample);
    if (field->type == BCF_BT_INT8) write_dots<std::int8_t>(*field, samples);
    if (field->type == BCF_BT_INT16) write_dots<std::int16_t>(*field, samples);
    if (field->type == BCF_BT_INT32) write_dots<std::int32_t>(*field, samples);
  }

  // Refuses values that htslib would misread.
  void check_value(int column, std::string_view value) {
    constexpr int chromosome = 1;
    constexpr int position = 2;
    constexpr int ref = 4;
    constexpr int quality = 6;
    if (column == chromosome && value.empty()) fail_next("the chromosome's name is empty");
    if (column == position && !parse_whole_number(value)) {
      fail_next("the position is " + excerpt(value) + ", not a whole number");
    }
    if (column == ref && value.empty()) fail_next("REF is empty");
    if (column == quality && value != "." && !number_(value)) {
      fail_next("QUAL is " + excerpt(value) + ", not a number");
    }
  }

  void check_order() {
    const int chromosome = record_->rid;
    if (chromosome == chromosome_ && record_->pos < position_) {
      fail("position " + std::to_string(record_->pos + 1) + " comes after " +
           std::to_string(position_ + 1) + ": sort the file, for example by bcftools sort");
    }
    if (chromosome != chromosome_) {
      const auto index = static_cast<std::size_t>(chromosome);
      if (seen_.size() <= index) seen_.resize(index + 1);
      if (seen_[index]) {
        fail(std::string("chromosome '") + bcf_seqname(header_.get(), record_.get()) +
             "' comes a second time: sort the file, for example by bcftools sort");
      }
      seen_[index] = true;
      chromosome_ = chromosome;
      name_ = bcf_seqname(header_.get(), record_.get());
      length_ = static_cast<std::int64_t>(header_->id[BCF_DT_CTG][index].val->info[0]);
    }
    position_ = record_->pos;
  }

  void check_position() const {
    const std::int64_t position = record_->pos + 1;
    if (position < 0) fail("the position is " + std::to_string(position) + ", below 0");
    if (length_ > 0 && position > length_) {
      fail("position " + std::to_string(position) + " of '" +
           bcf_seqname(header_.get(), record_.get()) +
           "' is beyond its end: the header declares length=" + std::to_string(length_) +
           ". Correct the header, for example by bcftools reheader --fai, or leave the record out");
    }
  }

  // Refuses records that htslib would not write, or would write differently.
  void check_fields() {
    if (static_cast<int>(record_->n_sample) != bcf_hdr_nsamples(header_.get())) {
      fail(problem_of(BCF_ERR_NCOLS));
    }
    if (bcf_unpack(record_.get(), BCF_UN_FMT) != 0) fail(problem_of(0));
    const bcf_fmt_t* const fields = record_->d.fmt;
    const bcf_fmt_t* const end = fields + record_->n_fmt;
    for (const bcf_fmt_t* field = fields; field != end; ++field) {
      const auto is_same = [&](const bcf_fmt_t& other) { return other.id == field->id; };
      if (std::any_of(fields, field, is_same)) {
        fail(std::string("FORMAT names ") + bcf_hdr_int2id(header_.get(), BCF_DT_ID, field->id) +
             " twice: remove one");
      }
    }
  }

  // True if a field of INFO has this type and number of values; with BCF_VL_FIXED, one.
  bool is_declared(int field, std::uint32_t type, std::uint32_t length) const {
    return bcf_hdr_id2type(header_.get(), BCF_HL_INFO, field) == type &&
           bcf_hdr_id2length(header_.get(), BCF_HL_INFO, field) == length &&
           (length != BCF_VL_FIXED || bcf_hdr_id2number(header_.get(), BCF_HL_INFO, field) == 1);
  }

  // Null if the record lacks the field. Fails if the record has it several times, as htslib takes
  // the first.
  const bcf_info_t* info(const char* id) {
    const bcf_info_t* const field = bcf_get_info(header_.get(), record(), id);
    if (field == nullptr) return nullptr;
    const bcf_info_t* const end = record_->d.info + record_->n_info;
    const auto is_same = [&](const bcf_info_t& other) { return other.key == field->key; };
    if (std::any_of(field + 1, end, is_same)) fail(std::string(id) + " is in INFO more than once");
    return field;
  }

  bool has_no_alleles() const { return alleles_.size() < stored_.size(); }

  // Renumbers the genotypes' alleles after some alleles were left out.
  void leave_out_alleles() {
    std::vector<int> numbers(stored_.size(), kMissingAllele);
    for (std::size_t i = 0; i < alleles_.size(); ++i) {
      numbers[static_cast<std::size_t>(alleles_[i])] = static_cast<int>(i);
    }
    for (int& allele : genotypes_.alleles) {
      if (allele >= 0) allele = numbers[static_cast<std::size_t>(allele)];
    }
  }

  // The non-negative integers of a field with this many values; empty for any other field.
  std::optional<std::vector<std::int64_t>> info_integers(const char* id, int n) {
    const bcf_info_t* const field = info(id);
    if (field == nullptr || field->len != n || n < 1) return {};
    if (is_text_) check_numbers(id, true);
    std::vector<std::int64_t> numbers;
    for (int i = 0; i < n; ++i) {
      const std::uint8_t* const at = field->vptr + (i << bcf_type_shift[field->type]);
      numbers.push_back(integer_at(at, field->type));
      if (numbers.back() < 0) return {};  // a missing number is negative too
    }
    return numbers;
  }

  void check_alleles() const {
    const auto n = static_cast<int>(stored_.size());
    const auto is_wrong = [n](int allele) { return allele < kNoAllele || allele >= n; };
    const auto& alleles = genotypes_.alleles;
    int any_wrong = 0;  // a sum without branches is faster than a search
    for (const int allele : alleles) any_wrong += static_cast<int>(is_wrong(allele));
    if (any_wrong == 0) return;
    const auto wrong = std::find_if(alleles.begin(), alleles.end(), is_wrong);
    const auto sample = (wrong - alleles.begin()) / genotypes_.ploidy;
    fail("sample " + excerpt(header_->samples[sample]) + " has the allele " +
         std::to_string(*wrong) + ", but the record has alleles 0 to " + std::to_string(n - 1));
  }

  NumberParser number_;
  std::optional<VcfLine> line_;
  bool changes_lines_ = false;
  bool is_line_ = false;    // the record is line_
  bool is_parsed_ = false;  // record_ is it too
  FreedText parsed_line_;
  std::string info_;                      // the line's INFO, if INFO is parsed
  std::vector<std::string_view> stored_;  // all alleles
  std::vector<int> alleles_;              // those not left out, by their positions among all
  Genotypes genotypes_;
  SampleNumbers numbers_;
  int chromosome_ = -1;
  std::string_view name_;    // of the chromosome
  std::int64_t length_ = 0;  // of the chromosome, as declared in the header, or 0
  hts_pos_t position_ = 0;
  std::vector<bool> seen_;  // by the chromosome's index in the header
};

std::string htslib_version() { return hts_version(); }

VariantReader::VariantReader(const std::string& path, int threads, RecordParts parts,
                             const InputIdentities& inputs)
    : impl_(std::make_unique<Impl>(path, threads, parts, inputs)) {}
VariantReader::~VariantReader() = default;

bool VariantReader::next() { return impl_->next(); }
std::string_view VariantReader::chromosome() const { return impl_->chromosome(); }
std::int64_t VariantReader::position() const { return impl_->record_->pos + 1; }
std::string_view VariantReader::id() const { return impl_->id(); }
int VariantReader::alleles() const { return static_cast<int>(impl_->alleles().size()); }
std::string_view VariantReader::allele(int i) const {
  return impl_->stored()[static_cast<std::size_t>(stored_index(i))];
}
int VariantReader::stored_alleles() const { return static_cast<int>(impl_->stored().size()); }
int VariantReader::stored_index(int i) const {
  return impl_->alleles()[static_cast<std::size_t>(i)];
}
std::int64_t VariantReader::records() const { return impl_->records_; }
std::int64_t VariantReader::consumed() const { return impl_->consumed(); }
const std::string& VariantReader::path() const { return impl_->path_; }
void VariantReader::fail(const std::string& problem) const { impl_->fail(problem); }

std::optional<std::string_view> VariantReader::info_text(const char* id) {
  return impl_->info_text(id);
}
std::vector<float> VariantReader::info_numbers(const char* id) { return impl_->info_numbers(id); }
std::optional<AltCount> VariantReader::info_counts(const CountFields& fields) {
  return impl_->info_counts(fields);
}
std::optional<AltCount> VariantReader::stated_counts(const CountFields& fields) {
  return impl_->stated_counts(fields);
}
void VariantReader::require_declared(const CountFields& fields) const {
  impl_->require_declared(fields.copies, BCF_VL_A, "A");
  impl_->require_declared(fields.called, BCF_VL_FIXED, "1");
}
std::int64_t VariantReader::end() { return impl_->end(); }
const Genotypes& VariantReader::genotypes() { return impl_->genotypes(); }
bool VariantReader::is_phased(std::size_t sample) const { return impl_->is_phased(sample); }
bool VariantReader::declares_sample_field(const char* id) const {
  bcf_hdr_t* const header = impl_->header_.get();
  const int field = bcf_hdr_id2int(header, BCF_DT_ID, id);
  return bcf_hdr_idinfo_exists(header, BCF_HL_FMT, field);
}
const SampleNumbers& VariantReader::sample_numbers(const char* id) {
  return impl_->sample_numbers(id);
}

std::int64_t VariantReader::declared_length() const { return impl_->declared_length(); }

std::vector<std::string> VariantReader::samples() const {
  char** const names = impl_->header_->samples;
  return {names, names + bcf_hdr_nsamples(impl_->header_.get())};
}

std::vector<std::string> VariantReader::declared() const {
  int n = 0;
  const std::unique_ptr<const char*, decltype(&std::free)> names(
      bcf_hdr_seqnames(impl_->header_.get(), &n), &std::free);
  return {names.get(), names.get() + n};
}

namespace {

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.npos, end) == 0;
}

const char* const standard_output = "-";

// Compression level 5 takes little more than half the time of 6, htslib's own, and a few percent
// more space.
const char* mode_of(const std::string& path) {
  if (path == standard_output || ends_with(path, ".vcf")) return "w";
  if (ends_with(path, ".vcf.gz")) return "wz5";
  if (ends_with(path, ".bcf")) return "wb5";
  throw InputError("'" + path + "' must end in .vcf, .vcf.gz or .bcf");
}

std::string declaration(const InfoField& field) {
  return "##INFO=<ID=" + field.id + ",Number=" + field.number + ",Type=" + field.type +
         ",Description=\"" + field.description + "\">";
}

}  // namespace

class VariantWriter::Impl {
 public:
  Impl(VariantReader::Impl& reader, const std::string& path, int threads)
      : mode_(mode_of(path)), reader_(reader), swap_(header()), path_(path) {
    if (path != standard_output) output_.emplace(path, 0);
    file_.reset(hts_open(output_ ? local_name(output_->temporary()).c_str() : "-", mode_));
    if (!file_) fail();
    if (threads > 0) hts_set_threads(file_.get(), threads);
    reader_.record_->max_unpack = 0;
    if (mode_[1] != 'b') reader_.change_lines();
  }

  bcf_hdr_t* header() { return reader_.header_.get(); }

  void declare(const HeaderAdditions& additions) {
    for (const auto& field : additions.fields) {
      bcf_hdr_remove(header(), BCF_HL_INFO, field.id.c_str());
      append(declaration(field));
    }
    for (const auto& [id, description] : additions.filters) {
      bcf_hdr_remove(header(), BCF_HL_FLT, id.c_str());
      append("##FILTER=<ID=" + id + ",Description=\"" + description + "\">");
    }
    for (const auto& name : additions.chromosomes) append("##contig=<ID=" + name + ">");
    for (const auto& line : additions.lines) append(line);
    if (bcf_hdr_sync(header()) != 0 || bcf_hdr_write(file_.get(), header()) != 0) fail();
  }

  void set_text(const char* id, const std::string& value) {
    if (VcfLine* const line = line_to_add(id)) return line->add_info(id, value);
    update(id, value.c_str(), 1, BCF_HT_STR);
  }

  void set_numbers(const char* id, const std::vector<float>& values) {
    VcfLine* const line = line_to_add(id);
    if (line == nullptr) {
      return update(id, values.data(), static_cast<int>(values.size()), BCF_HT_REAL);
    }
    if (values.size() == 1) return line->add_info(id, text_of(values.front()));
    write_numbers(values.data(), values.size());
    line->add_info(id, {number_text_.s, number_text_.l});
  }

  // Does nothing if the header does not declare the field.
  void remove(const char* id) {
    const VcfLine* const line = reader_.line();
    if (line != nullptr && !line->has_info(id)) return;
    const int number = bcf_hdr_id2int(header(), BCF_DT_ID, id);
    if (bcf_hdr_idinfo_exists(header(), BCF_HL_INFO, number)) update(id, nullptr, 0, BCF_HT_STR);
  }

  void set_filter(const char* id, bool failed) {
    const VcfLine* const line = reader_.line();
    if (line != nullptr && line->has_filter(id) == failed) return;
    if (line != nullptr && failed) return reader_.line_to_change()->add_filter(id);
    bcf1_t* const record = reader_.record_to_change();
    const int number = bcf_hdr_id2int(header(), BCF_DT_ID, id);
    if (failed) {
      bcf_add_filter(header(), record, number);
    } else {
      bcf_remove_filter(header(), record, number, 1);
    }
  }

  void swap_alleles(const char* id) {
    const int alt = reader_.alleles()[1];
    bcf1_t* const record = reader_.record_to_change();
    if (is_text(bcf_get_info(header(), record, id), record->d.allele[alt])) {
      remove(id);
    } else {
      update(id, record->d.allele[0], 1, BCF_HT_STR);
    }
    if (const char* const problem = swap_.apply(record, alt)) reader_.fail(problem);
    reader_.find_alleles();
  }

  void keep(const std::vector<std::string>& fields) { swap_.keep(fields); }
  const AlleleSwap& swap() const { return swap_; }

  void write() {
    if (reader_.line() != nullptr) return write_text(reader_.line_to_change()->text());
    bcf1_t* const record = reader_.record();
    // VCF stores names, so it needs no declarations. BCF refers to declarations by their indices.
    if (record->errcode != 0 && file_->format.format == bcf) {
      reader_.fail(
          "its chromosome or a tag is not declared in the header, which BCF needs. Write VCF, or "
          "declare it");
    }
    if (record->pos > std::numeric_limits<std::int32_t>::max() && file_->format.format == bcf) {
      reader_.fail("its position is too large for BCF. Write VCF");
    }
    record->errcode = 0;
    if (bcf_write(file_.get(), header(), record) != 0) fail();
  }

  void commit(const TaskContext& context) {
    if (hts_close(file_.release()) != 0) fail();
    if (!output_) return;
    output_->sync(context);
    output_->prepare();
    output_->commit();
  }

 private:
  // The record's line, if the field can be added to it; else null.
  VcfLine* line_to_add(const char* id) {
    const bool can_be_added = reader_.line() != nullptr && !reader_.line()->has_info(id);
    return can_be_added ? reader_.line_to_change() : nullptr;
  }

  // Writes numbers as htslib does, into number_text_.
  void write_numbers(const float* values, std::size_t n) {
    number_text_.l = 0;
    float* const unchanged = const_cast<float*>(values);
    if (bcf_fmt_array(&number_text_, static_cast<int>(n), BCF_BT_FLOAT, unchanged) != 0) fail();
  }

  // Probabilities recur, and htslib takes long to write one.
  const std::string& text_of(float number) {
    std::uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    auto& [known, text] = known_texts_[bits * 0x9e3779b9U >> (32 - kKnownBits)];
    if (text.empty() || known != bits) {
      write_numbers(&number, 1);
      known = bits;
      text.assign(number_text_.s, number_text_.l);
    }
    return text;
  }

  void update(const char* id, const void* values, int n, int type) {
    bcf1_t* const record = reader_.record_to_change();
    remove_repeats(record, id);
    if (bcf_update_info(header(), record, id, values, n, type) != 0) {
      reader_.fail(std::string("cannot change ") + id + " in it");
    }
  }

  // Removes all fields of one name but the first. No record should have several, and htslib changes
  // only the first.
  void remove_repeats(bcf1_t* record, const char* id) {
    const bcf_info_t* const first = bcf_get_info(header(), record, id);
    if (first == nullptr) return;
    bcf_info_t* const end = record->d.info + record->n_info;
    for (bcf_info_t* field = record->d.info; field != end; ++field) {
      if (field->key != first->key || field == first || field->vptr == nullptr) continue;
      field->vptr = nullptr;
      record->d.shared_dirty |= BCF1_DIRTY_INF;
    }
  }

  // htslib puts whole lines into its blocks too.
  void write_text(const std::string& text) {
    const bool is_plain = file_->format.compression == no_compression;
    if (!is_plain && bgzf_flush_try(file_->fp.bgzf, static_cast<ssize_t>(text.size())) < 0) fail();
    const ssize_t written = is_plain ? hwrite(file_->fp.hfile, text.data(), text.size())
                                     : bgzf_write(file_->fp.bgzf, text.data(), text.size());
    if (written != static_cast<ssize_t>(text.size())) fail();
  }

  static bool is_text(const bcf_info_t* field, std::string_view text) {
    if (field == nullptr || field->vptr == nullptr || field->type != BCF_BT_CHAR) return false;
    const std::string_view value(reinterpret_cast<const char*>(field->vptr),
                                 static_cast<std::size_t>(field->len));
    return value == text;
  }

  void append(const std::string& line) {
    if (bcf_hdr_append(header(), line.c_str()) < 0) {
      throw FormatError(reader_.path_, 0, "cannot add to the header: " + excerpt(line));
    }
  }

  [[noreturn]] void fail() const {
    if (!output_ && errno == EPIPE) throw_closed_output();
    throw FileError(path_, "cannot write the file; is the disk full?");
  }

  const char* mode_;
  VariantReader::Impl& reader_;
  AlleleSwap swap_;
  const std::string path_;
  std::optional<OutputFile> output_;  // none for the standard output
  std::unique_ptr<htsFile, CloseFile> file_;
  FreedText number_text_;
  static constexpr int kKnownBits = 8;
  // The text of a float, by its bits.
  std::array<std::pair<std::uint32_t, std::string>, std::size_t{1} << kKnownBits> known_texts_;
};

VariantWriter::VariantWriter(VariantReader& reader, const std::string& path,
                             const HeaderAdditions& additions, int threads)
    : impl_(std::make_unique<Impl>(*reader.impl_, path, threads)) {
  impl_->declare(additions);
}
VariantWriter::~VariantWriter() = default;

void VariantWriter::set_text(const char* id, const std::string& value) {
  impl_->set_text(id, value);
}
void VariantWriter::set_numbers(const char* id, const std::vector<float>& values) {
  impl_->set_numbers(id, values);
}
void VariantWriter::remove(const char* id) { impl_->remove(id); }
void VariantWriter::set_filter(const char* id, bool failed) { impl_->set_filter(id, failed); }
void VariantWriter::swap_alleles(const char* id) { impl_->swap_alleles(id); }
void VariantWriter::keep(const std::vector<std::string>& fields) { impl_->keep(fields); }
void VariantWriter::write() { impl_->write(); }
const std::map<std::string, std::int64_t>& VariantWriter::dropped() const {
  return impl_->swap().dropped();
}
void VariantWriter::commit(const TaskContext& context) { impl_->commit(context); }

}  // namespace ancify

#else

namespace ancify {

class VariantReader::Impl {};

namespace {
[[noreturn]] void refuse() {
  throw InputError("this build cannot read VCF and BCF, as it has no htslib");
}
}  // namespace

std::string htslib_version() { return {}; }

VariantReader::VariantReader(const std::string&, int, RecordParts, const InputIdentities&) {
  refuse();
}
VariantReader::~VariantReader() = default;
bool VariantReader::next() { refuse(); }
std::string_view VariantReader::chromosome() const { refuse(); }
std::int64_t VariantReader::position() const { refuse(); }
std::string_view VariantReader::id() const { refuse(); }
int VariantReader::alleles() const { refuse(); }
std::string_view VariantReader::allele(int) const { refuse(); }
int VariantReader::stored_alleles() const { refuse(); }
int VariantReader::stored_index(int) const { refuse(); }
std::int64_t VariantReader::records() const { refuse(); }
std::int64_t VariantReader::consumed() const { refuse(); }
std::optional<std::string_view> VariantReader::info_text(const char*) { refuse(); }
std::vector<float> VariantReader::info_numbers(const char*) { refuse(); }
std::optional<AltCount> VariantReader::info_counts(const CountFields&) { refuse(); }
std::optional<AltCount> VariantReader::stated_counts(const CountFields&) { refuse(); }
void VariantReader::require_declared(const CountFields&) const { refuse(); }
std::int64_t VariantReader::end() { refuse(); }
const Genotypes& VariantReader::genotypes() { refuse(); }
bool VariantReader::is_phased(std::size_t) const { refuse(); }
bool VariantReader::declares_sample_field(const char*) const { refuse(); }
const SampleNumbers& VariantReader::sample_numbers(const char*) { refuse(); }
std::vector<std::string> VariantReader::samples() const { refuse(); }
std::vector<std::string> VariantReader::declared() const { refuse(); }
std::int64_t VariantReader::declared_length() const { refuse(); }
const std::string& VariantReader::path() const { refuse(); }
void VariantReader::fail(const std::string&) const { refuse(); }

class VariantWriter::Impl {};
VariantWriter::VariantWriter(VariantReader&, const std::string&, const HeaderAdditions&, int) {
  refuse();
}
VariantWriter::~VariantWriter() = default;
void VariantWriter::set_text(const char*, const std::string&) { refuse(); }
void VariantWriter::set_numbers(const char*, const std::vector<float>&) { refuse(); }
void VariantWriter::remove(const char*) { refuse(); }
void VariantWriter::set_filter(const char*, bool) { refuse(); }
void VariantWriter::swap_alleles(const char*) { refuse(); }
void VariantWriter::keep(const std::vector<std::string>&) { refuse(); }
void VariantWriter::write() { refuse(); }
const std::map<std::string, std::int64_t>& VariantWriter::dropped() const { refuse(); }
void VariantWriter::commit(const TaskContext&) { refuse(); }

}  // namespace ancify

#endif

namespace ancify {

ReadingProgress::ReadingProgress(const std::string& path, JobControl& control) : control_(control) {
  control_.expect(InputFile(path).size());
}

void ReadingProgress::record(const VariantReader& reader) {
  const std::int64_t consumed = reader.consumed();
  if (consumed == consumed_) return;
  control_.advance(consumed - consumed_);
  consumed_ = consumed;
}

}  // namespace ancify
