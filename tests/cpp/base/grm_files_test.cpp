// Checks kernels in files of GCTA, and errors in them.
#include "core/formats/genotype/grm_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/exec/errors.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::TempDir;

std::string floats(const std::vector<float>& values) {
  std::string bytes(4 * values.size(), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TextColumn ids() {
  TextColumn ids;
  for (const char* id : {"a", "b", "c"}) ids.add(id);
  return ids;
}

TEST(GrmTriangle, IsASymmetricMatrix) {
  const TempDir dir;
  const GrmTriangle triangle(dir.write("x", floats({1, .5, 2, -.25, .125, 3})), 3);
  std::vector<double> matrix(9);
  triangle.read(ids(), TaskContext(), matrix.data());
  EXPECT_EQ(matrix, (std::vector<double>{1, .5, -.25, .5, 2, .125, -.25, .125, 3}));
  EXPECT_EQ(triangle.range(ids(), TaskContext()), std::pair(-.25, 3.));
}

TEST(GrmTriangle, HasTheSizeOfItsSamples) {
  const TempDir dir;
  const std::string whole = floats({1, .5, 2, -.25, .125, 3});
  for (const std::string& bytes : {std::string(), whole.substr(1), whole + "x", whole + whole}) {
    const std::string path = dir.write("x", bytes);
    EXPECT_NE(message_of<FormatError>([&] { GrmTriangle(path, 3); }).find("make 24"),
              std::string::npos);
  }
}

TEST(GrmTriangle, NamesTheSamplesOfAValueThatIsNotFinite) {
  const TempDir dir;
  for (const float bad : {std::nanf(""), -INFINITY}) {
    const GrmTriangle triangle(dir.write("x", floats({1, .5, 2, -.25, bad, 3})), 3);
    std::vector<double> matrix(9);
    EXPECT_NE(message_of<FormatError>([&] {
                triangle.read(ids(), TaskContext(), matrix.data());
              }).find("the samples 'c' and 'b' is not finite"),
              std::string::npos);
  }
}

TEST(SparseGrm, IsSortedByColumn) {
  const TempDir dir;
  const auto read =
      read_sparse_grm(dir.write("x", "2 2 3\n0\t1\t-.5\r\n\n0 0 1\n2 1 1e-2\n"), 3, TaskContext());
  EXPECT_EQ(read.column, (std::vector<std::int32_t>{0, 0, 1, 2}));
  EXPECT_EQ(read.row, (std::vector<std::int32_t>{0, 1, 2, 2}));
  EXPECT_EQ(read.value, (std::vector<double>{1, -.5, .01, 3}));
}

TEST(SparseGrm, NamesTheLineOfAFault) {
  const auto refused = [](const std::string& text, const std::string& why) {
    const TempDir dir;
    const std::string path = dir.write("x", text);
    const auto message = message_of<FormatError>([&] { read_sparse_grm(path, 3, TaskContext()); });
    EXPECT_NE(message.find(why), message.npos) << message;
  };
  refused("0 0 1\n1 0\n", "line 2: this line has 2 columns, not 3");
  refused("0 0 1\n3 0 1\n", "line 2: '3' is not an index of a sample, from 0 to 2");
  refused("-1 0 1\n", "line 1: '-1' is not an index");
  refused("0 1.0 1\n", "line 1: '1.0' is not an index");
  refused("99999999999999999999 0 1\n", "line 1: '99999999999999999999' is not an index");
  refused("0 0 nan\n", "line 1: 'nan' is not a finite number");
  refused("0 0 1\n1 0 1\n1 1 1\n0 1 1\n", "line 4: this pair of samples is also in line 2");
}

}  // namespace
}  // namespace ancify
