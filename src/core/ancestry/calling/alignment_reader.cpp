// Joins a file's text, its projector and the stores of its species.
#include "core/ancestry/calling/alignment_reader.h"

#include <utility>

namespace ancify {

AlignmentReader::AlignmentReader(const std::string& file, std::vector<Target> targets,
                                 WindowMemory& memory, const Windows& windows,
                                 const std::vector<Chromosome>& chromosomes,
                                 const ProjectionOptions& options, JobControl& control,
                                 const TaskContext& context)
    : file_(file),
      context_(context),
      text_(open_text(file, options.chunk_size, context)),
      chunks_(read_counted(*text_, control), options.chunk_size, text_.get()) {
  std::vector<ProjectionTarget> to_project;
  for (Target& target : targets) {
    stores_.push_back(std::make_unique<WindowStore>(memory, windows, target.species, passage_,
                                                    std::move(target.files)));
    to_project.push_back({target.name_in_file, stores_.back().get(), target.focal});
  }
  projector_ =
      std::make_unique<AlignmentProjector>(file_, to_project, chromosomes, options, context);
}

void AlignmentReader::end() {
  reports_ = projector_->finish();
  context_.throw_if_stopped();
  for (const auto& store : stores_) store->commit(context_);
  projector_.reset();
  text_.reset();
  has_ended_ = true;
}

}  // namespace ancify
