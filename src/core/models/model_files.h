// A folder with a model of any supported kind.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/models/dnabert.h"
#include "core/models/esm2.h"
#include "core/models/runs.h"

namespace ancify {

class ModelFiles {
 public:
  // Tells the kind by the names of tensors, and reads all but the weights. FileError if a required
  // file is missing, FormatError if files are damaged, disagree, or belong to another model.
  static ModelFiles open(const std::string& folder, const InputIdentities& inputs);

  const ModelDescription& description() const;
  bool reads_dna() const { return std::holds_alternative<DnabertFiles>(files_); }
  const std::vector<std::string>& tokens() const;
  SequenceModel read(const TaskContext& context) const;

 private:
  using Files = std::variant<Esm2Files, DnabertFiles>;
  explicit ModelFiles(Files files) : files_(std::move(files)) {}

  Files files_;
};

}  // namespace ancify
