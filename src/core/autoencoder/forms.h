// The forms of autoencoders of distance maps: the requirements of each task, and the tensors of a
// network.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ancify::autoencoder {

// The task of a network: to compress maps to short codes, to correct displaced points, or to fill
// in unobserved points.
enum class Task { kCluster, kDenoise, kInpaint };

// `channels` of the input: distances, and a mask of observed pairs. `corrects`: besides the code,
// the network sees its input, and learns corrections to it.
struct TaskForm {
  const char* name;
  std::int64_t channels;
  bool corrects;
};

constexpr std::array<TaskForm, 3> kTasks = {
    {{"cluster", 1, false}, {"denoise", 1, true}, {"inpaint", 2, true}}};

// InputError for an unknown name.
Task task_of(const std::string& name);

struct Form {
  Task task = Task::kCluster;
  std::int64_t points = 0;
  std::int64_t code = 0;

  const TaskForm& of_task() const { return kTasks[static_cast<std::size_t>(task)]; }
  // The side of the images: four halvings leave whole pixels.
  std::int64_t size() const { return (points + 15) / 16 * 16; }
  // Values per image between the encoder's last layer and the code.
  std::int64_t inner() const { return kEncoder.back() * (size() / 16) * (size() / 16); }

  // Channels after each convolution.
  static constexpr std::array<std::int64_t, 4> kEncoder = {16, 32, 64, 64};
  static constexpr std::array<std::int64_t, 4> kDecoder = {64, 32, 16, 8};
  static constexpr std::int64_t kCorrecting = 16;
};

struct TensorForm {
  std::string name;
  std::vector<std::int64_t> shape;
};

// All tensors, in the order of the network's state.
std::vector<TensorForm> tensor_forms(const Form& form);

}  // namespace ancify::autoencoder
