// Annotates a VCF of ten samples.
#include "core/ancestry/variants/annotation.h"
#include "inputs.h"
#include "kernel.h"

namespace ancify::bench {

#ifdef ANCIFY_HAVE_HTSLIB

namespace {

constexpr std::size_t kLength = 100'000;
constexpr int kSamples = 10;

std::string vcf_text(const std::string& reference) {
  std::mt19937 random(19);
  std::string text = "##fileformat=VCFv4.2\n##contig=<ID=chr1,length=" + std::to_string(kLength) +
                     ">\n##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Genotype\">\n"
                     "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT";
  for (int sample = 0; sample < kSamples; ++sample) text += "\ts" + std::to_string(sample);
  for (std::size_t at = 0; at < kLength; at += 50) {
    const char ref = reference[at];
    text += "\nchr1\t" + std::to_string(at + 1) + "\t.\t" + ref + "\t" + (ref == 'A' ? 'G' : 'A') +
            "\t50\tPASS\t.\tGT";
    for (int sample = 0; sample < kSamples; ++sample) text += random() % 2 == 0 ? "\t0|1" : "\t0|0";
  }
  return text + "\n";
}

}  // namespace

std::function<void()> make_kernel(const std::string& folder) {
  const auto sequences = related_sequences(2, kLength, 4);
  AnnotationOptions options;
  options.variants = folder + "/in.vcf";
  options.output = folder + "/out.vcf";
  options.chromosomes = {"chr1"};
  options.ancestral = {{"chr1", folder + "/ancestral.fa"}};
  options.reference = {{"chr1", folder + "/reference.fa"}};
  write_file(folder + "/in.vcf", vcf_text(sequences[0]));
  write_file(folder + "/reference.fa", ">chr1\n" + sequences[0] + "\n");
  write_file(folder + "/ancestral.fa", ">chr1\n" + sequences[1] + "\n");
  return [options] {
    JobControl control;
    annotate_variants(options, control);
  };
}

#else

std::function<void()> make_kernel(const std::string&) { return {}; }

#endif

}  // namespace ancify::bench
