// Fuzzes MAF: all ways to project agree, for all outgroups and the focal species.
#include "projection.h"

namespace ancify::fuzz {

void check(std::string_view input) {
  Choices choices(input);
  ProjectionOptions options;
  if (choices.one_in(2)) options.on_bad_block = OnBadBlock::kSkip;
  if (!choices.one_in(16)) options.focal_name = "hg";
  if (choices.one_in(2)) options.focal_chromosomes = {"chr3", "x.y"};
  options.focal_row = choices.one_in(4);
  if (choices.one_in(4)) options.overlaps = Overlaps::kMissing;
  if (choices.one_in(4)) options.overlaps = Overlaps::kLast;
  std::vector<std::string> names = {"near"};
  if (!choices.one_in(4)) names = {"near", "hg.x", "far"};
  const Way way = any_way(choices);
  const bool codes = way.kept == Kept::kPacked;
  require_equal(project(input, names, options, Way{}, codes),
                project(input, names, options, way, codes), "two ways to project");
}

}  // namespace ancify::fuzz
