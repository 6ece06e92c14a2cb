# Names of mutation types and of contexts.

longest_mutation_context <- 9

check_k <- function(k, name) {
  check_whole_number(k, name, longest_mutation_context)
  refuse_if(k %% 2 == 0,
            "`%s` is %d: a site is in the middle of its context, so give an odd number.", name, k)
  as.integer(k)
}

spectrum_folds <- c("AC", "pyrimidine")

# All words of n bases, in the order of their letters.
base_words <- function(n) {
  Reduce(
    function(words, i) paste0(rep(words, each = 4), c("A", "C", "G", "T")), seq_len(n), ""
  )
}

# The reverse complements of words of equal length.
reverse_complement <- function(words) {
  letters <- lapply(rev(seq_len(max(nchar(words), 0))), function(i) substr(words, i, i))
  chartr("ACGT", "TGCA", do.call(paste0, letters))
}

middle_of <- function(k) (k + 1) / 2

middle_base <- function(words) substr(words, middle_of(nchar(words)), middle_of(nchar(words)))

with_middle <- function(words, base) {
  substr(words, middle_of(nchar(words)), middle_of(nchar(words))) <- base
  words
}

# For `fold = "pyrimidine"`, words with a middle A are replaced by their reverse complements, so
# that the middle base is C or T, as in signatures.
fold_words <- function(words, fold) {
  turned <- fold == "pyrimidine" & middle_base(words) == "A"
  words[turned] <- reverse_complement(words[turned])
  words
}

# The contexts in the core's order: by the middle base, A or C, then by the adjacent bases.
core_contexts <- function(k) {
  beside <- base_words(k - 1)
  before <- substr(beside, 1, (k - 1) / 2)
  after <- substring(beside, middle_of(k))
  paste0(before, rep(c("A", "C"), each = length(beside)), after)
}

# The types in the core's order, as a data frame of ancestral and derived words: by mutation, then
# by the adjacent bases.
core_types <- function(k) {
  contexts <- core_contexts(k)
  derived <- list(A = c("C", "G", "T"), C = c("A", "G", "T"))
  parts <- lapply(names(derived), function(base) {
    of_base <- contexts[middle_base(contexts) == base]
    to <- rep(derived[[base]], each = length(of_base))
    data.frame(ancestral = rep(of_base, 3), derived = with_middle(rep(of_base, 3), to))
  })
  do.call(rbind, parts)
}

# A data frame with a row for each type: its name, such as "ACA>ATA", the mutation, such as "C>T",
# the ancestral context, and `core`, its index in the core's order. Rows are sorted by mutation,
# then by context.
mutation_types <- function(k, fold) {
  words <- core_types(k)
  turned <- fold == "pyrimidine" & middle_base(words$ancestral) == "A"
  words[turned, ] <- lapply(words[turned, ], reverse_complement)
  types <- data.frame(
    type = paste(words$ancestral, words$derived, sep = ">"),
    mutation = paste(middle_base(words$ancestral), middle_base(words$derived), sep = ">"),
    context = words$ancestral, core = seq_len(nrow(words))
  )
  types <- types[order(types$mutation, types$context, method = "radix"), ]
  rownames(types) <- NULL
  types
}

# Parts of types, from their names.
context_of_type <- function(types) sub(">.*", "", types)

mutation_of_type <- function(types) {
  paste(middle_base(context_of_type(types)), middle_base(sub(".*>", "", types)), sep = ">")
}

# Whether one of the alleles is the C or G of a CG; NA without adjacent bases.
is_cpg_type <- function(types) {
  context <- context_of_type(types)
  middle <- middle_of(nchar(context))
  alleles <- mutation_of_type(types)
  cpg <- grepl("C", alleles) & substr(context, middle + 1, middle + 1) == "G" |
    grepl("G", alleles) & substr(context, middle - 1, middle - 1) == "C"
  ifelse(nchar(context) == 1, NA, cpg)
}

# The types of k bases within longer types.
shorten_types <- function(types, k) {
  context <- context_of_type(types)
  cut <- (nchar(context) - k) / 2
  shorten <- function(words) substr(words, cut + 1, cut + k)
  paste(shorten(context), shorten(sub(".*>", "", types)), sep = ">")
}

# COSMIC's names: "A[C>T]A" for "ACA>ATA".
signature_names <- function(types) {
  context <- context_of_type(types)
  middle <- middle_of(nchar(context))
  sprintf(
    "%s[%s]%s", substr(context, 1, middle - 1), mutation_of_type(types),
    substring(context, middle + 1)
  )
}
