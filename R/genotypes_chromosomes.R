# Chromosomes of genotypes: synonymous names, classes of variants, and the choice of chromosomes.

# PLINK's numbers and other names of non-autosomal chromosomes. XY is the pseudoautosomal region,
# which has two copies in both sexes.
names_of_plink <- c(
  "23" = "X", "24" = "Y", "25" = "XY", PAR1 = "XY", PAR2 = "XY", PAR = "XY", "26" = "M", MT = "M",
  X = "X", Y = "Y", XY = "XY", M = "M", Z = "Z", W = "W"
)

# The class of the variants of a chromosome that is no autosome.
classes_of_chromosomes <- c(
  X = "X", XY = "PAR", Y = "Y", M = "MT", Z = "Z", W = "W"
)

# Whether numbers from 23 on are the species' own chromosomes in all of these tables, and not
# PLINK's codes of human ones. Any of four signs suffices: a number above 26, a code beside its
# letter in one table, a Z or W, or a sequence with such a number, as sequences do not use codes.
# `...`: names of a table, or lists of such names.
has_own_numbers <- function(..., sequences = character()) {
  tables <- unlist(lapply(list(...), function(x) if (is.list(x)) x else list(x)), recursive = FALSE)
  tables <- lapply(tables, function(names) unique(toupper(bare_names(names))))
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

# All names in each of the genotypes' files, including chromosomes without chosen variants.
chromosomes_of_file <- function(g) {
  g$chromosomes %||% list(unique(as.character(g$variants$chromosome)))
}

# Comparable chromosome names of both genotypes, one for each variant.
comparable_chromosomes <- function(one, other) {
  own_numbers <- has_own_numbers(chromosomes_of_file(one), chromosomes_of_file(other))
  lapply(list(one, other), function(g) genotype_chromosomes(g$variants$chromosome, own_numbers))
}

# Whether the numbers of these genotypes are the species' own chromosomes.
numbers_are_own <- function(g) g$own_numbers %||% has_own_numbers(chromosomes_of_file(g))

# ---- Classes and choice --------------------------------------------------------------------------

# For each variant its `name`, the common name of its chromosome (MT for PLINK's 26), and its
# `class`: "autosome", "X", "PAR", "Y", "MT", "Z" or "W".
variant_classes <- function(g) {
  given <- as.character(g$variants$chromosome)
  names <- unique(given)
  key <- genotype_chromosomes(names, numbers_are_own(g))
  class <- unname(classes_of_chromosomes[key])
  rows <- match(given, names)
  list(
    name = ifelse(key == "M", "MT", key)[rows],
    class = ifelse(is.na(class), "autosome", class)[rows]
  )
}

# Whether each variant is on one of `chromosomes`: names, "autosomes", or "all".
on_chromosomes <- function(g, chromosomes) {
  good <- (is.character(chromosomes) || is.numeric(chromosomes)) && length(chromosomes) > 0 &&
    !anyNA(chromosomes)
  must_be(good, chromosomes, "chromosomes", "\"autosomes\", \"all\" or names of chromosomes")
  if ("all" %in% chromosomes) {
    return(rep(TRUE, ncol(g)))
  }
  of_variants <- variant_classes(g)
  wanted <- setdiff(as.character(chromosomes), "autosomes")
  keys <- genotype_chromosomes(wanted, numbers_are_own(g))
  keys[keys == "M"] <- "MT"
  absent <- wanted[!keys %in% of_variants$name]
  refuse_if(length(absent), "The genotypes have no chromosome %s; they have %s.",
            enumerate(quoted(absent)), enumerate(unique(of_variants$name)))
  of_variants$name %in% keys | "autosomes" %in% chromosomes & of_variants$class == "autosome"
}

# Numbers of variants by chromosome, such as c(X = 40, MT = 3). PLINK's numbers stay beside the
# letters, as `23 (X)`, because the file may have meant another chromosome.
count_by_chromosome <- function(g, which) {
  names <- variant_classes(g)$name[which]
  given <- bare_names(as.character(g$variants$chromosome[which]))
  names <- ifelse(given %in% 23:26 & given != names, sprintf("%s (%s)", given, names), names)
  of_each <- unique(names)
  stats::setNames(tabulate(match(names, of_each), length(of_each)), of_each)
}

# "40 variants of X and 3 of MT".
chromosome_counts_text <- function(counts) {
  text <- sprintf("%s of %s", vapply(counts, format_count, ""), names(counts))
  text[1] <- sprintf("%s of %s", count_of(counts[[1]], "variant"), names(counts)[1])
  enumerate(text)
}

# The variants of `g` on `chromosomes`. Tells what is left out; `what`: of which.
genotypes_on <- function(g, chromosomes, what) {
  stays <- on_chromosomes(g, chromosomes)
  if (all(stays)) {
    return(g)
  }
  check_any_on(TRUE, stays, g, chromosomes)
  tell_of_left_out(count_by_chromosome(g, !stays), chromosomes, what, inform_ancify)
  g[, stays]
}

# `used`, `stays`: whether a variant is in an analysis, and on one of its chromosomes.
check_any_on <- function(used, stays, g, chromosomes) {
  refuse_if(
    !any(used & stays),
    paste("The genotypes have no variant of %s, only %s: choose by `chromosomes`, such as",
          "`chromosomes = \"all\"`."),
    enumerate(chromosomes), chromosome_counts_text(count_by_chromosome(g, used & !stays))
  )
}

# A user who names chromosomes knows that others are left out.
tell_of_left_out <- function(counts, chromosomes, what, log) {
  if ("autosomes" %in% chromosomes && length(counts)) {
    log(sprintf(
      "Left out of %s: %s. To choose: `chromosomes = \"all\"`, or such as c(\"autosomes\", \"%s\")",
      what, chromosome_counts_text(counts), sub(" .*", "", names(counts)[1])
    ))
  }
}
