// The steps of encoder.cpp on a device: a stream a pack, so that one pack is copied while another
// is computed.
#include "core/models/device_encoder.h"

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <utility>

#include "core/device/memory_pool.h"
#include "core/device/tiles.h"
#include "core/exec/errors.h"

#ifdef ANCIFY_HAVE_CUDA
#include "cuda/encoder_kernels.h"
#endif

namespace ancify {

namespace {

struct NormThere {
  DeviceArray<float> gain;
  DeviceArray<float> bias;
  bool exists() const { return gain.size() > 0; }
};

template <class Number>
struct LinearThere {
  DeviceArray<Number> weight;
  DeviceArray<float> bias;
};

template <class Number>
struct LayerThere {
  NormThere attention_norm;
  LinearThere<Number> query_key_value;
  LinearThere<Number> attention_out;
  NormThere feed_forward_norm;
  LinearThere<Number> up;
  LinearThere<Number> down;
};

// Takes memory of a device up to a limit, of which `used` bytes are taken already.
class Taker {
 public:
  Taker(MemoryPool& pool, std::size_t limit, std::size_t used)
      : pool_(pool), budget_(used + memory_budget(pool, limit, used)), wanted_(used) {}
  std::size_t wanted() const { return wanted_; }

  template <class T>
  DeviceArray<T> take(std::size_t n) {
    wanted_ += n * sizeof(T);
    if (wanted_ > budget_) throw_too_little_memory(pool_, wanted_, budget_);
    DeviceArray<T> array(pool_, n);
    if (array.refused()) throw_too_little_memory(pool_, wanted_, budget_);
    return array;
  }
  template <class T>
  DeviceArray<T> take_here(std::size_t n) {
    DeviceArray<T> array(pool_, n, MemoryKind::kHost);
    if (array.refused()) throw_too_little_host_memory(pool_.device(), n * sizeof(T));
    return array;
  }
  template <class T>
  Mirrored<T> take_both(std::size_t n) {
    return {take<T>(n), take_here<T>(n)};
  }

 private:
  MemoryPool& pool_;
  std::size_t budget_;
  std::size_t wanted_;
};

// A pack on its way.
template <class Number>
struct Slot {
  Mirrored<std::int32_t> tokens;
  Mirrored<float> factors;
  Mirrored<QueryBlock> blocks;
  DeviceArray<float> x;
  DeviceArray<Number> input;  // of the next product
  DeviceArray<float> wide;    // what products give
  DeviceArray<Number> hidden;
  DeviceArray<float> result;  // on the host
};

template <class Number>
class EncoderOnDevice : public DeviceEncoder {
 public:
  EncoderOnDevice(EncoderKernels& kernels, const Encoder& encoder, std::size_t memory_limit)
      : kernels_(kernels),
        device_(kernels.device()),
        encoder_(encoder),
        shape_(encoder.shape),
        memory_limit_(memory_limit),
        pool_(device_) {
    drained_on_failure(device_, [&] { copy_weights(); });
  }
  ~EncoderOnDevice() override { device_.drain(); }  // after a failure, work may use the memory

  void expect(std::int64_t most_tokens) override {
    if (most_tokens <= most_tokens_) return;
    for (int stream = 0; stream < Device::kStreams; ++stream) device_.wait(stream);
    slots_ = {};
    cosines_ = {};
    sines_ = {};
    most_tokens_ = 0;
    pool_.release_idle();
    Taker taker(pool_, memory_limit_, weight_bytes_);
    const auto tokens = static_cast<std::size_t>(most_tokens);
    for (Slot<Number>& slot : slots_) {
      slot.tokens = taker.take_both<std::int32_t>(tokens);
      slot.factors = taker.take_both<float>(tokens);
      slot.blocks = taker.take_both<QueryBlock>(tokens);
      slot.x = taker.take<float>(tokens * width());
      slot.input = taker.take<Number>(tokens * width());
      slot.wide = taker.take<float>(tokens * widest());
      slot.hidden = taker.take<Number>(tokens * hidden());
      slot.result = taker.take_here<float>(tokens * std::max(width(), vocabulary()));
    }
    if (!encoder_.inverse_frequencies.empty()) {
      const Angles angles = angles_of(encoder_.inverse_frequencies, most_tokens);
      drained_on_failure(device_, [&] {
        cosines_ = copy(angles.cosines, taker);
        sines_ = copy(angles.sines, taker);
      });
    }
    most_tokens_ = most_tokens;
  }

  void begin(const Pack& pack, bool wants_logits, int stream) override {
    device_.wait(stream);  // a run that failed may have left work
    Slot<Number>& slot = slots_.at(static_cast<std::size_t>(stream));
    Step step = {slot, stream, static_cast<std::size_t>(pack.size()), 0};
    upload(pack, step);
    encode(step);
    if (wants_logits) make_logits(step);
    const float* const from = wants_logits ? slot.wide.data() : slot.x.data();
    const std::size_t columns = wants_logits ? vocabulary() : width();
    device_.download(slot.result.data(), from, step.tokens * columns, stream);
  }

  const float* finish(int stream) override {
    device_.wait(stream);
    return slots_.at(static_cast<std::size_t>(stream)).result.data();
  }

 private:
  struct Step {
    Slot<Number>& slot;
    int stream;
    std::size_t tokens;
    std::size_t blocks;
  };

  std::size_t width() const { return static_cast<std::size_t>(shape_.width); }
  std::size_t hidden() const { return static_cast<std::size_t>(shape_.hidden); }
  std::size_t vocabulary() const { return static_cast<std::size_t>(shape_.vocabulary); }
  // Columns of the widest product.
  std::size_t widest() const {
    const std::size_t up = (encoder_.gated ? 2 : 1) * hidden();
    return std::max({3 * width(), up, vocabulary()});
  }

  // ---- Weights ----

  // Waits for the copy, as `numbers` may be gone after it.
  template <class T>
  DeviceArray<T> copy(const std::vector<T>& numbers, Taker& taker) {
    DeviceArray<T> there = taker.take<T>(numbers.size());
    if (numbers.empty()) return there;
    device_.upload(there.data(), numbers.data(), numbers.size(), 0);
    device_.wait(0);
    return there;
  }
  DeviceArray<Number> copy_factors(const std::vector<float>& numbers, Taker& taker) {
    if constexpr (std::is_same_v<Number, float>) {
      return copy(numbers, taker);
    } else {
      std::vector<Number> rounded(numbers.size());
      for (std::size_t i = 0; i < numbers.size(); ++i) store(numbers[i], rounded[i]);
      return copy(rounded, taker);
    }
  }
  NormThere copy(const NormTensors& norm, Taker& taker) {
    return {copy(norm.gain, taker), copy(norm.bias, taker)};
  }
  LinearThere<Number> copy(const LinearTensors& linear, Taker& taker) {
    return {copy_factors(linear.weight, taker), copy(linear.bias, taker)};
  }
  void copy_weights() {
    Taker taker(pool_, memory_limit_, 0);
    embedding_ = copy(encoder_.embedding, taker);
    embedding_norm_ = copy(encoder_.embedding_norm, taker);
    for (const LayerTensors& layer : encoder_.layers) {
      layers_.push_back({copy(layer.attention_norm, taker), copy(layer.query_key_value, taker),
                         copy(layer.attention_out, taker), copy(layer.feed_forward_norm, taker),
                         copy(layer.up, taker), copy(layer.down, taker)});
    }
    last_norm_ = copy(encoder_.last_norm, taker);
    slopes_ = copy(encoder_.slopes, taker);
    if (encoder_.has_head()) {
      head_dense_ = copy(encoder_.head.dense, taker);
      head_norm_ = copy(encoder_.head.norm, taker);
      const std::vector<float>& out = encoder_.head.out.weight;
      head_out_ = copy_factors(out.empty() ? encoder_.embedding : out, taker);
    }
    weight_bytes_ = taker.wanted();
  }

  // ---- Packs ----

  void upload(const Pack& pack, Step& step) {
    Slot<Number>& slot = step.slot;
    std::copy(pack.tokens.begin(), pack.tokens.end(), slot.tokens.here.data());
    for (std::size_t s = 0; s + 1 < pack.offsets.size(); ++s) {
      const auto first = static_cast<std::int32_t>(pack.offsets[s]);
      const auto end = static_cast<std::int32_t>(pack.offsets[s + 1]);
      for (std::int32_t i = first; i < end; i += kBlockQueries) {
        slot.blocks.here.data()[step.blocks++] = {i, std::min(i + kBlockQueries, end), first, end};
      }
      for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(end); ++i) {
        const bool counts = pack.tokens[i] != pack.zero_token;
        slot.factors.here.data()[i] = counts ? pack.scales[s] : 0;
      }
    }
    send(slot.tokens, step.tokens, step.stream);
    send(slot.factors, step.tokens, step.stream);
    send(slot.blocks, step.blocks, step.stream);
  }
  template <class T>
  void send(const Mirrored<T>& array, std::size_t n, int stream) {
    device_.upload(array.there.data(), array.here.data(), n, stream);
  }

  // ---- Steps ----

  void encode(const Step& step) {
    const bool after = encoder_.norms == NormPlace::kAfter;
    kernels_.begin(EmbedOp{embedding_.data(), step.slot.tokens.there.data(),
                           step.slot.factors.there.data(), step.tokens, width(), x(step)},
                   step.stream);
    if (after || embedding_norm_.exists()) normalise(step, embedding_norm_, true);
    if (!after) normalise(step, layers_.front().attention_norm, false);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const LayerThere<Number>& layer = layers_[i];
      const bool last = i + 1 == layers_.size();
      attend(step, layer);
      add(step, layer.attention_out, after ? layer.attention_norm : layer.feed_forward_norm, after);
      feed_forward(step, layer);
      if (after) {
        add(step, layer.down, layer.feed_forward_norm, true);
      } else {
        add(step, layer.down, last ? last_norm_ : layers_[i + 1].attention_norm, last);
      }
    }
    if (after && last_norm_.exists()) normalise(step, last_norm_, true);
  }

  void attend(const Step& step, const LayerThere<Number>& layer) {
    Slot<Number>& slot = step.slot;
    multiply(step, slot.input, layer.query_key_value.weight, 3 * width(), width());
    kernels_.begin(
        AttentionOp<Number>{slot.wide.data(), layer.query_key_value.bias.data(),
                            slopes_.size() > 0 ? nullptr : cosines_.data(),
                            slopes_.size() > 0 ? nullptr : sines_.data(),
                            slopes_.size() > 0 ? slopes_.data() : nullptr, slot.blocks.there.data(),
                            step.blocks, static_cast<int>(shape_.heads),
                            static_cast<int>(shape_.head_width()), slot.input.data()},
        step.stream);
    multiply(step, slot.input, layer.attention_out.weight, width(), width());
  }

  void feed_forward(const Step& step, const LayerThere<Number>& layer) {
    Slot<Number>& slot = step.slot;
    multiply(step, slot.input, layer.up.weight, (encoder_.gated ? 2 : 1) * hidden(), width());
    const float* const bias = encoder_.gated ? nullptr : layer.up.bias.data();
    kernels_.begin(
        ActivateOp<Number>{step.tokens, hidden(), slot.wide.data(), bias, slot.hidden.data()},
        step.stream);
    multiply(step, slot.hidden, layer.down.weight, width(), hidden());
  }

  void make_logits(const Step& step) {
    Slot<Number>& slot = step.slot;
    multiply(step, slot.input, head_dense_.weight, width(), width());
    kernels_.begin(
        ActivateOp<float>{step.tokens, width(), slot.wide.data(), head_dense_.bias.data(), x(step)},
        step.stream);
    normalise(step, head_norm_, false);
    multiply(step, slot.input, head_out_, vocabulary(), width());
  }

  // wide = from W'
  void multiply(const Step& step, const DeviceArray<Number>& from,
                const DeviceArray<Number>& weight, std::size_t columns, std::size_t depth) {
    kernels_.begin(
        ProductOp<Number>{static_cast<std::int64_t>(step.tokens),
                          static_cast<std::int64_t>(columns), static_cast<std::int64_t>(depth),
                          from.data(), weight.data(), step.slot.wide.data()},
        step.stream);
  }
  // The norm of x goes to the next product, and to x if it replaces it.
  void normalise(const Step& step, const NormThere& norm, bool replaces) {
    add_and_normalise(step, nullptr, nullptr, norm, replaces);
  }
  // The same after x += wide + bias.
  void add(const Step& step, const LinearThere<Number>& linear, const NormThere& norm,
           bool replaces) {
    add_and_normalise(step, step.slot.wide.data(), linear.bias.data(), norm, replaces);
  }
  void add_and_normalise(const Step& step, const float* y, const float* bias, const NormThere& norm,
                         bool replaces) {
    kernels_.begin(AddNormOp<Number>{step.tokens,
                                     width(),
                                     x(step),
                                     y,
                                     bias,
                                     {norm.gain.data(), norm.bias.data(), encoder_.epsilon},
                                     replaces,
                                     step.slot.input.data()},
                   step.stream);
  }
  static float* x(const Step& step) { return step.slot.x.data(); }

  EncoderKernels& kernels_;
  Device& device_;
  const Encoder& encoder_;
  const EncoderShape& shape_;
  std::size_t memory_limit_;
  MemoryPool pool_;
  DeviceArray<float> embedding_;
  NormThere embedding_norm_;
  std::vector<LayerThere<Number>> layers_;
  NormThere last_norm_;
  DeviceArray<float> slopes_;
  LinearThere<Number> head_dense_;
  NormThere head_norm_;
  DeviceArray<Number> head_out_;
  std::size_t weight_bytes_ = 0;
  std::int64_t most_tokens_ = 0;
  DeviceArray<float> cosines_;
  DeviceArray<float> sines_;
  std::array<Slot<Number>, Device::kStreams> slots_;
};

}  // namespace

std::vector<std::unique_ptr<EncoderKernels>> open_encoder_devices(const Backend& backend) {
  check_usable_here(backend);
  std::vector<std::unique_ptr<EncoderKernels>> kernels;
#ifdef ANCIFY_HAVE_CUDA
  for (const int number : backend.devices) {
    kernels.push_back(cuda::open_encoder_kernels(number, number / backend.gpus_per_card));
  }
#endif
  return kernels;
}

std::unique_ptr<DeviceEncoder> encoder_on(EncoderKernels& kernels, const Encoder& encoder,
                                          Precision precision, std::size_t memory_limit) {
  if (encoder.shape.head_width() > kWidestHead) {
    throw InputError("heads of width " + std::to_string(encoder.shape.head_width()) +
                     " are not computed on a GPU, which takes up to " +
                     std::to_string(kWidestHead) + ": use the CPU");
  }
  if (precision == Precision::kHalf) {
    return std::make_unique<EncoderOnDevice<Half>>(kernels, encoder, memory_limit);
  }
  return std::make_unique<EncoderOnDevice<float>>(kernels, encoder, memory_limit);
}

std::unique_ptr<DeviceEncoders> open_device_encoders(const Backend& backend, const Encoder& encoder,
                                                     Precision precision,
                                                     const TaskContext& context) {
  auto devices = std::make_unique<DeviceEncoders>();
  devices->precision = precision;
  devices->kernels = open_encoder_devices(backend);
  for (const auto& kernels : devices->kernels) {
    context.throw_if_stopped();
    devices->encoders.push_back(encoder_on(*kernels, encoder, precision, backend.gpu_memory));
  }
  return devices->encoders.empty() ? nullptr : std::move(devices);
}

}  // namespace ancify
