// A word starts as its letters. Of all adjacent pairs with a merge, the pair of lowest rank (the
// leftmost of equals) becomes one token, until no merge is left. Sennrich R, Haddow B, Birch A
// (2016) Neural machine translation of rare words with subword units. ACL 2016: 1715-1725.
#include "core/models/bpe.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "core/exec/errors.h"
#include "core/io/json.h"
#include "core/io/lines.h"

namespace ancify {

namespace {

constexpr std::size_t kLongestText = 1 << 24;
constexpr std::int64_t kMostTokens = 1 << 20;
constexpr std::int32_t kNone = -1;
constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
constexpr unsigned char kAscii = 0x80;  // bytes from here on belong to other letters

std::uint64_t pair_of(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_word_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= kAscii;
}

// The parts of tokenizer.json, each checked for its type.
class TokeniserFile {
 public:
  explicit TokeniserFile(const std::string& path)
      : path_(path), json_(parse_json(read_text(path, kLongestText), path)) {
    if (const Json* const normaliser = json_.member("normalizer");
        normaliser != nullptr && !normaliser->is(Json::Kind::kNull)) {
      fail("it has a normaliser, which is not read");
    }
    const std::string kind = text_of(model(), "type");
    if (kind != "BPE" && !kind.empty()) fail("its model is " + kind + ", not BPE");
    for (const char* name : {"dropout", "continuing_subword_prefix", "end_of_word_suffix",
                             "fuse_unk", "byte_fallback", "ignore_merges"}) {
      const Json* const value = model().member(name);
      const bool unset = value == nullptr || value->is(Json::Kind::kNull) ||
                         (value->is(Json::Kind::kBool) && !value->flag) ||
                         (value->is(Json::Kind::kText) && value->text.empty());
      if (!unset) fail(std::string("its model sets ") + name + ", which is not read");
    }
  }

  const Json& model() const { return part(json_, "model", Json::Kind::kObject); }

  // True if pre-tokens also end between letters and other signs, not only at blanks.
  bool splits_signs() const {
    const Json* const way = json_.member("pre_tokenizer");
    const std::string kind = way == nullptr ? "" : text_of(*way, "type");
    if (kind != "Whitespace" && kind != "WhitespaceSplit") {
      fail("its pre_tokenizer is neither Whitespace nor WhitespaceSplit");
    }
    return kind == "Whitespace";
  }

  // All tokens and their indices. Added tokens may be in the vocabulary too.
  std::vector<std::pair<std::string, std::int64_t>> numbers() const {
    std::vector<std::pair<std::string, std::int64_t>> numbers;
    for (const auto& [token, number] : part(model(), "vocab", Json::Kind::kObject).members) {
      numbers.emplace_back(token, whole(number, token));
    }
    if (const Json* const added = json_.member("added_tokens")) {
      for (const Json& one : added->items) {
        const std::string token = part(one, "content", Json::Kind::kText).text;
        numbers.emplace_back(token, whole(part(one, "id", Json::Kind::kNumber), token));
      }
    }
    return numbers;
  }

  // Two tokens each: "a b", or ["a", "b"].
  std::vector<std::pair<std::string, std::string>> merges() const {
    std::vector<std::pair<std::string, std::string>> merges;
    for (const Json& item : part(model(), "merges", Json::Kind::kArray).items) {
      const std::size_t blank = item.text.find(' ');
      if (item.is(Json::Kind::kText) && blank != item.text.npos) {
        merges.emplace_back(item.text.substr(0, blank), item.text.substr(blank + 1));
      } else if (item.items.size() == 2) {
        merges.emplace_back(item.items[0].text, item.items[1].text);
      } else {
        fail("merge " + std::to_string(merges.size() + 1) + " is no pair of tokens");
      }
    }
    return merges;
  }

  std::string unknown_token() const { return text_of(model(), "unk_token"); }

  [[noreturn]] void fail(const std::string& problem) const { throw FormatError(path_, 0, problem); }

 private:
  const Json& part(const Json& of, const char* name, Json::Kind kind) const {
    const Json* const found = of.member(name);
    if (found == nullptr || !found->is(kind)) {
      fail(std::string("'") + name + "' is missing, or of another kind");
    }
    return *found;
  }
  static std::string text_of(const Json& of, const char* name) {
    const Json* const found = of.member(name);
    return found == nullptr ? "" : found->text;
  }
  std::int64_t whole(const Json& number, const std::string& token) const {
    const auto value = number.whole();
    if (!value || *value >= kMostTokens) fail("the number of token '" + token + "' is none");
    return *value;
  }

  std::string path_;
  Json json_;
};

// The index of each token.
class TokenNumbers {
 public:
  explicit TokenNumbers(const TokeniserFile& file) : file_(file) {
    for (const auto& [token, number] : file.numbers()) {
      if (!std::all_of(token.begin(), token.end(),
                       [](char c) { return static_cast<unsigned char>(c) < kAscii; })) {
        file.fail("token '" + token + "' has letters other than ASCII's, which are not read");
      }
      const auto added = numbers_.emplace(token, static_cast<std::int32_t>(number));
      if (added.first->second != number) file.fail("token '" + token + "' has two numbers");
      const auto at = static_cast<std::size_t>(number);
      if (tokens_.size() <= at) tokens_.resize(at + 1);
      if (added.second && !tokens_[at].empty()) {
        file.fail("tokens '" + tokens_[at] + "' and '" + token + "' have one number");
      }
      tokens_[at] = token;
    }
  }

  const std::vector<std::string>& in_order() const { return tokens_; }
  std::int32_t find(const std::string& token) const {
    const auto found = numbers_.find(token);
    return found == numbers_.end() ? kNone : found->second;
  }
  std::int32_t of(const std::string& token) const {
    const std::int32_t number = find(token);
    if (number == kNone) file_.fail("the token '" + token + "' is missing");
    return number;
  }

 private:
  const TokeniserFile& file_;
  std::unordered_map<std::string, std::int32_t> numbers_;
  std::vector<std::string> tokens_;
};

}  // namespace

// A word during merging: its tokens, each with the positions of its neighbours.
class BpeTokeniser::Word {
 public:
  explicit Word(const BpeTokeniser& by) : by_(by) {}

  // Adds the tokens of a word.
  void encode(std::string_view word, std::vector<std::int32_t>& tokens, std::int64_t& unknown) {
    split(word, unknown);
    queue_.clear();
    for (std::int32_t i = 0; i + 1 < size(); ++i) {
      if (const Merge* const merge = merge_at(i)) queue_.push_back(entry(merge->rank, i));
    }
    std::make_heap(queue_.begin(), queue_.end(), std::greater<>());
    while (!queue_.empty()) {
      std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
      const std::uint64_t first = queue_.back();
      queue_.pop_back();
      merge(static_cast<std::int32_t>(first >> 32), static_cast<std::int32_t>(first & 0xFFFFFFFF));
    }
    for (std::int32_t i = 0; i != kNone && size() > 0; i = parts_[at(i)].next) {
      tokens.push_back(parts_[at(i)].token);
    }
  }

 private:
  struct Part {
    std::int32_t token;  // kNone once merged into the previous token
    std::int32_t before;
    std::int32_t next;
  };

  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  static std::uint64_t entry(std::int32_t rank, std::int32_t i) { return pair_of(rank, i); }
  std::int32_t size() const { return static_cast<std::int32_t>(parts_.size()); }

  void split(std::string_view word, std::int64_t& unknown) {
    parts_.clear();
    for (const char c : word) {
      const auto byte = static_cast<unsigned char>(c);
      constexpr unsigned continuation = 2;  // the top bits of a letter's later bytes in UTF-8
      if (byte >> 6 == continuation) continue;
      const std::int32_t token = byte < kAscii ? by_.of_letter_[byte] : kNone;
      unknown += token == kNone ? 1 : 0;
      const std::int32_t i = size();
      parts_.push_back({token == kNone ? by_.unknown_ : token, i - 1, i + 1});
    }
    if (!parts_.empty()) parts_.back().next = kNone;
  }

  // The merge of a part with the next one.
  const Merge* merge_at(std::int32_t i) const {
    const Part& part = parts_[at(i)];
    if (part.token == kNone || part.next == kNone) return nullptr;
    return by_.find_merge(part.token, parts_[at(part.next)].token);
  }

  void queue(std::int32_t i) {
    const Merge* const merge = i == kNone ? nullptr : merge_at(i);
    if (merge == nullptr) return;
    queue_.push_back(entry(merge->rank, i));
    std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
  }

  // Neighbours may have changed since the pair was queued, and with them its rank.
  void merge(std::int32_t rank, std::int32_t i) {
    const Merge* const found = merge_at(i);
    if (found == nullptr || found->rank != rank) return;
    Part& part = parts_[at(i)];
    Part& gone = parts_[at(part.next)];
    part.token = found->merged;
    part.next = gone.next;
    gone.token = kNone;
    if (part.next != kNone) parts_[at(part.next)].before = i;
    queue(part.before);
    queue(i);
  }

  const BpeTokeniser& by_;
  std::vector<Part> parts_;
  std::vector<std::uint64_t> queue_;  // a heap of ranks and positions
};

std::size_t BpeTokeniser::slot_of(std::uint64_t pair) const {
  constexpr std::uint64_t spread = 0x9E3779B97F4A7C15;
  const std::size_t last = pairs_.size() - 1;
  std::size_t slot = static_cast<std::size_t>((pair * spread) >> 32) & last;
  while (pairs_[slot] != pair && pairs_[slot] != kEmpty) slot = (slot + 1) & last;
  return slot;
}

const BpeTokeniser::Merge* BpeTokeniser::find_merge(std::int32_t left, std::int32_t right) const {
  const std::uint64_t pair = pair_of(left, right);
  const std::size_t slot = slot_of(pair);
  return pairs_[slot] == pair ? &merges_[slot] : nullptr;
}

BpeTokeniser BpeTokeniser::read(const std::string& path) {
  const TokeniserFile file(path);
  BpeTokeniser result;
  result.splits_signs_ = file.splits_signs();
  const TokenNumbers numbers(file);
  result.tokens_ = numbers.in_order();
  result.cls_ = numbers.of("[CLS]");
  result.sep_ = numbers.of("[SEP]");
  result.unknown_ = numbers.of(file.unknown_token());
  for (unsigned char byte = 0; byte < kAscii; ++byte) {
    result.of_letter_.push_back(numbers.find(std::string(1, static_cast<char>(byte))));
  }
  const auto merges = file.merges();
  std::size_t slots = 2;
  while (slots < 2 * merges.size()) slots *= 2;
  result.pairs_.assign(slots, kEmpty);
  result.merges_.resize(slots);
  std::int32_t rank = 0;
  for (const auto& [left, right] : merges) {
    const std::uint64_t pair = pair_of(numbers.of(left), numbers.of(right));
    const std::size_t slot = result.slot_of(pair);
    const std::string merged = left + right;
    if (result.pairs_[slot] == pair) file.fail("the merge of '" + merged + "' comes twice");
    result.pairs_[slot] = pair;
    result.merges_[slot] = {rank++, numbers.of(merged)};
  }
  return result;
}

std::vector<std::int32_t> BpeTokeniser::encode(std::string_view text, std::int64_t& unknown) const {
  std::vector<std::int32_t> tokens = {cls_};
  Word word(*this);
  for (std::size_t i = 0; i < text.size();) {
    if (is_blank(text[i])) {
      ++i;
      continue;
    }
    const std::size_t first = i;
    const bool is_word = is_word_letter(text[i]);
    while (i < text.size() && !is_blank(text[i]) &&
           (!splits_signs_ || is_word_letter(text[i]) == is_word)) {
      ++i;
    }
    word.encode(text.substr(first, i - first), tokens, unknown);
  }
  tokens.push_back(sep_);
  return tokens;
}

}  // namespace ancify
