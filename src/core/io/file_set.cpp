// Moves a set of files to their final names under a lock of the set, the key last.
#include "core/io/file_set.h"

#include <sys/stat.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "core/exec/errors.h"
#include "core/io/folder_lock.h"

namespace ancify {

namespace {

// Locks the set with this key. Writers hold the lock only briefly, so others wait.
std::unique_ptr<FolderLock> lock_set(const std::string& key, const TaskContext& context) {
  const std::size_t slash = key.rfind('/');
  const std::string folder = slash == key.npos ? "." : key.substr(0, slash + 1);
  const std::string name = "." + key.substr(slash + 1) + ".ancify.lock";  // npos + 1 is 0
  constexpr auto pause = std::chrono::milliseconds(5);
  constexpr auto longest = std::chrono::minutes(1);
  const auto started = std::chrono::steady_clock::now();
  for (;;) {
    try {
      return std::make_unique<FolderLock>(folder, name);
    } catch (const LockError&) {
      if (std::chrono::steady_clock::now() - started > longest) throw;
    }
    context.throw_if_stopped();
    std::this_thread::sleep_for(pause);
  }
}

void refuse_existing(const std::vector<OutputFile*>& files) {
  struct stat status;
  for (const OutputFile* file : files) {
    if (lstat(file->path().c_str(), &status) != 0) continue;
    throw InputError("'" + file->path() +
                     "' was made by another process meanwhile. Choose another path, or overwrite");
  }
}

}  // namespace

void commit_set(const std::vector<OutputFile*>& files, bool overwrite, const TaskContext& context) {
  for (OutputFile* file : files) file->sync(context);
  const auto lock = lock_set(files.back()->path(), context);
  for (OutputFile* file : files) file->prepare();
  if (!overwrite) refuse_existing(files);
  remove_file(files.back()->path());
  std::size_t done = 0;
  try {
    for (; done < files.size(); ++done) files[done]->commit();
  } catch (...) {
    while (done > 0) remove_file(files[--done]->path());
    throw;
  }
}

}  // namespace ancify
