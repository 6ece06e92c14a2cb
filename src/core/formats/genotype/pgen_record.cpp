// Decodes records of PGEN according to the PLINK 2 File Format Specification Draft, section 2.3.
#include "core/formats/genotype/pgen_record.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "core/formats/genotype/call_codes.h"
#include "core/io/little_endian.h"

namespace ancify {

namespace {

struct BadRecord {
  const char* problem;
};

// Takes bytes and integers from the start of a record.
class RecordBytes {
 public:
  explicit RecordBytes(std::string_view record) : rest_(record) {}

  std::size_t left() const { return rest_.size(); }

  const std::uint8_t* take(std::size_t n) {
    if (n > rest_.size()) throw BadRecord{"it ends too soon"};
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(rest_.data());
    rest_.remove_prefix(n);
    return bytes;
  }

  // Each byte holds 7 bits of an integer, the lowest first; bit 7 is set if more bytes follow.
  std::int64_t take_varint() {
    std::int64_t value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
      const std::int64_t byte = *take(1);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw BadRecord{"a number in it is too large"};
  }

  void expect_end(bool has_more) const {
    if (has_more && rest_.empty()) throw BadRecord{"it ends too soon"};
    if (!has_more && !rest_.empty()) throw BadRecord{"it is too long"};
  }

 private:
  std::string_view rest_;
};

void set_call(std::uint8_t* calls, std::int64_t sample, unsigned call) {
  const auto shift = static_cast<unsigned>(2 * (sample % 4));
  std::uint8_t& byte = calls[sample / 4];
  byte = static_cast<std::uint8_t>((byte & ~(3U << shift)) | call << shift);
}

// Takes a list of samples, in groups of 64, and calls use(i, sample, values), where `values` holds
// 2 bits for each of them if `has_values`. The list holds the number of samples, each group's first
// sample, and the bytes of each group but the last. Then come the values, and the distances of the
// other samples from their predecessors.
template <class Use>
void take_samples(RecordBytes& record, std::int64_t samples, bool has_values, Use use) {
  constexpr std::int64_t group = 64;
  constexpr std::size_t fewest_bytes = group - 1;
  const std::int64_t n = record.take_varint();
  if (n == 0) return;
  if (n > samples) throw BadRecord{"it lists more samples than there are"};
  const std::int64_t groups = (n + group - 1) / group;
  // The width that PLINK 2 writes. At each limit the draft allows one sample more, such as 256 in
  // one byte.
  const std::int64_t width = samples < 1 << 8    ? 1
                             : samples < 1 << 16 ? 2
                             : samples < 1 << 24 ? 3
                                                 : 4;
  const std::uint8_t* const first = record.take(static_cast<std::size_t>(groups * width));
  const std::uint8_t* const sizes = record.take(static_cast<std::size_t>(groups - 1));
  const std::uint8_t* const values =
      record.take(has_values ? static_cast<std::size_t>((n + 3) / 4) : 0);
  std::int64_t sample = -1;
  for (std::int64_t k = 0; k < groups; ++k) {
    const std::size_t before = record.left();
    const std::int64_t end = std::min(n, (k + 1) * group);
    for (std::int64_t i = k * group; i < end; ++i) {
      const std::int64_t last = sample;
      sample =
          i % group == 0 ? little_endian(first + k * width, width) : last + record.take_varint();
      if (sample <= last || sample >= samples) throw BadRecord{"its samples are not in order"};
      use(i, sample, values);
    }
    if (k + 1 < groups && before - record.left() != sizes[k] + fewest_bytes) {
      throw BadRecord{"a group of samples has another size than it says"};
    }
  }
}

// The value of `bits` bits, 1, 2, 4 or 8, at index i; 0 for no bits.
unsigned packed_value(const std::uint8_t* bytes, std::int64_t i, unsigned bits) {
  if (bits == 0) return 0;
  const auto per_byte = static_cast<std::int64_t>(8 / bits);
  return bytes[i / per_byte] >> bits * static_cast<unsigned>(i % per_byte) & ((1U << bits) - 1);
}

// Takes a list of samples with their calls, and sets these.
void take_differences(RecordBytes& record, std::int64_t samples, std::uint8_t* calls) {
  take_samples(record, samples, true,
               [calls](std::int64_t i, std::int64_t sample, const std::uint8_t* values) {
                 set_call(calls, sample, packed_value(values, i, 2));
               });
}

// Spreads a bit for each sample, followed by 0, over two bytes.
unsigned spread(unsigned byte) {
  byte = (byte | byte << 4) & 0x0f0f;
  byte = (byte | byte << 2) & 0x3333;
  return (byte | byte << 1) & 0x5555;
}

// Takes a byte that encodes two calls, then a bit for each sample: 0 for the smaller call, 1 for
// the larger.
void take_two_calls(RecordBytes& record, std::int64_t samples, std::uint8_t* calls) {
  const unsigned code = *record.take(1);
  const unsigned smaller = code >> 2;
  const unsigned distance = code & 3U;
  if (distance == 0 || smaller + distance > 3) throw BadRecord{"it has an unknown pair of calls"};
  const std::int64_t bytes = (samples + 7) / 8;
  const std::uint8_t* const larger = record.take(static_cast<std::size_t>(bytes));
  const std::int64_t stride = (samples + 3) / 4;
  for (std::int64_t i = 0; i < bytes; ++i) {
    const unsigned eight = smaller * 0x5555 + distance * spread(larger[i]);
    calls[2 * i] = static_cast<std::uint8_t>(eight);
    if (2 * i + 1 < stride) calls[2 * i + 1] = static_cast<std::uint8_t>(eight >> 8);
  }
}

void decode(PgenTrack track, RecordBytes& record, std::int64_t samples, const std::uint8_t* base,
            std::uint8_t* calls) {
  const auto stride = static_cast<std::size_t>((samples + 3) / 4);
  switch (track) {
    case PgenTrack::kAllCalls:
      std::memcpy(calls, record.take(stride), stride);
      return;
    case PgenTrack::kTwoCalls:
      take_two_calls(record, samples, calls);
      break;
    case PgenTrack::kDifferences:
    case PgenTrack::kSwapped:
      std::memcpy(calls, base, stride);
      break;
    case PgenTrack::kMostlyZero:
    case PgenTrack::kMostlyTwo:
    case PgenTrack::kMostlyMissing:
      std::memset(calls, static_cast<int>(track) % 4 * 0x55, stride);
      break;
    case PgenTrack::kReserved:
      throw BadRecord{"it is of the kind 5, which is not in use"};
  }
  take_differences(record, samples, calls);
  if (track == PgenTrack::kSwapped) convert_codes(calls, stride, calls_of_other_allele);
}

// The samples of a patch set: those in this category of calls whose alleles are not REF and ALT 1
// alone. `format` is 0 for a bit for each sample of the category, 1 for a list, 15 for none.
std::vector<std::int64_t> take_patched(RecordBytes& record, unsigned format, std::int64_t samples,
                                       const std::uint8_t* categories, unsigned category) {
  constexpr unsigned none = 15;
  std::vector<std::int64_t> patched;
  if (format == none) return patched;
  const auto is_in = [&](std::int64_t i) { return packed_value(categories, i, 2) == category; };
  if (format == 1) {
    take_samples(record, samples, false,
                 [&](std::int64_t, std::int64_t sample, const std::uint8_t*) {
                   if (!is_in(sample)) throw BadRecord{"an ALT allele has a sample without any"};
                   patched.push_back(sample);
                 });
    return patched;
  }
  if (format != 0) throw BadRecord{"its ALT alleles are stored in an unknown form"};
  std::int64_t n = 0;
  for (std::int64_t i = 0; i < samples; ++i) n += is_in(i) ? 1 : 0;
  const std::uint8_t* const bits = record.take(static_cast<std::size_t>((n + 7) / 8));
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    if (is_in(i) && packed_value(bits, at++, 1) != 0) patched.push_back(i);
  }
  return patched;
}

const std::uint8_t* take_values(RecordBytes& record, std::size_t n, unsigned bits) {
  return record.take((n * bits + 7) / 8);
}

// Takes the track of further ALT alleles, and sets `calls` to the copies of one of them. A patched
// call of one copy holds the ALT allele, less 2. A patched call of two copies holds both ALT
// alleles, less 1, or only the second where there are two ALT alleles in all.
void take_alt(RecordBytes& record, std::int64_t samples, const std::uint8_t* categories,
              std::int64_t alt, std::int64_t alts, std::uint8_t* calls) {
  if (alts > 255) throw BadRecord{"it has more than 255 ALT alleles"};
  const unsigned formats = *record.take(1);
  const auto ones = take_patched(record, formats & 15U, samples, categories, 1);
  const unsigned bits_of_one = alts == 2 ? 0 : alts == 3 ? 1 : alts <= 5 ? 2 : alts <= 17 ? 4 : 8;
  const std::uint8_t* const one = take_values(record, ones.size(), bits_of_one);
  for (std::size_t i = 0; i < ones.size(); ++i) {
    const std::int64_t allele = 2 + packed_value(one, static_cast<std::int64_t>(i), bits_of_one);
    if (allele > alts) throw BadRecord{"it has an unknown ALT allele"};
    set_call(calls, ones[i], allele == alt ? 1 : 0);
  }
  const auto twos = take_patched(record, formats >> 4, samples, categories, 2);
  const unsigned bits_of_two = alts == 2 ? 1 : alts <= 4 ? 2 : alts <= 16 ? 4 : 8;
  const std::int64_t per_call = alts == 2 ? 1 : 2;
  const std::uint8_t* const two =
      take_values(record, twos.size() * static_cast<std::size_t>(per_call), bits_of_two);
  for (std::size_t i = 0; i < twos.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i) * per_call;
    const std::int64_t first =
        alts == 2 ? 1 + packed_value(two, at, 1) : 1 + packed_value(two, at, bits_of_two);
    const std::int64_t second = alts == 2 ? 2 : 1 + packed_value(two, at + 1, bits_of_two);
    if (std::max(first, second) > alts) throw BadRecord{"it has an unknown ALT allele"};
    set_call(calls, twos[i], (first == alt ? 1U : 0U) + (second == alt ? 1U : 0U));
  }
}

// Skips the track of phases. Its first bit is set if a bit for each heterozygous call says whether
// it is phased. A bit for each phased call follows.
void skip_phases(RecordBytes& record, std::int64_t samples, const std::uint8_t* calls) {
  std::int64_t heterozygous = 0;
  for (std::int64_t i = 0; i < samples; ++i) heterozygous += packed_value(calls, i, 2) == 1 ? 1 : 0;
  if (heterozygous == 0) throw BadRecord{"it has phases, but no heterozygous call"};
  const std::uint8_t* const bits =
      take_values(record, static_cast<std::size_t>(heterozygous) + 1, 1);
  if ((bits[0] & 1U) == 0) return;
  std::size_t phased = 0;
  for (std::int64_t i = 1; i <= heterozygous; ++i) phased += packed_value(bits, i, 1);
  take_values(record, phased, 1);
}

// How a record stores which samples have dosages, in bits 5 and 6 of its type.
enum class DosedSamples : std::uint8_t { kNone = 0, kListed = 1, kAll = 2, kBits = 3 };

constexpr DosedSamples dosed_samples(std::uint8_t record_type) {
  return static_cast<DosedSamples>(record_type >> 5 & 3U);
}

// Sets the dosage that is stored in two bytes. In a track of all samples, `missing` leaves a
// sample its call.
void set_dosage(const std::uint8_t* stored, bool may_be_missing, Dosage& dosage) {
  constexpr std::int64_t missing = 0xffff;
  const std::int64_t value = little_endian(stored, 2);
  if (may_be_missing && value == missing) return;
  if (value > std::int64_t{2} * kMostUnit)
    throw BadRecord{"it has a dosage of more than two copies"};
  dosage = static_cast<Dosage>(value - kMostUnit);
}

// Takes the tracks of dosages, and returns the number of samples that have one.
std::size_t take_dosages(RecordBytes& record, DosedSamples dosed, std::int64_t samples,
                         Dosage* dosages) {
  const auto all = static_cast<std::size_t>(samples);
  if (dosed == DosedSamples::kAll) {
    const std::uint8_t* stored = record.take(2 * all);
    for (std::size_t i = 0; i < all; ++i, stored += 2) set_dosage(stored, true, dosages[i]);
    return all;
  }
  std::vector<std::int64_t> listed;
  if (dosed == DosedSamples::kListed) {
    take_samples(
        record, samples, false,
        [&](std::int64_t, std::int64_t sample, const std::uint8_t*) { listed.push_back(sample); });
  } else {
    const std::uint8_t* const bits = take_values(record, all, 1);
    for (std::int64_t i = 0; i < samples; ++i) {
      if (packed_value(bits, i, 1) != 0) listed.push_back(i);
    }
  }
  const std::uint8_t* stored = record.take(2 * listed.size());
  for (const std::int64_t sample : listed) {
    set_dosage(stored, false, dosages[sample]);
    stored += 2;
  }
  return listed.size();
}

// Skips the tracks of phased dosages: which of n dosages have a phase, unless all samples have a
// dosage, and their phases.
void skip_phased_dosages(RecordBytes& record, DosedSamples dosed, std::size_t n) {
  std::size_t phased = n;
  if (dosed != DosedSamples::kAll) {
    const std::uint8_t* const bits = take_values(record, n, 1);
    phased = 0;
    for (std::size_t i = 0; i < n; ++i) {
      phased += packed_value(bits, static_cast<std::int64_t>(i), 1);
    }
  }
  record.take(2 * phased);
}

}  // namespace

const char* decode_pgen_record(std::uint8_t record_type, std::string_view record,
                               std::int64_t samples, const std::uint8_t* base,
                               std::uint8_t* calls) {
  try {
    RecordBytes bytes(record);
    decode(pgen_track(record_type), bytes, samples, base, calls);
    bytes.expect_end(has_further_tracks(record_type));
  } catch (const BadRecord& bad) {
    return bad.problem;
  }
  clear_padding(calls, samples);
  return nullptr;
}

const char* decode_pgen_alt(std::uint8_t record_type, std::string_view record, std::int64_t samples,
                            const std::uint8_t* base, std::int64_t alt, std::int64_t alts,
                            std::uint8_t* categories, std::uint8_t* calls) {
  const auto stride = static_cast<std::size_t>((samples + 3) / 4);
  try {
    RecordBytes bytes(record);
    decode(pgen_track(record_type), bytes, samples, base, categories);
    clear_padding(categories, samples);
    std::memcpy(calls, categories, stride);
    // Without the track, all copies are of the first ALT allele.
    if (alt > 1) convert_codes(calls, stride, missing_calls_alone);
    if (has_several_alts(record_type)) take_alt(bytes, samples, categories, alt, alts, calls);
    bytes.expect_end((record_type & 0xf0U) != 0);
  } catch (const BadRecord& bad) {
    return bad.problem;
  }
  return nullptr;
}

const char* decode_pgen_dosages(std::uint8_t record_type, std::string_view record,
                                std::int64_t samples, const std::uint8_t* base, std::uint8_t* calls,
                                Dosage* dosages) {
  const DosedSamples dosed = dosed_samples(record_type);
  if (dosed == DosedSamples::kNone) {
    const char* const problem = decode_pgen_record(record_type, record, samples, base, calls);
    if (problem == nullptr) calls_as_dosages(calls, samples, 1, dosages);
    return problem;
  }
  try {
    RecordBytes bytes(record);
    decode(pgen_track(record_type), bytes, samples, base, calls);
    clear_padding(calls, samples);
    calls_as_dosages(calls, samples, kMostUnit, dosages);
    if (has_phases(record_type)) skip_phases(bytes, samples, calls);
    const std::size_t n = take_dosages(bytes, dosed, samples, dosages);
    if (has_phased_dosages(record_type)) skip_phased_dosages(bytes, dosed, n);
    bytes.expect_end(false);
  } catch (const BadRecord& bad) {
    return bad.problem;
  }
  return nullptr;
}

}  // namespace ancify
