// Format: https://huggingface.co/docs/safetensors. The header is a JSON object with, for each
// tensor, its dtype, shape and data_offsets [begin, end) from the header's end.
#include "core/models/safetensors.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/exec/errors.h"
#include "core/io/json.h"
#include "core/io/lines.h"

namespace ancify {

namespace {

constexpr std::int64_t kLongestHeader = 100'000'000;
constexpr std::string_view kNotes = "__metadata__";

constexpr std::pair<const char*, ElementType> kTypes[] = {{"F32", ElementType::kF32},
                                                          {"F16", ElementType::kF16},
                                                          {"BF16", ElementType::kBF16},
                                                          {"F64", ElementType::kF64},
                                                          {"I64", ElementType::kI64}};

class Header {
 public:
  explicit Header(const InputFile& file) : file_(file) {}

  TensorTable read() {
    const Json header = parse();
    TensorTable table;
    for (const auto& [name, value] : header.members) {
      if (name != kNotes) table[name] = tensor(name, value);
    }
    check_filled();
    return table;
  }

  std::map<std::string, std::string> notes() {
    const Json header = parse();
    std::map<std::string, std::string> texts;
    if (const Json* const notes = header.member(kNotes)) {
      for (const auto& [name, value] : notes->members) texts[name] = value.text;
    }
    return texts;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw FormatError(file_.path(), 0, problem);
  }

  // Also sets the offset of the data.
  Json parse() {
    char bytes[8];
    if (file_.size() < 8) fail("it is no safetensors file: it has fewer than 8 bytes");
    file_.read_at(bytes, sizeof bytes, 0);
    std::uint64_t length;
    std::memcpy(&length, bytes, sizeof length);
    if (length > static_cast<std::uint64_t>(std::min(kLongestHeader, file_.size() - 8))) {
      fail("it is no safetensors file, or was cut: its header would have " +
           std::to_string(length) + " bytes");
    }
    std::string text(length, '\0');
    file_.read_at(text.data(), text.size(), 8);
    Json header = parse_json(text, file_.path());
    if (!header.is(Json::Kind::kObject)) fail("the header is no JSON object");
    begin_ = 8 + static_cast<std::int64_t>(length);
    return header;
  }

  TensorPlace tensor(const std::string& name, const Json& value) {
    const Json* const type = value.member("dtype");
    const Json* const shape = value.member("shape");
    const Json* const offsets = value.member("data_offsets");
    if (type == nullptr || shape == nullptr || offsets == nullptr ||
        !shape->is(Json::Kind::kArray) || offsets->items.size() != 2) {
      fail("tensor '" + name + "' lacks its dtype, shape or data_offsets");
    }
    TensorPlace place;
    const auto* const known = std::find_if(std::begin(kTypes), std::end(kTypes), [&](auto& row) {
      return type->is(Json::Kind::kText) && type->text == row.first;
    });
    if (known == std::end(kTypes)) {
      fail("tensor '" + name + "' has the dtype '" + type->text +
           "'; F32, F16, BF16, F64 and I64 are read");
    }
    place.type = known->second;
    for (const Json& size : shape->items) {
      const std::optional<std::int64_t> whole = size.whole();
      if (!whole) fail("tensor '" + name + "' has a shape that is not of whole numbers");
      place.shape.push_back(*whole);
    }
    const std::optional<std::int64_t> from = offsets->items[0].whole();
    const std::optional<std::int64_t> to = offsets->items[1].whole();
    const std::int64_t bytes = count_elements(place.shape, file_.path()) *
                               static_cast<std::int64_t>(element_bytes(place.type));
    if (!from || !to || *from > *to || *to - *from != bytes) {
      fail("tensor '" + name + "' has other data_offsets than its shape, " +
           shape_text(place.shape) + ", needs");
    }
    if (*to > file_.size() - begin_) {
      fail("the file was cut: tensor '" + name + "' goes beyond its end");
    }
    place.offset = begin_ + *from;
    pieces_.emplace_back(*from, *to);
    return place;
  }

  // Checks that each byte belongs to exactly one tensor.
  void check_filled() {
    std::sort(pieces_.begin(), pieces_.end());
    std::int64_t end = 0;
    for (const auto& [from, to] : pieces_) {
      if (from != end) fail("its tensors overlap, or leave bytes between them");
      end = to;
    }
    if (end != file_.size() - begin_) fail("it has bytes after its last tensor");
  }

  const InputFile& file_;
  std::int64_t begin_ = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> pieces_;
};

// A text as a JSON string.
std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) {
      quoted += c;
    } else {
      char code[7];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      quoted += code;
    }
  }
  return quoted + '"';
}

std::string header_of(const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& notes) {
  std::string texts;
  for (const auto& [name, text] : notes) {
    texts += (texts.empty() ? "" : ",") + json_text(name) + ":" + json_text(text);
  }
  std::string header = "{" + json_text(kNotes) + ":{" + texts + "}";
  std::size_t end = 0;
  for (const NamedTensor& tensor : tensors) {
    std::string shape;
    for (const std::int64_t size : tensor.shape) {
      shape += (shape.empty() ? "" : ",") + std::to_string(size);
    }
    const std::size_t from = end;
    end += tensor.values.size() * sizeof(float);
    header += "," + json_text(tensor.name) + R"(:{"dtype":"F32","shape":[)" + shape +
              R"(],"data_offsets":[)" + std::to_string(from) + "," + std::to_string(end) + "]}";
  }
  header += "}";
  // The data are aligned to 8 bytes.
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return header;
}

}  // namespace

TensorTable read_safetensors(const InputFile& file) { return Header(file).read(); }

std::map<std::string, std::string> safetensors_notes(const InputFile& file) {
  return Header(file).notes();
}

void write_safetensors(const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& notes, const std::string& path,
                       const TaskContext& context) {
  const std::string header = header_of(tensors, notes);
  const std::uint64_t length = header.size();
  auto size = static_cast<std::int64_t>(sizeof length + header.size());
  for (const NamedTensor& tensor : tensors) {
    size += static_cast<std::int64_t>(tensor.values.size() * sizeof(float));
  }
  OutputFile file(path, size);
  std::int64_t at = 0;
  const auto write = [&](const void* bytes, std::size_t n) {
    file.write_at(static_cast<const char*>(bytes), n, at);
    at += static_cast<std::int64_t>(n);
  };
  write(&length, sizeof length);
  write(header.data(), header.size());
  for (const NamedTensor& tensor : tensors) {
    write(tensor.values.data(), tensor.values.size() * sizeof(float));
  }
  file.sync(context);
  file.prepare();
  file.commit();
}

std::vector<std::string> files_of_index(const std::string& path) {
  const Json index = parse_json(read_text(path, static_cast<std::size_t>(kLongestHeader)), path);
  const Json* const map = index.member("weight_map");
  if (map == nullptr || map->members.empty()) {
    throw FormatError(path, 0, "it has no weight_map, which tells the file of each tensor");
  }
  std::set<std::string> names;
  for (const auto& [tensor, name] : map->members) {
    if (!is_safe_file_name(name.text)) {
      throw FormatError(path, 0, "tensor '" + tensor + "' is in no file of this folder");
    }
    names.insert(name.text);
  }
  return {names.begin(), names.end()};
}

}  // namespace ancify
