"""Simulates sites whose gene tree is known, and computes what this knowledge tells.

gene_trees.py HISTORY.json FOLDER writes sites.tsv: the sites at which the focal sample has two
alleles, in the order of their positions. HISTORY.json has the fields of histories.R. The first
allele is that of the first haplotype. `ancestor` is the base of the sample's most recent common
ancestor. `by_tree` is the probability that it is the second allele, given all bases and the true
gene tree of all haplotypes and outgroups. `by_order` is the same if only the order of the tree's
nodes is known; each then has the mean age of its rank.
"""

import json
import sys
from pathlib import Path

import msprime
import numpy as np

from simulate import demography, state_at

MISSING = 4


def simulate(history):
    samples = [msprime.SampleSet(history["haplotypes"], population="focal", ploidy=1)]
    samples += [
        msprime.SampleSet(1, population=f"o{i + 1}", ploidy=1)
        for i in range(len(history["splits"]))
    ]
    trees = msprime.sim_ancestry(
        samples, demography=demography(history), sequence_length=history["length"],
        recombination_rate=history["recombination_rate"], random_seed=history["seed"], ploidy=2,
    )
    return msprime.sim_mutations(
        trees, rate=history["mutation_rate"], model=msprime.HKY(kappa=history["kappa"]),
        random_seed=history["seed"] + 1,
    )


def gene_tree(tree, leaves, haplotypes):
    """The inner nodes from the youngest on, the children of each, and which is the focal ancestor.

    Children are numbers in the order of all leaves and inner nodes.
    """
    inner = list(tree.nodes(order="timeasc"))[leaves:]
    number = {node: i for i, node in enumerate([*range(leaves), *inner])}
    focal = {node: node < haplotypes for node in range(leaves)}
    ancestor = None
    for node in inner:
        focal[node] = sum(focal[child] for child in tree.children(node))
        if ancestor is None and focal[node] == haplotypes:
            ancestor = number[node] - leaves
    return inner, [[number[child] for child in tree.children(node)] for node in inner], ancestor


def kimura(length, kappa):
    """[site][base][base]: Kimura's two-parameter model. Bases are in the order A, C, G, T."""
    slow = np.exp(-4 / (kappa + 2) * length)
    fast = np.exp(-2 * (kappa + 1) / (kappa + 2) * length)
    same, transition = (1 + slow) / 4 + fast / 2, (1 + slow) / 4 - fast / 2
    kinds = np.array([same, (1 - slow) / 4, transition])
    changed = np.arange(4)[:, None] ^ np.arange(4)
    return np.moveaxis(kinds[np.where(changed == 3, 1, changed)], 2, 0)


def posteriors(bases, children, ages, ancestor, history):
    """[site][base]: the focal ancestor's base, by Felsenstein's pruning of each site's own tree."""
    sites, leaves = bases.shape
    rows = np.arange(sites)
    # [site][node][base of the focal ancestor][base of the node]
    below = np.ones((sites, leaves + ages.shape[1], 4, 4))
    known = (bases[:, :, None] == np.arange(4)) | (bases[:, :, None] == MISSING)
    below[:, :leaves] = known[:, :, None, :]
    age = np.hstack([np.zeros((sites, leaves)), ages])
    for i in range(ages.shape[1]):
        for child in children[:, i].T:
            length = history["mutation_rate"] * (ages[:, i] - age[rows, child])
            below[:, leaves + i] *= np.einsum(
                "sxy,szy->szx", kimura(length, history["kappa"]), below[rows, child]
            )
        below[ancestor == i, leaves + i] *= np.eye(4)
    result = below[:, -1].sum(2)
    return result / result.sum(1, keepdims=True)


def main():
    history = json.loads(Path(sys.argv[1]).read_text())
    random = np.random.default_rng(history["seed"])
    trees = simulate(history)
    haplotypes, leaves = history["haplotypes"], trees.num_samples
    all_bases = trees.genotype_matrix(alleles=tuple("ACGT"))
    all_ages = trees.tables.nodes.time
    missing = random.random(all_bases.shape) < history["missing"]
    missing[:, :haplotypes] = False
    all_bases[missing] = MISSING
    bases, truth, children, ages, ancestors, tree_ages = [], [], [], [], [], []
    for tree in trees.trees():
        inner, joined, ancestor = gene_tree(tree, leaves, haplotypes)
        tree_ages.append(all_ages[inner])
        for site in tree.sites():
            found = all_bases[site.id]
            if len(set(found[:haplotypes])) == 2 and (found[haplotypes:] != MISSING).any():
                bases.append(found)
                truth.append(state_at(tree, site, inner[ancestor]))
                children.append(joined)
                ages.append(tree_ages[-1])
                ancestors.append(ancestor)
    bases, ages = np.array(bases), np.array(ages)
    mean_ages = np.broadcast_to(np.mean(tree_ages, 0), ages.shape)
    by_tree, by_order = (
        posteriors(bases, np.array(children), known, np.array(ancestors), history)
        for known in (ages, mean_ages)
    )
    with open(Path(sys.argv[2]) / "sites.tsv", "w") as file:
        print("outgroups", "alleles", "copies", "ancestor", "by_tree", "by_order", sep="\t",
              file=file)
        for i, found in enumerate(bases):
            first = found[0]
            second = next(base for base in found[:haplotypes] if base != first)
            shares = [
                round(p[i, second] / (p[i, first] + p[i, second]), 6) for p in (by_tree, by_order)
            ]
            print("".join("ACGTN"[base] for base in found[haplotypes:]),
                  f"{'ACGT'[first]}/{'ACGT'[second]}", (found[:haplotypes] == second).sum(),
                  truth[i], *shares, sep="\t", file=file)


if __name__ == "__main__":
    main()
