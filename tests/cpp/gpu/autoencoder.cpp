// Autoencoders of distance maps on a GPU: an epoch beside the CPU's, and the speed.
#include "core/autoencoder/autoencoder.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "autoencoder/cells.h"
#include "core/autoencoder/network.h"
#include "core/nn/device_network.h"
#include "core/nn/layers.h"
#include "core/nn/optimisers.h"
#include "core/nn/random_numbers.h"
#include "distance.h"
#include "driver.h"

namespace ancify::test {
namespace {

using autoencoder::AutoencoderNetwork;
using autoencoder::Form;
using autoencoder::Run;
using autoencoder::Task;
using autoencoder::Training;

Run on_cpu() { return {hardware_threads(), best_simd_level(), nullptr, 0}; }
Run on_card(NetworkKernels& kernels) {
  return {hardware_threads(), best_simd_level(), &kernels, 0};
}

Training train(const Cells& cells, const Form& form, std::int64_t batch, const Run& run) {
  // As many cells as a batch, at most a fifth, are held out.
  std::vector<bool> held_out(static_cast<std::size_t>(cells.cells));
  std::fill_n(held_out.begin(), std::min(batch, cells.cells / 5), true);
  autoencoder::TrainingSettings settings;
  settings.epochs = 1;
  settings.batch = batch;
  settings.share = form.task == Task::kCluster ? 0 : 0.1;
  Training training;
  JobControl control;
  train_autoencoder(form, 3, cells.maps(), held_out, settings, run, control, training);
  return training;
}

std::string name_of(const Form& form) {
  return std::string("an autoencoder to ") + form.of_task().name + " maps of " +
         std::to_string(form.points) + " points";
}

// An epoch, and the output of a network. Weights after an epoch are not compared: Adam's first
// steps follow the sign of a gradient, so a weight whose gradient is near 0 moves either way. Two
// levels of vector instructions of the CPU differ by up to 0.007 in a tensor, and by 5e-5 in
// losses.
void check_epoch(Checks& checks, NetworkKernels& kernels, const Cells& cells, const Form& form,
                 std::int64_t batch) {
  const Training expected = train(cells, form, batch, on_cpu());
  const Training found = train(cells, form, batch, on_card(kernels));
  const auto compare = [&](double one, double other, const char* which) {
    const double by = std::fabs(one - other) / other;
    checks.expect(by < 1e-4,
                  name_of(form) + ": losses " + which + " differ by " + std::to_string(by));
  };
  compare(found.epochs[0].training_loss, expected.epochs[0].training_loss, "in training");
  compare(found.epochs[0].held_out_loss, expected.epochs[0].held_out_loss, "held out");
  JobControl control;
  const double of_codes =
      relative_distance(encode_maps(expected.model, cells.maps(), on_card(kernels), control).data(),
                        encode_maps(expected.model, cells.maps(), on_cpu(), control));
  checks.expect(of_codes < 1e-5, name_of(form) + ": codes differ by " + std::to_string(of_codes));
}

std::vector<float> random_numbers(std::size_t n, double least, double most, std::uint64_t seed,
                                  std::uint64_t stream) {
  std::vector<float> numbers(n);
  draw_uniform(numbers, 1, seed, stream);
  for (float& number : numbers) {
    number = static_cast<float>(least + (most - least) * (static_cast<double>(number) + 1) / 2);
  }
  return numbers;
}

// The largest difference in outputs, gradients and a step of Adam, with weights of which none is 0.
double step_difference(NetworkKernels& kernels, const Form& form, std::int64_t images,
                       std::uint64_t seed) {
  const TaskContext context;
  const Pass<float> pass = {products_of(best_simd_level()), context, true};
  AutoencoderNetwork<float> network(form);
  network.initialise(seed, 0);
  std::vector<std::vector<float>> weights;
  const auto state = network.state();
  for (std::vector<float>* tensor : state) {
    // Biases, and the last weights, begin with 0.
    if (weights.size() % 2 == 1 || weights.size() + 2 == state.size()) {
      *tensor = random_numbers(tensor->size(), -0.1, 0.1, seed, 100 + weights.size());
    }
    weights.push_back(*tensor);
  }
  const std::int64_t pixels = form.size() * form.size();
  Batch<float> in;
  in.resize(images, form.of_task().channels * pixels);
  in.data = random_numbers(in.data.size(), 0, 2, seed, 200);
  const Batch<float>& out = network.forward(pass, in);
  Batch<float> gradient;
  gradient.resize(images, pixels);
  gradient.data = random_numbers(gradient.data.size(), 0, 1e-3, seed, 201);

  Device& device = kernels.device();
  NetworkWorkspace workspace(kernels, 0);
  const Pass<OnDevice> pass_there = {workspace, 0, true};
  AutoencoderNetwork<OnDevice> there(form);
  DeviceParameters parameters(workspace, there.parameters(), weights, true);
  const auto upload = [&](const Batch<float>& from) {
    Batch<OnDevice> batch;
    pass_there.resize(batch, from.rows, from.width);
    device.upload(batch.data.data(), from.data.data(), from.data.size(), 0);
    device.wait(0);
    return batch;
  };
  double most = 0;
  const auto compare = [&](const float* from, const std::vector<float>& expected) {
    std::vector<float> found(expected.size());
    device.download(found.data(), from, found.size(), 0);
    device.wait(0);
    const double by = relative_distance(found.data(), expected);
    if (!std::isnan(most) && !(by <= most)) most = by;
    return found;
  };
  const Batch<OnDevice> in_there = upload(in);
  Batch<OnDevice> gradient_there = upload(gradient);
  drained_on_failure(device, [&] {
    compare(there.forward(pass_there, in_there).data.data(), out.data);
    network.backward(pass, in, gradient);
    there.backward(pass_there, in_there, gradient_there);
    const auto of_host = network.parameters();
    const auto on_device = there.parameters();
    for (std::size_t i = 0; i < of_host.size(); ++i) {
      // The step starts from the same gradients.
      of_host[i]->gradient = compare(on_device[i]->gradient.data(), of_host[i]->gradient);
    }
    Adam<float> adam(of_host);
    adam.step(1e-3F, context);
    parameters.step(1e-3F, 0);
    for (std::size_t i = 0; i < of_host.size(); ++i) {
      compare(on_device[i]->value.data(), of_host[i]->value);
    }
  });
  return most;
}

// A value near 0 may be on either side of ReLU, and either of two similar values may be a maximum.
// Gradients then differ by up to 3e-4, also between two SIMD levels of the CPU; otherwise by 5e-7.
// Few networks have such a value, whereas a fault affects all. So most of five must be right.
void check_step(Checks& checks, NetworkKernels& kernels, const Form& form, std::int64_t images) {
  int right = 0;
  std::string differences;
  for (std::uint64_t seed = 1; seed <= 5 && right < 3; ++seed) {
    const double difference = step_difference(kernels, form, images, seed);
    if (difference < 1e-5) ++right;
    differences += " " + std::to_string(difference);
  }
  checks.expect(right == 3,
                name_of(form) + ": outputs, gradients or a step differ by" + differences);
}

double epoch_seconds(const Cells& cells, const Form& form, const Run& run) {
  const auto start = std::chrono::steady_clock::now();
  train(cells, form, 64, run);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return took.count();
}

}  // namespace

void check_autoencoders(Checks& checks, const Backend& backend, Extent extent) {
  std::vector<std::unique_ptr<NetworkKernels>> devices;
  devices.push_back(open_network_device(backend));
  devices = watched(std::move(devices));
  NetworkKernels& kernels = *devices.front();
  for (const Task task : {Task::kCluster, Task::kDenoise, Task::kInpaint}) {
    check_step(checks, kernels, {task, 9, 5}, 3);
    check_epoch(checks, kernels, Cells(9, 5, 1), {task, 9, 5}, 3);
    if (extent == Extent::kSmall) continue;
    check_step(checks, kernels, {task, 64, 32}, 4);
    check_step(checks, kernels, {task, 100, 33}, 2);
    check_epoch(checks, kernels, Cells(64, 200, 1), {task, 64, 32}, 64);
  }
  checks.expect_all_begun<NetworkOperation>();
}

// The driver's CPU multiplies by the plain loop, without Eigen.
void time_autoencoders(const Backend& backend) {
  const auto kernels = open_network_device(backend);
  const Cells many(64, 8256, 1);
  const Cells few(64, 40, 1);
  for (const Task task : {Task::kCluster, Task::kDenoise, Task::kInpaint}) {
    const Form form = {task, 64, task == Task::kCluster ? 32 : 512};
    epoch_seconds(many, form, on_card(*kernels));  // to warm up
    const double on_gpu = 8192 / epoch_seconds(many, form, on_card(*kernels));
    const double beside = 32 / epoch_seconds(few, form, on_cpu());
    std::printf("an epoch to %-7s 64 points: %9.0f images a second, plain loops %9.0f\n",
                form.of_task().name, on_gpu, beside);
  }
}

}  // namespace ancify::test
