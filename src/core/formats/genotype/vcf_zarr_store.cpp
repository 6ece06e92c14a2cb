// Finds the files of a VCF Zarr store, and reads the metadata of its arrays.
// Source: Zarr storage specification, version 2; VCF Zarr specification, version 0.4.
#include "core/formats/genotype/vcf_zarr_store.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "core/exec/errors.h"
#include "core/io/lines.h"
#include "core/io/text.h"

namespace ancify {

namespace {

namespace fs = std::filesystem;

// Metadata of all arrays of a store, with descriptions of fields, take some 100 KB.
constexpr std::size_t kLongestMetadata = std::size_t{1} << 24;

constexpr std::array<const char*, 10> kArrays = {
    "call_genotype",  "call_DS",        "call_GP",          "sample_id",  "contig_id",
    "variant_allele", "variant_contig", "variant_position", "variant_id", "variant_id_mask"};

constexpr std::array<const char*, 3> kMarks = {".zgroup", ".zmetadata", "zarr.json"};

bool exists(const std::string& path) {
  std::error_code error;  // set for a missing file
  return fs::exists(path, error);
}

// Regular files below a folder of the store, as paths in the store.
void add_files(const std::string& path, const std::string& name, std::vector<std::string>& files) {
  const std::string folder = path + "/" + name;
  if (!exists(folder)) return;
  try {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) files.push_back(entry.path().string().substr(path.size() + 1));
    }
  } catch (const fs::filesystem_error& error) {
    throw FileError(folder, "cannot list the folder: " + error.code().message());
  }
}

// Files of metadata and of arrays that are read, as paths in the store, sorted.
std::vector<std::string> files_of_store(const std::string& path) {
  std::vector<std::string> files;
  for (const char* name : kMarks) {
    if (exists(path + "/" + name)) files.emplace_back(name);
  }
  for (const char* name : kArrays) add_files(path, name, files);
  std::sort(files.begin(), files.end());
  return files;
}

// Throws FormatError unless the folder has a file that marks a store.
void check_folder(const std::string& path) {
  for (const char* name : kMarks) {
    if (exists(path + "/" + name)) return;
  }
  throw FormatError(path, 0,
                    "this is no folder of VCF Zarr, which has a file .zgroup. Unpack an archive, "
                    "and correct the path");
}

}  // namespace

std::string identity_of_vcf_zarr(const std::string& path) {
  check_folder(path);
  std::uint32_t checksum = 0;
  std::int64_t size = 0;
  const std::string folder = path + "/";
  const std::vector<std::string> files = files_of_store(path);
  for (const std::string& file : files) {
    const FileStatus status = status_of_file(folder + file);
    size += status.size;
    const std::string line = file + " " + status.identity() + "\n";
    checksum = extend_checksum(checksum, line.data(), line.size());
  }
  return std::to_string(files.size()) + " " + std::to_string(size) + " " + std::to_string(checksum);
}

FileChecksum checksum_of_vcf_zarr(const std::string& path, const TaskContext& context) {
  FileChecksum sum;
  sum.identity = identity_of_vcf_zarr(path);
  const std::string folder = path + "/";
  for (const std::string& file : files_of_store(path)) {
    const FileChecksum own = checksum_of_file(folder + file, context);
    sum.size += own.size;
    const std::string line =
        file + " " + std::to_string(own.size) + " " + std::to_string(own.checksum) + "\n";
    sum.checksum = extend_checksum(sum.checksum, line.data(), line.size());
  }
  if (identity_of_vcf_zarr(path) != sum.identity) {
    throw FileError(path, "the store was changed while it was read. Start again");
  }
  return sum;
}

std::int64_t count_chunk_files(const std::string& path, const std::string& array) {
  std::vector<std::string> files;
  add_files(path, array, files);
  return std::count_if(files.begin(), files.end(),
                       [&](const std::string& file) { return file[file.rfind('/') + 1] != '.'; });
}

VcfZarrStore::VcfZarrStore(const std::string& path, const InputIdentities& inputs)
    : path_(path), identity_(identity_of_vcf_zarr(path)) {
  const auto expected = inputs.find(path);
  if (expected != inputs.end() && expected->second != identity_) {
    throw FileError(path, "the store was changed since it was opened. Open it again");
  }
  const std::string all = path + "/.zmetadata";
  if (exists(all)) {
    const Json json = parse_json(read_text(all, kLongestMetadata), all);
    const Json* const metadata = json.member("metadata");
    if (metadata == nullptr) throw FormatError(all, 0, "it has no member 'metadata'");
    consolidated_ = *metadata;
    return;
  }
  if (exists(path + "/.zgroup")) return;
  throw FormatError(path + "/zarr.json", 0,
                    "a store of Zarr's format 3, but only format 2 is read. Write it anew with "
                    "vcf2zarr convert --zarr-format 2");
}

void VcfZarrStore::check_unchanged() const {
  if (identity_of_vcf_zarr(path_) == identity_) return;
  throw FileError(path_, "the store was changed while it was read. Start again");
}

std::string VcfZarrStore::metadata_path(const std::string& name) const {
  return path_ + "/" + name + "/.zarray";
}

bool VcfZarrStore::has(const std::string& name) const {
  if (consolidated_) return consolidated_->member(name + "/.zarray") != nullptr;
  return exists(metadata_path(name));
}

ZarrArray VcfZarrStore::array(const std::string& name, std::size_t dimensions, bool floats) const {
  if (!has(name)) {
    throw FormatError(path_, 0,
                      "there is no array " + name +
                          ", so it is no VCF Zarr with genotypes. vcf2zarr convert writes one");
  }
  const std::string folder = path_ + "/" + name;
  // Messages name this file, although .zmetadata may hold its text.
  const std::string file = metadata_path(name);
  ZarrArray array =
      parse_zarr_array(consolidated_ ? *consolidated_->member(name + "/.zarray")
                                     : parse_json(read_text(file, kLongestMetadata), file),
                       folder, file, floats);
  if (array.shape.size() != dimensions) {
    throw FormatError(file, 0,
                      name + " has " + count_of(array.shape.size(), "dimension") + ", not " +
                          std::to_string(dimensions));
  }
  return array;
}

}  // namespace ancify
