// Tokens of DNA against Hugging Face's tokenizers and a plain loop, and DNABERT-S against states in
// double precision: tests/testthat/fixtures/make_dnabert_models.py made both.
#include "core/models/dnabert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/exec/errors.h"
#include "core/models/model_files.h"
#include "files.h"
#include "support.h"

namespace ancify {
namespace {

const std::string kFixtures =
    std::string(ANCIFY_SOURCE_DIR) + "/tests/testthat/fixtures/sequence_models/";

// ---- Tokens -------------------------------------------------------------------------------------

TEST(Bpe, TokensAreThoseOfHuggingFace) {
  const Json rows = parse_json(test::read_file(kFixtures + "bpe_tokens.json"), "");
  ASSERT_GT(rows.items.size(), 12U);
  for (const char* folder : {"dnabert3", "dnabert12"}) {  // two layouts of merges
    const auto tokeniser = BpeTokeniser::read(kFixtures + folder + "/tokenizer.json");
    for (const Json& row : rows.items) {
      std::vector<std::int32_t> expected;
      std::int64_t unknown_expected = 0;
      for (const Json& token : row.member("tokens")->items) {
        expected.push_back(static_cast<std::int32_t>(*token.whole()));
        unknown_expected += expected.back() == 0 ? 1 : 0;  // [UNK]
      }
      std::int64_t unknown = 0;
      EXPECT_EQ(tokeniser.encode(row.member("text")->text, unknown), expected)
          << row.member("text")->text;
      EXPECT_EQ(unknown, unknown_expected);
    }
  }
}

// Merges the leftmost pair of the lowest rank until there is none.
std::vector<std::string> merged_plainly(const std::string& word,
                                        const std::vector<std::array<std::string, 2>>& merges) {
  std::vector<std::string> parts;
  for (const char c : word) parts.emplace_back(1, c);
  for (;;) {
    std::size_t best = parts.size();
    for (std::size_t rank = 0; rank < merges.size() && best == parts.size(); ++rank) {
      for (std::size_t i = 0; i + 1 < parts.size() && best == parts.size(); ++i) {
        if (parts[i] == merges[rank][0] && parts[i + 1] == merges[rank][1]) best = i;
      }
    }
    if (best == parts.size()) return parts;
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<long>(best) + 1);
  }
}

TEST(Bpe, TokensAreThoseOfAPlainLoop) {
  const std::string path = kFixtures + "dnabert12/tokenizer.json";
  const auto tokeniser = BpeTokeniser::read(path);
  const Json file = parse_json(test::read_file(path), path);
  std::vector<std::array<std::string, 2>> merges;
  for (const Json& merge : file.member("model")->member("merges")->items) {
    merges.push_back({merge.items[0].text, merge.items[1].text});
  }
  std::mt19937 generator(1);
  for (std::size_t n = 0; n < 120; ++n) {
    std::string word;
    for (std::size_t i = 0; i < n; ++i) word += "ACGT"[generator() % (n % 3 + 2)];
    std::int64_t unknown = 0;
    std::vector<std::string> found;
    for (const std::int32_t token : tokeniser.encode(word, unknown)) {
      found.push_back(tokeniser.tokens()[static_cast<std::size_t>(token)]);
    }
    std::vector<std::string> expected = merged_plainly(word, merges);
    expected.insert(expected.begin(), "[CLS]");
    expected.emplace_back("[SEP]");
    EXPECT_EQ(found, expected) << word;
    EXPECT_EQ(unknown, 0);
  }
}

const char* const kSmall =
    R"({"pre_tokenizer": {"type": "Whitespace"}, "added_tokens": [{"id": 0, "content": "[UNK]"}],
"model": {"type": "BPE", "unk_token": "[UNK]",
"vocab": {"[CLS]": 1, "[SEP]": 2, "A": 3, "C": 4, "AC": 5}, "merges": ["A C"]}})";

std::string with(const std::string& what, const std::string& instead) {
  std::string text = kSmall;
  return text.replace(text.find(what), what.size(), instead);
}

TEST(Bpe, WhatIsNotReadIsNamed) {
  const test::TempDir folder;
  const auto problem = [&](const std::string& text) -> std::string {
    try {
      BpeTokeniser::read(folder.write("tokenizer.json", text));
    } catch (const FormatError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(problem(kSmall), "");
  for (const auto& [text, told] : std::vector<std::array<std::string, 2>>{
           {"{}", "'model' is missing"},
           {with("\"BPE\"", "\"WordPiece\""), "its model is WordPiece, not BPE"},
           {with("Whitespace", "ByteLevel"), "pre_tokenizer is neither"},
           {with("{\"pre", "{\"normalizer\": {\"type\": \"NFC\"}, \"pre"), "a normaliser"},
           {with("\"unk_token\"", "\"fuse_unk\": true, \"unk_token\""), "sets fuse_unk"},
           {with("\"unk_token\": \"[UNK]\"", "\"unk_token\": \"?\""), "token '?' is missing"},
           {with("\"A C\"", "\"A G\""), "token 'G' is missing"},
           {with("\"A C\"", "\"C A\""), "token 'CA' is missing"},
           {with("\"A C\"", "\"AC\""), "merge 1 is no pair"},
           {with("\"A C\"", "\"A C\", [\"A\", \"C\"]"), "comes twice"},
           {with("\"A\": 3", "\"A\": 4"), "have one number"},
           {with("\"A\": 3", "\"A\": -3"), "number of token 'A'"},
           {with("\"A\": 3", "\"A\": 1e9"), "number of token 'A'"},
           {with("\"id\": 0, \"content\": \"[UNK]\"", "\"id\": 9, \"content\": \"A\""),
            "'A' has two numbers"},
           {with("\"A\": 3", "\"A\": 3, \"\\u00e9\": 7"), "other than ASCII's"}}) {
    EXPECT_NE(problem(text).find(told), std::string::npos) << problem(text);
  }
}

// ---- The encoder --------------------------------------------------------------------------------

TEST(Dnabert, StatesAreThoseOfDoublePrecision) {
  for (const std::string name : {"dnabert3", "dnabert12"}) {
    const std::string folder = kFixtures + name;
    const SequenceModel model = ModelFiles::open(folder, {}).read(TaskContext());
    ASSERT_TRUE(model.dna);
    const std::int64_t width = model.encoder.shape.width;
    const Checkpoint expected = Checkpoint::open(folder + "/expected.tensors", {});
    Pack pack;
    pack.offsets = {0};
    const auto sequences = test::lines_of(folder + "/sequences.txt");
    for (const std::string& text : sequences) {
      std::int64_t unknown = 0;
      const auto tokens = model.dna->encode(text, unknown);
      pack.tokens.insert(pack.tokens.end(), tokens.begin(), tokens.end());
      pack.offsets.push_back(pack.size());
      pack.scales.push_back(1);
    }
    for (int level = 0; level <= static_cast<int>(best_simd_level()); ++level) {
      std::size_t layer = 0;
      encode(model.encoder, pack, static_cast<SimdLevel>(level), TaskContext(),
             [&](const std::vector<float>& states) {
               for (std::size_t i = 0; i < sequences.size(); ++i) {
                 const std::int64_t n = pack.offsets[i + 1] - pack.offsets[i];
                 const auto wanted =
                     expected.read("states." + std::to_string(i) + "." + std::to_string(layer),
                                   {n, width}, TaskContext());
                 EXPECT_LT(test::relative_error(states.data() + pack.offsets[i] * width, wanted),
                           1e-5);
               }
               ++layer;
             });
      EXPECT_EQ(layer, 3U);
    }
  }
}

TEST(Dnabert, SlopesAreThoseOfThePaper) {
  EXPECT_EQ(slopes_of(1), std::vector<float>{1.0F / 256});
  EXPECT_EQ(slopes_of(2), (std::vector<float>{1.0F / 16, 1.0F / 256}));
  EXPECT_EQ(slopes_of(3), (std::vector<float>{1.0F / 16, 1.0F / 256, 0.25F}));
  const auto twelve = slopes_of(12);
  ASSERT_EQ(twelve.size(), 12U);
  for (std::size_t j = 0; j < 12; ++j) {
    const double power = j < 8 ? static_cast<double>(j) + 1 : static_cast<double>(j) - 7.5;
    EXPECT_FLOAT_EQ(twelve[j], static_cast<float>(std::exp2(-power))) << j;
  }
}

TEST(Dnabert, AMeanIsOverAllTokens) {
  const SequenceModel model = ModelFiles::open(kFixtures + "dnabert12", {}).read(TaskContext());
  const auto tokenised = tokenise(model, {"acgtnnacgttga", "ACGTNNACGTTGA"});
  EXPECT_EQ(tokenised[0].tokens, tokenised[1].tokens);
  EXPECT_EQ(tokenised[0].unknown, 2);
  JobControl control;
  const auto means = embed_means(model, tokenised, {}, control);
  const auto rows = embed_residues(model, tokenised, {}, control);
  const std::size_t n = tokenised[0].tokens.size();
  ASSERT_EQ(rows[0].size(), n * 48);
  for (std::size_t j = 0; j < 48; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += double{rows[0][i * 48 + j]};
    EXPECT_NEAR(means[j], sum / static_cast<double>(n), 1e-5);
  }
}

}  // namespace
}  // namespace ancify
