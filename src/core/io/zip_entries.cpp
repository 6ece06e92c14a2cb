// Format: PKWARE's APPNOTE.TXT. The central directory at the end lists the entries; with zip64,
// sizes of 2^32 - 1 stand for 8-byte values in an extra field.
#include "core/io/zip_entries.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "core/exec/errors.h"
#include "core/io/byte_source.h"
#include "core/io/checksum.h"
#include "core/io/inflate.h"
#include "core/io/little_endian.h"

namespace ancify {

namespace {

constexpr std::uint64_t kIn64 = 0xFFFFFFFF;
constexpr std::uint64_t kMostDirectory = 1 << 26;

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t n) {
  return little_endian<std::uint64_t>(bytes.data() + at, n);
}

struct Directory {
  std::uint64_t entries;
  std::uint64_t size;
  std::uint64_t offset;
};

class ZipReader {
 public:
  ZipReader(const InputFile& file, ZipPacking packing) : file_(file), packing_(packing) {}

  std::map<std::string, ZipEntry> read() {
    const Directory directory = find_directory();
    const std::string bytes = piece(directory.offset, directory.size);
    std::map<std::string, ZipEntry> entries;
    std::size_t at = 0;
    for (std::uint64_t i = 0; i < directory.entries; ++i) {
      auto [name, entry] = next_entry(bytes, at);
      if (!entries.emplace(std::move(name), entry).second) fail();
    }
    return entries;
  }

 private:
  [[noreturn]] void fail() const {
    throw FormatError(file_.path(), 0, "this zip archive is damaged, or was cut");
  }

  std::string piece(std::uint64_t offset, std::uint64_t n) const {
    const auto size = static_cast<std::uint64_t>(file_.size());
    if (offset > size || n > size - offset || n > kMostDirectory) fail();
    std::string bytes(n, '\0');
    file_.read_at(bytes.data(), bytes.size(), static_cast<std::int64_t>(offset));
    return bytes;
  }

  // Located through the record at the end, which a comment may follow.
  Directory find_directory() const {
    constexpr std::uint64_t end_record = 22;
    constexpr std::uint64_t most_comment = 65535;
    const auto size = static_cast<std::uint64_t>(file_.size());
    const std::uint64_t n = std::min(size, end_record + most_comment);
    const std::string tail = piece(size - n, n);
    const std::size_t at = tail.rfind("PK\5\6");
    if (at == std::string::npos || tail.size() - at < end_record) fail();
    Directory directory = {number_at(tail, at + 10, 2), number_at(tail, at + 12, 4),
                           number_at(tail, at + 16, 4)};
    constexpr std::uint64_t locator = 20;
    const std::uint64_t end = size - n + at;
    if (end >= locator) {
      const std::string before = piece(end - locator, locator);
      if (before.compare(0, 4, "PK\6\7") == 0) directory = read_zip64(number_at(before, 8, 8));
    }
    return directory;
  }
  Directory read_zip64(std::uint64_t offset) const {
    const std::string record = piece(offset, 56);
    if (record.compare(0, 4, "PK\6\6") != 0) fail();
    return {number_at(record, 32, 8), number_at(record, 40, 8), number_at(record, 48, 8)};
  }

  std::pair<std::string, ZipEntry> next_entry(const std::string& bytes, std::size_t& at) const {
    constexpr std::size_t fixed = 46;
    if (bytes.size() - at < fixed || bytes.compare(at, 4, "PK\1\2") != 0) fail();
    const std::uint64_t flags = number_at(bytes, at + 8, 2);
    const std::uint64_t method = number_at(bytes, at + 10, 2);
    std::uint64_t packed = number_at(bytes, at + 20, 4);
    std::uint64_t size = number_at(bytes, at + 24, 4);
    std::uint64_t offset = number_at(bytes, at + 42, 4);
    const std::size_t name_size = number_at(bytes, at + 28, 2);
    const std::size_t extra_size = number_at(bytes, at + 30, 2);
    const std::size_t comment_size = number_at(bytes, at + 32, 2);
    if (bytes.size() - at - fixed < name_size + extra_size + comment_size) fail();
    const std::string name = bytes.substr(at + fixed, name_size);
    read_extra(std::string_view(bytes).substr(at + fixed + name_size, extra_size),
               {&size, &packed, &offset});
    constexpr std::uint64_t deflated = 8;
    const bool may_be_deflated = packing_ == ZipPacking::kStoredOrDeflated;
    const bool is_deflated = may_be_deflated && method == deflated;
    if ((flags & 1) != 0 || (!is_deflated && (method != 0 || packed != size))) {
      throw FormatError(
          file_.path(), 0,
          "entry '" + name +
              (may_be_deflated ? "' is encrypted, or compressed by an unknown method"
                               : "' is compressed or encrypted; torch stores entries"));
    }
    ZipEntry entry;
    entry.is_deflated = is_deflated;
    entry.packed = static_cast<std::int64_t>(packed);
    entry.checksum = static_cast<std::uint32_t>(number_at(bytes, at + 16, 4));
    entry.size = static_cast<std::int64_t>(size);
    entry.offset = data_offset(offset, packed);
    at += fixed + name_size + extra_size + comment_size;
    return {name, entry};
  }

  // Values that do not fit in 4 bytes are in extra field 1, in this order.
  void read_extra(std::string_view extra, std::initializer_list<std::uint64_t*> numbers) const {
    for (; extra.size() >= 4; extra.remove_prefix(4 + number_at(extra, 2, 2))) {
      const std::size_t size = number_at(extra, 2, 2);
      if (size > extra.size() - 4) fail();
      if (number_at(extra, 0, 2) != 1) continue;
      std::string_view fields = extra.substr(4, size);
      for (std::uint64_t* number : numbers) {
        if (*number != kIn64) continue;
        if (fields.size() < 8) fail();
        *number = number_at(fields, 0, 8);
        fields.remove_prefix(8);
      }
      return;
    }
  }

  // The entry's own header may have another extra field, which pads the data.
  std::int64_t data_offset(std::uint64_t offset, std::uint64_t size) const {
    constexpr std::uint64_t fixed = 30;
    const std::string header = piece(offset, fixed);
    if (header.compare(0, 4, "PK\3\4") != 0) fail();
    const std::uint64_t begin =
        offset + fixed + number_at(header, 26, 2) + number_at(header, 28, 2);
    const auto all = static_cast<std::uint64_t>(file_.size());
    if (begin > all || size > all - begin) fail();
    return static_cast<std::int64_t>(begin);
  }

  const InputFile& file_;
  ZipPacking packing_;
};

}  // namespace

bool is_zip(const InputFile& file) {
  if (file.size() < 4) return false;
  std::string start(4, '\0');
  file.read_at(start.data(), start.size(), 0);
  return start == "PK\3\4";
}

std::map<std::string, ZipEntry> zip_entries(const InputFile& file, ZipPacking packing) {
  return ZipReader(file, packing).read();
}

std::string read_entry(const InputFile& file, const std::string& name, const ZipEntry& entry) {
  if (entry.size > std::max(kFreeText, kMostInflation * entry.packed)) {
    throw FormatError(file.path(), 0, "entry '" + name + "' is far larger than its file");
  }
  std::string packed(static_cast<std::size_t>(entry.packed), '\0');
  file.read_at(packed.data(), packed.size(), entry.offset);
  if (!entry.is_deflated) {
    if (extend_checksum(0, packed.data(), packed.size()) == entry.checksum) return packed;
    throw FormatError(file.path(), 0, "entry '" + name + "' is damaged: the checksum is another");
  }
  std::string bytes(static_cast<std::size_t>(entry.size), '\0');
  try {
    inflate_block(packed, bytes.data(), bytes.size(), entry.checksum);
  } catch (const InputError& error) {
    throw FormatError(file.path(), 0, "entry '" + name + "' is damaged: " + error.what());
  }
  return bytes;
}

void check_entries(const InputFile& file, const TaskContext& context) {
  constexpr std::int64_t at_once = 1 << 20;
  std::vector<char> bytes;
  for (const auto& [name, entry] : zip_entries(file)) {
    std::uint32_t checksum = 0;
    for (std::int64_t from = 0; from < entry.size; from += at_once) {
      context.throw_if_stopped();
      bytes.resize(static_cast<std::size_t>(std::min(at_once, entry.size - from)));
      file.read_at(bytes.data(), bytes.size(), entry.offset + from);
      checksum = extend_checksum(checksum, bytes.data(), bytes.size());
    }
    if (checksum != entry.checksum) {
      throw FormatError(file.path(), 0, "entry '" + name + "' is damaged: the checksum is another");
    }
  }
}

}  // namespace ancify
