// Checks that sets of files appear whole or not at all, whoever writes and reads them.
#include "core/io/file_set.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/exec/errors.h"
#include "core/io/file.h"
#include "support.h"

namespace ancify {
namespace {

using test::message_of;
using test::read_file;
using test::TempDir;

// Files that each have the text `text`; the last is the key.
class Set {
 public:
  Set(const TempDir& dir, const std::string& text, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      files_.push_back(
          std::make_unique<OutputFile>(dir.file(name), static_cast<std::int64_t>(text.size())));
      files_.back()->write_at(text.data(), text.size(), 0);
    }
  }
  void commit(bool overwrite) const {
    std::vector<OutputFile*> files;
    for (const auto& file : files_) files.push_back(file.get());
    commit_set(files, overwrite, TaskContext());
  }

 private:
  std::vector<std::unique_ptr<OutputFile>> files_;
};

TEST(FileSet, AppearsWhole) {
  TempDir dir;
  Set(dir, "one", {"a", "b", "key"}).commit(false);
  for (const char* name : {"a", "b", "key"}) EXPECT_EQ(read_file(dir.file(name)), "one");
  Set(dir, "two", {"a", "b", "key"}).commit(true);
  for (const char* name : {"a", "b", "key"}) EXPECT_EQ(read_file(dir.file(name)), "two");
  EXPECT_EQ(dir.entries(), 3);  // no lock, no temporary file
}

TEST(FileSet, DoesNotReplaceUnlessAsked) {
  for (const std::string taken : {"a", "key"}) {
    TempDir dir;
    dir.write(taken, "of another");
    const Set set(dir, "one", {"a", "key"});
    EXPECT_NE(message_of<InputError>([&] { set.commit(false); }).find("meanwhile"),
              std::string::npos);
    EXPECT_EQ(read_file(dir.file(taken)), "of another");
  }
}

TEST(FileSet, LeavesNothingIfAFileHasNoPlace) {
  for (const std::string taken : {"a", "b", "key"}) {
    TempDir dir;
    ASSERT_EQ(mkdir(dir.file(taken).c_str(), 0777), 0);
    {
      const Set set(dir, "one", {"a", "b", "key"});
      EXPECT_THROW(set.commit(true), FileError) << taken;
    }
    EXPECT_EQ(dir.entries(), 1) << taken;
  }
}

// A reader trusts the files it has read while the key is the same file.
TEST(FileSet, IsNeverOfTwoWriters) {
  TempDir dir;
  const std::vector<std::string> names = {"a", "b", "key"};
  Set(dir, "0", names).commit(true);
  std::atomic<int> writers{3};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 3; ++writer) {
    threads.emplace_back([&, writer] {
      for (int i = 0; i < 50; ++i) Set(dir, std::to_string(writer), names).commit(true);
      --writers;
    });
  }
  int whole = 0;
  int mixed = 0;
  while (writers > 0) {
    try {
      const InputFile key(dir.file("key"));
      const std::string text = read_file(dir.file("key"));
      const bool same = text == read_file(dir.file("a")) && text == read_file(dir.file("b"));
      if (InputFile(dir.file("key")).status().inode != key.status().inode) continue;
      ++(same ? whole : mixed);
    } catch (const FileError&) {
      continue;  // the key is away
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(mixed, 0);
  EXPECT_GT(whole, 0);
  EXPECT_EQ(dir.entries(), 3);
}

}  // namespace
}  // namespace ancify
