// Reads the index and the records of a PGEN file.
// Source: PLINK 2 File Format Specification Draft, sections 2.1 and 2.2.
#include "core/formats/genotype/pgen_genotypes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "core/exec/errors.h"
#include "core/formats/genotype/pgen_record.h"
#include "core/io/little_endian.h"
#include "core/io/read_ahead.h"

namespace ancify {

namespace {

constexpr std::int64_t kModeAt = 2;
constexpr std::int64_t kCountsAt = 3;
constexpr std::int64_t kControlAt = 11;
constexpr std::int64_t kHeaderEnd = 12;
constexpr unsigned kModeOfRecords = 0x10;
constexpr std::int64_t kMagicEnd = 3;
// The index stores variants in blocks. A block's first record has no base.
constexpr std::int64_t kBlock = 1 << 16;
// Bytes of records to read at a time, unless a single record is larger.
constexpr std::int64_t kRecordsAtOnce = 1 << 18;

std::int64_t bytes_of_bits(std::int64_t bits) { return (bits + 7) / 8; }

// True if the header stores, in a bit for each variant, which REF alleles are provisional.
bool has_reference_bits(unsigned control) { return control >> 6 == 3; }

// Records of any length follow an index, in the file or in one of its own.
bool has_index(unsigned mode) { return mode >= kModeOfRecords; }
bool has_extensions(unsigned mode) { return has_index(mode) && mode % 2 == 1; }

// The type of all records of the storage modes 02 to 04.
std::uint8_t type_of_mode(unsigned mode) {
  constexpr std::array<std::uint8_t, 3> types = {0x00, 0x40, 0xc0};
  return types[mode - 2];
}

}  // namespace

PgenGenotypes::PgenGenotypes(InputFile file, std::optional<InputFile> index, std::int64_t samples,
                             std::int64_t variants, const std::vector<int>& alts, bool dosages)
    : file_(std::move(file)), index_(std::move(index)), samples_(samples), variants_(variants) {
  if (!alts.empty()) {
    if (static_cast<std::int64_t>(alts.size()) != variants ||
        std::any_of(alts.begin(), alts.end(), [](int n) { return n < 1; })) {
      throw InputError("each variant of a PGEN must have a number of ALT alleles");
    }
    rows_.push_back(0);
    for (const int n : alts) rows_.push_back(rows_.back() + n);
  }
  const auto header = bytes_at(0, kHeaderEnd);
  check_counts(little_endian(&header[kCountsAt + 4], 4), little_endian(&header[kCountsAt], 4));
  const unsigned control = header[kControlAt];
  const unsigned mode = header[kModeAt];
  std::int64_t records_end = file_.size();
  if (has_index(mode)) {
    std::int64_t end = index_records(control);
    if (has_extensions(mode)) {
      const PgenExtensions extensions = extensions_at(end);
      end += extensions.size;
      records_end = extensions.footer.value_or(records_end);
    }
    check_header_end(end);
  } else {
    index_equal_records(mode, control);
  }
  gives_dosages_ = dosages && with_dosages() > 0;
  if (begins_.back() == records_end && records_end <= file_.size()) return;
  refuse("its records end at byte " + std::to_string(begins_.back()) + ", but should end at byte " +
         std::to_string(records_end));
}

void PgenGenotypes::refuse(const std::string& problem) const {
  throw FormatError(file_.path(), 0, problem);
}

void PgenGenotypes::refuse_header(const std::string& problem) const {
  throw FormatError(header_file().path(), 0, problem);
}

void PgenGenotypes::refuse_variant(std::int64_t variant, const std::string& problem) const {
  refuse("variant " + std::to_string(variant + 1) + " " + problem);
}

void PgenGenotypes::refuse_record(std::int64_t variant, const char* problem) const {
  refuse_variant(variant, std::string("has a damaged record: ") + problem);
}

std::vector<std::uint8_t> PgenGenotypes::bytes_at(std::int64_t offset, std::int64_t n) const {
  if (n > header_file().size() - offset) {
    refuse_header("the file is cut short: its index is not whole");
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(n));
  header_file().read_at(reinterpret_cast<char*>(bytes.data()), bytes.size(), offset);
  return bytes;
}

void PgenGenotypes::check_counts(std::int64_t samples, std::int64_t variants) const {
  if (samples == samples_ && variants == variants_) return;
  refuse_header("the file has " + std::to_string(samples) + " samples and " +
                std::to_string(variants) + " variants, but the files beside it " +
                std::to_string(samples_) + " and " + std::to_string(variants_));
}

void PgenGenotypes::check_unchanged() const {
  file_.check_unchanged();
  if (index_) index_->check_unchanged();
}

void PgenGenotypes::index_equal_records(unsigned mode, unsigned control) {
  const std::uint8_t type = type_of_mode(mode);
  std::int64_t begin = kHeaderEnd;
  if (has_reference_bits(control)) begin += bytes_of_bits(variants_);
  std::int64_t size = stride();
  if (has_dosages(type)) size += 2 * samples_;
  if (has_phased_dosages(type)) size += 2 * samples_;
  if (variants_ > (file_.size() - begin) / size) refuse("the file is cut short");
  types_.assign(static_cast<std::size_t>(variants_), type);
  begins_.reserve(types_.size() + 1);
  for (std::int64_t i = 0; i <= variants_; ++i) begins_.push_back(begin + i * size);
}

std::int64_t PgenGenotypes::index_records(unsigned control) {
  if ((control & 0xfU) > 7) refuse_variant(0, "is stored in a form for one sample alone");
  const std::int64_t blocks = (variants_ + kBlock - 1) / kBlock;
  constexpr std::int64_t offset_bytes = 8;
  const auto offsets = bytes_at(kHeaderEnd, blocks * offset_bytes);
  std::int64_t index = kHeaderEnd + blocks * offset_bytes;
  begins_.push_back(little_endian(offsets.data(), offset_bytes));
  if (begins_.front() < 0 || begins_.front() > file_.size()) refuse("the file is cut short");
  for (std::int64_t block = 0; block < blocks; ++block) {
    if (little_endian(&offsets[static_cast<std::size_t>(block * offset_bytes)], offset_bytes) !=
        begins_.back()) {
      refuse_variant(block * kBlock, "does not begin where the variant before it ends");
    }
    const std::int64_t first = block * kBlock;
    index = index_block(control, first, std::min(kBlock, variants_ - first), index);
  }
  if (begins_.front() < (index_ ? kMagicEnd : index)) {
    refuse_variant(0, "begins within the index of the file");
  }
  return index;
}

PgenExtensions PgenGenotypes::extensions_at(std::int64_t offset) const {
  const std::int64_t limit = index_ ? index_->size() : begins_.front();
  const auto bytes = bytes_at(offset, std::min(limit - offset, kMostPgenExtensionBytes));
  const auto extensions = read_pgen_extensions(bytes);
  if (!extensions) refuse_header("the extensions of its header are damaged");
  return *extensions;
}

// A header in the file itself may be followed by unused bytes.
void PgenGenotypes::check_header_end(std::int64_t end) const {
  if (index_ ? end == index_->size() : end <= begins_.front()) return;
  refuse_header("its header ends at byte " + std::to_string(end) + ", but should end at byte " +
                std::to_string(index_ ? index_->size() : begins_.front()));
}

std::int64_t PgenGenotypes::index_block(unsigned control, std::int64_t first, std::int64_t n,
                                        std::int64_t offset) {
  const bool wide_types = (control & 4U) != 0;
  const std::int64_t length_bytes = 1 + (control & 3U);
  const std::int64_t allele_bytes = control >> 4 & 3U;
  const std::int64_t types_size = wide_types ? n : (n + 1) / 2;
  const std::int64_t lengths_size = n * length_bytes;
  const auto bytes = bytes_at(offset, types_size + lengths_size + n * allele_bytes);
  const std::uint8_t* const lengths = bytes.data() + types_size;
  const std::uint8_t* const alleles = lengths + lengths_size;
  for (std::int64_t i = 0; i < n; ++i) {
    const unsigned type = wide_types ? bytes[static_cast<std::size_t>(i)]
                                     : bytes[static_cast<std::size_t>(i / 2)] >> 4 * (i % 2) & 0xfU;
    types_.push_back(static_cast<std::uint8_t>(type));
    begins_.push_back(begins_.back() + little_endian(lengths + i * length_bytes, length_bytes));
    check_record(first + i);
    if (allele_bytes > 0) {
      const std::int64_t count = little_endian(alleles + i * allele_bytes, allele_bytes);
      check_alts(first + i, std::max<std::int64_t>(count - 1, 1));
    }
  }
  const std::int64_t end = offset + static_cast<std::int64_t>(bytes.size());
  return has_reference_bits(control) ? end + bytes_of_bits(n) : end;
}

void PgenGenotypes::check_record(std::int64_t variant) const {
  const auto at = static_cast<std::size_t>(variant);
  if (variant % kBlock == 0 && needs_base(pgen_track(types_[at]))) {
    refuse_variant(variant, "is stored as differences, but there is no variant before it");
  }
  if (has_several_alts(types_[at]) && alts_of(variant) == 1) {
    refuse_variant(variant,
                   "has several ALT alleles, but one in the file beside it. Is that its own?");
  }
  if (begins_[at + 1] - begins_[at] > longest_pgen_record(types_[at], samples_)) {
    refuse_variant(variant, "has a record of " + std::to_string(begins_[at + 1] - begins_[at]) +
                                " bytes, too many for " + std::to_string(samples_) + " samples");
  }
}

std::int64_t PgenGenotypes::alts_of(std::int64_t variant) const {
  const auto at = static_cast<std::size_t>(variant);
  return rows_.empty() ? 1 : rows_[at + 1] - rows_[at];
}

void PgenGenotypes::check_alts(std::int64_t variant, std::int64_t in_index) const {
  if (in_index == alts_of(variant)) return;
  refuse_variant(variant, "has " + std::to_string(in_index) +
                              " ALT alleles, but in the file beside it " +
                              std::to_string(alts_of(variant)) + ". Is that its own?");
}

std::vector<std::uint8_t> PgenGenotypes::read_base(std::int64_t variant) const {
  std::int64_t base = variant - 1;
  while (needs_base(pgen_track(types_[static_cast<std::size_t>(base)]))) --base;
  std::vector<std::uint8_t> calls(static_cast<std::size_t>(stride()));
  read_calls(base, 1, calls.data());
  return calls;
}

std::int64_t PgenGenotypes::with_dosages() const {
  return std::count_if(types_.begin(), types_.end(), has_dosages);
}

template <class WithOneAlt, class WithSeveral>
void PgenGenotypes::for_each_run(std::int64_t first, std::int64_t n, const WithOneAlt& with_one_alt,
                                 const WithSeveral& with_several) const {
  if (rows_.empty()) {
    with_one_alt(first, n, 0);
    return;
  }
  auto variant = std::upper_bound(rows_.begin(), rows_.end(), first) - rows_.begin() - 1;
  for (std::int64_t place = 0; place < n;) {
    std::int64_t next = variant;
    while (place + (next - variant) < n && alts_of(next) == 1) ++next;
    with_one_alt(variant, next - variant, place);
    place += next - variant;
    variant = next;
    if (place == n) return;
    const std::int64_t alt = first + place - rows_[static_cast<std::size_t>(variant)];
    const std::int64_t end = std::min(alts_of(variant), alt + n - place);
    with_several(variant, alt, end, place);
    place += end - alt;
    ++variant;
  }
}

template <class Use>
void PgenGenotypes::for_each_record(std::int64_t first, std::int64_t n, const Use& use) const {
  std::vector<char> records;
  const auto* const begin = begins_.data() + first;
  std::int64_t next = 0;
  for (std::int64_t from = 0; from < n; from = next) {
    next = from + 1;
    while (next < n && begin[next + 1] - begin[from] <= kRecordsAtOnce) ++next;
    records.resize(static_cast<std::size_t>(begin[next] - begin[from]));
    file_.read_at(records.data(), records.size(), begin[from]);
    for (std::int64_t i = from; i < next; ++i) {
      const std::string_view record(records.data() + (begin[i] - begin[from]),
                                    static_cast<std::size_t>(begin[i + 1] - begin[i]));
      use(first + i, record);
    }
  }
}

void PgenGenotypes::read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const {
  for_each_run(
      first, n,
      [&](std::int64_t variant, std::int64_t run, std::int64_t place) {
        read_calls(variant, run, calls + place * stride());
      },
      [&](std::int64_t variant, std::int64_t alt, std::int64_t end, std::int64_t place) {
        read_alts(variant, alt, end, calls + place * stride());
      });
}

void PgenGenotypes::read_dosages(std::int64_t first, std::int64_t n, Dosage* dosages,
                                 int* units) const {
  for_each_run(
      first, n,
      [&](std::int64_t variant, std::int64_t run, std::int64_t place) {
        read_one_alt_dosages(variant, run, dosages + place * samples_, units + place);
      },
      [&](std::int64_t variant, std::int64_t alt, std::int64_t end, std::int64_t place) {
        if (has_dosages(type_of(variant))) {
          refuse_variant(variant,
                         "has dosages of several ALT alleles, which are not read. Leave it out, or "
                         "read hard calls");
        }
        GenotypeFile::read_dosages(first + place, end - alt, dosages + place * samples_,
                                   units + place);
      });
}

void PgenGenotypes::read_alts(std::int64_t variant, std::int64_t alt, std::int64_t end,
                              std::uint8_t* calls) const {
  const auto at = static_cast<std::size_t>(variant);
  std::vector<std::uint8_t> before;
  if (needs_base(pgen_track(types_[at]))) before = read_base(variant);
  std::vector<char> record(static_cast<std::size_t>(begins_[at + 1] - begins_[at]));
  file_.read_at(record.data(), record.size(), begins_[at]);
  std::vector<std::uint8_t> categories(static_cast<std::size_t>(stride()));
  for (; alt < end; ++alt, calls += stride()) {
    const char* const problem =
        decode_pgen_alt(types_[at], {record.data(), record.size()}, samples_, before.data(),
                        alt + 1, alts_of(variant), categories.data(), calls);
    if (problem != nullptr) refuse_record(variant, problem);
  }
}

void PgenGenotypes::read_calls(std::int64_t first, std::int64_t n, std::uint8_t* calls) const {
  if (n == 0) return;
  std::vector<std::uint8_t> before;
  if (needs_base(pgen_track(type_of(first)))) before = read_base(first);
  const std::uint8_t* base = before.data();
  for_each_record(first, n, [&](std::int64_t variant, std::string_view record) {
    const std::uint8_t type = type_of(variant);
    std::uint8_t* const out = calls + (variant - first) * stride();
    const char* const problem = decode_pgen_record(type, record, samples_, base, out);
    if (problem != nullptr) refuse_record(variant, problem);
    if (!needs_base(pgen_track(type))) base = out;
  });
}

void PgenGenotypes::read_one_alt_dosages(std::int64_t first, std::int64_t n, Dosage* dosages,
                                         int* units) const {
  if (n == 0) return;
  std::vector<std::uint8_t> base(static_cast<std::size_t>(stride()));
  std::vector<std::uint8_t> calls(base.size());
  if (needs_base(pgen_track(type_of(first)))) base = read_base(first);
  for_each_record(first, n, [&](std::int64_t variant, std::string_view record) {
    const std::uint8_t type = type_of(variant);
    const std::int64_t place = variant - first;
    const char* const problem = decode_pgen_dosages(type, record, samples_, base.data(),
                                                    calls.data(), dosages + place * samples_);
    if (problem != nullptr) refuse_record(variant, problem);
    units[place] = has_dosages(type) ? kMostUnit : 1;
    if (!needs_base(pgen_track(type))) base.swap(calls);
  });
}

void PgenGenotypes::will_read(std::int64_t first, std::int64_t n) const {
  if (!rows_.empty()) return;  // several rows may share a record
  const auto* const begin = &begins_[static_cast<std::size_t>(first)];
  read_ahead(file_, begin[n] - begin[0], begin[0]);
}

}  // namespace ancify
