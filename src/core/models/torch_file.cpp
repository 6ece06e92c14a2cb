// A tensor is pickled as _rebuild_tensor_v2(storage, offset, size, stride, ...), and a storage as a
// persistent id: ("storage", type, key, device, numbers). Its values are the entry data/<key>.
#include "core/models/torch_file.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/exec/errors.h"
#include "core/io/checksum.h"
#include "core/io/zip_entries.h"
#include "core/models/pickle.h"

namespace ancify {

namespace {

using Kind = PickleValue::Kind;

constexpr std::int64_t kLongestPickle = 1 << 22;

constexpr std::pair<std::string_view, ElementType> kStorages[] = {
    {"torch FloatStorage", ElementType::kF32},
    {"torch HalfStorage", ElementType::kF16},
    {"torch BFloat16Storage", ElementType::kBF16},
    {"torch DoubleStorage", ElementType::kF64},
    {"torch LongStorage", ElementType::kI64}};

// Keys under which training checkpoints keep the weights, besides epochs and optimiser state. They
// may be nested.
constexpr std::string_view kTables[] = {"model", "module", "state_dict", "model_state_dict"};

struct Storage {
  ElementType type;
  std::int64_t offset;
  std::int64_t elements;
};

class TorchReader {
 public:
  explicit TorchReader(const InputFile& file) : file_(file), entries_(zip_entries(file)) {}

  TensorTable read() {
    pickle_ = read_pickle(pickled(), file_.path());
    const PickleValue* const table = weights_in(&pickle_[pickle_.root]);
    TensorTable tensors;
    if (const PickleValue* const modules = pickle_.member(*table, "_modules")) {
      for_members(*modules, [&](const std::string& module, const PickleValue& state) {
        for (const char* const kind : {"_parameters", "_buffers"}) {
          const PickleValue* const members = pickle_.member(state, kind);
          if (members != nullptr) add_tensors(*members, module + ".", tensors);
        }
      });
    } else {
      add_tensors(*table, "", tensors);
    }
    if (tensors.empty()) fail("it has no tensors, but " + keys_of(*table));
    return tensors;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw FormatError(file_.path(), 0, problem);
  }

  bool is_table(const PickleValue& value) const {
    return value.kind == Kind::kDict || value.kind == Kind::kRecord;
  }

  const PickleValue* weights_in(const PickleValue* table) const {
    // A pickle may have loops.
    for (std::size_t depth = 0; depth < std::size(kTables); ++depth) {
      const PickleValue* const outer = table;
      for (const std::string_view name : kTables) {
        const PickleValue* const inner = pickle_.member(*outer, name);
        if (inner != nullptr && is_table(*inner) && tensor_arguments(*inner) == nullptr) {
          table = inner;
        }
      }
      if (table == outer) break;
    }
    return table;
  }

  // The first keys of a table without tensors, and the keys searched for tensors.
  std::string keys_of(const PickleValue& table) const {
    constexpr std::size_t most = 8;
    std::string keys;
    std::size_t n = 0;
    for_members(table, [&](const std::string& name, const PickleValue&) {
      if (n++ < most) keys += (keys.empty() ? "'" : ", '") + name + "'";
    });
    std::string tables;
    for (const std::string_view name : kTables) {
      tables.append(tables.empty() ? "'" : ", '").append(name).append("'");
    }
    return (keys.empty() ? "no keys" : "the keys " + keys + (n > most ? ", ..." : "")) +
           "; weights are read from the table itself, or from " + tables + " in it";
  }

  template <class Use>
  void for_members(const PickleValue& table, Use use) const {
    const PickleValue* members = &table;
    if (table.kind == Kind::kRecord) {
      const bool is_ordered = pickle_[table.items[0]].text == "collections OrderedDict";
      if (is_ordered && table.items.size() == 2) return;  // an empty one
      if (table.items.size() == 3) members = &pickle_[table.items[2]];
    }
    if (members->kind != Kind::kDict) fail("it has no table of tensors");
    for (std::size_t i = 0; i + 1 < members->items.size(); i += 2) {
      const PickleValue& name = pickle_[members->items[i]];
      if (name.kind == Kind::kText) use(name.text, pickle_[members->items[i + 1]]);
    }
  }

  void add_tensors(const PickleValue& table, const std::string& front, TensorTable& tensors) const {
    for_members(table, [&](const std::string& name, const PickleValue& value) {
      if (const PickleValue* const arguments = tensor_arguments(value)) {
        tensors[front + name] = tensor(front + name, *arguments);
      }
    });
  }

  // All names begin with the name of the folder that contains data.pkl.
  std::string pickled() {
    constexpr std::string_view name = "data.pkl";
    for (const auto& [path, entry] : entries_) {
      if (path.size() < name.size() || path.substr(path.size() - name.size()) != name) continue;
      if (entry.size > kLongestPickle) fail("its pickled table has more than 4 MB");
      folder_ = path.substr(0, path.size() - name.size());
      std::string bytes(static_cast<std::size_t>(entry.size), '\0');
      file_.read_at(bytes.data(), bytes.size(), entry.offset);
      if (extend_checksum(0, bytes.data(), bytes.size()) != entry.checksum) {
        fail("its pickled table is damaged: the checksum is another");
      }
      return bytes;
    }
    fail("it is a zip archive without data.pkl, so torch did not write it");
  }

  // The arguments of the call that a value represents, if it calls `function`.
  const PickleValue* arguments_of(const PickleValue& value, std::string_view function) const {
    if (value.kind != Kind::kRecord || pickle_[value.items[0]].text != function) return nullptr;
    return &pickle_[value.items[1]];
  }

  const PickleValue* tensor_arguments(const PickleValue& value) const {
    const PickleValue* const parameter = arguments_of(value, "torch._utils _rebuild_parameter");
    const bool wrapped = parameter != nullptr && !parameter->items.empty();
    return arguments_of(wrapped ? pickle_[parameter->items[0]] : value,
                        "torch._utils _rebuild_tensor_v2");
  }

  std::vector<std::int64_t> whole_numbers(const PickleValue& value) const {
    std::vector<std::int64_t> numbers;
    for (const std::size_t item : value.items) {
      if (pickle_[item].kind != Kind::kWhole || pickle_[item].whole < 0) return {-1};
      numbers.push_back(pickle_[item].whole);
    }
    return numbers;
  }

  Storage storage(const std::string& name, const PickleValue& value) const {
    const PickleValue* const id = arguments_of(value, kPersistent);
    if (id == nullptr || id->items.size() < 5) fail("tensor '" + name + "' has no storage");
    const std::string& type = pickle_[id->items[1]].text;
    const auto* const known = std::find_if(std::begin(kStorages), std::end(kStorages),
                                           [&](const auto& row) { return row.first == type; });
    const auto entry = entries_.find(folder_ + "data/" + pickle_[id->items[2]].text);
    if (known == std::end(kStorages) || entry == entries_.end()) {
      fail("the numbers of tensor '" + name + "' are missing, or of a type that is not read");
    }
    const auto bytes = static_cast<std::int64_t>(element_bytes(known->second));
    return {known->second, entry->second.offset, entry->second.size / bytes};
  }

  TensorPlace tensor(const std::string& name, const PickleValue& arguments) const {
    if (arguments.items.size() < 4) fail("tensor '" + name + "' is damaged");
    const Storage from = storage(name, pickle_[arguments.items[0]]);
    const std::int64_t first = pickle_[arguments.items[1]].whole;
    TensorPlace place;
    place.type = from.type;
    place.shape = whole_numbers(pickle_[arguments.items[2]]);
    const std::vector<std::int64_t> strides = whole_numbers(pickle_[arguments.items[3]]);
    const bool good = std::find(place.shape.begin(), place.shape.end(), -1) == place.shape.end() &&
                      strides.size() == place.shape.size();
    if (!good) fail("tensor '" + name + "' has no shape");
    const std::int64_t elements = count_elements(place.shape, file_.path());
    if (first < 0 || first > from.elements || elements > from.elements - first) {
      fail("tensor '" + name + "' of shape " + shape_text(place.shape) +
           " has more numbers than its storage");
    }
    std::int64_t stride = 1;
    // An empty tensor may have sizes whose product overflows.
    for (std::size_t i = elements > 0 ? place.shape.size() : 0; i-- > 0; stride *= place.shape[i]) {
      if (place.shape[i] > 1 && strides[i] != stride) {
        fail("tensor '" + name + "' does not lie row by row: save it as .contiguous()");
      }
    }
    place.offset = from.offset + first * static_cast<std::int64_t>(element_bytes(from.type));
    return place;
  }

  const InputFile& file_;
  std::map<std::string, ZipEntry> entries_;
  std::string folder_;
  Pickle pickle_;
};

}  // namespace

TensorTable read_torch_file(const InputFile& file) { return TorchReader(file).read(); }

}  // namespace ancify
