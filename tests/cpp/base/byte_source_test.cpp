// Checks reading text that is plain, gzip or bgzip, and damaged files.
#include "core/io/byte_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <random>

#include "core/exec/errors.h"
#include "core/io/file.h"
#include "core/io/foreign_format.h"
#include "support.h"

namespace ancify {
namespace {

using test::bgzf_block;
using test::bgzip;
using test::gzip;
using test::message_of;
using test::read_all;
using test::TempDir;

std::string some_text(std::size_t n) {
  std::mt19937 random(1);
  std::string text(n, '\0');
  for (char& c : text) c = "ACGTacgt-\n"[random() % 10];
  return text;
}

std::string read_with(const std::string& path, std::size_t buffer, std::size_t piece) {
  return read_all(*open_text(path, buffer), piece);
}

// The same text in every form that can be read. Forms are distinguished by content.
struct Form {
  const char* name;
  std::string content;
};

std::vector<Form> forms(const std::string& text) {
  const std::string half1 = text.substr(0, text.size() / 2);
  const std::string half2 = text.substr(text.size() / 2);
  std::string named = gzip(half2);
  named[3] = 8;  // a header with a file name
  named.insert(10, std::string("name.axt\0", 9));
  return {{"plain", text},
          {"gzip", gzip(text)},
          {"members", gzip(half1) + gzip("") + gzip(half2)},
          {"named", gzip(half1) + named},
          {"padded", gzip(text) + std::string(600, '\0')},
          {"bgzip", bgzip(text, 700)},
          {"bgzip in parts", bgzip(half1, 1000) + bgzip(half2, 65280)},
          {"bgzip, then gzip", bgzip(half1, 1000) + gzip(half2)},
          {"gzip, then bgzip", gzip(half1) + bgzip(half2, 1000)}};
}

TEST(OpenText, GivesTheTextWhateverTheFormAndTheBufferSizes) {
  TempDir dir;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{5000}}) {
    const std::string text = some_text(size);
    for (const auto& [name, content] : forms(text)) {
      const std::string path = dir.write("text", content);
      for (const std::size_t buffer : {1, 2, 7, 100, 1 << 20}) {
        for (const std::size_t piece : {1, 3, 1000, 1 << 20}) {
          ASSERT_EQ(read_with(path, buffer, piece), text)
              << name << ", buffer " << buffer << ", piece " << piece;
        }
      }
    }
  }
}

TEST(OpenText, CountsTheBytesOfTheFile) {
  TempDir dir;
  for (const auto& [name, content] : forms(some_text(5000))) {
    const auto source = open_text(dir.write("text", content), 100);
    read_all(*source, 64);
    EXPECT_EQ(source->consumed(), static_cast<std::int64_t>(content.size())) << name;
  }
}

TEST(OpenText, FindsEveryCut) {
  TempDir dir;
  const std::string text = some_text(3000);
  const std::string whole = gzip(text);
  for (std::size_t n = 2; n < whole.size(); ++n) {
    const std::string path = dir.write("cut.gz", whole.substr(0, n));
    EXPECT_THROW(read_with(path, 64, 1000), FormatError) << n;
  }
  // A cut between bgzip blocks must be found too, though each block is a whole gzip member.
  const std::string blocks = bgzip(text, 500);
  for (std::size_t n = 2; n < blocks.size(); ++n) {
    const std::string path = dir.write("cut.bgz", blocks.substr(0, n));
    EXPECT_THROW(read_with(path, 64, 1000), FormatError) << n;
  }
}

TEST(OpenText, FindsEveryFlippedBitOfTheData) {
  TempDir dir;
  const std::string text = some_text(300);
  for (const std::string& whole : {gzip(text), bgzip(text, 100)}) {
    const std::size_t header = whole[3] == 4 ? 18 : 10;
    for (std::size_t i = header; i < whole.size(); ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string damaged = whole;
        damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
        std::string read;
        try {
          read = read_with(dir.write("damaged.gz", damaged), 64, 1000);
        } catch (const FormatError&) {
          continue;
        }
        // Only damage to header fields that do not matter may go unnoticed.
        EXPECT_EQ(read, text) << "byte " << i << ", bit " << bit;
      }
    }
  }
}

TEST(OpenText, RefusesWhatFollowsTheData) {
  TempDir dir;
  const std::string path = dir.write("tail.gz", gzip("text\n") + "more");
  EXPECT_NE(message_of<FormatError>([&] { read_with(path, 64, 10); }).find("other data follow"),
            std::string::npos);
}

// With any library that inflates.
TEST(OpenText, RefusesHeadersThatNobodyKnows) {
  TempDir dir;
  for (const std::string& whole : {gzip("text\n"), bgzip("text\n", 10)}) {
    for (const int flag : {0x20, 0x40, 0x80}) {
      std::string member = whole;
      member[3] = static_cast<char>(member[3] | flag);
      const std::string path = dir.write("flag.gz", gzip("before\n") + member);
      EXPECT_THROW(read_with(path, 64, 10), FormatError) << flag;
    }
    std::string member = whole;
    member[2] = 7;
    for (const std::string& before : {std::string(), gzip("before\n"), bgzf_block("before\n")}) {
      const std::string path = dir.write("method.gz", before + member);
      EXPECT_THROW(read_with(path, 1000, 10), FormatError);
    }
  }
}

TEST(OpenText, NoticesThatTheFileShrinks) {
  TempDir dir;
  for (const auto& [name, content] : forms(some_text(100000))) {
    const std::string path = dir.write("text", content);
    const auto source = open_text(path, 64);
    std::string piece(10, '\0');
    source->read(&piece[0], piece.size());
    ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(content.size() / 2)), 0);
    EXPECT_THROW(read_all(*source, 1000), FileError) << name;
  }
}

TEST(OpenText, NoticesAtTheEndThatTheFileHasChanged) {
  TempDir dir;
  for (const auto& [name, content] : forms(some_text(100000))) {
    const std::string path = dir.write("text", content);
    const auto source = open_text(path, 1 << 20);
    std::string piece(10, '\0');
    source->read(&piece[0], piece.size());
    // Another file takes its name, but the open file still has all its bytes.
    ASSERT_EQ(std::rename(dir.write("other", content).c_str(), path.c_str()), 0);
    EXPECT_THROW(read_all(*source, 1000), FileError) << name;
  }
}

TEST(OpenText, OpensTheFileThatTheJobExpects) {
  TempDir dir;
  const std::string path = dir.write("text", "some text");
  const JobControl control(InputIdentities{{path, InputFile(path).identity()}});
  const JobControl another(InputIdentities{{path, "1 2 3 4"}});
  EXPECT_NO_THROW(open_text(path, 1 << 20, TaskContext(control)));
  EXPECT_THROW(open_text(path, 1 << 20, TaskContext(another)), FileError);
}

TEST(OpenText, SaysThatAFileIsMissing) {
  TempDir dir;
  EXPECT_THROW(open_text(dir.file("none")), FileError);
}

// As on old Macs; a CR before an LF stays, as readers of lines drop it.
TEST(OpenText, TurnsLineEndsOfCrAloneIntoLf) {
  TempDir dir;
  const std::string rest(3 * kForeignStart, 'A');
  const std::vector<std::pair<std::string, std::string>> cases = {
      {">a\rAC\r>b\r" + rest + "\rG\r", ">a\nAC\n>b\n" + rest + "\nG\n"},
      {"a\r", "a\n"},
      {"\r", "\n"},
      {"a\r\nb\r\n", "a\r\nb\r\n"},
      {"a\rb\n", "a\rb\n"},
      {rest + "\r\n", rest + "\r\n"},
      {std::string(kForeignStart - 1, 'A') + "\r\nC\r\n",
       std::string(kForeignStart - 1, 'A') + "\r\nC\r\n"}};
  for (const auto& [text, expected] : cases) {
    for (const std::string& content : {text, gzip(text), bgzip(text, 700)}) {
      const std::string path = dir.write("x", content);
      for (const std::size_t piece : {1, 100, 1 << 16}) {
        EXPECT_EQ(read_with(path, 1 << 16, piece), expected);
      }
    }
  }
}

TEST(OpenText, NamesFormatsThatAreNotRead) {
  TempDir dir;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"BZh91AY&SY", "compressed by bzip2"},
      {std::string("\xfd\x37zXZ\0\0", 7), "compressed by xz"},
      {"PK\x03\x04 x", "zip archive"},
      {"\x89HDF\r\n\x1a\n", "HDF5"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "pointer of Git LFS"},
      {"\n <!DocType HTML>\n<p>", "HTML"},
      {std::string(16, '\0') + "bgen", "BGEN"},
      {"\xff\xfe" + std::string("a\0", 2), "UTF-16"}};
  for (const auto& [text, name] : cases) {
    for (const std::string& content : {text, gzip(text)}) {
      const std::string path = dir.write("x", content);
      const auto message = message_of<FormatError>([&] { read_with(path, 100, 100); });
      EXPECT_NE(message.find(name), message.npos) << name << ": " << message;
    }
  }
  for (const char* read : {"##maf version=1\n", "#taf version:1\n", ">a\nBZh\n",
                           "q\t100\t0\t90\t+\tchr1\t500\t10\t100\t80\t90\t60\n", ""}) {
    EXPECT_EQ(read_with(dir.write("x", read), 100, 100), read);
  }
}

}  // namespace
}  // namespace ancify
