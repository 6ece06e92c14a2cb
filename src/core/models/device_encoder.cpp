// The steps of encoder.cpp on a device: one stream per pack, so that one pack is copied while
// another is computed.
#include "core/models/device_encoder.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

#include "core/device/taker.h"
#include "core/exec/errors.h"

#ifdef ANCIFY_HAVE_CUDA
#include "cuda/encoder_kernels.h"
#endif

namespace ancify {

namespace {

struct DeviceNorm {
  DeviceArray<float> gain;
  DeviceArray<float> bias;
  bool exists() const { return gain.size() > 0; }
};

template <class Number>
struct DeviceLinear {
  DeviceArray<Number> weight;
  DeviceArray<float> bias;
};

// Products are added to x without their biases. `bias` holds all biases that x lacks at this point,
// including the values' biases.
template <class Number>
struct DeviceLayer {
  DeviceNorm attention_norm;
  DeviceLinear<Number> query_key_value;
  DeviceLinear<Number> attention_out;
  DeviceNorm feed_forward_norm;
  DeviceLinear<Number> up;
  DeviceLinear<Number> down;
};

// A pack in flight.
template <class Number>
struct Slot {
  Mirrored<std::int32_t> tokens;
  Mirrored<float> factors;
  Mirrored<std::int32_t> positions;  // in sequences
  Mirrored<QueryBlock> blocks;
  DeviceArray<float> x;
  DeviceArray<Number> input;  // of the next product
  DeviceArray<Number> wide;   // output of products that are not added to x
  Mirrored<RowRange> own;
  Mirrored<float> result;  // receives states from x
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
      slot.positions = taker.take_both<std::int32_t>(tokens);
      slot.blocks = taker.take_both<QueryBlock>(tokens);
      slot.x = taker.take<float>(tokens * width());
      slot.input = taker.take<Number>(tokens * width());
      slot.wide = taker.take<Number>(tokens * std::max(3 * width(), up_columns()));
      slot.own = taker.take_both<RowRange>(tokens);
      slot.result = taker.take_both<float>(tokens * std::max(width(), vocabulary()));
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

  void begin(const Pack& pack, EncoderResult wanted, int stream) override {
    device_.wait(stream);  // a run that failed may have left work
    Slot<Number>& slot = slots_.at(static_cast<std::size_t>(stream));
    Step step = {slot, stream, static_cast<std::size_t>(pack.size()), 0};
    upload(pack, step);
    encode(step);
    const float* from = slot.result.there.data();
    std::size_t n = 0;
    switch (wanted) {
      case EncoderResult::kStates:
        from = x(step);
        n = step.tokens * width();
        break;
      case EncoderResult::kLogits:
        make_logits(step);
        n = step.tokens * vocabulary();
        break;
      case EncoderResult::kMeans:
        make_means(pack, step);
        n = pack.own.size() * width();
        break;
    }
    device_.download(slot.result.here.data(), from, n, stream);
  }

  const float* finish(int stream) override {
    device_.wait(stream);
    return slots_.at(static_cast<std::size_t>(stream)).result.here.data();
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
  std::size_t up_columns() const { return (encoder_.gated ? 2 : 1) * hidden(); }

  // ---- Weights ----

  // Waits for the copy, as `numbers` may be freed afterwards.
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
  DeviceNorm copy(const NormTensors& norm, Taker& taker) {
    return {copy(norm.gain, taker), copy(norm.bias, taker)};
  }
  DeviceLinear<Number> copy(const LinearTensors& linear, Taker& taker) {
    return {copy_factors(linear.weight, taker), copy(linear.bias, taker)};
  }
  // Copies the weights of a product that is added to x. `lacking`: the biases that x lacks,
  // updated.
  DeviceLinear<Number> copy_added(const LinearTensors& linear, std::vector<float>& lacking,
                                  Taker& taker) {
    // A norm after the sum replaces x.
    if (encoder_.norms == NormPlace::kAfter) lacking.assign(width(), 0);
    for (std::size_t j = 0; j < linear.bias.size(); ++j) lacking[j] += linear.bias[j];
    return {copy_factors(linear.weight, taker), copy(lacking, taker)};
  }
  // Attention's output product, with the contribution of the values' biases: a query's weights sum
  // to 1.
  LinearTensors with_values(const LayerTensors& layer) const {
    LinearTensors out = layer.attention_out;
    out.bias.resize(width());
    const float* const of_values = layer.query_key_value.bias.data() + 2 * width();
    for (std::size_t i = 0; i < width(); ++i) {
      const float* const row = out.weight.data() + i * width();
      out.bias[i] = static_cast<float>(
          std::inner_product(row, row + width(), of_values, static_cast<double>(out.bias[i])));
    }
    return out;
  }
  void copy_weights() {
    Taker taker(pool_, memory_limit_, 0);
    embedding_ = copy(encoder_.embedding, taker);
    embedding_norm_ = copy(encoder_.embedding_norm, taker);
    std::vector<float> lacking(width());
    for (const LayerTensors& layer : encoder_.layers) {
      layers_.push_back({copy(layer.attention_norm, taker), copy(layer.query_key_value, taker),
                         copy_added(with_values(layer), lacking, taker),
                         copy(layer.feed_forward_norm, taker), copy(layer.up, taker),
                         copy_added(layer.down, lacking, taker)});
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
        slot.positions.here.data()[i] = static_cast<std::int32_t>(i) - first;
      }
    }
    send(slot.tokens, step.tokens, step.stream);
    send(slot.factors, step.tokens, step.stream);
    send(slot.positions, step.tokens, step.stream);
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
    if (after || embedding_norm_.exists()) normalise(step, embedding_norm_, nullptr, true);
    if (!after) normalise(step, layers_.front().attention_norm, nullptr, false);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const DeviceLayer<Number>& layer = layers_[i];
      const bool last = i + 1 == layers_.size();
      attend(step, layer);
      normalise(step, after ? layer.attention_norm : layer.feed_forward_norm,
                layer.attention_out.bias.data(), after);
      feed_forward(step, layer);
      const DeviceNorm& next = after  ? layer.feed_forward_norm
                               : last ? last_norm_
                                      : layers_[i + 1].attention_norm;
      normalise(step, next, layer.down.bias.data(), after || last);
    }
    if (after && last_norm_.exists()) normalise(step, last_norm_, nullptr, true);
  }

  void attend(const Step& step, const DeviceLayer<Number>& layer) {
    Slot<Number>& slot = step.slot;
    multiply(step, slot.input, layer.query_key_value.weight, 3 * width(), slot.wide.data());
    const auto heads = static_cast<int>(shape_.heads);
    const auto wide = static_cast<int>(shape_.head_width());
    const bool sloped = slopes_.size() > 0;
    kernels_.begin(
        RotateOp<Number>{step.tokens, heads, wide, slot.wide.data(),
                         layer.query_key_value.bias.data(), slot.positions.there.data(),
                         sloped ? nullptr : cosines_.data(), sloped ? nullptr : sines_.data()},
        step.stream);
    kernels_.begin(
        AttentionOp<Number>{slot.wide.data(), sloped ? slopes_.data() : nullptr,
                            slot.blocks.there.data(), step.blocks, heads, wide, slot.input.data()},
        step.stream);
    multiply_and_add(step, slot.input, width(), layer.attention_out.weight, width());
  }

  void feed_forward(const Step& step, const DeviceLayer<Number>& layer) {
    Slot<Number>& slot = step.slot;
    multiply(step, slot.input, layer.up.weight, up_columns(), slot.wide.data());
    const float* const bias = encoder_.gated ? nullptr : layer.up.bias.data();
    kernels_.begin(ActivateOp<Number>{step.tokens, hidden(), slot.wide.data(), bias}, step.stream);
    multiply_and_add(step, slot.wide, up_columns(), layer.down.weight, hidden());
  }

  void make_logits(const Step& step) {
    Slot<Number>& slot = step.slot;
    multiply(step, slot.input, head_dense_.weight, width(), x(step));
    kernels_.begin(ActivateOp<float>{step.tokens, width(), x(step), head_dense_.bias.data()},
                   step.stream);
    normalise(step, head_norm_, nullptr, false);
    multiply(step, slot.input, head_out_, vocabulary(), slot.result.there.data());
  }

  void make_means(const Pack& pack, const Step& step) {
    Slot<Number>& slot = step.slot;
    std::transform(pack.own.begin(), pack.own.end(), slot.own.here.data(),
                   [](const PackRows& rows) {
                     return RowRange{static_cast<std::int32_t>(rows.first),
                                     static_cast<std::int32_t>(rows.end)};
                   });
    send(slot.own, pack.own.size(), step.stream);
    kernels_.begin(
        MeanOp{x(step), slot.own.there.data(), pack.own.size(), width(), slot.result.there.data()},
        step.stream);
  }

  // to = from W', for rows of length `width`.
  template <class Sum>
  void multiply(const Step& step, const DeviceArray<Number>& from,
                const DeviceArray<Number>& weight, std::size_t columns, Sum* to) {
    begin_product(step, from, width(), weight, columns, width(), false, to);
  }
  // x += from W'. Rows of `from` are `stride` apart.
  void multiply_and_add(const Step& step, const DeviceArray<Number>& from, std::size_t stride,
                        const DeviceArray<Number>& weight, std::size_t depth) {
    begin_product(step, from, stride, weight, width(), depth, true, x(step));
  }
  template <class Sum>
  void begin_product(const Step& step, const DeviceArray<Number>& from, std::size_t stride,
                     const DeviceArray<Number>& weight, std::size_t columns, std::size_t depth,
                     bool adds, Sum* to) {
    kernels_.begin(
        ProductOp<Number, Sum>{static_cast<std::int64_t>(step.tokens),
                               static_cast<std::int64_t>(columns), static_cast<std::int64_t>(depth),
                               from.data(), static_cast<std::int64_t>(stride), weight.data(), adds,
                               to},
        step.stream);
  }
  // Writes the norm of x + bias to the next product's input, and to x if `replaces`.
  void normalise(const Step& step, const DeviceNorm& norm, const float* bias, bool replaces) {
    kernels_.begin(NormOp<Number>{step.tokens,
                                  width(),
                                  x(step),
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
  DeviceNorm embedding_norm_;
  std::vector<DeviceLayer<Number>> layers_;
  DeviceNorm last_norm_;
  DeviceArray<float> slopes_;
  DeviceLinear<Number> head_dense_;
  DeviceNorm head_norm_;
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
  if (static_cast<std::size_t>(encoder.shape.width) > kWidestRow) {
    throw InputError("an encoder of width " + std::to_string(encoder.shape.width) +
                     " is not computed on a GPU, which takes up to " + std::to_string(kWidestRow) +
                     ": use the CPU");
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
