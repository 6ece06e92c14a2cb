// Images of distance maps for networks, intact or corrupted for training.
#pragma once

#include <cstdint>
#include <vector>

#include "core/autoencoder/forms.h"

namespace ancify::autoencoder {

// Maps of many cells: pairs x cells, as in chromatin/map_pairs.h, with NaN for unobserved pairs.
// `structures`: points x 3 x cells, with NaN for absent points; may be null if all pairs are
// observed and no map is corrupted.
struct Maps {
  std::int64_t points = 0;
  std::int64_t cells = 0;
  const double* distances = nullptr;
  const double* structures = nullptr;
};

// The corruption of maps: each point is hidden (to inpaint) or moved (to denoise) with probability
// `share`. It moves by a normal step, whose standard deviation along each axis is the cell's radius
// of gyration. Random numbers are a function of seed, stream, cell and point.
struct Corruption {
  double share = 0;
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
};

class ImageMaker {
 public:
  // Distances are divided by `unit`.
  ImageMaker(const Maps& maps, const Form& form, double unit)
      : maps_(maps), form_(form), unit_(unit) {}

  // An input of the network: distances, and for inpainting a mask of observed pairs. Unobserved
  // pairs have the structure's distance, with absent points on the line between their neighbours in
  // the chain.
  void make_input(std::int64_t cell, float* image) const;
  // The input of a corrupted map. A cell with fewer than four points left stays intact.
  void make_corrupted(std::int64_t cell, const Corruption& corruption, float* image) const;
  // The desired output: NaN for unobserved pairs, and outside the map.
  void make_target(std::int64_t cell, float* image) const;

 private:
  struct Chain;
  void draw(std::int64_t cell, const Chain& chain, float* image) const;
  Chain chain_of(std::int64_t cell) const;

  Maps maps_;
  Form form_;
  double unit_;
};

}  // namespace ancify::autoencoder
