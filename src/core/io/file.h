// Input files that are checked for changes, and output files that appear whole or not at all.
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
  // False, with errno set, if the system reports a failed write only now.
  bool close();

 private:
  int fd_ = -1;
};

// The status of an open file. Any write to the file, or its renaming or replacement, changes one of
// these values.
struct FileStatus {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified = 0;  // nanoseconds since 1970, like `changed`
  std::int64_t changed = 0;   // set only by the system, while programs can set `modified`
  bool operator==(const FileStatus& other) const;
  // The status as a text for records. It omits the device number, which may differ between
  // machines, and after a restart, for one file system.
  std::string identity() const;
};

// The status of the file under a path. Throws FileError if there is none.
FileStatus status_of_file(const std::string& path);

// True if a path leads to something other than a file or a folder, such as a pipe or a device.
bool is_special_file(const std::string& path);

// Writes to the standard output. Throws FileError on failure.
void write_standard_output(const char* data, std::size_t n);
// Throws the FileError for a write to a standard output whose pipe is closed.
[[noreturn]] void throw_closed_output();
// Makes writes to closed pipes fail (EPIPE) instead of raising a signal, until the process ends.
void ignore_closed_pipes();

// A regular file opened for reading.
class InputFile {
 public:
  // Throws FileError if the file cannot be opened, is not regular, or has another identity in
  // `inputs`.
  explicit InputFile(const std::string& path, const InputIdentities& inputs = {});
  const std::string& path() const { return path_; }
  // Size in bytes when the file was opened.
  std::int64_t size() const { return status_.size; }
  const FileStatus& status() const { return status_; }
  std::string identity() const { return status_.identity(); }
  // Throws FileError if the file has changed since it was opened. Call it at the end of reading.
  void check_unchanged() const;
  // Fills `buffer` with n bytes from `offset` on, all within size(). Throws FileError if the file
  // has become shorter since it was opened.
  void read_at(char* buffer, std::size_t n, std::int64_t offset) const;

  // For a library that reads the file itself.
  int descriptor() const { return fd_.get(); }

 private:
  std::string path_;
  FileDescriptor fd_;
  FileStatus status_;
};

// A file of known size, written under a temporary name in its final folder. Its space is reserved
// first. commit() renames it to its final name; without commit() it is removed.
class OutputFile {
 public:
  OutputFile(std::string path, std::int64_t size);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();
  const std::string& path() const { return path_; }
  // The temporary path until commit(), for a library that writes the file.
  const std::string& temporary() const { return temporary_; }
  std::int64_t size() const { return size_; }

  // Several threads may write at once to non-overlapping parts.
  void write_at(const char* data, std::size_t n, std::int64_t offset);
  // Reads written bytes.
  void read_at(char* buffer, std::size_t n, std::int64_t offset) const;

  // close() keeps the process within its limit on open files. Call open() before the next write.
  void open();
  void close();

  // Sets the modification time of the written file a second back. Some programs require that an
  // index is newer than its file, in whole seconds.
  void date_back();

  // Starts to sync the written data to the disk without waiting.
  void begin_sync();

  // Waits until all data are on the disk. Throws Interrupted if the task is stopped.
  void sync(const TaskContext& context);

  // Closes the file after the last write. Throws FileError if a folder with the file's name would
  // make commit() fail.
  void prepare();
  // Gives the prepared file its final name.
  void commit();
  // The identity of the committed file. Throws FileError if another file has replaced it.
  std::string identity() const;

 private:
  std::string path_;
  std::string temporary_;  // empty once committed
  std::int64_t size_;
  std::uint64_t inode_ = 0;
  FileDescriptor fd_;
};

// Creates a folder and its missing parents. At the end of its scope it removes the folders it has
// created, unless they have content.
class OutputFolder {
 public:
  explicit OutputFolder(const std::string& path);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();

 private:
  std::vector<std::string> made_;  // innermost first
};

// The part of a temporary file's name before the process ID.
constexpr std::string_view kTemporary = ".ancify-tmp-";

// The temporary files in a folder that ended processes have left; empty if the folder does not
// exist. Their names end in .ancify-tmp-<process>-<number or word>. Files of this process count
// too, so call it before writing there. A process on another machine cannot be seen and counts as
// ended.
std::vector<std::string> leftovers(const std::string& folder);

// Removes a file if it exists. Throws FileError if it cannot be removed.
void remove_file(const std::string& path);

// The longest text that may become a file name, in bytes. File systems allow 255, and temporary
// names are longer.
constexpr std::size_t kMostNameBytes = 200;

// True if a name is a single path component and so cannot leave its folder. It must have at most
// kMostNameBytes bytes, and no white space or control characters.
bool is_safe_file_name(const std::string& name);

// The path of a file named after a chromosome, a sample or a species of another file. Throws
// InputError if the name would lead out of `folder`.
std::string path_of_name(const std::string& folder, const std::string& name,
                         const std::string& ending);

}  // namespace ancify
