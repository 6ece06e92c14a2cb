// Gram matrices of points.
#pragma once

#include <cstddef>
#include <vector>

namespace ancify::chromatin {

// Replaces distances, a symmetric n x n matrix, by the Gram matrix of the centred points: -J D^2 J
// / 2 with J = I - 11'/n.
void distances_to_gram(std::size_t n, std::vector<double>& distances);

}  // namespace ancify::chromatin
