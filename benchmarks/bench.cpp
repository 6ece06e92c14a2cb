// Measures ratios of times, each in one process; see README.md in this folder.
//
//   ancify_bench FOLDER [--short]
//   ancify_bench --floor FOLDER CHROMOSOMES LENGTH THREADS     for in_r.R
//   ancify_bench --inflate THREADS FILE...                     for many_species.R and polarise.R
//
// FOLDER takes the simulated alignments, which are kept for the next time, and the output of runs.
// It is best on a file system in memory. --short uses small alignments, and only checks that all
// ways of a run give the same bytes.

#include <sys/mman.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/ancestry/calling/calling.h"
#include "core/ancestry/calling/methods.h"
#include "core/ancestry/calling/project_and_call.h"
#include "core/ancestry/projection/projection.h"
#include "core/exec/threads.h"
#include "core/formats/alignment/axt.h"
#include "core/genome/sequence_store.h"
#include "core/io/byte_source.h"
#include "core/io/inflate.h"
#include "core/io/memory.h"
#include "core/io/record_reader.h"
#include "simulate.h"

namespace ancify::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 5;

double seconds_of(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// During its lifetime the system has this many bytes of free small pages that have been touched
// before, and at first of huge pages too. A virtual machine may return long stretches of free pages
// to its host. Then the first touch of each page is a fault in the host, which takes longer than
// the measured work. So only every second stretch of small pages is freed, to keep free stretches
// short. Huge pages can only be freed right before the run.
class WarmPages {
 public:
  WarmPages(std::size_t small, std::size_t huge)
      : size_(2 * (small / kStretch + 1) * kStretch),
        memory_(static_cast<char*>(
            mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    madvise(memory_, size_, MADV_NOHUGEPAGE);
    std::memset(memory_, 1, size_);
    for (std::size_t at = 0; at < size_; at += 2 * kStretch) {
      madvise(memory_ + at, kStretch, MADV_DONTNEED);
    }
    // One thread for each core, as each core takes pages from its own list.
    std::vector<std::thread> threads;
    for (int i = 0; i < hardware_threads(); ++i) {
      threads.emplace_back([huge] { std::memset(Memory(huge).data(), 1, huge); });
    }
    for (auto& thread : threads) thread.join();
  }
  ~WarmPages() { munmap(memory_, size_); }
  WarmPages(const WarmPages&) = delete;
  WarmPages& operator=(const WarmPages&) = delete;

 private:
  static constexpr std::size_t kStretch = std::size_t{1} << 16;

  std::size_t size_;
  char* memory_;
};

// The best and the worst time of all rounds.
struct Times {
  double best = 1e300;
  double worst = 0;
  void add(double seconds) {
    best = std::min(best, seconds);
    worst = std::max(worst, seconds);
  }
};

// Times the runs in turn, so that other work of the machine affects all equally.
std::vector<Times> take_turns(const std::vector<std::function<void()>>& runs) {
  std::vector<Times> times(runs.size());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < runs.size(); ++i) times[i].add(seconds_of(runs[i]));
  }
  return times;
}

const std::vector<Outgroup> kOutgroups = {
    {0.012, 8000}, {0.012, 8000}, {0.016, 6000}, {0.06, 1500}};
const Voting kVoting = {3, 1, 1, 1};

// Options of a method that tabulates patterns, with parameters as in real primates.
MethodOptions method_called(const std::string& name) {
  MethodOptions method;
  method.name = name;
  method.voting = kVoting;
  // (((focal, 0), 1), 2), 3)
  method.tree.emplace(std::vector<TreeNode>{{-1, 0, kNoLeaf, ""},
                                            {0, 0.01, kNoLeaf, ""},
                                            {1, 0.005, kNoLeaf, ""},
                                            {2, 0.003, kNoLeaf, ""},
                                            {3, 0.006, kFocalLeaf, ""},
                                            {3, 0.006, 0, ""},
                                            {2, 0.009, 1, ""},
                                            {1, 0.014, 2, ""},
                                            {0, 0.05, 3, ""}},
                      kVoting.species());
  method.history = History{10'000,
                           1,
                           {{250'000, 1, 0, 50'000},
                            {350'000, 2, 0, 60'000},
                            {700'000, 3, 0, 80'000},
                            {1'300'000, 4, 0, 90'000}}};
  method.rates.exchangeabilities = {1, 4, 1, 1, 4, 1};  // HKY85
  method.rates.frequencies = {0.3, 0.2, 0.2, 0.3};
  if (name == "likelihood") method.rates.alpha = 0.5;
  return method;
}

const std::vector<std::string> kTabulated = {"voting", "parsimony", "likelihood", "coalescent"};

struct Case {
  std::string name;
  std::vector<Chromosome> chromosomes;
  std::vector<std::string> axt;
  MethodOptions method = method_called("voting");
  bool posterior = false;

  std::int64_t length() const {
    std::int64_t sum = 0;
    for (const auto& chromosome : chromosomes) sum += chromosome.length;
    return sum;
  }
};

// Alignments of n chromosomes. If not 0, `covered` is their share in blocks.
Case make_case(const fs::path& folder, int n, std::int64_t length, double covered = 0) {
  Case result;
  result.name = std::to_string(n) + " x " + std::to_string(length / 1000000) + " Mb";
  for (int i = 1; i <= n; ++i) result.chromosomes.push_back({"chr" + std::to_string(i), length});
  fs::create_directories(folder / result.name);
  for (std::size_t s = 0; s < kOutgroups.size(); ++s) {
    result.axt.push_back(folder / result.name / (std::to_string(s) + ".axt.gz"));
  }
  JobControl control;
  run_tasks(control, hardware_threads(), static_cast<std::int64_t>(kOutgroups.size()),
            [&](std::int64_t s, const TaskContext&) {
              if (fs::exists(result.axt[s])) return;
              const std::string unfinished = result.axt[s] + ".part";
              gzFile out = gzopen(unfinished.c_str(), "wb6");
              Outgroup outgroup = kOutgroups[s];
              if (covered > 0) outgroup.covered = covered;
              Simulator simulator(outgroup, 100 + static_cast<unsigned>(s));
              for (const auto& chromosome : result.chromosomes) {
                simulator.chromosome(chromosome, [&](const std::string& text) {
                  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
                });
              }
              gzclose(out);
              fs::rename(unfinished, result.axt[s]);
            });
  return result;
}

Backend cpu(int threads, SimdLevel simd) {
  Backend backend;
  backend.threads = threads;
  backend.simd = simd;
  return backend;
}

// Only inflates, with the chunks and threads of a run.
void inflate_all(const Case& input, int threads) {
  JobControl control;
  run_tasks(control, threads, static_cast<std::int64_t>(input.axt.size()),
            [&](std::int64_t i, const TaskContext& context) {
              const std::size_t chunk = ProjectionOptions().chunk_size;
              const auto source = open_text(input.axt[i], chunk, context);
              std::vector<char> text(chunk);
              while (source->read(text.data(), text.size()) > 0) {
              }
            });
}

void run_kept(const Case& input, const fs::path& out, const Backend& backend, JobControl& control) {
  std::vector<Alignment> alignments;
  std::vector<std::string> folders;
  for (std::size_t s = 0; s < input.axt.size(); ++s) {
    folders.push_back(out / "projected" / std::to_string(s));
    alignments.push_back({folders.back(), input.axt[s],
                          std::make_unique<FileStore>(folders.back(), input.chromosomes)});
  }
  ProjectionOptions options;
  options.simd = backend.simd;
  project_alignments(alignments, input.chromosomes, options, backend.threads, control);
  std::vector<ChromosomeSequences> calls;
  for (const auto& chromosome : input.chromosomes) {
    calls.push_back({chromosome.name, chromosome.length, [&chromosome, &folders] {
                       SequenceSources sources;
                       for (const auto& folder : folders) {
                         sources.push_back(file_source(sequence_path(folder, chromosome.name),
                                                       chromosome.name, chromosome.length));
                       }
                       return sources;
                     }});
  }
  call_chromosomes(make_caller(input.method, backend, input.posterior), calls, out / "calls",
                   control);
}

void run_in_memory(const Case& input, const fs::path& out, const Backend& backend,
                   JobControl& control) {
  std::vector<OutgroupAlignment> outgroups;
  for (const auto& axt : input.axt) outgroups.push_back({axt, axt});
  ProjectionOptions options;
  options.simd = backend.simd;
  project_and_call(outgroups, input.chromosomes, options,
                   make_caller(input.method, backend, input.posterior), out / "calls", control);
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string all_calls(const Case& input, const fs::path& out) {
  std::string text;
  for (const auto& chromosome : input.chromosomes) {
    text += read_file(sequence_path(out / "calls", chromosome.name));
    if (input.posterior) text += read_file(out / "calls/posterior" / (chromosome.name + ".phred"));
  }
  return text;
}

std::vector<SimdLevel> simd_levels() {
  std::vector<SimdLevel> levels;
  for (const auto level : {SimdLevel::kScalar, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    if (level <= best_simd_level()) levels.push_back(level);
  }
  return levels;
}

// True if all ways of a run give the same bytes, for posteriors too if the case has them.
bool all_the_same(const Case& input, const fs::path& folder) {
  const fs::path out = folder / "out";
  std::string expected;
  bool same = true;
  for (const auto level : simd_levels()) {
    for (const int threads : {1, 2}) {
      for (const bool kept : {true, false}) {
        JobControl control;
        fs::remove_all(out);
        (kept ? run_kept : run_in_memory)(input, out, cpu(threads, level), control);
        const std::string calls = all_calls(input, out);
        if (expected.empty()) expected = calls;
        const bool equal = calls == expected;
        std::printf("%-10s %-8s %d thread%s  %-10s %s\n", input.method.name.c_str(),
                    simd_name(level), threads, threads == 1 ? " " : "s",
                    kept ? "kept" : "in memory", equal ? "the same bytes" : "OTHER BYTES");
        same = same && equal;
      }
    }
  }
  return same;
}

using Run = void(const Case& input, const fs::path& out, const Backend& backend,
                 JobControl& control);

double seconds_of_run(Run run, const Case& input, const fs::path& out, const Backend& backend) {
  fs::remove_all(out);
  const auto length = static_cast<std::size_t>(input.length());
  const WarmPages pages(length * (input.axt.size() + 1), 3 * length);
  JobControl control;
  return seconds_of([&] { run(input, out, backend, control); });
}

// The system's part of a run that keeps projections: writes and reads the same files, and does
// nothing else.
void only_files(const Case& input, const fs::path& out, const Backend&, JobControl&) {
  std::vector<char> buffer(std::size_t{1} << 16, 'A');
  const auto for_each_file = [&](const std::string& folder, auto act) {
    fs::create_directories(folder);
    for (const auto& [name, length] : input.chromosomes) {
      OutputFile file(sequence_path(folder, name), length);
      for (std::int64_t at = 0; at < length; at += static_cast<std::int64_t>(buffer.size())) {
        const auto n =
            std::min<std::int64_t>(static_cast<std::int64_t>(buffer.size()), length - at);
        act(file, static_cast<std::size_t>(n), at);
      }
      file.prepare();
      file.commit();
    }
  };
  const auto write = [&](OutputFile& file, std::size_t n, std::int64_t at) {
    file.write_at(buffer.data(), n, at);
  };
  for (std::size_t s = 0; s < input.axt.size(); ++s) {
    for_each_file(out / "projected" / std::to_string(s), write);
  }
  for_each_file(out / "calls", [&](OutputFile& file, std::size_t n, std::int64_t at) {
    for (std::size_t s = 0; s < input.axt.size(); ++s) {
      const fs::path path =
          out / "projected" / std::to_string(s) / fs::path(file.path()).filename();
      InputFile(path).read_at(buffer.data(), n, at);
    }
    write(file, n, at);
  });
}

void print_ratio(const std::string& what, double ratio, double spread, const char* must) {
  std::printf("%-66s %6.2f  (%.2f)  %s\n", what.c_str(), ratio, spread, must);
}

void whole_runs(const Case& input, const fs::path& folder, int threads, const char* kept_must,
                const char* memory_must) {
  const Backend backend = cpu(threads, best_simd_level());
  const fs::path out = folder / "out";
  std::vector<Times> times(4);
  for (int round = 0; round < kRounds; ++round) {
    times[0].add(seconds_of([&] { inflate_all(input, threads); }));
    times[1].add(seconds_of_run(run_kept, input, out, backend));
    times[2].add(seconds_of_run(run_in_memory, input, out, backend));
    if (threads == 1) times[3].add(seconds_of_run(only_files, input, out, backend));
  }
  fs::remove_all(out);
  const std::string label = input.name + ", " + std::to_string(threads) + " thread(s): ";
  print_ratio(label + "run, projections kept, over inflating", times[1].best / times[0].best,
              times[1].worst / times[1].best, kept_must);
  print_ratio(label + "run, nothing kept, over inflating", times[2].best / times[0].best,
              times[2].worst / times[2].best, memory_must);
  if (threads > 1) return;
  print_ratio(label + "the system's part of keeping projections", times[3].best / times[0].best,
              times[3].worst / times[3].best, "");
}

std::string all_text(const std::string& axt) {
  const auto source = open_text(axt);
  std::string text(std::size_t{1} << 30, '\0');
  std::size_t n = 0;
  while (const std::size_t got = source->read(&text[n], text.size() - n)) n += got;
  text.resize(n);
  return text;
}

void projection_in_memory(const Case& input) {
  const std::string text = all_text(input.axt.front());
  const std::size_t n = text.size();
  MemoryStore store(input.chromosomes);
  std::string copy(n, '\1');
  const auto project = [&] {
    ProjectionOptions options;
    options.simd = best_simd_level();
    const TaskContext context;
    const std::vector<ProjectionTarget> targets = {{"", &store}};
    const std::string name = "memory";
    AlignmentProjector projector(name, targets, input.chromosomes, options, context);
    projector.consume(text, true);
    projector.finish();
  };
  project();
  const auto times = take_turns({project, [&] { std::memcpy(&copy[0], text.data(), n); }});
  print_ratio("projection of text in memory, speed over memcpy of the text",
              times[1].best / times[0].best, times[0].worst / times[0].best, "at least 0.4");
}

// Text in memory, in chunks that are in the cache as if they had just been inflated.
class TextSource : public ByteSource {
 public:
  explicit TextSource(const std::string& text) : text_(text) {}
  std::size_t read(char* buffer, std::size_t n) override {
    n = text_.copy(buffer, n, at_);
    at_ += n;
    return n;
  }
  std::int64_t consumed() const override { return static_cast<std::int64_t>(at_); }
  const std::string& path() const override { return path_; }

 private:
  const std::string& text_;
  std::string path_ = "text in memory";
  std::size_t at_ = 0;
};

// Copies into two buffers, as uploads to a device do. Ordinary memory stands for theirs.
class Buffers {
 public:
  void add(const char* from, std::size_t n) {
    for (std::size_t done = 0; done < n;) {
      const std::size_t here = std::min(n - done, kSize - filled_);
      std::memcpy(&memory_[now_ * kSize + filled_], from + done, here);
      done += here;
      filled_ += here;
      if (filled_ < kSize) continue;
      filled_ = 0;
      now_ = 1 - now_;
    }
  }

 private:
  static constexpr std::size_t kSize = std::size_t{1} << 20;
  std::string memory_ = std::string(2 * kSize, '\1');
  std::size_t now_ = 0;
  std::size_t filled_ = 0;
};

class BufferStore : public SequenceStore {
 public:
  explicit BufferStore(bool copies) : copies_(copies) {}
  void write(std::size_t, std::int64_t, const char* bases, std::size_t n) override {
    if (copies_) buffers_.add(bases, n);
  }
  void commit(const TaskContext&) override {}

 private:
  bool copies_;
  Buffers buffers_;
};

// Times the part of projection that a device could do: gathering columns. Both rows would have to
// be uploaded instead of the bases.
void gathering_over_inflating(const Case& input) {
  for (const auto& axt : {input.axt.front(), input.axt.back()}) {
    const std::string text = all_text(axt);
    const TaskContext context;
    ProjectionOptions options;
    options.simd = best_simd_level();
    const auto read = [&](const auto& consume) {
      JobControl control;
      TextSource source(text);
      for_each_chunk(source, options.chunk_size, control, context, consume);
    };
    const auto scan = [&](const auto& use) {
      BadBlocks bad(axt, OnBadBlock::kError);
      AxtParser parser(bad, options.simd);
      read([&](std::string_view chunk, bool last) { return parser.consume(chunk, last, use); });
    };
    const auto project = [&](bool copies) {
      BufferStore store(copies);
      const std::vector<ProjectionTarget> targets = {{"", &store}};
      AlignmentProjector projector(axt, targets, input.chromosomes, options, context);
      read([&](std::string_view chunk, bool last) { return projector.consume(chunk, last); });
      projector.finish();
    };
    Buffers buffers;
    const auto times = take_turns({[&] {
                                     const auto source =
                                         open_text(axt, options.chunk_size, context);
                                     std::vector<char> chunk(options.chunk_size);
                                     while (source->read(chunk.data(), chunk.size()) > 0) {
                                     }
                                   },
                                   [&] { scan([](const AlignedPair&) {}); },
                                   [&] {
                                     scan([&](const AlignedPair& pair) {
                                       buffers.add(pair.target.data(), pair.target.size());
                                       buffers.add(pair.query.data(), pair.query.size());
                                     });
                                   },
                                   [&] { project(false); }, [&] { project(true); }});
    const std::string name = fs::path(axt).stem().stem();
    const auto print = [&](const std::string& what, std::size_t run) {
      print_ratio("outgroup " + name + ", over inflating: " + what,
                  (times[run].best - times[1].best) / times[0].best,
                  times[run].worst / times[run].best, "");
    };
    print("both rows into buffers", 2);
    print("gathering columns", 3);
    print("gathering columns, into buffers", 4);
  }
}

void calling_in_memory(std::size_t n) {
  std::vector<std::string> species(4, std::string(n, 'A'));
  std::mt19937 random(3);
  for (auto& bases : species) {
    for (char& c : bases) c = "ACGTacgtN-"[(random() >> 8) % 10];
  }
  std::vector<const char*> pointers;
  for (const auto& bases : species) pointers.push_back(bases.data());
  const auto end = static_cast<std::int64_t>(n);
  const Stretch stretch = {end, 0, end, 0, pointers.data(), SequenceForm::kCharacters};
  std::string calls(n, '?');
  std::string copy(5 * n, '\1');
  const std::string original(5 * n, '\2');
  for (const auto level : simd_levels()) {
    const Caller caller(std::make_unique<VotingMethod>(kVoting), cpu(1, level));
    const auto times = take_turns({[&] { caller.call(stretch, &calls[0]); },
                                   [&] { std::memcpy(&copy[0], original.data(), copy.size()); }});
    print_ratio(std::string("calling 4 species in memory, ") + simd_name(level) +
                    ", speed over memcpy of 5 bytes",
                times[1].best / times[0].best, times[0].worst / times[0].best,
                level == best_simd_level() ? "at least 0.75" : "");
  }
}

// Times whole calls of a chromosome, from packed memory to its file, with the making of the table.
void methods_over_voting(const fs::path& folder, std::int64_t length) {
  const std::vector<Chromosome> one = {{"chr1", length}};
  std::mt19937 random(5);
  std::vector<std::unique_ptr<PackedStore>> stores;
  std::string usual(1 << 16, 'A');
  for (char& c : usual) c = "ACGTN"[(random() >> 8) % 5];
  for (std::size_t s = 0; s < kOutgroups.size(); ++s) {
    stores.push_back(std::make_unique<PackedStore>(one, best_simd_level()));
    for (std::int64_t at = 0; at < length; at += static_cast<std::int64_t>(usual.size())) {
      std::string bases = usual;
      for (std::size_t i = 0; i < bases.size(); i += 50) bases[i] = "ACGTN"[(random() >> 8) % 5];
      const auto n = std::min(static_cast<std::int64_t>(bases.size()), length - at);
      stores.back()->write(0, at, bases.data(), static_cast<std::size_t>(n));
    }
  }
  const ChromosomeSequences chromosome = {
      "chr1", length, [&stores] {
        SequenceSources sources;
        for (const auto& store : stores) {
          sources.push_back(memory_source(store->packed(0), SequenceForm::kPacked));
        }
        return sources;
      }};
  std::vector<std::function<void()>> runs;
  for (const auto& name : kTabulated) {
    runs.emplace_back([&, name] {
      JobControl control;
      const auto caller = make_caller(method_called(name), cpu(1, best_simd_level()), false);
      call_chromosomes(caller, {chromosome}, folder / "out", control);
    });
  }
  runs.front()();
  const auto times = take_turns(runs);
  for (std::size_t i = 1; i < runs.size(); ++i) {
    print_ratio("calling a chromosome, 4 species, by " + kTabulated[i] + ", over voting",
                times[i].best / times[0].best, times[i].worst / times[i].best, "at most 1.1");
  }
  fs::remove_all(folder / "out");
}

// The largest increase of anonymous memory during a run, in bytes.
double peak_anonymous(const std::function<void(JobControl&)>& run) {
  const auto now = [] {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.rfind("RssAnon:", 0) == 0) return std::stod(line.substr(8)) * 1024;
    }
    return 0.0;
  };
  const double before = now();
  double most = 0;
  JobControl control;
  run_beside(
      control, [&] { run(control); }, [&] { most = std::max(most, now()); });
  return most - before;
}

void memory_of_runs(const fs::path& folder) {
  for (const int n : {1, 10}) {
    const Case input = make_case(folder, n, 250'000'000, 0.01);
    const fs::path out = folder / "out";
    const Backend backend = cpu(2, best_simd_level());
    fs::remove_all(out);
    const double kept =
        peak_anonymous([&](JobControl& control) { run_kept(input, out, backend, control); });
    fs::remove_all(out);
    const double in_memory =
        peak_anonymous([&](JobControl& control) { run_in_memory(input, out, backend, control); });
    fs::remove_all(out);
    std::printf("%-66s %6.0f MB  at most 250\n",
                (input.name + ": anonymous memory, projections kept").c_str(), kept / 1e6);
    std::printf("%-66s %6.2f bytes a position  at most 2.5\n",
                (input.name + ": anonymous memory, nothing kept").c_str(),
                in_memory / static_cast<double>(input.length()));
  }
}

// Compares whole runs on a genome with runs on one chromosome of the same length, and on two
// threads with one.
void compare_runs(const Case& one, const Case& many, const fs::path& folder) {
  const fs::path out = folder / "out";
  std::vector<Times> times(3);
  const auto measure = [&](Times& time, const Case& input, int threads) {
    time.add(seconds_of_run(run_kept, input, out, cpu(threads, best_simd_level())));
  };
  for (int round = 0; round < kRounds; ++round) {
    measure(times[0], one, 1);
    measure(times[1], many, 1);
    measure(times[2], one, 2);
  }
  fs::remove_all(out);
  print_ratio(many.name + " over " + one.name, times[1].best / times[0].best,
              times[1].worst / times[1].best, "at most 1.1");
  print_ratio("2 threads, speed over 1", times[0].best / times[2].best,
              times[2].worst / times[2].best, "at least 1.7");
}

int run(const fs::path& folder, bool brief) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // show lines as they come
  std::printf("%s, %d threads here\n\n", simd_name(best_simd_level()), hardware_threads());
  if (brief) {
    Case input = make_case(folder, 3, 1'000'000);
    bool same = true;
    for (const auto& name : kTabulated) {
      input.method = method_called(name);
      input.posterior = name != "voting";
      same = all_the_same(input, folder) && same;
    }
    return same ? 0 : 1;
  }
  const Case one = make_case(folder, 1, 100'000'000);
  const Case many = make_case(folder, 24, 10'000'000);
  const Case as_long = make_case(folder, 1, 240'000'000);
  std::printf("%-66s %6s  (worst/best)  must reach\n", "", "ratio");
  whole_runs(one, folder, 1, "at most 1.4", "at most 1.25");
  whole_runs(one, folder, 2, "at most 1.6", "at most 1.45");
  whole_runs(many, folder, 1, "at most 1.4", "at most 1.25");
  whole_runs(many, folder, 2, "at most 1.6", "at most 1.45");
  projection_in_memory(one);
  gathering_over_inflating(one);
  calling_in_memory(100'000'000);
  methods_over_voting(folder, 100'000'000);
  compare_runs(as_long, many, folder);
  memory_of_runs(folder);
  return 0;
}

// Writes as many bytes as a run that keeps projections, a file a species and chromosome.
void write_all(const Case& input, const fs::path& out, int threads) {
  const std::size_t species = input.axt.size() + 1;  // with the calls
  fs::create_directories(out);
  JobControl control;
  run_tasks(control, threads, static_cast<std::int64_t>(species * input.chromosomes.size()),
            [&](std::int64_t i, const TaskContext&) {
              const auto& chromosome = input.chromosomes[static_cast<std::size_t>(i) / species];
              const std::string bases(std::size_t{1} << 16, 'A');
              OutputFile file(out / std::to_string(i), chromosome.length);
              for (std::int64_t at = 0; at < chromosome.length;) {
                const auto n = std::min<std::int64_t>(static_cast<std::int64_t>(bases.size()),
                                                      chromosome.length - at);
                file.write_at(bases.data(), static_cast<std::size_t>(n), at);
                at += n;
              }
            });
}

// Makes in_r.R's alignments, so many chromosomes of this length. Prints the time to inflate them,
// without and with writing the files of a run that keeps projections.
int time_floor(const fs::path& folder, int chromosomes, std::int64_t length, int threads) {
  const Case input = make_case(folder, chromosomes, length);
  const auto times = take_turns({[&] { inflate_all(input, threads); },
                                 [&] {
                                   inflate_all(input, threads);
                                   write_all(input, folder / "out", threads);
                                 }});
  fs::remove_all(folder / "out");
  std::printf("%f %f\n", times[0].best, times[1].best);
  return 0;
}

// Prints the time to inflate files, the least processor time, and the library that inflates.
int time_inflating(int threads, const std::vector<std::string>& files) {
  Case input;
  input.axt.assign(files.begin(), files.end());
  double processor = std::numeric_limits<double>::infinity();
  const auto times = take_turns({[&] {
    const std::clock_t start = std::clock();
    inflate_all(input, threads);
    processor = std::min(processor, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }});
  std::printf("%f\t%f\t%s\n", times[0].best, processor, inflater_name());
  return 0;
}

}  // namespace
}  // namespace ancify::bench

int main(int argc, char** argv) {
  if (argc == 6 && std::strcmp(argv[1], "--floor") == 0) {
    return ancify::bench::time_floor(argv[2], std::atoi(argv[3]), std::atoll(argv[4]),
                                     std::atoi(argv[5]));
  }
  if (argc > 3 && std::strcmp(argv[1], "--inflate") == 0) {
    return ancify::bench::time_inflating(std::atoi(argv[2]), {argv + 3, argv + argc});
  }
  const bool brief = argc == 3 && std::strcmp(argv[2], "--short") == 0;
  if (argc < 2 || (argc > 2 && !brief)) {
    std::fprintf(stderr, "usage: ancify_bench FOLDER [--short]\n");
    return 2;
  }
  return ancify::bench::run(argv[1], brief);
}
