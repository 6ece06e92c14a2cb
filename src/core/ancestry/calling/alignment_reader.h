// Reads an alignment file step by step, and writes its species' bases into windows.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/ancestry/calling/reading_order.h"
#include "core/ancestry/calling/window_memory.h"
#include "core/ancestry/projection/projection.h"
#include "core/exec/job_control.h"
#include "core/io/byte_source.h"
#include "core/io/record_reader.h"

namespace ancify {

// Only one thread at a time may use it.
class AlignmentReader {
 public:
  // A species of the file; see ProjectionTarget.
  struct Target {
    std::size_t species;                   // its index
    std::string name_in_file;              // if the file has several species
    std::unique_ptr<SequenceStore> files;  // for its projected sequences; null if not kept
    bool focal = false;
  };
  // All references, and the memory's windows, must outlive this.
  AlignmentReader(const std::string& file, std::vector<Target> targets, WindowMemory& memory,
                  const Windows& windows, const std::vector<Chromosome>& chromosomes,
                  const ProjectionOptions& options, JobControl& control,
                  const TaskContext& context);
  AlignmentReader(const AlignmentReader&) = delete;
  AlignmentReader& operator=(const AlignmentReader&) = delete;

  Passage& passage() { return passage_; }
  const std::vector<std::unique_ptr<WindowStore>>& stores() const { return stores_; }
  bool has_ended() const { return has_ended_; }
  // After the end, one report for each target.
  const std::vector<ProjectionReport>& reports() const { return reports_; }

  // Continues to read until the file ends or, after at least a chunk, go_on() is false. Throws like
  // project_alignment().
  template <class GoOn>
  void read(GoOn go_on) {
    const auto consume = [&](std::string_view text, bool last) {
      return projector_->consume(text, last);
    };
    bool more = true;
    do {
      more = chunks_.next(context_, consume);
    } while (more && go_on());
    if (passage_.chromosome != Passage::kNowhere) {
      projector_->flush(passage_.chromosome, passage_.position);
    }
    if (!more) end();
  }

 private:
  void end();

  const std::string file_;
  const TaskContext& context_;
  Passage passage_;
  std::vector<std::unique_ptr<WindowStore>> stores_;
  std::unique_ptr<ByteSource> text_;
  ChunkReader chunks_;
  std::unique_ptr<AlignmentProjector> projector_;
  bool has_ended_ = false;
  std::vector<ProjectionReport> reports_;
};

}  // namespace ancify
