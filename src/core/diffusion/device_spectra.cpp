// Lays out plans in memory, sends them to devices in batches, and collects spectra.
#include "core/diffusion/device_spectra.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>
#include <utility>
#include <variant>

#include "core/device/tiles.h"
#include "core/diffusion/equilibrium.h"
#include "core/exec/errors.h"

#ifdef ANCIFY_HAVE_CUDA
#include "cuda/diffusion_kernels.h"
#endif

namespace ancify::diffusion {

namespace {

// Places arrays one after the other in memory, each aligned for a double.
class Layout {
 public:
  // Adds an array of n elements and returns the offset of its first byte.
  template <class T>
  std::size_t add(std::size_t n) {
    const std::size_t at = size_;
    size_ += (n * sizeof(T) + sizeof(double) - 1) / sizeof(double) * sizeof(double);
    return at;
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
};

// The data that a device needs for a job, before they have device addresses. The image is uploaded;
// the workspace exists on the device alone.
class DeviceJob {
 public:
  DeviceJob(const SpectrumJob& job, const Sampling& sampling)
      : plan_(*job.plan),
        grid_(std::make_shared<Grid>(job.points)),
        sampling_(sampling),
        work_(work_of(*job.plan, job.points)) {
    for (const auto& event : *job.plan) add(event);
    if (sampling.kind != Sampling::Kind::kAdmixed) weights_ = weights_of(sampling, *grid_);
  }

  // Lines along an axis, at the plan's largest number of populations.
  std::size_t lines() const { return power(grid_->points(), most_populations_ - 1); }
  // The number of output values.
  std::size_t outputs() const {
    std::size_t n = 1;
    for (const auto& one : weights_) n *= static_cast<std::size_t>(one.size) + 1;
    return weights_.empty() ? power(grid_->points(), populations_) : n;
  }
  double work() const { return work_; }
  std::int64_t rounds() const { return rounds_; }
  // The largest number of values that a block handles in a time step. With few lines, idle threads
  // count too.
  std::size_t values_of_a_round() const {
    return static_cast<std::size_t>(most_populations_ * grid_->points()) *
           std::max(lines(), std::size_t{kThreadsOfAPlan});
  }

  // The sizes of the image and the workspace.
  std::size_t image_bytes() const { return image_layout().size; }
  std::size_t workspace_bytes() const {
    const auto values = static_cast<double>(most_populations_) * 5 * grid_->points() +
                        2 * std::pow(grid_->points(), most_populations_) +
                        static_cast<double>(outputs());
    return static_cast<std::size_t>(std::min(values * sizeof(double), 1e18));
  }

  // Writes the image, and returns the plan with device addresses: the image at `there`, the
  // workspace at `workspace`.
  DevicePlan write(char* image, char* there, double* workspace) const {
    const Image layout = image_layout();
    const auto put = [&](std::size_t at, const auto& values) {
      using T = typename std::decay_t<decltype(values)>::value_type;
      if (!values.empty()) std::memcpy(image + at, values.data(), values.size() * sizeof(T));
      return reinterpret_cast<const T*>(there + at);
    };
    DevicePlan plan = {};
    plan.grid = {grid_->points(), put(layout.x, grid_->x), put(layout.width, grid_->width),
                 put(layout.middle, grid_->middle),
                 put(layout.inverse_weight, grid_->inverse_weight)};
    plan.events = put(layout.events, events_);
    plan.n_events = events_.size();
    plan.steps = reinterpret_cast<const TimeStep*>(there + layout.steps);
    char* steps = image + layout.steps;
    for (const auto& event : plan_) {
      const auto* const schedule = std::get_if<Schedule>(&event);
      if (schedule == nullptr || schedule->steps.empty()) continue;
      const std::size_t bytes = schedule->steps.size() * sizeof(TimeStep);
      std::memcpy(steps, schedule->steps.data(), bytes);
      steps += bytes;
    }
    plan.equilibrium = put(layout.equilibrium, equilibrium_);
    std::vector<double> weights;
    for (const auto& one : weights_) {
      plan.numbers[plan.samples++] = static_cast<std::size_t>(one.size) + 1;
      weights.insert(weights.end(), one.values.begin(), one.values.end());
    }
    plan.weights = put(layout.weights, weights);
    const std::size_t values = power(grid_->points(), most_populations_);
    plan.density = workspace;
    plan.other = plan.density + values;
    plan.systems = plan.other + values;
    plan.output = plan.systems + most_populations_ * std::size_t{5} * grid_->x.size();
    return plan;
  }
  // The same plan for the host, which reads events and steps from its own copy of the image.
  DevicePlan for_host(DevicePlan plan, const char* image) const {
    const Image layout = image_layout();
    plan.events = reinterpret_cast<const DeviceEvent*>(image + layout.events);
    plan.steps = reinterpret_cast<const TimeStep*>(image + layout.steps);
    return plan;
  }

  // The spectrum from the output, in the order of sample() and sample_admixed().
  std::vector<double> spectrum(const double* output, const TaskContext& context) const {
    if (!weights_.empty()) return {output, output + outputs()};
    Density density(grid_, populations_);
    std::copy(output, output + density.size(), density.data());
    return sample_admixed(density, sampling_.sizes, sampling_.shares, context);
  }

 private:
  struct Image {
    std::size_t x, width, middle, inverse_weight, events, steps, equilibrium, weights, size;
  };
  Image image_layout() const {
    Layout layout;
    const std::size_t points = grid_->x.size();
    std::size_t weights = 0;
    for (const auto& one : weights_) weights += one.values.size();
    Image image = {};
    image.x = layout.add<double>(points);
    image.width = layout.add<double>(points);
    image.middle = layout.add<double>(points);
    image.inverse_weight = layout.add<double>(points);
    image.events = layout.add<DeviceEvent>(events_.size());
    image.steps = layout.add<TimeStep>(static_cast<std::size_t>(n_steps_));
    image.equilibrium = layout.add<double>(points);
    image.weights = layout.add<double>(weights);
    image.size = layout.size();
    return image;
  }

  void add(const PlannedEvent& planned) {
    DeviceEvent event = {};
    std::visit([&](const auto& one) { describe(one, event); }, planned);
    if (event.kind != DeviceEvent::Kind::kEpoch) ++rounds_;
    most_populations_ = std::max(most_populations_, populations_);
    events_.push_back(event);
  }
  void describe(const Equilibrium& one, DeviceEvent& event) {
    event.kind = DeviceEvent::Kind::kEquilibrium;
    populations_ = 1;
    const Density density = equilibrium_density(one, grid_);
    equilibrium_.assign(density.data(), density.data() + density.size());
  }
  void describe(const Schedule& schedule, DeviceEvent& event) {
    event.kind = DeviceEvent::Kind::kEpoch;
    n_steps_ += static_cast<std::int64_t>(schedule.steps.size());
    event.end_step = n_steps_;
    rounds_ += schedule.number_of_steps();
    for (int k = 0; k < populations_; ++k) {
      event.frozen[k] = schedule.frozen[k] != 0;
      event.mutates[k] = schedule.mutates[k] != 0;
    }
  }
  void describe(const Transition& transition, DeviceEvent& event) {
    event.kind = DeviceEvent::Kind::kTransition;
    event.transition = transition;
    populations_ = populations_after(transition, populations_);
  }

  const Plan& plan_;
  std::shared_ptr<const Grid> grid_;
  const Sampling& sampling_;
  double work_;
  int populations_ = 0;
  int most_populations_ = 0;
  std::int64_t rounds_ = 1;  // starts at 1, for the sampling
  std::vector<DeviceEvent> events_;
  std::int64_t n_steps_ = 0;  // distinct steps, without repetitions
  std::vector<double> equilibrium_;
  std::vector<SampleWeights> weights_;
};

using DeviceJobs = std::vector<std::unique_ptr<const DeviceJob>>;

DeviceJobs prepare(const std::vector<SpectrumJob>& jobs, const Sampling& sampling, int threads,
                   JobControl& control) {
  DeviceJobs prepared(jobs.size());
  run_tasks(control, threads, static_cast<std::int64_t>(jobs.size()),
            [&](std::int64_t i, const TaskContext&) {
              const auto index = static_cast<std::size_t>(i);
              prepared[index] = std::make_unique<const DeviceJob>(jobs[index], sampling);
            });
  return prepared;
}

// The host as a team: it launches operations one after another in a stream.
class LaunchTeam {
 public:
  LaunchTeam(DiffusionKernels& kernels, const TaskContext& context)
      : kernels_(kernels), context_(context) {}
  template <class Op>
  void for_each(const Op& op) const {
    kernels_.begin(op, 0);
  }
  void for_each(const CopyOp& op) const { kernels_.device().copy(op.to, op.from, op.size, 0); }
  // Launched operations cannot be stopped, so wait often enough to keep only a few in flight.
  void look() const {
    context_.throw_if_stopped();
    if (++looked_ % 16 == 0) kernels_.device().wait(0);
  }

 private:
  mutable int looked_ = 0;
  DiffusionKernels& kernels_;
  const TaskContext& context_;
};

// Jobs that a device runs together: one per block, or a single one on the whole device.
struct Batch {
  std::vector<std::size_t> jobs;
  bool in_blocks = true;
};

std::size_t bytes_of(const DeviceJob& job) {
  return job.image_bytes() + job.workspace_bytes() + sizeof(DevicePlan);
}

// Groups jobs, in decreasing order of work, into batches that fit the memory `budget`.
std::vector<Batch> make_batches(const DeviceJobs& jobs, std::size_t most_lines, std::size_t budget,
                                std::size_t devices) {
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return jobs[a]->work() > jobs[b]->work(); });
  std::vector<Batch> batches;
  std::vector<std::size_t> few_lines;
  for (const std::size_t i : order) {
    if (jobs[i]->lines() > most_lines) {
      batches.push_back({{i}, false});
    } else {
      few_lines.push_back(i);
    }
  }
  // Each device gets its share of the jobs that run in blocks.
  for (std::size_t d = 0; d < devices; ++d) {
    std::size_t bytes = budget + 1;
    for (std::size_t k = d; k < few_lines.size(); k += devices) {
      const std::size_t more = bytes_of(*jobs[few_lines[k]]);
      if (bytes + more > budget) {
        batches.push_back({});
        bytes = 0;
      }
      batches.back().jobs.push_back(few_lines[k]);
      bytes += more;
    }
  }
  return batches;
}

// One batch on one device, and its memory there.
class BatchRun {
 public:
  BatchRun(DiffusionKernels& kernels, const DeviceJobs& jobs, const Batch& batch)
      : kernels_(kernels), jobs_(jobs), batch_(batch) {
    std::size_t image = 0;
    for (const std::size_t i : batch.jobs) {
      images_.push_back(image);
      workspaces_.push_back(workspace_values_);
      image += jobs[i]->image_bytes();
      workspace_values_ += jobs[i]->workspace_bytes() / sizeof(double);
    }
    image_.resize(image);
  }

  // Bytes of the device's memory.
  std::size_t bytes() const {
    return batch_.jobs.size() * sizeof(DevicePlan) + image_.size() +
           workspace_values_ * sizeof(double);
  }
  // Returns false if the allocation fails.
  bool take_memory(MemoryPool& pool) {
    plans_ = {pool, batch_.jobs.size()};
    images_there_ = {pool, image_.size()};
    workspace_ = {pool, workspace_values_};
    return !plans_.refused() && !images_there_.refused() && !workspace_.refused();
  }

  // Writes the batch's spectra. In blocks, a launch computes about `values_at_once` values of each
  // plan; the host checks for a stop between launches.
  void run(const TaskContext& context, std::size_t values_at_once,
           std::vector<std::vector<double>>& spectra) {
    Device& device = kernels_.device();
    std::vector<DevicePlan> plans;
    for (std::size_t k = 0; k < batch_.jobs.size(); ++k) {
      plans.push_back(jobs_[batch_.jobs[k]]->write(&image_[images_[k]],
                                                   images_there_.data() + images_[k],
                                                   workspace_.data() + workspaces_[k]));
    }
    std::vector<std::vector<double>> outputs;
    for (const std::size_t i : batch_.jobs) outputs.emplace_back(jobs_[i]->outputs());
    drained_on_failure(device, [&] {
      device.upload(images_there_.data(), image_.data(), image_.size(), 0);
      if (batch_.in_blocks) {
        device.upload(plans_.data(), plans.data(), plans.size(), 0);
        do_in_blocks(context, values_at_once);
      } else {
        const DeviceJob& job = *jobs_[batch_.jobs[0]];
        DevicePlan plan = job.for_host(plans[0], &image_[images_[0]]);
        do_rounds(LaunchTeam(kernels_, context), plan, job.rounds());
      }
      for (std::size_t k = 0; k < plans.size(); ++k) {
        device.download(outputs[k].data(), plans[k].output, outputs[k].size(), 0);
      }
      device.wait(0);
    });
    for (std::size_t k = 0; k < plans.size(); ++k) {
      spectra[batch_.jobs[k]] = jobs_[batch_.jobs[k]]->spectrum(outputs[k].data(), context);
    }
  }

 private:
  // A launch cannot be stopped, so each launch does a limited number of rounds.
  void do_in_blocks(const TaskContext& context, std::size_t values_at_once) {
    std::int64_t rounds = 0;
    std::size_t values = 1;
    for (const std::size_t i : batch_.jobs) {
      rounds = std::max(rounds, jobs_[i]->rounds());
      values = std::max(values, jobs_[i]->values_of_a_round());
    }
    const auto at_once =
        static_cast<std::int64_t>(std::max(values_at_once / values, std::size_t{1}));
    for (std::int64_t done = 0; done < rounds; done += at_once) {
      context.throw_if_stopped();
      kernels_.begin(PlansOp{plans_.data(), plans_.size(), at_once}, 0);
      kernels_.device().wait(0);
    }
  }

  DiffusionKernels& kernels_;
  const DeviceJobs& jobs_;
  const Batch& batch_;
  std::vector<std::size_t> images_;      // the first byte of each job's image
  std::vector<std::size_t> workspaces_;  // the first value of each job's workspace
  std::size_t workspace_values_ = 0;
  std::vector<char> image_;  // all jobs' images
  DeviceArray<DevicePlan> plans_;
  DeviceArray<char> images_there_;
  DeviceArray<double> workspace_;
};

// Runs a batch, or its halves one after the other if the device lacks memory for the whole.
void do_batch(DiffusionKernels& kernels, MemoryPool& pool, const DeviceJobs& jobs,
              const Batch& batch, std::size_t budget, std::size_t values_at_once,
              const TaskContext& context, std::vector<std::vector<double>>& spectra) {
  {
    BatchRun run(kernels, jobs, batch);
    if (run.bytes() <= budget && run.take_memory(pool)) {
      run.run(context, values_at_once, spectra);
      return;
    }
    if (batch.jobs.size() == 1) throw_too_little_memory(pool, run.bytes(), budget);
  }
  const auto half = batch.jobs.begin() + static_cast<std::ptrdiff_t>(batch.jobs.size() / 2);
  for (const Batch& part : {Batch{{batch.jobs.begin(), half}, batch.in_blocks},
                            Batch{{half, batch.jobs.end()}, batch.in_blocks}}) {
    do_batch(kernels, pool, jobs, part, budget, values_at_once, context, spectra);
  }
}

}  // namespace

DiffusionDevices open_diffusion_devices(const Backend& backend) {
  check_usable_here(backend);
  DiffusionDevices devices;
#ifdef ANCIFY_HAVE_CUDA
  for (const int number : backend.devices) {
    devices.push_back(cuda::open_diffusion_kernels(number, number / backend.gpus_per_card));
  }
#endif
  return devices;
}

std::vector<std::vector<double>> device_spectra(const DiffusionDevices& devices,
                                                const std::vector<SpectrumJob>& jobs,
                                                const Sampling& sampling, std::size_t memory_limit,
                                                int threads, JobControl& control,
                                                std::size_t most_lines,
                                                std::size_t values_at_once) {
  const DeviceJobs on_device = prepare(jobs, sampling, threads, control);
  std::deque<MemoryPool> pools;
  std::vector<std::size_t> budgets;
  for (const auto& device : devices) {
    pools.emplace_back(device->device());
    budgets.push_back(memory_budget(pools.back(), memory_limit));
  }
  const std::size_t least = *std::min_element(budgets.begin(), budgets.end());
  const auto batches = make_batches(on_device, most_lines, least, devices.size());
  // For progress reports only.
  const auto units = [&](const Batch& batch) {
    double work = 1;
    for (const std::size_t i : batch.jobs) work += on_device[i]->work();
    return static_cast<std::int64_t>(std::min(work, 1e15));
  };
  for (const auto& batch : batches) control.expect(units(batch));
  std::vector<std::vector<double>> spectra(jobs.size());
  const int lanes = static_cast<int>(devices.size());
  run_in_lanes(control, lanes, lanes, static_cast<std::int64_t>(batches.size()),
               [&](std::int64_t i, const TaskContext& context) {
                 const Batch& batch = batches[static_cast<std::size_t>(i)];
                 const auto lane = static_cast<std::size_t>(i) % devices.size();
                 do_batch(*devices[lane], pools[lane], on_device, batch, budgets[lane],
                          values_at_once, context, spectra);
                 control.advance(units(batch));
               });
  return spectra;
}

}  // namespace ancify::diffusion
