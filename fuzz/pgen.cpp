// Fuzzes PGEN: all ways of reading give the calls that a slow, plain reader finds, or an error.
#include <stdexcept>

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
  std::size_t varint() {
    std::size_t value = 0;
    for (std::size_t place = 0; place < 5; ++place) {
      const std::size_t byte = number(1);
      value |= (byte & 127) << 7 * place;
      if (byte < 128) return value;
    }
    throw Bad("a long number");
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

void change(Bytes& record, Calls& calls) {
  const std::size_t n = record.varint();
  need(n <= calls.size());
  const std::size_t groups = (n + 63) / 64;
  std::size_t width = 1;
  while (width < 4 && calls.size() >> 8 * width > 0) ++width;
  std::vector<std::size_t> firsts;
  std::vector<std::size_t> sizes;
  for (std::size_t k = 0; k < groups; ++k) firsts.push_back(record.number(width));
  for (std::size_t k = 1; k < groups; ++k) sizes.push_back(63 + record.number(1));
  const std::vector<unsigned> values = record.packed(n, 2);
  std::size_t sample = 0;
  std::size_t left = record.text.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t last = sample;
    if (i % 64 == 0) {
      if (i > 0) need(left - record.text.size() == sizes[i / 64 - 1]);
      left = record.text.size();
    }
    sample = i % 64 == 0 ? firsts[i / 64] : last + record.varint();
    need((i == 0 || sample > last) && sample < calls.size());
    calls[sample] = values[i];
  }
}

Calls decode(unsigned type, Bytes record, std::size_t samples, const Calls& base) {
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
  if (type != 0) change(record, calls);
  need(record.text.empty() != has_more);
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

// The calls of a file of at most 65536 variants.
std::string read_all(std::string_view input, std::size_t samples, std::size_t variants) {
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
  if (mode == 0x02) {
    skip_reference_bits();
  } else {
    need(mode == 0x10 && control % 16 < 8);
    const std::size_t begin = header.number(8);
    types = header.packed(variants, control % 8 < 4 ? 4 : 8);
    for (std::size_t& length : lengths) length = header.number(1 + control % 4);
    const std::size_t allele_bytes = control / 16 % 4;
    for (std::size_t j = 0; allele_bytes > 0 && j < variants; ++j) {
      need(header.number(allele_bytes) <= 2);
    }
    for (const unsigned type : types) need((type & 8) == 0);
    skip_reference_bits();
    need(begin <= input.size() && begin >= input.size() - header.text.size());
    header.text = input.substr(begin);
  }
  std::string text;
  Calls base;
  for (std::size_t j = 0; j < variants; ++j) {
    need(lengths[j] <= header.text.size() && (j > 0 || types[j] % 8 / 2 != 1));
    const Calls calls = decode(types[j], {header.text.substr(0, lengths[j])}, samples, base);
    if (types[j] % 8 / 2 != 1) base = calls;
    header.text.remove_prefix(lengths[j]);
    text += as_text(calls);
  }
  need(header.text.empty());
  return text;
}

std::string read_slowly(std::string_view input, std::size_t samples, std::size_t variants) {
  try {
    return read_all(input, samples, variants);
  } catch (const Bad&) {
    return {};
  }
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
  if (input[2] != 0x02 && input[2] != 0x10) return;
  const std::string calls = read_in_any_pieces(input, samples, variants);
  require_equal(is_error(calls) ? "" : calls, read_slowly(input, samples, variants),
                "the calls and the slow way");
}

}  // namespace ancify::fuzz
