// Files that belong together and appear as a whole, such as a BED and its tables.
#pragma once

#include <vector>

#include "core/exec/threads.h"
#include "core/io/file.h"

namespace ancify {

// Gives written files their final names, while other writers of this set wait. All of them appear,
// or none. The last file is the key: it is removed first and appears last. Files that a reader
// finds while the key is unchanged thus come from one writer. Throws InputError if a file exists
// and `overwrite` is false; LockError if another writer does not finish within a minute.
void commit_set(const std::vector<OutputFile*>& files, bool overwrite, const TaskContext& context);

}  // namespace ancify
