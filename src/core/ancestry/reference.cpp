#include "core/ancestry/reference.h"

#include <string_view>
#include <utility>

#include "core/exec/errors.h"
#include "core/io/fasta.h"

namespace ancify {

namespace {

class ReferenceSource : public SequenceSource {
 public:
  explicit ReferenceSource(std::string bases) : bases_(std::move(bases)) {}
  SequenceForm form() const override { return SequenceForm::kCharacters; }
  const char* bases(std::int64_t start, std::size_t, char*) const override {
    return bases_.data() + start;
  }

 private:
  std::string bases_;
};

}  // namespace

std::unique_ptr<SequenceSource> reference_source(const std::string& path, std::int64_t length) {
  std::string bases;
  bool begun = false;
  const auto begin = [&](std::string_view, std::int64_t line) {
    if (begun) {
      throw FormatError(path, line, "a second sequence begins: give a file for each chromosome");
    }
    begun = true;
  };
  JobControl control;
  read_fasta(path, {begin, [&](std::string_view more) { bases += more; }}, control, TaskContext());
  if (static_cast<std::int64_t>(bases.size()) != length) {
    throw FormatError(path, 0,
                      "the sequence has " + std::to_string(bases.size()) +
                          " bases, and the chromosome " + std::to_string(length) +
                          ": give a reference in the focal genome's coordinates");
  }
  return std::make_unique<ReferenceSource>(std::move(bases));
}

}  // namespace ancify
