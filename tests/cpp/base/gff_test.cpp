// Checks reading GFF3 and GTF, in chunks of any size.
#include "core/formats/interval/gff.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/exec/errors.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::TempDir;

// A line for each part, and for each transcript with a gene or tags.
std::vector<std::string> shown(const GffGenes& genes) {
  const auto text = [&](std::uint32_t name) {
    return name == kNoName ? "-" : genes.names.texts()[name];
  };
  std::vector<std::string> lines;
  for (const GffPart& part : genes.parts) {
    lines.push_back(text(part.chromosome) + " " + std::to_string(part.start) + " " +
                    std::to_string(part.end) + (part.forward ? " + " : " - ") +
                    std::to_string(part.phase) + " " + text(part.transcript) + " " +
                    text(part.gene) + " " + text(part.id) + " " +
                    std::to_string(part.genetic_code) + (part.open_start ? " open" : ""));
  }
  std::vector<std::string> owners;
  for (const auto& [number, transcript] : genes.transcripts) {
    owners.push_back(text(number) + " of " + text(transcript.gene) + " " +
                     std::to_string(transcript.tags));
  }
  std::sort(owners.begin(), owners.end());
  lines.insert(lines.end(), owners.begin(), owners.end());
  return lines;
}

std::vector<std::string> read(const std::string& text, std::size_t chunk = 1 << 16) {
  const TempDir dir;
  return shown(read_gff(dir.write("x", text), {"MANE Select", "c,d"}, TaskContext(), chunk));
}

TEST(Gff, ReadsGff3) {
  const std::string text =
      "\xef\xbb\xbf##gff-version 3\n"
      "track name=x\n"
      "c%20r\t.\tgene\t1\t9\t.\t+\t.\tID=g\n"
      "c%20r\t.\tmRNA\t1\t9\t.\t+\t.\tID=t%2C1; Parent=g,h ;tag=basic,MANE Select\n"
      "c%20r\t.\texon\tx\ty\t.\t+\t.\tParent=t%2C1\n"
      "c%20r\t.\tCDS\t1\t6\t.\t+\t1\tParent=t%2C1,u;ID=p;start_range=.,1;tag=c%2Cd;transl_table=2\n"
      "###\n"
      "c%20r\t.\tCDS\t8\t9\t.\t-\t.\tno value;Parent=u%2;end_range=9,.;start_range=8,.\n"
      "##FASTA\n"
      ">c r\n"
      "ACGT";
  const std::vector<std::string> expected = {"c r 1 6 + 1 t,1 - p 2 open",
                                             "c r 1 6 + 1 u - p 2 open",
                                             "c r 8 9 - -1 u%2 - - 0 open",
                                             "g of g 0",
                                             "t,1 of g 3",
                                             "u of - 2"};
  for (const std::size_t chunk : {1, 7, 1000}) EXPECT_EQ(read(text, chunk), expected);
}

TEST(Gff, ReadsGtf) {
  const std::string text =
      "1\t.\tgene\t1\t9\t.\t+\t.\tgene_id \"g\"; \n"
      "1\t.\ttranscript\t1\t9\t.\t+\t.\tgene_id \"g\"; transcript_id \"t;1,2\"; tag \"c,d\"\n"
      "1\t.\tCDS\t1\t6\t.\t+\t0\tgene_id g; level 2; transcript_id \"t;1,2\"; tag \"MANE "
      "Select\";\n";
  const std::vector<std::string> expected = {"1 1 6 + 0 t;1,2 g - 0", "t;1,2 of - 3"};
  EXPECT_EQ(read(text), expected);
}

TEST(Gff, NamesTheLineThatIsWrong) {
  const TempDir dir;
  const auto error = [&](const std::string& line) {
    const std::string path = dir.write("x", "# comment\n" + line + "\n");
    return message_of<FormatError>([&] { read_gff(path, {}, TaskContext()); });
  };
  EXPECT_NE(error("1\t.\tCDS\t.\t6\t.\t+\t0\tParent=t").find("line 2: the start '.'"),
            std::string::npos);
  EXPECT_NE(error("1\t.\tCDS\t5\t2147483648\t.\t+\t0\tParent=t").find("'2147483648'"),
            std::string::npos);
  EXPECT_NE(error("1\t.\tCDS\t5\t4\t.\t+\t0\tParent=t").find("behind the end"), std::string::npos);
  EXPECT_NE(error("1\t.\tCDS\t5\t6\t.\t+\t0").find("names no transcript"), std::string::npos);
  EXPECT_NE(error("1 . CDS").find("nine columns"), std::string::npos);
  EXPECT_NE(error(std::string(2000, 'c') + "\t.\tCDS\t5\t6\t.\t+\t0\tParent=t").find("longer"),
            std::string::npos);
  const std::string part = "1\t.\tCDS\t5\t6\t.\t+\t0\tParent=t";
  EXPECT_NE(error(part + "\n" + part).find("line 3: the same coding part"), std::string::npos);
}

}  // namespace
}  // namespace ancify
