// Layout, little-endian: "ancifyE1"; 8 bytes each: the width, 1 if rows are of residues, and the
// number of sequences; for each sequence 4 bytes with the length of its id, the id, 8 bytes with
// its number of rows; floats; 4 bytes, the CRC-32 of everything before.
#include "core/models/part_file.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/exec/errors.h"
#include "core/io/checksum.h"
#include "core/io/file.h"

namespace ancify {

namespace {

constexpr std::string_view kMagic = "ancifyE1";

template <class T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

class PartReader {
 public:
  explicit PartReader(const std::string& path) : path_(path) {
    const InputFile file(path);
    bytes_.resize(static_cast<std::size_t>(file.size()));
    file.read_at(bytes_.data(), bytes_.size(), 0);
    file.check_unchanged();
    left_ = bytes_;
  }

  EmbeddingPart read() {
    std::uint32_t checksum;
    if (bytes_.size() < kMagic.size() + sizeof checksum) fail();
    std::memcpy(&checksum, bytes_.data() + bytes_.size() - sizeof checksum, sizeof checksum);
    left_.remove_suffix(sizeof checksum);
    if (extend_checksum(0, left_.data(), left_.size()) != checksum) fail();
    if (take(kMagic.size()) != kMagic) fail();
    EmbeddingPart part;
    part.width = number<std::int64_t>();
    part.by_residue = number<std::int64_t>() != 0;
    const auto n = number<std::int64_t>();
    if (n < 0) fail();
    for (std::int64_t i = 0; i < n; ++i) {
      part.ids.emplace_back(take(number<std::uint32_t>()));
      part.rows.push_back(number<std::int64_t>());
    }
    if (left_.size() % sizeof(float) != 0) fail();
    part.values.resize(left_.size() / sizeof(float));
    std::copy_n(left_.data(), part.values.size() * sizeof(float),
                reinterpret_cast<char*>(part.values.data()));
    check_size(part);
    return part;
  }

 private:
  [[noreturn]] void fail() const {
    throw FormatError(path_, 0, "it is no whole part of embeddings: it was cut or changed");
  }
  std::string_view take(std::size_t n) {
    if (n > left_.size()) fail();
    const std::string_view piece = left_.substr(0, n);
    left_.remove_prefix(n);
    return piece;
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  void check_size(const EmbeddingPart& part) const {
    auto rows_left = static_cast<std::int64_t>(part.values.size());
    if (part.width < 1 || rows_left % part.width != 0) fail();
    rows_left /= part.width;
    for (const std::int64_t rows : part.rows) {
      if (rows < 0 || rows > rows_left || (!part.by_residue && rows != 1)) fail();
      rows_left -= rows;
    }
    if (rows_left != 0) fail();
  }

  const std::string& path_;
  std::string bytes_;
  std::string_view left_;
};

}  // namespace

void write_part(const EmbeddingPart& part, const std::string& path, const TaskContext& context) {
  std::string head(kMagic);
  put(head, part.width);
  put(head, std::int64_t{part.by_residue});
  put(head, static_cast<std::int64_t>(part.ids.size()));
  for (std::size_t i = 0; i < part.ids.size(); ++i) {
    put(head, static_cast<std::uint32_t>(part.ids[i].size()));
    head += part.ids[i];
    put(head, part.rows[i]);
  }
  const auto* const values = reinterpret_cast<const char*>(part.values.data());
  const std::size_t value_bytes = part.values.size() * sizeof(float);
  const std::uint32_t checksum =
      extend_checksum(extend_checksum(0, head.data(), head.size()), values, value_bytes);
  std::string tail;
  put(tail, checksum);
  OutputFile file(path, static_cast<std::int64_t>(head.size() + value_bytes + tail.size()));
  file.write_at(head.data(), head.size(), 0);
  file.write_at(values, value_bytes, static_cast<std::int64_t>(head.size()));
  file.write_at(tail.data(), tail.size(), static_cast<std::int64_t>(head.size() + value_bytes));
  file.sync(context);
  file.prepare();
  file.commit();
}

EmbeddingPart read_part(const std::string& path) { return PartReader(path).read(); }

}  // namespace ancify
