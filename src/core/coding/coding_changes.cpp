// Reads the codon around each site, with the ancestral and with the derived allele.
#include "core/coding/coding_changes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/formats/variant/variant_file.h"
#include "core/genome/complement.h"

namespace ancify {

namespace {

// The transcripts of a chromosome, and each transcript's first fault.
class ChromosomeGenes {
 public:
  ChromosomeGenes(std::vector<Transcript> transcripts, const std::vector<GeneticCode>& codes,
                  const std::string* reference)
      : models_(std::move(transcripts)), codes_(codes), reference_(reference) {
    for (std::size_t t = 0; t < models_.size(); ++t) faults_.push_back(fault_of(t));
  }

  const GeneModels& models() const { return models_; }
  // The code of a faultless transcript.
  const GeneticCode& code(std::size_t transcript) const {
    return codes_[static_cast<std::size_t>(models_.genetic_code(transcript))];
  }
  std::optional<Consequence> fault(std::size_t transcript) const { return faults_[transcript]; }

  int focal(std::int64_t position) const {
    return base_code((*reference_)[static_cast<std::size_t>(position)]);
  }

 private:
  std::optional<Consequence> fault_of(std::size_t transcript) const {
    const int number = models_.genetic_code(transcript);
    if (number != kNoGeneticCode &&
        (number < 0 || static_cast<std::size_t>(number) >= codes_.size())) {
      throw InputError("a transcript's genetic code is number " + std::to_string(number) + " of " +
                       std::to_string(codes_.size()));
    }
    const std::int64_t length = models_.length(transcript);
    if (reference_ == nullptr ||
        models_.end(transcript) > static_cast<std::int64_t>(reference_->size())) {
      return Consequence::kNoSequence;
    }
    if (!models_.has_frame(transcript)) return Consequence::kPartialCodon;
    if (number == kNoGeneticCode) return Consequence::kNoCode;
    for (std::int64_t first = 0; first + 3 < length; first += 3) {
      Codon codon;
      for (int i = 0; i < 3; ++i) {
        const int base = focal(models_.position(transcript, first + i));
        codon[static_cast<std::size_t>(i)] = models_.forward(transcript) ? base : complement(base);
      }
      if (code(transcript).residue(codon) == kStop) return Consequence::kInnerStop;
    }
    return {};
  }

  GeneModels models_;
  const std::vector<GeneticCode>& codes_;
  const std::string* reference_;
  std::vector<std::optional<Consequence>> faults_;
};

Consequence consequence_of(const CodingChange& change, bool may_start, const GeneticCode& code) {
  const char before = code.residue(change.ancestral_codon);
  const char after = code.residue(change.derived_codon);
  if (before == kUnknownResidue || after == kUnknownResidue) return Consequence::kUnknownCodon;
  // In mitochondria, ATA is methionine too.
  if (before == after) return Consequence::kSynonymous;
  if (may_start && change.ancestral_codon == kStartCodon) return Consequence::kStartLost;
  if (after == kStop) return Consequence::kStopGained;
  return before == kStop ? Consequence::kStopLost : Consequence::kMissense;
}

class ChangeFinder {
 public:
  ChangeFinder(const CodingOptions& options, JobControl& control, const TaskContext& context)
      : options_(options),
        codes_(options.genetic_codes.begin(), options.genetic_codes.end()),
        site_(options, control, context) {}

  CodingChanges run() {
    while (site_.next()) {
      if (site_.chromosomes() != chromosomes_) begin_chromosome();
      take_site();
    }
    static_cast<RecordTotals&>(found_) = std::move(site_.totals());
    return std::move(found_);
  }

 private:
  void begin_chromosome() {
    chromosomes_ = site_.chromosomes();
    const auto at = options_.transcripts.find(site_.totals().chromosomes.back().name);
    genes_.emplace(at == options_.transcripts.end() ? std::vector<Transcript>() : at->second,
                   codes_, site_.reference());
    proteins_.assign(genes_->models().size(), kNoProtein);
  }

  void take_site() {
    const std::vector<CodingPlace> places = genes_->models().at(site_.position());
    for (const CodingPlace& place : places) {
      found_.changes.push_back(change_at(place));
      found_.counts.insert(found_.counts.end(), site_.counts().begin(), site_.counts().end());
    }
    ++(places.empty() ? found_.not_coding : found_.coding);
  }

  CodingChange change_at(const CodingPlace& place) {
    CodingChange change = {};
    change.chromosome = chromosomes_ - 1;
    change.position = site_.position();
    change.transcript = place.transcript;
    // Counts from the codon before the first whole one, as a phase begins within that codon.
    change.codon = (place.offset + 3) / 3 - 1;
    change.place = static_cast<int>((place.offset + 3) % 3);
    change.ancestral = site_.ancestral();
    change.derived = site_.derived();
    change.ref_is_ancestral = site_.ref_is_ancestral();
    change.protein = kNoProtein;
    change.posterior = site_.posterior();
    change.ancestral_codon.fill(kMissing);
    change.derived_codon.fill(kMissing);
    const std::optional<Consequence> fault = fault_at(place);
    if (fault) {
      change.consequence = *fault;
      return change;
    }
    read_codons(change);
    const bool may_start = change.codon == 0 && genes_->models().has_start(change.transcript);
    change.consequence = consequence_of(change, may_start, genes_->code(change.transcript));
    if (change.consequence == Consequence::kMissense) put_in_protein(change);
    return change;
  }

  // The fault of the transcript, or of a codon that the coding sequence cuts.
  std::optional<Consequence> fault_at(const CodingPlace& place) const {
    const std::optional<Consequence> fault = genes_->fault(place.transcript);
    const std::int64_t whole = genes_->models().length(place.transcript) / 3 * 3;
    if (fault || (place.offset >= 0 && place.offset < whole)) return fault;
    return Consequence::kPartialCodon;
  }

  bool with_ancestor() const { return options_.background == Background::kAncestral; }

  void read_codons(CodingChange& change) const {
    const auto codons_with = [&](int base_at_site) {
      return codons_of(change.transcript, [&](int i, bool old) {
        return i == change.place ? base_at_site
                                 : base_of(change.transcript, change.codon * 3 + i, old);
      });
    };
    const BothCodons ancestral = codons_with(change.ancestral);
    const BothCodons derived = codons_with(change.derived);
    const bool focal = ancestral.made_stop || derived.made_stop;
    change.focal_codon = focal || ancestral.background == ancestral.focal;
    change.ancestral_codon = focal ? ancestral.focal : ancestral.background;
    change.derived_codon = focal ? derived.focal : derived.background;
  }

  struct BothCodons {
    Codon background;
    Codon focal;
    bool made_stop;  // whether ancestral bases made a stop, so focal ones replace them
  };

  // base(place, is_ancestral) returns a base of the genome's forward strand.
  template <class Base>
  BothCodons codons_of(std::size_t transcript, Base base) const {
    const bool forward = genes_->models().forward(transcript);
    BothCodons codons = {};
    for (int i = 0; i < 3; ++i) {
      const auto place = static_cast<std::size_t>(i);
      const int old = base(i, with_ancestor());
      const int now = base(i, false);
      codons.background[place] = forward ? old : complement(old);
      codons.focal[place] = forward ? now : complement(now);
    }
    // Bases of different times may form a stop that never existed.
    const GeneticCode& code = genes_->code(transcript);
    codons.made_stop =
        code.residue(codons.background) == kStop && code.residue(codons.focal) != kStop;
    if (codons.made_stop) codons.background = codons.focal;
    return codons;
  }

  // The base of a transcript: the ancestral one if it is wanted and certain, else the focal one.
  int base_of(std::size_t transcript, std::int64_t offset, bool of_ancestor) const {
    return base_beside(genes_->models().position(transcript, offset), of_ancestor);
  }

  // Proteins are made while their chromosome's sequences are available.
  void put_in_protein(CodingChange& change) {
    std::size_t& protein = proteins_[change.transcript];
    if (protein == kNoProtein) {
      protein = found_.proteins.size();
      found_.proteins.push_back(translate(change.transcript));
    }
    change.protein = protein;
    std::string& residues = found_.proteins[protein].residues;
    const auto at = static_cast<std::size_t>(change.codon);
    if (with_ancestor() && at < residues.size()) {
      residues[at] = genes_->code(change.transcript).residue(change.ancestral_codon);
    }
  }

  TranscriptProtein translate(std::size_t transcript) const {
    TranscriptProtein protein;
    const GeneticCode& code = genes_->code(transcript);
    const std::int64_t all = genes_->models().length(transcript) / 3;
    for (std::int64_t number = 0; number < all; ++number) {
      const BothCodons codons = codons_of(
          transcript, [&](int i, bool old) { return base_of(transcript, number * 3 + i, old); });
      if (code.residue(codons.focal) == kStop) break;  // the last codon
      if (codons.made_stop) ++protein.focal_codons;
      protein.residues += code.residue(codons.background);
    }
    return protein;
  }

  int base_beside(std::int64_t position, bool with_ancestor) const {
    if (with_ancestor) {
      const std::optional<char> call =
          site_.ancestral_at(static_cast<int>(position - site_.position()));
      if (call && *call >= 'A' && *call <= 'Z' && base_code(*call) < kBases) {
        return base_code(*call);
      }
    }
    return genes_->focal(position);
  }

  const CodingOptions& options_;
  const std::vector<GeneticCode> codes_;
  SiteReader site_;
  std::optional<ChromosomeGenes> genes_;
  std::size_t chromosomes_ = 0;
  std::vector<std::size_t> proteins_;  // of the chromosome's transcripts
  CodingChanges found_;
};

}  // namespace

CodingChanges coding_changes(const CodingOptions& options, JobControl& control) {
  CodingOptions resolved = options;
  if (in_forked_child()) resolved.threads = 1;
  std::optional<CodingChanges> found;
  run_tasks(control, resolved.threads, 1, [&](std::int64_t, const TaskContext& context) {
    found = ChangeFinder(resolved, control, context).run();
  });
  return std::move(*found);
}

}  // namespace ancify
