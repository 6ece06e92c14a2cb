// Locks a folder by locking a file in it.
#include "core/io/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "core/exec/errors.h"

namespace ancify {

namespace {

std::string this_process() {
  std::array<char, 256> host = {};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return std::to_string(getpid()) + " on " + host.data();
}

// The content of a lock file; empty if its process has not written it yet.
std::string owner_in(int fd) {
  std::array<char, 512> text = {};
  const ssize_t n = pread(fd, text.data(), text.size(), 0);
  return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : std::string();
}

// True if a text has the form of this_process(), with or without a final newline.
bool is_owner(std::string_view text) {
  constexpr std::string_view on = " on ";
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  const std::size_t at = text.find_first_not_of("0123456789");
  return at > 0 && at != text.npos && text.substr(at, on.size()) == on &&
         text.find_first_of(" \n", at + on.size()) == text.npos;
}

// True if a run created this file. It then names its process, or is empty if the process was killed
// before it wrote. A file with a second name (hard link) is the user's.
bool is_lock_file(int fd, const struct stat& file) {
  const std::string text = owner_in(fd);
  return S_ISREG(file.st_mode) && file.st_nlink == 1 &&
         file.st_size == static_cast<off_t>(text.size()) && (text.empty() || is_owner(text));
}

bool same_file(const struct stat& one, const struct stat& other) {
  return one.st_ino == other.st_ino && one.st_dev == other.st_dev;
}

[[noreturn]] void throw_in_the_way(const std::string& path) {
  throw FileError(path,
                  "this file has the name of ancify's lock file, but ancify did not make it. Move "
                  "it, or choose another folder");
}

[[noreturn]] void throw_locked(const std::string& path, const std::string& owner) {
  throw LockError(path,
                  "process " + (owner.empty() ? std::string("(unknown)") : owner) +
                      " works in this folder. Wait until it has ended, or choose another folder");
}

}  // namespace

FolderLock::FolderLock(const std::string& folder, const std::string& name)
    : folder_(std::make_unique<const OutputFolder>(folder)),
      path_((folder.empty() ? "." : folder) + "/" + name),
      process_(getpid()) {
  while (!take()) {
  }
}

FolderLock::~FolderLock() {
  struct stat mine, named;
  if (held_ && process_ == getpid() && fstat(fd_.get(), &mine) == 0 &&
      lstat(path_.c_str(), &named) == 0 && same_file(mine, named)) {
    ::unlink(path_.c_str());
  }
}

bool FolderLock::take() {
  struct stat locked, named;
  if (lstat(path_.c_str(), &named) == 0 && !S_ISREG(named.st_mode)) throw_in_the_way(path_);
  fd_ = FileDescriptor(
      ::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
  if (fd_.get() < 0) {
    throw FileError(path_, "cannot create the file: " + std::generic_category().message(errno));
  }
  int status;
  do {
    status = flock(fd_.get(), LOCK_EX | LOCK_NB);
  } while (status != 0 && errno == EINTR);
  if (status != 0 && errno == EWOULDBLOCK) throw_locked(path_, owner_in(fd_.get()));
  if (status != 0) return true;  // the file system does not support locks

  if (fstat(fd_.get(), &locked) != 0 || lstat(path_.c_str(), &named) != 0 ||
      !same_file(locked, named)) {
    return false;
  }
  if (!is_lock_file(fd_.get(), locked)) throw_in_the_way(path_);
  const std::string owner = this_process();
  if (ftruncate(fd_.get(), 0) != 0 ||
      pwrite(fd_.get(), owner.data(), owner.size(), 0) != static_cast<ssize_t>(owner.size())) {
    const std::string problem = std::generic_category().message(errno);
    ::unlink(path_.c_str());
    throw FileError(path_, "cannot write: " + problem);
  }
  held_ = true;
  return true;
}

}  // namespace ancify
