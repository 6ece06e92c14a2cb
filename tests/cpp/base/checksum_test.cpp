// Checks checksums and their concatenation, folder locks, and leftover temporary files.
#include "core/io/checksum.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>

#include "core/exec/errors.h"
#include "core/io/folder_lock.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::read_file;
using test::TempDir;

// The checksum bit by bit, by its polynomial.
std::uint32_t slow_checksum(const std::string& text) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : text) {
    crc ^= static_cast<std::uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

std::string random_text(std::size_t n, std::mt19937& random) {
  std::string text(n, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

TEST(Checksum, IsThatOfGzip) {
  EXPECT_EQ(extend_checksum(0, "123456789", 9), 0xcbf43926u);
  EXPECT_EQ(extend_checksum(0xcbf43926u, nullptr, 0), 0xcbf43926u);
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::string text = random_text(random() % 2000, random);
    const std::size_t cut = random() % (text.size() + 1);
    const auto first = extend_checksum(0, text.data(), cut);
    const auto second = extend_checksum(0, text.data() + cut, text.size() - cut);
    const auto n = static_cast<std::int64_t>(text.size() - cut);
    const auto expected = slow_checksum(text);
    ASSERT_EQ(extend_checksum(first, text.data() + cut, text.size() - cut), expected);
    ASSERT_EQ(join_checksums(first, second, n), expected);
  }
}

TEST(Checksum, OfAFile) {
  TempDir dir;
  std::mt19937 random(2);
  for (const std::size_t n : {0u, 1u, 70000u, 600000u}) {
    const std::string text = random_text(n, random);
    const FileChecksum sum = checksum_of_file(dir.write("f", text), TaskContext());
    EXPECT_EQ(sum.size, static_cast<std::int64_t>(n));
    EXPECT_EQ(sum.checksum, slow_checksum(text));
  }
  EXPECT_THROW(checksum_of_file(dir.file("none"), TaskContext()), FileError);
}

TEST(Checksum, OfASampleIsThatOfASmallFile) {
  TempDir dir;
  std::mt19937 random(3);
  for (const std::size_t n : {0u, 1u, 65536u, 70000u, 1048576u}) {
    const std::string text = random_text(n, random);
    EXPECT_EQ(checksum_of_sample(InputFile(dir.write("f", text))), slow_checksum(text));
  }
}

TEST(Checksum, OfASampleSeesBothEndsAndTheMiddle) {
  TempDir dir;
  std::mt19937 random(4);
  const std::string text = random_text(3 << 20, random);
  const auto sum = checksum_of_sample(InputFile(dir.write("f", text)));
  const std::size_t n = text.size();
  for (const std::size_t at : {std::size_t{0}, n - 1, (n - 65536) / 15 * 7 + 100}) {
    std::string other = text;
    other[at] ^= 1;
    EXPECT_NE(checksum_of_sample(InputFile(dir.write("f", other))), sum) << at;
  }
}

TEST(FolderLock, IsForOneAtATime) {
  TempDir dir;
  const std::string folder = dir.file("a/b");
  {
    const FolderLock lock(folder);
    EXPECT_TRUE(lock.held());
    EXPECT_EQ(read_file(folder + "/.ancify.lock").find(std::to_string(getpid()) + " on "), 0u);
    const std::string message = message_of<LockError>([&] { FolderLock another(folder); });
    EXPECT_NE(message.find("process " + std::to_string(getpid()) + " on "), std::string::npos)
        << message;
    const FolderLock elsewhere(dir.file("a"));
  }
  EXPECT_EQ(dir.entries(), 0u);
}

// A killed process leaves the lock's file, but not the lock.
TEST(FolderLock, DoesNotOutliveItsProcess) {
  TempDir dir;
  std::array<int, 2> locked;
  ASSERT_EQ(pipe(locked.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const FolderLock lock(dir.path());
    _exit(write(locked[1], "x", 1) == 1 ? 0 : 1);
  }
  char byte;
  ASSERT_EQ(read(locked[0], &byte, 1), 1);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(std::filesystem::exists(dir.file(".ancify.lock")));
  const FolderLock lock(dir.path());
  EXPECT_TRUE(lock.held());
}

// A process may be killed after making the lock's file and before writing it.
TEST(FolderLock, TakesOverWhatAKilledProcessLeft) {
  for (const std::string left : {"", "1 on host", "4194304 on a-b.c\n"}) {
    TempDir dir;
    dir.write(".ancify.lock", left);
    EXPECT_TRUE(FolderLock(dir.path()).held());
    EXPECT_EQ(dir.entries(), 0u);
  }
}

TEST(FolderLock, LeavesWhatIsNoRuns) {
  TempDir dir;
  const std::string path = dir.file(".ancify.lock");
  const auto refuses = [&] {
    const std::string message = message_of<FileError>([&] { FolderLock lock(dir.path()); });
    EXPECT_NE(message.find(path + "'"), std::string::npos) << message;
    EXPECT_NE(message.find("Move it, or choose another folder"), std::string::npos) << message;
  };
  for (const std::string text : {"notes\n", "7", " on host", "3 on the list\n", "1 on a\nb\n"}) {
    dir.write(".ancify.lock", text);
    refuses();
    EXPECT_EQ(read_file(path), text);
  }
  const std::string long_text = "1 on " + std::string(600, 'a');
  dir.write(".ancify.lock", long_text);
  refuses();
  EXPECT_EQ(read_file(path), long_text);
  std::filesystem::remove(path);

  for (const std::string text : {"", "1 on host", "precious"}) {
    const std::string other = dir.write("other", text);
    std::filesystem::create_symlink(other, path);
    refuses();
    EXPECT_TRUE(std::filesystem::is_symlink(path));
    std::filesystem::remove(path);
    std::filesystem::create_hard_link(other, path);
    refuses();
    EXPECT_EQ(read_file(other), text);
    std::filesystem::remove(path);
  }
  std::filesystem::create_symlink(dir.file("none"), path);
  refuses();
  EXPECT_FALSE(std::filesystem::exists(dir.file("none")));
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  refuses();
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  refuses();
}

TEST(FolderLock, RemovesItsOwnFileAlone) {
  TempDir dir;
  {
    const FolderLock lock(dir.path());
    std::filesystem::remove(dir.file(".ancify.lock"));
    dir.write(".ancify.lock", "mine");
  }
  EXPECT_EQ(read_file(dir.file(".ancify.lock")), "mine");
}

TEST(FolderLock, IsInTheFolderThatALinkLeadsTo) {
  TempDir dir;
  std::filesystem::create_directory(dir.file("folder"));
  std::filesystem::create_symlink("folder", dir.file("link"));
  const FolderLock lock(dir.file("link"));
  EXPECT_TRUE(std::filesystem::exists(dir.file("folder/.ancify.lock")));
}

TEST(FolderLock, IsNotItsForkedChildsToRemove) {
  TempDir dir;
  auto lock = std::make_unique<FolderLock>(dir.path());
  const pid_t child = fork();
  if (child == 0) {
    lock.reset();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(std::filesystem::exists(dir.file(".ancify.lock")));
}

TEST(Leftovers, AreThoseOfEndedProcesses) {
  TempDir dir;
  EXPECT_TRUE(leftovers(dir.file("none")).empty());
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  const auto name = [](pid_t process, const std::string& rest) {
    return "chr1.fa.ancify-tmp-" + std::to_string(process) + rest;
  };
  const pid_t killed = fork();
  if (killed == 0) {
    pause();
    _exit(0);
  }
  kill(killed, SIGKILL);
  // Wait for its end, but leave it as a zombie.
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(killed), &info, WEXITED | WNOWAIT);
  std::vector<std::string> expected = {dir.write(name(child, "-0"), ""),
                                       dir.write(name(killed, "-0"), ""),
                                       dir.write(name(getpid(), "-1a2b"), "")};
  dir.write(name(getppid(), "-0"), "");  // the parent still runs
  for (const std::string other : {"chr1.fa", "x.ancify-tmp-", "x.ancify-tmp-7", "x.ancify-tmp-a-0",
                                  "x.ancify-tmp-4294966296-0", ".ancify", "x.ancify-2026-11-22"}) {
    dir.write(other, "");
  }
  auto found = leftovers(dir.path());
  waitpid(killed, nullptr, 0);
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace ancify
