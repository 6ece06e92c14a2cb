// The genotypes of several files, such as one for each chromosome, as one file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/formats/genotype/genotype_file.h"

namespace ancify {

// A file of a set. `samples` holds the file's index of each sample of the set; it is empty if the
// file has exactly the set's samples, in their order.
struct GenotypePart {
  std::unique_ptr<GenotypeFile> file;
  std::vector<std::int64_t> samples;
};

// The variants of all parts, one part after another.
class JoinedGenotypes final : public GenotypeFile {
 public:
  // Throws InputError for no part, parts of different numbers of samples, or an index beyond a
  // file.
  explicit JoinedGenotypes(std::vector<GenotypePart> parts);
  // The path of the first part.
  const std::string& path() const override { return parts_.front().file->path(); }
  std::int64_t samples() const override { return samples_; }
  std::int64_t variants() const override { return begins_.back(); }
  void read(std::int64_t first, std::int64_t n, std::uint8_t* calls) const override;
  void will_read(std::int64_t first, std::int64_t n) const override;
  bool gives_dosages() const override;
  void read_dosages(std::int64_t first, std::int64_t n, Dosage* dosages, int* units) const override;
  std::int64_t with_dosages() const override;
  void check_unchanged() const override;

 private:
  // Calls use(part, its first variant, number of variants, their first place among the n) for the
  // parts of these variants.
  template <class Use>
  void for_each_part(std::int64_t first, std::int64_t n, const Use& use) const;
  void read_part(const GenotypePart& part, std::int64_t first, std::int64_t n,
                 std::uint8_t* calls) const;

  std::vector<GenotypePart> parts_;
  std::int64_t samples_;
  std::vector<std::int64_t> begins_;  // the first variant of each part, and the end
};

}  // namespace ancify
