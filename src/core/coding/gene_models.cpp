// An index of parts by their starts, with the largest end so far, finds the parts at a position.
#include "core/coding/gene_models.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/exec/errors.h"

namespace ancify {

namespace {

void check(const Transcript& transcript) {
  if (transcript.phase < 0 || transcript.phase > 2) {
    throw InputError("a transcript's phase is " + std::to_string(transcript.phase) +
                     ", not 0, 1 or 2");
  }
  for (const CodingPart& part : transcript.parts) {
    if (part.start < 0 || part.end <= part.start || part.end > kLastPosition) {
      throw InputError("a coding part reaches from " + std::to_string(part.start + 1) + " to " +
                       std::to_string(part.end) +
                       ". Positions count from 1, are below 2^31, and the start is first");
    }
  }
}

}  // namespace

GeneModels::GeneModels(std::vector<Transcript> transcripts) : transcripts_(std::move(transcripts)) {
  for (std::size_t t = 0; t < transcripts_.size(); ++t) {
    check(transcripts_[t]);
    std::vector<std::int64_t> ends;
    std::int64_t before = 0;
    for (const CodingPart& part : transcripts_[t].parts) {
      index_.push_back({part, t, before});
      before += part.end - part.start;
      ends.push_back(before);
    }
    ends_.push_back(std::move(ends));
  }
  std::stable_sort(index_.begin(), index_.end(), [](const IndexedPart& a, const IndexedPart& b) {
    return a.part.start < b.part.start;
  });
  for (const IndexedPart& indexed : index_) {
    reach_.push_back(std::max(indexed.part.end, reach_.empty() ? 0 : reach_.back()));
  }
}

std::int64_t GeneModels::length(std::size_t transcript) const {
  const std::int64_t all = ends_[transcript].empty() ? 0 : ends_[transcript].back();
  return std::max<std::int64_t>(all - transcripts_[transcript].phase, 0);
}

std::int64_t GeneModels::end(std::size_t transcript) const {
  std::int64_t end = 0;
  for (const CodingPart& part : transcripts_[transcript].parts) end = std::max(end, part.end);
  return end;
}

std::int64_t GeneModels::position(std::size_t transcript, std::int64_t offset) const {
  const Transcript& model = transcripts_[transcript];
  const std::vector<std::int64_t>& ends = ends_[transcript];
  const std::int64_t base = offset + model.phase;
  const auto i =
      static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), base) - ends.begin());
  const CodingPart& part = model.parts[i];
  const std::int64_t from_end = ends[i] - base;  // 1 at the part's last base
  return model.forward ? part.end - from_end : part.start + from_end - 1;
}

std::vector<CodingPlace> GeneModels::at(std::int64_t position) const {
  std::vector<CodingPlace> places;
  auto i =
      static_cast<std::size_t>(std::upper_bound(index_.begin(), index_.end(), position,
                                                [](std::int64_t p, const IndexedPart& indexed) {
                                                  return p < indexed.part.start;
                                                }) -
                               index_.begin());
  for (; i > 0 && reach_[i - 1] > position; --i) {
    const IndexedPart& indexed = index_[i - 1];
    if (indexed.part.end <= position) continue;
    const Transcript& model = transcripts_[indexed.transcript];
    const std::int64_t in_part =
        model.forward ? position - indexed.part.start : indexed.part.end - 1 - position;
    places.push_back({indexed.transcript, indexed.before + in_part - model.phase});
  }
  std::sort(places.begin(), places.end(), [](const CodingPlace& a, const CodingPlace& b) {
    return a.transcript != b.transcript ? a.transcript < b.transcript : a.offset < b.offset;
  });
  return places;
}

}  // namespace ancify
