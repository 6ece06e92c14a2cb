# Tests of variants whose copies differ between sexes, as plink2 --glm makes them.

# How a scan with the fixed effects `x` treats its variants:
# by_sex: whether sex is a further fixed effect in a variant's test
# sexes: the columns of sex
# left_out: whether a variant is not tested, as some samples have no copy of its chromosome
# scale: of its effect, 2 if two equal alleles of a call are one copy in all samples
scan_copies <- function(g, x) {
  class <- variant_classes(g)$class
  sex <- sexes_of(g$samples)
  sexes <- cbind(male = sex == "male", `unknown sex` = sex == "unknown") + 0
  is_new <- ncol(joined_effects(x, sexes)) > ncol(x)
  lacking <- Filter(function(copies) !all(sex %in% copies$one), copies_by_sex[c("Y", "W")])
  list(
    by_sex = is_new & class %in% c("X", "Z"), sexes = sexes, left_out = class %in% names(lacking),
    scale = ifelse(class %in% c("Y", "W", "MT"), 2, 1)
  )
}

warn_of_copies <- function(g, copies) {
  class <- variant_classes(g)$class
  sex <- sexes_of(g$samples)
  counts_of <- function(which) c(table(class[which]))
  warn <- function(counts, format, ...) {
    if (length(counts)) {
      warn_ancify(sprintf(format, variants_of_chromosomes(counts), ...), "chromosome",
                  chromosomes = names(counts))
    }
  }
  warn(
    counts_of(copies$left_out),
    paste("%s are not tested, as only one sex has a copy: to test them, scan its samples alone,",
          "by `genotypes[samples, ]`.")
  )
  unknown <- sum(sex == "unknown")
  if (unknown > 0) {
    warn(
      counts_of(class %in% c("X", "Z")),
      paste("%s are tested as autosomes in %s of unknown sex. To give it, set",
            "`genotypes$samples$sex` to 1 for males and 2 for females."),
      count_of(unknown, "sample")
    )
  }
}
