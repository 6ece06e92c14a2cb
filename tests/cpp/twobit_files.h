// Writes 2bit files, base by base.
#pragma once

#include <cctype>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ancify::test {

// Sequences by name.
using Genome = std::vector<std::pair<std::string, std::string>>;

class TwoBitWriter {
 public:
  // `big`: the byte order; `version`: 0 or 1, which has offsets of 64 bits.
  explicit TwoBitWriter(bool big = false, int version = 0) : big_(big), version_(version) {}

  std::string file(const Genome& genome) const {
    const auto offset_bytes = version_ == 1 ? 8 : 4;
    std::size_t at = 16;
    for (const auto& [name, bases] : genome) at += 1 + name.size() + offset_bytes;
    std::string index = number(0x1A412743) + number(static_cast<std::uint64_t>(version_)) +
                        number(genome.size()) + number(0);
    std::string records;
    for (const auto& [name, bases] : genome) {
      index += static_cast<char>(name.size()) + name + number(at + records.size(), offset_bytes);
      records += record(bases);
    }
    return index + records;
  }

 private:
  std::string number(std::uint64_t value, int bytes = 4) const {
    std::string text;
    for (int i = 0; i < bytes; ++i) {
      const int shift = 8 * (big_ ? bytes - 1 - i : i);
      text += static_cast<char>(value >> shift & 0xff);
    }
    return text;
  }

  template <class Inside>
  std::string stretches(const std::string& bases, Inside inside) const {
    std::string starts;
    std::string sizes;
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < bases.size();) {
      std::size_t end = i;
      while (end < bases.size() && inside(bases[end])) ++end;
      if (end > i) {
        starts += number(i);
        sizes += number(end - i);
        ++n;
      }
      i = end + 1;
    }
    return number(n) + starts + sizes;
  }

  std::string record(const std::string& bases) const {
    std::string packed((bases.size() + 3) / 4, '\0');
    for (std::size_t i = 0; i < bases.size(); ++i) {
      const std::size_t code = std::string("TCAG").find(static_cast<char>(std::toupper(bases[i])));
      if (code > 3) continue;
      packed[i / 4] = static_cast<char>(packed[i / 4] | code << (6 - 2 * (i % 4)));
    }
    return number(bases.size()) + stretches(bases, [](char c) { return c == 'N' || c == 'n'; }) +
           stretches(bases,
                     [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }) +
           number(0) + packed;
  }

  bool big_;
  int version_;
};

}  // namespace ancify::test
