// Exchanges REF and ALT of a record, with all fields that depend on them.
#ifdef ANCIFY_HAVE_HTSLIB

#include "core/formats/variant/allele_swap.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <string_view>

#include "core/exec/errors.h"

namespace ancify {

namespace {

// INFO/AF, for example
std::string full_name(int column, const char* id) {
  return (column == BCF_HL_INFO ? "INFO/" : "FORMAT/") + std::string(id);
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

// Values of a field: of one sample, or of INFO.
struct Values {
  std::uint8_t* bytes;
  int room;
  int type;

  bool is_text() const { return type == BCF_BT_CHAR; }
  char* text() const { return reinterpret_cast<char*>(bytes); }
  char* text_end() const { return text() + strnlen(text(), static_cast<std::size_t>(room)); }
  int count() const {
    if (!is_text()) return count_numbers(bytes, room, encoding_of(type));
    return text() == text_end() ? 0 : 1 + static_cast<int>(std::count(text(), text_end(), ','));
  }
  std::uint8_t* at(int i) const {
    return bytes + encoding_of(type).width * static_cast<std::size_t>(i);
  }
  bool is_missing(int i) const {
    const Encoding encoding = encoding_of(type);
    return number_at(at(i), encoding.width) == encoding.missing;
  }
  // No value, or a single missing one, which stands for all.
  bool are_missing() const {
    const int n = count();
    if (is_text()) return n == 0 || (text_end() - text() == 1 && *text() == '.');
    return n == 0 || (n == 1 && is_missing(0));
  }
};

// Reverses values. Genotypes are in the order of their copies of ALT, at any ploidy.
void reverse_numbers(const Values& values) {
  const std::size_t width = encoding_of(values.type).width;
  const int n = values.count();
  for (int i = 0; i < n / 2; ++i) {
    std::swap_ranges(values.at(i), values.at(i) + width, values.at(n - 1 - i));
  }
}

// The same for text values, which commas divide.
void reverse_text(const Values& values) {
  char* const end = values.text_end();
  std::reverse(values.text(), end);
  for (char* value = values.text(); value < end;) {
    char* const comma = std::find(value, end, ',');
    std::reverse(value, comma);
    value = comma + 1;
  }
}

// The allowed numbers of values: of two alleles, or of the genotypes of a ploidy (0 if unknown). A
// haploid sample may be written as a diploid one, so the highest ploidy of the samples is allowed
// too.
Range allowed_for(FieldRule rule, int ploidy, int highest_ploidy) {
  if (rule == FieldRule::kByAllele) return {2, 2};
  return {std::max(2, ploidy + 1), highest_ploidy == 0 ? INT_MAX : highest_ploidy + 1};
}

// False if there are more or fewer values than allowed.
bool reverse(const Values& values, const Range& allowed) {
  if (!allowed.has(values.count())) return false;
  if (values.is_text()) {
    reverse_text(values);
  } else {
    reverse_numbers(values);
  }
  return true;
}

bool exchange_halves(const Values& values) {
  if (values.is_text() || values.count() != 4) return false;
  std::swap_ranges(values.at(0), values.at(2), values.at(2));
  return true;
}

// A genotype as text: "0|1" becomes "1|0".
bool exchange_alleles(const Values& values) {
  if (!values.is_text()) return false;
  for (char* c = values.text(); c < values.text_end(); ++c) {
    if (*c != '0' && *c != '1') {
      if (std::string_view("|/.").find(*c) == std::string_view::npos) return false;
    } else {
      *c = *c == '0' ? '1' : '0';
    }
  }
  return true;
}

// all - x without the digits that a float near 1 does not have: 1 - 0.99 is 0.01.
float rest_of(double all, float x) {
  constexpr double digits = 1e7;
  return static_cast<float>(std::round((all - static_cast<double>(x)) * digits) / digits);
}

// Numbers x become all - x. False if one is not between 0 and `all`, 0 if that is unknown.
bool complement(const Values& values, int all) {
  if (all == 0 || values.is_text()) return false;
  const int n = values.count();
  for (int i = 0; i < n; ++i) {
    if (values.is_missing(i)) continue;
    if (values.type == BCF_BT_FLOAT) {
      float x = 0;
      std::memcpy(&x, values.at(i), sizeof(x));
      if (!(x >= 0 && x <= static_cast<float>(all))) return false;
      x = rest_of(all, x);
      std::memcpy(values.at(i), &x, sizeof(x));
    } else {
      const std::uint32_t x = number_at(values.at(i), encoding_of(values.type).width);
      if (x > static_cast<std::uint32_t>(all)) return false;
      *values.at(i) = static_cast<std::uint8_t>(static_cast<std::uint32_t>(all) - x);
    }
  }
  return true;
}

// Changes values as the rule says; false if they can't follow it. Ploidy 0 is unknown.
bool exchange(const Values& values, FieldRule rule, int ploidy, int highest_ploidy) {
  if (values.are_missing()) return true;
  switch (rule) {
    case FieldRule::kByAllele:
    case FieldRule::kByGenotype:
      return reverse(values, allowed_for(rule, ploidy, highest_ploidy));
    case FieldRule::kByStrand:
      return exchange_halves(values);
    case FieldRule::kPhased:
      return exchange_alleles(values);
    case FieldRule::kShare:
      return complement(values, 1);
    case FieldRule::kDose:
      return complement(values, ploidy);
    default:
      return false;
  }
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

void AlleleSwap::keep(const std::vector<std::string>& fields) {
  for (const std::string& name : fields) {
    const int column = name.rfind("INFO/", 0) == 0 ? BCF_HL_INFO : BCF_HL_FMT;
    const int key = bcf_hdr_id2int(header_, BCF_DT_ID, name.substr(name.find('/') + 1).c_str());
    if (!bcf_hdr_idinfo_exists(header_, column, key)) {
      throw InputError("`keep_fields` names " + name + ", which the header does not declare");
    }
    kept_.insert(name);
  }
}

FieldRule AlleleSwap::rule(int column, int key) {
  Rules& rules = column == BCF_HL_INFO ? info_ : format_;
  const auto at = static_cast<std::size_t>(key);
  if (rules.size() <= at) rules.resize(at + 1);
  if (!rules[at]) {
    const bool is_kept = kept_.count(full_name(column, name_of(key))) > 0;
    rules[at] = is_kept ? FieldRule::kStays : field_rule(header_, column, key);
  }
  return *rules[at];
}

const char* AlleleSwap::apply(bcf1_t* record) {
  if (bcf_unpack(record, BCF_UN_ALL) != 0) return "it is not a valid record, or it is damaged";
  const std::string ref = record->d.allele[0];
  const std::string alt = record->d.allele[1];
  const char* alleles[] = {alt.c_str(), ref.c_str()};
  if (bcf_update_alleles(header_, record, alleles, 2) != 0) return "cannot exchange its alleles";
  if (has_twice(record)) return "it has the same field twice";
  if (const char* const problem = swap_genotypes(record)) return problem;
  swap_format(record);
  swap_info(record, ref.size() == alt.size());
  return nullptr;
}

// Works in place, as all values keep their lengths.
const char* AlleleSwap::swap_genotypes(bcf1_t* record) {
  ploidy_.assign(record->n_sample, 0);
  lowest_ploidy_ = INT_MAX;
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
    if (!is_dot) lowest_ploidy_ = std::min(lowest_ploidy_, n);
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
    const FieldRule rule = this->rule(BCF_HL_FMT, field.id);
    if (rule == FieldRule::kStays || swap_samples(field, rule)) continue;
    const char* const id = name_of(field.id);
    bcf_update_format(header_, record, id, nullptr, 0, BCF_HT_INT);
    ++dropped_[full_name(BCF_HL_FMT, id)];
  }
}

// False if a sample's values can't follow the rule.
bool AlleleSwap::swap_samples(const bcf_fmt_t& field, FieldRule rule) const {
  for (std::size_t sample = 0; sample < ploidy_.size(); ++sample) {
    const Values values = {field.p + sample * static_cast<std::size_t>(field.size), field.n,
                           field.type};
    // A dot has the ploidy of the others, if they have one.
    const bool is_common = rule == FieldRule::kDose && lowest_ploidy_ == highest_ploidy_;
    const int ploidy = is_common ? highest_ploidy_ : ploidy_[sample];
    if (!exchange(values, rule, ploidy, highest_ploidy_)) return false;
  }
  return true;
}

void AlleleSwap::swap_info(bcf1_t* record, bool same_length) {
  for (int i = 0; i < static_cast<int>(record->n_info); ++i) {
    const bcf_info_t& field = record->d.info[i];
    if (field.vptr == nullptr) continue;
    const FieldRule rule = this->rule(BCF_HL_INFO, field.key);
    const Values values = {field.vptr, field.len, field.type};
    if (rule == FieldRule::kStays || values.are_missing()) continue;
    if (rule == FieldRule::kLength && same_length) continue;
    const char* const id = name_of(field.key);
    // A field with one value has a copy of it, which only htslib changes.
    const bool has_one = rule == FieldRule::kCount || rule == FieldRule::kShare;
    if (has_one ? recompute(record, id, rule) : exchange(values, rule, 0, 0)) continue;
    bcf_update_info(header_, record, id, nullptr, 0, BCF_HT_INT);
    ++dropped_[full_name(BCF_HL_INFO, id)];
  }
}

// Recomputes the one value of a count or share; false if it can't.
bool AlleleSwap::recompute(bcf1_t* record, const char* id, FieldRule rule) {
  const bcf_info_t* const field = bcf_get_info(header_, record, id);
  if (rule == FieldRule::kCount) {
    const std::int64_t copies = whole_number(field);
    const std::int64_t all = whole_number(bcf_get_info(header_, record, count_of_all(id).c_str()));
    if (copies < 0 || copies > all) return false;
    const auto others = static_cast<std::int32_t>(all - copies);
    return bcf_update_info_int32(header_, record, id, &others, 1) == 0;
  }
  if (rule != FieldRule::kShare || field->len != 1 || field->type != BCF_BT_FLOAT) return false;
  const float frequency = field->v1.f;
  if (!(frequency >= 0 && frequency <= 1)) return false;
  const float other = rest_of(1, frequency);
  return bcf_update_info_float(header_, record, id, &other, 1) == 0;
}

}  // namespace ancify

#endif
