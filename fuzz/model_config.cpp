// Fuzzes vocabularies, if the first byte is v, and otherwise JSON, which stays the same when it is
// written and read again.
#include "core/io/json.h"
#include "core/models/esm2.h"
#include "harness.h"

namespace ancify::fuzz {

namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      constexpr std::string_view digits = "0123456789abcdef";
      result += "\\u00";
      result += digits[byte >> 4];
      result += digits[byte & 15];
    } else {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result + "\"";
}

std::string number_text(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", number);
  return text;
}

// A plain writer of JSON.
std::string as_text(const Json& json) {
  std::string text;
  switch (json.kind) {
    case Json::Kind::kNull:
      return "null";
    case Json::Kind::kBool:
      return json.flag ? "true" : "false";
    case Json::Kind::kNumber:
      return number_text(json.number);
    case Json::Kind::kText:
      return quoted(json.text);
    case Json::Kind::kArray:
      for (const Json& item : json.items) text += (text.empty() ? "[" : ",") + as_text(item);
      return text.empty() ? "[]" : text + "]";
    case Json::Kind::kObject:
      for (const auto& [name, value] : json.members) {
        text += (text.empty() ? "{" : ",") + quoted(name) + ":" + as_text(value);
      }
      return text.empty() ? "{}" : text + "}";
  }
  return text;
}

}  // namespace

void check(std::string_view input) {
  if (input.empty()) return;
  const std::string_view rest = input.substr(1);
  if (input[0] == 'v') {
    const std::string& path = as_file(rest);
    outcome([&] {
      const ProteinAlphabet alphabet = ProteinAlphabet::read(path);
      for (const std::string& token : alphabet.tokens()) require(!token.empty(), "an empty token");
      std::int64_t unknown = 0;
      alphabet.encode("ACDEFGHIKLMNPQRSTVWYacdefghiklmnpqrstvwy<mask>", unknown);
      require(unknown == 0, "a residue without a token");
      unknown = 0;
      for (const std::int32_t token : alphabet.encode(rest, unknown)) {
        require(token >= 0 && static_cast<std::size_t>(token) < alphabet.tokens().size(),
                "a token without a row");
      }
      return std::string();
    });
    return;
  }
  const std::string text = outcome([&] { return as_text(parse_json(rest, "input")); });
  if (!is_error(text)) require_equal(as_text(parse_json(text, "input")), text, "JSON and its copy");
}

}  // namespace ancify::fuzz
