// Inputs that several kernels have in common: related sequences, alignments, trees and models.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "../simulate.h"
#include "core/ancestry/phylogeny/substitution_model.h"
#include "core/ancestry/phylogeny/tree.h"
#include "core/device/backend.h"
#include "core/genome/lengths.h"
#include "core/genome/packed.h"
#include "core/genome/sequence_source.h"
#include "level.h"

namespace ancify::bench {

// One thread, and the best instructions that the processor has. Valgrind's has AVX2 at most.
inline Backend one_thread() {
  Backend backend;
  backend.simd = kernel_level();
  return backend;
}

// n positions of related species; `percent` of each one's bases are drawn anew.
inline std::vector<std::string> related_sequences(std::size_t species, std::size_t n,
                                                  unsigned percent) {
  std::mt19937 random(7);
  std::vector<std::string> sequences(species, std::string(n, 'N'));
  for (std::size_t i = 0; i < n; ++i) {
    const char usual = "ACGT"[(random() >> 8) % 4];
    for (auto& bases : sequences) {
      const auto drawn = random() >> 8;
      bases[i] = drawn % 100 < percent ? "ACGTN"[drawn / 100 % 5] : usual;
    }
  }
  return sequences;
}

inline std::string packed(const std::string& bases) {
  std::string result(packed_size(bases.size()), '\0');
  pack_bases(bases.data(), bases.size(), 0, &result[0], kernel_level());
  return result;
}

inline std::vector<std::string> packed(const std::vector<std::string>& sequences) {
  std::vector<std::string> result;
  for (const auto& bases : sequences) result.push_back(packed(bases));
  return result;
}

// `sequences` have to stay.
inline SequenceSources packed_sources(const std::vector<std::string>& sequences) {
  SequenceSources sources;
  for (const auto& bases : sequences) {
    sources.push_back(memory_source(bases.data(), SequenceForm::kPacked));
  }
  return sources;
}

// An outgroup's alignment, as AXT.
inline std::string alignment_text(const Outgroup& outgroup, unsigned seed,
                                  const std::vector<Chromosome>& chromosomes) {
  std::string text;
  Simulator simulator(outgroup, seed);
  for (const auto& chromosome : chromosomes) {
    simulator.chromosome(chromosome, [&](const std::string& block) { text += block; });
  }
  return text;
}

inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline void write_gzip(const std::string& path, const std::string& text) {
  gzFile out = gzopen(path.c_str(), "wb1");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  if (gzclose(out) != Z_OK) throw std::runtime_error("can't write " + path);
}

// (((focal, 0), 1), 2), ...
inline Tree ladder(int species) {
  std::vector<TreeNode> nodes = {{kNoParent, 0, kNoLeaf, ""}};
  int above = 0;
  for (int leaf = species - 1; leaf > 0; --leaf) {
    nodes.push_back({above, 0.004 * (leaf + 1), leaf, ""});
    nodes.push_back({above, 0.004, kNoLeaf, ""});
    above = static_cast<int>(nodes.size()) - 1;
  }
  nodes.push_back({above, 0.006, 0, ""});
  nodes.push_back({above, 0.006, kFocalLeaf, ""});
  return Tree(nodes, species);
}

// HKY85
inline SubstitutionRates usual_rates() {
  SubstitutionRates rates;
  rates.exchangeabilities = {1, 4, 1, 1, 4, 1};
  rates.frequencies = {0.3, 0.2, 0.2, 0.3};
  return rates;
}

}  // namespace ancify::bench
