// Autoencoders in safetensors files. Notes tell the task and the number of points; the code's width
// is that of a tensor.
#include <charconv>
#include <cmath>
#include <map>

#include "core/autoencoder/autoencoder.h"
#include "core/chromatin/map_pairs.h"
#include "core/exec/errors.h"
#include "core/models/safetensors.h"
#include "core/models/tensors.h"

namespace ancify::autoencoder {

namespace {

constexpr const char* kTaskNote = "task";
constexpr const char* kPointsNote = "points";
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

}  // namespace

Autoencoder read_autoencoder(const std::string& path, const TaskContext& context) {
  const Checkpoint checkpoint = Checkpoint::open(path, context.inputs());
  Autoencoder model;
  model.form = form_of(safetensors_notes(InputFile(path, context.inputs())), checkpoint);
  model.unit = checkpoint.read(kUnitTensor, {1}, context)[0];
  if (model.unit <= 0) throw FormatError(path, 0, "its unit of length is not above 0");
  for (const TensorForm& tensor : tensor_forms(model.form)) {
    model.tensors.push_back(checkpoint.read(tensor.name, tensor.shape, context));
  }
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
  write_safetensors(
      tensors,
      {{kTaskNote, model.form.of_task().name}, {kPointsNote, std::to_string(model.form.points)}},
      path, context);
}

}  // namespace ancify::autoencoder
