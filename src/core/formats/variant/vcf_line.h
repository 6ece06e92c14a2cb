// A line of VCF, read and changed as text. It names htslib, so only variant_file.cpp may include
// it.
#pragma once

#include <htslib/vcf.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ancify {

// The types of the fields that a header declares for INFO or FORMAT. Names are found fast if they
// come in the order of the record before.
class DeclaredTypes {
 public:
  // `column` is BCF_HL_INFO or BCF_HL_FMT. `header` must outlive this object.
  DeclaredTypes(const bcf_hdr_t* header, int column) : header_(header), column_(column) {}

  void begin_record() { next_ = 0; }
  // A constant BCF_HT_..., or kUndeclared.
  int find(std::string_view name);

  static constexpr int kUndeclared = -1;

 private:
  const bcf_hdr_t* header_;
  int column_;
  struct Known {
    std::string name;
    int type;
  };
  std::vector<Known> known_;
  std::unordered_map<std::string, std::size_t> places_;
  std::size_t next_ = 0;
};

// A line that htslib can parse without a complaint, and the bytes that it would write for this
// record. htslib takes several times as long. Lines that it would change in other ways than these
// are refused: it drops the last zeros of 0.500, and adds dots for fields that a sample leaves out.
class VcfLine {
 public:
  // `header` must outlive this object.
  explicit VcfLine(const bcf_hdr_t* header)
      : header_(header), info_types_(header, BCF_HL_INFO), format_types_(header, BCF_HL_FMT) {}

  // False for a line to refuse. A NUL follows `line`, which must outlive all views.
  bool take(std::string_view line);
  // Takes only the columns from CHROM to QUAL. FILTER and INFO must be present.
  bool take_alleles(std::string_view line);

  int chromosome() const { return chromosome_; }       // its index in the header
  std::int64_t position() const { return position_; }  // from 1
  std::string_view id() const { return id_; }
  const std::vector<std::string_view>& alleles() const { return alleles_; }  // REF is the first

  // These need take().
  bool has_info(std::string_view id) const;
  bool has_filter(std::string_view id) const;
  // The line must lack the field, or the filter. `id` must outlive the line.
  void add_info(std::string_view id, std::string_view value);
  void add_filter(std::string_view id);
  // The line with its changes and a newline, as htslib would write it.
  const std::string& text();

 private:
  void begin(std::string_view line);
  // These return the end of the text that they take, or null.
  const char* take_start(const char* at);
  const char* take_filter(const char* at);
  const char* take_info(const char* at);
  const char* take_value(const char* at, int type);
  const char* take_float(const char* at);
  const char* take_floats(const char* at);
  bool take_format(const char* at);
  bool take_samples(const char* at);
  const char* take_sample(const char* at);
  bool set_format(std::string_view format);
  // Replaces the text from `from` to `to` in what htslib would write.
  void replace(const char* from, const char* to, std::string_view by);
  // The index in the text of a place in the line.
  std::size_t place_of(const char* at) const {
    return text_.size() + static_cast<std::size_t>(at - copied_);
  }

  const bcf_hdr_t* header_;
  DeclaredTypes info_types_;
  DeclaredTypes format_types_;
  std::string chromosome_name_;
  int chromosome_ = -1;
  std::string known_filter_;  // the last column whose names are all declared
  std::string format_;        // the last good FORMAT, and its fields
  std::vector<int> types_;

  std::int64_t position_ = 0;
  std::string_view id_;
  std::vector<std::string_view> alleles_;
  std::string filter_;                  // with the added ones
  std::vector<std::string_view> info_;  // names, with the added ones
  const char* copied_ = nullptr;        // text_ has the line up to here
  const char* end_ = nullptr;           // of the line
  std::string text_;              // the line as htslib would write it; empty if that is the line
  std::size_t filter_begin_ = 0;  // in the text
  std::size_t filter_end_ = 0;
  std::size_t info_end_ = 0;
  bool has_no_info_ = false;  // INFO is a dot
  std::string added_info_;
  std::string changed_;  // the text with all changes
};

}  // namespace ancify
