// Genotypes for tests: random calls, and slow writers of BED and of every kind of PGEN record.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/io/little_endian.h"

namespace ancify::test {

// A call (0, 1, 2, or 3 for a missing one) of each sample.
using Calls = std::vector<unsigned>;

// Random calls. `weights` are the weights of the calls 0, 1, 2 and 3.
inline Calls random_calls(std::size_t samples, std::mt19937_64& random,
                          const std::vector<double>& weights = {4, 3, 2, 1}) {
  std::discrete_distribution<unsigned> draw(weights.begin(), weights.end());
  Calls calls(samples);
  for (unsigned& call : calls) call = draw(random);
  return calls;
}

// Packs calls in 2 bits each, by any codes of the calls.
inline std::string pack(const Calls& calls, const std::vector<unsigned>& codes = {0, 1, 2, 3}) {
  std::string bytes((calls.size() + 3) / 4, '\0');
  for (std::size_t i = 0; i < calls.size(); ++i) {
    bytes[i / 4] = static_cast<char>(bytes[i / 4] + (codes[calls[i]] << 2 * (i % 4)));
  }
  return bytes;
}

// The bytes of a number, lowest first.
inline std::string number_bytes(std::uint64_t number, std::size_t n) {
  std::string bytes;
  for (std::size_t i = 0; i < n; ++i) bytes += static_cast<char>(number >> 8 * i & 0xff);
  return bytes;
}

inline std::string bed_file(const std::vector<Calls>& variants) {
  std::string file = "\x6c\x1b\x01";
  for (const Calls& calls : variants) file += pack(calls, {3, 2, 0, 1});
  return file;
}

// ---- PGEN ---------------------------------------------------------------------------------------

inline std::string varint(std::size_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(0x80 | (number & 0x7f));
  return bytes + static_cast<char>(number);
}

// The list of samples whose calls differ from `expected`, with their calls.
inline std::string difference_list(const Calls& calls, const Calls& expected) {
  std::vector<std::size_t> samples;
  Calls values;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i] == expected[i]) continue;
    samples.push_back(i);
    values.push_back(calls[i]);
  }
  const std::size_t n = calls.size();
  const std::size_t width = n < 256 ? 1 : n < 65536 ? 2 : n < 16777216 ? 3 : 4;
  std::string firsts;
  std::vector<std::string> groups;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i % 64 == 0) {
      firsts += number_bytes(samples[i], width);
      groups.emplace_back();
    } else {
      groups.back() += varint(samples[i] - samples[i - 1]);
    }
  }
  std::string sizes;
  for (std::size_t k = 0; k + 1 < groups.size(); ++k) {
    sizes += static_cast<char>(groups[k].size() - 63);
  }
  std::string list = varint(samples.size()) + firsts + sizes + pack(values);
  for (const std::string& group : groups) list += group;
  return list;
}

// The two most common calls, the smaller one first; of equally common calls, the smaller ones.
inline std::pair<unsigned, unsigned> commonest(const Calls& calls) {
  std::vector<unsigned> order = {0, 1, 2, 3};
  const auto count = [&](unsigned call) { return std::count(calls.begin(), calls.end(), call); };
  std::stable_sort(order.begin(), order.end(),
                   [&](unsigned a, unsigned b) { return count(a) > count(b); });
  return std::minmax(order[0], order[1]);
}

inline std::string two_calls(const Calls& calls) {
  const std::pair<unsigned, unsigned> pair = commonest(calls);
  std::string bits((calls.size() + 7) / 8, '\0');
  Calls expected;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const bool larger = calls[i] == pair.second;
    expected.push_back(larger ? pair.second : pair.first);
    if (larger) bits[i / 8] = static_cast<char>(bits[i / 8] | 1 << i % 8);
  }
  const auto code = static_cast<char>(4 * pair.first + (pair.second - pair.first));
  return code + bits + difference_list(calls, expected);
}

inline Calls swapped(Calls calls) {
  for (unsigned& call : calls) call = call % 2 == 0 ? 2 - call : call;
  return calls;
}

// A record's main track. `base`: calls of the last variant whose track is not 2 or 3.
inline std::string pgen_record(unsigned track, const Calls& calls, const Calls& base) {
  if (track == 0) return pack(calls);
  if (track == 1) return two_calls(calls);
  if (track == 2) return difference_list(calls, base);
  if (track == 3) return difference_list(swapped(calls), base);
  return difference_list(calls, Calls(calls.size(), track % 4));
}

struct PgenOptions {
  std::size_t length_bytes = 2;
  bool wide_types = false;       // 8 bits instead of 4
  std::size_t allele_bytes = 0;  // bytes of allele counts, which are all 2
  bool reference_bits = false;   // whether each variant has a bit for its REF
};

// A file of the storage mode 10. `types` are the types of the records.
inline std::string pgen_of_records(std::size_t samples, const std::vector<unsigned>& types,
                                   const std::vector<std::string>& records,
                                   const PgenOptions& options = {}) {
  constexpr std::size_t block = 65536;
  const std::size_t n = records.size();
  std::string index;
  std::vector<std::size_t> sizes;  // bytes of each block's records
  for (std::size_t first = 0; first < n; first += block) {
    const std::size_t end = std::min(n, first + block);
    const std::size_t width = options.wide_types ? 1 : 2;
    for (std::size_t i = first; i < end; i += width) {
      const unsigned next = width == 2 && i + 1 < end ? types[i + 1] : 0;
      index += static_cast<char>(types[i] + 16 * next);
    }
    sizes.push_back(0);
    for (std::size_t i = first; i < end; ++i) {
      index += number_bytes(records[i].size(), options.length_bytes);
      sizes.back() += records[i].size();
    }
    for (std::size_t i = first; i < end; ++i) index += number_bytes(2, options.allele_bytes);
    if (options.reference_bits) index += std::string((end - first + 7) / 8, '\xaa');
  }
  const std::size_t control = options.length_bytes - 1 + (options.wide_types ? 4 : 0) +
                              16 * options.allele_bytes + (options.reference_bits ? 0xc0 : 0x40);
  std::string file =
      "\x6c\x1b\x10" + number_bytes(n, 4) + number_bytes(samples, 4) + static_cast<char>(control);
  std::size_t begin = file.size() + 8 * sizes.size() + index.size();
  for (const std::size_t size : sizes) {
    file += number_bytes(begin, 8);
    begin += size;
  }
  file += index;
  for (const std::string& record : records) file += record;
  return file;
}

// A file with its index beside it, made of one of few variants: its content and the index's.
inline std::pair<std::string, std::string> with_index_beside(const std::string& pgen) {
  const auto begin = static_cast<std::size_t>(little_endian<std::uint64_t>(&pgen[12]));
  std::string index = pgen.substr(0, begin);
  index[2] = static_cast<char>(index[2] + 0x20);
  index.replace(12, 8, number_bytes(3, 8));
  return {pgen.substr(0, 2) + static_cast<char>(pgen[2] + 0x10) + pgen.substr(begin), index};
}

// The same, with these tracks.
inline std::string pgen_file(const std::vector<Calls>& variants,
                             const std::vector<unsigned>& tracks, const PgenOptions& options = {}) {
  std::vector<std::string> records;
  std::size_t base = 0;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (tracks[i] != 2 && tracks[i] != 3) base = i;
    records.push_back(pgen_record(tracks[i], variants[i], variants[base]));
  }
  return pgen_of_records(variants[0].size(), tracks, records, options);
}

// A file of the storage mode 02.
inline std::string pgen_of_calls(const std::vector<Calls>& variants, bool reference_bits = false) {
  std::string file = "\x6c\x1b\x02" + number_bytes(variants.size(), 4) +
                     number_bytes(variants[0].size(), 4) + (reference_bits ? '\xc0' : '\x40');
  if (reference_bits) file += std::string((variants.size() + 7) / 8, '\xaa');
  for (const Calls& calls : variants) file += pack(calls);
  return file;
}

}  // namespace ancify::test
