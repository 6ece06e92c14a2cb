// Goes through a BGEN file from variant to variant.
// Source: The BGEN format, versions 1.1 to 1.3.
#include "core/formats/genotype/bgen_index.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/io/little_endian.h"
#include "core/io/record_size.h"
#include "core/io/text.h"

namespace ancify {

namespace {

// Lengths of variable parts, the position, the number of alleles and the length of the block.
constexpr std::int64_t kFewestVariantBytes = 2 + 2 + 2 + 4 + 2 + 4;
constexpr std::int64_t kFewestHeaderBytes = 20;

[[noreturn]] void refuse_bgen(const std::string& path, const std::string& problem) {
  throw FormatError(path, 0, problem);
}

void check_flags(const std::string& path, std::int64_t flags) {
  const std::int64_t layout = flags >> 2 & 15;
  if (layout == 1) {
    refuse_bgen(path,
                "a BGEN of layout 1, which is not read. Write it anew with plink2 --bgen FILE "
                "ref-first --export bgen-1.2");
  }
  if (layout != 2) refuse_bgen(path, "a BGEN of the unknown layout " + std::to_string(layout));
  if ((flags & 3) == 3) refuse_bgen(path, "a BGEN of an unknown compression");
}

// Takes integers and texts one after the other. Few bytes are read at a time where most of the file
// is skipped.
class SkippingReader {
 public:
  explicit SkippingReader(const InputFile& file) : file_(file) {}

  void move_to(std::int64_t offset) { offset_ = offset; }
  std::int64_t offset() const { return offset_; }
  std::int64_t left() const { return file_.size() - offset_; }

  // Valid until the next call. Throws InputError if the file ends earlier.
  std::string_view take(std::int64_t n) {
    if (n > left()) throw InputError("ends too soon: the file was cut short");
    if (offset_ < begin_ || offset_ + n > begin_ + static_cast<std::int64_t>(bytes_.size())) {
      refill(n);
    }
    const std::size_t at = static_cast<std::size_t>(offset_ - begin_);
    offset_ += n;
    return std::string_view(bytes_).substr(at, static_cast<std::size_t>(n));
  }
  std::int64_t integer(std::int64_t n) {
    return little_endian(reinterpret_cast<const std::uint8_t*>(take(n).data()), n);
  }
  void skip(std::int64_t n) {
    if (n > left()) throw InputError("ends too soon: the file was cut short");
    offset_ += n;
  }

 private:
  void refill(std::int64_t n) {
    constexpr std::int64_t few = 1 << 12;
    constexpr std::int64_t many = 1 << 18;
    const bool is_near = offset_ - begin_ < many;
    bytes_.resize(static_cast<std::size_t>(std::min(left(), std::max(n, is_near ? many : few))));
    begin_ = offset_;
    file_.read_at(bytes_.data(), bytes_.size(), begin_);
  }

  const InputFile& file_;
  std::int64_t offset_ = 0;
  std::string bytes_;
  std::int64_t begin_ = 0;
};

void check_text(std::string_view text, const char* what) {
  if (is_utf8(text) && text.find('\0') == text.npos) return;
  throw InputError(std::string("has ") + what + " that is not UTF-8 text");
}

// A text behind its length, which takes `width` bytes.
std::string_view take_text(SkippingReader& reader, std::int64_t width, const char* what) {
  const std::int64_t size = reader.integer(width);
  if (size > static_cast<std::int64_t>(kLongestLine)) {
    throw InputError(std::string("has ") + what + " of " + std::to_string(size) +
                     " bytes, more than 1 MB");
  }
  const std::string_view text = reader.take(size);
  check_text(text, what);
  return text;
}

std::string_view dot_if_empty(std::string_view text) { return text.empty() ? "." : text; }

// 01 to 09, as biobanks write them, are 1 to 9.
std::string_view chromosome_name(std::string_view text) {
  const bool has_zero = text.size() == 2 && text[0] == '0' && text[1] >= '1' && text[1] <= '9';
  return dot_if_empty(text.substr(has_zero ? 1 : 0));
}

class BgenIndexer {
 public:
  explicit BgenIndexer(const InputFile& file) : file_(file), reader_(file) {
    index_.header = read_bgen_header(file);
  }

  BgenIndex read(JobControl& control) {
    if (index_.header.has_ids) take_ids();
    const TaskContext context(control);
    control.expect(file_.size());
    reader_.move_to(index_.header.variants_begin);
    for (std::int64_t i = 0; i < index_.header.variants; ++i) {
      context.throw_if_stopped();
      const std::int64_t begin = reader_.offset();
      try {
        take_variant(i);
      } catch (const InputError& error) {
        refuse_bgen(file_.path(), "variant " + std::to_string(i + 1) + " " + error.what());
      }
      control.advance(reader_.offset() - begin);
    }
    if (reader_.left() > 0) {
      refuse_bgen(file_.path(), std::to_string(reader_.left()) + " bytes follow its last variant");
    }
    index_.begins.push_back(file_.size());
    file_.check_unchanged();
    return std::move(index_);
  }

 private:
  void take_ids() {
    reader_.move_to(index_.header.ids_begin + 8);
    TextIndex known;
    for (std::int64_t i = 0; i < index_.header.samples; ++i) {
      const std::string sample = "sample " + std::to_string(i + 1) + " ";
      try {
        const std::string_view id = take_text(reader_, 2, "an ID");
        if (reader_.offset() > index_.header.variants_begin)
          throw InputError("lies beyond the IDs");
        if (id.empty()) throw InputError("has an empty ID");
        if (const auto earlier = known.find_or_note(index_.ids, id)) {
          throw InputError("has the ID " + excerpt(id) + " of sample " +
                           std::to_string(*earlier + 1));
        }
        index_.ids.add(id);
      } catch (const InputError& error) {
        refuse_bgen(file_.path(), sample + error.what());
      }
    }
  }

  void take_variant(std::int64_t number) {
    VariantTable& table = index_.variants;
    const std::string other_id(take_text(reader_, 2, "an ID"));
    const std::string_view id = take_text(reader_, 2, "an ID");
    table.id.add(dot_if_empty(id.empty() || id == "." ? other_id : id));
    table.chromosome.add(chromosome_name(take_text(reader_, 2, "a chromosome")));
    const std::int64_t position = reader_.integer(4);
    if (position > std::numeric_limits<std::int32_t>::max()) {
      throw InputError("has the position " + std::to_string(position) + ", beyond 2147483647");
    }
    table.position.push_back(static_cast<std::int32_t>(position));
    take_alleles(number);
    const std::int64_t block = reader_.offset();
    reader_.skip(reader_.integer(4));
    index_.begins.push_back(block);
  }

  void take_alleles(std::int64_t number) {
    const std::int64_t n = reader_.integer(2);
    if (n == 0) throw InputError("has no allele");
    if (n == 1) index_.one_allele.push_back(number);
    if (n > 2) index_.multiallelic.push_back(number);
    for (std::int64_t k = 0; k < n; ++k) {
      const std::string_view allele = take_text(reader_, 4, "an allele");
      if (n != 2) continue;
      (k == 0 ? index_.variants.other : index_.variants.counted).add(dot_if_empty(allele));
    }
    if (n == 2) return;
    index_.variants.other.add(".");
    index_.variants.counted.add(".");
  }

  const InputFile& file_;
  SkippingReader reader_;
  BgenIndex index_ = {};
};

}  // namespace

BgenHeader read_bgen_header(const InputFile& file) {
  constexpr std::int64_t header_at = 4;  // after the offset of the first variant
  std::array<std::uint8_t, header_at + kFewestHeaderBytes> start = {};
  if (file.size() < static_cast<std::int64_t>(start.size())) {
    refuse_bgen(file.path(), "not a BGEN file: it has " + std::to_string(file.size()) + " bytes");
  }
  file.read_at(reinterpret_cast<char*>(start.data()), start.size(), 0);
  const std::string_view magic(reinterpret_cast<const char*>(&start[16]), 4);
  if (magic != "bgen" && magic != std::string_view("\0\0\0\0", 4)) {
    refuse_bgen(file.path(), "not a BGEN file, whose bytes 17 to 20 are 'bgen'");
  }
  const std::int64_t size = little_endian(&start[header_at], 4);
  BgenHeader header = {};
  header.variants_begin = header_at + little_endian(start.data(), 4);
  header.variants = little_endian(&start[8], 4);
  header.samples = little_endian(&start[12], 4);
  header.ids_begin = header_at + size;
  if (size < kFewestHeaderBytes || header.ids_begin > header.variants_begin ||
      header.variants_begin > file.size()) {
    refuse_bgen(file.path(), "its header is damaged, or the file was cut short");
  }
  std::array<std::uint8_t, 4> flag_bytes;
  file.read_at(reinterpret_cast<char*>(flag_bytes.data()), flag_bytes.size(), header.ids_begin - 4);
  const std::int64_t flags = little_endian(flag_bytes.data(), 4);
  check_flags(file.path(), flags);
  header.compression = static_cast<BgenCompression>(flags & 3);
  header.has_ids = flags >> 31 != 0;
  if (header.samples == 0) refuse_bgen(file.path(), "it has no sample");
  if (header.variants == 0) refuse_bgen(file.path(), "it has no variant");
  if (header.variants > (file.size() - header.variants_begin) / kFewestVariantBytes) {
    refuse_bgen(file.path(), "the file was cut short: it has no space for its " +
                                 std::to_string(header.variants) + " variants");
  }
  if (header.has_ids) {
    const std::int64_t space = header.variants_begin - header.ids_begin - 8;
    if (header.samples > space / 2) {
      refuse_bgen(file.path(), "its header has no space for the IDs of " +
                                   std::to_string(header.samples) + " samples");
    }
  }
  return header;
}

BgenIndex read_bgen_index(const std::string& path, JobControl& control) {
  const InputFile file(path, control.inputs());
  return BgenIndexer(file).read(control);
}

}  // namespace ancify
