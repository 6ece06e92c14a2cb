# Makes inst/extdata/linked.vcf.gz, for the vignette "From ancestral alleles to demography":
#
#   python3 simulate_linked.py | bgzip > ../extdata/linked.vcf.gz
#
# with msprime 1.4. 15 chromosomes of 400,000 bases, with 1e-8 crossovers and 1.5e-8 mutations for
# each base and generation, of 10 diploid samples. The population had 8,000 individuals until 1,000
# generations ago, and then 2,000. REF is the ancestral allele.
import msprime

chromosomes, length, samples = 15, 400_000, 10
history = msprime.Demography()
history.add_population(name="A", initial_size=2000)
history.add_population_parameters_change(time=1000, initial_size=8000)

print("##fileformat=VCFv4.2")
for chromosome in range(1, chromosomes + 1):
    print(f"##contig=<ID={chromosome},length={length}>")
print('##INFO=<ID=AA,Number=1,Type=String,Description="Ancestral allele">')
print('##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">')
names = [f"s{i + 1}" for i in range(samples)]
print("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *names, sep="\t")
for chromosome in range(1, chromosomes + 1):
    trees = msprime.sim_ancestry(samples, demography=history, sequence_length=length,
                                 recombination_rate=1e-8, random_seed=chromosome)
    trees = msprime.sim_mutations(trees, rate=1.5e-8, random_seed=chromosome)
    for variant in trees.variants():
        alleles = variant.alleles
        if len(alleles) != 2 or variant.site.position < 1:
            continue
        a = variant.genotypes
        calls = ["/".join(sorted(map(str, a[2 * i:2 * i + 2]))) for i in range(samples)]
        print(chromosome, int(variant.site.position), ".", *alleles, ".", ".", f"AA={alleles[0]}",
              "GT", *calls, sep="\t")
