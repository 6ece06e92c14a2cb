// Tells kinds of models apart by the names of their tensors.
#include "core/models/model_files.h"

#include <filesystem>

#include "core/exec/errors.h"

namespace ancify {

ModelFiles ModelFiles::open(const std::string& folder, const InputIdentities& inputs) {
  if (!std::filesystem::is_directory(folder)) {
    throw FileError(folder, "there is no such folder: a folder with a model's files is needed");
  }
  if (is_dnabert(open_weights(folder, inputs))) {
    return ModelFiles(DnabertFiles::open(folder, inputs));
  }
  return ModelFiles(Esm2Files::open(folder, inputs));
}

const ModelDescription& ModelFiles::description() const {
  return std::visit(
      [](const auto& files) -> const ModelDescription& { return files.description(); }, files_);
}

const std::vector<std::string>& ModelFiles::tokens() const {
  const auto* const dna = std::get_if<DnabertFiles>(&files_);
  return dna != nullptr ? dna->tokeniser().tokens()
                        : std::get<Esm2Files>(files_).alphabet().tokens();
}

SequenceModel ModelFiles::read(const TaskContext& context) const {
  SequenceModel model;
  model.encoder = std::visit([&](const auto& files) { return files.read(context); }, files_);
  model.token_dropout = description().token_dropout;
  if (const auto* const dna = std::get_if<DnabertFiles>(&files_)) {
    model.dna = dna->tokeniser();
  } else {
    model.alphabet = std::get<Esm2Files>(files_).alphabet();
  }
  return model;
}

}  // namespace ancify
