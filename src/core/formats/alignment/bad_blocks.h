// Refuses or counts unusable alignment blocks, as the user chose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/errors.h"

namespace ancify {

enum class OnBadBlock { kError, kSkip };

class BadBlocks {
 public:
  static constexpr std::size_t kMostExamples = 5;
  struct Example {
    std::int64_t line;
    std::string problem;
  };

  BadBlocks(std::string file, OnBadBlock policy) : file_(std::move(file)), policy_(policy) {}

  // Throws FormatError or counts the block, depending on the policy.
  void add(std::int64_t line, const std::string& problem,
           const char* advice = "Mend the file, or set on_bad_block to skip such blocks") {
    if (policy_ == OnBadBlock::kError) throw FormatError(file_, line, problem + ". " + advice);
    if (examples_.size() < kMostExamples) examples_.push_back({line, problem});
    ++count_;
  }

  const std::string& file() const { return file_; }
  std::int64_t count() const { return count_; }
  // The first few bad blocks.
  const std::vector<Example>& examples() const { return examples_; }

 private:
  std::string file_;
  OnBadBlock policy_;
  std::int64_t count_ = 0;
  std::vector<Example> examples_;
};

}  // namespace ancify
