// Fuzzes torch's files: the zip archive, and its pickle alone. Inputs are also wrapped in an
// archive, so that the pickle is reached.
#include "../tests/cpp/models/files.h"
#include "core/models/pickle.h"
#include "core/models/tensors.h"
#include "harness.h"

namespace ancify::fuzz {

namespace {

void read(std::string_view bytes) {
  const std::string& path = as_file(bytes);
  outcome([&] {
    const Checkpoint checkpoint = Checkpoint::open(path, {});
    for (const std::string& name : checkpoint.names()) {
      const TensorPlace& place = *checkpoint.find(name);
      const auto n = static_cast<std::size_t>(count_elements(place.shape, path));
      require(place.offset >= 0 && static_cast<std::size_t>(place.offset) <= bytes.size() &&
                  n <= (bytes.size() - static_cast<std::size_t>(place.offset)) /
                           element_bytes(place.type),
              "a tensor lies outside the file");
      outcome([&] {
        checkpoint.read(name, place.shape, TaskContext());
        return std::string();
      });
    }
    return std::string();
  });
}

// Every index in a value is the index of a value.
void check_pickle(std::string_view bytes) {
  outcome([&] {
    const Pickle pickle = read_pickle(bytes, "input");
    require(pickle.root < pickle.values.size(), "there is no root");
    for (const PickleValue& value : pickle.values) {
      for (const std::size_t item : value.items) {
        require(item < pickle.values.size(), "an item is no value");
      }
      require(value.kind != PickleValue::Kind::kRecord || value.items.size() >= 2,
              "a record lacks its class or arguments");
    }
    return std::string();
  });
}

}  // namespace

void check(std::string_view input) {
  read(input);
  check_pickle(input);
  read(test::as_zip({{"x/data.pkl", std::string(input)}, {"x/data/0", std::string(24, '\1')}}));
}

}  // namespace ancify::fuzz
