// Locks a folder, so that one process at a time works in it.
#pragma once

#include <memory>
#include <string>

#include "core/io/file.h"

namespace ancify {

// Locks <folder>/.ancify.lock, which names this process, and removes it at the end of its scope.
// The system releases the lock when the process ends, however it ends. Makes the folder if it is
// missing; removes a folder that it has made if that is empty in the end.
class FolderLock {
 public:
  // LockError if another process, or another lock of this process, holds it. FileError if something
  // of this name was not made by a run. A lock file of a killed process is taken over.
  explicit FolderLock(const std::string& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();
  // False if the file system has no locks.
  bool held() const { return held_; }

 private:
  // False if the file was removed meanwhile, and perhaps replaced. Then the caller tries again.
  bool take();

  std::unique_ptr<const OutputFolder> folder_;
  std::string path_;
  FileDescriptor fd_;
  int process_;  // a forked child has a copy of this object, and must not remove the file
  bool held_ = false;
};

}  // namespace ancify
