// Reads AA, AA_post and AA_prob of records.
#include "core/ancestry/variants/ancestral_info.h"

#include <algorithm>
#include <cstddef>

#include "core/ancestry/variants/annotation.h"
#include "core/ancestry/variants/record_kind.h"
#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/genome/bases.h"
#include "core/io/text.h"

namespace ancify {

namespace {

void check_probability(const VariantReader& reader, float value, const char* id) {
  if (!(value >= 0 && value <= 1)) {
    reader.fail(std::string(id) + " is " + number_text(value) + ": it must be from 0 to 1");
  }
}

char upper(std::string_view allele) { return "ACGT"[base_code(allele.front())]; }

}  // namespace

const std::array<const char*, kAncestralLetters> kAncestralLetterNames = {
    "high", "low", ".", "-", "N", "other", "absent"};

AncestralValue ancestral_value(VariantReader& reader) {
  // Position 0 is before the first base.
  if (reader.position() < 1) return {AncestralLetter::kAbsent, 'N'};
  const std::string_view text = reader.info_text("AA").value_or("");
  if (text.empty()) return {AncestralLetter::kAbsent, 'N'};
  const std::string_view letter = text.substr(0, text.find('|'));
  if (letter.size() != 1) return {AncestralLetter::kOther, 'N'};
  const char call = letter.front();
  switch (call) {
    case '.':
      return {AncestralLetter::kDot, call};
    case '-':
      return {AncestralLetter::kGap, call};
    case 'N':
    case 'n':
      return {AncestralLetter::kN, call};
    default:
      if (base_code(call) == kMissing) return {AncestralLetter::kOther, call};
      return {call >= 'a' ? AncestralLetter::kLow : AncestralLetter::kHigh, call};
  }
}

AlleleState allele_state_of_info(VariantReader& reader) {
  const std::string_view text = reader.info_text("AA").value_or("");
  const std::string_view bases = text.substr(0, text.find('|'));
  if (!has_only_bases(bases)) return {};
  const auto lower = std::count_if(bases.begin(), bases.end(), [](char c) { return c >= 'a'; });
  const auto n = static_cast<std::ptrdiff_t>(bases.size());
  if (lower != 0 && lower != n) return {};
  const auto same = [](char a, char b) { return base_code(a) == base_code(b); };
  for (int i = 0; i < reader.alleles(); ++i) {
    const std::string_view allele = reader.allele(i);
    if (!std::equal(bases.begin(), bases.end(), allele.begin(), allele.end(), same)) continue;
    return {lower == 0 ? AlleleCall::kHigh : AlleleCall::kLow, i};
  }
  return {AlleleCall::kOther};
}

std::optional<AllelePosterior> ancestral_posterior(VariantReader& reader, int ancestral,
                                                   int derived) {
  const std::vector<float> of_bases = reader.info_numbers("AA_post");
  if (!of_bases.empty()) {
    if (of_bases.size() != kBases) reader.fail("AA_post must be four numbers, for A, C, G and T");
    for (const float value : of_bases) check_probability(reader, value, "AA_post");
    const double right = of_bases[static_cast<std::size_t>(ancestral)];
    const double wrong = of_bases[static_cast<std::size_t>(derived)];
    if (right + wrong == 0) reader.fail("AA_post is 0 for both alleles");
    return AllelePosterior{right / (right + wrong), true};
  }
  const std::vector<float> of_call = reader.info_numbers("AA_prob");
  if (of_call.empty()) return {};
  if (of_call.size() != 1) reader.fail("AA_prob must be one number");
  check_probability(reader, of_call.front(), "AA_prob");
  return AllelePosterior{of_call.front(), false};
}

std::vector<AncestralRecord> read_ancestral_records(const std::string& path, JobControl& control) {
  std::vector<AncestralRecord> records;
  run_tasks(control, 1, 1, [&](std::int64_t, const TaskContext&) {
    VariantReader reader(path, 0, RecordParts::kInfo);
    for_each_record(reader, control, [&] {
      const char call = ancestral_value(reader).call;
      const Reason reason = reason_for(reader, call, exclusion_of_info(reader));
      if ((reason != Reason::kOk && reason != Reason::kLow) || reader.alleles() != 2) return;
      const char ref = upper(reader.allele(0));
      const char alt = upper(reader.allele(1));
      const bool ref_called = base_code(call) == base_code(ref);
      const auto posterior =
          ancestral_posterior(reader, base_code(call), base_code(ref_called ? alt : ref));
      const double right = posterior ? posterior->probability : 1;
      records.push_back({std::string(reader.chromosome()), reader.position(), ref, alt,
                         ref_called ? right : 1 - right});
    });
  });
  return records;
}

}  // namespace ancify
