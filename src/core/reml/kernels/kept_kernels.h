// Dense kernels that persist between jobs, for the next fit or scan of the same genotypes.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "core/genotypes/genotype_matrix.h"

namespace ancify::reml {

// The weight of a variant in a component; variants and components count from 0.
struct ComponentWeight {
  std::int64_t variant;
  int component;
  double weight;
};

// The settings that determine the kernels of one genotype set.
struct KernelSource {
  GenotypeSelection chosen;
  std::vector<ComponentWeight> weights;
  double scale_power = 0;
};

class KeptKernels {
 public:
  // The kernel of a component, n x n; null if it is not kept. Valid until keep() or clear().
  const double* find(const KernelSource& source, int component);
  // Copies an n x n kernel. Drops the least recently used kernels if all together exceed
  // `most_bytes`.
  void keep(const std::shared_ptr<const KernelSource>& source, int component, const double* kernel,
            std::int64_t most_bytes);
  void clear() { kernels_.clear(); }

 private:
  struct Kernel {
    std::shared_ptr<const KernelSource> source;
    int component;
    std::vector<double> values;
  };
  void make_room(std::int64_t bytes, std::int64_t most_bytes);

  std::list<Kernel> kernels_;  // most recently used first
};

// The store in which a job keeps its kernels, and its limit in bytes.
struct KernelKeeper {
  KeptKernels* kernels = nullptr;  // null: keeps none
  std::int64_t most_bytes = 0;
};

}  // namespace ancify::reml
