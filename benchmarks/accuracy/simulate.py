"""Simulates linked sites of a focal species and its outgroups, whose ancestral bases are known.

simulate.py HISTORY.json FOLDER writes two tables. HISTORY.json has the fields of
histories.R. patterns.tsv: how often each pattern of the outgroups and one focal haplotype occurs,
with sites that never mutated. varying.tsv: the kinds of sites at which the focal sample has two
alleles, with the base of its most recent common ancestor. The first allele is that of the
haplotype in patterns.tsv.
"""

import json
import sys
from collections import Counter
from pathlib import Path

import msprime


def demography(history):
    """The populations: focal and o1, o2, ...; an ancestral one from each split on."""
    result = msprime.Demography()
    result.add_population(name="focal", initial_size=history["focal_size"])
    present = ["focal"]
    for i, _ in enumerate(history["splits"]):
        name = f"o{i + 1}"
        result.add_population(name=name, initial_size=history["sizes"][i])
        present.append(name)
    order = sorted(range(len(history["splits"])), key=lambda i: history["splits"][i])
    for i in order:
        into = history["into"][i]
        ancestral = f"before_{i + 1}"
        result.add_population(name=ancestral, initial_size=history["sizes"][i])
        result.add_population_split(
            time=history["splits"][i], derived=[present[into], present[i + 1]], ancestral=ancestral
        )
        present[into] = ancestral
    for time, size in history.get("focal_changes", []):
        result.add_population_parameters_change(time=time, initial_size=size, population="focal")
    result.sort_events()
    return result


def state_at(tree, site, node):
    """The base of a node at a site: that of the nearest mutation above, or the root's."""
    # Mutations are in the order of time, the oldest first.
    derived = {mutation.node: mutation.derived_state for mutation in site.mutations}
    while node != -1 and node not in derived:
        node = tree.parent(node)
    return site.ancestral_state if node == -1 else derived[node]


def main():
    history = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(sys.argv[2])
    focal_lineages = history["haplotypes"]
    outgroups = [f"o{i + 1}" for i in range(len(history["splits"]))]
    samples = [msprime.SampleSet(focal_lineages, population="focal", ploidy=1)]
    samples += [msprime.SampleSet(1, population=name, ploidy=1) for name in outgroups]
    trees = msprime.sim_ancestry(
        samples, demography=demography(history), sequence_length=history["length"],
        recombination_rate=history["recombination_rate"], random_seed=history["seed"], ploidy=2,
    )
    trees = msprime.sim_mutations(
        trees, rate=history["mutation_rate"], model=msprime.HKY(kappa=history["kappa"]),
        random_seed=history["seed"] + 1,
    )
    focal = range(focal_lineages)
    patterns, varying = Counter(), Counter()
    variants = trees.variants()
    for tree in trees.trees():
        for site in tree.sites():
            variant = next(variants)
            bases = [variant.alleles[i] for i in variant.genotypes]
            others = "".join(bases[focal_lineages:])
            patterns[others + bases[0]] += 1
            sample = Counter(bases[:focal_lineages])
            if len(sample) == 2:
                first = bases[0]
                second = next(base for base in sample if base != first)
                truth = state_at(tree, site, tree.mrca(*focal))
                varying[others, f"{first}/{second}", sample[second], truth] += 1
    constant = int(history["length"]) - sum(patterns.values())
    for base in "ACGT":
        patterns[base * (len(outgroups) + 1)] += constant // 4
    write(folder / "patterns.tsv", "pattern count", patterns.items(), lambda key: [key])
    write(folder / "varying.tsv", "outgroups alleles copies ancestor sites", varying.items(), list)


def write(path, header, items, fields):
    lines = ["\t".join(header.split())]
    lines += ["\t".join(map(str, [*fields(key), number])) for key, number in sorted(items)]
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
