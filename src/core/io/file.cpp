#include "core/io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/exec/errors.h"

namespace ancify {

namespace {

[[noreturn]] void throw_errno(const std::string& path, const std::string& action) {
  const int error = errno;
  const std::string hint = error == ENOSPC   ? ". Free some space or choose another folder"
                           : error == ENOENT ? ". Correct the path"
                                             : "";
  throw FileError(path, "cannot " + action + ": " + std::generic_category().message(error) + hint);
}

// Asks the file system for the file's whole space. False where it has no such request.
bool reserve_space(int fd, std::int64_t size, const std::string& path) {
  const std::string action = "reserve " + std::to_string(size) + " bytes";
#ifdef __APPLE__
  fstore_t request = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, static_cast<off_t>(size), 0};
  if (fcntl(fd, F_PREALLOCATE, &request) == 0) {
    if (ftruncate(fd, size) != 0) throw_errno(path, action);
    return true;
  }
  if (errno == ENOSPC) throw_errno(path, action);
#else
  int status;
  do {
    status = fallocate(fd, 0, 0, size);
  } while (status != 0 && errno == EINTR);
  if (status == 0) return true;
  if (errno != EOPNOTSUPP && errno != ENOSYS) throw_errno(path, action);
#endif
  if (ftruncate(fd, size) != 0) throw_errno(path, action);
  return false;
}

}  // namespace

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

void FileDescriptor::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

InputFile::InputFile(const std::string& path)
    : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (fd_.get() < 0) throw_errno(path, "open the file");
  struct stat info;
  if (fstat(fd_.get(), &info) != 0) throw_errno(path, "look at the file");
  if (!S_ISREG(info.st_mode)) throw FileError(path, "is not a regular file");
  size_ = info.st_size;
}

void InputFile::read_at(char* buffer, std::size_t n, std::int64_t offset) const {
  while (n > 0) {
    const ssize_t got = pread(fd_.get(), buffer, n, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno(path_, "read");
    if (got == 0) {
      throw FileError(path_, "the file became shorter while it was read (" + std::to_string(size_) +
                                 " bytes at first, now at most " + std::to_string(offset) + ")");
    }
    buffer += got;
    offset += got;
    n -= static_cast<std::size_t>(got);
  }
}

OutputFile::OutputFile(std::string path, std::int64_t size) : path_(std::move(path)), size_(size) {
  const std::string stem = path_ + ".ancify-" + std::to_string(getpid()) + "-";
  for (int i = 0; fd_.get() < 0; ++i) {
    temporary_ = stem + std::to_string(i);
    fd_ = FileDescriptor(::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd_.get() < 0 && errno != EEXIST) throw_errno(path_, "create the file");
  }
  try {
    if (size_ > 0) reserved_ = reserve_space(fd_.get(), size_, path_);
  } catch (...) {
    ::unlink(temporary_.c_str());
    throw;
  }
}

OutputFile::~OutputFile() {
  if (memory_ != nullptr) munmap(memory_, static_cast<std::size_t>(size_));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::open_again() {
  if (fd_.get() >= 0) return;
  fd_ = FileDescriptor(::open(temporary_.c_str(), O_RDWR | O_CLOEXEC));
  if (fd_.get() < 0) throw_errno(path_, "open the file again");
}

void OutputFile::write_at(const char* data, std::size_t n, std::int64_t offset) {
  while (n > 0) {
    const ssize_t put = pwrite(fd_.get(), data, n, offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw_errno(path_, "write");
    data += put;
    offset += put;
    n -= static_cast<std::size_t>(put);
  }
}

char* OutputFile::map() {
  if (memory_ != nullptr || size_ == 0) return memory_;
  open_again();
  const auto bytes = static_cast<std::size_t>(size_);
  // Without reserved space a full disk would show as a fatal signal on the first touch, so there
  // the content stays in memory and is written by unmap().
  void* memory =
      reserved_ ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0)
                : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw_errno(path_, "map the file into memory");
  memory_ = static_cast<char*>(memory);
  if (!reserved_) InputFile(temporary_).read_at(memory_, bytes, 0);
  fd_.close();  // the map stays, and a run may have more files mapped than it may have open
  return memory_;
}

void OutputFile::unmap() {
  if (memory_ != nullptr) {
    if (!reserved_) {
      open_again();
      write_at(memory_, static_cast<std::size_t>(size_), 0);
    }
    munmap(std::exchange(memory_, nullptr), static_cast<std::size_t>(size_));
  }
  fd_.close();
}

void OutputFile::close() {
#ifdef __linux__
  sync_file_range(fd_.get(), 0, 0, SYNC_FILE_RANGE_WRITE);  // begins, and does not wait
#endif
  unmap();
}

void OutputFile::prepare(bool sync) {
  unmap();
  if (sync) {
    open_again();
    if (fsync(fd_.get()) != 0) throw_errno(path_, "write");
  }
  fd_.close();
  if (std::filesystem::is_directory(path_)) {
    throw FileError(path_, "a folder of this name is in the way of the file: remove it");
  }
}

void OutputFile::commit() {
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) throw_errno(path_, "name the file");
  temporary_.clear();
}

void make_folder(const std::string& path) {
  if (path.empty()) return;  // the working directory
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw FileError(path, "cannot make the folder: " + error.message());
}

bool is_safe_file_name(const std::string& name) {
  const bool only_good_characters = std::all_of(
      name.begin(), name.end(), [](unsigned char c) { return c > ' ' && c != '/' && c != 0x7f; });
  return !name.empty() && name != "." && name != ".." && only_good_characters;
}

}  // namespace ancify
