// Checks the regions of called chromosomes.
#include "core/ancestry/calling/call_regions.h"

#include <gtest/gtest.h>

#include "core/exec/errors.h"
#include "support.h"

namespace ancify {
namespace {

std::string as_text(const ConfidenceRuns& runs) {
  std::string text;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    text += std::to_string(runs.region[i]) + ":" + std::to_string(runs.start[i]) + "+" +
            std::to_string(runs.n[i]) + "HLUM"[runs.confidence[i]] + " ";
  }
  return text;
}

TEST(CallRegions, AreReadWhereTheyLie) {
  test::TempDir dir;
  const std::vector<CallFile> files = {{dir.write("a.fa", ">a\nACgtnNNA\n"), "a"},
                                       {dir.write("b.fa", ">b\ntt\n"), "b"}};
  const std::vector<CallRegion> regions = {{0, 0, 8}, {0, 3, 2}, {0, 3, 0}, {1, 1, 1}, {0, 7, 1}};
  JobControl control;
  EXPECT_EQ(read_regions(files, regions, control),
            (std::vector<std::string>{"ACgtnNNA", "tn", "", "t", "A"}));
  EXPECT_EQ(control.done(), control.expected());
  EXPECT_EQ(as_text(confidence_runs(files, regions, control)),
            "0:0+2H 0:2+2L 0:4+1U 0:5+2M 0:7+1H 1:3+1L 1:4+1U 3:1+1L 4:7+1H ");
}

TEST(CallRegions, OfAnyLengthAreOneRun) {
  test::TempDir dir;
  const std::string calls = std::string(300000, 'A') + std::string(400000, 'n');
  const std::vector<CallFile> files = {{dir.write("a.fa", ">a\n" + calls + "\n"), "a"}};
  JobControl control;
  EXPECT_EQ(read_regions(files, {{0, 0, 700000}}, control).front(), calls);
  EXPECT_EQ(as_text(confidence_runs(files, {{0, 0, 700000}}, control)),
            "0:0+300000H 0:300000+400000U ");
}

TEST(CallRegions, OutsideTheFileAreErrors) {
  test::TempDir dir;
  const std::vector<CallFile> files = {{dir.write("a.fa", ">a\nACgtnNNA\n"), "a"}};
  JobControl control;
  EXPECT_THROW(read_regions(files, {{0, 7, 2}}, control), FormatError);
  EXPECT_THROW(read_regions({{dir.file("gone.fa"), "a"}}, {{0, 7, 2}}, control), FileError);
}

}  // namespace
}  // namespace ancify
