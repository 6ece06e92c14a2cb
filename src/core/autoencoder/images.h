// Images of distance maps for networks: as they are, or spoilt for training.
#pragma once

#include <cstdint>
#include <vector>

#include "core/autoencoder/forms.h"

namespace ancify::autoencoder {

// Maps of many cells: pairs x cells, as in chromatin/map_pairs.h, with NaN for pairs that were not
// seen. `structures`: points x 3 x cells, with NaN for points that are absent. It may be null if
// all pairs were seen and no map is spoilt.
struct Maps {
  std::int64_t points = 0;
  std::int64_t cells = 0;
  const double* distances = nullptr;
  const double* structures = nullptr;
};

// How maps are spoilt: each point is hidden (to inpaint) or moved (to denoise) with the chance
// `share`. It moves by a normal step, whose deviation along each axis is the cell's radius of
// gyration. Random numbers are a function of seed, stream, cell and point.
struct Spoiling {
  double share = 0;
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
};

class ImageMaker {
 public:
  // Distances are divided by `unit`.
  ImageMaker(const Maps& maps, const Form& form, double unit)
      : maps_(maps), form_(form), unit_(unit) {}

  // An input of the network: distances, and for inpainting 1 where a pair was seen. Pairs that were
  // not seen have the distance of the structure, with absent points on the line between their
  // neighbours on the chain.
  void make_input(std::int64_t cell, float* image) const;
  // The same of a map that is spoilt. A cell with fewer than four points left stays as it is.
  void make_spoilt(std::int64_t cell, const Spoiling& spoiling, float* image) const;
  // What the network should give: NaN for pairs that were not seen, and beside the map.
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
