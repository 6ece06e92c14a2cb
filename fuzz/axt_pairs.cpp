// Fuzzes the blocks of AXT as ranges: chunks and vector instructions do not change the result.
#include "core/formats/alignment/axt_pairs.h"

#include "harness.h"

namespace ancify::fuzz {

namespace {

std::string text_of(const AxtRow& row) {
  return row.chromosome + ":" + std::to_string(row.start) + "-" + std::to_string(row.end) + " " +
         row.bases;
}

std::string read(const std::string& path, const AxtPairsOptions& options) {
  return outcome([&] {
    JobControl control;
    const AxtPairs pairs = read_axt_pairs(path, options, control);
    std::string text;
    for (const auto& pair : pairs.pairs) {
      text += text_of(pair.target) + " " + text_of(pair.query) + (pair.minus ? " - " : " + ") +
              std::to_string(pair.score) + "\n";
    }
    text += std::to_string(pairs.bad) + " bad\n";
    for (const auto& example : pairs.bad_examples) {
      text += std::to_string(example.line) + ": " + example.problem + "\n";
    }
    return text;
  });
}

}  // namespace

void check(std::string_view input) {
  const std::string& path = as_file(input);
  Choices choices(input);
  AxtPairsOptions options;
  if (choices.one_in(2)) options.on_bad_block = OnBadBlock::kSkip;
  if (choices.one_in(2)) options.chromosomes = {"chr1", "chr2"};
  if (choices.one_in(2)) options.query_lengths = {{"chr5", 300}, {"chrX", 1}};
  options.chunk_size = input.size() + 1;
  const std::string plain = read(path, options);
  options.chunk_size = choices.chunk();
  options.simd = choices.simd();
  require_equal(without_message(plain), without_message(read(path, options)), "two ways to read");
}

}  // namespace ancify::fuzz
