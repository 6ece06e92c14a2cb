// Autoencoders in safetensors files. Metadata hold the task and the number of points; the code's
// width follows from a tensor's shape.
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "core/autoencoder/autoencoder.h"
#include "core/chromatin/map_pairs.h"
#include "core/exec/errors.h"
#include "core/models/safetensors.h"
#include "core/models/tensors.h"

namespace ancify::autoencoder {

namespace {

constexpr const char* kTaskNote = "task";
constexpr const char* kPointsNote = "points";
constexpr const char* kScaleNote = "scale";  // files of earlier versions lack it
constexpr const char* kCodeTensor = "encode.dense.weight";
constexpr const char* kUnitTensor = "unit";
constexpr std::int64_t kFewestPoints = 8;
constexpr std::int64_t kMostPoints = 512;

Form form_of(const std::map<std::string, std::string>& notes, const Checkpoint& checkpoint) {
  const auto refuse = [&](const std::string& problem) {
    throw FormatError(checkpoint.path(), 0, "it has no autoencoder of distance maps: " + problem);
  };
  const auto note = [&](const char* name) {
    const auto found = notes.find(name);
    if (found == notes.end()) refuse(std::string("the note '") + name + "' is missing");
    return found->second;
  };
  Form form;
  try {
    form.task = task_of(note(kTaskNote));
  } catch (const InputError& error) {
    refuse(error.what());
  }
  const std::string points = note(kPointsNote);
  const auto parsed = std::from_chars(points.data(), points.data() + points.size(), form.points);
  if (parsed.ec != std::errc() || parsed.ptr != points.data() + points.size() ||
      form.points < kFewestPoints || form.points > kMostPoints) {
    refuse("it is for '" + points + "' points");
  }
  const TensorPlace* const code = checkpoint.find(kCodeTensor);
  if (code == nullptr || code->shape.empty() || code->shape[0] < 1 ||
      code->shape[0] > chromatin::pairs_of(form.points)) {
    refuse(std::string("'") + kCodeTensor + "' is missing, or has no width of a code");
  }
  form.code = code->shape[0];
  return form;
}

std::string scale_of(const std::map<std::string, std::string>& notes, const std::string& path) {
  const auto found = notes.find(kScaleNote);
  if (found == notes.end() || found->second == kEachScale) {
    return found == notes.end() ? "" : kEachScale;
  }
  const std::string& text = found->second;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value > 0) || !std::isfinite(value)) {
    throw FormatError(path, 0, "its scale of maps is '" + text + "', not a number above 0");
  }
  return text;
}

}  // namespace

Autoencoder read_autoencoder(const std::string& path, const TaskContext& context) {
  const Checkpoint checkpoint = Checkpoint::open(path, context.inputs());
  Autoencoder model;
  const auto notes = safetensors_notes(InputFile(path, context.inputs()));
  model.form = form_of(notes, checkpoint);
  model.scale = scale_of(notes, path);
  model.unit = checkpoint.read(kUnitTensor, {1}, context)[0];
  if (model.unit <= 0) throw FormatError(path, 0, "its unit of length is not above 0");
  std::set<std::string> used = {kUnitTensor};
  for (const TensorForm& tensor : tensor_forms(model.form)) {
    model.tensors.push_back(checkpoint.read(tensor.name, tensor.shape, context));
    used.insert(tensor.name);
  }
  checkpoint.refuse_others(used, {}, "an autoencoder of distance maps");
  checkpoint.check_content(context);
  return model;
}

void write_autoencoder(const Autoencoder& model, const std::string& path,
                       const TaskContext& context) {
  const std::vector<float> unit = {model.unit};
  std::vector<NamedTensor> tensors = {{kUnitTensor, {1}, unit}};
  const std::vector<TensorForm> forms = tensor_forms(model.form);
  for (std::size_t i = 0; i < forms.size(); ++i) {
    tensors.push_back({forms[i].name, forms[i].shape, model.tensors[i]});
  }
  std::map<std::string, std::string> notes = {{kTaskNote, model.form.of_task().name},
                                              {kPointsNote, std::to_string(model.form.points)}};
  if (!model.scale.empty()) notes[kScaleNote] = model.scale;
  write_safetensors(tensors, notes, path, context);
}

}  // namespace ancify::autoencoder
