// Finds the sequences of chromosomes in files of one or of many sequences.
#include "core/genome/sequence_set.h"

#include <string_view>

#include "core/exec/errors.h"
#include "core/exec/job_control.h"
#include "core/formats/sequence/twobit.h"
#include "core/genome/lengths.h"
#include "core/io/text.h"

namespace ancify {

SequenceSet::SequenceSet(const std::vector<SequenceFile>& files,
                         const std::vector<std::string>& wanted, const TaskContext& context) {
  for (const auto& [chromosome, path] : files) {
    if (chromosome.empty()) {
      read_all(path, wanted, context);
    } else {
      paths_[chromosome] = path;
    }
  }
}

void SequenceSet::read_all(const std::string& path, const std::vector<std::string>& wanted,
                           const TaskContext& context) {
  const ChromosomeNames names(wanted);
  std::vector<std::string> others;
  std::string* bases = nullptr;
  const auto begin = [&](std::string_view header, std::int64_t line) {
    const auto slice = ensembl_slice(header);
    const std::string name(slice ? slice->chromosome : header);
    const auto found = names.find(name);
    bases = nullptr;
    if (!found) {
      others.push_back(name);
      return;
    }
    const std::string& chromosome = wanted[*found];
    if (!names_.emplace(chromosome, header).second) {
      throw FormatError(path, line,
                        "a second sequence for chromosome '" + chromosome +
                            "': " + excerpt(header) + " after '" + names_[chromosome] + "'");
    }
    bases = &bases_[chromosome];
  };
  JobControl control;
  const auto take = [&](std::string_view more) {
    if (bases != nullptr) *bases += more;
  };
  read_genome(path, {begin, take, true}, control, context);
  if (names_.empty() && others.empty()) {
    throw FormatError(path, 0, "there is no sequence in this file");
  }
  if (names_.empty()) {
    throw InputError("'" + path + "' has none of the chromosomes " + quoted_list(wanted) +
                     ", with or without a leading chr; it has " + quoted_list(others));
  }
}

const std::string* SequenceSet::find(const std::string& chromosome, const TaskContext& context) {
  const auto path = paths_.find(chromosome);
  if (path != paths_.end() && bases_.count(chromosome) == 0) {
    bases_.clear();
    std::string& bases = bases_[chromosome];
    read_one_sequence(
        path->second, [&](std::string_view more) { bases += more; }, context, true);
  }
  const auto found = bases_.find(chromosome);
  return found == bases_.end() ? nullptr : &found->second;
}

std::string SequenceSet::name_of(const std::string& chromosome) const {
  const auto path = paths_.find(chromosome);
  if (path != paths_.end()) return path->second;
  const auto name = names_.find(chromosome);
  return name == names_.end() ? "" : name->second;
}

}  // namespace ancify
