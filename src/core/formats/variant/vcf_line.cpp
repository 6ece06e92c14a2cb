// Reads and changes lines of VCF as text.
#ifdef ANCIFY_HAVE_HTSLIB

#include "core/formats/variant/vcf_line.h"

#include <algorithm>

namespace ancify {

namespace {

// htslib's limits are higher.
constexpr std::size_t kMostAlleles = 255;
constexpr std::size_t kMostFormats = 100;
constexpr std::size_t kMostInfo = 10000;

constexpr int kGenotype = 100;  // beside htslib's types

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The functions below return the end of the skipped text, or null if its form differs from the
// one that htslib writes. A NUL ends the line.

// Ends before any of these characters, or a column's end.
template <char... ends>
const char* skip_text(const char* at) {
  const char* const start = at;
  while (static_cast<unsigned char>(*at) >= ' ' && ((*at != ends) && ...)) ++at;
  return at == start ? nullptr : at;
}

const char* skip_column(const char* at) {
  at = skip_text<>(at);
  return at == nullptr || *at != '\t' ? nullptr : at;
}

const char* skip_digits(const char* at, int most) {
  const char* const start = at;
  while (is_digit(*at)) ++at;
  const auto n = at - start;
  return n == 0 || n > most || (n > 1 && *start == '0') ? nullptr : at;
}

const char* skip_integer(const char* at) {
  constexpr int most_digits = 9;  // of 32 bits
  if (*at == '.') return at + 1;
  if (*at != '-') return skip_digits(at, most_digits);
  return at[1] == '0' ? nullptr : skip_digits(at + 1, most_digits);
}

const char* skip_integers(const char* at) {
  for (at = skip_integer(at); at != nullptr && *at == ','; at = skip_integer(at + 1)) {
  }
  return at;
}

const char* skip_genotype(const char* at) {
  constexpr int most_digits = 4;
  // Most are of two alleles below 10.
  const auto is_separator = [](char c) { return c == '/' || c == '|'; };
  if (is_digit(at[0]) && is_separator(at[1]) && is_digit(at[2]) && !is_digit(at[3]) &&
      !is_separator(at[3])) {
    return at + 3;
  }
  for (;; ++at) {
    at = *at == '.' ? at + 1 : skip_digits(at, most_digits);
    if (at == nullptr || !is_separator(*at)) return at;
  }
}

// A number with a point. htslib reads it as a float, and writes six digits without zeros at the
// end. So a number of up to six digits stays. Below 0.0001 htslib writes an exponent.
struct Float {
  const char* end;       // null if it has another form
  const char* shortest;  // the end without zeros, and without a point before nothing
};

Float scan_float(const char* at) {
  constexpr Float other = {nullptr, nullptr};
  constexpr int most_digits = 6;
  constexpr int most_zeros = 3;  // after the point
  const bool is_negative = *at == '-';
  if (is_negative) ++at;
  const bool is_below_one = *at == '0';
  const char* const first = at;
  const char* end = skip_digits(at, most_digits);
  if (end == nullptr) return other;
  auto digits = is_below_one ? 0 : end - first;
  const char* shortest = end;
  if (*end == '.') {
    int zeros = 0;  // before the first digit, as a fraction below one begins
    const char* const fraction = ++end;
    for (; is_digit(*end); ++end) {
      if (*end != '0') shortest = end + 1;
    }
    if (end == fraction) return other;
    if (is_below_one) {
      while (fraction + zeros < shortest && fraction[zeros] == '0') ++zeros;
      if (zeros > most_zeros) return other;
    }
    if (shortest > fraction) digits += shortest - fraction - zeros;
  }
  const bool is_zero = is_below_one && shortest == first + 1;
  return digits > most_digits || (is_zero && is_negative) ? other : Float{end, shortest};
}

}  // namespace

int DeclaredTypes::find(std::string_view name) {
  if (next_ >= known_.size() || known_[next_].name != name) {
    const std::string key(name);
    const auto place = places_.find(key);
    if (place == places_.end()) {
      const int id = bcf_hdr_id2int(header_, BCF_DT_ID, key.c_str());
      if (!bcf_hdr_idinfo_exists(header_, column_, id)) return kUndeclared;
      next_ = known_.size();
      known_.push_back({key, static_cast<int>(bcf_hdr_id2type(header_, column_, id))});
      places_.emplace(key, next_);
    } else {
      next_ = place->second;
    }
  }
  return known_[next_++].type;
}

void VcfLine::replace(const char* from, const char* to, std::string_view by) {
  text_.append(copied_, from).append(by);
  copied_ = to;
}

void VcfLine::begin(std::string_view line) {
  text_.clear();
  copied_ = line.data();
  end_ = line.data() + line.size();
  filter_.clear();
  info_.clear();
  added_info_.clear();
  filter_begin_ = filter_end_ = info_end_ = 0;
}

bool VcfLine::take_alleles(std::string_view line) {
  begin(line);
  const char* const filter = take_start(line.data());
  return filter != nullptr && skip_column(filter) != nullptr;
}

bool VcfLine::take(std::string_view line) {
  begin(line);
  const char* at = take_start(line.data());
  if (at != nullptr) at = take_filter(at);
  if (at != nullptr) at = take_info(at);
  if (at == nullptr) return false;
  const bool has_samples = bcf_hdr_nsamples(header_) > 0;
  return has_samples ? *at == '\t' && take_format(at + 1) : at == end_;
}

// The columns up to QUAL; returns the start of FILTER.
const char* VcfLine::take_start(const char* at) {
  constexpr int most_digits = 10;
  const char* end = skip_column(at);
  if (end == nullptr) return nullptr;
  const std::string_view name(at, static_cast<std::size_t>(end - at));
  if (chromosome_ < 0 || name != chromosome_name_) {
    chromosome_name_ = name;
    chromosome_ = bcf_hdr_name2id(header_, chromosome_name_.c_str());
    if (chromosome_ < 0) return nullptr;
  }

  at = end + 1;
  end = skip_digits(at, most_digits);
  if (end == nullptr || *end != '\t') return nullptr;
  position_ = 0;
  for (; at < end; ++at) position_ = position_ * 10 + (*at - '0');

  end = skip_column(++at);
  if (end == nullptr) return nullptr;
  id_ = {at, static_cast<std::size_t>(end - at)};

  at = end + 1;
  end = skip_column(at);
  if (end == nullptr) return nullptr;
  alleles_.clear();
  alleles_.emplace_back(at, static_cast<std::size_t>(end - at));
  const bool is_alone = end[1] == '.' && end[2] == '\t';
  do {
    at = end + 1;
    end = skip_text<','>(at);
    if (end == nullptr || alleles_.size() > kMostAlleles) return nullptr;
    if (!is_alone) alleles_.emplace_back(at, static_cast<std::size_t>(end - at));
  } while (*end == ',');
  if (*end != '\t') return nullptr;

  at = end + 1;
  end = take_float(at);
  return end == nullptr || *end != '\t' ? nullptr : end + 1;
}

const char* VcfLine::take_filter(const char* at) {
  const char* const end = skip_column(at);
  if (end == nullptr) return nullptr;
  filter_.assign(at, end);
  if (filter_ != "." && filter_ != known_filter_) {
    for (const char* name = at; name != end + 1;) {
      const char* const name_end = skip_text<';'>(name);
      if (name_end == nullptr) return nullptr;
      const int id = bcf_hdr_id2int(header_, BCF_DT_ID, std::string(name, name_end).c_str());
      if (!bcf_hdr_idinfo_exists(header_, BCF_HL_FLT, id)) return nullptr;
      name = name_end + 1;
    }
    known_filter_ = filter_;
  }
  filter_begin_ = place_of(at);
  filter_end_ = place_of(end);
  return end + 1;
}

const char* VcfLine::take_info(const char* at) {
  info_types_.begin_record();
  has_no_info_ = *at == '.' && (at[1] == '\t' || at + 1 == end_);
  if (has_no_info_) {
    ++at;
  } else {
    for (;; ++at) {
      const char* const end = skip_text<'=', ';'>(at);
      if (end == nullptr || info_.size() > kMostInfo) return nullptr;
      info_.emplace_back(at, static_cast<std::size_t>(end - at));
      const int type = info_types_.find(info_.back());
      if (type == DeclaredTypes::kUndeclared) return nullptr;
      at = *end == '=' ? take_value(end + 1, type) : end;
      if (at == nullptr) return nullptr;
      if (*at != ';') break;
    }
  }
  info_end_ = place_of(at);
  return at;
}

const char* VcfLine::take_value(const char* at, int type) {
  if (type == BCF_HT_INT) return skip_integers(at);
  if (type == BCF_HT_REAL) return take_floats(at);
  return type == BCF_HT_STR ? skip_text<';'>(at) : nullptr;
}

const char* VcfLine::take_float(const char* at) {
  if (*at == '.') return is_digit(at[1]) ? nullptr : at + 1;
  const auto [end, shortest] = scan_float(at);
  if (end != nullptr && shortest < end) replace(shortest, end, {});
  return end;
}

const char* VcfLine::take_floats(const char* at) {
  for (at = take_float(at); at != nullptr && *at == ','; at = take_float(at + 1)) {
  }
  return at;
}

bool VcfLine::take_format(const char* at) {
  const char* const format_end = skip_column(at);
  if (format_end == nullptr) return false;
  const std::string_view format(at, static_cast<std::size_t>(format_end - at));
  if (format != format_ && !set_format(format)) return false;
  return take_samples(format_end + 1);
}

// False if a field is not declared, occurs twice, or may be a genotype in another place than the
// first, as its dots differ.
bool VcfLine::set_format(std::string_view format) {
  format_.clear();
  types_.clear();
  std::vector<std::string> names;
  format_types_.begin_record();
  for (std::size_t begin = 0; begin <= format.size();) {
    const std::size_t end = std::min(format.find(':', begin), format.size());
    const std::string name(format.substr(begin, end - begin));
    const int type = format_types_.find(name);
    const bool is_twice = std::find(names.begin(), names.end(), name) != names.end();
    const bool is_genotype = name == "GT";
    const bool is_odd = is_genotype ? begin > 0 || type != BCF_HT_STR : type == BCF_HT_FLAG;
    if (type == DeclaredTypes::kUndeclared || is_twice || is_odd || names.size() > kMostFormats) {
      return false;
    }
    names.push_back(name);
    types_.push_back(is_genotype ? kGenotype : type);
    begin = end + 1;
  }
  format_ = format;
  return true;
}

bool VcfLine::take_samples(const char* at) {
  const int n = bcf_hdr_nsamples(header_);
  for (int sample = 0; sample < n; ++sample) {
    at = take_sample(at);
    if (at == nullptr || *at != (sample + 1 < n ? '\t' : '\0')) return false;
    ++at;
  }
  return at == end_ + 1;
}

const char* VcfLine::take_sample(const char* at) {
  for (std::size_t i = 0;; ++at) {
    const int type = types_[i];
    at = type == kGenotype     ? skip_genotype(at)
         : type == BCF_HT_INT  ? skip_integers(at)
         : type == BCF_HT_REAL ? take_floats(at)
                               : skip_text<':'>(at);
    if (at == nullptr || ++i == types_.size()) return at;
    if (*at == ':') continue;
    for (; i < types_.size(); ++i) replace(at, at, ":.");
    return at;
  }
}

bool VcfLine::has_info(std::string_view id) const {
  return std::find(info_.begin(), info_.end(), id) != info_.end();
}

bool VcfLine::has_filter(std::string_view id) const {
  std::size_t at = filter_.find(id);
  for (; at != filter_.npos; at = filter_.find(id, at + 1)) {
    const std::size_t end = at + id.size();
    const bool begins = at == 0 || filter_[at - 1] == ';';
    if (begins && (end == filter_.size() || filter_[end] == ';')) return true;
  }
  return false;
}

void VcfLine::add_info(std::string_view id, std::string_view value) {
  if (!has_no_info_ || !added_info_.empty()) added_info_ += ';';
  added_info_.append(id).append("=").append(value);
  info_.push_back(id);
}

void VcfLine::add_filter(std::string_view id) {
  if (filter_ == "." || filter_ == "PASS") {
    filter_ = id;
  } else {
    filter_.append(";").append(id);
  }
}

const std::string& VcfLine::text() {
  if (copied_ != end_ && !text_.empty()) replace(end_, end_, {});
  const std::string_view old =
      text_.empty() ? std::string_view(copied_, static_cast<std::size_t>(end_ - copied_)) : text_;
  const std::size_t info_end = has_no_info_ && !added_info_.empty() ? info_end_ - 1 : info_end_;
  changed_.assign(old, 0, filter_begin_);
  changed_.append(filter_).append(old, filter_end_, info_end - filter_end_).append(added_info_);
  changed_.append(old, info_end_, old.npos).append("\n");
  return changed_;
}

}  // namespace ancify

#endif
