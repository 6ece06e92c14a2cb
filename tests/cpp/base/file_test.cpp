// Checks that files are written whole or not at all, and that changes of input files are noticed.
#include "core/io/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

#include "core/exec/errors.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::read_file;
using test::TempDir;

TEST(InputFile, SaysWhatIsWrong) {
  TempDir dir;
  EXPECT_NE(message_of<FileError>([&] { InputFile(dir.file("none")); }).find("No such file"),
            std::string::npos);
  EXPECT_NE(message_of<FileError>([&] { InputFile(dir.path()); }).find("not a regular file"),
            std::string::npos);
}

TEST(InputFile, NoticesThatItShrinks) {
  TempDir dir;
  const std::string path = dir.write("f", std::string(1000, 'a'));
  InputFile file(path);
  std::string buffer(600, '\0');
  file.read_at(&buffer[0], 400, 0);
  ASSERT_EQ(truncate(path.c_str(), 500), 0);
  const std::string message = message_of<FileError>([&] { file.read_at(&buffer[0], 600, 400); });
  EXPECT_NE(message.find("became shorter"), std::string::npos) << message;
  EXPECT_NE(message.find("1000 bytes"), std::string::npos) << message;
}

// A file may be changed in several ways while it is read. Each is noticed at the end of reading.
TEST(InputFile, NoticesThatItIsChangedOrMoved) {
  TempDir dir;
  const std::string path = dir.write("f", "some text");
  const std::string other = dir.file("other");
  const std::vector<std::function<void()>> changes = {
      [&] { dir.write("f", "same size"); }, [&] { dir.write("f", "some text, longer"); },
      [&] { ASSERT_EQ(std::rename(path.c_str(), other.c_str()), 0); },
      [&] { ASSERT_EQ(unlink(path.c_str()), 0); },
      // The modification time is reset, but the time of the status change shows it.
      [&] {
        struct stat before;
        ASSERT_EQ(stat(path.c_str(), &before), 0);
        dir.write("f", "SOME TEXT");
        const std::array<timespec, 2> times = {before.st_atim, before.st_mtim};
        ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times.data(), 0), 0);
      }};
  for (const auto& change : changes) {
    dir.write("f", "some text");
    const InputFile file(path);
    EXPECT_NO_THROW(file.check_unchanged());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that file times differ
    change();
    const auto message = message_of<FileError>([&] { file.check_unchanged(); });
    EXPECT_NE(message.find(path), std::string::npos) << message;
    EXPECT_NE(message.find("changed while it was read"), std::string::npos) << message;
  }
}

TEST(InputFile, IsTheOneThatIsExpected) {
  TempDir dir;
  const std::string path = dir.write("f", "some text");
  const InputIdentities inputs = {{path, InputFile(path).identity()}};
  EXPECT_EQ(InputFile(path, inputs).identity(), inputs.at(path));
  EXPECT_NO_THROW(InputFile(dir.write("g", "of no account"), inputs));
  // Another file of the same size under this name, also by a link.
  const std::string other = dir.write("other", "SOME TEXT");
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(symlink(other.c_str(), path.c_str()), 0);
  const auto message = message_of<FileError>([&] { InputFile(path, inputs); });
  EXPECT_NE(message.find("was replaced or changed since the run began"), std::string::npos)
      << message;
}

TEST(OutputFile, AppearsOnlyWhenCommitted) {
  TempDir dir;
  const std::string path = dir.file("out");
  {
    OutputFile file(path, 6);
    file.write_at("abc", 3, 0);
    EXPECT_FALSE(std::filesystem::exists(path));
    file.close();
    file.open();
    file.write_at("def", 3, 3);
    file.begin_sync();
    file.close();
    file.sync(TaskContext());
    file.prepare();
    EXPECT_FALSE(std::filesystem::exists(path));
    file.commit();
  }
  EXPECT_EQ(read_file(path), "abcdef");
  EXPECT_EQ(dir.entries(), 1u);
}

TEST(OutputFile, LeavesNothingWithoutCommit) {
  TempDir dir;
  const std::string path = dir.write("out", "old");
  {
    OutputFile file(path, 100);
    file.write_at("x", 1, 0);
  }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(dir.entries(), 1u);
}

TEST(OutputFile, ReplacesWhatIsThere) {
  TempDir dir;
  const std::string path = dir.write("out", "old content");
  OutputFile file(path, 3);
  file.write_at("new", 3, 0);
  file.prepare();
  file.commit();
  EXPECT_EQ(read_file(path), "new");
}

TEST(OutputFile, KnowsTheFileThatItWrote) {
  TempDir dir;
  OutputFile file(dir.file("out"), 3);
  file.write_at("own", 3, 0);
  file.prepare();
  file.commit();
  EXPECT_EQ(file.identity(), InputFile(file.path()).identity());
  dir.write("another", "not");
  std::filesystem::rename(dir.file("another"), file.path());
  EXPECT_THROW(file.identity(), FileError);
}

TEST(OutputFile, SaysWhatIsWrong) {
  TempDir dir;
  EXPECT_THROW(OutputFile(dir.file("no/such/folder"), 3), FileError);
  EXPECT_THROW(OutputFile(dir.file("huge"), std::int64_t{1} << 60), FileError);
  EXPECT_EQ(dir.entries(), 0u);
  OutputFile blocked(dir.file("folder"), 3);
  std::filesystem::create_directory(dir.file("folder"));
  EXPECT_THROW(blocked.prepare(), FileError);
}

TEST(OutputFolder, GoesAgainWhereNothingIsInIt) {
  TempDir dir;
  std::filesystem::create_directory(dir.file("old"));
  {
    const OutputFolder inner(dir.file("a/b/c"));
    const OutputFolder there(dir.file("old"));
    const OutputFolder here("");
    EXPECT_TRUE(std::filesystem::is_directory(dir.file("a/b/c")));
  }
  EXPECT_EQ(dir.entries(), 1u);
  {
    const OutputFolder inner(dir.file("a/b"));
    const OutputFolder with_slash(dir.file("a/c/"));
    dir.write("a/b/file", "x");
  }
  EXPECT_EQ(read_file(dir.file("a/b/file")), "x");
  EXPECT_FALSE(std::filesystem::exists(dir.file("a/c")));
  EXPECT_THROW(OutputFolder(dir.file("a/b/file/d")), FileError);
}

TEST(SafeFileName, NeverLeavesTheFolder) {
  for (const char* name : {"chr1", "HLA-A*01:01", "-n", "..x", "é"}) {
    EXPECT_TRUE(is_safe_file_name(name)) << name;
  }
  EXPECT_TRUE(is_safe_file_name(std::string(200, 'x')));
  EXPECT_FALSE(is_safe_file_name(std::string(201, 'x')));
  for (const char* name : {"", ".", "..", "a/b", "a b", "a\nb", "a\x7f", "/etc/passwd", "../x"}) {
    EXPECT_FALSE(is_safe_file_name(name)) << name;
  }
}

}  // namespace
}  // namespace ancify
