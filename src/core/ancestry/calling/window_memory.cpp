// Takes memory for windows from a pool: on many machines fresh memory costs more than its use.
#include "core/ancestry/calling/window_memory.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/genome/packed.h"

namespace ancify {

namespace {

// A species' bases on a chromosome. Bases within one window are returned in place.
class WindowSource : public SequenceSource {
 public:
  WindowSource(const WindowMemory& memory, const Windows& windows, std::size_t chromosome,
               std::size_t species)
      : memory_(memory), windows_(windows), chromosome_(chromosome), species_(species) {}

  SequenceForm form() const override { return SequenceForm::kPacked; }

  const char* bases(std::int64_t start, std::size_t n, char* buffer) const override {
    const std::int64_t end = start + static_cast<std::int64_t>(n);
    if (windows_.at(chromosome_, start) == windows_.at(chromosome_, end - 1)) return at(start);
    for (std::int64_t from = start; from < end;) {
      const std::int64_t next = (from / windows_.positions() + 1) * windows_.positions();
      const auto here = static_cast<std::size_t>(std::min(next, end) - from);
      std::memcpy(buffer + (from - start) / 2, at(from), packed_size(here));
      from = next;
    }
    return buffer;
  }

 private:
  const char* at(std::int64_t position) const {
    const char* const packed = memory_.bases(windows_.at(chromosome_, position), species_);
    return (packed != nullptr ? packed : memory_.unknown()) + position % windows_.positions() / 2;
  }

  const WindowMemory& memory_;
  const Windows& windows_;
  std::size_t chromosome_;
  std::size_t species_;
};

}  // namespace

WindowMemory::WindowMemory(const Windows& windows, std::size_t species, SimdLevel simd)
    : windows_(windows), species_(species), simd_(simd), buffers_(windows.size() * species) {
  std::size_t longest = 0;
  for (std::size_t w = 0; w < windows.size(); ++w) longest = std::max(longest, bytes(w));
  const std::string group(kPackedGroup, 'N');
  unknown_.resize(longest);
  pack_bases(group.data(), group.size(), 0, unknown_.data(), simd_);
  for (std::size_t at = kPackedHalf; at < longest; at += kPackedHalf) {
    std::copy_n(unknown_.data(), kPackedHalf, &unknown_[at]);
  }
}

std::size_t WindowMemory::length(std::size_t window) const {
  return static_cast<std::size_t>(windows_.end(window) - windows_.start(window));
}

Memory WindowMemory::take(std::size_t size) {
  if (size == packed_size(static_cast<std::size_t>(windows_.positions()))) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!free_.empty()) {
      auto bases = std::move(free_.back());
      free_.pop_back();
      return bases;
    }
  }
  return Memory(size);
}

bool WindowMemory::write(std::size_t window, std::size_t species, std::size_t offset,
                         const char* bases, std::size_t n) {
  Buffer& buffer = buffers_[window * species_ + species];
  const bool is_first = buffer.bases.data() == nullptr;
  if (is_first) {
    const std::size_t size = bytes(window);
    buffer.bases = take(size);
    used_ += static_cast<std::int64_t>(size);
  }
  fill_up_to(offset, buffer);
  pack_bases(bases, n, offset, buffer.bases.data(), simd_);
  buffer.end = std::max(buffer.end, offset + n);
  return is_first;
}

void WindowMemory::fill_up_to(std::size_t position, Buffer& buffer) const {
  static const std::string unknown(std::size_t{1} << 12, 'N');
  while (buffer.end < position) {
    const std::size_t n = std::min(unknown.size(), position - buffer.end);
    pack_bases(unknown.data(), n, buffer.end, buffer.bases.data(), simd_);
    buffer.end += n;
  }
}

void WindowMemory::read(std::size_t window, std::size_t species, std::size_t offset, char* letters,
                        std::size_t n) const {
  const char* const packed = bases(window, species);
  if (packed == nullptr) {
    std::fill_n(letters, n, 'N');
  } else {
    unpack_bases(packed, offset, n, letters);
  }
}

void WindowMemory::complete(std::size_t window) {
  for (std::size_t s = 0; s < species_; ++s) {
    Buffer& buffer = buffers_[window * species_ + s];
    if (buffer.bases.data() != nullptr) fill_up_to(length(window), buffer);
  }
}

std::int64_t WindowMemory::used(std::size_t window) const {
  std::int64_t used = 0;
  for (std::size_t s = 0; s < species_; ++s) {
    if (bases(window, s) != nullptr) used += static_cast<std::int64_t>(bytes(window));
  }
  return used;
}

void WindowMemory::release(std::size_t window) {
  const std::size_t size = bytes(window);
  const bool is_whole = size == packed_size(static_cast<std::size_t>(windows_.positions()));
  for (std::size_t s = 0; s < species_; ++s) {
    Buffer& buffer = buffers_[window * species_ + s];
    if (buffer.bases.data() == nullptr) continue;
    used_ -= static_cast<std::int64_t>(size);
    if (is_whole) free_.push_back(std::move(buffer.bases));
    buffer = {};
  }
}

SequenceSources WindowMemory::sources(std::size_t chromosome) const {
  SequenceSources sources;
  for (std::size_t s = 0; s < species_; ++s) {
    sources.push_back(std::make_unique<WindowSource>(*this, windows_, chromosome, s));
  }
  return sources;
}

WindowStore::WindowStore(WindowMemory& memory, const Windows& windows, std::size_t species,
                         Passage& passage, std::unique_ptr<SequenceStore> files)
    : memory_(memory),
      windows_(windows),
      species_(species),
      passage_(passage),
      files_(std::move(files)) {}

void WindowStore::write(std::size_t chromosome, std::int64_t position, const char* bases,
                        std::size_t n) {
  if (files_ != nullptr) files_->write(chromosome, position, bases, n);
  for_windows(chromosome, position, n,
              [&](std::size_t window, std::size_t offset, std::size_t done, std::size_t here) {
                write_in_window(window, offset, bases + done, here);
              });
}

void WindowStore::read(std::size_t chromosome, std::int64_t position, char* letters,
                       std::size_t n) {
  if (files_ != nullptr) return files_->read(chromosome, position, letters, n);
  for_windows(chromosome, position, n,
              [&](std::size_t window, std::size_t offset, std::size_t done, std::size_t here) {
                memory_.read(window, species_, offset, letters + done, here);
              });
}

template <class Use>
void WindowStore::for_windows(std::size_t chromosome, std::int64_t position, std::size_t n,
                              Use use) const {
  for (std::size_t done = 0; done < n;) {
    const std::int64_t at = position + static_cast<std::int64_t>(done);
    const std::int64_t offset = at % windows_.positions();
    const std::size_t here =
        std::min(n - done, static_cast<std::size_t>(windows_.positions() - offset));
    use(windows_.at(chromosome, at), static_cast<std::size_t>(offset), done, here);
    done += here;
  }
}

void WindowStore::write_in_window(std::size_t window, std::size_t offset, const char* bases,
                                  std::size_t n) {
  if (windows_.is_late(window)) {
    if (late_.empty() || late_.back() != window) late_.push_back(window);
  } else if (windows_.is_kept(window) && memory_.write(window, species_, offset, bases, n)) {
    begun_.push_back(window);
  }
}

void WindowStore::fill(std::size_t chromosome, std::int64_t position, std::int64_t n) {
  if (files_ != nullptr) files_->fill(chromosome, position, n);
}

void WindowStore::commit(const TaskContext& context) {
  if (files_ != nullptr) files_->commit(context);
}

std::vector<FileChecksum> WindowStore::checksums() const {
  return files_ != nullptr ? files_->checksums() : std::vector<FileChecksum>();
}

}  // namespace ancify
