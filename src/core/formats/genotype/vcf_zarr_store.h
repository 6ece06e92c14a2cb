// The folder of a VCF Zarr store: its arrays, and the identity that reveals a change.
#pragma once

#include <string>

#include "core/exec/job_control.h"
#include "core/formats/genotype/zarr_array.h"
#include "core/io/checksum.h"

namespace ancify {

// Arrays of a store, by the metadata in .zmetadata, or else in their own folders.
class VcfZarrStore {
 public:
  // Throws FileError if `path` is no folder of Zarr, FormatError for another format than 2, and
  // FileError if the store has another identity in `inputs`.
  explicit VcfZarrStore(const std::string& path, const InputIdentities& inputs = {});
  const std::string& path() const { return path_; }
  // Throws FileError if the store has changed since it was opened. Call it at the end of reading.
  void check_unchanged() const;

  bool has(const std::string& name) const;
  // Throws FormatError unless this array exists, with so many dimensions. It may have floats only
  // if `floats`.
  ZarrArray array(const std::string& name, std::size_t dimensions, bool floats = false) const;

 private:
  // The file of an array's metadata.
  std::string metadata_path(const std::string& name) const;

  std::string path_;
  std::string identity_;
  std::optional<Json> consolidated_;  // the member `metadata` of .zmetadata
};

// Changes with any write to a file of the arrays that are read here, and if one comes or goes.
std::string identity_of_vcf_zarr(const std::string& path);

// Size and checksum of these files' contents and names, and the identity.
FileChecksum checksum_of_vcf_zarr(const std::string& path, const TaskContext& context);

// The number of files that hold an array's chunks.
std::int64_t count_chunk_files(const std::string& path, const std::string& array);

}  // namespace ancify
