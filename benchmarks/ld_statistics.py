# Two-locus statistics of a VCF by moments, and by ancify on one thread:
#
#   python3 benchmarks/ld_statistics.py [sites]
#
# with moments-popgen, scikit-allel, h5py and pandas for Python, and Rscript with ancify. Times are
# of the whole call with its file, the lowest of ancify's rounds and of one round of moments.
import os
import subprocess
import sys
import tempfile
import time

import moments.LD
import numpy

sites = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
rounds = 3
random = numpy.random.default_rng(1)
populations = {"YRI": 30, "CEU": 30}
samples = [f"{name}{i + 1}" for name, n in populations.items() for i in range(n)]
bins = [0, 1.0001e-6, 2.0001e-6, 5.0001e-6, 1.00001e-5, 2.00001e-5, 5.00001e-5]

# Haplotypes are mosaics of founders, which some sites vary in.
founders = random.random((30, sites)) < random.beta(0.3, 1.2, sites)
switches = random.random((2 * len(samples), sites)) < 0.02
switches[:, 0] = True
drawn = random.integers(0, len(founders), switches.shape)
last = numpy.maximum.accumulate(numpy.where(switches, numpy.arange(sites), 0), axis=1)
mosaic = numpy.take_along_axis(drawn, last, axis=1)
haplotypes = founders[mosaic, numpy.arange(sites)].astype(int)
positions = numpy.cumsum(random.integers(1, 200, sites))

R_CODE = """
library(ancify)
given <- commandArgs(TRUE)
bins <- as.numeric(strsplit(given[4], ",")[[1]])
times <- rep(0, as.integer(given[6]))
for (i in seq_along(times)) {
  took <- system.time(x <- ld_statistics(given[1], given[2], as.numeric(given[3]), bins, threads = 1))
  times[i] <- took[["elapsed"]]
}
writeLines(format(x$values * x$pairs, digits = 17), given[5])
cat(min(times), sum(x$pairs))
"""

with tempfile.TemporaryDirectory() as folder:
    vcf, names, recombination, table, result, code = (
        os.path.join(folder, name) for name in ("a.vcf", "with", "map", "plain", "sums", "code.R"))
    with open(vcf, "w") as out:
        print("##fileformat=VCFv4.2", "##contig=<ID=1>", sep="\n", file=out)
        print('##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">', file=out)
        print("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *samples,
              sep="\t", file=out)
        for site, position in enumerate(positions):
            pairs = haplotypes[:, site].reshape(-1, 2)
            print("1", position, ".", "A", "C", ".", ".", ".", "GT",
                  *[f"{a}/{b}" for a, b in pairs], sep="\t", file=out)
    for path, header in ((names, "sample\tpop\n"), (table, "")):
        with open(path, "w") as out:
            out.write(header + "".join(f"{sample}\t{sample[:3]}\n" for sample in samples))
    end = positions[-1] + 1
    with open(recombination, "w") as out:
        print(f"Pos\tMap(cM)\n0\t0\n{end}\t{float(end) * 1e-6!r}", file=out)

    start = time.perf_counter()
    found = moments.LD.Parsing.compute_ld_statistics(
        vcf, rec_map_file=recombination, pop_file=names, pops=list(populations), r_bins=bins,
        use_h5=False, report=False)
    theirs = time.perf_counter() - start
    expected = numpy.array(found["sums"][:-1])
    with open(code, "w") as out:
        out.write(R_CODE)
    call = ["Rscript", code, vcf, table, "1e-8", ",".join(map(repr, bins)), result, str(rounds)]
    ours, pairs = map(float, subprocess.run(
        call, check=True, stdout=subprocess.PIPE, text=True).stdout.split())
    # R writes a matrix by its columns.
    got = numpy.loadtxt(result).reshape(expected.shape[1], expected.shape[0]).T

if not numpy.allclose(got, expected, rtol=1e-9, atol=1e-9):
    sys.exit("The sums differ from those of moments.")
print(f"moments {theirs:.2f} s, ancify {ours:.3f} s, {pairs:.0f} pairs of {sites} sites")
what = "moments over ancify, two-locus statistics of a VCF, one thread"
print(f"{what:<66} {theirs / ours:6.2f}  at least 5")
