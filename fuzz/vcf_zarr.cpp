// Fuzzes VCF Zarr: all ways of reading a store give the variants and calls that a slow, plain
// reader finds, or an error. An input replaces files of a small store: a line such as
// "=call_genotype/0.0.0 12", then as many bytes. The reader of JSON has a harness of its own.
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#ifdef ANCIFY_HAVE_BLOSC
#include <blosc.h>
#endif
#ifdef ANCIFY_HAVE_ZSTD
#include <zstd.h>
#endif

#include "../tests/cpp/support.h"
#include "core/exec/job_control.h"
#include "core/formats/genotype/vcf_zarr_dosages.h"
#include "core/formats/genotype/vcf_zarr_genotypes.h"
#include "core/formats/genotype/vcf_zarr_index.h"
#include "core/io/lines.h"
#include "core/io/text.h"
#include "genotypes.h"

namespace ancify::fuzz {

namespace {

namespace fs = std::filesystem;

// Larger stores run no further code, but are slow.
constexpr std::int64_t kMostItems = 4000;

using Files = std::map<std::string, std::string>;

struct Bad : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void need(bool good) {
  if (!good) throw Bad("not a store that is read");
}

std::string metadata(const std::string& shape, const std::string& chunks, const std::string& type) {
  const bool texts = type == "|O";
  return "{\"zarr_format\":2,\"shape\":[" + shape + "],\"chunks\":[" + chunks + "],\"dtype\":\"" +
         type + "\",\"fill_value\":null,\"order\":\"C\",\"filters\":" +
         (texts ? "[{\"id\":\"vlen-utf8\"}]" : "null") + ",\"compressor\":null}";
}

std::string number(std::size_t n) {
  std::string bytes;
  for (int k = 0; k < 4; ++k) bytes += static_cast<char>(n >> 8 * k & 255);
  return bytes;
}

std::string texts(const std::vector<std::string>& all) {
  std::string bytes = number(all.size());
  for (const std::string& text : all) bytes += number(text.size()) + text;
  return bytes;
}

// Three sites and two samples, in chunks of two sites.
Files small_store() {
  return {
      {".zgroup", "{\"zarr_format\":2}"},
      {"call_genotype/.zarray", metadata("3,2,2", "2,2,2", "|i1")},
      {"call_genotype/0.0.0", std::string("\0\1\1\1\0\2\1\2", 8)},
      {"call_genotype/1.0.0", std::string("\1\xfe\xff\xff\0\0\0\0", 8)},
      {"sample_id/.zarray", metadata("2", "2", "|O")},
      {"sample_id/0", texts({"a", "b"})},
      {"contig_id/.zarray", metadata("2", "2", "|O")},
      {"contig_id/0", texts({"1", "X"})},
      {"variant_allele/.zarray", metadata("3,3", "2,3", "|O")},
      {"variant_allele/0.0", texts({"A", "C", "", "G", "T", "A"})},
      {"variant_allele/1.0", texts({"A", "*", "G", "", "", ""})},
      {"variant_contig/.zarray", metadata("3", "3", "|i1")},
      {"variant_contig/0", std::string("\0\0\1", 3)},
      {"variant_position/.zarray", metadata("3", "3", "<i4")},
      {"variant_position/0", number(10) + number(20) + number(5)},
      {"variant_id/.zarray", metadata("3", "3", "|O")},
      {"variant_id/0", texts({"x", "", "z"})},
      {"variant_id_mask/.zarray", metadata("3", "3", "|b1")},
      {"variant_id_mask/0", std::string("\0\0\1", 3)},
  };
}

// Names are short, and stay in the folder of the store.
bool is_name(const std::string& name) {
  if (name.empty() || name.size() > 60 || name.front() == '/' || name.back() == '/') return false;
  return name.find("..") == name.npos && name.find("//") == name.npos &&
         name.find("/./") == name.npos && name.compare(0, 2, "./") != 0 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_./0123456789") == name.npos;
}

Files store_of(std::string_view input) {
  Files files = small_store();
  while (!input.empty() && input.front() == '=') {
    const std::size_t end = input.find('\n');
    const std::string line(input.substr(1, end == input.npos ? end : end - 1));
    input.remove_prefix(end == input.npos ? input.size() : end + 1);
    const std::size_t blank = line.find(' ');
    const std::string name = line.substr(0, blank);
    if (!is_name(name)) return files;
    if (blank == line.npos) {
      files.erase(name);
      continue;
    }
    const auto size = parse_whole_number(line.substr(blank + 1));
    if (!size) return files;
    const std::size_t n = std::min(input.size(), static_cast<std::size_t>(*size));
    files[name] = std::string(input.substr(0, n));
    input.remove_prefix(n);
  }
  return files;
}

// The folder of a store, in which only files that differ from the last input's are written.
class StoreFolder {
 public:
  const std::string& path() const { return path_; }

  // False if a name belongs to a file and a folder.
  bool write(const Files& files) {
    for (const auto& [name, content] : written_) {
      if (files.count(name) == 0) remove(name);
    }
    bool good = true;
    for (const auto& [name, content] : files) {
      const auto old = written_.find(name);
      if (old == written_.end() || old->second != content) good = good && put(name, content);
    }
    written_ = files;
    if (!good) {
      fs::remove_all(path_);
      written_.clear();
    }
    return good;
  }

 private:
  bool put(const std::string& name, const std::string& content) const {
    const fs::path path = path_ + "/" + name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) return false;
    std::ofstream out(path, std::ios::binary);
    out << content;
    return static_cast<bool>(out);
  }
  // Removes folders that become empty too.
  void remove(const std::string& name) const {
    std::error_code error;  // set for a folder with files
    for (fs::path path = name; !path.empty() && !error; path = path.parent_path()) {
      fs::remove(path_ + "/" + path.string(), error);
    }
  }

  const test::TempDir folder_;
  const std::string path_ = folder_.file("x.vcz");
  Files written_;
};

// ---- The plain reader ---------------------------------------------------------------------------

struct Array {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> chunks;
  std::string type;
  std::string codec;
  bool packed = false;
  std::int64_t fill = 0;
  char separator = '.';

  std::int64_t items() const {
    std::int64_t n = 1;
    for (const std::int64_t size : chunks) n *= size;
    return n;
  }
};

std::vector<std::int64_t> sizes(const Json& json, std::int64_t least) {
  std::vector<std::int64_t> result;
  for (const Json& item : json.items) {
    need(item.whole() && *item.whole() >= least);
    result.push_back(*item.whole());
  }
  return result;
}

bool is_folder(const Files& files, const std::string& name) {
  const auto next = files.lower_bound(name + '/');
  return next != files.end() && next->first.compare(0, name.size() + 1, name + '/') == 0;
}

const Json& member(const Json& json, const char* name) {
  need(json.member(name) != nullptr);
  return *json.member(name);
}

std::string id_of(const Json& json) {
  const Json* const id = json.member("id");
  return id == nullptr ? "" : id->text;
}

// JSON as the core reads it; Bad for invalid JSON.
Json json_of(const std::string& text) {
  const std::string& path = as_file(text);
  Json json;
  const std::string result = outcome([&] {
    json = parse_json(read_text(path, 1 << 24), path);
    return std::string();
  });
  need(!is_error(result));
  return json;
}

Array array_of(const Files& files, const std::string& name, std::size_t dimensions) {
  const auto all = files.find(".zmetadata");
  Json json;
  if (all != files.end()) {
    json = member(member(json_of(all->second), "metadata"), (name + "/.zarray").c_str());
  } else {
    const auto file = files.find(name + "/.zarray");
    need(file != files.end());
    json = json_of(file->second);
  }
  Array array;
  array.name = name;
  need(member(json, "zarr_format").whole() == 2 && member(json, "order").text == "C");
  array.shape = sizes(member(json, "shape"), 0);
  array.chunks = sizes(member(json, "chunks"), 1);
  need(array.shape.size() == dimensions && array.chunks.size() == dimensions);
  array.type = member(json, "dtype").text;
  const std::set<std::string> types = {"|O",  "|b1", "|i1", "|u1", "<i2",
                                       "<u2", "<i4", "<u4", "<i8", "<u8"};
  need(types.count(array.type) > 0);
  const Json* const filters = json.member("filters");
  const std::size_t n = filters == nullptr ? 0 : filters->items.size();
  need(n <= 1);
  const std::string filter = n == 0 ? "" : id_of(filters->items[0]);
  array.packed = filter == "packbits";
  if (array.type == "|O") {
    need(n == 1 && filter == "vlen-utf8");
  } else {
    need(n == 0 || (array.packed && array.type == "|b1"));
  }
  const Json& compressor = member(json, "compressor");
  if (!compressor.is(Json::Kind::kNull)) {
    array.codec = id_of(compressor);
    need(array.codec == "blosc" || array.codec == "zstd" || array.codec == "zlib");
  }
  if (const Json* const separator = json.member("dimension_separator")) {
    need(separator->text == "." || separator->text == "/");
    array.separator = separator->text[0];
  }
  const Json& fill = member(json, "fill_value");
  if (array.type == "|O") {
    need(fill.text.empty());
  } else if (!fill.is(Json::Kind::kNull)) {
    need(fill.is(Json::Kind::kBool) ||
         (fill.is(Json::Kind::kNumber) && fill.number == std::floor(fill.number) &&
          std::abs(fill.number) < 9e15));
    array.fill = fill.is(Json::Kind::kBool) ? fill.flag : static_cast<std::int64_t>(fill.number);
  }
  return array;
}

// Inflates into a text of `size` bytes; empty if it needs more.
std::optional<std::string> inflate_within(const std::string& codec, const std::string& bytes,
                                          std::size_t size) {
  std::string text(size, '\0');
  if (codec == "zlib") {
    uLongf produced = text.size();
    uLong used = bytes.size();
    const int status = uncompress2(reinterpret_cast<Bytef*>(&text[0]), &produced,
                                   reinterpret_cast<const Bytef*>(bytes.data()), &used);
    if (status == Z_BUF_ERROR) return {};
    need(status == Z_OK && used == bytes.size());
    text.resize(produced);
  }
#ifdef ANCIFY_HAVE_ZSTD
  if (codec == "zstd") {
    const auto said = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
    need(said != ZSTD_CONTENTSIZE_ERROR);
    const std::size_t found = ZSTD_decompress(&text[0], text.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(found) != 0 && said != ZSTD_CONTENTSIZE_UNKNOWN && said > size) return {};
    need(ZSTD_isError(found) == 0);
    text.resize(found);
  }
#endif
#ifdef ANCIFY_HAVE_BLOSC
  if (codec == "blosc") {
    std::size_t found = 0;
    need(bytes.size() >= BLOSC_MIN_HEADER_LENGTH &&
         blosc_cbuffer_validate(bytes.data(), bytes.size(), &found) == 0);
    if (found > size) return {};
    need(found == 0 ||
         blosc_decompress_ctx(bytes.data(), &text[0], found, 1) == static_cast<int>(found));
    text.resize(found);
  }
#endif
  return text;
}

std::string inflated(const std::string& codec, const std::string& bytes) {
  if (codec.empty()) return bytes;
  for (std::size_t size = 1 << 16; size <= 1 << 26; size <<= 5) {
    if (auto text = inflate_within(codec, bytes, size)) return std::move(*text);
  }
  throw Bad("larger than the core takes");
}

// The bytes of a chunk; the file must be there unless `may_lack`.
const std::string* chunk_file(const Files& files, const Array& array,
                              const std::vector<std::int64_t>& index, bool may_lack) {
  std::string name = array.name;
  for (std::size_t k = 0; k < index.size(); ++k) {
    name += (k == 0 ? '/' : array.separator) + std::to_string(index[k]);
  }
  need(!is_folder(files, name));
  const auto file = files.find(name);
  need(may_lack || file != files.end());
  return file == files.end() ? nullptr : &file->second;
}

std::vector<std::int64_t> integers_of(const Files& files, const Array& array,
                                      const std::vector<std::int64_t>& index, bool may_lack) {
  need(array.type != "|O");
  std::vector<std::int64_t> values(static_cast<std::size_t>(array.items()), array.fill);
  const std::string* const stored = chunk_file(files, array, index, may_lack);
  const auto width = static_cast<std::size_t>(array.type[2] - '0');
  if (stored == nullptr) {
    // The fill value as the array's type has it
    for (std::int64_t& value : values) {
      const auto unused = static_cast<unsigned>(64 - 8 * width);
      if (index.size() == 3) {
        value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused) >> unused;
      }
    }
    return values;
  }
  const std::string bytes = inflated(array.codec, *stored);
  if (array.packed) {
    need(bytes.size() == 1 + (values.size() + 7) / 8);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<unsigned char>(bytes[1 + i / 8]) >> (7 - i % 8) & 1;
    }
    return values;
  }
  need(bytes.size() == width * values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t value = 0;
    for (std::size_t k = width; k > 0; --k) {
      value = value << 8 | static_cast<unsigned char>(bytes[width * i + k - 1]);
    }
    const bool negative = array.type[1] == 'i' && width < 8 && value >> (8 * width - 1) != 0;
    if (negative) value -= std::uint64_t{1} << 8 * width;
    values[i] = static_cast<std::int64_t>(value);
  }
  return values;
}

std::vector<std::string> texts_of(const Files& files, const Array& array,
                                  const std::vector<std::int64_t>& index, bool may_lack) {
  need(array.type == "|O");
  const auto n = static_cast<std::size_t>(array.items());
  const std::string* const stored = chunk_file(files, array, index, may_lack);
  if (stored == nullptr) return std::vector<std::string>(n);
  const std::string bytes = inflated(array.codec, *stored);
  std::size_t at = 0;
  const auto length = [&] {
    need(bytes.size() - at >= 4);
    std::size_t value = 0;
    for (std::size_t k = 4; k > 0; --k) {
      value = value << 8 | static_cast<unsigned char>(bytes[at + k - 1]);
    }
    at += 4;
    return value;
  };
  need(length() == n);
  std::vector<std::string> result;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t size = length();
    need(size <= bytes.size() - at);
    result.push_back(bytes.substr(at, size));
    need(is_utf8(result.back()) && result.back().find('\0') == std::string::npos);
    at += size;
  }
  need(at == bytes.size());
  return result;
}

// Values along the first dimension, of which chunks are read where they are needed.
template <class Value>
class Column {
 public:
  using Read = std::function<std::vector<Value>(std::int64_t chunk)>;
  Column(std::int64_t size, std::int64_t chunk, Read read)
      : size_(size), chunk_(chunk), read_(std::move(read)) {}
  std::int64_t size() const { return size_; }
  Value operator[](std::int64_t i) {
    auto& values = chunks_[i / chunk_];
    if (values.empty()) values = read_(i / chunk_);
    return values[static_cast<std::size_t>(i % chunk_)];
  }

 private:
  std::int64_t size_;
  std::int64_t chunk_;
  Read read_;
  std::map<std::int64_t, std::vector<Value>> chunks_;
};

void need_small(const Array& array) {
  std::int64_t n = 1;
  for (const std::int64_t size : array.chunks) {
    if (size > kMostItems / n) throw std::length_error("large");
    n *= size;
  }
  for (const std::int64_t size : array.shape) {
    if (size > kMostItems) throw std::length_error("large");
  }
}

Column<std::int64_t> integers(const Files& files, const std::string& name, bool may_lack) {
  const Array array = array_of(files, name, 1);
  need(array.type != "|O");
  return {array.shape[0], array.chunks[0], [&files, array, may_lack](std::int64_t chunk) {
            return integers_of(files, array, {chunk}, may_lack);
          }};
}

Column<std::string> words(const Files& files, const std::string& name, bool may_lack) {
  const Array array = array_of(files, name, 1);
  need(array.type == "|O");
  return {array.shape[0], array.chunks[0], [&files, array, may_lack](std::int64_t chunk) {
            return texts_of(files, array, {chunk}, may_lack);
          }};
}

// The alleles of each site.
Column<std::vector<std::string>> alleles_of(const Files& files) {
  const Array array = array_of(files, "variant_allele", 2);
  need(array.type == "|O" && array.shape[1] >= 1);
  return {array.shape[0], array.chunks[0], [&files, array](std::int64_t chunk) {
            std::vector<std::vector<std::string>> rows(static_cast<std::size_t>(array.chunks[0]));
            for (std::int64_t first = 0; first < array.shape[1]; first += array.chunks[1]) {
              const auto part = texts_of(files, array, {chunk, first / array.chunks[1]}, first > 0);
              for (std::size_t i = 0; i < part.size(); ++i) {
                rows[i / static_cast<std::size_t>(array.chunks[1])].push_back(part[i]);
              }
            }
            for (auto& row : rows) row.resize(static_cast<std::size_t>(array.shape[1]));
            return rows;
          }};
}

bool is_base(const std::string& text) {
  return text.size() == 1 && std::string("ACGTacgt").find(text) != std::string::npos;
}

char call_of(const std::vector<std::int64_t>& alleles, std::int64_t alt, std::int64_t n,
             const std::set<std::int64_t>& none) {
  std::int64_t copies = 0;
  bool missing = alleles.empty();
  need(alleles.size() <= 2);
  for (const std::int64_t allele : alleles) {
    need(allele >= -1 && allele < n);
    missing = missing || allele == -1 || none.count(allele) > 0;
    copies += allele == alt ? 1 : 0;
  }
  return missing ? '.' : "012"[alleles.size() == 1 ? 2 * copies : copies];
}

struct Row {
  std::int64_t site;
  std::int64_t alt;
  std::int64_t alleles;
  std::set<std::int64_t> none;
  std::string text;
};

// Samples, and rows without calls.
std::string index_slowly(const Files& files, bool split, std::vector<Row>& rows) {
  auto samples = words(files, "sample_id", false);
  auto contigs = words(files, "contig_id", false);
  auto alleles = alleles_of(files);
  auto contig = integers(files, "variant_contig", true);
  auto position = integers(files, "variant_position", false);
  const Array calls = array_of(files, "call_genotype", 3);
  const auto has = [&](const char* name) {
    try {
      if (files.count(".zmetadata") > 0) {
        return member(json_of(files.at(".zmetadata")), "metadata")
                   .member(std::string(name) + "/.zarray") != nullptr;
      }
      const std::string file = std::string(name) + "/.zarray";
      return files.count(file) > 0 || is_folder(files, file);
    } catch (const Bad&) {
      return false;
    }
  };
  std::optional<Column<std::string>> id;
  std::optional<Column<std::int64_t>> mask;
  if (has("variant_id")) id = words(files, "variant_id", true);
  if (has("variant_id_mask")) mask = integers(files, "variant_id_mask", true);
  const std::int64_t sites = calls.shape[0];
  need(alleles.size() == sites && contig.size() == sites && position.size() == sites);
  need((!id || id->size() == sites) && (!mask || mask->size() == sites));
  need(samples.size() == calls.shape[1] && samples.size() > 0 && sites > 0);
  std::string text;
  std::set<std::string> known;
  for (std::int64_t i = 0; i < samples.size(); ++i) {
    need(!samples[i].empty() && known.insert(samples[i]).second);
    text += samples[i] + '\n';
  }
  for (std::int64_t site = 0; site < sites; ++site) {
    const std::vector<std::string> all = alleles[site];
    std::int64_t n = 1;
    Row row = {site, 0, 0, {}, ""};
    std::vector<std::int64_t> snps;
    for (; n < static_cast<std::int64_t>(all.size()) && !all[n].empty(); ++n) {
      if (all[n] == "*" || all[n] == "<*>" || all[n] == "<NON_REF>" || all[n] == "<X>") {
        row.none.insert(n);
      }
      if (is_base(all[0]) && is_base(all[n]) && std::toupper(all[0][0]) != std::toupper(all[n][0]))
        snps.push_back(n);
    }
    row.alleles = n;
    if (!split && n - 1 - static_cast<std::int64_t>(row.none.size()) > 1) continue;
    for (const std::int64_t alt : snps) {
      const std::int64_t at = position[site];
      const std::int64_t number = contig[site];
      need(at >= 0 && at <= 2147483647 && number >= 0 && number < contigs.size());
      std::string name = ".";
      if (id && (!mask || (*mask)[site] == 0)) name = (*id)[site];
      row.alt = alt;
      row.text = contigs[number] + ' ' + (name.empty() ? "." : name) + ' ' + std::to_string(at) +
                 ' ' + all[alt] + ' ' + all[0] + ' ';
      rows.push_back(row);
    }
  }
  return text;
}

// The calls of all rows of a chunk of sites.
std::vector<std::string> calls_slowly(const Files& files, const Array& array,
                                      const std::vector<Row>& rows) {
  std::vector<std::string> lines(rows.size());
  const std::int64_t chunk = rows[0].site / array.chunks[0];
  for (std::int64_t first = 0; first < array.shape[1]; first += array.chunks[1]) {
    const auto values = integers_of(files, array, {chunk, first / array.chunks[1], 0}, true);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::int64_t site = rows[r].site - chunk * array.chunks[0];
      for (std::int64_t i = 0; i < std::min(array.chunks[1], array.shape[1] - first); ++i) {
        std::vector<std::int64_t> alleles;
        for (std::int64_t k = 0; k < array.shape[2]; ++k) {
          const std::int64_t at = (site * array.chunks[1] + i) * array.chunks[2] + k;
          alleles.push_back(values[static_cast<std::size_t>(at)]);
        }
        alleles.erase(std::find(alleles.begin(), alleles.end(), -2), alleles.end());
        lines[r] += call_of(alleles, rows[r].alt, rows[r].alleles, rows[r].none);
      }
    }
  }
  return lines;
}

std::string read_slowly(const Files& files, bool split) {
  need(!is_folder(files, ".zmetadata"));
  need(files.count(".zmetadata") + files.count(".zgroup") > 0 || is_folder(files, ".zgroup"));
  std::vector<Row> rows;
  std::string text = index_slowly(files, split, rows);
  const Array array = array_of(files, "call_genotype", 3);
  need(array.type[1] == 'i' && array.chunks[2] >= array.shape[2]);
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin;
    const std::int64_t chunk = rows[begin].site / array.chunks[0];
    while (end < rows.size() && rows[end].site / array.chunks[0] == chunk) ++end;
    const std::vector<Row> own(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                               rows.begin() + static_cast<std::ptrdiff_t>(end));
    std::vector<std::string> lines(own.size(), "bad");
    try {
      lines = calls_slowly(files, array, own);
    } catch (const Bad&) {
    }
    for (std::size_t r = 0; r < own.size(); ++r) text += own[r].text + lines[r] + '\n';
    begin = end;
  }
  return text;
}

// ---- The core -----------------------------------------------------------------------------------

// The core's version of this text, each variant alone.
std::string read_index(const std::string& path, bool split) {
  JobControl control;
  const VcfZarrIndex index = read_vcf_zarr_index(path, split, control);
  std::string text;
  for (std::size_t i = 0; i < index.samples.size(); ++i) {
    text += std::string(index.samples[i]) + '\n';
  }
  const VcfZarrGenotypes file(path, static_cast<std::int64_t>(index.samples.size()), index.places);
  const VariantTable& table = index.variants;
  for (std::int64_t j = 0; j < file.variants(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    text += std::string(table.chromosome[at]) + ' ' + std::string(table.id[at]) + ' ' +
            std::to_string(table.position[at]) + ' ' + std::string(table.counted[at]) + ' ' +
            std::string(table.other[at]) + ' ';
    const std::string calls = outcome([&] { return calls_of(file, j, 1); });
    text += is_error(calls) ? "bad\n" : calls;
  }
  file.check_unchanged();
  return text;
}

// All variants in pieces, or an error.
std::string read_pieces(const std::string& path, std::int64_t piece) {
  return outcome([&] {
    JobControl control;
    const VcfZarrIndex index = read_vcf_zarr_index(path, true, control);
    const VcfZarrGenotypes file(path, static_cast<std::int64_t>(index.samples.size()),
                                index.places);
    std::string text;
    for (std::int64_t first = 0; first < file.variants(); first += piece) {
      text += calls_of(file, first, std::min(piece, file.variants() - first));
    }
    return text;
  });
}

// True if all arrays are small, as far as they can be read.
bool is_small(const Files& files) {
  for (const auto& [name, dimensions] :
       std::map<std::string, std::size_t>{{"call_genotype", 3},
                                          {"sample_id", 1},
                                          {"contig_id", 1},
                                          {"variant_allele", 2},
                                          {"variant_contig", 1},
                                          {"variant_position", 1},
                                          {"variant_id", 1},
                                          {"variant_id_mask", 1}}) {
    try {
      need_small(array_of(files, name, dimensions));
    } catch (const Bad&) {
    } catch (const std::length_error&) {
      return false;
    }
  }
  return true;
}

// Reads dosages of all variants and samples.
void read_dosages(const std::string& path, bool split) {
  JobControl control;
  const VcfZarrIndex index = read_vcf_zarr_index(path, split, control);
  const auto samples = static_cast<std::int64_t>(index.samples.size());
  const VcfZarrDosages found =
      read_vcf_zarr_dosages(path, samples, index.places, {"DS", "GP"}, control);
  if (found.counts.field.empty()) return;
  require(found.genotypes.units.size() == index.places.places.size() &&
              found.genotypes.dosages.size() ==
                  index.places.places.size() * static_cast<std::size_t>(samples),
          "another number of dosages");
}

}  // namespace

void check(std::string_view input) {
  static StoreFolder folder;
  const std::string& path = folder.path();
  const Files files = store_of(input);
  if (!is_small(files) || !folder.write(files)) return;
  Choices choices(input);
  const bool split = !choices.one_in(4);
  std::string expected;
  try {
    expected = read_slowly(files, split);
  } catch (const Bad&) {
  }
  const std::string found = outcome([&] { return read_index(path, split); });
  require_equal(is_error(found) ? "" : found, expected, "the reader and the slow way");
  const auto piece = static_cast<std::int64_t>(1 + choices.below(5));
  require_equal(without_message(read_pieces(path, 1000000)),
                without_message(read_pieces(path, piece)), "two sizes of pieces");
  outcome([&] {
    read_dosages(path, split);
    return std::string();
  });
}

}  // namespace ancify::fuzz
