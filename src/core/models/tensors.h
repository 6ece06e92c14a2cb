// Tensors in files: where each one lies, and its numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/threads.h"
#include "core/io/file.h"

namespace ancify {

enum class ElementType { kF32, kF16, kBF16, kF64, kI64 };

std::size_t element_bytes(ElementType type);

// A tensor that a file has. Numbers lie row by row.
struct TensorPlace {
  ElementType type = ElementType::kF32;
  std::vector<std::int64_t> shape;
  std::int64_t offset = 0;  // bytes from the file's start
};

using TensorTable = std::map<std::string, TensorPlace>;

// Numbers of a tensor. FormatError that names the file if there are more than 2^40.
std::int64_t count_elements(const std::vector<std::int64_t>& shape, const std::string& file);

// A shape for messages: "320 x 33", or "one number".
std::string shape_text(const std::vector<std::int64_t>& shape);

// A float from the bits of its upper half.
float from_bfloat(std::uint16_t bits);

// The tensors of a model, in one file or several.
class Checkpoint {
 public:
  // Opens a file of weights, told apart by content. FormatError if it is damaged, or of a kind
  // that is not read.
  static Checkpoint open(const std::string& path, const InputIdentities& inputs);
  // Opens all files that an index (model.safetensors.index.json) names.
  static Checkpoint open_index(const std::string& path, const InputIdentities& inputs);

  // What a tensor is known by, in this order: its name, and its name without what makers of files
  // put before it.
  const TensorPlace* find(std::string_view name) const;
  // The tensor's numbers. FormatError if it is missing, has another shape, or a number that is not
  // finite.
  std::vector<float> read(std::string_view name, const std::vector<std::int64_t>& shape,
                          const TaskContext& context) const;
  // The file of error messages: the first one.
  const std::string& path() const { return files_.front().path(); }
  std::vector<std::string> paths() const;
  // The names of all tensors, without what makers put before them.
  std::vector<std::string> names() const;
  // FormatError if a file of torch has other bytes than its checksums tell. FileError if a file has
  // changed since it was opened. Call it at the end of reading.
  void check_content(const TaskContext& context) const;

 private:
  struct Place {
    TensorPlace tensor;
    std::size_t file;
  };
  void add(InputFile file, const TensorTable& table);

  std::vector<InputFile> files_;
  std::map<std::string, Place, std::less<>> places_;
};

}  // namespace ancify
