// Names foreign formats by their first bytes, from one table.
#include "core/io/foreign_format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string>

#include "core/exec/errors.h"

namespace ancify {

namespace {

// Byte strings with a NUL need their length.
template <std::size_t N>
constexpr std::string_view bytes(const char (&text)[N]) {
  return {text, N - 1};
}

struct Magic {
  std::size_t offset;
  std::string_view bytes;
  std::string_view name;
};

constexpr std::array<Magic, 17> kMagics = {{
    {0, "BZh", "a file compressed by bzip2. Use gzip: bunzip2 -c FILE | gzip > FILE.gz"},
    {0, bytes("\xfd\x37zXZ\0"), "a file compressed by xz. Use gzip: xz -dc FILE | gzip > FILE.gz"},
    {0, "\x28\xb5\x2f\xfd", "a file compressed by zstd. Use gzip: zstd -dc FILE | gzip > FILE.gz"},
    {0, "\x1f\x9d", "a file compressed by compress. Use gzip: zcat FILE | gzip > FILE.gz"},
    {0, "PK\x03\x04", "a zip archive or a workbook. Extract it, or save the sheet as text"},
    {0, "\x89HDF\r\n\x1a\n", "an HDF5 file, as alignments in HAL are. Write a MAF by hal2maf"},
    {0, "version https://git-lfs",
     "a pointer of Git LFS, not the file. Fetch that by git lfs pull"},
    {16, "bgen", "a BGEN file. open_genotypes() reads it, if its name ends in .bgen"},
    {0, bytes("BAM\1"), "a BAM file of aligned reads. See the help for the formats that are read"},
    {0, "CRAM", "a CRAM file of aligned reads. See the help for the formats that are read"},
    {0, "@HD\tVN:", "a SAM file of aligned reads. See the help for the formats that are read"},
    {0, "\xff\xfe", "a text in UTF-16. Save it as UTF-8"},
    {0, "\xfe\xff", "a text in UTF-16. Save it as UTF-8"},
    {0, bytes("X\n\0\0\0"), "an RDS file of R. Read it by readRDS(), and give the object"},
    {0, "RDX2\n", "an RData file of R. Read it by load(), and give the object"},
    {0, "RDX3\n", "an RData file of R. Read it by load(), and give the object"},
    {0, "%PDF-", "a PDF document. Correct the path"},
}};

bool begins_with(std::string_view text, std::string_view start, bool (*same)(char, char)) {
  return text.size() >= start.size() && std::equal(start.begin(), start.end(), text.begin(), same);
}

bool is_html(std::string_view start) {
  start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  const auto same_letter = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return begins_with(start, "<!doctype html", same_letter) ||
         begins_with(start, "<html", same_letter) || begins_with(start, "<?xml", same_letter);
}

}  // namespace

std::string_view foreign_format(std::string_view start) {
  for (const Magic& magic : kMagics) {
    if (start.size() >= magic.offset &&
        start.substr(magic.offset, magic.bytes.size()) == magic.bytes) {
      return magic.name;
    }
  }
  if (is_html(start))
    return "a page of HTML or XML. Fetch the file itself, and see that it is text";
  return {};
}

void refuse_foreign_format(const std::string& path, std::string_view start) {
  const std::string_view name = foreign_format(start);
  if (!name.empty()) throw FormatError(path, 0, "this is " + std::string(name));
}

}  // namespace ancify
