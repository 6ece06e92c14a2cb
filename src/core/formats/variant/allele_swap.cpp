// Exchanges REF and an ALT of a record, with all fields that depend on them.
#ifdef ANCIFY_HAVE_HTSLIB

#include "core/formats/variant/allele_swap.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <string_view>

#include "core/exec/errors.h"
#include "core/io/little_endian.h"

namespace ancify {

namespace {

// The most alleles besides REF that a one-byte genotype can name.
constexpr int kMostAlt = 62;

// The full name, such as INFO/AF.
std::string full_name(int column, const char* id) {
  return (column == BCF_HL_INFO ? "INFO/" : "FORMAT/") + std::string(id);
}

// BCF's encoding of integers: their bytes, the missing value, and the end value.
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

// The number of values before the end, at most `room`.
int count_numbers(const std::uint8_t* bytes, int room, const Encoding& encoding) {
  int n = 0;
  while (n < room &&
         little_endian<std::uint32_t>(bytes + encoding.width * static_cast<std::size_t>(n),
                                      encoding.width) != encoding.end) {
    ++n;
  }
  return n;
}

// Values of a field, in one sample or in INFO.
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
    return little_endian<std::uint32_t>(at(i), encoding.width) == encoding.missing;
  }
  // No value, or a single missing one, which stands for all.
  bool are_missing() const {
    const int n = count();
    if (is_text()) return n == 0 || (text_end() - text() == 1 && *text() == '.');
    return n == 0 || (n == 1 && is_missing(0));
  }
};

// Moves values to the given positions.
void move_numbers(const Values& values, const std::vector<int>& places) {
  const std::size_t width = encoding_of(values.type).width;
  const std::vector<std::uint8_t> old(values.at(0), values.at(static_cast<int>(places.size())));
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::memcpy(values.at(places[i]), &old[i * width], width);
  }
}

// Moves text values, which are separated by commas.
void move_text(const Values& values, const std::vector<int>& places) {
  std::vector<std::string> moved(places.size());
  char* value = values.text();
  for (const int place : places) {
    char* const comma = std::find(value, values.text_end(), ',');
    moved[static_cast<std::size_t>(place)].assign(value, comma);
    value = comma + 1;
  }
  char* to = values.text();
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (i > 0) *to++ = ',';
    to = std::copy(moved[i].begin(), moved[i].end(), to);
  }
}

// False if the numbers of values and positions differ.
bool move_values(const Values& values, const std::vector<int>& places) {
  if (static_cast<std::size_t>(values.count()) != places.size()) return false;
  if (values.is_text()) {
    move_text(values, places);
  } else {
    move_numbers(values, places);
  }
  return true;
}

// n over k, or the largest integer if it is greater.
int choose(int n, int k) {
  if (k > n) return 0;
  std::int64_t result = 1;
  k = std::min(k, n - k);
  for (int i = 1; i <= k; ++i) {
    result = result * (n - k + i) / i;
    if (result > INT_MAX) return INT_MAX;
  }
  return static_cast<int>(result);
}

int count_genotypes(int alleles, int ploidy) { return choose(alleles + ploidy - 1, ploidy); }

// The index of a genotype in the order of VCF. `alleles` must be sorted.
int place_of(const std::vector<int>& alleles) {
  int place = 0;
  for (int i = 0; i < static_cast<int>(alleles.size()); ++i) {
    place += choose(alleles[static_cast<std::size_t>(i)] + i, i + 1);
  }
  return place;
}

// Advances to the next genotype in the order of VCF.
void advance(std::vector<int>& alleles) {
  std::size_t i = 0;
  while (i + 1 < alleles.size() && alleles[i] == alleles[i + 1]) ++i;
  ++alleles[i];
  std::fill_n(alleles.begin(), i, 0);
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

// all - x, rounded to the precision of a float near 1, so that 1 - 0.99 is 0.01.
float rest_of(double all, double x) {
  constexpr double digits = 1e7;
  return static_cast<float>(std::round((all - x) * digits) / digits);
}

// Replaces each x by all - x. False if one is not between 0 and `all`, where 0 means unknown.
bool complement(const Values& values, int all) {
  if (all == 0 || values.is_text()) return false;
  const int n = values.count();
  for (int i = 0; i < n; ++i) {
    if (values.is_missing(i)) continue;
    if (values.type == BCF_BT_FLOAT) {
      float x = 0;
      std::memcpy(&x, values.at(i), sizeof(x));
      if (!(x >= 0 && x <= static_cast<float>(all))) return false;
      x = rest_of(all, static_cast<double>(x));
      std::memcpy(values.at(i), &x, sizeof(x));
    } else {
      const std::uint32_t x =
          little_endian<std::uint32_t>(values.at(i), encoding_of(values.type).width);
      if (x > static_cast<std::uint32_t>(all)) return false;
      *values.at(i) = static_cast<std::uint8_t>(static_cast<std::uint32_t>(all) - x);
    }
  }
  return true;
}

// Changes values according to the rule; false if they cannot follow it. Ploidy 0 means unknown.
bool exchange(const Values& values, FieldRule rule, AlleleExchange& alleles, int ploidy,
              int highest_ploidy) {
  if (values.are_missing()) return true;
  const bool is_all = alleles.alleles() == 2;  // else REF and ALT do not sum to the total
  switch (rule) {
    case FieldRule::kByAllele:
      return move_values(values, alleles.of_alleles());
    case FieldRule::kByGenotype:
      // A haploid sample may be written as a diploid one, so the highest ploidy of the samples is
      // allowed too.
      return move_values(values,
                         alleles.of_genotypes(values.count(), std::max(1, ploidy),
                                              highest_ploidy == 0 ? INT_MAX : highest_ploidy));
    case FieldRule::kByStrand:
      return is_all && exchange_halves(values);
    case FieldRule::kPhased:
      return is_all && exchange_alleles(values);
    case FieldRule::kShare:
      return is_all && complement(values, 1);
    case FieldRule::kDose:
      return is_all && complement(values, ploidy);
    default:
      return false;
  }
}

// True if a text consists of numbers, such as 0.1 or 0.1,0.2.
bool is_number_text(const bcf_info_t& field) {
  const std::string_view text(reinterpret_cast<const char*>(field.vptr),
                              static_cast<std::size_t>(field.vptr_len));
  return text.find_first_of("0123456789") != text.npos &&
         text.find_first_not_of("0123456789.,eE+-") == text.npos;
}

// The numbers of a field; empty unless it has this many, all non-negative and of this type.
template <typename Number>
std::vector<Number> numbers_of(const bcf_hdr_t* header, bcf1_t* record, const char* id, int n,
                               int type) {
  void* found = nullptr;
  int room = 0;
  const int count = bcf_get_info_values(header, record, id, &found, &room, type);
  const std::unique_ptr<void, decltype(&std::free)> owner(found, &std::free);
  if (count != n || n < 1) return {};
  const auto* const first = static_cast<const Number*>(found);
  std::vector<Number> numbers(first, first + n);
  const auto is_valid = [](Number x) { return x >= 0; };  // false for a missing value
  if (!std::all_of(numbers.begin(), numbers.end(), is_valid)) return {};
  return numbers;
}

// True if the record has a field twice, of which only the first is found by name.
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

void AlleleExchange::set(int alleles, int alt) {
  if (alleles == alleles_ && alt == alt_) return;
  alleles_ = alleles;
  alt_ = alt;
  of_ploidy_.clear();
  of_alleles_.resize(static_cast<std::size_t>(alleles));
  for (int i = 0; i < alleles; ++i) of_alleles_[static_cast<std::size_t>(i)] = of_allele(i);
}

const std::vector<int>& AlleleExchange::of_genotypes(int values, int fewest, int most) {
  static const std::vector<int> none;
  int ploidy = fewest;
  while (ploidy < most && count_genotypes(alleles_, ploidy) < values) ++ploidy;
  if (count_genotypes(alleles_, ploidy) != values) return none;
  std::vector<int>& places = of_ploidy_[ploidy];
  if (!places.empty()) return places;
  if (alleles_ == 2) {  // in the order of ALT's copies
    for (int i = values; i-- > 0;) places.push_back(i);
    return places;
  }
  std::vector<int> genotype(static_cast<std::size_t>(ploidy));
  for (int i = 0; i < values; ++i, advance(genotype)) {
    std::vector<int> other(genotype);
    for (int& allele : other) allele = of_allele(allele);
    std::sort(other.begin(), other.end());
    places.push_back(place_of(other));
  }
  return places;
}

const char* AlleleSwap::apply(bcf1_t* record, int alt) {
  if (bcf_unpack(record, BCF_UN_ALL) != 0) return "it is not a valid record, or it is damaged";
  if (alt > kMostAlt) return "its ALT has too many others before it";
  const auto n = static_cast<int>(record->n_allele);
  exchange_.set(n, alt);
  const std::vector<std::string> stored(record->d.allele, record->d.allele + n);
  std::vector<const char*> alleles;
  for (const int i : exchange_.of_alleles()) {
    alleles.push_back(stored[static_cast<std::size_t>(i)].c_str());
  }
  if (bcf_update_alleles(header_, record, alleles.data(), n) != 0) {
    return "cannot exchange its alleles";
  }
  if (has_twice(record)) return "it has the same field twice";
  if (const char* const problem = swap_genotypes(record)) return problem;
  swap_format(record);
  swap_info(record, std::strlen(alleles[0]) == stored[0].size());
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
    const std::uint32_t first = little_endian<std::uint32_t>(bytes, encoding.width);
    const bool is_dot = n == 1 && (first / 2 == 0 || first == encoding.missing);
    ploidy_[sample] = is_dot ? 0 : n;
    if (!is_dot) lowest_ploidy_ = std::min(lowest_ploidy_, n);
    highest_ploidy_ = std::max(highest_ploidy_, ploidy_[sample]);
    for (int i = 0; i < n; ++i) {
      std::uint8_t* const byte = bytes + encoding.width * static_cast<std::size_t>(i);
      const std::uint32_t value = little_endian<std::uint32_t>(byte, encoding.width);
      const std::uint32_t allele = value / 2;  // from 1; the lowest bit is the phase
      if (allele == 0 || value == encoding.missing) continue;
      if (allele > record->n_allele) {
        return "a genotype names an allele that the record does not have";
      }
      const auto other =
          static_cast<std::uint32_t>(exchange_.of_allele(static_cast<int>(allele) - 1));
      put_little_endian((other + 1) * 2 + value % 2, byte, encoding.width);
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

// False if a sample's values cannot follow the rule.
bool AlleleSwap::swap_samples(const bcf_fmt_t& field, FieldRule rule) {
  for (std::size_t sample = 0; sample < ploidy_.size(); ++sample) {
    const Values values = {field.p + sample * static_cast<std::size_t>(field.size), field.n,
                           field.type};
    // A dot takes the ploidy of the other samples, if they share one.
    const bool is_common = rule == FieldRule::kDose && lowest_ploidy_ == highest_ploidy_;
    const int ploidy = is_common ? highest_ploidy_ : ploidy_[sample];
    if (!exchange(values, rule, exchange_, ploidy, highest_ploidy_)) return false;
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
    if (rule == FieldRule::kNumber && !is_number_text(field)) continue;
    const char* const id = name_of(field.key);
    // htslib keeps a copy of a single value, which only its own functions update.
    const bool is_rest = rule == FieldRule::kCount || rule == FieldRule::kShare;
    if (is_rest ? recompute(record, id, rule) : exchange(values, rule, exchange_, 0, 0)) continue;
    bcf_update_info(header_, record, id, nullptr, 0, BCF_HT_INT);
    ++dropped_[full_name(BCF_HL_INFO, id)];
  }
}

// Recomputes ALT's count or share, which is the remainder after all ALTs; false if it cannot.
bool AlleleSwap::recompute(bcf1_t* record, const char* id, FieldRule rule) {
  const int alts = exchange_.alleles() - 1;
  const auto at = static_cast<std::size_t>(exchange_.alt() - 1);
  if (rule == FieldRule::kCount) {
    auto copies = numbers_of<std::int32_t>(header_, record, id, alts, BCF_HT_INT);
    const auto all =
        numbers_of<std::int32_t>(header_, record, count_of_all(id).c_str(), 1, BCF_HT_INT);
    if (copies.empty() || all.empty()) return false;
    const auto sum = std::accumulate(copies.begin(), copies.end(), std::int64_t{0});
    if (sum > all.front()) return false;
    copies[at] = static_cast<std::int32_t>(all.front() - sum);
    return bcf_update_info_int32(header_, record, id, copies.data(), alts) == 0;
  }
  auto shares = numbers_of<float>(header_, record, id, alts, BCF_HT_REAL);
  if (rule != FieldRule::kShare || shares.empty()) return false;
  const float other = rest_of(1, std::accumulate(shares.begin(), shares.end(), 0.0));
  if (!(other >= 0)) return false;
  shares[at] = other;
  return bcf_update_info_float(header_, record, id, shares.data(), alts) == 0;
}

}  // namespace ancify

#endif
