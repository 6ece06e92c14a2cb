// Files as the core uses them: inputs that must not shrink, outputs that appear whole or not at
// all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
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

// A regular file opened for reading.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  const std::string& path() const { return path_; }
  // Size in bytes when the file was opened.
  std::int64_t size() const { return size_; }
  // Fills `buffer` with n bytes from `offset` on, all within size(). FileError if the file has
  // become shorter since it was opened.
  void read_at(char* buffer, std::size_t n, std::int64_t offset) const;

 private:
  std::string path_;
  FileDescriptor fd_;
  std::int64_t size_ = 0;
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

 private:
  std::string path_;
  std::string temporary_;  // empty once committed
  std::int64_t size_;
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

// What processes that are no more have left in a folder under temporary names, which end in
// .ancify-tmp-<process>-<number or word>; nothing where the folder is not there. This process
// counts among them: it must not have begun to write there. One on another machine is not seen.
std::vector<std::string> leftovers(const std::string& folder);

// Removes a file if it is there.
void remove_file(const std::string& path);

// A name that is one component of a path, so that it never leaves the folder it is used in, of at
// most 200 bytes that are neither white space nor control characters.
bool is_safe_file_name(const std::string& name);

}  // namespace ancify
