// Goes through the arrays of samples and variants of a VCF Zarr store, site by site.
// Source: VCF Zarr specification, version 0.4.
#include "core/formats/genotype/vcf_zarr_index.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "core/exec/errors.h"
#include "core/exec/threads.h"
#include "core/formats/genotype/record_calls.h"
#include "core/formats/genotype/vcf_zarr_store.h"
#include "core/formats/variant/variant_file.h"
#include "core/io/byte_source.h"
#include "core/io/text.h"

namespace ancify {

namespace {

constexpr std::int64_t kMostSites = std::numeric_limits<int>::max();

constexpr std::int64_t kMostAlleles = 10'000;

// Values of an array, of which one chunk along the first dimension is in memory.
class ArrayReader {
 public:
  // `thing`: what the first dimension counts, for messages.
  ArrayReader(const VcfZarrStore& store, const std::string& name, const char* thing,
              std::size_t dimensions, bool texts)
      : name_(name), thing_(thing), array_(store.array(name, dimensions)) {
    if ((array_.type == ZarrType::kText) == texts) return;
    fail(texts ? "it has no texts" : "it has no whole numbers");
  }

  const ZarrArray& array() const { return array_; }
  std::int64_t size() const { return array_.shape[0]; }
  std::int64_t read_bytes() const { return read_bytes_; }

  std::int64_t integer(std::int64_t i) {
    load(i);
    if (!integers_) return array_.fill;
    return (*integers_)[i % array_.chunks[0]];
  }
  // Column j of a row. Valid until the next row.
  std::string_view text(std::int64_t i, std::int64_t j = 0) {
    load(i);
    const std::int64_t columns = array_.shape.size() > 1 ? array_.chunks[1] : 1;
    const auto& column = texts_[static_cast<std::size_t>(j / columns)];
    if (!column) return {};
    return (*column)[static_cast<std::size_t>(i % array_.chunks[0] * columns + j % columns)];
  }
  [[noreturn]] void fail(const std::string& problem) const {
    throw FormatError(array_.folder, 0, problem);
  }
  [[noreturn]] void fail_at(std::int64_t i, const std::string& problem) const {
    fail(std::string(thing_) + " " + std::to_string(i + 1) + " " + problem);
  }
  // Throws FormatError if a chunk is no file, where empty texts or equal numbers make no sense.
  void need_chunks() { needs_chunks_ = true; }

 private:
  void load(std::int64_t i) {
    const std::int64_t chunk = i / array_.chunks[0];
    if (chunk == loaded_) return;
    const std::int64_t first = chunk * array_.chunks[0];
    const std::string what = std::string(thing_) + "s " + std::to_string(first + 1) + " to " +
                             std::to_string(std::min(first + array_.chunks[0], size()));
    if (array_.type == ZarrType::kText) {
      load_texts(chunk, what);
    } else {
      integers_ = read_zarr_integers(array_, {chunk}, what, read_bytes_);
      if (!integers_) check_missing({chunk});
    }
    loaded_ = chunk;
  }
  void load_texts(std::int64_t chunk, const std::string& what) {
    const bool has_columns = array_.shape.size() > 1;
    texts_.clear();
    for (std::int64_t j = 0; j < (has_columns ? array_.chunks_along(1) : 1); ++j) {
      std::vector<std::int64_t> index = {chunk};
      if (has_columns) index.push_back(j);
      texts_.push_back(read_zarr_texts(array_, index, what, read_bytes_));
      if (!texts_.back() && j == 0) check_missing(index);
    }
  }
  void check_missing(const std::vector<std::int64_t>& chunk) const {
    if (!needs_chunks_) return;
    throw FileError(array_.chunk_path(chunk), "there is no such file, so " + name_ +
                                                  " is not whole. Copy or write the store again");
  }

  std::string name_;
  const char* thing_;
  ZarrArray array_;
  bool needs_chunks_ = false;
  std::int64_t loaded_ = -1;
  std::int64_t read_bytes_ = 0;
  std::optional<ZarrIntegers> integers_;
  std::vector<std::optional<TextColumn>> texts_;
};

ArrayReader integers(const VcfZarrStore& store, const char* name) {
  return {store, name, "variant", 1, false};
}
ArrayReader texts(const VcfZarrStore& store, const char* name, const char* thing,
                  std::size_t dimensions = 1) {
  return {store, name, thing, dimensions, true};
}

class VcfZarrIndexer {
 public:
  VcfZarrIndexer(const VcfZarrStore& store, bool split)
      : store_(store),
        split_(split),
        samples_(texts(store, "sample_id", "sample")),
        contigs_(texts(store, "contig_id", "contig")),
        alleles_(texts(store, "variant_allele", "variant", 2)),
        contig_(integers(store, "variant_contig")),
        position_(integers(store, "variant_position")),
        calls_(store.array("call_genotype", 3)) {
    if (store.has("variant_id")) id_.emplace(texts(store, "variant_id", "variant"));
    if (store.has("variant_id_mask")) id_mask_.emplace(integers(store, "variant_id_mask"));
    for (ArrayReader* reader : {&samples_, &contigs_, &alleles_, &position_}) {
      reader->need_chunks();
    }
  }

  VcfZarrIndex read(JobControl& control) {
    check_shapes();
    take_samples();
    count_chunks();
    const TaskContext context(control);
    control.expect(sites());
    constexpr std::int64_t at_once = 1000;
    for (std::int64_t first = 0; first < sites(); first += at_once) {
      context.throw_if_stopped();
      const std::int64_t end = std::min(first + at_once, sites());
      for (std::int64_t site = first; site < end; ++site) take_site(site);
      check_memory();
      control.advance(end - first);
    }
    return std::move(found_);
  }

 private:
  std::int64_t sites() const { return calls_.shape[0]; }

  void check_shapes() const {
    std::vector<const ArrayReader*> readers = {&alleles_, &contig_, &position_};
    if (id_) readers.push_back(&*id_);
    if (id_mask_) readers.push_back(&*id_mask_);
    for (const ArrayReader* const reader : readers) {
      if (reader->size() == sites()) continue;
      reader->fail("it has " + std::to_string(reader->size()) +
                   " variants, but call_genotype has " + std::to_string(sites()));
    }
    if (samples_.size() != calls_.shape[1]) {
      samples_.fail("it has " + std::to_string(samples_.size()) +
                    " samples, but call_genotype has " + std::to_string(calls_.shape[1]));
    }
    if (alleles_.array().shape[1] < 1 || alleles_.array().shape[1] > kMostAlleles) {
      alleles_.fail("it has " + std::to_string(alleles_.array().shape[1]) +
                    " alleles for each variant, not 1 to " + std::to_string(kMostAlleles));
    }
    if (samples_.size() == 0) samples_.fail("there are no samples, and so no genotypes");
    if (sites() == 0) position_.fail("there are no variants");
    if (sites() > kMostSites) position_.fail("it has more than 2147483647 variants");
  }

  void take_samples() {
    TextIndex known;
    for (std::int64_t i = 0; i < samples_.size(); ++i) {
      const std::string_view id = samples_.text(i);
      if (id.empty()) samples_.fail_at(i, "has an empty ID");
      if (const auto earlier = known.find_or_note(found_.samples, id)) {
        samples_.fail_at(
            i, "has the ID " + excerpt(id) + " of sample " + std::to_string(*earlier + 1));
      }
      found_.samples.add(id);
    }
  }

  void count_chunks() {
    found_.chunks = calls_.chunks_along(0) * calls_.chunks_along(1);
    found_.missing_chunks = std::max<std::int64_t>(
        0, found_.chunks - count_chunk_files(store_.path(), "call_genotype"));
    found_.fill = calls_.fill;
    found_.has_dosages = store_.has("call_DS");
  }

  void take_site(std::int64_t site) {
    const std::string_view ref = alleles_.text(site, 0);
    int n = 1;
    std::vector<int> snps;
    std::vector<int> no_alleles;
    for (; n < alleles_.array().shape[1]; ++n) {
      const std::string_view alt = alleles_.text(site, n);
      if (alt.empty()) break;
      if (is_no_allele(alt)) no_alleles.push_back(n);
      if (are_snp_alleles(ref, alt)) snps.push_back(n);
    }
    const int alts = n - 1 - static_cast<int>(no_alleles.size());
    if (alts > 1 && !split_) {
      ++found_.multiallelic;
    } else if (snps.empty()) {
      ++found_.not_snp;
    } else {
      if (alts > 1) ++found_.split;
      const int number = static_cast<int>(site);
      for (const int alt : snps) add(site, alt, n);
      for (const int allele : no_alleles) found_.places.no_alleles.emplace_back(number, allele);
    }
  }

  void add(std::int64_t site, int alt, int alleles) {
    const std::int64_t position = position_.integer(site);
    if (position < 0 || position > std::numeric_limits<std::int32_t>::max()) {
      position_.fail_at(site, "has the position " + std::to_string(position) +
                                  ", which is not from 0 to 2147483647");
    }
    const std::int64_t contig = contig_.integer(site);
    if (contig < 0 || contig >= contigs_.size()) {
      contig_.fail_at(site, "has contig " + std::to_string(contig) + ", but contig_id has " +
                                std::to_string(contigs_.size()) + ", from 0");
    }
    VariantTable& table = found_.variants;
    table.chromosome.add(contigs_.text(contig));
    table.id.add(id_of(site));
    table.position.push_back(static_cast<std::int32_t>(position));
    table.counted.add(alleles_.text(site, alt));
    table.other.add(alleles_.text(site, 0));
    found_.places.places.push_back({static_cast<int>(site), alt, alleles});
    constexpr std::size_t fixed_bytes = 64;  // numbers, ends of texts, alleles
    held_ +=
        static_cast<std::int64_t>(fixed_bytes + contigs_.text(contig).size() + id_of(site).size());
  }

  std::string_view id_of(std::int64_t site) {
    if (!id_ || (id_mask_ && id_mask_->integer(site) != 0)) return ".";
    const std::string_view id = id_->text(site);
    return id.empty() ? "." : id;
  }

  void check_memory() const {
    const std::int64_t read = alleles_.read_bytes() + position_.read_bytes() +
                              contig_.read_bytes() + (id_ ? id_->read_bytes() : 0);
    if (held_ <= kFreeText || held_ / kMostInflation <= read) return;
    throw FormatError(store_.path(), 0,
                      "its variants are more than " + std::to_string(kMostInflation) +
                          " times as large as their compressed files, and would fill the memory. "
                          "Is it the right store?");
  }

  const VcfZarrStore& store_;
  bool split_;
  ArrayReader samples_;
  ArrayReader contigs_;
  ArrayReader alleles_;
  ArrayReader contig_;
  ArrayReader position_;
  std::optional<ArrayReader> id_;
  std::optional<ArrayReader> id_mask_;
  ZarrArray calls_;
  VcfZarrIndex found_;
  std::int64_t held_ = 0;
};

}  // namespace

VcfZarrIndex read_vcf_zarr_index(const std::string& path, bool split, JobControl& control) {
  const VcfZarrStore store(path, control.inputs());
  VcfZarrIndex index = VcfZarrIndexer(store, split).read(control);
  store.check_unchanged();
  return index;
}

}  // namespace ancify
