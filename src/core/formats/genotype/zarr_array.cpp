// Parses the metadata of arrays of Zarr.
// Source: Zarr storage specification, version 2; numcodecs.
#include "core/formats/genotype/zarr_array.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/exec/errors.h"
#include "core/io/blosc.h"
#include "core/io/record_size.h"
#include "core/io/text.h"
#include "core/io/zstd_source.h"

namespace ancify {

namespace {

constexpr const char* kWayOut = "Write the store anew with vcf2zarr convert --zarr-format 2";

// A value as a text for messages.
std::string shown(const Json& value) {
  switch (value.kind) {
    case Json::Kind::kText:
      return excerpt(value.text);
    case Json::Kind::kNumber:
      return number_text(value.number);
    case Json::Kind::kNull:
      return "null";
    case Json::Kind::kBool:
      return value.flag ? "true" : "false";
    default:
      return "a list or an object";
  }
}

class ArrayParser {
 public:
  ArrayParser(const Json& json, const std::string& folder, const std::string& file, bool floats)
      : json_(json), file_(file), floats_(floats) {
    array_.folder = folder;
  }

  ZarrArray parse() {
    if (!json_.is(Json::Kind::kObject)) fail("it is no JSON object");
    need("zarr_format", [](const Json& value) { return value.whole() == 2; });
    need("order", [](const Json& value) { return value.text == "C"; });
    array_.shape = sizes("shape", 0);
    array_.chunks = sizes("chunks", 1);
    if (array_.shape.size() != array_.chunks.size()) fail("shape and chunks differ in length");
    take_type();
    take_filters();
    take_codec();
    take_separator();
    take_fill();
    check_chunk_size();
    return std::move(array_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const { throw FormatError(file_, 0, problem); }
  [[noreturn]] void refuse(const std::string& name, const Json& value) const {
    fail(name + " is " + shown(value) + ", which is not read. " + kWayOut);
  }

  const Json& member(const char* name) const {
    const Json* const value = json_.member(name);
    if (value == nullptr) fail(std::string("it has no ") + name);
    return *value;
  }
  template <class Good>
  void need(const char* name, Good good) const {
    if (!good(member(name))) refuse(name, member(name));
  }

  std::vector<std::int64_t> sizes(const char* name, std::int64_t least) const {
    std::vector<std::int64_t> result;
    for (const Json& item : member(name).items) {
      const std::optional<std::int64_t> size = item.whole();
      if (!size || *size < least) fail(std::string(name) + " has " + shown(item) + ", no size");
      result.push_back(*size);
    }
    if (result.empty() || result.size() > 3) {
      fail(std::string(name) + " has " + count_of(result.size(), "dimension") +
           ", but arrays of VCF Zarr that are read have 1 to 3");
    }
    return result;
  }

  void take_type() {
    const Json& type = member("dtype");
    const std::string& text = type.text;
    if (text == "|O") {
      array_.type = ZarrType::kText;
      return;
    }
    if (floats_ && text == "<f4") {
      array_.type = ZarrType::kFloat;
      array_.bytes = 4;
      return;
    }
    if (text == "|b1" || text == "|i1" || text == "|u1") {
      array_.bytes = 1;
    } else if (text.size() == 3 && text[0] == '<' && (text[1] == 'i' || text[1] == 'u') &&
               std::string_view("248").find(text[2]) != std::string_view::npos) {
      array_.bytes = text[2] - '0';
    } else {
      refuse("dtype", type);
    }
    array_.type = text[1] == 'i' ? ZarrType::kSigned : ZarrType::kUnsigned;
  }

  void take_filters() {
    const Json* const found = json_.member("filters");
    const std::vector<Json> filters = found == nullptr ? std::vector<Json>() : found->items;
    bool has_lengths = false;
    for (const Json& filter : filters) {
      const Json* const id = filter.member("id");
      const std::string name = id == nullptr ? "" : id->text;
      if (name == "vlen-utf8" && array_.type == ZarrType::kText && filters.size() == 1) {
        has_lengths = true;
      } else if (name == "packbits" && member("dtype").text == "|b1" && filters.size() == 1) {
        array_.packed_bits = true;
      } else {
        fail("the filter " + excerpt(name) + " is not read, or not here. " + kWayOut);
      }
    }
    if (array_.type == ZarrType::kText && !has_lengths) {
      fail("objects without the filter 'vlen-utf8' are not read. " + std::string(kWayOut));
    }
  }

  void take_codec() {
    const Json& compressor = member("compressor");
    if (compressor.is(Json::Kind::kNull)) return;
    const Json* const id = compressor.member("id");
    const std::string name = id == nullptr ? "" : id->text;
    if (name == "blosc") {
      array_.codec = ZarrCodec::kBlosc;
      need_library(blosc_version(), "Blosc", "libblosc-dev");
    } else if (name == "zlib") {
      array_.codec = ZarrCodec::kZlib;
    } else if (name == "zstd") {
      array_.codec = ZarrCodec::kZstd;
      need_library(zstd_version(), "Zstandard", "libzstd-dev");
    } else {
      fail("the compressor " + excerpt(name) +
           " is not read, but blosc, zstd, zlib and none are. " + kWayOut);
    }
  }

  void need_library(const std::string& version, const char* name, const char* package) const {
    if (!version.empty()) return;
    fail("its chunks are compressed by " + std::string(name) +
         ", which this copy of ancify was built without. Install " + package + " and ancify again");
  }

  void take_separator() {
    const Json* const separator = json_.member("dimension_separator");
    if (separator == nullptr) return;
    if (separator->text != "." && separator->text != "/") refuse("dimension_separator", *separator);
    array_.separator = separator->text[0];
  }

  // null stands for 0 and for empty texts, as in zarr-python.
  void take_fill() {
    const Json& fill = member("fill_value");
    if (fill.is(Json::Kind::kNull)) return;
    if (array_.type == ZarrType::kText) {
      if (!fill.text.empty()) refuse("fill_value", fill);
      return;
    }
    if (fill.is(Json::Kind::kBool)) {
      array_.fill = fill.flag ? 1 : 0;
      return;
    }
    if (array_.type == ZarrType::kFloat) {
      take_fill_of_floats(fill);
      return;
    }
    constexpr double most = 9007199254740992;
    if (!fill.is(Json::Kind::kNumber) || fill.number != std::floor(fill.number) ||
        std::abs(fill.number) > most) {
      refuse("fill_value", fill);
    }
    array_.fill = static_cast<std::int64_t>(fill.number);
  }

  void take_fill_of_floats(const Json& fill) {
    if (!fill.is(Json::Kind::kNumber) && fill.text != "NaN") refuse("fill_value", fill);
    const auto value = fill.is(Json::Kind::kNumber) ? static_cast<float>(fill.number)
                                                    : std::numeric_limits<float>::quiet_NaN();
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    array_.fill = bits;
  }

  void check_chunk_size() const {
    const auto most = static_cast<std::int64_t>(longest_record());
    std::int64_t size = std::max<std::int64_t>(array_.bytes, 1);
    for (const std::int64_t n : array_.chunks) {
      if (n > most / size) {
        fail("its chunks have more than " + std::to_string(most >> 20) +
             " MB, the limit for this machine's memory. Write it with smaller chunks: vcf2zarr "
             "has --variants-chunk-size and --samples-chunk-size");
      }
      size *= n;
    }
  }

  const Json& json_;
  const std::string& file_;
  bool floats_;
  ZarrArray array_;
};

}  // namespace

std::int64_t ZarrArray::items() const {
  std::int64_t n = 1;
  for (const std::int64_t size : chunks) n *= size;
  return n;
}

std::int64_t ZarrArray::chunks_along(std::size_t dimension) const {
  return shape[dimension] / chunks[dimension] + (shape[dimension] % chunks[dimension] > 0 ? 1 : 0);
}

std::string ZarrArray::chunk_path(const std::vector<std::int64_t>& chunk) const {
  std::string path = folder;
  char before = '/';
  for (const std::int64_t index : chunk) {
    path += before + std::to_string(index);
    before = separator;
  }
  return path;
}

ZarrArray parse_zarr_array(const Json& json, const std::string& folder, const std::string& file,
                           bool floats) {
  return ArrayParser(json, folder, file, floats).parse();
}

}  // namespace ancify
