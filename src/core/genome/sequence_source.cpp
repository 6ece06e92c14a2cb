// Provides sequences from files and from memory.
#include "core/genome/sequence_source.h"

#include "core/genome/sequence_file.h"

namespace ancify {

namespace {

class FileSource : public SequenceSource {
 public:
  FileSource(const std::string& path, const std::string& name, std::int64_t length,
             const InputIdentities& inputs)
      : reader_(path, name, length, inputs) {}
  SequenceForm form() const override { return SequenceForm::kCharacters; }
  const char* bases(std::int64_t start, std::size_t n, char* buffer) const override {
    reader_.read(start, n, buffer);
    return buffer;
  }
  void check_unchanged() const override { reader_.check_unchanged(); }

 private:
  SequenceReader reader_;
};

class MemorySource : public SequenceSource {
 public:
  MemorySource(const char* bases, SequenceForm form) : bases_(bases), form_(form) {}
  SequenceForm form() const override { return form_; }
  const char* bases(std::int64_t start, std::size_t, char*) const override {
    return bases_ + (form_ == SequenceForm::kPacked ? start / 2 : start);
  }

 private:
  const char* bases_;
  SequenceForm form_;
};

}  // namespace

std::unique_ptr<SequenceSource> file_source(const std::string& path, const std::string& name,
                                            std::int64_t length, const InputIdentities& inputs) {
  return std::make_unique<FileSource>(path, name, length, inputs);
}

std::unique_ptr<SequenceSource> memory_source(const char* bases, SequenceForm form) {
  return std::make_unique<MemorySource>(bases, form);
}

}  // namespace ancify
