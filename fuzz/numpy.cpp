// Fuzzes NumPy's files: the numbers or texts of an array are the bytes at its end, or there is an
// error.
#include "core/io/numpy.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/io/text.h"
#include "harness.h"

namespace ancify::fuzz {

namespace {

std::string text_of(const NumpyArray& array) {
  std::string text = array.name + (array.is_whole ? " whole" : " real");
  for (const std::size_t size : array.shape) text += " " + std::to_string(size);
  for (const double value : array.values) text += " " + number_text(value);
  for (const std::string& one : array.texts) text += " " + one;
  return text + "\n";
}

// A number of this type, such as <f8.
double number_slowly(const std::string& type, std::string bytes) {
  if (type[0] == '>') std::reverse(bytes.begin(), bytes.end());
  if (type[1] == 'f') {
    float narrow = 0;
    double wide = 0;
    if (type[2] == '8') std::memcpy(&wide, bytes.data(), 8);
    if (type[2] == '4') std::memcpy(&narrow, bytes.data(), 4);
    return type[2] == '8' ? wide : narrow;
  }
  std::int64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    value = i + 1 == bytes.size() ? static_cast<signed char>(byte) : value * 256 + byte;
  }
  return static_cast<double>(value);
}

// The letters of a text in UTF-8.
std::vector<std::uint32_t> letters_slowly(const std::string& text) {
  std::vector<std::uint32_t> letters;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      letters.push_back(byte);
    } else if (byte < 0xc0) {
      letters.back() = letters.back() * 64 + byte % 64;
    } else {
      letters.push_back(byte < 0xe0 ? byte % 32U : byte < 0xf0 ? byte % 16U : byte % 8U);
    }
  }
  return letters;
}

// Compares texts that were read with the letters at the end of the input, 4 bytes each.
void check_texts(std::string_view input, const NumpyArray& array) {
  const std::size_t n = array.texts.size();
  require(array.shape == std::vector<std::size_t>{n}, "texts of another shape");
  if (n == 0) return;
  const std::size_t at = input.find_first_of("<>");
  const std::size_t width = 4 * std::stoul(std::string(input.substr(at + 2, 10)));
  require(n * width <= input.size(), "texts are larger than their file");
  for (std::size_t i = 0; i < n; ++i) {
    require(is_utf8(array.texts[i]), "a text that is not UTF-8");
    std::vector<std::uint32_t> expected;
    for (std::size_t j = 0; j < width; j += 4) {
      std::string bytes(input.substr(input.size() - (n - i) * width + j, 4));
      if (input[at] == '>') std::reverse(bytes.begin(), bytes.end());
      std::uint32_t letter = 0;
      std::memcpy(&letter, bytes.data(), 4);
      if (letter != 0) expected.push_back(letter);
    }
    require(letters_slowly(array.texts[i]) == expected, "another text");
  }
}

// Compares an array that was read with the end of the input.
void check_numbers(std::string_view input, const NumpyArray& array) {
  const std::size_t at = input.find_first_of("<>");
  require(at != input.npos && at + 3 <= input.size(), "an array without a type");
  const std::string type(input.substr(at, 3));
  const bool is_column_major = input.find("True") < input.find_first_of("}");
  const auto size = static_cast<std::size_t>(type[2] - '0');
  const std::size_t n = array.values.size();
  require(n * size <= input.size(), "an array is larger than its file");
  const std::size_t columns = array.shape.size() == 2 ? array.shape[1] : 1;
  require(array.shape[0] * columns == n, "an array of another shape");
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t from = input.size() - (n - i) * size;
    const double value = number_slowly(type, std::string(input.substr(from, size)));
    const std::size_t place = is_column_major ? i : i % columns * array.shape[0] + i / columns;
    const double read = array.values[place];
    require(read == value || (std::isnan(read) && std::isnan(value)), "another number");
  }
}

}  // namespace

void check(std::string_view input) {
  const std::string& path = as_file(input);
  std::vector<NumpyArray> arrays;
  const std::string read = outcome([&] {
    arrays = read_numpy(path, TaskContext());
    std::string text;
    for (const NumpyArray& array : arrays) text += text_of(array);
    return text;
  });
  if (is_error(read)) return;
  require(!arrays.empty(), "a file without an array was read");
  if (input.substr(0, 2) == "PK") return;
  if (arrays[0].is_text) {
    check_texts(input, arrays[0]);
  } else {
    check_numbers(input, arrays[0]);
  }
}

}  // namespace ancify::fuzz
