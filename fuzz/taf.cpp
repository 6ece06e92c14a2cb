// Fuzzes TAF: all ways to project agree, for all outgroups and the focal species.
#include "projection.h"

namespace ancify::fuzz {

void check(std::string_view input) {
  Choices choices(input);
  ProjectionOptions options;
  if (choices.one_in(2)) options.on_bad_block = OnBadBlock::kSkip;
  options.focal_name = "hg";
  options.focal_row = choices.one_in(4);
  if (choices.one_in(4)) options.overlaps = Overlaps::kMissing;
  if (choices.one_in(4)) options.overlaps = Overlaps::kLast;
  std::vector<std::string> names = {"near"};
  if (!choices.one_in(4)) names = {"near", "far"};
  // Most mutations of the header would change the format.
  const std::string header =
      choices.one_in(2) ? "#taf version:1\n" : "#taf run_length_encode_bases:1\n";
  const std::string text = choices.one_in(8) ? std::string(input) : header + std::string(input);
  const Way way = any_way(choices);
  const bool codes = way.kept == Kept::kPacked;
  require_equal(project(text, names, options, Way{}, codes),
                project(text, names, options, way, codes), "two ways to project");
}

}  // namespace ancify::fuzz
