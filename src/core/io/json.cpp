// A recursive descent parser for the grammar of RFC 8259.
#include "core/io/json.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "core/exec/errors.h"
#include "core/io/number_parser.h"

namespace ancify {

const Json* Json::member(std::string_view name) const {
  for (const auto& [key, value] : members) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::optional<std::int64_t> Json::whole() const {
  constexpr double most = 9007199254740992;
  if (kind != Kind::kNumber || number < 0 || number > most || number != std::floor(number)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(number);
}

namespace {

void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

class JsonParser {
 public:
  JsonParser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Json whole_text() {
    Json value = any_value(0);
    skip_blanks();
    if (at_ < text_.size()) fail("there is more after the end of the JSON text");
    return value;
  }

 private:
  static constexpr int kDeepest = 64;

  [[noreturn]] void fail(const std::string& problem) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<long>(at_), '\n');
    throw FormatError(file_, line, "no JSON text: " + problem);
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }
  bool takes(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  // Takes a mark after blanks.
  bool takes_mark(char mark) {
    skip_blanks();
    return takes(std::string_view(&mark, 1));
  }
  void need_mark(char mark) {
    if (!takes_mark(mark)) fail(std::string("'") + mark + "' is missing");
  }

  Json any_value(int depth) {
    if (depth > kDeepest) fail("more than 64 lists or objects in each other");
    skip_blanks();
    if (at_ == text_.size()) fail("it ends too early");
    Json value;
    switch (text_[at_]) {
      case '{':
        object(value, depth);
        break;
      case '[':
        array(value, depth);
        break;
      case '"':
        value.kind = Json::Kind::kText;
        value.text = quoted();
        break;
      default:
        word_or_number(value);
    }
    return value;
  }

  void object(Json& value, int depth) {
    value.kind = Json::Kind::kObject;
    ++at_;
    if (takes_mark('}')) return;
    std::unordered_set<std::string> names;
    do {
      skip_blanks();
      if (at_ == text_.size() || text_[at_] != '"') fail("a name is missing");
      std::string name = quoted();
      if (!names.insert(name).second) fail("the name '" + name + "' comes twice");
      need_mark(':');
      Json inner = any_value(depth + 1);
      value.members.emplace_back(std::move(name), std::move(inner));
    } while (takes_mark(','));
    need_mark('}');
  }

  void array(Json& value, int depth) {
    value.kind = Json::Kind::kArray;
    ++at_;
    if (takes_mark(']')) return;
    do {
      value.items.push_back(any_value(depth + 1));
    } while (takes_mark(','));
    need_mark(']');
  }

  void word_or_number(Json& value) {
    if (takes("null")) return;
    value.kind = Json::Kind::kBool;
    if (takes("false")) return;
    value.flag = true;
    if (takes("true")) return;
    value.flag = false;
    value.kind = Json::Kind::kNumber;
    const std::size_t end = std::min(text_.find_first_not_of("0123456789+-.eE", at_), text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    const std::size_t first = word.find_first_not_of('-');
    const bool is_number = first <= 1 && word[first] >= '0' && word[first] <= '9';
    const std::optional<double> number = is_number ? numbers_(word) : std::nullopt;
    if (!number) fail("a value is missing, or is no number");
    value.number = *number;
    at_ = end;
  }

  std::string quoted() {
    std::string result;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return result;
      }
      if (static_cast<unsigned char>(c) < 0x20) break;
      if (c == '\\') {
        escaped(result);
      } else {
        result += c;
      }
    }
    fail("the end of a text is missing");
  }

  // Parses an escape after its backslash; stops at its last letter.
  void escaped(std::string& result) {
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    ++at_;
    const char c = at_ < text_.size() ? text_[at_] : ' ';
    if (const std::size_t i = letters.find(c); i != letters.npos) {
      result += meanings[i];
    } else if (c == 'u') {
      append_utf8(result, code_point());
    } else {
      fail("a backslash before a letter that has none");
    }
  }
  std::uint32_t code_point() {
    const std::uint32_t high = four_digits();
    if (high < 0xD800 || high > 0xDFFF) return high;
    if (high > 0xDBFF || text_.substr(at_ + 1, 2) != "\\u") fail("half a letter");
    at_ += 2;
    const std::uint32_t low = four_digits();
    if (low < 0xDC00 || low > 0xDFFF) fail("half a letter");
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }
  std::uint32_t four_digits() {
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      ++at_;
      const char c = at_ < text_.size() ? text_[at_] : ' ';
      const std::size_t digit = std::string_view("0123456789abcdefABCDEF").find(c);
      if (digit == std::string_view::npos) fail("no four digits after \\u");
      code = code * 16 + static_cast<std::uint32_t>(digit < 16 ? digit : digit - 6);
    }
    return code;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  NumberParser numbers_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& file) {
  return JsonParser(text, file).whole_text();
}

}  // namespace ancify
