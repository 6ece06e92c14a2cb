// Checks the sequences that are written for other programs.
#include "core/ancestry/calling/call_export.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "core/exec/errors.h"
#include "support.h"

namespace ancify {
namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(CallExport, HasCallsThenTheReferenceThenTheLetterForUnknown) {
  test::TempDir dir;
  const std::string out = dir.file("out");
  const std::vector<CallFile> calls = {{dir.write("a.fa", ">a\nAcgNn-.T\n"), "a"},
                                       {dir.write("b.fa", ">b\nNt\n"), "b"}};
  const std::string genome = dir.write("genome.fa", ">chrb\nNN\n>chra\nTTTgRCat\n");
  JobControl control;
  const auto plain = export_calls({calls, out, true, {}, 'N'}, control);
  EXPECT_EQ(content(out + "/a.fa"), ">a\nACGNNNNT\n");
  EXPECT_EQ(content(out + "/b.fa"), ">b\nNT\n");
  EXPECT_EQ(plain[0].called, 4);
  EXPECT_EQ(plain[0].filled, 0);
  EXPECT_EQ(plain[0].unknown, 4);
  EXPECT_EQ(control.done(), control.expected());

  JobControl again;
  const auto filled = export_calls({calls, out, false, {{"", genome}}, 'A'}, again);
  EXPECT_EQ(content(out + "/a.fa"), ">a\nATTGACAT\n");
  EXPECT_EQ(content(out + "/b.fa"), ">b\nAA\n");
  EXPECT_EQ(filled[0].called, 2);
  EXPECT_EQ(filled[0].filled, 5);
  EXPECT_EQ(filled[0].unknown, 1);
  EXPECT_EQ(filled[1].unknown, 2);
}

TEST(CallExport, OfSeveralBuffersIsOneSequence) {
  test::TempDir dir;
  const std::string calls = std::string(300000, 'a') + std::string(400000, 'n') + "G";
  const std::string genome = std::string(700000, 'C') + "T";
  JobControl control;
  export_calls({{{dir.write("a.fa", ">a\n" + calls + "\n"), "a"}},
                dir.file("out"),
                true,
                {{"a", dir.write("genome.fa", ">x\n" + genome + "\n")}},
                'N'},
               control);
  EXPECT_EQ(content(dir.file("out") + "/a.fa"),
            ">a\n" + std::string(300000, 'A') + std::string(400000, 'C') + "G\n");
}

TEST(CallExport, LeavesNoFileOfAChromosomeThatFails) {
  test::TempDir dir;
  const std::vector<CallFile> odd = {{dir.write("odd.fa", ">a\nAC?T\n"), "a"}};
  const std::vector<CallFile> good = {{dir.write("good.fa", ">a\nACGT\n"), "a"}};
  const std::string genome = dir.write("genome.fa", ">a\nACG\n");
  const std::string other = dir.write("other.fa", ">b\nACGT\n");
  const std::size_t before = dir.entries();
  const auto run = [&](const std::vector<CallFile>& calls, std::vector<SequenceFile> reference) {
    JobControl control;
    export_calls({calls, dir.file("out"), true, std::move(reference), 'N'}, control);
  };
  EXPECT_THROW(run(odd, {}), FormatError);
  EXPECT_THROW(run(good, {{"", genome}}), InputError);
  EXPECT_THROW(run(good, {{"", other}}), InputError);
  EXPECT_THROW(run({{dir.file("gone.fa"), "a"}}, {}), FileError);
  EXPECT_EQ(dir.entries(), before);
}

TEST(GenomeExport, KeepsLettersAndOrderOfChromosomes) {
  test::TempDir dir;
  const std::string path = dir.file("out") + "/genome.fa";
  const std::vector<CallFile> calls = {{dir.write("b.fa", ">b\nNtA\n"), "b"},
                                       {dir.write("a.fa", ">a\nAcgNn-.T\n"), "a"}};
  JobControl control;
  const auto all = export_genome({calls, path, 5, true, 1}, control);
  EXPECT_EQ(content(path), ">b\nNtA\n>a\nAcgNn\n-.T\n");
  EXPECT_EQ(content(path + ".fai"), "b\t3\t3\t3\t4\na\t8\t10\t5\t6\n");
  EXPECT_EQ(all.called, 6);
  EXPECT_EQ(all.filled, 0);
  EXPECT_EQ(all.unknown, 5);
  EXPECT_EQ(control.done(), control.expected());

  JobControl again;
  const auto high = export_genome({calls, path, 5, false, 1}, again);
  EXPECT_EQ(content(path), ">b\nNNA\n>a\nANNNn\n-.T\n");
  EXPECT_EQ(high.called, 3);
  EXPECT_EQ(high.unknown, 8);
}

TEST(GenomeExport, LeavesNoFileIfAChromosomeFails) {
  test::TempDir dir;
  const std::vector<CallFile> calls = {{dir.write("a.fa", ">a\nACGT\n"), "a"},
                                       {dir.write("odd.fa", ">b\nAC?T\n"), "b"}};
  const std::size_t before = dir.entries();
  const auto run = [&](const std::vector<CallFile>& files) {
    JobControl control;
    export_genome({files, dir.file("new") + "/genome.fa", 60, true, 1}, control);
  };
  EXPECT_THROW(run(calls), FormatError);
  EXPECT_THROW(run({calls[0], {dir.file("gone.fa"), "c"}}), FileError);
  EXPECT_EQ(dir.entries(), before);
}

}  // namespace
}  // namespace ancify
