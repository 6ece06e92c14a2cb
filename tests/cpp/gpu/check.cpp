// Compares a GPU's calls, k-mers and products of genotypes with the CPU's byte for byte, its
// spectra to a relative 1e-12, and its encoders as their precision allows. Needs neither R nor a
// test framework; see Makefile. The exit status is 0 if all is equal, 1 if not, and 77 without a
// GPU.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "ancestry/random_models.h"
#include "ancestry/trees.h"
#include "core/ancestry/calling/device_calling.h"
#include "core/ancestry/calling/device_trees.h"
#include "core/ancestry/calling/ml_calling.h"
#include "core/ancestry/coalescent/coalescent.h"
#include "core/ancestry/phylogeny/likelihood.h"
#include "core/ancestry/phylogeny/parsimony.h"
#include "core/diffusion/device_spectra.h"
#include "core/genome/packed.h"
#include "core/genome/stretch.h"
#include "core/genotypes/standardise.h"
#include "core/kmers/counter.h"
#include "core/models/device_encoder.h"
#include "diffusion/demographic_models.h"
#include "genotypes/memory_genotypes.h"
#include "kmers/plain_kmers.h"
#include "models/random_encoders.h"
#include "timing.h"
#include "watched.h"

namespace ancify::test {
namespace {

constexpr SequenceForm kForms[] = {SequenceForm::kCharacters, SequenceForm::kPacked};

// Repeats the same `period` positions, so that any length needs little memory.
class PeriodicSource : public SequenceSource {
 public:
  PeriodicSource(const std::string& bases, SequenceForm form, std::size_t period)
      : bases_(bases), form_(form), period_(period) {}
  SequenceForm form() const override { return form_; }
  const char* bases(std::int64_t start, std::size_t n, char* buffer) const override {
    const std::size_t shrunk = form_ == SequenceForm::kPacked ? 2 : 1;
    const std::size_t bytes = form_ == SequenceForm::kPacked ? packed_size(n) : n;
    const std::size_t all = period_ / shrunk;
    std::size_t at = static_cast<std::size_t>(start) / shrunk % all;
    for (std::size_t done = 0; done < bytes; at = 0) {
      const std::size_t here = std::min(all - at, bytes - done);
      std::memcpy(buffer + done, &bases_[at], here);
      done += here;
    }
    return buffer;
  }

 private:
  const std::string& bases_;
  SequenceForm form_;
  std::size_t period_;
};

// Any characters, of species that mostly agree, as in a genome, or are independent.
class Genome {
 public:
  Genome(int species, std::size_t period, bool similar, std::mt19937& random) : period_(period) {
    std::string usual(period, 'A');
    for (char& c : usual) c = "ACGTacgtN"[random() % 9];
    for (int s = 0; s < species; ++s) {
      characters_.push_back(usual);
      for (char& c : characters_.back()) {
        if (!similar || random() % 8 == 0) c = static_cast<char>(random());
      }
      packed_.emplace_back(packed_size(period), '\xff');
      pack_bases(characters_.back().data(), period, 0, &packed_.back()[0], SimdLevel::kScalar);
    }
  }
  SequenceSources sources(SequenceForm form) const {
    SequenceSources sources;
    for (const auto& bases : form == SequenceForm::kPacked ? packed_ : characters_) {
      sources.push_back(std::make_unique<PeriodicSource>(bases, form, period_));
    }
    return sources;
  }
  int state(std::size_t species, std::int64_t position) const {
    return base_code(characters_[species][static_cast<std::size_t>(position) % period_]);
  }

 private:
  std::size_t period_;  // a multiple of kPackedGroup
  std::vector<std::string> characters_;
  std::vector<std::string> packed_;
};

// Gives each pattern a call and an error of its own, so that mixed-up patterns are found.
class AnyTable : public Method {
 public:
  explicit AnyTable(int species) : species_(species) {}
  int species() const override { return species_; }
  SiteCall call(const int* states) const override {
    unsigned hash = 1;
    for (int s = 0; s < species_; ++s)
      hash = (hash ^ static_cast<unsigned>(states[s])) * 2654435761U;
    const double p = 0.25 + 0.7 * (hash >> 8 & 0xffff) / 0x10000;
    return {"ACGTacgtnN" [(hash >> 24) % 10], Posterior { p, 1 - p, 0, 0 }};
  }

 private:
  int species_;
};

// A method and, if it is tabulated, its tables without and with errors.
class TestedMethod {
 public:
  TestedMethod(std::string name, std::unique_ptr<Method> method)
      : name_(std::move(name)), method_(std::move(method)) {
    if (method_->species() > kMostTabulated) return;
    for (const bool with_phred : {false, true}) tables_[with_phred].emplace(*method_, with_phred);
  }
  const std::string& name() const { return name_; }
  const Method& method() const { return *method_; }
  const CallTable* table(bool with_phred) const {
    return tables_[with_phred] ? &*tables_[with_phred] : nullptr;
  }
  // On a device: a call and an error for each pattern
  std::size_t table_bytes() const {
    return tables_[0] ? 2 * tables_[0]->calls().bytes().size() : 0;
  }

 private:
  std::string name_;
  std::unique_ptr<Method> method_;
  std::optional<CallTable> tables_[2];
};

class Checks {
 public:
  explicit Checks(CallKernels& kernels) : kernels_(kernels) {}

  // Calls n positions on the device, and compares each with a table of all patterns, or with the
  // method itself.
  void call(const TestedMethod& tested, const Voting& voting, bool with_phred, const Genome& genome,
            std::int64_t n, std::size_t memory_limit) {
    const Method& method = tested.method();
    const CallTable* const table = tested.table(with_phred);
    for (const auto form : kForms) {
      std::int64_t next = 0;
      std::int64_t wrong = 0;
      std::vector<int> states(static_cast<std::size_t>(method.species()));
      const auto look = [&](const Stretch& stretch, const char* calls, const std::uint8_t* phred) {
        if (stretch.start != next || (phred != nullptr) != with_phred) ++wrong;
        next = stretch.end;
        for (std::int64_t i = stretch.start; i < stretch.end; ++i) {
          for (std::size_t s = 0; s < states.size(); ++s) states[s] = genome.state(s, i);
          const auto at = static_cast<std::size_t>(i - stretch.start);
          char expected = 0;
          std::uint8_t error = 0;
          if (table != nullptr) {
            std::size_t pattern = 0;
            for (std::size_t s = states.size(); s-- > 0;) pattern = pattern * kStates + states[s];
            expected = table->calls().bytes()[pattern];
            if (with_phred) error = static_cast<std::uint8_t>(table->phred()->bytes()[pattern]);
          } else {
            const SiteCall site = method.call(states.data());
            expected = site.call;
            error = error_phred(site);
          }
          if (calls[at] != expected || (with_phred && phred[at] != error)) ++wrong;
        }
      };
      const auto on_device = table != nullptr ? by_table(*table, method.species(), with_phred)
                                              : by_vote(voting, with_phred);
      DeviceCaller caller(kernels_, on_device, n, memory_limit);
      caller.call(genome.sources(form), n, TaskContext(), look);
      ++done_;
      if (wrong == 0 && next == n) continue;
      ++failed_;
      std::printf("WRONG: %s, %d species, %lld positions, %s: %lld positions differ, %lld called\n",
                  tested.name().c_str(), method.species(), static_cast<long long>(n),
                  form == SequenceForm::kPacked ? "packed" : "characters",
                  static_cast<long long>(wrong), static_cast<long long>(next));
    }
  }

  // Calls n positions by a model on the device. The CPU calls the positions at the ends of each
  // tile, or all positions of a short tile.
  void call_by_model(const MlCaller& ml, bool with_phred, const Genome& genome, std::int64_t n,
                     std::size_t memory_limit) {
    constexpr std::int64_t most = 1 << 12;
    const SequenceSources characters = genome.sources(SequenceForm::kCharacters);
    StretchReader reader(characters, n, kFeatureReach);
    for (const auto form : kForms) {
      std::int64_t next = 0;
      std::int64_t wrong = 0;
      std::string expected(most, '?');
      std::vector<std::uint8_t> errors(most);
      const auto look = [&](const Stretch& stretch, const char* calls, const std::uint8_t* phred) {
        if (stretch.start != next || (phred != nullptr) != with_phred) ++wrong;
        next = stretch.end;
        const std::int64_t last = std::max(stretch.start, (stretch.end - most + 127) / 128 * 128);
        for (const std::int64_t start : {stretch.start, last}) {
          const Stretch part = reader.read(start, std::min(start + most, stretch.end));
          ml.call(part, best_simd_level(), &expected[0], errors.data());
          const auto at = static_cast<std::size_t>(start - stretch.start);
          if (std::memcmp(calls + at, expected.data(), part.size()) != 0) ++wrong;
          if (with_phred && std::memcmp(phred + at, errors.data(), part.size()) != 0) ++wrong;
        }
      };
      DeviceCaller caller(kernels_, *ml.on_devices(with_phred), n, memory_limit);
      caller.call(genome.sources(form), n, TaskContext(), look);
      expect(wrong == 0 && next == n,
             "a model of " + std::to_string(ml.trees().forest().trees.size()) + " trees, " +
                 std::to_string(ml.species()) + " species, " + std::to_string(n) + " positions");
    }
  }

  void expect(bool right, const std::string& what) {
    ++done_;
    if (right) return;
    ++failed_;
    std::printf("WRONG: %s\n", what.c_str());
  }

  int report() const {
    std::printf("%d checks, %d wrong\n", done_, failed_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  CallKernels& kernels_;
  int done_ = 0;
  int failed_ = 0;
};

// How much is checked: little if kernels run on the host; kAll takes a card minutes.
enum class Extent { kSmall, kShort, kAll };

// On the host two blocks take several turns at them.
std::int64_t many_positions(Extent extent) { return extent == Extent::kSmall ? 5003 : 1000003; }

// Limits of memory beside tables or trees: with little memory, tiles have few positions. Kernels on
// the host call many positions once: some in many tiles, more in one.
std::vector<std::size_t> limits(Extent extent, std::int64_t n, std::size_t tables) {
  const std::size_t little = tables + (extent == Extent::kSmall ? 1 << 14 : 1 << 20);
  if (extent != Extent::kSmall || n < 4097) return {little, 0};
  return {n == 4097 ? little : 0};
}

void check_methods(Checks& checks, Extent extent, std::mt19937& random) {
  const std::vector<std::int64_t> lengths = {0,   1,   15,  16,   17,
                                             127, 128, 129, 4097, many_positions(extent)};
  for (int species = 1; species <= 20; ++species) {
    const Voting voting{species - species / 2, species / 2, 1, 2};
    std::deque<TestedMethod> methods;
    if (species >= 2) methods.emplace_back("voting", std::make_unique<VotingMethod>(voting));
    if (species <= kMostTabulated) {
      const Tree tree(random_nodes(species, true, random), species);
      methods.emplace_back("any table", std::make_unique<AnyTable>(species));
      methods.emplace_back("parsimony", std::make_unique<Parsimony>(tree));
      if (species <= 5) {
        methods.emplace_back("likelihood",
                             std::make_unique<Likelihood>(
                                 tree, SubstitutionModel(random_rates(random)), Thresholds()));
      }
    }
    if (species == 3) {
      const ancify::History history{
          20000, 2, {{2e5, 1, 0, 5e4}, {4e5, 2, 0, 6e4}, {1e6, 3, 0, 8e4}}};
      methods.emplace_back("coalescent", std::make_unique<CoalescentMethod>(
                                             history, mutation_model(random_rates(random), 1.25e-8),
                                             Thresholds(), JobControl()));
    }
    for (const bool similar : {true, false}) {
      if (extent == Extent::kSmall && similar == (species % 2 == 0)) continue;
      const Genome genome(species, 128 * 997, similar, random);
      for (const auto& method : methods) {
        for (const std::int64_t n : lengths) {
          for (const std::size_t limit : limits(extent, n, method.table_bytes())) {
            for (const bool with_phred : {false, true}) {
              checks.call(method, voting, with_phred, genome, n, limit);
            }
          }
        }
      }
    }
  }
}

std::unique_ptr<MlCaller> random_model(int species, int rounds, std::size_t leaves,
                                       std::mt19937& random) {
  return std::make_unique<MlCaller>(random_forest(rounds, leaves, species + 9, random),
                                    species - species / 2, species / 2, Thresholds());
}

// Checks trees that fit the shared memory of a block, and larger ones.
void check_models(Checks& checks, Extent extent, std::mt19937& random) {
  const std::vector<std::int64_t> lengths = {0,   1,   49,  50,  51,   100,
                                             101, 127, 128, 129, 4097, many_positions(extent)};
  for (int species = 2; species <= 20; species += extent == Extent::kSmall ? 3 : 1) {
    const Genome genome(species, 128 * 997, species % 2 == 0, random);
    for (const std::size_t leaves : {1, 2, 31, 63, 2000}) {
      if (leaves > 31 && extent != Extent::kAll) continue;
      // Large trees take the CPU long, so there are fewer.
      const auto ml = random_model(species,
                                   leaves == 2     ? 5
                                   : leaves < 2000 ? 50
                                                   : 2,
                                   leaves, random);
      const std::size_t trees = DeviceTrees(*ml).bytes().size();
      for (const std::int64_t n : lengths) {
        for (const std::size_t limit : limits(extent, n, trees)) {
          for (const bool with_phred : {false, true}) {
            checks.call_by_model(*ml, with_phred, genome, n, limit);
          }
        }
      }
    }
  }
}

void check_long(Checks& checks, std::mt19937& random) {
  const Genome genome(2, 128 * 997, true, random);
  const Voting voting{1, 1, 1, 1};
  checks.call({"2^31 + 5 positions", std::make_unique<VotingMethod>(voting)}, voting, false, genome,
              (std::int64_t{1} << 31) + 5, 0);
  checks.call_by_model(*random_model(2, 3, 15, random), false, genome, (std::int64_t{1} << 31) + 5,
                       0);
}

void check_errors(Checks& checks, CallKernels& kernels) {
  std::string message;
  try {
    const CallTable table(AnyTable(3), true);
    DeviceCaller(kernels, by_table(table, 3, true), 1000, 1);
  } catch (const DeviceError& error) {
    message = error.what();
  }
  checks.expect(message.find("too little memory") != std::string::npos, "no error of memory");
  checks.expect(kernels.device().allocate(std::size_t{1} << 50, MemoryKind::kDevice) == nullptr,
                "2^50 bytes were had");
}

// Each device has a thread of its own.
CallDevices three_devices_of_one_card() {
  Backend backend;
  backend.gpus_per_card = 3;
  for (const Gpu& gpu : available_gpus(3).usable) backend.devices.push_back(gpu.number);
  backend.devices.resize(3);
  return watched(open_call_devices(backend));
}

DeviceCallers callers_on(const CallDevices& devices, const CallTable& table, std::int64_t longest,
                         std::size_t memory_limit) {
  DeviceCallers callers;
  for (const auto& device : devices) {
    callers.push_back(
        std::make_unique<DeviceCaller>(*device, by_table(table, 4, true), longest, memory_limit));
  }
  return callers;
}

void check_three(Checks& checks, Extent extent, std::mt19937& random) {
  const std::int64_t n = many_positions(extent);
  const CallDevices devices = three_devices_of_one_card();
  const CallTable table(AnyTable(4), true);
  const Genome genome(4, 128 * 997, true, random);
  std::vector<std::string> called(12);
  JobControl control;
  const DeviceCallers callers = callers_on(devices, table, n, 1 << 22);
  run_in_lanes(control, 3, 3, 12, [&](std::int64_t i, const TaskContext& context) {
    auto& out = called[static_cast<std::size_t>(i)];
    callers[static_cast<std::size_t>(i % 3)]->call(
        genome.sources(SequenceForm::kCharacters), n, context,
        [&](const Stretch& stretch, const char* calls, const std::uint8_t*) {
          out.append(calls, stretch.size());
        });
  });
  for (const auto& calls : called) {
    checks.expect(calls.size() == static_cast<std::size_t>(n) && calls == called[0],
                  "three devices differ");
  }
}

// The largest relative difference. NaN if a value is NaN, or sizes differ.
double worst_difference(const std::vector<std::vector<double>>& found,
                        const std::vector<std::vector<double>>& expected) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (found.size() != expected.size()) return nan;
  double worst = 0;
  for (std::size_t s = 0; s < found.size(); ++s) {
    if (found[s].size() != expected[s].size()) return nan;
    for (std::size_t i = 0; i < found[s].size(); ++i) {
      if (found[s][i] == expected[s][i]) continue;
      const double difference = std::abs(found[s][i] / expected[s][i] - 1);
      if (std::isnan(difference)) return nan;
      worst = std::max(worst, difference);
    }
  }
  return worst;
}

// Computes spectra by a kernel for each operation and by blocks, in one or many launches, on one
// device and on three.
void check_spectra_of(Checks& checks, const Backend& backend, int most,
                      const std::vector<int>& grids, const diffusion::Sampling& sampling) {
  JobControl control;
  const diffusion::Plan plan = diffusion::plan_model(every_event(most), 1e-3, 1);
  std::vector<diffusion::SpectrumJob> jobs;
  for (const int points : grids) jobs.push_back({&plan, points});
  const auto expected =
      diffusion::expected_spectra(jobs, sampling, best_simd_level(), hardware_threads(), control);
  for (const std::size_t most_lines : {std::size_t{0}, std::size_t{1024}, ~std::size_t{0}}) {
    const std::size_t values_at_once = most_lines == 1024 ? std::size_t{1} << 24 : 1;
    for (const bool three : {false, true}) {
      Backend used = backend;
      if (three) used.devices = {0, 1, 2};
      if (three) used.gpus_per_card = 3;
      const auto found = diffusion::device_spectra(watched(diffusion::open_diffusion_devices(used)),
                                                   jobs, sampling, 0, hardware_threads(), control,
                                                   most_lines, values_at_once);
      const double worst = worst_difference(found, expected);
      checks.expect(worst < 1e-12, "spectra of " + std::to_string(most) +
                                       " populations differ by 1e-12 times " +
                                       std::to_string(1e12 * worst));
    }
  }
}

// Checks spectra of all kinds of events and samples.
void check_spectra(Checks& checks, const Backend& backend, Extent extent) {
  const bool small = extent == Extent::kSmall;
  diffusion::Sampling sampling;
  sampling.sizes = {9};
  check_spectra_of(checks, backend, 1, {30, 40, small ? 200 : 2000}, sampling);
  const auto samplings = all_samplings();
  for (int s = 0; s < static_cast<int>(samplings.size()); ++s) {
    for (int most = 2; most <= 5; ++most) {
      // Samples are of two populations, however many there were before.
      if (small && most > 2 && s != most - 2) continue;
      const int points = most < 4 ? (small ? 20 : 60) : (small ? 10 : 16);
      check_spectra_of(checks, backend, most, {9, 12, points}, samplings[s]);
    }
  }
}

bool same_database(const KmerDatabase& one, const KmerDatabase& other) {
  if (one.starts() != other.starts()) return false;
  const std::size_t bytes = one.header().record_bytes();
  if (other.header().record_bytes() != bytes) return false;
  std::vector<char> buffers[2];
  const auto n = static_cast<std::size_t>(one.header().size);
  return std::memcmp(one.records(0, n, buffers[0]), other.records(0, n, buffers[1]), n * bytes) ==
         0;
}

// Counts k-mers on one device and on three. One partition fills many tiles if memory is little.
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
        Backend used = backend;
        if (three) used.devices = {0, 1, 2};
        if (three) used.gpus_per_card = 3;
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
}

// Z Z'V beside Z'V, twice: the second pass finds genotypes on the devices, if they fit. V's and
// out's columns are `columns`.
std::vector<double> genotype_products(const Calls& calls, std::shared_ptr<ProductDevices> devices,
                                      int columns, ProductBits bits) {
  JobControl control;
  auto file = std::make_unique<MemoryGenotypes>(calls);
  GenotypeSelection all = {first_numbers(file->samples()), first_numbers(file->variants())};
  const GenotypeMatrix matrix(std::move(file), std::move(all),
                              {hardware_threads(), best_simd_level(), 0, true, std::move(devices)},
                              control);
  const GenotypeProducts products = standardise(matrix, -1);
  const std::vector<double> v = random_numbers(matrix.samples() * columns, 3);
  const std::int64_t size = matrix.samples() * columns;
  std::vector<double> result(static_cast<std::size_t>(size + matrix.variants() * columns));
  GenotypeProducts::Pass pass;
  pass.v = v.data();
  pass.columns = pass.out_columns = columns;
  pass.out = result.data();
  pass.bits = bits;
  pass.wanted = [](std::int64_t) { return true; };
  for (int round = 0; round < 2; ++round) {
    products.run(control, pass, [&](const GenotypeBlock& block, const double* t, double* u) {
      const std::int64_t here = block.variants() * columns;
      std::copy_n(t, here, result.data() + size + block.first_variant() * columns);
      std::copy_n(t, here, u);
    });
  }
  return result;
}

// Multiplies on one device with room for all genotypes, and on three with little.
void check_products_of(Checks& checks, const Backend& backend, const Calls& calls, int columns,
                       ProductBits bits) {
  const auto expected = genotype_products(calls, nullptr, columns, bits);
  for (const bool three : {false, true}) {
    Backend used = backend;
    if (three) used.devices = {0, 1, 2};
    if (three) used.gpus_per_card = 3;
    const auto devices = open_product_devices(used);
    devices->kernels = watched(std::move(devices->kernels));
    // Columns, and tiles of some blocks
    const auto whole = static_cast<std::size_t>(bits == ProductBits::k56 ? 2 * columns : columns);
    const auto samples = static_cast<std::size_t>(quad_stride(calls.samples));
    if (three) {
      devices->memory_limit = whole * samples * 12 + 6 * (samples * 64 + whole * 6200) + 4096;
    }
    checks.expect(genotype_products(calls, devices, columns, bits) == expected,
                  "products of " + std::to_string(calls.samples) + " samples, " +
                      std::to_string(calls.of_variants.size()) + " variants and " +
                      std::to_string(columns) + " columns differ");
  }
}

void check_products(Checks& checks, const Backend& backend, Extent extent) {
  for (const ProductBits bits : {ProductBits::k28, ProductBits::k56}) {
    check_products_of(checks, backend, Calls::random(1, 1, 0, 1), 1, bits);
    check_products_of(checks, backend, Calls::random(66, 3, 1, 1), 1, bits);
    check_products_of(checks, backend, Calls::random(131, 300, 0.1, 1), 5, bits);
    check_products_of(checks, backend, Calls::rare(130, 260, 1), 2, bits);
  }
  check_products_of(checks, backend, Calls::random(65, 40, 0, 1), 17, ProductBits::k28);
  // More samples than sums of 32 bits take before they are added to those of 64.
  check_products_of(checks, backend, Calls::random(4165, 2, 0, 1), 1, ProductBits::k28);
  if (extent == Extent::kSmall) return;
  for (const ProductBits bits : {ProductBits::k28, ProductBits::k56}) {
    check_products_of(checks, backend, Calls::random(3001, 5003, 0.02, 1), 129, bits);
    check_products_of(checks, backend, Calls::random(40007, 700, 0, 1), 33, bits);
  }
}

// Encodes a pack, and compares its states and log-probabilities with those of the CPU.
void check_encoder(Checks& checks, EncoderKernels& kernels, const Encoder& encoder,
                   const Pack& pack) {
  const std::vector<float> states = encode(encoder, pack, best_simd_level(), TaskContext());
  const std::string what = "an encoder of width " + std::to_string(encoder.shape.width) +
                           " with heads of " + std::to_string(encoder.shape.head_width());
  for (const auto& [precision, most] :
       {std::pair<Precision, double>{Precision::kSingle, 5e-6}, {Precision::kHalf, 5e-3}}) {
    const auto on_device = encoder_on(kernels, encoder, precision, 0);
    on_device->expect(pack.size());
    on_device->begin(pack, false, 0);
    const double of_states = relative_distance(on_device->finish(0), states);
    checks.expect(of_states < most, what + ": states differ by " + std::to_string(of_states));
    if (!encoder.has_head()) continue;
    const std::vector<float> expected =
        log_probabilities(encoder, states.data(), pack.size(), best_simd_level());
    on_device->begin(pack, true, 1);
    const float* const logits = on_device->finish(1);
    std::vector<float> found(logits, logits + expected.size());
    finish_logits(encoder, found.data(), pack.size());
    const double of_logits = relative_distance(found.data(), expected);
    checks.expect(of_logits < most,
                  what + ": probabilities differ by " + std::to_string(of_logits));
  }
}

// Encoders of both kinds, with heads of each width that has a kernel of its own, and of others. On
// the host some rows of keys fill several tiles of shared memory.
void check_encoders(Checks& checks, const Backend& backend, Extent extent) {
  const auto kernels = watched(open_encoder_devices(backend));
  RandomEncoders random;
  std::vector<std::int64_t> lengths = {1, 65, 130, 9};
  if (extent != Extent::kSmall) lengths.insert(lengths.end(), {1024, 300, 64, 63, 2});
  const std::int64_t layers = extent == Extent::kSmall ? 1 : 4;
  for (const std::int64_t wide : {16, 20, 24, 32, 64, 128}) {
    for (const Encoder& encoder : {random.rotated({layers, 2 * wide, 2, 96, 33}),
                                   random.sloped({layers, 3 * wide, 3, 72, 50})}) {
      check_encoder(checks, *kernels.front(), encoder, random.pack(encoder, lengths));
    }
  }
}

// Each operation must have been used by a comparison above, new ones too.
template <class Operation>
void check_all_begun(Checks& checks) {
  for (const auto& name : begun<Operation>().missing()) {
    checks.expect(false, name + " was never compared with the CPU");
  }
}

int check(Extent extent) {
  Backend backend;
  backend.devices = {available_gpus(1).usable.front().number};
  const CallDevices devices = watched(open_call_devices(backend));
  CallKernels& kernels = *devices.front();
  std::printf("Checking %s\n", kernels.device().name().c_str());
  Checks checks(kernels);
  std::mt19937 random(1);
  check_errors(checks, kernels);
  check_methods(checks, extent, random);
  check_models(checks, extent, random);
  check_three(checks, extent, random);
  check_spectra(checks, backend, extent);
  check_kmers(checks, backend, extent);
  check_products(checks, backend, extent);
  check_encoders(checks, backend, extent);
  if (extent == Extent::kAll) check_long(checks, random);
  check_all_begun<CallOperation>(checks);
  check_all_begun<diffusion::DiffusionOperation>(checks);
  check_all_begun<KmerCountOperation>(checks);
  check_all_begun<ProductOperation>(checks);
  check_all_begun<EncoderOperation>(checks);
  return checks.report();
}

constexpr int kNoGpu = 77;

int run(const std::string& what) {
  const Gpus gpus = available_gpus(1);
  if (gpus.usable.empty()) {
    std::printf("NOT RUN, there is no GPU to use: %s\n", gpus.problem.c_str());
    return kNoGpu;
  }
  if (what == "check") return check(Extent::kAll);
  if (what == "short") return check(Extent::kShort);
  if (what == "small") return check(Extent::kSmall);
  if (what == "time") {
    print_times();
    return 0;
  }
  std::printf("usage: gpu_driver check|short|small|time\n");
  return 2;
}

}  // namespace
}  // namespace ancify::test

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // keep all output, even after a crash
  try {
    return ancify::test::run(argc == 2 ? argv[1] : "");
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
}
