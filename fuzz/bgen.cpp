// Fuzzes BGEN: all ways of reading give the index and calls that a slow, plain reader finds, or an
// error.
#include <zlib.h>

#include <cmath>
#include <set>
#include <stdexcept>

#ifdef ANCIFY_HAVE_ZSTD
#include <zstd.h>
#endif

#include "core/exec/job_control.h"
#include "core/formats/genotype/bgen_block.h"
#include "core/formats/genotype/bgen_genotypes.h"
#include "core/formats/genotype/bgen_index.h"
#include "core/io/text.h"
#include "genotypes.h"

namespace ancify::fuzz {

namespace {

// Larger files run no further code, but are slow.
constexpr std::size_t kMostSamples = 3000;

struct Bad : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void need(bool good) {
  if (!good) throw Bad("not a BGEN that is read");
}

// Takes numbers and texts from the start of a text.
struct Bytes {
  std::string_view rest;

  std::string_view take(std::size_t n) {
    need(n <= rest.size());
    const std::string_view taken = rest.substr(0, n);
    rest.remove_prefix(n);
    return taken;
  }
  std::size_t number(std::size_t n) {
    std::size_t value = 0;
    const std::string_view bytes = take(n);
    for (std::size_t i = n; i > 0; --i) {
      value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
    }
    return value;
  }
  std::string text(std::size_t width) {
    const std::string taken(take(number(width)));
    need(is_utf8(taken) && taken.find('\0') == taken.npos && taken.size() <= 1 << 20);
    return taken;
  }
};

std::string inflated(std::size_t compression, std::string_view bytes, std::size_t size) {
  std::string text(size, '\0');
  if (compression == 1) {
    uLongf produced = size;
    uLong used = bytes.size();
    need(uncompress2(reinterpret_cast<Bytef*>(&text[0]), &produced,
                     reinterpret_cast<const Bytef*>(bytes.data()), &used) == Z_OK);
    need(produced == size && used == bytes.size());
    return text;
  }
#ifdef ANCIFY_HAVE_ZSTD
  need(ZSTD_decompress(&text[0], size, bytes.data(), bytes.size()) == size);
  return text;
#else
  throw Bad("Zstandard");
#endif
}

// The call of a dosage, which is a fraction of small integers.
char call_of(std::size_t numerator, std::size_t one, bool haploid) {
  for (std::size_t copies = 0; copies <= 2; copies += haploid ? 2 : 1) {
    const std::size_t exact = copies * one;
    const std::size_t distance = numerator > exact ? numerator - exact : exact - numerator;
    if (10 * distance <= one) return "012"[copies];
  }
  return '.';
}

// The calls of a block of two alleles.
std::string calls_slowly(std::string_view block, std::size_t samples) {
  Bytes bytes{block};
  need(bytes.number(4) == samples && bytes.number(2) == 2);
  const std::size_t least = bytes.number(1);
  const std::size_t most = bytes.number(1);
  std::vector<std::size_t> ploidies;
  std::size_t copies = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    const std::size_t byte = bytes.number(1);
    const std::size_t ploidy = byte % 64;
    need(ploidy <= 2 && ploidy >= least && ploidy <= most);
    ploidies.push_back(byte);
    copies += ploidy;
  }
  const std::size_t phased = bytes.number(1);
  const std::size_t bits = bytes.number(1);
  need(phased <= 1 && bits >= 1 && bits <= 32);
  need(bytes.rest.size() == (copies * bits + 7) / 8);
  std::size_t at = 0;
  const auto next = [&] {
    std::size_t value = 0;
    for (std::size_t k = 0; k < bits; ++k, ++at) {
      value |= static_cast<std::size_t>(bytes.rest[at / 8] >> at % 8 & 1) << k;
    }
    return value;
  };
  const std::size_t one = (std::size_t{1} << bits) - 1;
  std::string calls;
  for (const std::size_t byte : ploidies) {
    if (byte % 64 == 0) {
      calls += '.';
      continue;
    }
    const bool haploid = byte % 64 == 1;
    const std::size_t first = next();
    const std::size_t second = haploid ? 0 : next();
    if (byte >= 128) {
      calls += '.';
      continue;
    }
    need(phased == 1 || first + second <= one);
    calls += call_of(2 * one - (haploid || phased == 0 ? 2 : 1) * first - second, one, haploid);
  }
  return calls + '\n';
}

struct Header {
  std::size_t samples = 0;
  std::size_t variants = 0;
  std::size_t compression = 0;
  bool has_ids = false;
  std::size_t ids_begin = 0;
  std::size_t variants_begin = 0;
};

Header read_header(std::string_view input) {
  Bytes bytes{input};
  Header header;
  header.variants_begin = 4 + bytes.number(4);
  const std::size_t size = bytes.number(4);
  header.variants = bytes.number(4);
  header.samples = bytes.number(4);
  const std::string_view magic = bytes.take(4);
  need(magic == "bgen" || magic == std::string_view("\0\0\0\0", 4));
  header.ids_begin = 4 + size;
  need(size >= 20 && header.ids_begin <= header.variants_begin &&
       header.variants_begin <= input.size());
  const std::size_t flags = Bytes{input.substr(size)}.number(4);
  header.compression = flags & 3;
  header.has_ids = flags >> 31 != 0;
  need(header.compression != 3 && (flags >> 2 & 15) == 2);
  need(header.samples > 0 && header.variants > 0);
  return header;
}

void take_ids(std::string_view input, const Header& header, std::string& text) {
  need(header.variants_begin >= header.ids_begin + 8);
  Bytes bytes{input.substr(header.ids_begin + 8)};
  std::set<std::string> known;
  for (std::size_t i = 0; i < header.samples; ++i) {
    const std::string id = bytes.text(2);
    need(bytes.rest.size() >= input.size() - header.variants_begin);
    need(!id.empty() && known.insert(id).second);
    text += id + '\n';
  }
}

std::string or_dot(const std::string& text) { return text.empty() ? "." : text; }

// Identities and calls, a line each.
std::string read_slowly(std::string_view input) {
  const Header header = read_header(input);
  std::string text;
  if (header.has_ids) take_ids(input, header, text);
  std::string calls;
  Bytes bytes{input.substr(header.variants_begin)};
  for (std::size_t j = 0; j < header.variants; ++j) {
    const std::string other = bytes.text(2);
    const std::string id = bytes.text(2);
    std::string chromosome = bytes.text(2);
    if (chromosome.size() == 2 && chromosome[0] == '0' && chromosome[1] >= '1' &&
        chromosome[1] <= '9') {
      chromosome.erase(0, 1);
    }
    const std::size_t position = bytes.number(4);
    const std::size_t n = bytes.number(2);
    need(position <= 2147483647 && n > 0);
    std::vector<std::string> alleles;
    for (std::size_t k = 0; k < n; ++k) alleles.push_back(bytes.text(4));
    text += or_dot(chromosome) + ' ' + or_dot(id.empty() || id == "." ? other : id) + ' ' +
            std::to_string(position) + ' ';
    text += n == 2 ? or_dot(alleles[1]) + ' ' + or_dot(alleles[0]) : "not two";
    Bytes block{bytes.take(bytes.number(4))};
    if (n == 2) {
      try {
        std::string inner(block.rest);
        if (header.compression > 0) {
          const std::size_t size = block.number(4);
          need(size <= 10 + 9 * header.samples);
          inner = inflated(header.compression, block.rest, size);
        }
        text += ' ' + calls_slowly(inner, header.samples);
      } catch (const Bad&) {
        text += " bad\n";
      }
    } else {
      text += '\n';
    }
  }
  need(bytes.rest.empty());
  return text;
}

// The core's version of this text, each variant alone.
std::string read_index(const std::string& path) {
  JobControl control;
  const BgenIndex index = read_bgen_index(path, control);
  std::string text;
  for (std::size_t i = 0; i < index.ids.size(); ++i) text += std::string(index.ids[i]) + '\n';
  std::set<std::int64_t> others(index.multiallelic.begin(), index.multiallelic.end());
  others.insert(index.one_allele.begin(), index.one_allele.end());
  const BgenGenotypes file(InputFile(path), index.header.samples, index.begins, BgenRule{0.1});
  const VariantTable& table = index.variants;
  for (std::int64_t j = 0; j < file.variants(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    text += std::string(table.chromosome[at]) + ' ' + std::string(table.id[at]) + ' ' +
            std::to_string(table.position[at]) + ' ';
    if (others.count(j) > 0) {
      text += "not two\n";
      continue;
    }
    text += std::string(table.counted[at]) + ' ' + std::string(table.other[at]) + ' ';
    const std::string calls = outcome([&] { return calls_of(file, j, 1); });
    text += is_error(calls) ? "bad\n" : calls;
  }
  return text;
}

// All variants in pieces, or an error.
std::string read_pieces(const std::string& path, std::int64_t piece) {
  return outcome([&] {
    JobControl control;
    const BgenIndex index = read_bgen_index(path, control);
    const BgenGenotypes file(InputFile(path), index.header.samples, index.begins, BgenRule{0.1});
    std::string text;
    for (std::int64_t first = 0; first < file.variants(); first += piece) {
      text += calls_of(file, first, std::min(piece, file.variants() - first));
    }
    return text;
  });
}

}  // namespace

void check(std::string_view input) {
  std::string expected;
  try {
    if (read_header(input).samples > kMostSamples) return;
    expected = read_slowly(input);
  } catch (const Bad&) {
  }
  const std::string& path = as_file(input);
  const std::string found = outcome([&] { return read_index(path); });
  require_equal(is_error(found) ? "" : found, expected, "the reader and the slow way");
  const auto piece = static_cast<std::int64_t>(1 + Choices(input).below(5));
  require_equal(without_message(read_pieces(path, 1000000)),
                without_message(read_pieces(path, piece)), "two sizes of pieces");
}

}  // namespace ancify::fuzz
