// Reads a spectrum file line by line and word by word.
#include "core/spectra/spectrum_reader.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "core/exec/errors.h"
#include "core/io/number_parser.h"
#include "core/io/record_size.h"
#include "core/io/text.h"

namespace ancify {

namespace {

// White space other than a newline.
bool is_space(int c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

// Takes numbers as written by R and dadi, with nan and inf in upper or lower case.
std::optional<double> parse_number(const std::string& word, NumberParser& parse) {
  std::string lower = word;
  std::transform(word.begin(), word.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (lower == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (lower == "inf" || lower == "+inf") return infinity;
  if (lower == "-inf") return -infinity;
  return parse(word);
}

}  // namespace

SpectrumReader::SpectrumReader(const std::string& path)
    : path_(path), source_(open_text(path)), buffer_(1 << 16) {}

bool SpectrumReader::refill() {
  begin_ = 0;
  end_ = source_->read(buffer_.data(), buffer_.size());
  return end_ > 0;
}

void SpectrumReader::skip_line() {
  while (peek() != kEnd) {
    const auto* const from = buffer_.data() + begin_;
    const void* const newline = std::memchr(from, '\n', end_ - begin_);
    if (newline != nullptr) {
      begin_ += static_cast<std::size_t>(static_cast<const char*>(newline) - from) + 1;
      break;
    }
    begin_ = end_;
  }
  in_line_ = false;
}

bool SpectrumReader::next_line() {
  if (in_line_) skip_line();
  while (peek() != kEnd) {
    ++line_;
    while (is_space(peek())) ++begin_;
    if (peek() == '\n') {
      ++begin_;
      continue;
    }
    if (peek() != '#' && peek() != kEnd) return in_line_ = true;
    skip_line();
  }
  return false;
}

std::string SpectrumReader::text() {
  std::string text;
  for (int c = peek(); c != kEnd && c != '\n'; c = peek()) {
    text += static_cast<char>(c);
    ++begin_;
    check_record_size(text.size(), kLongestLine, path_, line_);
  }
  if (!is_utf8(text) || text.find('\0') != text.npos) {
    throw FormatError(path_, line_, "this line is not UTF-8 text");
  }
  while (!text.empty() && is_space(text.back())) text.pop_back();
  return text;
}

std::int64_t SpectrumReader::numbers(double* numbers, std::int64_t n, const std::string& what) {
  constexpr std::size_t longest = 1000;
  std::int64_t count = 0;
  std::string word;
  NumberParser parse;
  for (;; word.clear()) {
    while (is_space(peek())) ++begin_;
    for (int c = peek(); c != kEnd && c != '\n' && !is_space(c); c = peek()) {
      if (word.size() < longest) word += static_cast<char>(c);
      ++begin_;
    }
    if (word.empty()) return count;
    if (!is_utf8(word) || word.find('\0') != word.npos) {
      throw FormatError(path_, line_, "this line is not UTF-8 text");
    }
    if (count == n) return count + 1;
    const auto value = parse_number(word, parse);
    if (!value) {
      throw FormatError(path_, line_, excerpt(word) + " in the " + what + " is not a number");
    }
    numbers[count++] = *value;
  }
}

}  // namespace ancify
