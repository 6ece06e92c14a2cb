# Copies of chromosomes by sex: samples' sexes, and calls that their copies exclude.

# By class of variants, the sexes whose heterozygous calls are missing, as they have one copy, and
# the sex whose calls are all missing, as it has none.
copies_by_sex <- list(
  X = list(one = "male"), Y = list(one = "male", none = "female"),
  Z = list(one = "female"), W = list(one = "female", none = "male"),
  MT = list(one = c("male", "female", "unknown"))
)

# "male", "female" or "unknown", for each row of a table of samples.
sexes_of <- function(samples) {
  column <- intersect(c("sex", "SEX"), names(samples))
  codes <- if (length(column)) sex_codes(samples[[column[1]]]) else rep(0, nrow(samples))
  c("unknown", "male", "female")[codes + 1]
}

# 1 for males, 2 for females, 0 if unknown, as PLINK codes them.
sex_codes <- function(sex) {
  known <- c("1", "2", "M", "F", "MALE", "FEMALE")
  c(0, 1, 2, 1, 2, 1, 2)[match(toupper(as.character(sex)), known, 0) + 1]
}

# The genotypes for an analysis, in which impossible calls are missing: see copies_by_sex. `...`:
# names of chromosomes in other files, which may show the meaning of numbers.
with_copies_by_sex <- function(g, ...) {
  g$by_sex <- TRUE
  g$own_numbers <- numbers_are_own(g) || has_own_numbers(chromosomes_of_file(g), ...)
  g$known <- new.env()
  g
}

# The masks of impossible calls, for the core. Empty for genotypes with all calls of their file.
masks_of <- function(g) {
  if (!isTRUE(g$by_sex)) {
    return(list())
  }
  class <- variant_classes(g)$class
  sex <- sexes_of(g$samples)
  samples_of <- function(sexes) g$sample_index[sex %in% sexes] - 1
  lapply(intersect(names(copies_by_sex), class), function(name) {
    copies <- copies_by_sex[[name]]
    core_list(
      "CallMask",
      variants = g$variant_index[class == name] - 1, heterozygous = samples_of(copies$one),
      all = samples_of(copies$none)
    )
  })
}
