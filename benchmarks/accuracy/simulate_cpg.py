"""Simulates loci in which CpG mutates fast, with the ancestral bases of sites that vary.

simulate_cpg.py HISTORY.json FOLDER LOCI writes two tables. Each locus of 1,000 bases has one gene
tree and no recombination. Transitions of C before G, and of G after C, are 12 times as frequent as
others. patterns.tsv: how often each pattern of the outgroups and one focal haplotype occurs, by the
bases beside it. varying.tsv: the kinds of sites at which the focal sample has two alleles. The
column `neighbours` is the site's class: NpG, CpN, CpNpG or other. A neighbour is G, or C, if at
least half of the outgroups have it.
"""

import json
import sys
from collections import Counter
from pathlib import Path

import msprime
import numpy as np

from simulate import demography, write

LOCUS = 1000
BOOST = 12
STEP = 0.004  # expected mutations a site at once
A, C, G, T = range(4)
TRANSITION = np.array([G, T, A, C], dtype=np.uint8)


def evolve(bases, time, kappa, random):
    """Mutates a sequence. `time` is the expected number of mutations of a site without CpG."""
    bases = bases.copy()
    transition = kappa / (kappa + 2)
    while time > 0:
        step = min(time, STEP)
        time -= step
        pairs = (bases[:-1] == C) & (bases[1:] == G)
        in_cpg = np.append(pairs, False) | np.insert(pairs, 0, False)
        rates = np.where(in_cpg, BOOST, 1) * transition
        at = np.nonzero(random.random(len(bases)) < step * (rates + 1 - transition))[0]
        old = bases[at]
        is_transition = random.random(len(at)) * (rates[at] + 1 - transition) < rates[at]
        # In the order A, C, G, T the neighbours of a base are its transversions.
        other = (old + np.where(random.random(len(at)) < 0.5, 1, 3)) % 4
        bases[at] = np.where(is_transition, TRANSITION[old], other)
    return bases


def neighbours(outgroups):
    """The column `neighbours` of each site."""
    g_after = np.append((outgroups == G).mean(0)[1:] >= 0.5, False)
    c_before = np.insert((outgroups == C).mean(0)[:-1] >= 0.5, 0, False)
    return np.array(["other", "NpG", "CpN", "CpNpG"])[g_after + 2 * c_before]


def main():
    history = json.loads(Path(sys.argv[1]).read_text())
    folder, loci = Path(sys.argv[2]), int(sys.argv[3])
    random = np.random.default_rng(history["seed"])
    haplotypes, outgroups = history["haplotypes"], len(history["splits"])
    samples = [msprime.SampleSet(haplotypes, population="focal", ploidy=1)]
    samples += [msprime.SampleSet(1, population=f"o{i + 1}", ploidy=1) for i in range(outgroups)]
    trees = msprime.sim_ancestry(
        samples, demography=demography(history), num_replicates=loci, sequence_length=1, ploidy=2,
        random_seed=history["seed"],
    )
    # Long enough for the share of CpG to settle
    start = random.integers(0, 4, loci * LOCUS).astype(np.uint8)
    start = evolve(start, 2.5, history["kappa"], random)
    patterns, varying = Counter(), Counter()
    for i, locus in enumerate(trees):
        tree = locus.first()
        bases = {tree.root: start[i * LOCUS:(i + 1) * LOCUS]}
        for node in tree.nodes(order="preorder"):
            if node != tree.root:
                time = tree.branch_length(node) * history["mutation_rate"]
                bases[node] = evolve(bases[tree.parent(node)], time, history["kappa"], random)
        focal = np.array([bases[j] for j in range(haplotypes)])
        others = np.array([bases[haplotypes + j] for j in range(outgroups)])
        pattern = np.vstack([others, focal[:1]])
        kinds = neighbours(others)
        ancestor = bases[tree.mrca(*range(haplotypes))]
        names = ["".join("ACGT"[base] for base in column) for column in pattern.T]
        patterns.update(zip(names[1:-1], kinds[1:-1]))
        for site in np.nonzero((focal != focal[0]).any(0))[0]:
            alleles, copies = np.unique(focal[:, site], return_counts=True)
            if 0 < site < LOCUS - 1 and len(alleles) == 2 and ancestor[site] in alleles:
                varying[names[site][:-1], "/".join("ACGT"[base] for base in alleles), copies[1],
                        kinds[site], "ACGT"[ancestor[site]]] += 1
    write(folder / "patterns.tsv", "pattern neighbours count", patterns.items(), list)
    write(folder / "varying.tsv", "outgroups alleles copies neighbours ancestor sites", varying.items(),
          list)


if __name__ == "__main__":
    main()
