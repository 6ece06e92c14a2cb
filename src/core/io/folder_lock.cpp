#include "core/io/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "core/exec/errors.h"

namespace ancify {

namespace {

std::string this_process() {
  std::array<char, 256> host = {};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return std::to_string(getpid()) + " on " + host.data();
}

// What a lock file says; empty where its process has not come to writing it.
std::string owner_in(int fd) {
  std::array<char, 512> text = {};
  const ssize_t n = pread(fd, text.data(), text.size(), 0);
  return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : std::string();
}

[[noreturn]] void throw_locked(const std::string& path, const std::string& owner) {
  throw LockError(path, "process " + (owner.empty() ? std::string("(unknown)") : owner) +
                            " works in this folder. Wait until it has ended, or choose another");
}

}  // namespace

FolderLock::FolderLock(const std::string& folder)
    : folder_(std::make_unique<const OutputFolder>(folder)),
      path_((folder.empty() ? "." : folder) + "/.ancify.lock"),
      process_(getpid()) {
  while (!take()) {
  }
}

FolderLock::~FolderLock() {
  if (held_ && process_ == getpid()) ::unlink(path_.c_str());
}

bool FolderLock::take() {
  fd_ = FileDescriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (fd_.get() < 0) {
    throw FileError(path_, "can't create the file: " + std::generic_category().message(errno));
  }
  int status;
  do {
    status = flock(fd_.get(), LOCK_EX | LOCK_NB);
  } while (status != 0 && errno == EINTR);
  if (status != 0 && errno == EWOULDBLOCK) throw_locked(path_, owner_in(fd_.get()));
  if (status != 0) return true;  // no locks here

  struct stat locked, named;
  if (fstat(fd_.get(), &locked) != 0 || ::stat(path_.c_str(), &named) != 0 ||
      locked.st_ino != named.st_ino || locked.st_dev != named.st_dev) {
    return false;
  }
  const std::string owner = this_process();
  if (ftruncate(fd_.get(), 0) != 0 ||
      pwrite(fd_.get(), owner.data(), owner.size(), 0) != static_cast<ssize_t>(owner.size())) {
    throw FileError(path_, "can't write: " + std::generic_category().message(errno));
  }
  held_ = true;
  return true;
}

}  // namespace ancify
