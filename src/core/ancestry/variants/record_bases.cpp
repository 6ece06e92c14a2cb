// Finds the ancestral base, the reference base and the error at a record.
#include "core/ancestry/variants/record_bases.h"

#include <algorithm>
#include <cmath>

#include "core/ancestry/patterns/method.h"
#include "core/exec/errors.h"
#include "core/io/file.h"

namespace ancify {

RecordBases::RecordBases(const std::vector<SequenceFile>& files,
                         const std::vector<std::string>& chromosomes, const char* what,
                         const TaskContext& context)
    : set_(files, chromosomes, context),
      has_files_(!files.empty()),
      chromosomes_(chromosomes),
      what_(what) {}

void RecordBases::begin_chromosome(const VariantReader& reader, const TaskContext& context) {
  const std::string name(reader.chromosome());
  if (has_files_ &&
      std::find(chromosomes_.begin(), chromosomes_.end(), name) == chromosomes_.end()) {
    reader.fail("chromosome '" + name +
                "' is not declared in the header, though others are: declare it there, for example "
                "by bcftools reheader --fai");
  }
  sequence_ = set_.find(name, context);
}

std::optional<char> RecordBases::at(const VariantReader& reader, int offset) const {
  const std::int64_t position = reader.position();
  if (sequence_ == nullptr || position < 1) return {};
  const auto size = static_cast<std::int64_t>(sequence_->size());
  if (position > size) {
    reader.fail("position " + std::to_string(position) + " of '" +
                std::string(reader.chromosome()) + "' is beyond the end of the " + what_ +
                " sequence, which has " + std::to_string(size) + " bases");
  }
  const std::int64_t index = position - 1 + offset;
  if (index < 0 || index >= size) return {};
  return (*sequence_)[static_cast<std::size_t>(index)];
}

void RecordErrors::begin_chromosome(const std::string& name, const std::string* calls) {
  phred_.clear();
  const auto path = files_.find(name);
  if (path == files_.end() || calls == nullptr) return;
  const InputFile file(path->second);
  if (file.size() != static_cast<std::int64_t>(calls->size())) {
    throw FormatError(path->second, 0,
                      "the file has " + std::to_string(file.size()) +
                          " bytes, but the chromosome has " + std::to_string(calls->size()) +
                          " calls; call it again");
  }
  phred_.resize(calls->size());
  file.read_at(phred_.data(), phred_.size(), 0);
}

std::optional<double> RecordErrors::posterior(const VariantReader& reader) const {
  if (phred_.empty()) return {};
  const auto phred =
      static_cast<std::uint8_t>(phred_[static_cast<std::size_t>(reader.position()) - 1]);
  if (phred == kNoPhred) return {};
  return 1 - std::pow(10.0, -phred / 10.0);
}

}  // namespace ancify
