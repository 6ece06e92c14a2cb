// Writes calls in upper case, and fills positions without a call.
#include "core/ancestry/calling/call_export.h"

#include <algorithm>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/genome/bases.h"
#include "core/genome/genome_writer.h"
#include "core/genome/sequence_file.h"
#include "core/genome/sequence_store.h"
#include "core/io/file.h"

namespace ancify {

namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 18;

// Calls take(letters, n, start) for pieces of a chromosome's calls, which it may change.
template <class Take>
void for_each_piece(const SequenceReader& reader, JobControl& control, const TaskContext& context,
                    Take take) {
  std::vector<char> letters(static_cast<std::size_t>(std::min(kMost, reader.length())));
  for (std::int64_t start = 0; start < reader.length(); start += kMost) {
    context.throw_if_stopped();
    const auto n = static_cast<std::size_t>(std::min(kMost, reader.length() - start));
    reader.read(start, n, letters.data());
    take(letters.data(), n, start);
    control.advance(static_cast<std::int64_t>(n));
  }
  reader.check_unchanged();
}

class Exporter {
 public:
  Exporter(const CallExport& options, JobControl& control, const TaskContext& context)
      : options_(options),
        control_(control),
        context_(context),
        reference_(options.reference, names_of(options.calls), context) {}

  ExportedPositions write(const CallFile& calls) {
    const SequenceReader reader(calls.path, calls.chromosome);
    const std::string* reference = reference_of(calls.chromosome, reader.length());
    SequenceWriter writer(sequence_path(options_.folder, calls.chromosome), calls.chromosome,
                          reader.length());
    ExportedPositions counts;
    for_each_piece(reader, control_, context_, [&](char* letters, std::size_t n, auto start) {
      for (std::size_t i = 0; i < n; ++i) {
        if (!is_call(letters[i])) fail_no_call(calls.path, letters[i]);
        const char other =
            reference == nullptr ? 'N' : (*reference)[static_cast<std::size_t>(start) + i];
        letters[i] = base_for(letters[i], other, counts);
      }
      writer.write(letters, n, start);
    });
    writer.file().sync(context_);
    writer.file().prepare();
    writer.file().commit();
    return counts;
  }

 private:
  static std::vector<std::string> names_of(const std::vector<CallFile>& calls) {
    std::vector<std::string> names;
    names.reserve(calls.size());
    for (const auto& file : calls) names.push_back(file.chromosome);
    return names;
  }

  // Null if no reference is wanted.
  const std::string* reference_of(const std::string& chromosome, std::int64_t length) {
    if (options_.reference.empty()) return nullptr;
    const std::string* bases = reference_.find(chromosome, context_);
    if (bases == nullptr) {
      throw InputError("`reference` has no sequence for '" + chromosome +
                       "': give one, or leave the chromosome out by `chromosomes`");
    }
    if (static_cast<std::int64_t>(bases->size()) != length) {
      throw InputError("`reference` has " + std::to_string(bases->size()) + " bases of '" +
                       chromosome + "', but there are " + std::to_string(length) +
                       " calls: give the focal genome of the run");
    }
    return bases;
  }

  char base_for(char call, char reference, ExportedPositions& counts) const {
    const Confidence confidence = confidence_of(call);
    if (confidence == Confidence::kHigh ||
        (confidence == Confidence::kLow && options_.low_confidence)) {
      ++counts.called;
      return upper_base(base_code(call));
    }
    const int filled = base_code(reference);
    if (filled != kMissing) {
      ++counts.filled;
      return upper_base(filled);
    }
    ++counts.unknown;
    return options_.unknown;
  }

  const CallExport& options_;
  JobControl& control_;
  const TaskContext& context_;
  SequenceSet reference_;
};

// The folder of a file; "" for the working directory.
std::string folder_of(const std::string& path) {
  return path.substr(0, path.find_last_of('/') + 1);  // npos + 1 is 0
}

// Counts letters, and replaces the letters of calls that do not count.
void take_calls(const std::string& path, bool low_confidence, char* letters, std::size_t n,
                ExportedPositions& counts) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_call(letters[i])) fail_no_call(path, letters[i]);
    const Confidence confidence = confidence_of(letters[i]);
    const bool is_low = confidence == Confidence::kLow;
    if (is_low && !low_confidence) letters[i] = 'N';
    const bool is_called = confidence == Confidence::kHigh || (is_low && low_confidence);
    ++(is_called ? counts.called : counts.unknown);
  }
}

}  // namespace

std::vector<ExportedPositions> export_calls(const CallExport& options, JobControl& control) {
  // Unreadable files are found before the first one is written.
  for (const auto& [path, chromosome] : options.calls) {
    control.expect(SequenceReader(path, chromosome).length());
  }
  std::vector<ExportedPositions> counts;
  run_tasks(control, 1, 1, [&](std::int64_t, const TaskContext& context) {
    Exporter exporter(options, control, context);
    const OutputFolder folder(options.folder);
    for (const auto& calls : options.calls) counts.push_back(exporter.write(calls));
  });
  return counts;
}

ExportedPositions export_genome(const GenomeExport& options, JobControl& control) {
  std::vector<Chromosome> chromosomes;
  for (const auto& [path, chromosome] : options.calls) {
    chromosomes.push_back({chromosome, SequenceReader(path, chromosome).length()});
    control.expect(chromosomes.back().length);
  }
  ExportedPositions counts;
  run_tasks(control, options.threads, 1, [&](std::int64_t, const TaskContext& context) {
    const OutputFolder folder(folder_of(options.path));
    GenomeWriter writer(options.path, chromosomes, options.width, context);
    for (std::size_t i = 0; i < chromosomes.size(); ++i) {
      const auto& [name, length] = chromosomes[i];
      const std::string& path = options.calls[i].path;
      writer.begin(name);
      for_each_piece(SequenceReader(path, name, length), control, context,
                     [&](char* letters, std::size_t n, auto) {
                       take_calls(path, options.low_confidence, letters, n, counts);
                       writer.write(letters, n);
                     });
    }
    writer.commit();
  });
  return counts;
}

}  // namespace ancify
