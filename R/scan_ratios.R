# Variances of some variants' scores, for those of all after a stochastic fit.

# z'Pz / z'Sz of these variants.
sampled_ratios <- function(problem, g, sampled, theta, seed, watch) {
  chosen <- core_list("SampledVariants", variants = sampled - 1, theta = theta, seed = seed)
  scan_ratios_impl(problem, core_genotypes(g), chosen, watch)
}

# The variants of a sample, of these.
sampled_of <- function(variants) {
  variants[unique(round(seq(1, length(variants), length.out = sampled_variants)))]
}

# Number of variants for which z'Pz is solved after a stochastic fit.
sampled_variants <- 128
