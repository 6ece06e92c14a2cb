// Counts how often variants of a file are read.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/formats/genotype/genotype_file.h"

namespace ancify {

class CountedReads : public GenotypeFile {
 public:
  using Count = std::shared_ptr<std::atomic<std::int64_t>>;

  // Adds the number of variants of each reading to `count`.
  CountedReads(std::unique_ptr<GenotypeFile> file, Count count)
      : file_(std::move(file)), count_(std::move(count)) {}
  const std::string& path() const override { return file_->path(); }
  std::int64_t samples() const override { return file_->samples(); }
  std::int64_t variants() const override { return file_->variants(); }
  void read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const override {
    *count_ += n;
    file_->read(first, n, calls);
  }
  bool gives_dosages() const override { return file_->gives_dosages(); }
  void read_dosages(std::int64_t first, std::int64_t n, Dosage* dosages,
                    int* units) const override {
    *count_ += n;
    file_->read_dosages(first, n, dosages, units);
  }
  void check_unchanged() const override { file_->check_unchanged(); }

 private:
  std::unique_ptr<GenotypeFile> file_;
  Count count_;
};

}  // namespace ancify
