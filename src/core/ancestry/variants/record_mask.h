// The regions of chromosomes that a BED file masks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/exec/threads.h"
#include "core/formats/interval/bed.h"

namespace ancify {

// Names of chromosomes may differ from the file's by a leading chr.
class RecordMask {
 public:
  // `path`: a BED file, or empty for none.
  RecordMask(const std::string& path, const TaskContext& context);

  // InputError if there is a file, but without a region on any of the chromosomes; `of` names the
  // file that has them.
  void require_any(const std::vector<std::string>& chromosomes, const std::string& of) const;
  // The chromosome's regions in order; null if there are none.
  const std::vector<Region>* regions(const std::string& chromosome) const;

  // Goes to the start of a chromosome. Its positions, from 0, must then come in ascending order.
  void begin_chromosome(const std::string& chromosome);
  // True if a region has any of `n` bases from `position` on.
  bool covers_any(std::int64_t position, std::int64_t n);

 private:
  std::string path_;
  std::unordered_map<std::string, std::vector<Region>> all_;
  const std::vector<Region>* current_ = nullptr;
  std::size_t next_ = 0;
};

}  // namespace ancify
