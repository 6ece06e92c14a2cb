// Elementary operations of layers, losses and optimisers, written once for host and device. An
// operation is a grid: operator()(row, column) computes one part, and parts may run in any order.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/device/host_device.h"
#include "core/nn/products.h"

namespace ancify {

struct Grid {
  std::int64_t rows;
  std::int64_t columns;
  ANCIFY_HOST_DEVICE std::int64_t at(std::int32_t row, std::int32_t column) const {
    return std::int64_t{row} * columns + column;
  }
};

template <class Op>
void do_rows(const Op& op, std::int64_t first, std::int64_t end) {
  const auto columns = static_cast<std::int32_t>(op.columns);
  for (auto row = static_cast<std::int32_t>(first); row < static_cast<std::int32_t>(end); ++row) {
    for (std::int32_t column = 0; column < columns; ++column) op(row, column);
  }
}

// ---- Single values ------------------------------------------------------------------------------

// y = max(x, 0). NaN is preserved.
template <class T>
struct ReluOp : Grid {
  static constexpr const char* kName = "ReluOp";
  const T* x;
  T* y;
  ANCIFY_HOST_DEVICE void operator()(std::int32_t row, std::int32_t column) const {
    const std::int64_t i = at(row, column);
    y[i] = x[i] < 0 ? 0 : x[i];
  }
};
template <class T>
struct ReluSlopeOp : Grid {
  static constexpr const char* kName = "ReluSlopeOp";
  const T* y;
  const T* gradient;  // with respect to y
  T* to;              // the gradient with respect to x, here and below
  ANCIFY_HOST_DEVICE void operator()(std::int32_t row, std::int32_t column) const {
    const std::int64_t i = at(row, column);
    const T slope = gradient[i];  // read unconditionally, to avoid a branch
    to[i] = y[i] > 0 ? slope : 0;
  }
};

// y = log(1 + e^x), with the derivative 1 / (1 + e^-x).
template <class T>
struct SoftplusOp : Grid {
  static constexpr const char* kName = "SoftplusOp";
  const T* x;
  T* y;
  ANCIFY_HOST_DEVICE void operator()(std::int32_t row, std::int32_t column) const {
    const std::int64_t i = at(row, column);
    y[i] = (x[i] > 0 ? x[i] : 0) + std::log1p(std::exp(-std::fabs(x[i])));
  }
};
template <class T>
struct SoftplusSlopeOp : Grid {
  static constexpr const char* kName = "SoftplusSlopeOp";
  const T* x;
  const T* gradient;
  T* to;
  ANCIFY_HOST_DEVICE void operator()(std::int32_t row, std::int32_t column) const {
    const std::int64_t i = at(row, column);
    to[i] = gradient[i] / (1 + std::exp(-x[i]));
  }
};

// out = z + log(e^d - 1), without a large power. Rows of d may be longer than rows of z.
template <class T>
struct AddInverseSoftplusOp : Grid {
  static constexpr const char* kName = "AddInverseSoftplusOp";
  const T* z;
  const T* distances;
  std::int64_t stride;  // of distances
  T* out;
  ANCIFY_HOST_DEVICE void operator()(std::int32_t row, std::int32_t column) const {
    // The logarithm goes to minus infinity at 0.
    constexpr T least = static_cast<T>(1e-3);
    const T given = distances[row * stride + column];
    const T d = given < least ? least : given;
    const std::int64_t i = at(row, column);
    out[i] = z[i] + (d + std::log(-std::expm1(-d)));
  }
};

template <class T>
struct CopyRowsOp : Grid {
  static constexpr const char* kName = "CopyRowsOp";
  const T* from;
  std::int64_t from_stride;
  T* to;
  std::int64_t to_stride;
  ANCIFY_HOST_DEVICE void operator()(std::int32_t row, std::int32_t column) const {
    to[row * to_stride + column] = from[row * from_stride + column];
  }
};

// x += bias, in each row
template <class T>
struct AddRowOp : Grid {
  static constexpr const char* kName = "AddRowOp";
  const T* bias;
  T* x;
  ANCIFY_HOST_DEVICE void operator()(std::int32_t row, std::int32_t column) const {
    x[at(row, column)] += bias[column];
  }
};

// Adds up the parts of a layer's gradients. Each has rows of weights, which end with a bias.
template <class T>
struct AddPartsOp : Grid {
  static constexpr const char* kName = "AddPartsOp";
  const T* parts;
  std::int64_t n;
  T* weights;
  T* biases;
  ANCIFY_HOST_DEVICE void operator()(std::int32_t row, std::int32_t column) const {
    T sum = 0;
    for (std::int64_t k = 0; k < n; ++k) sum += parts[k * rows * columns + at(row, column)];
    if (column == columns - 1) {
      biases[row] = sum;
    } else {
      weights[row * (columns - 1) + column] = sum;
    }
  }
};

// ---- Images: a row of the grid is a row of pixels, or a channel ---------------------------------

// The maximum of each window of 2 x 2 pixels. Rows and columns refer to the output.
template <class T>
struct MaxPoolOp : Grid {
  static constexpr const char* kName = "MaxPoolOp";
  const T* x;
  T* y;
  ANCIFY_HOST_DEVICE void operator()(std::int32_t row, std::int32_t column) const {
    const T* const upper = x + 2 * (2 * row * columns + column);
    const T* const lower = upper + 2 * columns;
    T most = upper[0];
    most = upper[1] > most ? upper[1] : most;
    most = lower[0] > most ? lower[0] : most;
    y[at(row, column)] = lower[1] > most ? lower[1] : most;
  }
};
// The gradient goes to the first of the largest pixels.
template <class T>
struct MaxPoolSlopeOp : Grid {
  static constexpr const char* kName = "MaxPoolSlopeOp";
  const T* x;
  const T* gradient;
  T* to;
  ANCIFY_HOST_DEVICE void operator()(std::int32_t row, std::int32_t column) const {
    const std::int64_t first = 2 * (2 * row * columns + column);
    const std::int64_t below = first + 2 * columns;
    // True if a pixel is larger than all before it
    const bool second = x[first + 1] > x[first];
    const T of_two = second ? x[first + 1] : x[first];
    const bool third = x[below] > of_two;
    const T of_three = third ? x[below] : of_two;
    const bool fourth = x[below + 1] > of_three;
    // The gradient, and the remainder for earlier pixels
    const T slope = gradient[at(row, column)];
    const T to_three = fourth ? 0 : slope;
    const T to_two = third ? 0 : to_three;
    to[first] = second ? 0 : to_two;
    to[first + 1] = second ? to_two : 0;
    to[below] = third ? to_three : 0;
    to[below + 1] = fourth ? slope : 0;
  }
};

// Repeats each pixel 2 x 2 times. Rows and columns refer to the input.
template <class T>
struct UpsampleOp : Grid {
  static constexpr const char* kName = "UpsampleOp";
  const T* x;
  T* y;
  ANCIFY_HOST_DEVICE void operator()(std::int32_t row, std::int32_t column) const {
    const T value = x[at(row, column)];
    T* const window = y + 2 * (2 * row * columns + column);
    window[0] = window[1] = window[2 * columns] = window[2 * columns + 1] = value;
  }
};
template <class T>
struct UpsampleSlopeOp : Grid {
  static constexpr const char* kName = "UpsampleSlopeOp";
  const T* gradient;
  T* to;
  ANCIFY_HOST_DEVICE void operator()(std::int32_t row, std::int32_t column) const {
    const T* const window = gradient + 2 * (2 * row * columns + column);
    to[at(row, column)] = window[0] + window[1] + window[2 * columns] + window[2 * columns + 1];
  }
};

// The nearest symmetric image with a zero diagonal, of one channel: y = (x + x') / 2 off the
// diagonal.
template <class T>
struct SymmetricOp : Grid {
  static constexpr const char* kName = "SymmetricOp";
  const T* x;
  T* y;
  ANCIFY_HOST_DEVICE void operator()(std::int32_t row, std::int32_t column) const {
    const auto size = static_cast<std::int32_t>(columns);
    const std::int32_t in_image = row % size;
    const std::int64_t transposed = std::int64_t{row - in_image + column} * size + in_image;
    const std::int64_t i = at(row, column);
    y[i] = in_image == column ? 0 : (x[i] + x[transposed]) / 2;
  }
};

// ---- Convolutions -------------------------------------------------------------------------------

// Kernels process windows of 2 x 2 pixels.
struct PixelWindow {
  std::int32_t image;
  std::int32_t row;  // of its first pixel
  std::int32_t column;
};

// Images of some channels. The side is even.
struct ImageShape {
  std::int32_t channels;
  std::int32_t size;

  ANCIFY_HOST_DEVICE std::int32_t pixels() const { return size * size; }
  ANCIFY_HOST_DEVICE std::int32_t windows() const { return pixels() / 4; }
  ANCIFY_HOST_DEVICE std::int64_t start(std::int32_t image, std::int32_t channel) const {
    return (std::int64_t{image} * channels + channel) * pixels();
  }
  ANCIFY_HOST_DEVICE bool has(std::int32_t row, std::int32_t column) const {
    return row >= 0 && row < size && column >= 0 && column < size;
  }
  ANCIFY_HOST_DEVICE PixelWindow window(std::int32_t i) const {
    const std::int32_t in_image = i % windows();
    return {i / windows(), in_image / (size / 2) * 2, in_image % (size / 2) * 2};
  }
};

// A 3 x 3 convolution as in image_layers.h, or its adjoint, which has no biases; both take the
// convolution's `weights`. A row of the grid is a channel of an output image.
struct ConvolveOp : Grid {
  static constexpr const char* kName = "ConvolveOp";
  ImageShape in;
  const float* x;
  const float* weights;
  const float* biases;    // null for the adjoint
  std::int32_t channels;  // of the output
  float* y;

  ANCIFY_HOST_DEVICE float weight(std::int32_t to, std::int32_t from, std::int32_t k) const {
    return biases == nullptr ? weights[(std::int64_t{from} * channels + to) * 9 + 8 - k]
                             : weights[(std::int64_t{to} * in.channels + from) * 9 + k];
  }
  void operator()(std::int32_t row, std::int32_t column) const {
    const std::int32_t to = row % channels;
    float sum = biases == nullptr ? 0 : biases[to];
    for (std::int32_t from = 0; from < in.channels; ++from) {
      const float* const channel = x + in.start(row / channels, from);
      for (std::int32_t k = 0; k < 9; ++k) {
        const std::int32_t i = column / in.size + k / 3 - 1;
        const std::int32_t j = column % in.size + k % 3 - 1;
        if (in.has(i, j)) sum += weight(to, from, k) * channel[i * in.size + j];
      }
    }
    y[at(row, column)] = sum;
  }
};

// The gradients of a convolution's weights: sums over parts of kWindows windows. A row of the grid
// is one output channel of a part, and a column one weight; the last column is the bias.
struct WeightSumsOp : Grid {
  static constexpr const char* kName = "WeightSumsOp";
  static constexpr std::int32_t kWindows = 1024;  // of a part
  ImageShape in;
  const float* x;
  ImageShape out;
  const float* gradient;
  std::int32_t windows;  // of all images
  float* parts;

  ANCIFY_HOST_DEVICE std::int32_t end(std::int32_t part) const {
    const std::int32_t next = (part + 1) * kWindows;
    return next < windows ? next : windows;
  }
  void operator()(std::int32_t row, std::int32_t column) const {
    const std::int32_t part = row / out.channels;
    const std::int32_t from = column / 9;
    float sum = 0;
    for (std::int32_t i = part * kWindows; i < end(part); ++i) {
      const PixelWindow window = in.window(i);
      const float* const slopes = gradient + out.start(window.image, row % out.channels);
      for (std::int32_t pixel = 0; pixel < 4; ++pixel) {
        const std::int32_t down = window.row + pixel / 2;
        const std::int32_t right = window.column + pixel % 2;
        const float slope = slopes[down * in.size + right];
        if (from == in.channels) {
          sum += slope;
          continue;
        }
        const std::int32_t i_in = down + column % 9 / 3 - 1;
        const std::int32_t j_in = right + column % 3 - 1;
        if (!in.has(i_in, j_in)) continue;
        sum += slope * x[in.start(window.image, from) + std::int64_t{i_in} * in.size + j_in];
      }
    }
    parts[at(row, column)] = sum;
  }
};

// ---- Training -----------------------------------------------------------------------------------

// Squared differences from the known values of the target; unknown values are NaN. A row is an
// example of `width` values, and a column sums every kErrorLanes-th of them. The gradient, unless
// null, is `scale` times the differences.
constexpr std::int64_t kErrorLanes = 128;

template <class T>
struct SquaredErrorOp : Grid {
  static constexpr const char* kName = "SquaredErrorOp";
  const T* out;
  const T* target;
  std::int64_t width;
  double scale;
  T* gradient;
  double* sums;
  ANCIFY_HOST_DEVICE void operator()(std::int32_t row, std::int32_t column) const {
    double sum = 0;
    for (std::int64_t j = column; j < width; j += columns) {
      const std::int64_t i = row * width + j;
      const bool known = !std::isnan(target[i]);
      const double difference =
          known ? static_cast<double>(out[i]) - static_cast<double>(target[i]) : 0;
      sum += difference * difference;
      if (gradient != nullptr) gradient[i] = static_cast<T>(scale * difference);
    }
    sums[at(row, column)] = sum;
  }
};

// Adam's factors in step t: rate / (1 - 0.9^t), and 1 / (1 - 0.999^t).
template <class T>
struct AdamFactors {
  AdamFactors(T rate, double step)
      : of_mean(rate / static_cast<T>(1 - std::pow(0.9, step))),
        of_square(static_cast<T>(1 / (1 - std::pow(0.999, step)))) {}
  T of_mean;
  T of_square;

  ANCIFY_HOST_DEVICE void move(T gradient, T& value, T& mean, T& square) const {
    mean = static_cast<T>(0.9) * mean + static_cast<T>(0.1) * gradient;
    square = static_cast<T>(0.999) * square + static_cast<T>(0.001) * gradient * gradient;
    value -= of_mean * mean / (std::sqrt(square * of_square) + static_cast<T>(1e-8));
  }
};

// A step of Adam for n parameters.
template <class T>
struct AdamOp : Grid {
  static constexpr const char* kName = "AdamOp";
  AdamFactors<T> factors;
  std::int64_t n;
  const T* gradients;
  T* values;
  T* means;
  T* squares;
  ANCIFY_HOST_DEVICE void operator()(std::int32_t row, std::int32_t column) const {
    const std::int64_t i = at(row, column);
    if (i < n) factors.move(gradients[i], values[i], means[i], squares[i]);
  }
};

// ---- Products -----------------------------------------------------------------------------------

// Executed as a whole by a library.
struct MatrixProductOp {
  static constexpr const char* kName = "MatrixProductOp";
  ProductOf<float> product;
};

}  // namespace ancify
