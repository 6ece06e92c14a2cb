// Tensors in files: their locations and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/threads.h"
#include "core/io/file.h"

namespace ancify {

enum class ElementType { kF32, kF16, kBF16, kF64, kI64 };

std::size_t element_bytes(ElementType type);

// A tensor in a file. Values are in row-major order.
struct TensorPlace {
  ElementType type = ElementType::kF32;
  std::vector<std::int64_t> shape;
  std::int64_t offset = 0;  // bytes from the file's start
};

using TensorTable = std::map<std::string, TensorPlace>;

// The number of elements of a tensor. FormatError that names the file if it exceeds 2^40.
std::int64_t count_elements(const std::vector<std::int64_t>& shape, const std::string& file);

// A shape for messages: "320 x 33", or "one number".
std::string shape_text(const std::vector<std::int64_t>& shape);

// The float with these upper 16 bits.
float from_bfloat(std::uint16_t bits);

// The tensors of a model, in one file or several.
class Checkpoint {
 public:
  // Opens a file of weights, recognised by content. FormatError if it is damaged, or of an
  // unsupported kind.
  static Checkpoint open(const std::string& path, const InputIdentities& inputs);
  // Opens all files that an index (model.safetensors.index.json) names.
  static Checkpoint open_index(const std::string& path, const InputIdentities& inputs);

  // The tensor of a bare name, without writers' prefixes, and with weight and bias instead of gamma
  // and beta in norms.
  const TensorPlace* find(std::string_view name) const;
  // FormatError if the tensor is missing, or has another shape.
  void check(std::string_view name, const std::vector<std::int64_t>& shape) const;
  // The tensor's values. FormatError as in check(), or if a value is not finite.
  std::vector<float> read(std::string_view name, const std::vector<std::int64_t>& shape,
                          const TaskContext& context) const;
  // The file named in error messages: the first one.
  const std::string& path() const { return files_.front().path(); }
  std::vector<std::string> paths() const;
  // The bare names of all tensors.
  std::vector<std::string> names() const;
  // Refuses tensors that `model` does not use: they imply another architecture, which would be
  // computed wrongly. `used` and `spare`, which are allowed too, hold bare names; a name ending
  // with a dot stands for all that begin with it. FormatError that names the first.
  void refuse_others(const std::set<std::string>& used, const std::vector<std::string_view>& spare,
                     const std::string& model) const;
  // FormatError if a file of torch does not match its checksums. FileError if a file has changed
  // since it was opened. Call it at the end of reading.
  void check_content(const TaskContext& context) const;

 private:
  struct Place {
    TensorPlace tensor;
    std::size_t file;
    std::string name;  // in the file
  };
  void add(InputFile file, const TensorTable& table);
  const Place& place_of(std::string_view name, const std::vector<std::int64_t>& shape) const;

  std::vector<InputFile> files_;
  std::map<std::string, Place, std::less<>> places_;
};

}  // namespace ancify
