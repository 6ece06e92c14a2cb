# Chromosomes of genotypes: synonymous names, and chromosomes whose copy number differs between
# sexes.

# PLINK's numbers and other names of non-autosomal chromosomes. XY is the pseudoautosomal region,
# which has two copies in both sexes.
names_of_plink <- c(
  "23" = "X", "24" = "Y", "25" = "XY", PAR1 = "XY", PAR2 = "XY", "26" = "M", MT = "M",
  X = "X", Y = "Y", XY = "XY", M = "M", Z = "Z", W = "W"
)
not_autosomes <- c("X", "Y", "M", "Z", "W")

# Whether numbers from 23 on are the species' own chromosomes in all of these tables, and not
# PLINK's codes of human ones. Any of four signs suffices: a number above 26, a code beside its
# letter in one table, a Z or W, or a sequence with such a number, as sequences do not use codes.
has_own_numbers <- function(..., sequences = character()) {
  tables <- lapply(list(...), function(names) unique(toupper(bare_names(names))))
  every <- unlist(tables)
  numbers <- as.numeric(grep("^[0-9]+$", every, value = TRUE))
  has_code_and_letter <- function(names) {
    is_code <- names %in% 23:26
    any(names_of_plink[names[is_code]] %in% names_of_plink[names[!is_code]])
  }
  any(numbers > 26, c("Z", "W") %in% every, vapply(tables, has_code_and_letter, NA),
      sequences %in% 23:26)
}

# Names of chromosomes without chr, with PLINK's numbers replaced by letters.
genotype_chromosomes <- function(names, own_numbers = has_own_numbers(names)) {
  bare <- bare_names(names)
  known <- unname(names_of_plink[toupper(bare)])
  ifelse(is.na(known) | own_numbers & grepl("^[0-9]+$", bare), bare, known)
}

# All names in the genotypes' file, including chromosomes without chosen variants.
chromosomes_of_file <- function(g) g$chromosomes %||% unique(as.character(g$variants$chromosome))

# Comparable chromosome names of both genotypes, one for each variant.
comparable_chromosomes <- function(one, other) {
  own_numbers <- has_own_numbers(chromosomes_of_file(one), chromosomes_of_file(other))
  lapply(list(one, other), function(g) genotype_chromosomes(g$variants$chromosome, own_numbers))
}

# `done`: words that follow "variants of chromosome X", such as "are tested". `chosen`: indices of
# the variants.
warn_of_sex_chromosomes <- function(g, done, chosen = seq_along(g$variants$chromosome)) {
  key <- genotype_chromosomes(
    g$variants$chromosome[chosen], has_own_numbers(chromosomes_of_file(g))
  )
  counts <- table(key[key %in% not_autosomes])
  if (length(counts) == 0) {
    return(invisible())
  }
  named <- sub("M", "MT", names(counts), fixed = TRUE)
  warn_ancify(
    sprintf(
      paste("%s %s as autosomes, though males and females differ in their copies.",
            "To leave them out, choose the others, as plink2 --autosome does."),
      enumerate(sprintf("%s of chromosome %s", vapply(counts, count_of, "", "variant"), named)),
      done
    ),
    "chromosome", chromosomes = named
  )
}
