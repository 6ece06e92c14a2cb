// Writes a file that is removed from its folder as soon as it is open.
#include "core/io/scratch_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "core/exec/errors.h"

namespace ancify {

namespace {

[[noreturn]] void throw_scratch(const std::string& folder, const std::string& action) {
  throw FileError(folder, "cannot " + action +
                              " a temporary file there: " + std::generic_category().message(errno) +
                              ". Free some space or choose another folder");
}

}  // namespace

ScratchFile::ScratchFile(std::string folder) : folder_(std::move(folder)) {
  std::string path = (folder_.empty() ? "." : folder_) + "/ancify-XXXXXX";
  fd_ = FileDescriptor(mkostemp(&path[0], O_CLOEXEC));
  if (fd_.get() < 0) throw_scratch(folder_, "open");
  if (::unlink(path.c_str()) != 0) throw_scratch(folder_, "remove");
}

std::int64_t ScratchFile::append(const char* data, std::size_t n) {
  const std::int64_t start = size_.fetch_add(static_cast<std::int64_t>(n));
  for (std::int64_t at = start; n > 0;) {
    const ssize_t done = ::pwrite(fd_.get(), data, n, at);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) throw_scratch(folder_, "write");
    data += done;
    at += done;
    n -= static_cast<std::size_t>(done);
  }
  return start;
}

void ScratchFile::read_at(char* buffer, std::size_t n, std::int64_t offset) const {
  while (n > 0) {
    const ssize_t done = ::pread(fd_.get(), buffer, n, offset);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) throw_scratch(folder_, "read");
    buffer += done;
    offset += done;
    n -= static_cast<std::size_t>(done);
  }
}

}  // namespace ancify
