# Sets of genotype files, such as one for each chromosome: their paths, and the samples they share.

# ---- Paths ---------------------------------------------------------------------------------------

# The sources that `source` stands for, as a list: the files of several paths, of a pattern such as
# chr{1:22}.bed, or of a list; otherwise `source` itself.
genotype_sources_of <- function(source) {
  paths <- path_of(source)
  if (!is.character(paths) || is.matrix(paths)) {
    return(list(source))
  }
  if (is_path_list(paths)) paths <- paths_in_list(paths)
  refuse_if(length(paths) == 0, "`source` has no path.")
  paths <- unlist(lapply(paths, expand_braces), use.names = FALSE)
  twice <- anyDuplicated(normalizePath(paths, mustWork = FALSE))
  refuse_if(twice, "`source` has the file %s twice.", quoted(paths[twice]))
  as.list(paths)
}

# Replaces the first {...} by each of its values, which are separated by commas: a whole number or
# word, or a range such as 1:22. Further braces are expanded too.
expand_braces <- function(pattern) {
  found <- regmatches(pattern, regexec("^(.*?)\\{([^{}]*)\\}(.*)$", pattern, perl = TRUE))[[1]]
  if (length(found) == 0 || is_file(pattern)) {
    return(pattern)
  }
  values <- unlist(lapply(strsplit(found[3], ",", fixed = TRUE)[[1]], range_of_text))
  unlist(lapply(paste0(found[2], values, found[4]), expand_braces))
}

range_of_text <- function(text) {
  if (!grepl("^[0-9]{1,6}:[0-9]{1,6}$", text)) {
    return(text)
  }
  ends <- as.integer(strsplit(text, ":", fixed = TRUE)[[1]])
  # Leading zeros stay, as in 01:22.
  width <- if (startsWith(text, "0")) nchar(sub(":.*", "", text)) else 1
  formatC(seq(ends[1], ends[2]), width = width, flag = "0", format = "d")
}

is_path_list <- function(paths) {
  length(paths) == 1 && grepl("[.](list|txt)$", paths) && is_file(paths)
}

paths_in_list <- function(file) {
  read_words(file)$columns[[1]]
}

chosen_rows <- function(table, rows) list2DF(lapply(table, `[`, rows))

# ---- Variants ------------------------------------------------------------------------------------

# The number of variants before each part, and that of all; integers if these suffice.
part_begins <- function(n_variants) {
  begins <- c(0, cumsum(as.numeric(n_variants)))
  if (max(begins) <= .Machine$integer.max) as.integer(begins) else begins
}

# The part, from 1, of each chosen variant.
part_of_variants <- function(g) {
  begins <- part_begins(lapply(g$parts, `[[`, "variants"))
  findInterval(g$variant_index - 1, begins)
}

# Names of files without folders and endings, or the paths if such names are equal.
names_of_files <- function(paths) {
  names <- sub("([.](bed|pgen|bgen|vcf|bcf|vcz|zarr))?([.](b?gz))?$", "", basename(paths))
  if (anyDuplicated(names)) paths else names
}

# Keys of variants, which also distinguish those that share an id.
places_of_variants <- function(variants) {
  do.call(paste, variants[c("id", "chromosome", "position", "counted", "other")])
}

# Refuses files that share variants, which would count twice, under any name of a chromosome and
# with either allele counted. Only chromosomes of several files are compared.
check_variants_once <- function(parts) {
  given <- lapply(parts, function(part) unique(as.character(part$variants$chromosome)))
  names <- lapply(given, genotype_chromosomes)
  all <- unlist(names)
  shared <- unique(all[duplicated(all)])
  seen <- character()
  for (i in which(vapply(names, function(some) any(some %in% shared), NA))) {
    table <- parts[[i]]$variants
    chromosome <- names[[i]][match(table$chromosome, given[[i]])]
    rows <- which(chromosome %in% shared)
    keys <- keys_of_any_file(lapply(replace(table, "chromosome", list(chromosome)), `[`, rows))
    again <- which(keys %in% seen)
    refuse_if(length(again), "%s has %s that an earlier file of `source` has too, such as %s.",
              quoted(parts[[i]]$path), count_of(length(again), "variant"),
              quoted(table$id[rows[again[1]]]))
    seen <- c(seen, keys)
  }
}

# Keys without the counted allele, and without ids where positions are known, as both differ between
# files.
keys_of_any_file <- function(variants) {
  alleles <- unname(variants[c("counted", "other")])
  variants[c("counted", "other")] <- list(do.call(pmin, alleles), do.call(pmax, alleles))
  variants$id[variants$position > 0] <- ""
  places_of_variants(variants)
}

# ---- Samples -------------------------------------------------------------------------------------

# The samples of all parts, as in the first one, with the sexes that any part has. A warning counts
# samples that another part lacks.
shared_samples <- function(parts) {
  samples <- with_sexes(parts)
  ids <- lapply(parts, function(part) part$samples$id)
  shared <- Reduce(intersect, ids)
  refuse_if(
    length(shared) == 0, "The files of `source` have no sample in common: %s has %s, %s %s.",
    quoted(parts[[1]]$path), quoted(ids[[1]][1]), quoted(parts[[length(parts)]]$path),
    quoted(ids[[length(parts)]][1])
  )
  if (all(lengths(ids) == length(shared))) {
    return(samples)
  }
  further <- lapply(ids, setdiff, shared)
  most <- which.max(lengths(further))
  warn_ancify(
    sprintf(
      "%s in all %s files are used. Not in all are %s, such as %s of %s.",
      count_of(length(shared), "sample"), format_count(length(parts)),
      count_of(length(unique(unlist(further))), "sample"), quoted(further[[most]][1]),
      quoted(parts[[most]]$path)
    ),
    "samples"
  )
  chosen_rows(samples, match(shared, samples$id))
}

# The samples of the first part. Unknown sexes are those of the other parts; a warning counts
# contradictions, and the first part counts.
with_sexes <- function(parts) {
  samples <- parts[[1]]$samples
  known <- own <- sexes_of(samples)
  differs <- logical(nrow(samples))
  for (part in parts[-1]) {
    sex <- sexes_of(part$samples)[match(samples$id, part$samples$id)]
    sex[is.na(sex)] <- "unknown"
    differs <- differs | sex != known & sex != "unknown" & known != "unknown"
    known <- ifelse(known == "unknown", sex, known)
  }
  if (any(differs)) {
    warn_ancify(
      sprintf("The files disagree on the sex of %s, such as %s: that of the first file is used.",
              count_of(sum(differs), "sample"), quoted(samples$id[which(differs)[1]])),
      "samples"
    )
  }
  if (!identical(known, own)) {
    column <- c(intersect(c("sex", "SEX"), names(samples)), "sex")[1]
    samples[[column]] <- match(known, c("male", "female"), 0L)
  }
  samples
}

# What the core needs of a part. `order`: the part's index of each of `ids`; NULL if the part has
# exactly these samples, in order. `memory` keeps calls, and so is shared by copies.
genotype_part <- function(part, ids) {
  list(
    path = part$path, identity = part$identity, index_identity = part$index_identity,
    kind = part$kind, samples = nrow(part$samples), variants = part$n_variants,
    order = if (!identical(part$samples$id, ids)) match(ids, part$samples$id), alts = part$alts,
    block_begins = part$block_begins, hard_call_threshold = part$hard_call_threshold,
    places = part$places, dosages = part$dosages,
    memory = list2env(c(list(calls = part$calls), part$memory))
  )
}
