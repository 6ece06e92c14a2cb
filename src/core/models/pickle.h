// Reads pickled values of torch's files without executing anything: objects become inert records of
// class name, arguments and state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ancify {

// Values refer to each other by index, as a pickle may have loops.
struct PickleValue {
  enum class Kind { kNone, kBool, kWhole, kReal, kText, kTuple, kList, kDict, kGlobal, kRecord };
  Kind kind = Kind::kNone;
  std::int64_t whole = 0;  // of kBool too
  double real = 0;
  std::string text;                // the name "module name" of kGlobal
  std::vector<std::size_t> items;  // kDict: key, value, ...; kRecord: class, arguments, state
};

struct Pickle {
  std::vector<PickleValue> values;
  std::size_t root = 0;

  const PickleValue& operator[](std::size_t i) const { return values[i]; }
  // The value of a text key of a kDict, or of an OrderedDict; null if absent.
  const PickleValue* member(const PickleValue& dict, std::string_view key) const;
};

// The persistent id of a storage is a record of this class, with the id as its argument.
constexpr std::string_view kPersistent = "persistent id";

// FormatError that names `file` if it is damaged, uses a protocol above 4, or needs a global that
// tensors do not use.
Pickle read_pickle(std::string_view bytes, const std::string& file);

}  // namespace ancify
