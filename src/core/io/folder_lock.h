// A folder that one process at a time works in.
#pragma once

#include <memory>
#include <string>

#include "core/io/file.h"

namespace ancify {

// Holds <folder>/.ancify.lock, which names this process, and removes it at the end of its scope.
// The system lets go of it with the process, however that ends. Makes the folder if it is not
// there, and removes it again if nothing is in it then.
class FolderLock {
 public:
  // LockError where another process, or another lock of this one, holds it; FileError where
  // something of this name is no run's. One that a killed process left is taken over.
  explicit FolderLock(const std::string& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();
  // False where the file system has no locks.
  bool held() const { return held_; }

 private:
  // False where the file was removed meanwhile, and another has its name.
  bool take();

  std::unique_ptr<const OutputFolder> folder_;
  std::string path_;
  FileDescriptor fd_;
  int process_;  // a forked child has this object too, but not the lock's file
  bool held_ = false;
};

}  // namespace ancify
