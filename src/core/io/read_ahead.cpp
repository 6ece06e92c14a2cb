// Advises the system, which may do without: errors do not matter.
#include "core/io/read_ahead.h"

#include <fcntl.h>

namespace ancify {

void read_ahead(const InputFile& file, std::int64_t n, std::int64_t offset) {
#ifdef POSIX_FADV_WILLNEED
  posix_fadvise(file.descriptor(), offset, n, POSIX_FADV_WILLNEED);
#else
  (void)file, (void)n, (void)offset;
#endif
}

}  // namespace ancify
