// Checks that lines of VCF changed as text have the bytes that htslib would write.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "core/exec/errors.h"
#include "core/formats/variant/variant_file.h"
#include "support.h"

namespace ancify {
namespace {

#ifdef ANCIFY_HAVE_HTSLIB

using test::TempDir;

const std::string kHeader =
    "##fileformat=VCFv4.2\n"
    "##contig=<ID=1>\n"
    "##FILTER=<ID=q10,Description=\"\">\n"
    "##FILTER=<ID=s,Description=\"\">\n"
    "##INFO=<ID=DP,Number=1,Type=Integer,Description=\"\">\n"
    "##INFO=<ID=AF,Number=A,Type=Float,Description=\"\">\n"
    "##INFO=<ID=DB,Number=0,Type=Flag,Description=\"\">\n"
    "##INFO=<ID=ANN,Number=.,Type=String,Description=\"\">\n"
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"\">\n"
    "##FORMAT=<ID=AD,Number=R,Type=Integer,Description=\"\">\n"
    "##FORMAT=<ID=GL,Number=G,Type=Float,Description=\"\">\n"
    "##FORMAT=<ID=FT,Number=1,Type=String,Description=\"\">\n"
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\n";

class Lines {
 public:
  explicit Lines(unsigned seed) : random_(seed) {}

  // Most of the parts are as htslib writes them; some are not, and some are no VCF.
  std::string line() {
    const std::string formats =
        one_of({"GT", "GT", "GT:AD", "GT:AD:GL:FT", "AD", "FT:GL", "AD:GT"});
    return "1\t" + one_of({"7", "7", "7", "07"}) + "\t" + one_of({".", "rs1;x", "a b"}) + "\t" +
           one_of({"A", "acN", "."}) + "\t" + one_of({".", "C", "C,<DEL>", "*", ".,C", "C,."}) +
           "\t" + one_of({".", "50", number()}) + "\t" +
           one_of({".", "PASS", "q10", "q10;s", "q10;", "s;s", "PASS;s"}) + "\t" + info() + "\t" +
           formats + "\t" + sample(formats) + "\t" + sample(formats);
  }

 private:
  std::string one_of(const std::vector<std::string>& choices) {
    return choices[std::uniform_int_distribution<std::size_t>(0, choices.size() - 1)(random_)];
  }

  // A number of a few digits, with and without a point.
  std::string number() {
    std::string text =
        one_of({"", "", "-"}) + one_of({"0", "0", "1", "60", "999999", "12345", "07"});
    if (one_of({"", "."}).empty()) return text + one_of({"", "", "e3", "e-07"});
    text += '.';
    for (int i = std::uniform_int_distribution<int>(0, 7)(random_); i > 0; --i) {
      text += one_of({"0", "0", "0", "5", "9", "3"});
    }
    return text;
  }

  std::string numbers() {
    return one_of({number(), number(), ".", number() + "," + number(), ".," + number(), ",", ""});
  }

  std::string whole() {
    return one_of(
        {"0", "5", "-3", "200", "-70000", "2147483647", "-0", "00", "x", ".", "1,2", "1,."});
  }

  std::string info() {
    if (one_of({".", "", "", ""}) == ".") return ".";
    std::string text = one_of({"DB", "DB=1", "DP=" + whole(), "AF=" + numbers()});
    if (one_of({"", "more"}).empty()) return text;
    text += one_of({";", ";", ";", ";;"});
    return text + one_of({"ANN=a|b=c,d", "ANN=.", "ANN=", "ANN", "AA=t", "AF", "AF=" + numbers(),
                          "DP=" + whole(), "DB;"});
  }

  std::string value(const std::string& format) {
    if (format == "GT") return one_of({"0/1", "0|1", ".", "./.", "1", "0/1|2", "0/", "00/1", "|0"});
    if (format == "AD") return whole();
    return format == "GL" ? numbers() : one_of({"PASS", ".", "x/y", "a,b", ""});
  }

  std::string sample(const std::string& formats) {
    std::string text;
    for (std::size_t begin = 0; begin < formats.size(); begin += 3) {
      if (begin > 0 && one_of({"on", "on", "on", "end"}) == "end") break;
      text += (begin > 0 ? ":" : "") + value(formats.substr(begin, 2));
    }
    return text;
  }

  std::mt19937 random_;
};

enum class Change { kNothing, kFields, kFailed, kPassed, kSwapped };

void change(VariantReader& reader, VariantWriter& writer, Change what) {
  if (what == Change::kNothing) return;
  writer.set_text("AA", "c");
  writer.remove("DP");
  writer.set_numbers("P", {0.1234567F});
  writer.set_numbers("Q", {1e-9F, 1, 0.5F});
  if (what == Change::kFailed) writer.set_filter("s", true);
  if (what == Change::kPassed) writer.set_filter("q10", false);
  if (what == Change::kSwapped && reader.alleles() == 2) writer.swap_alleles("OLD");
}

// Writes the file with changed records. Throws FormatError if it is refused.
void write(const std::string& from, const std::string& to, Change what, bool to_the_end) {
  HeaderAdditions additions;
  additions.fields = {{"AA", "1", "String", ""},
                      {"P", "1", "Float", ""},
                      {"Q", ".", "Float", ""},
                      {"OLD", "1", "String", ""}};
  VariantReader reader(from, 0, RecordParts::kGenotypes);
  VariantWriter writer(reader, to, additions);
  while (reader.next()) {
    change(reader, writer, what);
    writer.write();
  }
  if (to_the_end) writer.commit({});
}

bool is_taken(const std::string& line, const std::string& ending, Change what, const TempDir& dir) {
  try {
    write(dir.write("in.vcf", kHeader + line), dir.file("out" + ending), what, false);
    return true;
  } catch (const FormatError&) {
    return false;
  }
}

// Changes for BCF are made by htslib alone.
TEST(VcfLine, HasTheBytesOfHtslib) {
  constexpr int changes = 5;
  const TempDir dir;
  Lines lines(1);
  std::vector<std::string> taken(changes, kHeader);
  int refused = 0;
  constexpr int n = 5000;
  for (int i = 0; i < n; ++i) {
    const std::string line = lines.line() + "\n";
    const auto what = static_cast<Change>(i % changes);
    const bool is_good = is_taken(line, ".vcf", what, dir);
    ASSERT_EQ(is_good, is_taken(line, ".bcf", what, dir)) << line;
    if (is_good) taken[static_cast<std::size_t>(i % changes)] += line;
    if (!is_good) ++refused;
  }
  EXPECT_LT(refused, n / 2);
  for (int i = 0; i < changes; ++i) {
    const auto what = static_cast<Change>(i);
    const std::string text = dir.write("in.vcf", taken[static_cast<std::size_t>(i)]);
    write(text, dir.file("text.vcf"), what, true);
    write(text, dir.file("a.bcf"), what, true);
    write(dir.file("a.bcf"), dir.file("binary.vcf"), Change::kNothing, true);
    EXPECT_EQ(test::read_file(dir.file("text.vcf")), test::read_file(dir.file("binary.vcf")));
  }
}

TEST(VcfLine, GivesTheValuesOfItsRecord) {
  TempDir dir;
  const std::string line = "1\t5\tx\tA\t*,C\t.\tPASS\tDP=4;ANN=u\tGT:AD\t0/2:1,2,3\t2|0:.\n";
  VariantReader reader(dir.write("a.vcf", kHeader + line), 0, RecordParts::kGenotypes);
  VariantWriter writer(reader, dir.file("out.vcf"), {});
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.id(), "x");
  EXPECT_EQ(reader.stored_alleles(), 3);
  ASSERT_EQ(reader.alleles(), 2);
  EXPECT_EQ(reader.allele(1), "C");
  writer.set_text("ANN", "v");
  EXPECT_EQ(reader.info_text("ANN"), "v");
  EXPECT_EQ(reader.genotypes().alleles, (std::vector<int>{0, 1, 1, 0}));
  EXPECT_TRUE(reader.is_phased(1));
  EXPECT_EQ(reader.sample_numbers("AD").per_sample, 3);
  EXPECT_FALSE(reader.next());
}

#endif

}  // namespace
}  // namespace ancify
