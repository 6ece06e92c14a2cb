// Looks up k-mers in sorted order, so that each prefix is read once.
#include "core/kmers/queries.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/exec/errors.h"
#include "core/io/lines.h"
#include "core/io/text.h"
#include "core/kmers/set_operations.h"
#include "core/kmers/sorted_counts.h"

namespace ancify {

namespace {

// A queried k-mer, and the destination of its count.
template <class Key>
struct Wanted {
  Key key;
  std::int64_t* count;
};

template <class Key>
void look_up(const KmerDatabase& database, std::vector<Wanted<Key>> wanted,
             const TaskContext& context) {
  const KmerHeader& header = database.header();
  const auto by_key = [](const auto& a, const auto& b) { return a.key < b.key; };
  std::sort(wanted.begin(), wanted.end(), by_key);
  std::vector<Counted<Key>> found;  // all k-mers of a prefix
  for (auto at = wanted.begin(); at != wanted.end();) {
    context.throw_if_stopped();
    const auto prefix = at->key >> (8 * header.suffix_bytes());
    const auto number = static_cast<std::size_t>(prefix);
    found.clear();
    for (KmerCursor<Key> cursor(database, database.starts()[number], database.starts()[number + 1]);
         cursor.valid(); cursor.next()) {
      found.push_back(cursor.entry());
    }
    for (; at != wanted.end() && at->key >> (8 * header.suffix_bytes()) == prefix; ++at) {
      const auto entry =
          std::lower_bound(found.begin(), found.end(), Counted<Key>{at->key, 0}, by_key);
      const bool is_there = entry != found.end() && entry->key == at->key;
      *at->count = is_there ? entry->count : 0;
    }
  }
  database.check_unchanged();
}

template <class Key>
Counted<Key> parse_row(std::string_view line, int k, const std::string& path, std::int64_t number) {
  std::string_view rest = line;
  const std::string_view text = next_field(rest);
  const auto count = parse_whole_number(next_field(rest));
  std::optional<Key> key;
  if (text.size() == static_cast<std::size_t>(k)) {
    for_each_kmer<Key>(text, k, false, [&](std::size_t, Key found) { key = found; });
  }
  if (!key || !count || *count < 1 || *count > kMostCount || !rest.empty()) {
    throw FormatError(path, number,
                      "a k-mer of " + std::to_string(k) + " bases and its count are needed, not " +
                          excerpt(line));
  }
  return {*key, static_cast<std::uint32_t>(*count)};
}

template <class Key>
std::vector<Counted<Key>> read_rows(const std::string& path, bool canonical, int k,
                                    const TaskContext& context) {
  std::vector<Counted<Key>> rows;
  for_each_line(path, context, [&](std::string_view line, std::int64_t number) {
    rows.push_back(parse_row<Key>(line, k, path, number));
    const Key key = rows.back().key;
    if (canonical && canonical_key(key, k) != key) {
      throw FormatError(path, number,
                        "the reverse complement of " + key_text(key, k) +
                            " is smaller: the k-mers are not canonical");
    }
  });
  std::vector<Counted<Key>> spare;
  radix_sort(rows, spare, 2 * k);
  const auto twice = std::adjacent_find(
      rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.key == b.key; });
  if (twice != rows.end()) {
    throw FormatError(path, 0, "the k-mer " + key_text(twice->key, k) + " occurs twice");
  }
  return rows;
}

int length_of_first(const std::string& path, const TaskContext& context) {
  LineReader reader(path, kLongestLine, context);
  std::string_view line;
  reader.next(line);
  const std::size_t k = next_field(line).size();
  if (k < 1 || k > static_cast<std::size_t>(kMostK)) {
    throw FormatError(path, 1, "a k-mer of 1 to " + std::to_string(kMostK) + " bases is needed");
  }
  return static_cast<int>(k);
}

}  // namespace

std::vector<std::vector<std::int64_t>> counts_along(const KmerDatabase& database,
                                                    const std::vector<std::string_view>& sequences,
                                                    const TaskContext& context) {
  const KmerHeader& header = database.header();
  const auto overlap = static_cast<std::size_t>(header.k - 1);
  std::vector<std::vector<std::int64_t>> counts(sequences.size());
  with_key(header.k, [&](auto any) {
    using Key = decltype(any);
    std::vector<Wanted<Key>> wanted;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      context.throw_if_stopped();
      counts[i].assign(sequences[i].size() - std::min(sequences[i].size(), overlap), kNoKmer);
      for_each_kmer<Key>(sequences[i], header.k, header.canonical,
                         [&](std::size_t position, Key key) {
                           wanted.push_back({key, &counts[i][position]});
                         });
    }
    look_up(database, std::move(wanted), context);
  });
  return counts;
}

std::vector<KmerRow> kmer_rows(const KmerDatabase& database, std::uint64_t n,
                               const TaskContext& context) {
  std::vector<KmerRow> rows;
  rows.reserve(n);
  with_key(database.header().k, [&](auto key) {
    for (KmerCursor<decltype(key)> at(database, 0, n); at.valid(); at.next()) {
      if (rows.size() % (1 << 16) == 0) context.throw_if_stopped();
      rows.push_back({key_text(at.key(), database.header().k), at.count()});
    }
  });
  database.check_unchanged();
  return rows;
}

void write_kmer_files(const KmerDatabase& database, const std::string& stem,
                      const TaskContext& context) {
  KmerHeader header = database.header();
  header.count_bytes = std::clamp(header.count_bytes, 1, 4);  // the widths that KMC's tools accept
  KmerWriter writer(header, stem);
  with_key(database.header().k, [&](auto any) {
    using Key = decltype(any);
    constexpr std::size_t at_once = 1 << 16;
    std::uint64_t first = 0;
    std::vector<Counted<Key>> entries;
    const auto write = [&] {
      context.throw_if_stopped();
      writer.write(first, entries.data(), entries.size());
      first += entries.size();
      entries.clear();
    };
    for (KmerCursor<Key> at(database); at.valid(); at.next()) {
      entries.push_back(at.entry());
      if (entries.size() == at_once) write();
    }
    write();
  });
  database.check_unchanged();
  writer.commit(context);
}

void write_kmer_text(const KmerDatabase& database, const std::string& path,
                     const TaskContext& context) {
  const int k = database.header().k;
  std::int64_t size = 0;
  for (const auto& [count, kmers] : histogram(database, context)) {
    const std::size_t row = static_cast<std::size_t>(k) + 2 + std::to_string(count).size();
    size += static_cast<std::int64_t>(row * kmers);
  }
  OutputFile file(path, size);
  std::int64_t at = 0;
  std::string text;
  const auto write = [&] {
    context.throw_if_stopped();
    file.write_at(text.data(), text.size(), at);
    at += static_cast<std::int64_t>(text.size());
    text.clear();
  };
  with_key(k, [&](auto key) {
    constexpr std::size_t most = 1 << 20;
    for (KmerCursor<decltype(key)> cursor(database); cursor.valid(); cursor.next()) {
      text += key_text(cursor.key(), k) + ' ' + std::to_string(cursor.count()) + '\n';
      if (text.size() >= most) write();
    }
  });
  write();
  database.check_unchanged();
  file.sync(context);
  file.prepare();
  file.commit();
}

KmerDatabase read_kmer_text(const std::string& path, bool canonical, const KmerWork& work,
                            JobControl& control) {
  const TaskContext context(control);
  KmerSettings settings;
  settings.k = length_of_first(path, context);
  settings.canonical = canonical;
  return with_key(settings.k, [&](auto any) {
    using Key = decltype(any);
    KmerParts parts(settings, 1, work.memory, work.scratch);
    parts.add(read_rows<Key>(path, canonical, settings.k, context));
    return parts.write<Key>(work, true, control);
  });
}

std::vector<NumberedCount> count_numbers(std::string_view sequence, int k, bool canonical) {
  std::vector<std::uint32_t> keys;
  for_each_kmer<ShortKey>(sequence, k, canonical, [&](std::size_t, ShortKey key) {
    keys.push_back(static_cast<std::uint32_t>(key));
  });
  std::vector<std::uint32_t> spare;
  radix_sort(keys, spare, 2 * k);
  std::vector<NumberedCount> counts;
  for (const auto& [key, count] : count_runs(keys)) {
    counts.push_back({static_cast<std::int32_t>(key), static_cast<std::int32_t>(count)});
  }
  return counts;
}

}  // namespace ancify
