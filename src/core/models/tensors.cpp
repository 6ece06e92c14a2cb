// Opens files of tensors, and converts values of all types to floats.
#include "core/models/tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/exec/errors.h"
#include "core/io/foreign_format.h"
#include "core/io/zip_entries.h"
#include "core/models/safetensors.h"
#include "core/models/torch_file.h"
#include "core/nn/half.h"

namespace ancify {

std::size_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kF16:
    case ElementType::kBF16:
      return 2;
    case ElementType::kF32:
      return 4;
    default:
      return 8;
  }
}

std::int64_t count_elements(const std::vector<std::int64_t>& shape, const std::string& file) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  std::int64_t n = 1;
  for (const std::int64_t size : shape) {
    if (size > most || (size > 0 && n > most / size)) {
      throw FormatError(file, 0, "a tensor of shape " + shape_text(shape) + " is too large");
    }
    n *= size;
  }
  return n;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t size : shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  }
  return text.empty() ? "one number" : text;
}

float from_bfloat(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

namespace {

template <class Stored, class Convert>
void convert(const std::vector<char>& bytes, float* out, Convert one) {
  for (std::size_t i = 0; i < bytes.size() / sizeof(Stored); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof stored);
    out[i] = one(stored);
  }
}

void convert(ElementType type, const std::vector<char>& bytes, float* out) {
  switch (type) {
    case ElementType::kF32:
      std::memcpy(out, bytes.data(), bytes.size());
      break;
    case ElementType::kF16:
      convert<Half>(bytes, out, [](Half x) { return to_float(x); });
      break;
    case ElementType::kBF16:
      convert<std::uint16_t>(bytes, out, from_bfloat);
      break;
    case ElementType::kF64:
      convert<double>(bytes, out, [](double x) { return static_cast<float>(x); });
      break;
    case ElementType::kI64:
      convert<std::int64_t>(bytes, out, [](std::int64_t x) { return static_cast<float>(x); });
      break;
  }
}

// Prefixes that writers of files put before the names: fair-esm "encoder.sentence_encoder.",
// Hugging Face "esm.", "bert." and "encoder.", trainers "model.", "module." or, compiled,
// "_orig_mod.".
constexpr std::string_view kFronts[] = {"module.", "_orig_mod.", "model.",           "esm.",
                                        "bert.",   "encoder.",   "sentence_encoder."};

// Norms of BERT had these names originally, and transformers writes them again since 5.10.
constexpr std::pair<std::string_view, std::string_view> kOldEnds[] = {{".gamma", ".weight"},
                                                                      {".beta", ".bias"}};

std::string bare_name(std::string_view name) {
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view front : kFronts) {
      if (name.substr(0, front.size()) != front) continue;
      name.remove_prefix(front.size());
      found = true;
    }
  }
  for (const auto& [old, now] : kOldEnds) {
    const std::size_t kept = name.size() - std::min(name.size(), old.size());
    if (name.substr(kept) == old) return std::string(name.substr(0, kept)).append(now);
  }
  return std::string(name);
}

TensorTable read_table(const InputFile& file) {
  if (is_zip(file)) return read_torch_file(file);
  std::string start(static_cast<std::size_t>(std::min<std::int64_t>(file.size(), kForeignStart)),
                    '\0');
  file.read_at(start.data(), start.size(), 0);
  // The bytes of the header's length may look like any format, but only here a JSON text follows.
  if (start.size() > 8 && start[8] == '{') return read_safetensors(file);
  refuse_foreign_format(file.path(), start);
  if (start.size() > 1 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5) {
    throw FormatError(file.path(), 0,
                      "it is a pickle as torch wrote before version 1.6, which is not read: load "
                      "it in Python and save the weights as safetensors");
  }
  return read_safetensors(file);
}

}  // namespace

Checkpoint Checkpoint::open(const std::string& path, const InputIdentities& inputs) {
  InputFile file(path, inputs);
  const TensorTable table = read_table(file);
  Checkpoint checkpoint;
  checkpoint.add(std::move(file), table);
  return checkpoint;
}

Checkpoint Checkpoint::open_index(const std::string& path, const InputIdentities& inputs) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  Checkpoint checkpoint;
  for (const std::string& name : files_of_index(path)) {
    InputFile file(folder + name, inputs);
    const TensorTable table = read_table(file);
    checkpoint.add(std::move(file), table);
  }
  return checkpoint;
}

void Checkpoint::add(InputFile file, const TensorTable& table) {
  for (const auto& [name, tensor] : table) {
    const auto [found, is_new] =
        places_.emplace(bare_name(name), Place{tensor, files_.size(), name});
    if (!is_new) {
      throw FormatError(file.path(), 0,
                        "tensor '" + name + "' occurs twice: as '" + found->second.name + "' too");
    }
  }
  files_.push_back(std::move(file));
}

const TensorPlace* Checkpoint::find(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &found->second.tensor;
}

const Checkpoint::Place& Checkpoint::place_of(std::string_view name,
                                              const std::vector<std::int64_t>& shape) const {
  const auto found = places_.find(name);
  if (found == places_.end()) {
    throw FormatError(path(), 0, "there is no tensor '" + std::string(name) + "'");
  }
  const Place& place = found->second;
  if (place.tensor.shape != shape) {
    throw FormatError(files_[place.file].path(), 0,
                      "tensor '" + found->first + "' is " + shape_text(place.tensor.shape) +
                          ", where " + shape_text(shape) + " is needed");
  }
  return place;
}

void Checkpoint::check(std::string_view name, const std::vector<std::int64_t>& shape) const {
  place_of(name, shape);
}

std::vector<float> Checkpoint::read(std::string_view name, const std::vector<std::int64_t>& shape,
                                    const TaskContext& context) const {
  const Place& place = place_of(name, shape);
  const TensorPlace& tensor = place.tensor;
  const InputFile& file = files_[place.file];
  constexpr std::int64_t at_once = 1 << 20;
  const std::int64_t n = count_elements(shape, file.path());
  const auto size = static_cast<std::int64_t>(element_bytes(tensor.type));
  std::vector<float> values(static_cast<std::size_t>(n));
  std::vector<char> bytes;
  for (std::int64_t from = 0; from < n; from += at_once) {
    context.throw_if_stopped();
    bytes.resize(static_cast<std::size_t>(std::min(at_once, n - from) * size));
    file.read_at(bytes.data(), bytes.size(), tensor.offset + from * size);
    convert(tensor.type, bytes, values.data() + from);
  }
  if (!std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); })) {
    throw FormatError(file.path(), 0,
                      "tensor '" + std::string(name) + "' has a number that is not finite");
  }
  return values;
}

std::vector<std::string> Checkpoint::paths() const {
  std::vector<std::string> result;
  for (const InputFile& file : files_) result.push_back(file.path());
  return result;
}

std::vector<std::string> Checkpoint::names() const {
  std::vector<std::string> result;
  for (const auto& [name, place] : places_) result.push_back(name);
  return result;
}

void Checkpoint::refuse_others(const std::set<std::string>& used,
                               const std::vector<std::string_view>& spare,
                               const std::string& model) const {
  const auto is_spare = [&](std::string_view name) {
    return std::any_of(spare.begin(), spare.end(), [&](std::string_view one) {
      return one.back() == '.' ? name.substr(0, one.size()) == one : name == one;
    });
  };
  const Place* first = nullptr;
  std::size_t more = 0;
  for (const auto& [name, place] : places_) {
    if (used.count(name) != 0 || is_spare(name)) continue;
    more += first == nullptr ? 0 : 1;
    if (first == nullptr) first = &place;
  }
  if (first == nullptr) return;
  const std::string others =
      more == 0 ? "" : " (and " + std::to_string(more) + (more == 1 ? " other)" : " others)");
  throw FormatError(files_[first->file].path(), 0,
                    "tensor '" + first->name + "'" + others + " is none of " + model);
}

void Checkpoint::check_content(const TaskContext& context) const {
  for (const InputFile& file : files_) {
    if (is_zip(file)) check_entries(file, context);
    file.check_unchanged();
  }
}

}  // namespace ancify
