// Reads FASTQ in chunks of any size.
#include "core/formats/sequence/fastq.h"

#include <gtest/gtest.h>

#include "core/exec/errors.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::TempDir;

std::string read(const std::string& path, std::size_t chunk) {
  std::string text;
  JobControl control;
  const FastaSink sink = {[&](std::string_view name, std::int64_t line) {
                            text.append(name).append(":").append(std::to_string(line)).append("=");
                          },
                          [&](std::string_view bases) { text.append(bases).append(";"); }};
  read_sequences(path, sink, control, TaskContext(), chunk);
  return text;
}

TEST(Fastq, GivesReadsInChunksOfAnySize) {
  TempDir dir;
  const std::string path = dir.write(
      "x",
      "@one more "
      "words\r\nACGT\r\n+\r\n@@@@\r\n@two\nNN.\n+two\n+++\n@empty\n\n+\n\n@last\nA\n+\nF");
  for (std::size_t chunk = 1; chunk < 80; ++chunk) {
    EXPECT_EQ(read(path, chunk), "one:1=ACGT;two:5=NN.;empty:9=;last:13=A;");
  }
}

TEST(Fastq, NamesTheRecordThatIsDamaged) {
  TempDir dir;
  const auto message = [&](const std::string& content) {
    const std::string path = dir.write("x", content);
    const std::string whole = message_of<FormatError>([&] { read(path, 1000); });
    for (const std::size_t chunk : {1, 5, 16}) {
      EXPECT_EQ(message_of<FormatError>([&] { read(path, chunk); }), whole);
    }
    return whole.substr(whole.find("record"));
  };
  const std::string good = "@a\nACGT\n+\nFFFF\n";
  EXPECT_EQ(message(good + "@b\nACGTA\n+\nFFFF\n"),
            "record 2 has 5 bases but 4 qualities: fetch the file again, or remove the record");
  EXPECT_EQ(message(good + "b\nA\n+\nF\n"),
            "record 2 begins with 'b', not with @: give four lines a record");
  EXPECT_EQ(message(good + good + "@b\nA\nF\n+\n"),
            "record 3 has 'F' where its third line must begin with +: give four lines a record");
  for (const char* cut : {"@", "@b\n", "@b\nACGT", "@b\nACGT\n+\n"}) {
    EXPECT_EQ(message(good + cut),
              "record 2 is incomplete: the file was cut short. Fetch it again");
  }
}

TEST(Fastq, FastaIsToldApart) {
  TempDir dir;
  EXPECT_EQ(read(dir.write("x", ">a b\nAC\n>c\nT\n"), 100), "a:1=AC;c:3=T;");
  EXPECT_EQ(read(dir.write("x", ">a:b:c:5:9:1\nAC\n>a:b:c:5:9:-1\nT\n"), 100),
            "a:b:c:5:9:1:1=AC;a:b:c:5:9:-1:3=T;")
      << "names like Ensembl's place nothing";
}

TEST(Fastq, FilesWithoutTextHaveNoSequence) {
  TempDir dir;
  for (const char* text : {"", "\n", " \r\n\n"}) {
    EXPECT_EQ(read(dir.write("empty", text), 10), "");
  }
  EXPECT_EQ(read(dir.write("x", ">a\n"), 10), "a:1=");
  const std::string path = dir.write("y", "\n\nACGT\n");
  EXPECT_NE(message_of<FormatError>([&] { read(path, 10); }).find("not a FASTA file"),
            std::string::npos);
  EXPECT_EQ(message_of<FormatError>([&] {
              throw_no_sequences({"a", "b"});
            }),
            "'a': the file has no sequence, and no other file has one");
}

}  // namespace
}  // namespace ancify
