// Fuzzes PGEN: all ways of reading give the calls and dosages that a slow, plain reader finds, or
// an error. Files with their index beside them give equal results.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "genotypes.h"

namespace ancify::fuzz {

namespace {

struct Bad : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void need(bool good) {
  if (!good) throw Bad("not a PGEN that is read");
}

// Takes numbers from the start of a text.
struct Bytes {
  std::string_view text;

  std::size_t number(std::size_t n) {
    need(text.size() >= n);
    std::size_t value = 0;
    for (std::size_t i = n; i > 0; --i) {
      value = value << 8 | static_cast<unsigned char>(text[i - 1]);
    }
    text.remove_prefix(n);
    return value;
  }
  std::size_t varint(std::size_t most = 5) {
    std::size_t value = 0;
    for (std::size_t place = 0; place < most; ++place) {
      const std::size_t byte = number(1);
      value |= (byte & 127) << 7 * place;
      if (byte < 128) return value;
    }
    throw Bad("a long number");
  }
  // The number of flags that are set among up to 256.
  std::size_t flags() {
    std::size_t n = 0;
    for (std::size_t place = 0; place < 37; ++place) {
      const std::size_t byte = number(1);
      for (std::size_t i = 0; i < 7; ++i) n += byte >> i & 1;
      if (byte < 128) return n;
    }
    throw Bad("too many flags");
  }
  // Numbers of `bits` bits.
  std::vector<unsigned> packed(std::size_t n, std::size_t bits) {
    std::vector<unsigned> values;
    for (std::size_t taken = 0; taken < n; taken += 8 / bits) {
      const std::size_t byte = number(1);
      for (std::size_t i = 0; i < 8 / bits && taken + i < n; ++i) {
        values.push_back(byte >> bits * i & ((1U << bits) - 1));
      }
    }
    return values;
  }
};

using Calls = std::vector<unsigned>;

// Samples of a list, each with its value, which is 0 if the list has none.
using Listed = std::vector<std::pair<std::size_t, unsigned>>;

Listed listed(Bytes& record, std::size_t all, bool has_values) {
  const std::size_t n = record.varint();
  need(n <= all);
  const std::size_t groups = (n + 63) / 64;
  std::size_t width = 1;
  while (width < 4 && all >> 8 * width > 0) ++width;
  std::vector<std::size_t> firsts;
  std::vector<std::size_t> sizes;
  for (std::size_t k = 0; k < groups; ++k) firsts.push_back(record.number(width));
  for (std::size_t k = 1; k < groups; ++k) sizes.push_back(63 + record.number(1));
  const std::vector<unsigned> values = has_values ? record.packed(n, 2) : Calls(n);
  Listed found;
  std::size_t sample = 0;
  std::size_t left = record.text.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t last = sample;
    if (i % 64 == 0) {
      if (i > 0) need(left - record.text.size() == sizes[i / 64 - 1]);
      left = record.text.size();
    }
    sample = i % 64 == 0 ? firsts[i / 64] : last + record.varint();
    need((i == 0 || sample > last) && sample < all);
    found.emplace_back(sample, values[i]);
  }
  return found;
}

// The samples whose calls are of this category and have ALT alleles after the first.
std::vector<std::size_t> patched(Bytes& record, unsigned format, const Calls& calls,
                                 unsigned category) {
  std::vector<std::size_t> samples;
  if (format == 15) return samples;
  need(format < 2);
  if (format == 1) {
    for (const auto& [sample, value] : listed(record, calls.size(), false)) {
      need(calls[sample] == category);
      samples.push_back(sample);
    }
    return samples;
  }
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i] == category) all.push_back(i);
  }
  const std::vector<unsigned> bits = record.packed(all.size(), 1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (bits[i] == 1) samples.push_back(all[i]);
  }
  return samples;
}

// The copies of each of `alts` ALT alleles, of calls that count all.
std::vector<Calls> split(Bytes& record, const Calls& calls, bool has_track, std::size_t alts) {
  std::vector<Calls> copies(alts, Calls(calls.size()));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (Calls& of_alt : copies) of_alt[i] = calls[i] == 3 ? 3 : 0;
    if (calls[i] < 3) copies[0][i] = calls[i];
  }
  if (!has_track) return copies;
  const std::size_t formats = record.number(1);
  const auto values = [&](std::size_t n, std::size_t bits) {
    return bits == 0 ? Calls(n) : record.packed(n, bits);
  };
  const auto ones = patched(record, formats % 16, calls, 1);
  const Calls one = values(ones.size(), alts == 2 ? 0 : alts == 3 ? 1 : alts < 6 ? 2 : 4);
  for (std::size_t i = 0; i < ones.size(); ++i) {
    need(one[i] + 2 <= alts);
    copies[0][ones[i]] = 0;
    copies[one[i] + 1][ones[i]] = 1;
  }
  const auto twos = patched(record, static_cast<unsigned>(formats / 16), calls, 2);
  const std::size_t per_call = alts == 2 ? 1 : 2;
  const Calls two = values(twos.size() * per_call, alts == 2 ? 1 : alts < 5 ? 2 : 4);
  for (std::size_t i = 0; i < twos.size(); ++i) {
    const unsigned first = two[i * per_call];
    const unsigned second = alts == 2 ? 1 : two[i * per_call + 1];
    need(first < alts && second < alts);
    copies[0][twos[i]] = 0;
    ++copies[first][twos[i]];
    ++copies[second][twos[i]];
  }
  return copies;
}

// The calls that count all ALT alleles; the first of `record` is then the next track.
Calls decode(unsigned type, Bytes& record, std::size_t samples, const Calls& base) {
  const bool has_more = type > 7;
  need(record.text.size() <= (has_more ? 12 * samples + 256 : 2 * samples + 64));
  type %= 8;
  need(type != 5);
  Calls calls = base;
  if (type == 0) calls = record.packed(samples, 2);
  if (type == 1) {
    const std::size_t code = record.number(1);
    need(std::string_view("\1\2\3\5\6\x9").find(static_cast<char>(code)) != std::string_view::npos);
    const Calls bits = record.packed(samples, 1);
    calls.clear();
    for (const unsigned bit : bits) calls.push_back(code / 4 + bit * (code % 4));
  }
  if (type >= 4) calls.assign(samples, type % 4);
  if (type != 0) {
    for (const auto& [sample, call] : listed(record, samples, true)) calls[sample] = call;
  }
  if (type == 3) {
    for (unsigned& call : calls) call = call % 2 == 0 ? 2 - call : call;
  }
  return calls;
}

std::string as_text(const Calls& calls) {
  std::string text;
  for (const unsigned call : calls) text += "012."[call];
  return text + '\n';
}

// Hard calls as dosages.
std::string as_dosages(const Calls& calls, int unit) {
  std::string text = std::to_string(unit);
  for (const unsigned call : calls) {
    text += call == 3 ? " ." : ' ' + std::to_string((static_cast<int>(call) - 1) * unit);
  }
  return text + '\n';
}

// The dosages of a variant with one ALT allele; `record` begins with the track of phases, if any.
std::string dosages_of(unsigned type, Bytes& record, const Calls& calls) {
  if (type / 32 % 4 == 0) {
    need(record.text.empty() == (type < 8));
    return as_dosages(calls, 1);
  }
  if (type / 16 % 2 == 1) {
    const auto hets = static_cast<std::size_t>(std::count(calls.begin(), calls.end(), 1U));
    need(hets > 0);
    const auto bits = record.packed(hets + 1, 1);
    if (bits[0] == 1) {
      record.packed(static_cast<std::size_t>(std::count(bits.begin() + 1, bits.end(), 1U)), 1);
    }
  }
  std::vector<std::string> dosages;
  for (const unsigned call : calls) {
    dosages.push_back(call == 3 ? "." : std::to_string((static_cast<int>(call) - 1) * 16384));
  }
  std::vector<std::size_t> dosed;
  if (type / 32 % 4 == 1) {
    for (const auto& one : listed(record, calls.size(), false)) dosed.push_back(one.first);
  } else {
    const bool all = type / 32 % 4 == 2;
    const Calls bits = all ? Calls(calls.size(), 1) : record.packed(calls.size(), 1);
    for (std::size_t i = 0; i < bits.size(); ++i) {
      if (bits[i] == 1) dosed.push_back(i);
    }
  }
  for (const std::size_t sample : dosed) {
    const std::size_t value = record.number(2);
    if (value == 65535 && type / 32 % 4 == 2) continue;
    need(value <= 32768);
    dosages[sample] = std::to_string(static_cast<int>(value) - 16384);
  }
  if (type >= 128) {
    std::size_t phased = dosed.size();
    if (type / 32 % 4 != 2) {
      const Calls bits = record.packed(dosed.size(), 1);
      phased = static_cast<std::size_t>(std::count(bits.begin(), bits.end(), 1U));
    }
    for (std::size_t i = 0; i < phased; ++i) record.number(2);
  }
  need(record.text.empty());
  std::string text = "16384";
  for (const std::string& one : dosages) text += ' ' + one;
  return text + '\n';
}

// The calls of a file of at most 65536 variants, also of each of several ALT alleles; or their
// dosages. `index_beside`: whether all bytes before the records are the index.
std::string read_all(std::string_view input, std::size_t samples, const std::vector<int>& alts,
                     bool dosages, bool index_beside) {
  const std::size_t variants = alts.size();
  Bytes header{input};
  need(header.number(2) == 0x1b6c);
  const std::size_t mode = header.number(1);
  need(header.number(4) == variants && header.number(4) == samples);
  const std::size_t control = header.number(1);
  const auto skip_reference_bits = [&] {
    if (control >= 0xc0) header.packed(variants, 1);
  };
  std::vector<unsigned> types(variants, 0);
  std::vector<std::size_t> lengths(variants, (samples + 3) / 4);
  std::string_view::size_type end = input.size();
  if (mode < 0x10) {
    need(mode >= 0x02 && mode <= 0x04);
    skip_reference_bits();
    types.assign(variants, mode == 0x02 ? 0 : mode == 0x03 ? 0x40 : 0xc0);
    for (std::size_t& length : lengths) length += 2 * samples * (mode - 2);
  } else {
    need(control % 16 < 8);
    const std::size_t begin = header.number(8);
    types = header.packed(variants, control % 8 < 4 ? 4 : 8);
    for (std::size_t& length : lengths) length = header.number(1 + control % 4);
    const std::size_t allele_bytes = control / 16 % 4;
    for (std::size_t j = 0; allele_bytes > 0 && j < variants; ++j) {
      need(std::max<std::size_t>(header.number(allele_bytes), 2) ==
           static_cast<std::size_t>(alts[j]) + 1);
    }
    for (std::size_t j = 0; j < variants; ++j) need((types[j] & 8) == 0 || alts[j] > 1);
    skip_reference_bits();
    need(begin <= input.size() && begin >= input.size() - header.text.size());
    if (mode == 0x11) {
      const std::size_t extensions = header.flags();
      if (header.flags() > 0) end = header.number(8);
      std::size_t contents = 0;
      for (std::size_t i = 0; i < extensions; ++i) {
        const std::size_t size = header.varint(9);
        need(size <= input.size());
        contents += size;
      }
      need(contents <= header.text.size());
      header.text.remove_prefix(contents);
    }
    const std::size_t header_end = input.size() - header.text.size();
    need(index_beside ? begin == header_end : begin >= header_end);
    need(begin <= end && end <= input.size());
    header.text = input.substr(begin, end - begin);
  }
  std::string text;
  Calls base;
  for (std::size_t j = 0; j < variants; ++j) {
    need(lengths[j] <= header.text.size() && (j > 0 || types[j] % 8 / 2 != 1));
    Bytes record{header.text.substr(0, lengths[j])};
    const Calls calls = decode(types[j], record, samples, base);
    if (types[j] % 8 / 2 != 1) base = calls;
    header.text.remove_prefix(lengths[j]);
    if (alts[j] == 1) {
      text += dosages ? dosages_of(types[j], record, calls) : as_text(calls);
      need(dosages || record.text.empty() == (types[j] < 8));
      continue;
    }
    need(!dosages || types[j] / 32 % 4 == 0);
    const auto n = static_cast<std::size_t>(alts[j]);
    for (const Calls& copies : split(record, calls, (types[j] & 8) != 0, n)) {
      text += dosages ? as_dosages(copies, 1) : as_text(copies);
    }
    need(record.text.empty() == (types[j] < 16));
  }
  need(header.text.empty());
  return text;
}

std::string read_slowly(std::string_view input, std::size_t samples, const std::vector<int>& alts,
                        bool dosages, bool index_beside) {
  try {
    return read_all(input, samples, alts, dosages, index_beside);
  } catch (const Bad&) {
    return {};
  }
}

// A file with its index beside it, made of one with an index in itself; none if it has no records.
std::optional<std::pair<std::string, std::string>> with_index_beside(std::string_view input) {
  constexpr std::size_t magic_end = 3;
  constexpr std::size_t begin_at = 12;
  if (input.size() < begin_at + 8) return std::nullopt;
  const std::size_t begin = Bytes{input.substr(begin_at)}.number(8);
  if (begin < begin_at + 8 || begin > input.size()) return std::nullopt;
  std::string index(input.substr(0, begin));
  std::string file(input.substr(0, magic_end));
  index[2] = static_cast<char>(index[2] + 0x20);
  file[2] = static_cast<char>(file[2] + 0x10);
  file += input.substr(begin);
  const auto put = [&](std::size_t at, std::size_t number) {
    for (std::size_t i = 0; i < 8; ++i) index[at + i] = static_cast<char>(number >> 8 * i & 0xff);
  };
  put(begin_at, magic_end);
  return std::pair(file, index);
}

void write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
}

// The path of a file with this content, and its index beside it.
std::string as_files(const std::pair<std::string, std::string>& contents) {
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("fuzz-" + std::to_string(getpid()) + ".pgen"))
          .string();
  write(path, contents.first);
  write(path + ".pgi", contents.second);
  return path;
}

}  // namespace

void check(std::string_view input) {
  constexpr std::size_t counts_at = 3;
  if (input.size() < counts_at + 8) return;
  Bytes counts{input.substr(counts_at)};
  const std::size_t variants = counts.number(4);
  const std::size_t samples = counts.number(4);
  // Larger files run no further code, but are slow.
  constexpr std::size_t most = 3000;
  if (variants == 0 || variants > most || samples == 0 || samples > most) return;
  const bool has_index = input[2] == 0x10 || input[2] == 0x11;
  if ((input[2] < 0x02 || input[2] > 0x04) && !has_index) return;
  // Allele counts come from the table beside the file. Few variants have many ALT alleles.
  Choices choices(input);
  const bool any_several = choices.one_in(2);
  std::vector<int> alts(variants, 1);
  for (int& n : alts) {
    if (any_several && choices.one_in(3)) n = 2 + static_cast<int>(choices.below(6));
  }
  for (const bool dosages : {false, true}) {
    const auto check_file = [&](const std::string& path, bool index_beside) {
      const std::string found = read_in_any_pieces(
          input, samples, variants, any_several ? alts : std::vector<int>(), dosages, path);
      require_equal(is_error(found) ? "" : found,
                    read_slowly(input, samples, alts, dosages, index_beside),
                    "the genotypes and the slow way");
    };
    check_file("", false);
    if (!has_index || !choices.one_in(4)) continue;
    if (const auto beside = with_index_beside(input)) check_file(as_files(*beside), true);
  }
}

}  // namespace ancify::fuzz
