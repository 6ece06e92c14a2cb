// Connects a run's record with the core's files: checksums, locks, and text on the disk.
#include <algorithm>

#include "core/exec/threads.h"
#include "core/io/checksum.h"
#include "core/io/file.h"
#include "core/io/folder_lock.h"
#include "rcpp_glue.h"

// Locks a folder for this process until unlock_folder_impl(). Returns an external pointer.
// [[Rcpp::export]]
SEXP lock_folder_impl(const std::string& folder) {
  std::unique_ptr<ancify::FolderLock> lock;
  guarded([&] { lock = std::make_unique<ancify::FolderLock>(folder); });
  return Rcpp::XPtr<ancify::FolderLock>(lock.release());
}

// True if the folder is locked; FALSE if its file system has no locks.
// [[Rcpp::export]]
bool is_locked_impl(SEXP lock) { return Rcpp::XPtr<ancify::FolderLock>(lock)->held(); }

// [[Rcpp::export]]
void unlock_folder_impl(SEXP lock) { Rcpp::XPtr<ancify::FolderLock>(lock).release(); }

// Returns list(size =, checksum =, identity =), vectors with an element per file; NA for an
// unreadable file.
// [[Rcpp::export]]
Rcpp::List checksums_impl(const std::vector<std::string>& paths, const Rcpp::List& work,
                          const Rcpp::Function& watch) {
  const int threads = threads_of(work);
  std::vector<ancify::FileChecksum> sums(paths.size(), {-1, 0, {}});
  run_job(watch, [&](ancify::JobControl& control) {
    const auto n = static_cast<std::int64_t>(paths.size());
    control.expect(n);
    ancify::run_tasks(control, threads, n, [&](std::int64_t i, const ancify::TaskContext& context) {
      const auto at = static_cast<std::size_t>(i);
      try {
        sums[at] = ancify::checksum_of_file(paths[at], context);
      } catch (const ancify::FileError&) {
      }
      control.advance(1);
    });
  });
  return as_list(sums);
}

// The checksum of bytes.
// [[Rcpp::export]]
std::string bytes_checksum_impl(const Rcpp::RawVector& bytes) {
  const char* const data = reinterpret_cast<const char*>(bytes.begin());
  return tfm::format("%08x",
                     ancify::extend_checksum(0, data, static_cast<std::size_t>(bytes.size())));
}

// Returns list(size =, modified =, sample_checksum =, identity =) of a file. `modified` is in
// seconds since 1970, `sample_checksum` covers parts of the file. The core recognises the file by
// `identity`.
// [[Rcpp::export]]
Rcpp::List file_identity_impl(const std::string& path) {
  Rcpp::List result;
  guarded([&] {
    const ancify::InputFile file(path);
    const std::uint32_t sum = ancify::checksum_of_sample(file);
    file.check_unchanged();
    using Rcpp::Named;
    result = Rcpp::List::create(
        Named("size") = static_cast<double>(file.size()),
        Named("modified") = static_cast<double>(file.status().modified) / 1e9,
        Named("sample_checksum") = tfm::format("%08x", sum), Named("identity") = file.identity());
  });
  return result;
}

// The paths of temporary files that ended processes have left in a folder.
// [[Rcpp::export]]
std::vector<std::string> leftovers_impl(const std::string& folder) {
  return ancify::leftovers(folder);
}

// Writes a file, which appears only once it is complete and on the disk.
// [[Rcpp::export]]
void write_file_impl(const std::string& path, const Rcpp::RawVector& bytes) {
  guarded([&] {
    ancify::OutputFile file(path, bytes.size());
    file.write_at(reinterpret_cast<const char*>(bytes.begin()),
                  static_cast<std::size_t>(bytes.size()), 0);
    file.sync(ancify::TaskContext());
    file.prepare();
    file.commit();
  });
}

// True if each path leads to a pipe or a device.
// [[Rcpp::export]]
Rcpp::LogicalVector are_special_files_impl(const std::vector<std::string>& paths) {
  Rcpp::LogicalVector special(paths.size());
  std::transform(paths.begin(), paths.end(), special.begin(), ancify::is_special_file);
  return special;
}

// After this call, R's output to a closed pipe is lost, and does not stop R.
// [[Rcpp::export]]
void ignore_closed_pipes_impl() { ancify::ignore_closed_pipes(); }

// Writes to the standard output; throws an error on failure.
// [[Rcpp::export]]
void write_standard_output_impl(const Rcpp::RawVector& bytes, const Rcpp::Function& watch) {
  const char* const data = reinterpret_cast<const char*>(bytes.begin());
  const auto n = static_cast<std::size_t>(bytes.size());
  run_job(watch, [&](ancify::JobControl& control) {
    ancify::run_tasks(control, 1, 1, [&](std::int64_t, const ancify::TaskContext&) {
      ancify::write_standard_output(data, n);
    });
  });
}
