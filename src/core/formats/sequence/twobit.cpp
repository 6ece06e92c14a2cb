// Reads the index of a 2bit file when it is opened, and each sequence's record on first use.
#include "core/formats/sequence/twobit.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "core/exec/errors.h"
#include "core/io/text.h"

namespace ancify {

namespace {

constexpr std::uint32_t kSignature = 0x1A412743;
constexpr std::int64_t kWindow = 1 << 12;  // bytes
constexpr std::int64_t kBasesPerByte = 4;

template <class Number>
Number swapped(Number number) {
  auto* const bytes = reinterpret_cast<char*>(&number);
  std::reverse(bytes, bytes + sizeof number);
  return number;
}

}  // namespace

// Takes integers from an offset on.
class TwoBitFile::Cursor {
 public:
  Cursor(const TwoBitFile& of, std::int64_t offset) : of_(of), offset_(offset) {}

  std::int64_t offset() const { return offset_; }

  template <class Number>
  Number number() {
    Number number;
    take(reinterpret_cast<char*>(&number), sizeof number);
    return of_.swap_ ? swapped(number) : number;
  }

  std::vector<std::uint32_t> numbers(std::size_t n) {
    require(static_cast<std::int64_t>(n * sizeof(std::uint32_t)));
    std::vector<std::uint32_t> numbers(n);
    of_.file_.read_at(reinterpret_cast<char*>(numbers.data()), n * sizeof(std::uint32_t), offset_);
    offset_ += static_cast<std::int64_t>(n * sizeof(std::uint32_t));
    if (of_.swap_)
      std::transform(numbers.begin(), numbers.end(), numbers.begin(), swapped<uint32_t>);
    return numbers;
  }

  std::string text(std::size_t n) {
    std::string text(n, '\0');
    take(text.data(), n);
    return text;
  }

  // Throws FormatError unless the file has n more bytes.
  void require(std::int64_t n) const {
    if (n > of_.file_.size() - offset_) of_.throw_damaged("it ends too early. Was it cut short?");
  }

 private:
  void take(char* out, std::size_t n) {
    require(static_cast<std::int64_t>(n));
    const auto in_buffer = static_cast<std::size_t>(offset_ - buffer_at_);
    if (buffer_.empty() || in_buffer + n > buffer_.size()) return refill_and_take(out, n);
    std::memcpy(out, &buffer_[in_buffer], n);
    offset_ += static_cast<std::int64_t>(n);
  }

  void refill_and_take(char* out, std::size_t n) {
    buffer_at_ = offset_;
    buffer_.resize(static_cast<std::size_t>(std::min(kWindow, of_.file_.size() - offset_)));
    of_.file_.read_at(buffer_.data(), buffer_.size(), buffer_at_);
    std::memcpy(out, buffer_.data(), n);
    offset_ += static_cast<std::int64_t>(n);
  }

  const TwoBitFile& of_;
  std::int64_t offset_;
  std::vector<char> buffer_;
  std::int64_t buffer_at_ = 0;
};

TwoBitFile::TwoBitFile(const std::string& path, const InputIdentities& inputs)
    : file_(path, inputs) {
  read_index();
}

TwoBitFile::~TwoBitFile() = default;

void TwoBitFile::throw_damaged(const std::string& problem) const {
  throw FormatError(path(), 0, "this is no 2bit file, or it is damaged: " + problem);
}

void TwoBitFile::read_index() {
  Cursor cursor(*this, 0);
  const auto signature = cursor.number<std::uint32_t>();
  swap_ = signature == swapped(kSignature);
  if (!swap_ && signature != kSignature) {
    throw_damaged("it does not begin with the signature of 2bit, which is never compressed");
  }
  const auto version = cursor.number<std::uint32_t>();
  if (version > 1) {
    throw_damaged("its version is " + std::to_string(version) + ", but 0 and 1 are known");
  }
  const auto n = cursor.number<std::uint32_t>();
  cursor.number<std::uint32_t>();  // reserved
  std::unordered_set<std::string> seen;
  for (std::uint32_t i = 0; i < n; ++i) {
    std::string name = cursor.text(cursor.number<std::uint8_t>());
    if (!seen.insert(name).second) throw_damaged("the name " + excerpt(name) + " occurs twice");
    const std::uint64_t offset =
        version == 0 ? cursor.number<std::uint32_t>() : cursor.number<std::uint64_t>();
    if (offset >= static_cast<std::uint64_t>(file_.size())) {
      throw_damaged("the sequence " + excerpt(name) + " begins behind its end");
    }
    names_.push_back(std::move(name));
    offsets_.push_back(static_cast<std::int64_t>(offset));
  }
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (offsets_[i] >= cursor.offset()) continue;
    throw_damaged("the sequence " + excerpt(names_[i]) + " begins inside its index");
  }
  records_.resize(names_.size());
}

TwoBitFile::Record& TwoBitFile::record(std::size_t sequence) {
  auto& record = records_[sequence];
  if (!record) record = std::make_unique<Record>(read_record(sequence));
  return *record;
}

TwoBitFile::Record TwoBitFile::read_record(std::size_t sequence) const {
  Cursor cursor(*this, offsets_[sequence]);
  Record record;
  record.length = cursor.number<std::uint32_t>();
  for (auto* const stretches : {&record.unknown, &record.lower}) {
    const auto n = cursor.number<std::uint32_t>();
    const auto starts = cursor.numbers(n);
    const auto sizes = cursor.numbers(n);
    std::int64_t filled = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t end = std::int64_t{starts[i]} + sizes[i];
      if (starts[i] < filled || end > record.length) {
        throw_damaged("stretches of N or of lower case in the sequence " +
                      excerpt(names_[sequence]) + " overlap, or leave it");
      }
      stretches->push_back({starts[i], static_cast<std::uint32_t>(end)});
      filled = end;
    }
  }
  cursor.number<std::uint32_t>();  // reserved
  cursor.require((record.length + kBasesPerByte - 1) / kBasesPerByte);
  record.bases_at = cursor.offset();
  return record;
}

void TwoBitFile::read(std::size_t sequence, std::int64_t start, std::size_t n, char* out) {
  const Record& of = record(sequence);
  unpack(of, start, n, out);
  const std::int64_t end = start + static_cast<std::int64_t>(n);
  const auto for_each_base = [&](const std::vector<Stretch>& stretches, auto change) {
    auto stretch = std::upper_bound(stretches.begin(), stretches.end(), start,
                                    [](auto position, const auto& s) { return position < s.end; });
    for (; stretch != stretches.end() && stretch->start < end; ++stretch) {
      const std::int64_t to = std::min<std::int64_t>(stretch->end, end);
      for (auto i = std::max<std::int64_t>(stretch->start, start); i < to; ++i) {
        change(out[i - start]);
      }
    }
  };
  for_each_base(of.unknown, [](char& c) { c = 'N'; });
  for_each_base(of.lower, [](char& c) { c = static_cast<char>(c | 0x20); });
}

void TwoBitFile::unpack(const Record& record, std::int64_t start, std::size_t n, char* out) {
  const std::int64_t end = start + static_cast<std::int64_t>(n);
  for (std::int64_t position = start; position < end;) {
    const std::int64_t byte = record.bases_at + position / kBasesPerByte;
    if (window_at_ != byte / kWindow * kWindow) {
      window_at_ = byte / kWindow * kWindow;
      window_.resize(static_cast<std::size_t>(std::min(kWindow, file_.size() - window_at_)));
      file_.read_at(window_.data(), window_.size(), window_at_);
    }
    const std::int64_t in_window = window_at_ + kWindow - record.bases_at;  // bytes
    const std::int64_t to = std::min(end, in_window * kBasesPerByte);
    for (; position < to; ++position) {
      const std::int64_t at = record.bases_at + position / kBasesPerByte - window_at_;
      const auto shift = 6 - 2 * (position % kBasesPerByte);  // the first base has the highest bits
      *out++ = "TCAG"[window_[static_cast<std::size_t>(at)] >> shift & 3];
    }
  }
}

bool is_twobit(const std::string& path) {
  const InputFile file(path);
  std::uint32_t signature = 0;
  if (file.size() < static_cast<std::int64_t>(sizeof signature)) return false;
  file.read_at(reinterpret_cast<char*>(&signature), sizeof signature, 0);
  return signature == kSignature || signature == swapped(kSignature);
}

bool read_twobit(const std::string& path, const FastaSink& sink, JobControl& control,
                 const TaskContext& context, const std::function<bool()>& enough) {
  constexpr std::int64_t piece = std::int64_t{1} << 18;
  TwoBitFile file(path, context.inputs());
  std::string bases;
  for (std::size_t i = 0; i < file.names().size(); ++i) {
    sink.begin(file.names()[i], 0);
    for (std::int64_t start = 0; start < file.length(i); start += piece) {
      context.throw_if_stopped();
      if (enough()) return false;
      bases.resize(static_cast<std::size_t>(std::min(piece, file.length(i) - start)));
      file.read(i, start, bases.size(), bases.data());
      sink.bases(bases);
      control.advance(static_cast<std::int64_t>(bases.size()) / kBasesPerByte);
    }
  }
  file.check_unchanged();
  return true;
}

void read_genome(const std::string& path, const FastaSink& sink, JobControl& control,
                 const TaskContext& context) {
  if (is_twobit(path)) {
    read_twobit(path, sink, control, context);
  } else {
    read_fasta(path, sink, control, context);
  }
}

}  // namespace ancify
