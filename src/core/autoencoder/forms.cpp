// Names and shapes of an autoencoder's tensors, as in PyTorch.
#include "core/autoencoder/forms.h"

#include "core/exec/errors.h"

namespace ancify::autoencoder {

Task task_of(const std::string& name) {
  for (std::size_t i = 0; i < kTasks.size(); ++i) {
    if (name == kTasks[i].name) return static_cast<Task>(i);
  }
  throw InputError("an autoencoder has no task '" + name + "'");
}

std::vector<TensorForm> tensor_forms(const Form& form) {
  std::vector<TensorForm> tensors;
  const auto add = [&](const std::string& layer, const std::vector<std::int64_t>& shape) {
    tensors.push_back({layer + ".weight", shape});
    tensors.push_back({layer + ".bias", {shape[0]}});
  };
  std::int64_t channels = form.of_task().channels;
  const auto add_convolution = [&](const std::string& layer, std::int64_t out) {
    add(layer, {out, channels, 3, 3});
    channels = out;
  };
  for (std::size_t i = 0; i < Form::kEncoder.size(); ++i) {
    add_convolution("encode.conv" + std::to_string(i + 1), Form::kEncoder[i]);
  }
  add("encode.dense", {form.code, form.inner()});
  add("decode.dense", {form.inner(), form.code});
  for (std::size_t i = 0; i < Form::kDecoder.size(); ++i) {
    add_convolution("decode.conv" + std::to_string(i + 1), Form::kDecoder[i]);
  }
  if (form.of_task().corrects) {
    channels += form.of_task().channels;
    add_convolution("output.conv1", Form::kCorrecting);
    add_convolution("output.conv2", 1);
  } else {
    add_convolution("output.conv1", 1);
  }
  return tensors;
}

}  // namespace ancify::autoencoder
