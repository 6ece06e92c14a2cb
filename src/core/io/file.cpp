// Opens, reads, writes, syncs and renames files.
#include "core/io/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/exec/errors.h"
#include "core/io/text.h"

namespace ancify {

namespace {

[[noreturn]] void throw_errno(const std::string& path, const std::string& action) {
  const int error = errno;
  const std::string hint = error == ENOSPC   ? ". Free some space or choose another folder"
                           : error == ENOENT ? ". Correct the path"
                           : error == EMFILE ? ". Raise `ulimit -n`, or use fewer threads"
                                             : "";
  throw FileError(path, "cannot " + action + ": " + std::generic_category().message(error) + hint);
}

// Reserves a file's whole space, so that a full disk is an error before the work starts. On file
// systems without this function the error comes once the disk is full.
void reserve_space(int fd, std::int64_t size, const std::string& path) {
  const std::string action = "reserve " + std::to_string(size) + " bytes";
#ifdef __APPLE__
  fstore_t request = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, static_cast<off_t>(size), 0};
  if (fcntl(fd, F_PREALLOCATE, &request) == 0) {
    if (ftruncate(fd, size) != 0) throw_errno(path, action);
    return;
  }
  if (errno == ENOSPC) throw_errno(path, action);
#else
  int status;
  do {
    status = fallocate(fd, 0, 0, size);
  } while (status != 0 && errno == EINTR);
  if (status == 0) return;
  if (errno != EOPNOTSUPP && errno != ENOSYS) throw_errno(path, action);
#endif
  if (ftruncate(fd, size) != 0) throw_errno(path, action);
}

// Opens a file. Many systems initially allow a process 1024 open files, which a job may exceed. If
// so, this raises the limit as far as the system allows.
int open_file(const std::string& path, int flags, mode_t mode = 0) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  if (fd >= 0 || errno != EMFILE) return fd;
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  return ::open(path.c_str(), flags | O_CLOEXEC, mode);
}

}  // namespace

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

bool FileDescriptor::close() {
  // An interrupted close() has closed the file nevertheless.
  return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0 || errno == EINTR;
}

bool FileStatus::operator==(const FileStatus& other) const {
  return device == other.device && inode == other.inode && size == other.size &&
         modified == other.modified && changed == other.changed;
}

std::string FileStatus::identity() const {
  return std::to_string(inode) + " " + std::to_string(size) + " " + std::to_string(modified) + " " +
         std::to_string(changed);
}

namespace {

struct stat look_at(int fd, const std::string& path) {
  struct stat info;
  if (fstat(fd, &info) != 0) throw_errno(path, "read the status of the file");
  return info;
}

FileStatus as_status(const struct stat& info) {
  const auto nanoseconds = [](const timespec& time) {
    return std::int64_t{1000000000} * time.tv_sec + time.tv_nsec;
  };
#ifdef __APPLE__
  const timespec& modified = info.st_mtimespec;
  const timespec& changed = info.st_ctimespec;
#else
  const timespec& modified = info.st_mtim;
  const timespec& changed = info.st_ctim;
#endif
  return {static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino),
          info.st_size, nanoseconds(modified), nanoseconds(changed)};
}

}  // namespace

FileStatus status_of_file(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) throw_errno(path, "read the status of the file");
  return as_status(info);
}

bool is_special_file(const std::string& path) {
  std::error_code error;  // set for a missing file
  return std::filesystem::is_other(path, error);
}

void write_standard_output(const char* data, std::size_t n) {
  while (n > 0) {
    const ssize_t put = ::write(STDOUT_FILENO, data, n);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EPIPE) throw_closed_output();
    if (put < 0) throw_errno("-", "write to the standard output");
    data += put;
    n -= static_cast<std::size_t>(put);
  }
}

void throw_closed_output() {
  throw FileError("-", "nobody reads the standard output any more (SIGPIPE)");
}

void ignore_closed_pipes() { ::signal(SIGPIPE, SIG_IGN); }

InputFile::InputFile(const std::string& path, const InputIdentities& inputs)
    : path_(path), fd_(open_file(path, O_RDONLY | O_NONBLOCK)) {
  if (fd_.get() < 0) throw_errno(path, "open the file");
  const struct stat info = look_at(fd_.get(), path);
  if (!S_ISREG(info.st_mode)) throw FileError(path, "it is not a regular file");
  status_ = as_status(info);
  const auto expected = inputs.find(path);
  if (expected != inputs.end() && expected->second != identity()) {
    throw FileError(path, "the file was replaced or changed since the run began. Start it again");
  }
}

void InputFile::check_unchanged() const {
  if (!(as_status(look_at(fd_.get(), path_)) == status_)) {
    throw FileError(path_, "the file was changed while it was read. Start again");
  }
}

void InputFile::read_at(char* buffer, std::size_t n, std::int64_t offset) const {
  while (n > 0) {
    const ssize_t got = pread(fd_.get(), buffer, n, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno(path_, "read");
    if (got == 0) {
      throw FileError(path_, "the file became shorter while it was read (" +
                                 std::to_string(size()) + " bytes at first, now at most " +
                                 std::to_string(offset) + ")");
    }
    buffer += got;
    offset += got;
    n -= static_cast<std::size_t>(got);
  }
}

OutputFile::OutputFile(std::string path, std::int64_t size) : path_(std::move(path)), size_(size) {
  const std::string stem = path_ + std::string(kTemporary) + std::to_string(getpid()) + "-";
  for (int i = 0; fd_.get() < 0; ++i) {
    temporary_ = stem + std::to_string(i);
    fd_ = FileDescriptor(open_file(temporary_, O_RDWR | O_CREAT | O_EXCL, 0666));
    if (fd_.get() < 0 && errno != EEXIST) throw_errno(path_, "create the file");
  }
  try {
    inode_ = as_status(look_at(fd_.get(), path_)).inode;
    if (size_ > 0) reserve_space(fd_.get(), size_, path_);
  } catch (...) {
    ::unlink(temporary_.c_str());
    throw;
  }
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::open() {
  if (fd_.get() >= 0) return;
  fd_ = FileDescriptor(open_file(temporary_, O_RDWR));
  if (fd_.get() < 0) throw_errno(path_, "open the file again");
}

void OutputFile::write_at(const char* data, std::size_t n, std::int64_t offset) {
  while (n > 0) {
    const ssize_t put = pwrite(fd_.get(), data, n, offset);
    if (put < 0 && errno == EINTR) continue;
    if (put == 0) errno = EIO;
    if (put <= 0) throw_errno(path_, "write");
    data += put;
    offset += put;
    n -= static_cast<std::size_t>(put);
  }
}

void OutputFile::read_at(char* buffer, std::size_t n, std::int64_t offset) const {
  while (n > 0) {
    const ssize_t got = pread(fd_.get(), buffer, n, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;
    if (got <= 0) throw_errno(path_, "read");
    buffer += got;
    offset += got;
    n -= static_cast<std::size_t>(got);
  }
}

// Network file systems and quotas report some failed writes only on close().
void OutputFile::close() {
  if (!fd_.close()) throw_errno(path_, "write");
}

void OutputFile::date_back() {
  timespec times[2] = {};  // of the last access and the last modification
  times[0].tv_nsec = UTIME_OMIT;
  times[1].tv_sec = look_at(fd_.get(), path_).st_mtime - 1;
  if (futimens(fd_.get(), times) != 0) throw_errno(path_, "set the time of the file");
}

void OutputFile::begin_sync() {
#ifdef __linux__
  sync_file_range(fd_.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
#endif
}

void OutputFile::sync(const TaskContext& context) {
  open();
#ifdef __linux__
  constexpr std::int64_t piece = std::int64_t{1} << 24;  // 0.2 s on a slow disk
  for (std::int64_t offset = 0; offset < size_; offset += piece) {
    context.throw_if_stopped();
    const int status = sync_file_range(
        fd_.get(), offset, piece,
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    // A failed write is reported only once, so fsync() below would miss it.
    if (status != 0 && errno != ENOSYS && errno != EINVAL && errno != EOPNOTSUPP) {
      throw_errno(path_, "write");
    }
  }
#endif
  if (fsync(fd_.get()) != 0) throw_errno(path_, "write");
}

void OutputFile::prepare() {
  close();
  if (is_special_file(path_)) {
    throw FileError(path_, "this is a device or a pipe, not a file: choose another path");
  }
  std::error_code error;  // rename() reports any other problem
  if (std::filesystem::is_directory(path_, error)) {
    throw FileError(path_, "a folder has the name of this file: remove the folder");
  }
}

void OutputFile::commit() {
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw_errno(path_, "rename the temporary file to this name");
  }
  temporary_.clear();
}

std::string OutputFile::identity() const {
  const InputFile file(path_);
  if (file.status().inode != inode_) {
    throw FileError(path_, "another file replaced this one while it was written. Start again");
  }
  return file.identity();
}

OutputFolder::OutputFolder(const std::string& path) {
  if (path.empty()) return;  // the working directory
  std::error_code error;
  for (std::filesystem::path missing = path;
       !missing.empty() && !std::filesystem::exists(missing, error) && !error;
       missing = missing.parent_path()) {
    made_.push_back(missing);
  }
  std::filesystem::create_directories(path, error);
  if (error) throw FileError(path, "cannot create the folder: " + error.message());
}

OutputFolder::~OutputFolder() {
  for (const auto& folder : made_) ::rmdir(folder.c_str());
}

namespace {

// True if a process has ended. A killed process remains as a zombie, without its locks, until its
// parent collects it; it counts as ended.
bool has_ended(pid_t process) {
  if (kill(process, 0) != 0) return errno == ESRCH;
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end != text.npos &&
         (text.compare(name_end, 3, ") Z") == 0 || text.compare(name_end, 3, ") X") == 0);
}

}  // namespace

std::vector<std::string> leftovers(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;  // an unreadable folder is an error when it is written to
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    const std::size_t at = name.rfind(kTemporary);
    if (at == name.npos) continue;
    const std::string_view rest = std::string_view(name).substr(at + kTemporary.size());
    const std::size_t dash = rest.find('-');
    const auto process = parse_whole_number(rest.substr(0, dash));
    if (dash == rest.npos || !process || *process > std::numeric_limits<pid_t>::max()) continue;
    const auto id = static_cast<pid_t>(*process);
    if (id == getpid() || has_ended(id)) found.push_back(entry->path());
  }
  return found;
}

void remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
    throw_errno(path, "remove the file");
  }
}

bool is_safe_file_name(const std::string& name) {
  const bool only_good_characters = std::all_of(
      name.begin(), name.end(), [](unsigned char c) { return c > ' ' && c != '/' && c != 0x7f; });
  return !name.empty() && name.size() <= kMostNameBytes && name != "." && name != ".." &&
         only_good_characters;
}

std::string path_of_name(const std::string& folder, const std::string& name,
                         const std::string& ending) {
  if (!is_safe_file_name(name)) {
    throw InputError(
        "'" + name +
        "' cannot name a file: rename it, without slashes, blanks or control characters");
  }
  return folder + "/" + name + ending;
}

}  // namespace ancify
