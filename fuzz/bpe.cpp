// Fuzzes tokenizer.json: a tokeniser that was read gives tokens of its vocabulary, which spell the
// text.
#include "core/models/bpe.h"

#include "harness.h"

namespace ancify::fuzz {

void check(std::string_view input) {
  const std::string& path = as_file(input);
  outcome([&] {
    const BpeTokeniser tokeniser = BpeTokeniser::read(path);
    std::int64_t unknown = 0;
    const auto number_of_tokens = tokeniser.tokens().size();
    for (const std::int32_t token : tokeniser.encode(input, unknown)) {
      require(token >= 0 && static_cast<std::size_t>(token) < number_of_tokens,
              "a token that the file lacks");
    }
    const std::string text = "ACGTTGCAACGT";
    unknown = 0;
    const auto tokens = tokeniser.encode(text, unknown);
    if (unknown > 0) return std::string();
    std::string spelt;
    for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
      spelt += tokeniser.tokens()[static_cast<std::size_t>(tokens[i])];
    }
    require_equal(spelt, text, "a text and its tokens");
    return spelt;
  });
}

}  // namespace ancify::fuzz
