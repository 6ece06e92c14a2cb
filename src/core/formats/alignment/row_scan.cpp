// Scans and copies the rows of alignments with vector instructions.
#include "core/formats/alignment/row_scan.h"

#include <algorithm>
#include <cstring>

#include "core/io/text.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ancify {

namespace {

// The length of a stretch of columns, short enough that its gaps are counted in one byte.
constexpr std::size_t kStretch = 128;

ANCIFY_ALWAYS_INLINE void scan_stretch(const char* row, std::size_t n, RowScan& scan) {
  std::uint8_t gaps = 0;
  std::uint8_t others = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint8_t letter = static_cast<std::uint8_t>((row[i] | 0x20) - 'a') < 26 ? 1 : 0;
    const std::uint8_t gap = row[i] == '-' ? 1 : 0;
    gaps = static_cast<std::uint8_t>(gaps + gap);
    others |= static_cast<std::uint8_t>(1 ^ (letter | gap));
  }
  scan.gaps += gaps;
  scan.only_letters_and_gaps &= others == 0;
}

ANCIFY_ALWAYS_INLINE RowScan scan(std::string_view row) {
  RowScan scan;
  const std::size_t whole = row.size() / kStretch * kStretch;
  for (std::size_t at = 0; at < whole; at += kStretch) scan_stretch(&row[at], kStretch, scan);
  scan_stretch(row.data() + whole, row.size() - whole, scan);
  return scan;
}

void add(const RowScan& more, RowScan& row) {
  row.gaps += more.gaps;
  row.only_letters_and_gaps &= more.only_letters_and_gaps;
}

#if defined(__x86_64__)
constexpr std::size_t kAvx2Width = 32;

ANCIFY_TARGET_AVX2 ANCIFY_ALWAYS_INLINE __m256i load_avx2(const char* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

ANCIFY_TARGET_AVX2 ANCIFY_ALWAYS_INLINE __m256i gaps_in(__m256i columns) {
  return _mm256_cmpeq_epi8(columns, _mm256_set1_epi8('-'));
}

ANCIFY_TARGET_AVX2 ANCIFY_ALWAYS_INLINE __m256i letters_in(__m256i columns) {
  const __m256i lower = _mm256_or_si256(columns, _mm256_set1_epi8(0x20));
  // AVX2 compares signed bytes, so 'a' is moved to the least of them.
  const __m256i number = _mm256_sub_epi8(lower, _mm256_set1_epi8(static_cast<char>('a' - 128)));
  return _mm256_cmpgt_epi8(_mm256_set1_epi8(-128 + 26), number);
}

// Counts gaps up to the first stretch with a character that is neither letter nor gap, such as a
// newline. Returns the number of bytes before that stretch. Counts stay in lanes until the end.
ANCIFY_TARGET_AVX2 std::size_t scan_letters_and_gaps(std::string_view text, RowScan& row) {
  __m256i gaps = _mm256_setzero_si256();
  std::size_t at = 0;
  for (; at + kStretch <= text.size(); at += kStretch) {
    __m256i here = _mm256_setzero_si256();
    __m256i known = _mm256_set1_epi8(-1);
    for (std::size_t k = 0; k < kStretch; k += kAvx2Width) {
      const __m256i columns = load_avx2(text.data() + at + k);
      const __m256i gap = gaps_in(columns);
      known = _mm256_and_si256(known, _mm256_or_si256(gap, letters_in(columns)));
      here = _mm256_sub_epi8(here, gap);
    }
    if (_mm256_movemask_epi8(known) != -1) break;
    gaps = _mm256_add_epi64(gaps, _mm256_sad_epu8(here, _mm256_setzero_si256()));
  }
  std::int64_t lanes[4];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), gaps);
  row.gaps += lanes[0] + lanes[1] + lanes[2] + lanes[3];
  return at;
}

ANCIFY_TARGET_AVX2 RowScan scan_avx2(std::string_view row) {
  RowScan begin;
  const std::size_t scanned = scan_letters_and_gaps(row, begin);
  add(scan(row.substr(scanned)), begin);
  return begin;
}

constexpr std::size_t kAvx512Width = 64;

// The bits of the first n columns.
std::uint64_t first_bits(std::size_t n) {
  return n >= kAvx512Width ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
}

ANCIFY_TARGET_AVX512 ANCIFY_ALWAYS_INLINE std::uint64_t gaps_avx512(__m512i columns) {
  return _mm512_cmpeq_epi8_mask(columns, _mm512_set1_epi8('-'));
}

ANCIFY_TARGET_AVX512 ANCIFY_ALWAYS_INLINE std::uint64_t letters_avx512(__m512i columns) {
  const __m512i lower = _mm512_or_si512(columns, _mm512_set1_epi8(0x20));
  return _mm512_cmplt_epu8_mask(_mm512_sub_epi8(lower, _mm512_set1_epi8('a')),
                                _mm512_set1_epi8(26));
}

ANCIFY_TARGET_AVX512 RowScan scan_avx512(std::string_view row) {
  RowScan scan;
  std::uint64_t others = 0;
  for (std::size_t at = 0; at < row.size(); at += kAvx512Width) {
    const std::uint64_t here = first_bits(row.size() - at);
    const __m512i columns = _mm512_maskz_loadu_epi8(here, row.data() + at);
    const std::uint64_t gap = gaps_avx512(columns);
    scan.gaps += __builtin_popcountll(gap);
    others |= here & ~(gap | letters_avx512(columns));
  }
  scan.only_letters_and_gaps = others == 0;
  return scan;
}

// Finds the newline, gaps and other characters in one pass, 64 bytes at a time. Returns the number
// of bytes scanned: all before the newline or, if it is absent, all but fewer than 64 at the end.
ANCIFY_TARGET_AVX512 std::size_t scan_up_to_newline(std::string_view text, RowScan& row,
                                                    bool& newline) {
  constexpr std::size_t width = kAvx512Width;
  std::uint64_t others = 0;
  newline = false;
  std::size_t at = 0;
  for (; at + width <= text.size() && !newline; at += width) {
    const __m512i bytes = _mm512_loadu_si512(text.data() + at);
    const std::uint64_t end = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\n'));
    const std::uint64_t gap = gaps_avx512(bytes);
    const std::uint64_t letter = letters_avx512(bytes);
    // The bits before the first newline; all bits if there is no newline.
    const std::uint64_t before = end == 0 ? ~std::uint64_t{0} : (end & -end) - 1;
    row.gaps += __builtin_popcountll(gap & before);
    others |= ~(gap | letter) & before;
    if (end != 0) {
      newline = true;
      at += static_cast<std::size_t>(__builtin_ctzll(end));
      break;
    }
  }
  row.only_letters_and_gaps = others == 0;
  return at;
}
#endif

// Copies the runs of columns between gaps of the target.
std::size_t copy_runs(std::string_view target, const char* row, char* out) {
  char* const begin = out;
  for (std::size_t column = 0; column < target.size();) {
    const std::size_t gap = std::min(target.find('-', column), target.size());
    std::memcpy(out, row + column, gap - column);
    out += gap - column;
    column = std::min(target.find_first_not_of('-', gap), target.size());
  }
  return static_cast<std::size_t>(out - begin);
}

#if defined(__x86_64__)
ANCIFY_TARGET_AVX2 ANCIFY_ALWAYS_INLINE void copy_avx2(const char* from, char* to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), load_avx2(from));
}

ANCIFY_TARGET_AVX2 ANCIFY_ALWAYS_INLINE __m256i gaps_avx2(const char* target) {
  return gaps_in(load_avx2(target));
}

// Copies 32 columns. Each run is copied as a whole vector, whose end the next run overwrites, so
// the row must have 32 more columns. Returns the end of the copied text.
ANCIFY_TARGET_AVX2 ANCIFY_ALWAYS_INLINE char* copy_some_avx2(const char* target, const char* row,
                                                             char* out) {
  const auto gaps = static_cast<std::uint32_t>(_mm256_movemask_epi8(gaps_avx2(target)));
  for (std::uint64_t letters = ~gaps & 0xffffffff; letters != 0;) {
    const auto skipped = static_cast<std::size_t>(__builtin_ctzll(letters));
    const auto run = static_cast<std::size_t>(__builtin_ctzll(~(letters >> skipped)));
    copy_avx2(row + skipped, out);
    out += run;
    row += skipped + run;
    letters >>= skipped + run;
  }
  return out;
}

ANCIFY_TARGET_AVX2 std::size_t copy_columns_avx2(std::string_view target, const char* row,
                                                 char* out) {
  constexpr std::size_t together = 4 * kAvx2Width;
  char* const begin = out;
  std::size_t at = 0;
  while (at + together + kAvx2Width <= target.size()) {
    const char* const from = target.data() + at;
    const __m256i first = _mm256_or_si256(gaps_avx2(from), gaps_avx2(from + kAvx2Width));
    const __m256i second =
        _mm256_or_si256(gaps_avx2(from + 2 * kAvx2Width), gaps_avx2(from + 3 * kAvx2Width));
    const __m256i any = _mm256_or_si256(first, second);
    // Most stretches have no gap.
    if (_mm256_testz_si256(any, any) != 0) {
      for (std::size_t k = 0; k < together; k += kAvx2Width) copy_avx2(row + at + k, out + k);
      out += together;
    } else {
      for (std::size_t k = 0; k < together; k += kAvx2Width) {
        out = copy_some_avx2(from + k, row + at + k, out);
      }
    }
    at += together;
  }
  out += copy_runs(target.substr(at), row + at, out);
  return static_cast<std::size_t>(out - begin);
}

ANCIFY_TARGET_AVX512 std::size_t copy_columns_avx512(std::string_view target, const char* row,
                                                     char* out) {
  constexpr std::size_t width = kAvx512Width;
  char* const begin = out;
  std::size_t at = 0;
  for (; at + width <= target.size(); at += width) {
    const __mmask64 letter =
        _mm512_cmpneq_epi8_mask(_mm512_loadu_si512(target.data() + at), _mm512_set1_epi8('-'));
    const __m512i bytes = _mm512_loadu_si512(row + at);
    // Most stretches have no gap.
    const bool all = letter == ~__mmask64{0};
    _mm512_storeu_si512(out, all ? bytes : _mm512_maskz_compress_epi8(letter, bytes));
    out += all ? width : static_cast<std::size_t>(__builtin_popcountll(letter));
  }
  const std::uint64_t rest = first_bits(target.size() - at);
  const __mmask64 letter = rest & ~gaps_avx512(_mm512_maskz_loadu_epi8(rest, target.data() + at));
  const __m512i bytes = _mm512_maskz_loadu_epi8(rest, row + at);
  const auto n = static_cast<std::size_t>(__builtin_popcountll(letter));
  _mm512_mask_storeu_epi8(out, first_bits(n), _mm512_maskz_compress_epi8(letter, bytes));
  return static_cast<std::size_t>(out + n - begin);
}
#endif

}  // namespace

LineScan scan_line(std::string_view text, SimdLevel level) {
  LineScan line;
  std::size_t scanned = 0;
  bool found = false;
#if defined(__x86_64__)
  if (level == SimdLevel::kAvx512) scanned = scan_up_to_newline(text, line.row, found);
  if (level == SimdLevel::kAvx2) scanned = scan_letters_and_gaps(text, line.row);
#endif
  line.newline = found ? scanned : std::min(text.find('\n', scanned), text.size());
  const std::string_view row = trim_end(text.substr(0, line.newline));
  line.size = row.size();
  if (row.size() < scanned || !line.row.only_letters_and_gaps) {
    line.row = scan_row(row, level);
  } else {
    add(scan_row(row.substr(scanned), level), line.row);
  }
  return line;
}

std::size_t copy_columns(std::string_view target, const char* row, char* out, SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::kAvx512) return copy_columns_avx512(target, row, out);
  if (level == SimdLevel::kAvx2) return copy_columns_avx2(target, row, out);
#endif
  (void)level;
  return copy_runs(target, row, out);
}

RowScan scan_row(std::string_view row, SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::kAvx512) return scan_avx512(row);
  if (level == SimdLevel::kAvx2) return scan_avx2(row);
#endif
  (void)level;
  return scan(row);
}

}  // namespace ancify
