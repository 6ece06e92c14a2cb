// Images in the layout of the host's convolutions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/exec/threads.h"
#include "core/nn/network.h"
#include "core/nn/products.h"

namespace ancify {

inline std::int64_t filled_up(std::int64_t columns) {
  return (columns + kWholeColumns - 1) / kWholeColumns * kWholeColumns;
}

// The offsets of n consecutive rows.
inline std::vector<std::int64_t> rows_of(std::int64_t n, std::int64_t stride) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) rows[static_cast<std::size_t>(i)] = i * stride;
  return rows;
}

// Uninitialised values, to be written before they are read.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::int64_t n) : numbers_(new T[static_cast<std::size_t>(n)]) {}
  T* numbers() const { return numbers_.get(); }

 private:
  std::unique_ptr<T[]> numbers_;
};

// Some images of a batch, `size` x `size` pixels. Each channel has a zero after each row, and a row
// of zeros after each image. So neighbours of pixels are always at fixed offsets, even beyond an
// image's margin.
class ImageGroup {
 public:
  ImageGroup(std::int64_t size, std::int64_t number, std::int64_t most, std::int64_t all)
      : size_(size),
        number_(number),
        first_(number * most),
        images_(std::min(most, all - first_)) {}

  std::int64_t size() const { return size_; }
  std::int64_t number() const { return number_; }
  std::int64_t first() const { return first_; }
  std::int64_t images() const { return images_; }

  std::int64_t stride() const { return size_ + 1; }  // of rows
  // Columns of a channel, with zero padding
  std::int64_t columns() const { return filled_up(images_ * stride() * stride()); }

  // Copies pixels from consecutive channels without margins.
  template <class T>
  void write(const T* from, std::int64_t channels, Batch<T>& to) const {
    for (std::int64_t channel = 0; channel < channels; ++channel, from += columns()) {
      for (std::int64_t i = 0; i < images_; ++i) {
        const T* row = from + i * stride() * stride();
        T* pixels = to.row(first_ + i) + channel * size_ * size_;
        for (std::int64_t k = 0; k < size_; ++k, row += stride(), pixels += size_) {
          std::copy_n(row, size_, pixels);
        }
      }
    }
  }

 private:
  std::int64_t size_;
  std::int64_t number_;
  std::int64_t first_;
  std::int64_t images_;
};

// Groups have many pixels, but few enough images for threads to share. They do not depend on
// threads.
inline std::int64_t images_of_group(std::int64_t size) {
  constexpr std::int64_t pixels = 1024;
  constexpr std::int64_t most = 8;
  return std::clamp<std::int64_t>(pixels / (size * size), 1, most);
}
inline std::int64_t image_groups(std::int64_t size, std::int64_t images) {
  return (images + images_of_group(size) - 1) / images_of_group(size);
}

// Calls part(group) on all groups, which idle threads may take.
template <class Part>
void for_image_groups(const TaskContext& context, std::int64_t size, std::int64_t images,
                      Part part) {
  context.share(image_groups(size, images), [&](std::int64_t number) {
    part(ImageGroup(size, number, images_of_group(size), images));
  });
}

// Channels of a group, with margins of zeros. The patches of all pixels form a matrix with one row
// per channel and neighbour. Its rows overlap in memory, so none is copied.
template <class T>
class PaddedImages {
 public:
  PaddedImages(const ImageGroup& group, const Batch<T>& from, std::int64_t channels)
      : group_(group), channels_(channels), numbers_(channels * length()) {
    for (std::int64_t channel = 0; channel < channels; ++channel) read(from, channel);
  }

  const ImageGroup& group() const { return group_; }
  const T* numbers() const { return numbers_.numbers(); }

  // The offsets of patch rows: for each channel, the pixels to the upper left, above, ..., to the
  // lower right.
  std::vector<std::int64_t> patch_rows() const {
    std::vector<std::int64_t> rows;
    for (std::int64_t k = 0; k < 9 * channels_; ++k) {
      rows.push_back(k / 9 * length() + k % 9 / 3 * group_.stride() + k % 3);
    }
    return rows;
  }

  // One row per pixel and one column per channel, with zeros in the other columns.
  Scratch<T> transposed(std::int64_t columns) const {
    constexpr std::int64_t kBlock = kWholeColumns;
    Scratch<T> to(group_.columns() * columns);
    for (std::int64_t first = 0; first < columns; first += kBlock) {
      const std::int64_t n = std::min(kBlock, channels_ - first);
      for (std::int64_t place = 0; place < group_.columns(); ++place) {
        T* const row = to.numbers() + place * columns + first;
        for (std::int64_t c = 0; c < n; ++c) row[c] = first_pixel(first + c)[place];
        for (std::int64_t c = n; c < kBlock; ++c) row[c] = 0;
      }
    }
    return to;
  }

  // The sum of a channel, in lanes that compilers vectorise.
  T sum(std::int64_t channel) const {
    const T* const numbers = first_pixel(channel);
    T lanes[kWholeColumns] = {};
    for (std::int64_t i = 0; i < group_.columns(); i += kWholeColumns) {
      for (std::int64_t lane = 0; lane < kWholeColumns; ++lane) lanes[lane] += numbers[i + lane];
    }
    T sum = 0;
    for (const T lane : lanes) sum += lane;
    return sum;
  }

 private:
  std::int64_t margin() const { return group_.stride() + 1; }
  std::int64_t length() const { return group_.columns() + 2 * margin(); }
  const T* first_pixel(std::int64_t channel) const {
    return numbers() + channel * length() + margin();
  }

  void read(const Batch<T>& from, std::int64_t channel) {
    const std::int64_t size = group_.size();
    T* const begin = numbers_.numbers() + channel * length();
    T* to = std::fill_n(begin, margin(), T{0});
    for (std::int64_t i = 0; i < group_.images(); ++i) {
      const T* pixels = from.row(group_.first() + i) + channel * size * size;
      for (std::int64_t k = 0; k < size; ++k, pixels += size) {
        to = std::copy_n(pixels, size, to);
        *to++ = 0;
      }
      to = std::fill_n(to, group_.stride(), T{0});
    }
    std::fill(to, begin + length(), T{0});
  }

  ImageGroup group_;
  std::int64_t channels_;
  Scratch<T> numbers_;
};

}  // namespace ancify
