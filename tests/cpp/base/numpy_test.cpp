// Checks arrays of NumPy, and errors in them.
#include "core/io/numpy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/exec/errors.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::TempDir;

// A .npy of version 1 with this header and these numbers as bytes.
std::string npy(const std::string& header, const std::string& numbers) {
  const auto length = static_cast<char>(header.size());
  return std::string("\x93NUMPY\x01\x00", 8) + length + '\0' + header + numbers;
}

std::string header_of(const std::string& type, const std::string& shape,
                      const std::string& column_major = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + column_major + ", 'shape': " + shape +
         ", }  \n";
}

NumpyArray read(const std::string& bytes) {
  const TempDir dir;
  return read_numpy(dir.write("x.npy", bytes), TaskContext()).at(0);
}

TEST(Numpy, ReadsNumbersInEitherOrderOfBytes) {
  const auto expect = [](const std::string& type, const std::string& bytes, double value) {
    const NumpyArray array = read(npy(header_of(type, "(1,)"), bytes));
    EXPECT_EQ(array.values, std::vector<double>{value}) << type;
    EXPECT_EQ(array.is_whole, type[1] == 'i');
    EXPECT_EQ(array.shape, std::vector<std::size_t>{1});
  };
  expect("<f4", std::string("\0\0\xc0\x3f", 4), 1.5);
  expect(">f4", std::string("\x3f\xc0\0\0", 4), 1.5);
  expect("<f8", std::string("\0\0\0\0\0\0\x04\xc0", 8), -2.5);
  expect(">f8", std::string("\xc0\x04\0\0\0\0\0\0", 8), -2.5);
  expect("<i4", std::string("\xfe\xff\xff\xff", 4), -2);
  expect(">i4", std::string("\0\0\x01\x02", 4), 258);
  expect("<i8", std::string("\x02\x01\0\0\0\0\0\0", 8), 258);
  expect(">i8", std::string("\xff\xff\xff\xff\xff\xff\xff\xfe", 8), -2);
}

TEST(Numpy, GivesMatricesColumnByColumn) {
  std::string bytes;
  for (char i = 1; i <= 6; ++i) bytes += std::string{i, 0, 0, 0};
  EXPECT_EQ(read(npy(header_of("<i4", "(2, 3)"), bytes)).values,
            (std::vector<double>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(read(npy(header_of("<i4", "(2, 3)", "True"), bytes)).values,
            (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(Numpy, GivesTextsInUtf8) {
  // Letters of 1 to 4 bytes in UTF-8, and a shorter text
  const std::vector<std::string> little = {std::string("a\0\0\0\xe9\0\0\0", 8),
                                           std::string("\xac\x20\0\0\0\xf6\x01\0", 8),
                                           std::string("b\0\0\0\0\0\0\0", 8)};
  const std::vector<std::string> expected = {"a\xc3\xa9", "\xe2\x82\xac\xf0\x9f\x98\x80", "b"};
  for (const bool is_big : {false, true}) {
    std::string bytes;
    for (const std::string& text : little) {
      for (std::size_t i = 0; i < text.size(); i += 4) {
        std::string letter = text.substr(i, 4);
        if (is_big) std::reverse(letter.begin(), letter.end());
        bytes += letter;
      }
    }
    const NumpyArray array = read(npy(header_of(is_big ? ">U2" : "<U2", "(3,)"), bytes));
    EXPECT_TRUE(array.is_text);
    EXPECT_EQ(array.texts, expected);
    EXPECT_TRUE(array.values.empty());
  }
}

TEST(Numpy, RefusesOtherFiles) {
  const auto refused = [](const std::string& bytes, const std::string& why) {
    const auto message = message_of<FormatError>([&] { read(bytes); });
    EXPECT_NE(message.find(why), message.npos) << message;
  };
  const std::string one("\0\0\x80\x3f", 4);
  const std::string whole = npy(header_of("<f4", "(1,)"), one);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_THROW(read(whole.substr(0, n)), FormatError) << n;
  }
  refused(whole + "x", "which its shape contradicts");
  refused(npy(header_of("<f4", "(2,)"), one), "which its shape contradicts");
  refused(npy(header_of("<f4", "(4000000000, 4000000000)"), one), "which its shape contradicts");
  refused(npy(header_of("<f4", "(0, 3)"), one), "which its shape contradicts");
  refused(npy(header_of("<f4", "()"), one), "has 0 dimensions");
  refused(npy(header_of("<f4", "(1, 1, 1)"), one), "has 3 dimensions");
  refused(npy(header_of("<u4", "(1,)"), one), "has the type '<u4'");
  refused(npy(header_of("|b1", "(4,)"), one), "has the type '|b1'");
  refused(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", one),
          "has no header");
  refused(npy("{'descr': '<f4', 'shape': (1,), }", one), "has no header");
  refused(npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", one),
          "has no header");
  refused(npy(header_of("<i8", "(1,)"), std::string("\0\0\0\x80\0\0\0\0", 8)),
          "the integer 2147483648, which is beyond 32 bits");
  refused(npy(header_of("<i8", "(1,)"), std::string("\xff\xff\xff\xff\xff\xff\xff\x7f", 8)),
          "the integer 9223372036854775808, which is beyond 32 bits");
  refused(npy(header_of("<U1", "(2,)"), one), "which its shape contradicts");
  refused(npy(header_of("<U3", "(1,)"), one + one), "which its shape contradicts");
  refused(npy(header_of("<U1", "(1, 1)"), one), "has texts in two dimensions");
  refused(npy(header_of("<U0", "(1,)"), one), "has the type '<U0'");
  refused(npy(header_of("<U1", "(1,)"), one), "is not Unicode");
  refused(npy(header_of("<U1", "(1,)"), std::string("\0\xd8\0\0", 4)), "is not Unicode");
  refused("rs1 coding\n", "is no array of NumPy");
}

}  // namespace
}  // namespace ancify
