// Projects four species of a MAF from memory into memory.
#include <algorithm>

#include "core/ancestry/projection/projection.h"
#include "inputs.h"
#include "kernel.h"
#include "level.h"

namespace ancify::bench {

namespace {

constexpr std::size_t kLength = 300'000;
const std::vector<std::string> kNames = {"focal", "a", "b", "c", "d"};

// Blocks of up to 1,000 columns, with a gap of three in each row of an outgroup.
std::string maf_text() {
  const auto sequences = related_sequences(kNames.size(), kLength, 4);
  std::mt19937 random(11);
  std::string text = "##maf version=1\n";
  for (std::size_t at = 0; at < kLength;) {
    const std::size_t n = std::min<std::size_t>(100 + random() % 900, kLength - at);
    text += "a score=1\n";
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      std::string columns = sequences[i].substr(at, n);
      std::size_t size = n;
      if (i > 0 && n > 10) {
        columns.replace(random() % (n - 10), 3, "---");
        size -= 3;
      }
      text += "s " + kNames[i] + ".chr1 " + std::to_string(at) + " " + std::to_string(size) +
              " + " + std::to_string(kLength) + " " + columns + "\n";
    }
    text += "\n";
    at += n;
  }
  return text;
}

}  // namespace

std::function<void()> make_kernel(const std::string&) {
  return [text = maf_text()] {
    const std::vector<Chromosome> chromosomes = {{"chr1", kLength}};
    std::vector<std::unique_ptr<MemoryStore>> stores;
    std::vector<ProjectionTarget> targets;
    for (std::size_t i = 1; i < kNames.size(); ++i) {
      stores.push_back(std::make_unique<MemoryStore>(chromosomes));
      targets.push_back({kNames[i], stores.back().get()});
    }
    const std::string name = "memory";
    ProjectionOptions options;
    options.simd = kernel_level();
    options.focal_name = kNames[0];
    options.focal_chromosomes = {"chr1"};
    const TaskContext context;
    AlignmentProjector projector(name, targets, chromosomes, options, context);
    projector.consume(text, true);
    projector.finish();
  };
}

}  // namespace ancify::bench
