// Format: NumPy Enhancement Proposal 1. A header tells the type and shape, as a literal of Python.
#include "core/io/numpy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "core/exec/errors.h"
#include "core/io/file.h"
#include "core/io/little_endian.h"
#include "core/io/text.h"
#include "core/io/zip_entries.h"

namespace ancify {

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

// The fields of the header.
struct Header {
  std::string type;
  bool is_column_major = false;
  std::vector<std::size_t> shape;
};

// Parses {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  // True if the text is a header.
  bool parse(Header& header) {
    if (!take('{')) return false;
    int keys = 0;
    while (!take('}')) {
      const std::string_view key = quoted();
      if (!take(':') || !value_of(key, header, keys)) return false;
      if (!take(',') && !is_next('}')) return false;
    }
    blanks();
    return text_.empty() && keys == kAll;
  }

 private:
  static constexpr int kAll = 7;  // a bit for each key

  bool value_of(std::string_view key, Header& header, int& keys) {
    const int bit = key == "descr" ? 1 : key == "fortran_order" ? 2 : key == "shape" ? 4 : 0;
    if (bit == 0 || (keys & bit) != 0) return false;
    keys |= bit;
    if (bit == 1) {
      header.type = quoted();
      return !header.type.empty();
    }
    if (bit == 2) {
      header.is_column_major = word("True");
      return header.is_column_major || word("False");
    }
    return shape(header.shape);
  }

  bool shape(std::vector<std::size_t>& shape) {
    if (!take('(')) return false;
    while (!take(')')) {
      blanks();
      const std::size_t digits = std::min(text_.find_first_not_of("0123456789"), text_.size());
      const auto size = parse_whole_number(text_.substr(0, digits));
      if (!size) return false;
      text_.remove_prefix(digits);
      shape.push_back(static_cast<std::size_t>(*size));
      if (!take(',') && !is_next(')')) return false;
    }
    return true;
  }

  // A text in single quotes; empty if there is none.
  std::string_view quoted() {
    if (!take('\'')) return {};
    const std::size_t end = text_.find('\'');
    if (end == text_.npos) return {};
    const std::string_view inner = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return inner;
  }
  bool word(std::string_view wanted) {
    blanks();
    if (text_.substr(0, wanted.size()) != wanted) return false;
    text_.remove_prefix(wanted.size());
    return true;
  }
  bool take(char c) {
    if (!is_next(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool is_next(char c) {
    blanks();
    return !text_.empty() && text_.front() == c;
  }
  void blanks() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size())); }

  std::string_view text_;
};

template <class Number>
double number_at(const char* bytes, bool is_big) {
  std::uint8_t raw[sizeof(Number)];
  std::memcpy(raw, bytes, sizeof(Number));
  if (is_big) std::reverse(std::begin(raw), std::end(raw));
  Number value;
  std::memcpy(&value, raw, sizeof(Number));
  return static_cast<double>(value);
}

// Adds a character in UTF-8; false if it is none of Unicode's.
bool append_utf8(std::uint32_t letter, std::string& text) {
  const bool is_surrogate = letter >= 0xd800 && letter < 0xe000;
  if (letter > 0x10ffff || is_surrogate) return false;
  if (letter < 0x80) {
    text += static_cast<char>(letter);
    return true;
  }
  const int more = letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3;  // bytes after the first
  const std::uint32_t mark = 0xff00U >> (more + 1) & 0xffU;
  text += static_cast<char>(mark | letter >> 6 * more);
  for (int i = more - 1; i >= 0; --i) text += static_cast<char>(0x80U | (letter >> 6 * i & 0x3fU));
  return true;
}

class ArrayReader {
 public:
  // `what`: the array in messages.
  ArrayReader(const std::string& path, std::string what, std::string_view bytes)
      : path_(path), what_(std::move(what)), bytes_(bytes) {}

  NumpyArray read() {
    const Header header = read_header();
    if (header.shape.empty() || header.shape.size() > 2) {
      fail("has " + std::to_string(header.shape.size()) + " dimensions, not one or two");
    }
    if (const std::size_t letters = letters_of(header.type)) return read_texts(header, letters);
    const auto [number, size] = type_of(header.type);
    const bool is_big = header.type[0] == '>';
    const std::size_t columns = header.shape.size() == 2 ? header.shape[1] : 1;
    const std::size_t rows = header.shape[0];
    const std::size_t n = bytes_.size() / size;
    const bool fits = columns == 0 || rows == 0 ? n == 0 : n / columns == rows && n % columns == 0;
    if (!fits || bytes_.size() % size != 0) {
      fail("has " + std::to_string(bytes_.size()) +
           " bytes, which its shape contradicts. Is it whole?");
    }
    NumpyArray array;
    array.is_whole = header.type[1] == 'i';
    array.shape = header.shape;
    array.values.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = header.is_column_major ? i : i % columns * rows + i / columns;
      array.values[at] = checked(number(bytes_.data() + i * size, is_big), array.is_whole);
    }
    return array;
  }

 private:
  using ReadNumber = double (*)(const char* bytes, bool is_big);

  [[noreturn]] void fail(const std::string& problem) const {
    throw FormatError(path_, 0, what_ + " " + problem);
  }

  // Letters have 4 bytes each, and zeros fill up a text.
  NumpyArray read_texts(const Header& header, std::size_t letters) const {
    constexpr std::size_t width = 4;
    if (header.shape.size() != 1) fail("has texts in two dimensions, not one");
    const std::size_t n = bytes_.size() / width / letters;
    if (n != header.shape[0] || n * letters * width != bytes_.size()) {
      fail("has " + std::to_string(bytes_.size()) +
           " bytes, which its shape contradicts. Is it whole?");
    }
    NumpyArray array;
    array.is_text = true;
    array.shape = header.shape;
    array.texts.resize(n);
    for (std::size_t i = 0; i < n * letters; ++i) {
      std::string letter(bytes_.substr(i * width, width));
      if (header.type[0] == '>') std::reverse(letter.begin(), letter.end());
      const auto code = little_endian<std::uint32_t>(letter.data(), width);
      if (code != 0 && !append_utf8(code, array.texts[i / letters])) {
        fail("has a text that is not Unicode");
      }
    }
    return array;
  }

  // Leaves the values in bytes_.
  Header read_header() {
    constexpr std::size_t fixed = 8;
    if (bytes_.substr(0, kMagic.size()) != kMagic || bytes_.size() < fixed) {
      fail("is no array of NumPy: it begins otherwise");
    }
    const auto version = static_cast<unsigned char>(bytes_[6]);
    const std::size_t width = version == 1 ? 2 : 4;
    if (version < 1 || version > 3 || bytes_.size() < fixed + width) fail("is damaged, or was cut");
    const auto length = little_endian<std::size_t>(bytes_.data() + fixed, width);
    bytes_.remove_prefix(fixed + width);
    Header header;
    if (length > bytes_.size() || !HeaderParser(bytes_.substr(0, length)).parse(header)) {
      fail("has no header that tells the type and shape of numbers");
    }
    bytes_.remove_prefix(length);
    return header;
  }

  // The letters of each text by a type such as <U11; 0 for other types.
  static std::size_t letters_of(const std::string& type) {
    if (type.size() < 3 || (type[0] != '<' && type[0] != '>') || type[1] != 'U') return 0;
    const auto letters = parse_whole_number(std::string_view(type).substr(2));
    return letters ? static_cast<std::size_t>(*letters) : 0;
  }

  std::pair<ReadNumber, std::size_t> type_of(const std::string& type) const {
    const std::string kind = type.substr(1);
    if (type[0] == '<' || type[0] == '>') {
      if (kind == "f4") return {number_at<float>, 4};
      if (kind == "f8") return {number_at<double>, 8};
      if (kind == "i4") return {number_at<std::int32_t>, 4};
      if (kind == "i8") return {number_at<std::int64_t>, 8};
    }
    fail("has the type " + excerpt(type) +
         ": save numbers of 4 or 8 bytes, such as by array.astype('f8') or 'i8'");
  }

  double checked(double value, bool is_whole) const {
    if (is_whole && std::abs(value) > std::numeric_limits<std::int32_t>::max()) {
      std::array<char, 32> digits;  // a double may be beyond all integers
      std::snprintf(digits.data(), digits.size(), "%.0f", value);
      fail("has the integer " + std::string(digits.data()) + ", which is beyond 32 bits");
    }
    return value;
  }

  const std::string& path_;
  std::string what_;
  std::string_view bytes_;
};

// Arrays in the order of the archive: arr_2 is before arr_10.
std::vector<NumpyArray> read_archive(const InputFile& file, const TaskContext& context) {
  const auto by_name = zip_entries(file, ZipPacking::kStoredOrDeflated);
  std::vector<std::pair<std::string, ZipEntry>> entries(by_name.begin(), by_name.end());
  std::sort(entries.begin(), entries.end(), [](const auto& one, const auto& other) {
    return one.second.offset < other.second.offset;
  });
  std::vector<NumpyArray> arrays;
  for (const auto& [entry_name, entry] : entries) {
    context.throw_if_stopped();
    std::string name = entry_name;
    const bool is_array = name.size() > 4 && name.compare(name.size() - 4, 4, ".npy") == 0;
    if (is_array) name.resize(name.size() - 4);
    const std::string bytes = read_entry(file, entry_name, entry);
    arrays.push_back(ArrayReader(file.path(), "the array " + excerpt(name), bytes).read());
    arrays.back().name = name;
  }
  if (arrays.empty()) throw FormatError(file.path(), 0, "the archive has no array");
  return arrays;
}

}  // namespace

std::vector<NumpyArray> read_numpy(const std::string& path, const TaskContext& context) {
  const InputFile file(path);
  std::vector<NumpyArray> arrays;
  if (is_zip(file)) {
    arrays = read_archive(file, context);
  } else {
    std::string bytes(static_cast<std::size_t>(file.size()), '\0');
    file.read_at(bytes.data(), bytes.size(), 0);
    arrays.push_back(ArrayReader(path, "the array", bytes).read());
  }
  file.check_unchanged();
  return arrays;
}

}  // namespace ancify
