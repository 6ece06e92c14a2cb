// Projects the text of an alignment in several ways, and returns the result as text.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/ancestry/projection/projection.h"
#include "core/genome/packed.h"
#include "core/genome/sequence_store.h"
#include "harness.h"

namespace ancify::fuzz {

inline const std::vector<Chromosome> kChromosomes = {{"chr1", 200}, {"chr2", 61}, {"one", 1}};

enum class Kept { kMemory, kPacked, kFiles };

// A way to project. The result must not depend on it.
struct Way {
  SimdLevel simd = SimdLevel::kScalar;
  std::size_t chunk = 1 << 11;  // longer than any input
  Kept kept = Kept::kMemory;
  bool insertions = false;
};

inline Way any_way(Choices& choices) {
  constexpr std::size_t files_are_slow = 64;
  const Kept kept = choices.one_in(files_are_slow) ? Kept::kFiles
                    : choices.one_in(2)            ? Kept::kPacked
                                                   : Kept::kMemory;
  return {choices.simd(), choices.chunk(), kept, choices.one_in(2)};
}

// The sequences of one species, in the form of `way`.
class KeptSequences {
 public:
  KeptSequences(const Way& way, std::size_t species)
      : kept_(way.kept), folder_(scratch() + "/" + std::to_string(species)) {
    if (kept_ == Kept::kMemory) {
      store_ = std::make_unique<MemoryStore>(kChromosomes);
    } else if (kept_ == Kept::kPacked) {
      store_ = std::make_unique<PackedStore>(kChromosomes, way.simd);
    } else {
      store_ = std::make_unique<FileStore>(folder_, kChromosomes);
    }
  }
  SequenceStore* store() { return store_.get(); }

  // The bases as text. With `codes` bases lose their case, as packed bases do.
  std::string text(bool codes) const {
    std::string text;
    for (std::size_t i = 0; i < kChromosomes.size(); ++i) {
      text += std::string(i == 0 ? "" : " ") + of_chromosome(i, codes);
    }
    return text;
  }
  bool packed() const { return kept_ == Kept::kPacked; }

 private:
  static const std::string& scratch() {
    static const std::string path =
        (std::filesystem::temp_directory_path() / ("fuzz-" + std::to_string(getpid()))).string();
    return path;
  }

  std::string of_chromosome(std::size_t i, bool codes) const {
    const auto& [name, length] = kChromosomes[i];
    const auto n = static_cast<std::size_t>(length);
    std::string bases;
    if (kept_ == Kept::kPacked) {
      const char* const packed = static_cast<const PackedStore&>(*store_).packed(i);
      for (std::size_t k = 0; k < n; ++k) bases += upper_base(packed_code(packed, k));
      return bases;
    }
    if (kept_ == Kept::kMemory) {
      bases.assign(static_cast<const MemoryStore&>(*store_).bases(i), n);
    } else {
      std::ifstream in(sequence_path(folder_, name), std::ios::binary);
      const std::string file{std::istreambuf_iterator<char>(in), {}};
      require(file.size() == n + name.size() + 3 && file.back() == '\n', "a file's size");
      bases = file.substr(name.size() + 2, n);
    }
    if (codes) {
      for (char& c : bases) c = upper_base(base_code(c));
    }
    return bases;
  }

  Kept kept_;
  std::string folder_;
  std::unique_ptr<SequenceStore> store_;
};

inline std::string text_of(const ProjectionReport& report) {
  std::string text;
  for (const auto n : report.blocks) text += std::to_string(n) + " ";
  text += "passed over " + std::to_string(report.passed_over);
  for (const auto& name : report.other_names) text += " " + name;
  text += ", bad " + std::to_string(report.bad);
  for (const auto& example : report.bad_examples) {
    text += "\n" + std::to_string(example.line) + ": " + example.problem;
  }
  return text + "\nduplicates " + std::to_string(report.duplicates) + "\nshared " +
         std::to_string(report.shared) + "\n";
}

// The bases and the report of each species; `names` are the outgroups' names in a MAF. With
// options.focal_row, the focal species comes last.
inline std::string project(std::string_view text, const std::vector<std::string>& names,
                           ProjectionOptions options, const Way& way, bool codes) {
  options.simd = way.simd;
  options.insertions = way.insertions;
  std::vector<std::unique_ptr<KeptSequences>> kept;
  std::vector<ProjectionTarget> targets;
  const auto add = [&](const std::string& name, bool focal) {
    kept.push_back(std::make_unique<KeptSequences>(way, kept.size()));
    targets.push_back({name, kept.back()->store(), focal});
  };
  for (const auto& name : names) add(name, false);
  if (options.focal_row) add("", true);
  return outcome([&] {
    const std::string file = "input";
    const TaskContext context;
    AlignmentProjector projector(file, targets, kChromosomes, options, context);
    read_in_chunks(text, way.chunk, [&](std::string_view piece, bool last) {
      return projector.consume(piece, last);
    });
    const auto reports = projector.finish();
    std::string result;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      kept[i]->store()->commit({});
      result += kept[i]->text(codes) + "\n" + text_of(reports[i]);
    }
    return result;
  });
}

}  // namespace ancify::fuzz
