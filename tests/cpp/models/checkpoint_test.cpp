// Files of tensors: their content, and detected damage.
#include <gtest/gtest.h>

#include <cmath>

#include "core/exec/errors.h"
#include "core/io/json.h"
#include "core/models/pickle.h"
#include "core/models/tensors.h"
#include "core/nn/half.h"
#include "files.h"
#include "support.h"

namespace ancify {
namespace {

using test::as_safetensors;
using test::as_zip;
using test::bytes_of;
using test::floats;
using test::pickled_tensor;

const std::vector<float> kNumbers = {1, 2, 3, 4, 5, 6};

std::string problem_with(const std::string& content) {
  const test::TempDir folder;
  try {
    const Checkpoint checkpoint = Checkpoint::open(folder.write("x", content), {});
    checkpoint.read("x", {2, 3}, TaskContext());
    checkpoint.check_content(TaskContext());
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void expect_problem(const std::string& content, const std::string& part) {
  const std::string problem = problem_with(content);
  EXPECT_NE(problem.find(part), std::string::npos) << problem << "\nlacks: " << part;
}

std::string header(const std::string& dtype, const std::string& shape, int from, int to) {
  return R"({"__metadata__":{"format":"pt"},"x":{"dtype":")" + dtype + R"(","shape":)" + shape +
         R"(,"data_offsets":[)" + std::to_string(from) + "," + std::to_string(to) + "]}}";
}

TEST(Json, IsRead) {
  const Json json =
      parse_json(R"( {"a": [1, -2.5e3, true, null], "b": {"c": "\u00e9\ud83d\ude00\n"}} )", "x");
  EXPECT_EQ(json.member("a")->items[1].number, -2500);
  EXPECT_EQ(json.member("a")->items[0].whole(), 1);
  EXPECT_FALSE(json.member("a")->items[1].whole());
  EXPECT_TRUE(json.member("a")->items[2].flag);
  EXPECT_EQ(json.member("b")->member("c")->text, "\xC3\xA9\xF0\x9F\x98\x80\n");
  EXPECT_EQ(json.member("z"), nullptr);
}

TEST(Json, BadTextIsAnErrorWithItsLine) {
  for (const char* bad :
       {"", "{", "[1,]", "{\"a\" 1}", "{\"a\":1,\"a\":2}", "\"x", "01x", "-", "--1", "nul", "[1] 2",
        "\"\\u12\"", "\"\\ud800\"", "\"\\x\"", "{1:2}", "+1", "1e"}) {
    EXPECT_THROW(parse_json(bad, "x"), FormatError) << bad;
  }
  EXPECT_THROW(parse_json(std::string(100, '['), "x"), FormatError);
  try {
    parse_json("{\n\"a\": 1,\n?}", "x");
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_EQ(error.line, 3);
  }
}

TEST(Halves, AllOfThemAreExact) {
  EXPECT_EQ(to_float(Half{0x3C00}), 1);
  EXPECT_EQ(to_float(Half{0xC500}), -5);
  EXPECT_EQ(to_float(Half{1}), std::ldexp(1.0F, -24));
  EXPECT_EQ(to_float(Half{0x7BFF}), 65504);
  EXPECT_TRUE(std::isinf(to_float(Half{0x7C00})) && std::isnan(to_float(Half{0x7C01})));
  EXPECT_EQ(from_bfloat(0x3F80), 1);
  EXPECT_EQ(from_bfloat(0xC0A0), -5);
}

TEST(Safetensors, AreRead) {
  EXPECT_EQ(problem_with(as_safetensors(header("F32", "[2,3]", 0, 24), floats(kNumbers))), "");
  const test::TempDir folder;
  const auto read = [&](const std::string& dtype, const std::string& data) {
    const auto end = static_cast<int>(data.size());
    const std::string path =
        folder.write("x", as_safetensors(header(dtype, "[1,2]", 0, end), data));
    return Checkpoint::open(path, {}).read("x", {1, 2}, TaskContext());
  };
  const std::vector<float> expected = {1, -5};
  EXPECT_EQ(read("F16", bytes_of(0xC5003C00, 4)), expected);
  EXPECT_EQ(read("BF16", bytes_of(0xC0A03F80, 4)), expected);
  EXPECT_EQ(read("I64", bytes_of(1, 8) + bytes_of(~std::uint64_t{4}, 8)), expected);
  EXPECT_EQ(read("F64", bytes_of(0x3FF0000000000000, 8) + bytes_of(0xC014000000000000, 8)),
            expected);
}

TEST(Safetensors, AHeadersLengthMayBeginAsAPickleDoes) {
  std::string text = header("F32", "[2,3]", 0, 24);
  text.resize(0x280, ' ');
  EXPECT_EQ(problem_with(as_safetensors(text, floats(kNumbers))), "");
}

TEST(Safetensors, DamageIsSeen) {
  const std::string data = floats(kNumbers);
  expect_problem("", "fewer than 8 bytes");
  expect_problem("abcdefghijkl", "its header would have");
  expect_problem(as_safetensors("[]", ""), "no JSON object");
  expect_problem(as_safetensors("{\"x\":{}}", data), "lacks its dtype");
  expect_problem(as_safetensors(header("I8", "[2,3]", 0, 24), data), "the dtype 'I8'");
  expect_problem(as_safetensors(header("F32", "[2,2]", 0, 24), data), "2 x 2, needs");
  expect_problem(as_safetensors(header("F32", "[2,-3]", 0, 24), data), "whole numbers");
  expect_problem(as_safetensors(header("F32", "[2,3]", 0, 24), data.substr(1)), "was cut");
  expect_problem(as_safetensors(header("F32", "[2,3]", 0, 24), data + "x"), "after its last");
  expect_problem(as_safetensors(header("F32", "[2,3]", 4, 28), "abcd" + data), "between them");
  expect_problem(as_safetensors(header("F32", "[1099511627776,1099511627776]", 0, 24), data),
                 "too large");
  expect_problem(as_safetensors(header("F32", "[3,2]", 0, 24), data),
                 "3 x 2, where 2 x 3 is needed");
  expect_problem(as_safetensors("{}", ""), "there is no tensor 'x'");
  expect_problem(as_safetensors(header("F32", "[2,3]", 0, 24), floats({1, 2, NAN, 4, 5, 6})),
                 "not finite");
}

TEST(TorchFiles, AreReadWithAndWithoutZip64) {
  for (const bool zip64 : {false, true}) {
    EXPECT_EQ(problem_with(as_zip(
                  {{"a/data.pkl", pickled_tensor()}, {"a/data/0", floats(kNumbers)}}, zip64)),
              "");
  }
}

TEST(TorchFiles, DamageIsSeen) {
  const std::string data = floats(kNumbers);
  const auto with_pickle = [&](const std::string& pickle) {
    return as_zip({{"a/data.pkl", pickle}, {"a/data/0", data}});
  };
  const std::string good = with_pickle(pickled_tensor());
  for (std::size_t n = 4; n < good.size(); n += 3) EXPECT_NE(problem_with(good.substr(0, n)), "");
  expect_problem(as_zip({{"a/data.pkl", pickled_tensor()}, {"a/data/0", data}}, false, 8),
                 "compressed");
  expect_problem(as_zip({{"a/x", "y"}}), "without data.pkl");
  expect_problem(as_zip({{"a/data.pkl", pickled_tensor()}}), "are missing");
  expect_problem(as_zip({{"a/data.pkl", pickled_tensor()}, {"a/data/0", data.substr(4)}}),
                 "more numbers than its storage");
  expect_problem(with_pickle(pickled_tensor(1)), "more numbers than its storage");
  expect_problem(with_pickle(pickled_tensor(0, 1)), "row by row");
  // 0 x 2^40 x 2^40: the product of the last two exceeds 64 bits.
  const std::string large = std::string("\x8a\6") + bytes_of(std::uint64_t{1} << 40, 6);
  std::string empty = pickled_tensor();
  empty.replace(empty.find("K\2K\3\x86K\3K\1\x86"), 10,
                "(" + std::string("K\0", 2) + large + large + "t(K\1K\1K\1t");
  expect_problem(with_pickle(empty), "is 0 x 1099511627776 x 1099511627776, where");
  expect_problem(with_pickle(pickled_tensor(0, 3, "torch\nSize")), "type that is not read");
  expect_problem(pickled_tensor(), "before version 1.6");
  std::string flipped = good;
  flipped[good.find("xctorch")] = 'y';
  expect_problem(flipped, "the checksum is another");
  flipped = good;
  flipped[good.find(data)] ^= 1;
  expect_problem(flipped, "entry 'a/data/0' is damaged: the checksum is another");
}

// A pickled text.
std::string text_of(const std::string& text) { return "X" + bytes_of(text.size(), 4) + text; }

// The content of a pickle before its end.
std::string body_of(const std::string& pickle) { return pickle.substr(2, pickle.size() - 3); }

// A pickle of a table with epochs, the state of training, and a value under a key.
std::string pickled_checkpoint(const std::string& key, const std::string& value) {
  return "\x80\2}" + text_of("epoch") + "K\3s" + text_of("optimizer_state_dict") + "}s" +
         text_of("best_loss") + "cnumpy._core.multiarray\nscalar\ncnumpy\ndtype\n" + text_of("f8") +
         "\x89\x88\x87RK\1b" + text_of("number") + "\x86Rs" + text_of(key) + value + "s.";
}

TEST(TorchFiles, WeightsOfCheckpointsOfTrainingAreFound) {
  const std::string table = body_of(pickled_tensor());
  const auto with_pickle = [&](const std::string& pickle) {
    return as_zip({{"a/data.pkl", pickle}, {"a/data/0", floats(kNumbers)}});
  };
  for (const char* key : {"model", "module", "state_dict", "model_state_dict"}) {
    EXPECT_EQ(problem_with(with_pickle(pickled_checkpoint(key, table))), "") << key;
  }
  const std::string nested = body_of(pickled_checkpoint("model_state_dict", table));
  EXPECT_EQ(problem_with(with_pickle(pickled_checkpoint("model", nested))), "");
  // A prefix that authors put before the tensor's name; a "model" that is not a table.
  std::string module = pickled_tensor();
  module.replace(module.find(text_of("x")), text_of("x").size(), text_of("module._orig_mod.x"));
  EXPECT_EQ(problem_with(with_pickle(pickled_checkpoint("state_dict", body_of(module)))), "");
  const std::string named =
      "\x80\2}" + text_of("model") + text_of("mlp") + "s" + text_of("state_dict") + table + "s.";
  EXPECT_EQ(problem_with(with_pickle(named)), "");
  expect_problem(
      with_pickle(pickled_checkpoint("weights", table)),
      "no tensors, but the keys 'epoch', 'optimizer_state_dict', 'best_loss', 'weights'");
  expect_problem(with_pickle(pickled_checkpoint("weights", table)), "'model_state_dict' in it");
  expect_problem(with_pickle("\x80\2}."), "no tensors, but no keys");
  // Reading ends even if a table contains itself.
  const std::string loop =
      "\x80\2}q" + std::string(1, '\0') + text_of("model") + "h" + std::string(1, '\0') + "s.";
  expect_problem(with_pickle(loop), "no tensors, but the keys 'model'");
}

TEST(Checkpoints, TensorsOfOtherArchitecturesAreNamed) {
  const test::TempDir folder;
  const auto open = [&](const std::string& name) {
    std::string text = header("F32", "[2,3]", 0, 24);
    text.replace(text.find("\"x\""), 3, "\"" + name + "\"");
    return Checkpoint::open(folder.write("x", as_safetensors(text, floats(kNumbers))), {});
  };
  EXPECT_NE(open("esm.encoder.LayerNorm.gamma").find("LayerNorm.weight"), nullptr);
  EXPECT_NE(open("module.module.a.beta").find("a.bias"), nullptr);
  EXPECT_NE(open("beta").find("beta"), nullptr);
  EXPECT_NO_THROW(open("esm.x").refuse_others({"x"}, {}, "X"));
  EXPECT_NO_THROW(open("pooler.x").refuse_others({}, {"pooler."}, "X"));
  for (const char* name : {"pooler", "poolers.x", "esm.y"}) {
    try {
      open(name).refuse_others({"x"}, {"pooler."}, "X");
      FAIL() << name;
    } catch (const FormatError& error) {
      const std::string said = std::string("tensor '") + name + "' is none of X";
      EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
    }
  }
}

TEST(Safetensors, OtherFilesAreNamed) {
  expect_problem("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n",
                 "a pointer of Git LFS");
  expect_problem("<!DOCTYPE html><html>", "a page of HTML");
  // The length of this header is the start of a file of R.
  std::string text = header("F32", "[2,3]", 0, 24);
  text.resize(0x0a58, ' ');
  EXPECT_EQ(problem_with(as_safetensors(text, floats(kNumbers))), "");
}

TEST(Pickles, NothingElseIsWantedOrRun) {
  const auto pickle = [](const std::string& body) { return read_pickle("\x80\2" + body, "file"); };
  try {
    pickle("cos\nsystem\nX" + bytes_of(4, 4) + "true\x85R.");
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_NE(std::string(error.what()).find("'os.system'"), std::string::npos);
  }
  const std::string module = "X" + bytes_of(5, 4) + "posix";
  EXPECT_THROW(pickle(module + "X" + bytes_of(6, 4) + "system\x93."), FormatError);
  for (const char* bad : {"", ".", "K", "tR.", "(0.", "h\1.", "}}s.", "}Ka.", "Nb.", "N\x85", "i",
                          "(t", "]K\1s.", "NN.", "Q."}) {
    EXPECT_THROW(pickle(bad), FormatError) << bad;
  }
  EXPECT_EQ(pickle("J" + bytes_of(0xFFFFFFFE, 4) + ".")[0].whole, -2);
  EXPECT_EQ(pickle("\x8a\2" + bytes_of(0x0100, 2) + ".")[0].whole, 256);
  // Reading ends even if a list contains itself.
  EXPECT_EQ(pickle("]q" + std::string(1, '\0') + "h" + std::string(1, '\0') + "a.")[0].items.size(),
            1U);
}

}  // namespace
}  // namespace ancify
