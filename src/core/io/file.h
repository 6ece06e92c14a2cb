// Files as the core uses them: inputs that must not shrink, outputs that appear whole or not at
// all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/threads.h"

namespace ancify {

// An open file descriptor, closed at the end of its scope.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor() { close(); }
  int get() const { return fd_; }
  // False, with errno, where the system only now reports that something could not be written.
  bool close();

 private:
  int fd_ = -1;
};

// What the system says of an open file: any write, rename or exchange changes one of these.
struct FileStatus {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified = 0;  // nanoseconds since 1970, as is the next
  std::int64_t changed = 0;   // set by the system alone, as whoever writes can set `modified`
  bool operator==(const FileStatus& other) const;
  // As a text for records. The device's number is not in it: other machines, and this one after a
  // restart, have another for the same file system.
  std::string identity() const;
};

// A regular file opened for reading.
class InputFile {
 public:
  // FileError where `inputs` has another identity for this path.
  explicit InputFile(const std::string& path, const InputIdentities& inputs = {});
  const std::string& path() const { return path_; }
  // Size in bytes when the file was opened.
  std::int64_t size() const { return status_.size; }
  const FileStatus& status() const { return status_; }
  std::string identity() const { return status_.identity(); }
  // FileError where the file is not any more as it was when it was opened. For the end of reading.
  void check_unchanged() const;
  // Fills `buffer` with n bytes from `offset` on, all within size(). FileError if the file has
  // become shorter since it was opened.
  void read_at(char* buffer, std::size_t n, std::int64_t offset) const;

  // For a library that reads the file itself.
  int descriptor() const { return fd_.get(); }

 private:
  std::string path_;
  FileDescriptor fd_;
  FileStatus status_;
};

// A file of known size that is written under a temporary name beside its own, with its space
// reserved first, and takes its name on commit(). Without commit() nothing is left.
class OutputFile {
 public:
  OutputFile(std::string path, std::int64_t size);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();
  const std::string& path() const { return path_; }
  // What it is called until commit(), for a library that writes it.
  const std::string& temporary() const { return temporary_; }
  std::int64_t size() const { return size_; }

  // Safe from several threads at once on parts that do not overlap.
  void write_at(const char* data, std::size_t n, std::int64_t offset);

  // Few files can be open at a time: one that is closed has to be opened before the next write.
  void open();
  void close();

  // Lets the disk begin with what is written, and does not wait.
  void begin_sync();

  // Waits until all is on the disk for sure; Interrupted where the task is no longer wanted.
  void sync(const TaskContext& context);

  // Nothing more is written: closes the file and looks whether commit() can work.
  void prepare();
  // Puts the prepared file in its place.
  void commit();
  // Of the committed file. FileError where another has taken its place since.
  std::string identity() const;

 private:
  std::string path_;
  std::string temporary_;  // empty once committed
  std::int64_t size_;
  std::uint64_t inode_ = 0;
  FileDescriptor fd_;
};

// Makes a folder, and those above it, where they are not there. At the end of its scope those that
// it has made are removed again if nothing is in them.
class OutputFolder {
 public:
  explicit OutputFolder(const std::string& path);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();

 private:
  std::vector<std::string> made_;  // inner ones first
};

// In the names of files that are not whole yet, before the process's number.
constexpr std::string_view kTemporary = ".ancify-tmp-";

// What processes that are no more have left in a folder under temporary names, which end in
// .ancify-tmp-<process>-<number or word>; nothing where the folder is not there. This process
// counts among them: it must not have begun to write there. One on another machine is not seen.
std::vector<std::string> leftovers(const std::string& folder);

// Removes a file if it is there.
void remove_file(const std::string& path);

// Of a name that becomes a file's. File systems allow 255, and temporary names are longer.
constexpr std::size_t kMostNameBytes = 200;

// A name that is one component of a path, so that it never leaves the folder it is used in, of at
// most kMostNameBytes that are neither white space nor control characters.
bool is_safe_file_name(const std::string& name);

}  // namespace ancify
