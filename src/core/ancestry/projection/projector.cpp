// Projects pairs of rows: gathers their columns without a focal gap into pieces of a sequence.
#include "core/ancestry/projection/projector.h"

#include <algorithm>
#include <cstring>

#include "core/formats/alignment/row_scan.h"
#include "core/genome/bases.h"

namespace ancify {

char agreed_letter(char letter, char other) {
  constexpr char unknown = 'N';
  constexpr char lower_case = 0x20;
  const bool agree = (letter | lower_case) == (other | lower_case);
  return agree && letter != unknown && other != unknown ? std::max(letter, other) : unknown;
}

namespace {

// The letter whose base is first in the alphabet.
char first_letter(char letter, char other) {
  return base_code(other) < base_code(letter) ? other : letter;
}

}  // namespace

std::string rows_differ_in_length(const AlignedPair& pair) {
  return "the block's rows differ in length (" + std::to_string(pair.target.size()) + " and " +
         std::to_string(pair.query.size()) + ")";
}

PairChecker::PairChecker(const std::string& file, const std::vector<Chromosome>& chromosomes,
                         FocalCheck* check, const ProjectionOptions& options)
    : chromosomes_(chromosomes),
      check_(check),
      bad_(file, options.on_bad_block),
      names_(chromosomes, options.aliases) {
  report_.blocks.resize(chromosomes.size());
}

ProjectionReport PairChecker::report() const {
  ProjectionReport report = report_;
  report.bad = bad_.count();
  report.bad_examples = bad_.examples();
  return report;
}

void PairChecker::project(const AlignedPair& pair, std::int64_t duplicates) {
  if (pair.target.size() != pair.query.size()) {
    bad_.add(pair.line, rows_differ_in_length(pair));
    return;
  }
  const auto chromosome = find(pair.chromosome);
  if (!chromosome) {
    pass_over(pair.chromosome);
    return;
  }
  const std::string problem = problem_of(pair, chromosomes_[*chromosome]);
  if (!problem.empty()) {
    bad_.add(pair.line, problem);
    return;
  }
  if (check_ != nullptr) {
    const std::string difference = check_->difference(pair, *chromosome);
    if (!difference.empty()) {
      bad_.add(pair.target_line > 0 ? pair.target_line : pair.line, difference);
      return;
    }
  }
  write(pair, *chromosome);
  ++report_.blocks[*chromosome];
  report_.duplicates += duplicates;
}

std::optional<std::size_t> PairChecker::find(std::string_view name) {
  if (last_ < chromosomes_.size() && chromosomes_[last_].name == name) return last_;
  const auto found = names_.find(name);
  if (found) last_ = *found;
  return found;
}

std::string problem_of(const AlignedPair& pair, const Chromosome& chromosome) {
  const auto range = [&] {
    return std::string(pair.chromosome) + ":" + std::to_string(pair.start) + "-" +
           std::to_string(pair.end);
  };
  if (pair.start < 1 || pair.end < pair.start || pair.end > chromosome.length) {
    return "the block's coordinates " + range() + " are not inside the chromosome, which is " +
           std::to_string(chromosome.length) + " bases long";
  }
  if (!pair.only_letters_and_gaps) {
    return "the block's rows contain characters other than letters and -";
  }
  const auto letters = static_cast<std::int64_t>(pair.target.size()) - pair.target_gaps;
  if (letters != pair.end - pair.start + 1) {
    return "the block's coordinates " + range() + " span " +
           std::to_string(pair.end - pair.start + 1) + " positions but its focal row has " +
           std::to_string(letters) + " letters";
  }
  return {};
}

void PairChecker::pass_over(std::string_view name) {
  constexpr std::size_t most_names = 20;
  constexpr std::size_t longest_shown = 256;
  ++report_.passed_over;
  name = name.substr(0, longest_shown);
  auto& names = report_.other_names;
  if (names.size() < most_names && std::find(names.begin(), names.end(), name) == names.end()) {
    names.emplace_back(name);
  }
}

Projector::Projector(const std::string& file, const std::vector<Chromosome>& chromosomes,
                     SequenceStore& store, FocalCheck* check, const ProjectionOptions& options,
                     const TaskContext& context)
    : PairChecker(file, chromosomes, check, options),
      store_(store),
      context_(context),
      simd_(options.simd),
      focal_row_(options.focal_row),
      overlaps_(options.overlaps),
      placed_(chromosomes.size()),
      filled_(chromosomes.size(), 0),
      gathered_(options.gathered) {}

void Projector::finish() {
  write_gathered();
  for (std::size_t i = 0; i < chromosomes().size(); ++i) fill_rest(i, chromosomes()[i].length);
}

void Projector::write(const AlignedPair& pair, std::size_t chromosome) {
  store_.begin_block(chromosome, pair.start - 1);
  fill_up_to(chromosome, pair.start - 1);
  const auto& pieces =
      placed_.place(chromosome, pair.start - 1, pair.end, score_in(overlaps_, pair));
  const std::string_view row = focal_row_ ? pair.target : pair.query;
  if (pieces.size() == 1 && pieces.front().standing == Standing::kAlone) {
    go_to(chromosome, pair.start - 1);
    gather(pair.target.size(), [&](char* out, std::size_t from, std::size_t n) {
      return copy_columns(pair.target.substr(from, n), &row[from], out, simd_);
    });
  } else {
    letters_.resize(pair.target.size());
    copy_columns(pair.target, row.data(), letters_.data(), simd_);
    for (const auto& piece : pieces) {
      write_piece(chromosome, piece,
                  &letters_[static_cast<std::size_t>(piece.start + 1 - pair.start)]);
    }
  }
  filled_[chromosome] = std::max(filled_[chromosome], pair.end);
}

void Projector::write_piece(std::size_t chromosome, const PlacedBlocks::Piece& piece,
                            const char* letters) {
  if (piece.standing == Standing::kLoses) return;
  const auto n = static_cast<std::size_t>(piece.end - piece.start);
  if (piece.standing == Standing::kTies && overlaps_ != Overlaps::kLast) {
    write_gathered();
    earlier_.resize(n);
    store_.read(chromosome, piece.start, earlier_.data(), n);
    std::transform(earlier_.begin(), earlier_.end(), letters, earlier_.begin(),
                   focal_row_ ? first_letter : agreed_letter);
    letters = earlier_.data();
  }
  go_to(chromosome, piece.start);
  gather(n, [&](char* out, std::size_t from, std::size_t here) {
    std::memcpy(out, letters + from, here);
    return here;
  });
}

// Fills with N. Blocks are nearly always in order, so N goes only into the gaps between them. Short
// gaps are written together with the blocks beside them.
void Projector::fill_up_to(std::size_t chromosome, std::int64_t position) {
  auto& filled = filled_[chromosome];
  if (position - filled > static_cast<std::int64_t>(gathered_.size())) {
    write_gathered();
    fill_rest(chromosome, position);
  }
  if (position <= filled) return;
  go_to(chromosome, filled);
  gather(static_cast<std::size_t>(position - filled), [](char* out, std::size_t, std::size_t n) {
    std::memset(out, 'N', n);
    return n;
  });
  filled = position;
}

void Projector::fill_rest(std::size_t chromosome, std::int64_t position) {
  constexpr std::int64_t most = std::int64_t{1} << 22;
  auto& filled = filled_[chromosome];
  while (filled < position) {
    context_.throw_if_stopped();
    const std::int64_t n = std::min(most, position - filled);
    store_.fill(chromosome, filled, n);
    filled += n;
  }
}

void Projector::go_to(std::size_t chromosome, std::int64_t position) {
  const std::int64_t next = position_ + static_cast<std::int64_t>(n_gathered_);
  if (chromosome == chromosome_ && position == next) return;
  write_gathered();
  chromosome_ = chromosome;
  position_ = position;
}

template <class Put>
void Projector::gather(std::size_t n, Put put) {
  for (std::size_t done = 0; done < n;) {
    const std::size_t here = std::min(n - done, gathered_.size() - n_gathered_);
    n_gathered_ += put(&gathered_[n_gathered_], done, here);
    done += here;
    if (n_gathered_ == gathered_.size()) write_gathered();
  }
}

void Projector::write_gathered() {
  if (n_gathered_ == 0) return;
  context_.throw_if_stopped();
  store_.write(chromosome_, position_, gathered_.data(), n_gathered_);
  position_ += static_cast<std::int64_t>(n_gathered_);
  n_gathered_ = 0;
}

}  // namespace ancify
