// Makes images of distance maps, and corrupts them: points are hidden, or moved and remeasured.
#include "core/autoencoder/images.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/chromatin/map_pairs.h"
#include "core/exec/philox.h"

namespace ancify::autoencoder {

// The points of a cell. Touched points have left their observed positions, so their pairs are
// remeasured.
struct ImageMaker::Chain {
  std::array<std::vector<double>, 3> axes;
  std::vector<bool> touched;

  bool known() const { return !axes[0].empty(); }
  bool seen(std::size_t i) const { return !std::isnan(axes[0][i]); }
  void hide(std::size_t i) {
    for (std::vector<double>& axis : axes) axis[i] = std::numeric_limits<double>::quiet_NaN();
    touched[i] = true;
  }
  double distance(std::size_t i, std::size_t j) const {
    double square = 0;
    for (const std::vector<double>& axis : axes)
      square += (axis[i] - axis[j]) * (axis[i] - axis[j]);
    return std::sqrt(square);
  }
};

namespace {

// Absent points are placed on the line between their nearest present neighbours or, at an end, at
// the nearest present point.
void fill_gaps(std::vector<double>& axis) {
  const std::size_t n = axis.size();
  std::size_t last = n;  // the last present point, or n
  for (std::size_t i = 0; i < n; ++i) {
    if (std::isnan(axis[i])) continue;
    const std::size_t first = last == n ? 0 : last + 1;
    for (std::size_t k = first; k < i; ++k) {
      const double share = static_cast<double>(k - last) / static_cast<double>(i - last);
      axis[k] = last == n ? axis[i] : axis[last] + (axis[i] - axis[last]) * share;
    }
    last = i;
  }
  if (last == n) return;
  std::fill(axis.begin() + static_cast<std::ptrdiff_t>(last) + 1, axis.end(), axis[last]);
}

double uniform(std::uint32_t bits) { return (bits + 0.5) * 0x1p-32; }

// Three normal deviates, by the Box-Muller transform of uniform ones.
std::array<double, 3> normal_numbers(const PhiloxBlock& bits) {
  constexpr double two_pi = 6.283185307179586;
  const auto radius = [](double u) { return std::sqrt(-2 * std::log(u)); };
  const double first = radius(uniform(bits[0]));
  const double angle = two_pi * uniform(bits[1]);
  return {first * std::cos(angle), first * std::sin(angle),
          radius(uniform(bits[2])) * std::cos(two_pi * uniform(bits[3]))};
}

}  // namespace

ImageMaker::Chain ImageMaker::chain_of(std::int64_t cell) const {
  Chain chain;
  const auto n = static_cast<std::size_t>(maps_.points);
  chain.touched.assign(n, false);
  if (maps_.structures == nullptr) return chain;
  const double* from = maps_.structures + cell * 3 * maps_.points;
  for (std::vector<double>& axis : chain.axes) {
    axis.assign(from, from + maps_.points);
    from += maps_.points;
  }
  return chain;
}

void ImageMaker::draw(std::int64_t cell, const Chain& chain, float* image) const {
  const auto n = static_cast<std::size_t>(maps_.points);
  const auto size = static_cast<std::size_t>(form_.size());
  const bool tells_seen = form_.of_task().channels == 2;
  std::fill_n(image, form_.of_task().channels * form_.size() * form_.size(), 0.0F);
  Chain filled = chain;
  for (std::vector<double>& axis : filled.axes) fill_gaps(axis);
  const double* map = maps_.distances + cell * chromatin::pairs_of(maps_.points);
  for (std::size_t j = 1; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      const double given = *map++;
      const bool seen = !std::isnan(given) && !chain.touched[i] && !chain.touched[j];
      const double distance = seen ? given : filled.distance(i, j);
      for (const std::size_t at : {i * size + j, j * size + i}) {
        image[at] = static_cast<float>(distance / unit_);
        if (tells_seen && seen) image[size * size + at] = 1;
      }
    }
  }
}

void ImageMaker::make_input(std::int64_t cell, float* image) const {
  draw(cell, chain_of(cell), image);
}

void ImageMaker::make_corrupted(std::int64_t cell, const Corruption& corruption,
                                float* image) const {
  constexpr std::size_t fewest = 4;
  Chain chain = chain_of(cell);
  if (corruption.share == 0 || !chain.known()) {
    draw(cell, chain, image);
    return;
  }
  const auto n = static_cast<std::size_t>(maps_.points);
  const auto random = [&](std::size_t i, std::uint64_t which) {
    const auto place = static_cast<std::uint64_t>(cell) * n + i;
    return philox(corruption.seed, corruption.stream, 2 * place + which);
  };
  std::vector<std::size_t> chosen;
  std::size_t seen = 0;
  std::array<double, 3> sums = {};
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!chain.seen(i)) continue;
    ++seen;
    for (std::size_t k = 0; k < 3; ++k) {
      sums[k] += chain.axes[k][i];
      squares += chain.axes[k][i] * chain.axes[k][i];
    }
    if (uniform(random(i, 0)[0]) < corruption.share) chosen.push_back(i);
  }
  if (seen < chosen.size() + fewest) chosen.clear();
  const auto count = static_cast<double>(seen);
  double square = squares / count;
  for (const double sum : sums) square -= sum / count * (sum / count);
  const double radius = std::sqrt(std::max(square, 0.0));
  for (const std::size_t i : chosen) {
    if (form_.task == Task::kInpaint) {
      chain.hide(i);
    } else {
      const std::array<double, 3> step = normal_numbers(random(i, 1));
      for (std::size_t k = 0; k < 3; ++k) chain.axes[k][i] += radius * step[k];
      chain.touched[i] = true;
    }
  }
  draw(cell, chain, image);
}

void ImageMaker::make_target(std::int64_t cell, float* image) const {
  const auto size = static_cast<std::size_t>(form_.size());
  std::fill_n(image, size * size, std::numeric_limits<float>::quiet_NaN());
  const double* map = maps_.distances + cell * chromatin::pairs_of(maps_.points);
  for (std::size_t j = 1; j < static_cast<std::size_t>(maps_.points); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      image[i * size + j] = image[j * size + i] = static_cast<float>(*map++ / unit_);
    }
  }
}

}  // namespace ancify::autoencoder
