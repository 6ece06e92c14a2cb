// Walks along chains, and reads the outgroup's bases of their blocks.
#include "core/ancestry/projection/chain_pairs.h"

#include "core/exec/errors.h"

namespace ancify {

namespace {

constexpr const char* kChainSays = "the chain says";

// The path of the outgroup's genome.
const std::string& genome_of(const std::string& file, const ProjectionOptions& options) {
  if (options.focal_row) {
    throw InputError("'" + file +
                     "' is a chain file, which has no focal bases: give the focal genome "
                     "(focal_fasta)");
  }
  const auto genome = options.genomes.find(file);
  if (genome == options.genomes.end()) {
    throw InputError("'" + file +
                     "' is a chain file, which has no bases: set twobit to the outgroup's genome "
                     "in 2bit format");
  }
  return genome->second;
}

}  // namespace

ChainPairs::ChainPairs(const std::string& file, const std::vector<Chromosome>& chromosomes,
                       const ProjectionOptions& options, const InputIdentities& inputs,
                       BadBlocks& bad)
    : bad_(bad),
      chromosomes_(chromosomes),
      insertions_(options.insertions),
      wanted_(chromosomes, options.aliases),
      genome_(genome_of(file, options), inputs) {}

std::string ChainPairs::problem_of(const Chain& chain, const Chromosome& chromosome) {
  const ChainRange& target = chain.target;
  if (target.size != chromosome.length) {
    return other_length(kChainSays, target.name, target.size, "the table of lengths",
                        chromosome.length);
  }
  return genome_.choose(kChainSays, chain.query.name, chain.query.size);
}

void ChainPairs::project(const Chain& chain, const std::vector<PairSink*>& sinks) {
  const auto wanted = wanted_.find(chain.target.name);
  if (wanted) {
    const std::string problem = problem_of(chain, chromosomes_[*wanted]);
    if (!problem.empty()) return bad_.add(chain.line, problem);
  }
  AlignedPair pair;
  pair.chromosome = chain.target.name;
  pair.line = chain.line;
  pair.score = chain.score;
  std::int64_t target = chain.target.start;
  std::int64_t query = chain.query.start;
  for (std::string_view rest = chain.blocks; !rest.empty();) {
    const ChainBlock block = next_block(rest);
    ++pair.line;
    if (!wanted) {
      for (PairSink* sink : sinks) sink->pass_over(chain.target.name);
      continue;
    }
    const bool bridged = block.query_gap == 0 && block.target_gap <= kLongestBridge;
    const bool inserts =
        insertions_ && block.size > 0 && block.target_gap == 0 && block.query_gap <= kLongestBridge;
    const std::int64_t inserted = inserts ? block.query_gap : 0;
    make_rows(chain.query, query, block.size + inserted, bridged ? block.target_gap : 0, inserted);
    pair.target = target_;
    pair.target_gaps = inserted;
    pair.query = row_;
    pair.start = target + 1;
    pair.end = target + static_cast<std::int64_t>(row_.size()) - inserted;
    if (!row_.empty()) {
      for (PairSink* sink : sinks) sink->project(pair, 0);
    }
    pair.continues = insertions_ && !row_.empty() && (bridged || inserts);
    target += block.size + block.target_gap;
    query += block.size + block.query_gap;
  }
}

void ChainPairs::make_rows(const ChainRange& query, std::int64_t start, std::int64_t size,
                           std::int64_t gap, std::int64_t inserted) {
  genome_.read(query.minus, start, static_cast<std::size_t>(size), row_);
  row_.append(static_cast<std::size_t>(gap), '-');
  if (unknown_.size() < row_.size()) unknown_.resize(row_.size(), 'N');
  target_ = std::string_view(unknown_).substr(0, row_.size());
  if (inserted == 0) return;
  gapped_.assign(target_.substr(static_cast<std::size_t>(inserted)));
  gapped_.append(static_cast<std::size_t>(inserted), '-');
  target_ = gapped_;
}

}  // namespace ancify
