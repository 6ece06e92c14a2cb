// Exchanges REF and ALT of a record, with all fields that depend on them.
#ifdef ANCIFY_HAVE_HTSLIB

#include "core/formats/variant/allele_swap.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <string_view>

namespace ancify {

namespace {

// What each value of a field describes.
enum class ValueFor { kOther, kAlt, kAllele, kGenotype };

struct ReservedField {
  std::string_view id;
  int column;
  ValueFor value_for;
};

// Fields that VCF reserves, as older files declare them otherwise, mostly with Number=. or 1.
// Fields that name alleles in their own ways (GLE, and local alleles from VCF 4.5 on) can't be
// recomputed, and count as kAlt.
constexpr ReservedField kReserved[] = {
    {"AC", BCF_HL_INFO, ValueFor::kAlt},     {"AF", BCF_HL_INFO, ValueFor::kAlt},
    {"CIGAR", BCF_HL_INFO, ValueFor::kAlt},  {"AD", BCF_HL_INFO, ValueFor::kAllele},
    {"ADF", BCF_HL_INFO, ValueFor::kAllele}, {"ADR", BCF_HL_INFO, ValueFor::kAllele},
    {"AD", BCF_HL_FMT, ValueFor::kAllele},   {"ADF", BCF_HL_FMT, ValueFor::kAllele},
    {"ADR", BCF_HL_FMT, ValueFor::kAllele},  {"GL", BCF_HL_FMT, ValueFor::kGenotype},
    {"GP", BCF_HL_FMT, ValueFor::kGenotype}, {"PL", BCF_HL_FMT, ValueFor::kGenotype},
    {"PP", BCF_HL_FMT, ValueFor::kGenotype}, {"EC", BCF_HL_FMT, ValueFor::kAlt},
    {"GLE", BCF_HL_FMT, ValueFor::kAlt},     {"LAA", BCF_HL_FMT, ValueFor::kAlt},
    {"LGT", BCF_HL_FMT, ValueFor::kAlt},     {"LAD", BCF_HL_FMT, ValueFor::kAlt},
    {"LADF", BCF_HL_FMT, ValueFor::kAlt},    {"LADR", BCF_HL_FMT, ValueFor::kAlt},
    {"LEC", BCF_HL_FMT, ValueFor::kAlt},     {"LGL", BCF_HL_FMT, ValueFor::kAlt},
    {"LGP", BCF_HL_FMT, ValueFor::kAlt},     {"LPL", BCF_HL_FMT, ValueFor::kAlt},
    {"LPP", BCF_HL_FMT, ValueFor::kAlt}};

// Whether a field has Number=LA, LR or LG, which not every version of htslib knows.
bool is_by_local_allele(const bcf_hdr_t* header, int column, int key) {
  bcf_hrec_t* const declared = bcf_hdr_id2hrec(header, BCF_DT_ID, column, key);
  const int number = declared == nullptr ? -1 : bcf_hrec_find_key(declared, "Number");
  return number >= 0 && declared->vals[number][0] == 'L';
}

ValueFor value_for(const bcf_hdr_t* header, int column, int key) {
  const std::string_view id = bcf_hdr_int2id(header, BCF_DT_ID, key);
  for (const auto& field : kReserved) {
    if (field.column == column && field.id == id) return field.value_for;
  }
  switch (bcf_hdr_id2length(header, column, key)) {
    case BCF_VL_A:
      return ValueFor::kAlt;
    case BCF_VL_R:
      return ValueFor::kAllele;
    case BCF_VL_G:
      return ValueFor::kGenotype;
    default:
      return is_by_local_allele(header, column, key) ? ValueFor::kAlt : ValueFor::kOther;
  }
}

// BCF's encoding of numbers: their bytes, the value for a missing one, and the value for the end.
struct Encoding {
  std::size_t width;
  std::uint32_t missing;
  std::uint32_t end;
};

Encoding encoding_of(int type) {
  switch (type) {
    case BCF_BT_INT8:
      return {1, 0x80, 0x81};
    case BCF_BT_INT16:
      return {2, 0x8000, 0x8001};
    case BCF_BT_INT32:
      return {4, 0x80000000, 0x80000001};
    default:
      return {4, bcf_float_missing, bcf_float_vector_end};
  }
}

// Reads a number that begins with its lowest byte.
std::uint32_t number_at(const std::uint8_t* bytes, std::size_t width) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < width; ++i) number |= std::uint32_t{bytes[i]} << (8 * i);
  return number;
}

// The number of values before the end, at most `room`.
int count_numbers(const std::uint8_t* bytes, int room, const Encoding& encoding) {
  int n = 0;
  while (n < room && number_at(bytes + encoding.width * static_cast<std::size_t>(n),
                               encoding.width) != encoding.end) {
    ++n;
  }
  return n;
}

// The allowed numbers of values.
struct Range {
  int fewest;
  int most;
  bool has(int n) const { return fewest <= n && n <= most; }
};

// Reverses values by allele or by genotype. Genotypes are in the order of their copies of ALT, at
// any ploidy. False if there are more or fewer values than allowed; a single missing value stands
// for all.
bool reverse_numbers(std::uint8_t* bytes, int room, int type, const Range& allowed) {
  const Encoding encoding = encoding_of(type);
  const int n = count_numbers(bytes, room, encoding);
  if (n == 0 || (n == 1 && number_at(bytes, encoding.width) == encoding.missing)) return true;
  if (!allowed.has(n)) return false;
  const auto at = [&](int i) { return bytes + encoding.width * static_cast<std::size_t>(i); };
  for (int i = 0; i < n / 2; ++i) std::swap_ranges(at(i), at(i + 1), at(n - 1 - i));
  return true;
}

// The same for text values, which commas divide.
bool reverse_text(char* text, int room, const Range& allowed) {
  char* const end = text + strnlen(text, static_cast<std::size_t>(room));
  const std::string_view all(text, static_cast<std::size_t>(end - text));
  if (all.empty() || all == ".") return true;
  if (!allowed.has(1 + static_cast<int>(std::count(text, end, ',')))) return false;
  std::reverse(text, end);
  for (char* value = text; value < end;) {
    char* const comma = std::find(value, end, ',');
    std::reverse(value, comma);
    value = comma + 1;
  }
  return true;
}

bool reverse(std::uint8_t* values, int room, int type, const Range& allowed) {
  if (type != BCF_BT_CHAR) return reverse_numbers(values, room, type, allowed);
  return reverse_text(reinterpret_cast<char*>(values), room, allowed);
}

// The allowed numbers of values: of two alleles, or of the genotypes of a ploidy (0 if unknown). A
// haploid sample may be written as a diploid one, so the highest ploidy of the samples is allowed
// too. Values of ALT alone say nothing of REF, so no number is allowed.
Range allowed_for(ValueFor kind, int ploidy, int highest_ploidy) {
  if (kind == ValueFor::kAllele) return {2, 2};
  if (kind == ValueFor::kGenotype) {
    return {std::max(2, ploidy + 1), highest_ploidy == 0 ? INT_MAX : highest_ploidy + 1};
  }
  return {0, -1};
}

// The value of a field with one whole number; -1 for any other field.
std::int64_t whole_number(const bcf_info_t* field) {
  const bool is_one =
      field != nullptr && field->vptr != nullptr && field->len == 1 &&
      (field->type == BCF_BT_INT8 || field->type == BCF_BT_INT16 || field->type == BCF_BT_INT32);
  return is_one ? field->v1.i : -1;
}

// Whether the record has a field twice, of which only the first is found by name.
bool has_twice(bcf1_t* record) {
  for (int i = 0; i < static_cast<int>(record->n_info); ++i) {
    const bcf_info_t* const field = &record->d.info[i];
    if (field->vptr != nullptr && field != bcf_get_info_id(record, field->key)) return true;
  }
  for (int i = 0; i < static_cast<int>(record->n_fmt); ++i) {
    const bcf_fmt_t* const field = &record->d.fmt[i];
    if (field != bcf_get_fmt_id(record, field->id)) return true;
  }
  return false;
}

}  // namespace

const char* AlleleSwap::apply(bcf1_t* record) {
  if (bcf_unpack(record, BCF_UN_ALL) != 0) return "it is not a valid record, or it is damaged";
  const std::string ref = record->d.allele[0];
  const std::string alt = record->d.allele[1];
  const char* alleles[] = {alt.c_str(), ref.c_str()};
  if (bcf_update_alleles(header_, record, alleles, 2) != 0) return "cannot exchange its alleles";
  if (has_twice(record)) return "it has the same field twice";
  if (const char* const problem = swap_genotypes(record)) return problem;
  swap_format(record);
  swap_info(record);
  return nullptr;
}

// Works in place, as all values keep their lengths.
const char* AlleleSwap::swap_genotypes(bcf1_t* record) {
  ploidy_.assign(record->n_sample, 0);
  highest_ploidy_ = 0;
  const bcf_fmt_t* const field = bcf_get_fmt(header_, record, "GT");
  if (field == nullptr || field->p == nullptr || field->n == 0) return nullptr;
  if (bcf_hdr_id2type(header_, BCF_HL_FMT, field->id) != BCF_HT_STR ||
      (field->type != BCF_BT_INT8 && field->type != BCF_BT_INT16 && field->type != BCF_BT_INT32)) {
    return "its genotypes are not valid; is GT declared as Type=String?";
  }
  const Encoding encoding = encoding_of(field->type);
  for (std::size_t sample = 0; sample < ploidy_.size(); ++sample) {
    std::uint8_t* const bytes = field->p + sample * static_cast<std::size_t>(field->size);
    const int n = count_numbers(bytes, field->n, encoding);
    const std::uint32_t first = number_at(bytes, encoding.width);
    const bool is_dot = n == 1 && (first / 2 == 0 || first == encoding.missing);
    ploidy_[sample] = is_dot ? 0 : n;
    highest_ploidy_ = std::max(highest_ploidy_, ploidy_[sample]);
    for (int i = 0; i < n; ++i) {
      std::uint8_t* const byte = bytes + encoding.width * static_cast<std::size_t>(i);
      const std::uint32_t value = number_at(byte, encoding.width);
      const std::uint32_t allele = value / 2;  // from 1; the lowest bit is the phase
      if (allele == 0 || value == encoding.missing) continue;
      if (allele > 2) return "a genotype names an allele that the record does not have";
      *byte = static_cast<std::uint8_t>((3 - allele) * 2 + value % 2);
    }
  }
  return nullptr;
}

void AlleleSwap::swap_format(bcf1_t* record) {
  for (int i = 0; i < static_cast<int>(record->n_fmt); ++i) {
    const bcf_fmt_t& field = record->d.fmt[i];
    if (field.p == nullptr) continue;
    const ValueFor kind = value_for(header_, BCF_HL_FMT, field.id);
    if (kind == ValueFor::kOther) continue;
    bool is_right = true;
    for (std::size_t sample = 0; is_right && sample < ploidy_.size(); ++sample) {
      is_right = reverse(field.p + sample * static_cast<std::size_t>(field.size), field.n,
                         field.type, allowed_for(kind, ploidy_[sample], highest_ploidy_));
    }
    if (is_right) continue;
    const char* const id = name_of(field.id);
    bcf_update_format(header_, record, id, nullptr, 0, BCF_HT_INT);
    ++dropped_[std::string("FORMAT/") + id];
  }
}

void AlleleSwap::swap_info(bcf1_t* record) {
  for (int i = 0; i < static_cast<int>(record->n_info); ++i) {
    const bcf_info_t& field = record->d.info[i];
    if (field.vptr == nullptr) continue;
    const ValueFor kind = value_for(header_, BCF_HL_INFO, field.key);
    if (kind == ValueFor::kOther) continue;
    const char* const id = name_of(field.key);
    if (reverse(field.vptr, field.len, field.type, allowed_for(kind, 0, 0)) ||
        recompute(record, id)) {
      continue;
    }
    bcf_update_info(header_, record, id, nullptr, 0, BCF_HT_INT);
    ++dropped_[std::string("INFO/") + id];
  }
}

// Recomputes AC or AF; false if it can't.
bool AlleleSwap::recompute(bcf1_t* record, const char* id) {
  const bcf_info_t* const field = bcf_get_info(header_, record, id);
  if (std::string_view(id) == "AC") {
    const std::int64_t copies = whole_number(field);
    const std::int64_t all = whole_number(bcf_get_info(header_, record, "AN"));
    if (copies < 0 || copies > all) return false;
    const auto others = static_cast<std::int32_t>(all - copies);
    return bcf_update_info_int32(header_, record, id, &others, 1) == 0;
  }
  if (std::string_view(id) != "AF" || field->len != 1 || field->type != BCF_BT_FLOAT) return false;
  const float frequency = field->v1.f;
  if (!(frequency >= 0 && frequency <= 1)) return false;
  const float other = 1 - frequency;
  return bcf_update_info_float(header_, record, id, &other, 1) == 0;
}

}  // namespace ancify

#endif
