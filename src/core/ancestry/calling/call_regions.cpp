// Reads calls and runs of equal confidence by seeking in the files of called chromosomes.
#include "core/ancestry/calling/call_regions.h"

#include <algorithm>
#include <optional>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/genome/sequence_file.h"
#include "core/io/file.h"
#include "core/io/text.h"

namespace ancify {

namespace {

// Calls take(region, start, bases, n) for stretches of the regions, in order.
template <class Take>
void for_each_stretch(const std::vector<CallFile>& files, const std::vector<CallRegion>& regions,
                      JobControl& control, Take take) {
  constexpr std::int64_t most = std::int64_t{1} << 18;
  std::vector<char> buffer(most);
  std::optional<SequenceReader> reader;
  const CallRegion* before = nullptr;
  for (const auto& region : regions) control.expect(region.n);
  run_tasks(control, 1, 1, [&](std::int64_t, const TaskContext& context) {
    for (std::size_t i = 0; i < regions.size(); ++i) {
      const auto& [chromosome, start, n] = regions[i];
      if (before == nullptr || before->chromosome != chromosome) {
        reader.emplace(files[chromosome].path, files[chromosome].chromosome);
      }
      before = &regions[i];
      if (start + n > reader->length()) {
        throw FormatError(files[chromosome].path, 2, "the file became shorter while it was read");
      }
      for (std::int64_t done = 0; done < n; done += most) {
        context.throw_if_stopped();
        const std::int64_t here = std::min(most, n - done);
        reader->read(start + done, static_cast<std::size_t>(here), buffer.data());
        take(i, start + done, buffer.data(), static_cast<std::size_t>(here));
        control.advance(here);
      }
    }
  });
}

}  // namespace

void fail_no_call(const std::string& path, char letter) {
  throw FormatError(
      path, 2,
      "the sequence contains " + excerpt({&letter, 1}) + ", which is not a call (ACGTacgtnN)");
}

std::vector<std::string> read_regions(const std::vector<CallFile>& files,
                                      const std::vector<CallRegion>& regions, JobControl& control) {
  std::vector<std::string> calls(regions.size());
  for_each_stretch(files, regions, control,
                   [&](std::size_t i, std::int64_t, const char* bases, std::size_t n) {
                     if (calls[i].empty()) calls[i].reserve(static_cast<std::size_t>(regions[i].n));
                     calls[i].append(bases, n);
                   });
  return calls;
}

ConfidenceRuns confidence_runs(const std::vector<CallFile>& files,
                               const std::vector<CallRegion>& regions, JobControl& control) {
  ConfidenceRuns runs;
  for_each_stretch(files, regions, control,
                   [&](std::size_t i, std::int64_t start, const char* bases, std::size_t n) {
                     for (std::size_t at = 0; at < n; ++at) {
                       const std::string& path = files[regions[i].chromosome].path;
                       if (!is_call(bases[at])) fail_no_call(path, bases[at]);
                       const auto confidence = static_cast<std::uint8_t>(confidence_of(bases[at]));
                       const bool goes_on = runs.size() > 0 &&
                                            static_cast<std::size_t>(runs.region.back()) == i &&
                                            runs.confidence.back() == confidence;
                       if (goes_on) {
                         ++runs.n.back();
                         continue;
                       }
                       runs.region.push_back(static_cast<std::int32_t>(i));
                       runs.start.push_back(start + static_cast<std::int64_t>(at));
                       runs.n.push_back(1);
                       runs.confidence.push_back(confidence);
                     }
                   });
  return runs;
}

std::vector<CallCounts> count_regions(const std::vector<CallFile>& files,
                                      const std::vector<CallRegion>& regions, JobControl& control) {
  std::vector<CallCounts> counts(regions.size());
  for_each_stretch(
      files, regions, control, [&](std::size_t i, std::int64_t, const char* bases, std::size_t n) {
        std::array<std::int64_t, 4> by_confidence = {};
        for (std::size_t at = 0; at < n; ++at) {
          if (!is_call(bases[at])) {
            fail_no_call(files[regions[i].chromosome].path, bases[at]);
          }
          ++by_confidence[static_cast<std::size_t>(confidence_of(bases[at]))];
        }
        counts[i] += {by_confidence[0], by_confidence[1], by_confidence[2], by_confidence[3]};
      });
  return counts;
}

std::array<std::int64_t, 256> count_bytes(const std::vector<std::string>& paths,
                                          JobControl& control) {
  constexpr std::int64_t most = std::int64_t{1} << 18;
  std::array<std::int64_t, 256> counts = {};
  std::vector<char> buffer(most);
  run_tasks(control, 1, 1, [&](std::int64_t, const TaskContext& context) {
    for (const auto& path : paths) {
      const InputFile file(path);
      control.expect(file.size());
      for (std::int64_t done = 0; done < file.size(); done += most) {
        context.throw_if_stopped();
        const std::int64_t n = std::min(most, file.size() - done);
        file.read_at(buffer.data(), static_cast<std::size_t>(n), done);
        for (std::int64_t i = 0; i < n; ++i) {
          ++counts[static_cast<unsigned char>(buffer[static_cast<std::size_t>(i)])];
        }
        control.advance(n);
      }
      file.check_unchanged();
    }
  });
  return counts;
}

}  // namespace ancify
