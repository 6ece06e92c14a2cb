// K-mers counted on a GPU: the CPU's bytes, and the speed beside the CPU's.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/threads.h"
#include "core/kmers/counter.h"
#include "driver.h"
#include "kmers/plain_kmers.h"

namespace ancify::test {
namespace {

bool same_database(const KmerDatabase& one, const KmerDatabase& other) {
  if (one.starts() != other.starts()) return false;
  const std::size_t bytes = one.header().record_bytes();
  if (other.header().record_bytes() != bytes) return false;
  std::vector<char> buffers[2];
  const auto n = static_cast<std::size_t>(one.header().size);
  return std::memcmp(one.records(0, n, buffers[0]), other.records(0, n, buffers[1]), n * bytes) ==
         0;
}

// The seconds of counting partitions of super-k-mers: reads of 150 bases of a random genome.
double count_seconds(const KmerDevices& devices, int k) {
  constexpr std::size_t read = 150;
  constexpr std::size_t reads = 1000000;
  static const std::string genome = random_text(5000000, 1, "ACGT");
  KmerSettings settings;
  settings.k = k;
  const KmerWork work = {std::size_t{8} << 30, "", "", hardware_threads()};
  Partitions super_kmers(kPartitions, work.memory, "");
  PartWriter writer(super_kmers, 1 << 12);
  SuperKmerCutter cutter(k, writer);
  for (std::size_t i = 0; i < reads; ++i) {
    cutter.cut(std::string_view(genome).substr(i * 7919 % (genome.size() - read), read));
  }
  writer.flush();
  KmerParts counts(settings, kSortedBases, work.memory, "");
  JobControl control;
  const auto start = std::chrono::steady_clock::now();
  if (devices.kernels.empty()) {
    count_on_cpu(settings, work, super_kmers, counts, control);
  } else {
    count_on_devices(devices, settings, work, super_kmers, counts, control);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

// Counts k-mers on one device and on three. With little memory, one partition fills many tiles.
void check_kmers(Checks& checks, const Backend& backend, Extent extent) {
  const std::size_t n = extent == Extent::kSmall   ? 5000
                        : extent == Extent::kShort ? 200000
                                                   : 5000000;
  const std::string unit = random_text(n, 1, "ACGT");
  const std::string text = unit + "N" + unit + std::string(n, 'A') + random_text(n, 2, "ACGTn");
  for (const int k : {13, 21, 31, 32, 33, 64}) {
    for (const bool canonical : {true, false}) {
      KmerSettings settings;
      settings.k = k;
      settings.canonical = canonical;
      const KmerWork work = {std::size_t{1} << 30, "", "", hardware_threads()};
      JobControl control;
      const KmerDatabase expected =
          count_kmers(pieces_of(text, text.size()), settings, work, control);
      for (const bool three : {false, true}) {
        const Backend used = three ? three_devices(backend) : backend;
        KmerDevices devices = open_kmer_devices(used);
        devices.kernels = watched(std::move(devices.kernels));
        for (const std::size_t limit : {std::size_t{1} << 18, std::size_t{0}}) {
          devices.memory_limit = limit;
          const KmerDatabase found =
              count_kmers(pieces_of(text, text.size()), settings, work, control, devices);
          checks.expect(same_database(found, expected),
                        "k-mers of " + std::to_string(k) + " bases differ");
        }
      }
    }
  }
  checks.expect_all_begun<KmerCountOperation>();
}

void time_kmers(const Backend& backend) {
  const KmerDevices devices = open_kmer_devices(backend);
  for (const int k : {25, 55}) {
    const auto best = [&](const KmerDevices& on) {
      double least = 1e9;
      for (int round = 0; round < 4; ++round) {
        least = std::min(least, count_seconds(on, k));
      }
      return least;
    };
    const double cpu = best({});
    const double card = best(devices);
    std::printf("k = %d, partitions counted: %8.3f s, on %d CPU threads %8.3f s, speed %.2f\n", k,
                card, hardware_threads(), cpu, cpu / card);
  }
}

}  // namespace ancify::test
