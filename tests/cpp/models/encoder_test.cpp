// The encoder against states in double precision, which tests/testthat/fixtures/
// make_sequence_models.py computed; and packs, windows and parts.
#include "core/models/encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "core/exec/errors.h"
#include "core/models/esm2.h"
#include "core/models/packing.h"
#include "core/models/part_file.h"
#include "core/models/runs.h"
#include "core/models/tensors.h"
#include "files.h"
#include "support.h"

namespace ancify {
namespace {

const std::string kFixtures =
    std::string(ANCIFY_SOURCE_DIR) + "/tests/testthat/fixtures/sequence_models";

SequenceModel model_of(const std::string& folder) {
  const Esm2Files files = Esm2Files::open(kFixtures + "/" + folder, {});
  return {files.alphabet(), files.read(TaskContext()), files.description().token_dropout, {}};
}

std::vector<std::string> sequences() { return test::lines_of(kFixtures + "/sequences.txt"); }

Pack pack_of(const SequenceModel& model, const std::vector<std::string>& texts) {
  Pack pack;
  pack.offsets = {0};
  pack.zero_token = model.alphabet.mask();
  for (const std::string& text : texts) {
    std::int64_t unknown = 0;
    const auto tokens = model.alphabet.encode(text, unknown);
    pack.scales.push_back(embedding_scale(tokens, model.alphabet.mask()));
    pack.tokens.insert(pack.tokens.end(), tokens.begin(), tokens.end());
    pack.offsets.push_back(pack.size());
  }
  return pack;
}

TEST(Encoder, StatesAreThoseOfDoublePrecision) {
  const SequenceModel model = model_of("safetensors");
  const Checkpoint expected = Checkpoint::open(kFixtures + "/expected.safetensors", {});
  const std::vector<std::string> texts = sequences();
  const Pack pack = pack_of(model, texts);
  for (int level = 0; level <= static_cast<int>(best_simd_level()); ++level) {
    std::size_t layer = 0;
    encode(model.encoder, pack, static_cast<SimdLevel>(level), TaskContext(),
           [&](const std::vector<float>& states) {
             for (std::size_t i = 0; i < texts.size(); ++i) {
               const std::int64_t n = pack.offsets[i + 1] - pack.offsets[i];
               const auto wanted =
                   expected.read("states." + std::to_string(i) + "." + std::to_string(layer),
                                 {n, 32}, TaskContext());
               EXPECT_LT(test::relative_error(states.data() + pack.offsets[i] * 32, wanted), 1e-5);
             }
             ++layer;
           });
    EXPECT_EQ(layer, 4U);
  }
}

TEST(Encoder, LogProbabilitiesAreThoseOfDoublePrecision) {
  const SequenceModel model = model_of("safetensors");
  const Checkpoint expected = Checkpoint::open(kFixtures + "/expected.safetensors", {});
  const std::vector<std::string> texts = sequences();
  std::vector<std::string_view> views(texts.begin(), texts.end());
  JobControl control;
  const auto rows = residue_log_probabilities(model, tokenise(model, views), {}, control);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto residues = static_cast<std::int64_t>(rows[i].size()) / 33;
    const auto wanted =
        expected.read("log_probabilities." + std::to_string(i), {residues + 2, 33}, TaskContext());
    // The first row belongs to <cls>.
    EXPECT_LT(test::relative_error(rows[i].data(), {wanted.begin() + 33, wanted.end() - 33}), 1e-5);
  }
}

TEST(Encoder, FilesOfAllKindsAreOneModel) {
  const Encoder one = model_of("safetensors").encoder;
  for (const char* kind : {"index", "fair", "bin"}) {
    const Encoder other = model_of(kind).encoder;
    EXPECT_EQ(one.embedding, other.embedding) << kind;
    EXPECT_EQ(one.inverse_frequencies, other.inverse_frequencies) << kind;
    for (std::size_t i = 0; i < one.layers.size(); ++i) {
      EXPECT_EQ(one.layers[i].query_key_value.weight, other.layers[i].query_key_value.weight);
      EXPECT_EQ(one.layers[i].down.bias, other.layers[i].down.bias);
      EXPECT_EQ(one.layers[i].feed_forward_norm.gain, other.layers[i].feed_forward_norm.gain);
    }
    EXPECT_EQ(one.head.dense.bias, other.head.dense.bias) << kind;
    EXPECT_EQ(one.head.norm.bias, other.head.norm.bias) << kind;
    EXPECT_EQ(one.head.out.bias, other.head.out.bias) << kind;
  }
}

std::vector<std::string> random_texts(std::size_t n) {
  std::mt19937 generator(1);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < n; ++i) {
    std::string text(1 + generator() % (i % 5 == 0 ? 90 : 20), 'A');
    for (char& letter : text) letter = "ACDEFGHIKLMNPQRSTVWY"[generator() % 20];
    texts.push_back(text);
  }
  return texts;
}

RunSettings small_packs(int threads) {
  RunSettings settings;
  settings.pack_tokens = 100;
  settings.most_residues = 30;
  settings.threads = threads;
  settings.simd = best_simd_level();
  return settings;
}

TEST(Runs, AreTheSameAtAnyNumberOfThreads) {
  const SequenceModel model = model_of("safetensors");
  const std::vector<std::string> texts = random_texts(40);
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const auto proteins = tokenise(model, views);
  JobControl control;
  const auto one = embed_means(model, proteins, small_packs(1), control);
  for (const int threads : {2, 5}) {
    EXPECT_EQ(embed_means(model, proteins, small_packs(threads), control), one);
  }
}

TEST(Runs, PackedIsAsAlone) {
  const SequenceModel model = model_of("safetensors");
  const std::vector<std::string> texts = random_texts(30);
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  JobControl control;
  const auto together = embed_residues(model, tokenise(model, views), small_packs(2), control);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto alone = embed_residues(model, tokenise(model, {views[i]}), small_packs(1), control);
    EXPECT_LT(test::relative_error(together[i].data(), alone[0]), 1e-6);
  }
}

TEST(Runs, LongProteinsAreReadInWindows) {
  const SequenceModel model = model_of("safetensors");
  const std::string text = random_texts(1)[0] + std::string(70, 'W') + "ACDEF";
  JobControl control;
  const RunSettings settings = small_packs(1);
  const auto rows = embed_residues(model, tokenise(model, {text}), settings, control)[0];
  const auto length = static_cast<std::int64_t>(text.size());
  EXPECT_EQ(rows.size(), text.size() * 32);
  for (const Window& window : windows_of(0, length, 30, 15)) {
    const std::string piece = text.substr(static_cast<std::size_t>(window.first), 30);
    const auto alone = embed_residues(model, tokenise(model, {piece}), settings, control)[0];
    for (std::int64_t r = window.own_first; r < window.own_end; ++r) {
      const auto from = alone.begin() + (r - window.first) * 32;
      EXPECT_LT(test::relative_error(rows.data() + r * 32, {from, from + 32}), 1e-6);
    }
  }
  RunSettings cut = settings;
  cut.longer = LongProteins::kTruncate;
  EXPECT_EQ(embed_residues(model, tokenise(model, {text}), cut, control)[0].size(), 30U * 32);
}

TEST(Runs, NumbersThatAreNotFiniteAreAnError) {
  SequenceModel model = model_of("safetensors");
  model.encoder.layers[1].up.bias.assign(40, 3e38F);
  model.encoder.layers[1].down.weight.assign(32 * 40, 3e38F);
  JobControl control;
  EXPECT_THROW(embed_means(model, tokenise(model, {"ACD"}), {}, control), InputError);
}

TEST(Runs, CanBeStopped) {
  const SequenceModel model = model_of("safetensors");
  JobControl control;
  control.request_stop();
  EXPECT_THROW(embed_means(model, tokenise(model, {"ACD"}), {}, control), Interrupted);
}

TEST(Alphabet, CountsLettersThatItLacks) {
  const ProteinAlphabet alphabet;
  std::int64_t unknown = 0;
  EXPECT_EQ(alphabet.encode("mJ*<mask>-", unknown),
            (std::vector<std::int32_t>{0, 20, 3, 3, 32, 30, 2}));
  EXPECT_EQ(unknown, 2);
  // A letter of two bytes is one.
  EXPECT_EQ(alphabet.encode("A\xC3\xA9", unknown), (std::vector<std::int32_t>{0, 5, 3, 2}));
  EXPECT_EQ(unknown, 3);
  const test::TempDir folder;
  EXPECT_THROW(ProteinAlphabet::read(folder.write("a", "A\nC\n")), FormatError);
  EXPECT_THROW(ProteinAlphabet::read(folder.write("b", "<cls>\n<eos>\n<unk>\n<mask>\nA\nA\n")),
               FormatError);
}

// Each residue is taken once, from the window in which it is most central.
TEST(Windows, AreMostCentral) {
  for (std::int64_t length = 1; length < 60; ++length) {
    const auto windows = windows_of(0, length, 10, 5);
    std::int64_t next = 0;
    for (const Window& own : windows) {
      EXPECT_EQ(own.own_first, next);
      next = own.own_end;
      for (std::int64_t r = own.own_first; r < own.own_end; ++r) {
        const auto distance = [&](const Window& w) {
          return std::abs(2 * (r - w.first) + 1 - w.size);
        };
        for (const Window& other : windows) EXPECT_LE(distance(own), distance(other));
        EXPECT_TRUE(r >= own.first && r < own.first + own.size);
      }
    }
    EXPECT_EQ(next, length);
    EXPECT_EQ(windows.back().first + windows.back().size, length);
  }
}

// First fit decreasing by the plain loop over all packs.
TEST(Packs, AreFirstFitDecreasing) {
  std::mt19937 generator(2);
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::vector<std::int64_t> lengths(generator() % 60);
    for (std::int64_t& length : lengths) length = 3 + generator() % 60;
    std::vector<std::size_t> order(lengths.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](auto one, auto other) { return lengths[one] > lengths[other]; });
    std::vector<std::vector<std::size_t>> packs;
    std::vector<std::int64_t> rooms;
    for (const std::size_t item : order) {
      std::size_t i = 0;
      while (i < packs.size() && rooms[i] < lengths[item]) ++i;
      if (i == packs.size()) {
        packs.emplace_back();
        rooms.push_back(50);
      }
      packs[i].push_back(item);
      rooms[i] -= lengths[item];
    }
    EXPECT_EQ(pack_by_length(lengths, 50), packs);
  }
}

TEST(PartFile, ComesBackAndShowsDamage) {
  const test::TempDir folder;
  EmbeddingPart part;
  part.width = 2;
  part.by_residue = true;
  part.ids = {"one", ""};
  part.rows = {2, 1};
  part.values = {1, 2, 3, 4, 5, 6};
  const std::string path = folder.file("part");
  write_part(part, path, TaskContext());
  const EmbeddingPart read = read_part(path);
  EXPECT_EQ(read.ids, part.ids);
  EXPECT_EQ(read.rows, part.rows);
  EXPECT_EQ(read.values, part.values);
  const std::string bytes = test::read_file(path);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ 16);
    EXPECT_THROW(read_part(folder.write("bad", bad)), FormatError);
    EXPECT_THROW(read_part(folder.write("bad", bytes.substr(0, i))), FormatError);
  }
}

}  // namespace
}  // namespace ancify
