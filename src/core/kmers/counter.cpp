// Counts short k-mers in tables, longer ones in partitions of super-k-mers.
#include "core/kmers/counter.h"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <utility>

#include "core/exec/errors.h"
#include "core/formats/sequence/fastq.h"
#include "core/kmers/sorted_counts.h"
#include "core/kmers/super_kmers.h"

namespace ancify {

namespace {

// Objects that each thread owns, made on first use and then reused.
template <class Item>
class Pool {
 public:
  explicit Pool(std::function<std::unique_ptr<Item>()> make) : make_(std::move(make)) {}
  template <class Use>
  void with(Use&& use) {
    std::unique_ptr<Item> item;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!free_.empty()) {
        item = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (item == nullptr) item = make_();
    use(*item);
    std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(std::move(item));
  }
  std::vector<std::unique_ptr<Item>>& items() { return free_; }

 private:
  std::function<std::unique_ptr<Item>()> make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Item>> free_;
};

// Calls use(item, piece) for pieces that together contain each k-mer of the text once.
template <class Item, class Use>
void share_pieces(std::string_view bases, int k, Pool<Item>& pool, const TaskContext& context,
                  Use&& use) {
  constexpr std::size_t piece = 1 << 16;
  const auto overlap = static_cast<std::size_t>(k - 1);
  if (bases.size() <= overlap) return;
  const std::size_t kmers = bases.size() - overlap;
  context.share(static_cast<std::int64_t>((kmers + piece - 1) / piece), [&](std::int64_t i) {
    context.throw_if_stopped();
    const std::string_view part =
        bases.substr(static_cast<std::size_t>(i) * piece, piece + overlap);
    pool.with([&](Item& item) { use(item, part); });
  });
}

// ---- k up to 12 --------------------------------------------------------------------------------

using CountTable = std::vector<std::uint64_t>;

class TableCounter : public KmerCounter {
 public:
  TableCounter(const KmerSettings& settings, KmerWork work)
      : settings_(settings), work_(std::move(work)), tables_([this] {
          return std::make_unique<CountTable>(std::size_t{1} << (2 * settings_.k));
        }) {}

  void take(std::string_view bases, const TaskContext& context) override {
    share_pieces(bases, settings_.k, tables_, context,
                 [&](CountTable& table, std::string_view piece) {
                   for_each_kmer<ShortKey>(piece, settings_.k, false,
                                           [&](std::size_t, ShortKey key) { ++table[key]; });
                 });
  }

  KmerDatabase finish(JobControl& control) override {
    CountTable sum(std::size_t{1} << (2 * settings_.k));
    for (const auto& table : tables_.items()) {
      for (std::size_t i = 0; i < sum.size(); ++i) {
        const std::uint64_t n = (*table)[i];
        if (n == 0) continue;
        sum[settings_.canonical ? canonical_key<ShortKey>(i, settings_.k) : i] += n;
      }
    }
    std::vector<Counted<ShortKey>> counts;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      if (sum[i] > 0) counts.push_back({i, saturated(sum[i])});
    }
    KmerParts parts(settings_, 1, work_.memory, work_.scratch);
    parts.add(counts);
    return parts.write<ShortKey>(work_, true, control);
  }

 private:
  KmerSettings settings_;
  KmerWork work_;
  Pool<CountTable> tables_;
};

// ---- k above 12 --------------------------------------------------------------------------------

// A thread's access to the partitions.
struct Cutting {
  Cutting(int k, Partitions& parts) : writer(parts, kBlock), cutter(k, writer) {}
  static constexpr std::size_t kBlock = 1 << 12;
  PartWriter writer;
  SuperKmerCutter cutter;
};

// Keys sorted at a time: two arrays of them take an eighth of the memory.
template <class Key>
std::size_t keys_of_a_tile(const KmerWork& work) {
  constexpr std::size_t least = 1 << 14;
  constexpr std::size_t most = 1 << 20;
  const std::size_t memory = work.memory / 8 / static_cast<std::size_t>(work.threads);
  return std::clamp(memory / (2 * sizeof(Key)), least, most);
}

template <class Key>
void count_partitions(const KmerSettings& settings, const KmerWork& work, Partitions& super_kmers,
                      KmerParts& counts, JobControl& control) {
  Pool<TileCounter<Key>> counters(
      [&] { return std::make_unique<TileCounter<Key>>(settings.k, keys_of_a_tile<Key>(work)); });
  run_tasks(control, work.threads, static_cast<std::int64_t>(super_kmers.size()),
            [&](std::int64_t part, const TaskContext&) {
              counters.with([&](TileCounter<Key>& counter) {
                super_kmers.take(static_cast<std::size_t>(part),
                                 [&](const char* block, std::size_t size) {
                                   expand<Key>(block, size, settings.k, settings.canonical,
                                               [&](Key key) { counter.add(key); });
                                 });
                counts.add(counter.finish());
              });
              control.advance(1);
            });
}

template <class Key>
class PartitionCounter : public KmerCounter {
 public:
  PartitionCounter(const KmerSettings& settings, KmerWork work, const KmerDevices& devices)
      : settings_(settings),
        work_(std::move(work)),
        devices_(devices),
        super_kmers_(kPartitions, work_.memory / 2, work_.scratch),
        cutting_([this] { return std::make_unique<Cutting>(settings_.k, super_kmers_); }) {}

  void take(std::string_view bases, const TaskContext& context) override {
    share_pieces(bases, settings_.k, cutting_, context,
                 [](Cutting& cutting, std::string_view piece) { cutting.cutter.cut(piece); });
  }

  KmerDatabase finish(JobControl& control) override {
    for (const auto& cutting : cutting_.items()) cutting->writer.flush();
    cutting_.items().clear();
    KmerParts counts(settings_, kSortedBases, work_.memory / 4, work_.scratch);
    control.expect(static_cast<std::int64_t>(kPartitions));
    if (devices_.kernels.empty()) {
      count_on_cpu(settings_, work_, super_kmers_, counts, control);
    } else {
      count_on_devices(devices_, settings_, work_, super_kmers_, counts, control);
    }
    return counts.template write<Key>(work_, false, control);
  }

 private:
  KmerSettings settings_;
  KmerWork work_;
  const KmerDevices& devices_;
  Partitions super_kmers_;
  Pool<Cutting> cutting_;
};

// Collects sequences, separated by a letter, and passes them on as one text.
class Collector {
 public:
  Collector(KmerCounter& counter, int k, const TaskContext& context)
      : counter_(counter), overlap_(static_cast<std::size_t>(k - 1)), context_(context) {}

  void begin() { text_ += 'N'; }
  void take(std::string_view bases) {
    while (!bases.empty()) {
      const std::string_view some = bases.substr(0, kText);
      text_ += some;
      bases.remove_prefix(some.size());
      if (text_.size() >= kText) flush();
    }
  }
  // The last bases stay, as k-mers may start there.
  void flush() {
    counter_.take(text_, context_);
    text_.erase(0, text_.size() - std::min(text_.size(), overlap_));
  }

 private:
  static constexpr std::size_t kText = 1 << 21;  // bytes

  KmerCounter& counter_;
  std::size_t overlap_;
  const TaskContext& context_;
  std::string text_;
};

}  // namespace

void count_on_cpu(const KmerSettings& settings, const KmerWork& work, Partitions& super_kmers,
                  KmerParts& counts, JobControl& control) {
  with_key(settings.k, [&](auto key) {
    count_partitions<decltype(key)>(settings, work, super_kmers, counts, control);
  });
}

std::unique_ptr<KmerCounter> make_kmer_counter(const KmerSettings& settings, const KmerWork& work,
                                               const KmerDevices& devices) {
  if (settings.k <= kMostTableK) return std::make_unique<TableCounter>(settings, work);
  return with_key(settings.k, [&](auto key) -> std::unique_ptr<KmerCounter> {
    return std::make_unique<PartitionCounter<decltype(key)>>(settings, work, devices);
  });
}

KmerDatabase count_kmers(const PassSequences& pass, const KmerSettings& settings,
                         const KmerWork& work, JobControl& control, const KmerDevices& devices) {
  const auto counter = make_kmer_counter(settings, work, devices);
  run_tasks(control, work.threads, 1, [&](std::int64_t, const TaskContext& context) {
    Collector collector(*counter, settings.k, context);
    pass({[&] { collector.begin(); }, [&](std::string_view bases) { collector.take(bases); }},
         context);
    collector.flush();
  });
  return counter->finish(control);
}

namespace {

// Letters at the start of a file that are checked.
constexpr std::int64_t kLook = 10000;

// Refuses proteins, whose letters include A, C, G and T, and RNA, which breaks at each U.
void check_dna(const std::string& path, std::string_view letters) {
  const std::size_t amino_acid = letters.find_first_of("EFILPQefilpq");
  if (amino_acid != std::string_view::npos) {
    throw FormatError(path, 0,
                      std::string("the letter '") + letters[amino_acid] +
                          "' stands for no base of DNA: is it a file of proteins?");
  }
  if (letters.find_first_of("Uu") != std::string_view::npos) {
    throw FormatError(path, 0, "the letter U is RNA's: write T in its place");
  }
}

}  // namespace

PassSequences sequences_of_files(const std::vector<std::string>& paths, JobControl& control,
                                 std::vector<std::int64_t>& letters) {
  return [&paths, &control, &letters](const SequencePasser& passer, const TaskContext& context) {
    std::int64_t sequences = 0;
    letters.assign(paths.size(), 0);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const FastaSink sink = {[&](std::string_view, std::int64_t) {
                                ++sequences;
                                passer.begin();
                              },
                              [&](std::string_view bases) {
                                if (letters[i] < kLook) check_dna(paths[i], bases.substr(0, kLook));
                                letters[i] += static_cast<std::int64_t>(bases.size());
                                passer.bases(bases);
                              }};
      control.expect(InputFile(paths[i], control.inputs()).size());
      constexpr std::size_t chunk = 1 << 21;
      read_sequences(paths[i], sink, control, context, chunk);
    }
    if (sequences == 0) throw_no_sequences(paths);
  };
}

}  // namespace ancify
