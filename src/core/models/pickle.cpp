// The stack machine of Python's pickle module, protocols 2 to 4, with the operations that torch
// writes.
#include "core/models/pickle.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "core/exec/errors.h"
#include "core/io/little_endian.h"

namespace ancify {

namespace {

using Kind = PickleValue::Kind;

// Globals that files of weights refer to. None is executed.
constexpr std::string_view kGlobals[] = {
    "collections OrderedDict", "__builtin__ set", "argparse Namespace",
    "torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_parameter", "torch FloatStorage",
    "torch HalfStorage", "torch BFloat16Storage", "torch DoubleStorage", "torch LongStorage",
    "torch IntStorage", "torch ShortStorage", "torch CharStorage", "torch ByteStorage",
    "torch BoolStorage", "torch Size",
    // state that training keeps besides the weights
    "torch device", "torch.torch_version TorchVersion", "collections defaultdict",
    "__builtin__ dict", "__builtin__ list", "__builtin__ int", "__builtin__ float",
    "_codecs encode", "numpy dtype", "numpy ndarray", "numpy.core.multiarray scalar",
    "numpy._core.multiarray scalar", "numpy.core.multiarray _reconstruct",
    "numpy._core.multiarray _reconstruct"};

// Modules of a classifier that was pickled whole: only their state is kept.
constexpr std::string_view kModules[] = {"__main__ MLPClassifier", "torch.nn.modules.linear Linear",
                                         "torch.nn.modules.batchnorm BatchNorm1d",
                                         "torch.nn.modules.dropout Dropout"};

template <std::size_t n>
bool has(const std::string_view (&names)[n], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

class Unpickler {
 public:
  Unpickler(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  Pickle run() {
    if (bytes_.size() < 2 || bytes_[0] != '\x80' || bytes_[1] < 2 || bytes_[1] > 4) {
      fail("it is no pickle of protocol 2, 3 or 4");
    }
    at_ = 2;
    while (step(next_byte())) {
    }
    if (stack_.size() != 1) fail_as_damaged();
    result_.root = stack_[0];
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const { throw FormatError(file_, 0, problem); }
  [[noreturn]] void fail_as_damaged() const { fail("its pickled part is damaged"); }

  std::string_view take(std::size_t n) {
    if (n > bytes_.size() - at_) fail("its pickled part ends too early");
    const std::string_view piece = bytes_.substr(at_, n);
    at_ += n;
    return piece;
  }
  unsigned char next_byte() { return static_cast<unsigned char>(take(1)[0]); }
  // A little-endian number of n bytes.
  std::uint64_t number(std::size_t n) { return little_endian<std::uint64_t>(take(n).data(), n); }
  std::string line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) fail("its pickled part ends too early");
    std::string text(bytes_.substr(at_, end - at_));
    at_ = end + 1;
    return text;
  }

  std::size_t pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() == marks_.back())) fail_as_damaged();
    const std::size_t value = stack_.back();
    stack_.pop_back();
    return value;
  }
  // The values above the last mark, and above `n` of them.
  std::vector<std::size_t> pop_to_mark() {
    if (marks_.empty()) fail_as_damaged();
    const auto from = stack_.begin() + static_cast<long>(marks_.back());
    std::vector<std::size_t> values(from, stack_.end());
    stack_.erase(from, stack_.end());
    marks_.pop_back();
    return values;
  }
  std::vector<std::size_t> pop_many(std::size_t n) {
    std::vector<std::size_t> values(n);
    for (std::size_t i = n; i-- > 0;) values[i] = pop();
    return values;
  }
  std::size_t top() const {
    if (stack_.empty()) fail_as_damaged();
    return stack_.back();
  }

  void push(PickleValue value) {
    stack_.push_back(result_.values.size());
    result_.values.push_back(std::move(value));
  }
  void push_whole(Kind kind, std::int64_t whole) {
    PickleValue value;
    value.kind = kind;
    value.whole = whole;
    push(std::move(value));
  }
  void push_text(Kind kind, std::string_view text) {
    PickleValue value;
    value.kind = kind;
    value.text = text;
    push(std::move(value));
  }
  void push_items(Kind kind, std::vector<std::size_t> items) {
    PickleValue value;
    value.kind = kind;
    value.items = std::move(items);
    push(std::move(value));
  }
  void push_global(const std::string& module, const std::string& name) {
    const std::string global = module + " " + name;
    if (!has(kGlobals, global) && !has(kModules, global)) {
      fail("its pickled part wants '" + module + "." + name +
           "', which no weights need; nothing of it was run. Save the weights alone, best as "
           "safetensors");
    }
    push_text(Kind::kGlobal, global);
  }
  void push_real() {
    const std::string_view piece = take(8);
    std::uint64_t bits = 0;
    for (const char c : piece) bits = bits << 8 | static_cast<unsigned char>(c);
    PickleValue value;
    value.kind = Kind::kReal;
    std::memcpy(&value.real, &bits, sizeof bits);
    push(std::move(value));
  }
  void push_long(std::size_t n) {
    if (n > 8) fail_as_damaged();
    std::uint64_t value = number(n);
    if (n > 0 && n < 8 && value >> (8 * n - 1) != 0) value |= ~std::uint64_t{0} << (8 * n);
    push_whole(Kind::kWhole, static_cast<std::int64_t>(value));
  }

  // Adds to the list or dictionary below `more`.
  void extend(std::vector<std::size_t> more) {
    PickleValue* to = &result_.values[top()];
    // An OrderedDict is a record, whose last item becomes a dictionary.
    if (to->kind == Kind::kRecord && to->items.size() == 2) {
      const std::size_t record = top();
      push_items(Kind::kDict, {});
      const std::size_t dict = pop();
      result_.values[record].items.push_back(dict);
    }
    to = &result_.values[top()];
    if (to->kind == Kind::kRecord) to = &result_.values[to->items[2]];
    if (to->kind != Kind::kList && to->kind != Kind::kDict) fail_as_damaged();
    if (to->kind == Kind::kDict && more.size() % 2 != 0) fail_as_damaged();
    to->items.insert(to->items.end(), more.begin(), more.end());
  }

  // Attributes of objects other than modules, such as the _metadata of a state_dict, are ignored.
  void set_state(std::size_t state) {
    PickleValue& object = result_.values[top()];
    const bool is_new = object.kind == Kind::kRecord && object.items.size() == 2;
    if (is_new && has(kModules, result_[object.items[0]].text)) object.items.push_back(state);
  }

  void remember(std::size_t i) { memo_[i] = top(); }
  void recall(std::size_t i) {
    const auto found = memo_.find(i);
    if (found == memo_.end()) fail_as_damaged();
    stack_.push_back(found->second);
  }

  // Returns false at the end.
  bool step(unsigned char operation) {
    switch (operation) {
      case '.':
        return false;
      case '(':
        marks_.push_back(stack_.size());
        break;
      case '0':
        pop();
        break;
      case 'q':
        remember(next_byte());
        break;
      case 'r':
        remember(number(4));
        break;
      case 0x94:  // MEMOIZE
        remember(memo_.size());
        break;
      case 'h':
        recall(next_byte());
        break;
      case 'j':
        recall(number(4));
        break;
      case 0x95:  // FRAME
        take(8);
        break;
      case 'a':
      case 's':
        extend(pop_many(operation == 'a' ? 1 : 2));
        break;
      case 'e':
      case 'u':
        extend(pop_to_mark());
        break;
      default:
        if (!makes_atom(operation)) make_object(operation);
    }
    return true;
  }

  bool makes_atom(unsigned char operation) {
    switch (operation) {
      case 'N':
        push({});
        return true;
      case 0x88:
      case 0x89:
        push_whole(Kind::kBool, operation == 0x88);
        return true;
      case 'K':
        push_whole(Kind::kWhole, next_byte());
        return true;
      case 'M':
        push_whole(Kind::kWhole, static_cast<std::int64_t>(number(2)));
        return true;
      case 'J':
        push_long(4);
        return true;
      case 0x8a:
        push_long(next_byte());
        return true;
      case 'G':
        push_real();
        return true;
      case 'X':
      case 'T':
        push_text(Kind::kText, take(number(4)));
        return true;
      case 0x8c:
      case 'U':
        push_text(Kind::kText, take(next_byte()));
        return true;
      default:
        return false;
    }
  }

  void make_object(unsigned char operation) {
    switch (operation) {
      case '}':
        push_items(Kind::kDict, {});
        break;
      case ']':
        push_items(Kind::kList, {});
        break;
      case ')':
        push_items(Kind::kTuple, {});
        break;
      case 't':
        push_items(Kind::kTuple, pop_to_mark());
        break;
      case 0x85:
      case 0x86:
      case 0x87:
        push_items(Kind::kTuple, pop_many(operation - 0x84));
        break;
      case 'c': {
        const std::string module = line();
        push_global(module, line());
        break;
      }
      case 0x93: {  // STACK_GLOBAL
        const std::vector<std::size_t> names = pop_many(2);
        push_global(result_[names[0]].text, result_[names[1]].text);
        break;
      }
      case 'Q': {
        push_text(Kind::kGlobal, kPersistent);
        const std::size_t kind = pop();
        push_items(Kind::kRecord, {kind, pop()});
        break;
      }
      case 'R':
      case 0x81:
        push_items(Kind::kRecord, pop_many(2));
        break;
      case 'b':
        set_state(pop());
        break;
      default:
        fail("its pickled part has the operation " + std::to_string(operation) +
             ", which is not read");
    }
  }

  std::string_view bytes_;
  const std::string& file_;
  std::size_t at_ = 0;
  Pickle result_;
  std::vector<std::size_t> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::size_t, std::size_t> memo_;
};

}  // namespace

const PickleValue* Pickle::member(const PickleValue& dict, std::string_view key) const {
  const PickleValue* items = &dict;
  if (dict.kind == Kind::kRecord && dict.items.size() == 3) items = &values[dict.items[2]];
  if (items->kind != Kind::kDict) return nullptr;
  for (std::size_t i = 0; i + 1 < items->items.size(); i += 2) {
    const PickleValue& name = values[items->items[i]];
    if (name.kind == Kind::kText && name.text == key) return &values[items->items[i + 1]];
  }
  return nullptr;
}

Pickle read_pickle(std::string_view bytes, const std::string& file) {
  return Unpickler(bytes, file).run();
}

}  // namespace ancify
