// Fuzzes safetensors: a tensor that is read has the numbers at its header's offsets, or there is an
// error.
#include "core/models/tensors.h"
#include "harness.h"

namespace ancify::fuzz {

void check(std::string_view input) {
  const std::string& path = as_file(input);
  const std::string read = outcome([&] {
    const Checkpoint checkpoint = Checkpoint::open(path, {});
    std::string text;
    for (const std::string& name : checkpoint.names()) {
      const TensorPlace& place = *checkpoint.find(name);
      const auto n = static_cast<std::size_t>(count_elements(place.shape, path));
      require(place.offset >= 0 && static_cast<std::size_t>(place.offset) <= input.size() &&
                  n <= (input.size() - static_cast<std::size_t>(place.offset)) /
                           element_bytes(place.type),
              "a tensor lies outside the file");
      const std::string values = outcome(
          [&] { return std::to_string(checkpoint.read(name, place.shape, TaskContext()).size()); });
      require(is_error(values) || values == std::to_string(n), "a tensor has other numbers");
      text += name + values;
    }
    return text;
  });
  require(is_error(read) || input.size() >= 8, "an empty file was read");
}

}  // namespace ancify::fuzz
