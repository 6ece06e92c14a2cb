# Makes inst/extdata/linked.vcf.gz, for the vignette "A history from a spectrum and from linkage":
#
#   python3 simulate_linked.py | bgzip > ../extdata/linked.vcf.gz
#
# with msprime 1.4. 40 chromosomes of 500,000 bases, with 1e-8 crossovers and 1.5e-8 mutations for
# each base and generation, of 5 diploid samples of each of two populations. A population of 8,000
# individuals split 1,200 generations ago into A, of 8,000, and B, of 2,000. REF is the ancestral
# allele.
import msprime

CHROMOSOMES, LENGTH, SAMPLES = 40, 500_000, 5
history = msprime.Demography()
for name, size in {"A": 8000, "B": 2000, "ancestors": 8000}.items():
    history.add_population(name=name, initial_size=size)
history.add_population_split(time=1200, derived=["A", "B"], ancestral="ancestors")

print("##fileformat=VCFv4.2")
for chromosome in range(1, CHROMOSOMES + 1):
    print(f"##contig=<ID={chromosome},length={LENGTH}>")
print('##INFO=<ID=AA,Number=1,Type=String,Description="Ancestral allele">')
print('##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">')
names = [f"{population}{i + 1}" for population in "AB" for i in range(SAMPLES)]
print("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *names, sep="\t")
for chromosome in range(1, CHROMOSOMES + 1):
    trees = msprime.sim_ancestry({"A": SAMPLES, "B": SAMPLES}, demography=history,
                                 sequence_length=LENGTH, recombination_rate=1e-8,
                                 random_seed=chromosome)
    trees = msprime.sim_mutations(trees, rate=1.5e-8, random_seed=CHROMOSOMES + chromosome)
    for variant in trees.variants():
        alleles = variant.alleles
        if len(alleles) != 2 or variant.site.position < 1:
            continue
        a = variant.genotypes
        calls = ["/".join(sorted(map(str, a[2 * i:2 * i + 2]))) for i in range(2 * SAMPLES)]
        print(chromosome, int(variant.site.position), ".", *alleles, ".", ".", f"AA={alleles[0]}",
              "GT", *calls, sep="\t")
