// Steps of training: parameters move against their gradients.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/exec/threads.h"
#include "core/nn/network.h"

namespace ancify {

// Calls move(parameter, from, end) on pieces of all parameters, which idle threads may take. Each
// parameter moves independently, so pieces do not affect the result.
template <class T>
void move_in_pieces(
    const std::vector<Parameter<T>*>& parameters, const TaskContext& context,
    const std::function<void(std::size_t parameter, std::size_t from, std::size_t end)>& move) {
  constexpr std::size_t kPiece = 1 << 16;
  struct Piece {
    std::size_t parameter;
    std::size_t from;
    std::size_t end;
  };
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::size_t n = parameters[i]->value.size();
    for (std::size_t from = 0; from < n; from += kPiece) {
      pieces.push_back({i, from, std::min(from + kPiece, n)});
    }
  }
  context.share(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i) {
    const Piece& piece = pieces[static_cast<std::size_t>(i)];
    move(piece.parameter, piece.from, piece.end);
  });
}

// One value per parameter, initially 0.
template <class T>
std::vector<std::vector<T>> zeros_of(const std::vector<Parameter<T>*>& parameters) {
  std::vector<std::vector<T>> zeros;
  zeros.reserve(parameters.size());
  for (const Parameter<T>* parameter : parameters) zeros.emplace_back(parameter->value.size());
  return zeros;
}

// Stochastic gradient descent: v = momentum v + g, w -= rate v.
template <class T>
class Sgd {
 public:
  Sgd(std::vector<Parameter<T>*> parameters, T momentum)
      : parameters_(std::move(parameters)), momentum_(momentum), speeds_(zeros_of(parameters_)) {}

  void step(T rate, const TaskContext& context) {
    move_in_pieces(parameters_, context, [&](std::size_t k, std::size_t from, std::size_t end) {
      T* const value = parameters_[k]->value.data();
      const T* const gradient = parameters_[k]->gradient.data();
      T* const speed = speeds_[k].data();
      for (std::size_t i = from; i < end; ++i) {
        speed[i] = momentum_ * speed[i] + gradient[i];
        value[i] -= rate * speed[i];
      }
    });
  }

 private:
  std::vector<Parameter<T>*> parameters_;
  T momentum_;
  std::vector<std::vector<T>> speeds_;
};

// Kingma and Ba (2015), ICLR, "Adam": m = 0.9 m + 0.1 g, v = 0.999 v + 0.001 g^2, and in step t
// w -= rate (m / (1 - 0.9^t)) / (sqrt(v / (1 - 0.999^t)) + 1e-8).
template <class T>
class Adam {
 public:
  explicit Adam(std::vector<Parameter<T>*> parameters)
      : parameters_(std::move(parameters)),
        means_(zeros_of(parameters_)),
        squares_(zeros_of(parameters_)) {}

  void step(T rate, const TaskContext& context) {
    ++steps_;
    const AdamFactors<T> factors(rate, steps_);
    move_in_pieces(parameters_, context, [&](std::size_t k, std::size_t from, std::size_t end) {
      T* const value = parameters_[k]->value.data();
      const T* const gradient = parameters_[k]->gradient.data();
      T* const mean = means_[k].data();
      T* const square = squares_[k].data();
      for (std::size_t i = from; i < end; ++i) {
        factors.move(gradient[i], value[i], mean[i], square[i]);
      }
    });
  }

 private:
  std::vector<Parameter<T>*> parameters_;
  std::vector<std::vector<T>> means_;
  std::vector<std::vector<T>> squares_;
  double steps_ = 0;
};

}  // namespace ancify
