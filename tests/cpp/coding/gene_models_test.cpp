// Gene models against a walk over all bases.
#include "core/coding/gene_models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <random>

#include "core/exec/errors.h"

namespace ancify {
namespace {

// The genome's position of each base of a transcript, from its first whole codon on.
std::vector<std::int64_t> bases_of(const Transcript& transcript) {
  std::vector<std::int64_t> bases;
  for (const CodingPart& part : transcript.parts) {
    for (std::int64_t i = 0; i < part.end - part.start; ++i) {
      bases.push_back(transcript.forward ? part.start + i : part.end - 1 - i);
    }
  }
  bases.erase(bases.begin(),
              bases.begin() + std::min<std::ptrdiff_t>(transcript.phase,
                                                       static_cast<std::ptrdiff_t>(bases.size())));
  return bases;
}

Transcript random_transcript(std::mt19937& random, std::int64_t length) {
  Transcript transcript;
  transcript.forward = random() % 2 == 0;
  transcript.phase = static_cast<int>(random() % 3);
  std::vector<std::int64_t> ends;
  for (unsigned i = 0; i < 2 * (1 + random() % 4); ++i) {
    ends.push_back(static_cast<std::int64_t>(random()) % length);
  }
  std::sort(ends.begin(), ends.end());
  for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
    transcript.parts.push_back({ends[i], ends[i + 1] + 1});
  }
  if (!transcript.forward) std::reverse(transcript.parts.begin(), transcript.parts.end());
  return transcript;
}

TEST(GeneModels, PlacesAndPositionsAreThoseOfAWalk) {
  std::mt19937 random(1);
  constexpr std::int64_t length = 120;
  for (int round = 0; round < 20; ++round) {
    std::vector<Transcript> transcripts;
    for (int i = 0; i < 8; ++i) transcripts.push_back(random_transcript(random, length));
    const GeneModels models(transcripts);
    for (std::int64_t position = 0; position <= length; ++position) {
      std::vector<CodingPlace> found = models.at(position);
      found.erase(std::remove_if(found.begin(), found.end(),
                                 [](const CodingPlace& place) { return place.offset < 0; }),
                  found.end());
      std::size_t next = 0;
      for (std::size_t t = 0; t < transcripts.size(); ++t) {
        const std::vector<std::int64_t> bases = bases_of(transcripts[t]);
        ASSERT_EQ(models.length(t), static_cast<std::int64_t>(bases.size()));
        for (std::size_t i = 0; i < bases.size(); ++i) {
          ASSERT_EQ(models.position(t, static_cast<std::int64_t>(i)), bases[i]);
          if (bases[i] != position) continue;
          ASSERT_LT(next, found.size());
          EXPECT_EQ(found[next].transcript, t);
          EXPECT_EQ(found[next].offset, static_cast<std::int64_t>(i));
          ++next;
        }
      }
      EXPECT_EQ(next, found.size());
    }
  }
}

TEST(GeneModels, KnowsNoTranscripts) {
  const GeneModels models({});
  EXPECT_EQ(models.size(), 0U);
  EXPECT_TRUE(models.at(3).empty());
}

TEST(GeneModels, RefusesWhatIsOutOfBounds) {
  const auto model = [](std::int64_t start, std::int64_t end, int phase) {
    Transcript transcript;
    transcript.parts = {{start, end}};
    transcript.phase = phase;
    return GeneModels({transcript});
  };
  EXPECT_NO_THROW(model(0, kLastPosition, 2));
  EXPECT_THROW(model(-1, 3, 0), InputError);
  EXPECT_THROW(model(3, 3, 0), InputError);
  EXPECT_THROW(model(0, kLastPosition + 1, 0), InputError);
  EXPECT_THROW(model(INT64_MIN, INT64_MAX, 0), InputError);
  for (const int phase : {-1, 3, INT_MIN, INT_MAX}) EXPECT_THROW(model(0, 3, phase), InputError);
}

TEST(GeneModels, KnowStartsAndFrames) {
  Transcript transcript;
  transcript.parts = {{0, 6}};
  EXPECT_TRUE(GeneModels({transcript}).has_start(0));
  transcript.phase_is_known = false;
  EXPECT_TRUE(GeneModels({transcript}).has_frame(0));
  transcript.open_start = true;
  EXPECT_FALSE(GeneModels({transcript}).has_start(0));
  EXPECT_FALSE(GeneModels({transcript}).has_frame(0));
  transcript.open_start = false;
  transcript.parts = {{0, 7}};
  EXPECT_FALSE(GeneModels({transcript}).has_frame(0));
  transcript.phase_is_known = true;
  EXPECT_TRUE(GeneModels({transcript}).has_frame(0));
  transcript.phase = 1;
  EXPECT_FALSE(GeneModels({transcript}).has_start(0));
}

}  // namespace
}  // namespace ancify
