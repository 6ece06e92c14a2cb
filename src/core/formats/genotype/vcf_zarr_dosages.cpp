// Goes through chunks of variants, each with all of its samples.
#include "core/formats/genotype/vcf_zarr_dosages.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/formats/genotype/selected_calls.h"
#include "core/formats/genotype/vcf_zarr_genotypes.h"
#include "core/formats/genotype/vcf_zarr_store.h"
#include "core/formats/variant/variant_file.h"
#include "core/io/text.h"

namespace ancify {

namespace {

// Numbers of one site and all samples, from the chunks of an array of sites, samples and numbers.
class SiteReader {
 public:
  SiteReader(ZarrArray array, const ZarrArray& calls) : array_(std::move(array)) {
    if (array_.shape[0] == calls.shape[0] && array_.shape[1] == calls.shape[1]) return;
    fail("it has other variants or samples than call_genotype");
  }

  const ZarrArray& array() const { return array_; }
  int per_sample() const { return static_cast<int>(array_.shape[2]); }
  // The number of a sample, or its bits if it is a float.
  std::int64_t at(std::int64_t site, std::int64_t sample, std::int64_t k) {
    const ZarrIntegers& chunk = chunk_of(site, sample, k);
    const std::int64_t row = site % array_.chunks[0] * array_.chunks[1] + sample % array_.chunks[1];
    return chunk[row * array_.chunks[2] + k % array_.chunks[2]];
  }
  [[noreturn]] void fail(const std::string& problem) const {
    throw FormatError(array_.folder, 0, problem);
  }

 private:
  const ZarrIntegers& chunk_of(std::int64_t site, std::int64_t sample, std::int64_t k) {
    const std::int64_t row = site / array_.chunks[0];
    if (row != row_) load(row);
    return chunks_[static_cast<std::size_t>(sample / array_.chunks[1] * array_.chunks_along(2) +
                                            k / array_.chunks[2])];
  }
  void load(std::int64_t row) {
    chunks_.clear();
    const std::int64_t first = row * array_.chunks[0];
    const std::string what = "variants " + std::to_string(first + 1) + " to " +
                             std::to_string(std::min(first + array_.chunks[0], array_.shape[0]));
    std::int64_t bytes = 0;
    for (std::int64_t i = 0; i < array_.chunks_along(1); ++i) {
      for (std::int64_t k = 0; k < array_.chunks_along(2); ++k) {
        auto chunk = read_zarr_integers(array_, {row, i, k}, what, bytes);
        chunks_.push_back(chunk ? std::move(*chunk) : filled_chunk(array_));
        chunks_.back().array = &array_;
      }
    }
    row_ = row;
  }

  ZarrArray array_;
  std::int64_t row_ = -1;
  std::vector<ZarrIntegers> chunks_;
};

class DosageReader {
 public:
  DosageReader(const std::string& path, std::int64_t samples, const VcfZarrPlaces& places,
               const std::vector<std::string>& fields, const InputIdentities& inputs)
      : store_(path, inputs),
        calls_(path, samples, places, inputs),
        places_(places),
        alleles_(store_.array("call_genotype", 3), store_.array("call_genotype", 3)) {
    for (const std::string& field : fields) {
      const std::string name = "call_" + field;
      if (!store_.has(name)) continue;
      fields_.push_back(field);
      numbers_.emplace_back(store_.array(name, 3, true), alleles_.array());
      if (numbers_.back().array().type != ZarrType::kFloat ||
          numbers_.back().per_sample() > kMostNumbers) {
        numbers_.back().fail("it has no floats, or too many for a sample");
      }
    }
    if (!fields_.empty()) found_.counts.field = fields_[0];
  }

  VcfZarrDosages read(JobControl& control) {
    if (fields_.empty()) return std::move(found_);
    const TaskContext context(control);
    control.expect(calls_.variants());
    std::vector<std::uint8_t> calls(static_cast<std::size_t>(calls_.stride()));
    int site = -1;
    for (std::int64_t i = 0; i < calls_.variants(); ++i) {
      context.throw_if_stopped();
      const VcfZarrPlaces::Place& place = places_.places[static_cast<std::size_t>(i)];
      calls_.read(i, 1, calls.data());
      if (place.site != site) choose_field(place.site);
      if (place.site != site && field_ > 0) ++found_.counts.of_next;
      site = place.site;
      add(place, calls.data());
      control.advance(1);
    }
    store_.check_unchanged();
    return std::move(found_);
  }

 private:
  static constexpr int kMostNumbers = 10'000;

  void choose_field(int site) {
    for (field_ = 0; field_ < fields_.size(); ++field_) {
      load(site);
      if (any_number(row_)) return;
    }
    field_ = 0;
    load(site);
  }

  void load(int site) {
    SiteReader& reader = numbers_[field_];
    row_.clear();
    for (std::int64_t i = 0; i < calls_.samples(); ++i) {
      for (int k = 0; k < reader.per_sample(); ++k) {
        const auto bits = static_cast<std::uint32_t>(reader.at(site, i, k));
        float number = 0;
        std::memcpy(&number, &bits, sizeof number);
        row_.push_back(number);
      }
    }
  }

  void add(const VcfZarrPlaces::Place& place, const std::uint8_t* calls) {
    const int n = numbers_[field_].per_sample();
    for (std::int64_t i = 0; i < calls_.samples(); ++i) {
      const DosedSample sample = {row_.data() + i * n, n, call_at(calls, i),
                                  is_haploid(place.site, i)};
      const char* const problem =
          copies_.add(dosage_field_of(fields_[field_]), {place.alt, place.alleles}, sample);
      if (problem == nullptr) continue;
      numbers_[field_].fail("sample " + std::to_string(i + 1) + " of variant " +
                            std::to_string(place.site + 1) + " has " + problem +
                            ". Correct it, or read hard calls");
    }
    copies_.pack(found_.genotypes, found_.counts);
  }

  bool is_haploid(int site, std::int64_t sample) {
    return alleles_.at(site, sample, 0) != kNoAllele &&
           (alleles_.per_sample() == 1 || alleles_.at(site, sample, 1) == kNoAllele);
  }

  VcfZarrStore store_;
  VcfZarrGenotypes calls_;
  const VcfZarrPlaces& places_;
  SiteReader alleles_;
  std::vector<std::string> fields_;
  std::vector<SiteReader> numbers_;
  std::size_t field_ = 0;
  std::vector<float> row_;  // the site's numbers
  SampleCopies copies_;
  VcfZarrDosages found_;
};

}  // namespace

VcfZarrDosages read_vcf_zarr_dosages(const std::string& path, std::int64_t samples,
                                     const VcfZarrPlaces& places,
                                     const std::vector<std::string>& fields, JobControl& control) {
  return DosageReader(path, samples, places, fields, control.inputs()).read(control);
}

}  // namespace ancify
