// Reads a reference of one sequence, and keeps it in memory as a source of bases.
#include "core/ancestry/comparison/reference.h"

#include <string_view>
#include <utility>

#include "core/exec/errors.h"
#include "core/formats/sequence/fasta.h"

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

void read_reference(const std::string& path, std::int64_t length,
                    const std::function<void(std::string_view)>& take, const TaskContext& context) {
  std::int64_t found = 0;
  const auto bases = [&](std::string_view more) {
    found += static_cast<std::int64_t>(more.size());
    if (found <= length) take(more);
  };
  const std::int64_t slice_end = read_one_sequence(path, bases, context);
  if (slice_end > 0 && found == slice_end && found < length) {
    take(std::string(static_cast<std::size_t>(length - found), 'N'));
    found = length;
  }
  if (found != length) {
    throw FormatError(path, 0,
                      "the sequence has " + std::to_string(found) +
                          " bases, but the chromosome has " + std::to_string(length) +
                          ": give a reference in the focal genome's coordinates");
  }
}

std::unique_ptr<SequenceSource> reference_source(const std::string& path, std::int64_t length) {
  std::string bases;
  read_reference(
      path, length, [&](std::string_view more) { bases += more; }, TaskContext());
  return std::make_unique<ReferenceSource>(std::move(bases));
}

}  // namespace ancify
