// Locks a folder, or a set of files in it, so that only one process at a time works there.
#pragma once

#include <memory>
#include <string>

#include "core/io/file.h"

namespace ancify {

// Locks <folder>/<name>, a file that names this process, and removes it at the end of its scope.
// The system releases the lock however the process ends. Creates the folder if it is missing, and
// removes a folder it has created if it is empty at the end.
class FolderLock {
 public:
  // Throws LockError if another process, or another lock of this process, holds it. Throws
  // FileError if a file of this name exists that no run created. The lock file of a killed process
  // is taken over.
  explicit FolderLock(const std::string& folder, const std::string& name = ".ancify.lock");
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();
  // False if the file system does not support locks.
  bool held() const { return held_; }

 private:
  // False if the file was meanwhile removed, and perhaps replaced; the caller then tries again.
  bool take();

  std::unique_ptr<const OutputFolder> folder_;
  std::string path_;
  FileDescriptor fd_;
  int process_;  // a forked child has a copy of this object, and must not remove the file
  bool held_ = false;
};

}  // namespace ancify
