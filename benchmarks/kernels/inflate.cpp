// Reads a gzip file.
#include <vector>

#include "core/io/byte_source.h"
#include "inputs.h"
#include "kernel.h"

namespace ancify::bench {

std::function<void()> make_kernel(const std::string& folder) {
  const std::string path = folder + "/text.gz";
  write_gzip(path, alignment_text({0.016, 6000}, 1, {{"chr1", 500'000}}));
  return [path] {
    const auto source = open_text(path);
    std::vector<char> chunk(std::size_t{1} << 18);
    while (source->read(chunk.data(), chunk.size()) > 0) {
    }
  };
}

}  // namespace ancify::bench
