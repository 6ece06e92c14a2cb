// Dense kernels that stay between jobs: the next fit or scan of the same genotypes finds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/genotypes/genotype_matrix.h"

namespace ancify::reml {

// The weight of a variant in a component; variants and components count from 0.
struct ComponentWeight {
  std::int64_t variant;
  int component;
  double weight;
};

// What kernels of one file of genotypes depend on.
struct KernelSource {
  GenotypeSelection chosen;
  std::vector<ComponentWeight> weights;
  int components = 0;
  double scale_power = 0;
};

class KeptKernels {
 public:
  // Forgets the kernels of another source. Keeps none if all of the source's would take more bytes.
  void begin(KernelSource source, std::int64_t most_bytes);
  // Of n x n numbers. Null if it is not kept.
  const double* find(int component) const;
  // Copies it, if there is room.
  void keep(int component, const double* kernel);

 private:
  std::size_t size() const { return source_.chosen.samples.size() * source_.chosen.samples.size(); }

  KernelSource source_;
  bool has_room_ = false;
  std::vector<std::vector<double>> kernels_;  // empty where it is not kept
};

}  // namespace ancify::reml
