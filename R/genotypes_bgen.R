# Genotypes of BGEN. The core makes calls of its probabilities, block by block.

is_bgen_path <- function(path) {
  path <- path_of(path)
  is.character(path) && length(path) == 1 && grepl("[.]bgen$", path, ignore.case = TRUE)
}

# As in PLINK 2
usual_hard_call_threshold <- 0.1

has_bgen <- function(parts) any(vapply(parts, function(part) part$kind == "bgen", NA))

# Refuses arguments that no source takes, and tells the usual threshold.
check_bgen_arguments <- function(parts, how) {
  given <- !is.null(how$samples) || !is.null(how$hard_call_threshold)
  refuse_if(given && !has_bgen(parts),
            "`samples` and `hard_call_threshold` are for a BGEN, whose name ends in .bgen.")
  if (has_bgen(parts) && is.null(how$hard_call_threshold) && !wants_dosages(how)) {
    warn_of_threshold(Filter(function(part) part$kind == "bgen", parts)[[1]]$path)
  }
}

open_bgen <- function(source, how) {
  refuse_variants(how$variants)
  path <- normalizePath(check_file(source, "source"))
  identity <- identity_of(path)
  found <- with_watch("Reading", function(watch) read_bgen_impl(path, watch),
                      inputs = stats::setNames(identity, path))
  kept <- biallelic_variants(path, found)
  table <- samples_of_bgen(path, how$samples, found)
  list(
    path = path, identity = identity,
    files = c(genotypes = path, samples = table$path, variants = path), samples = table$samples,
    variants = list2DF(lapply(found$variants, `[`, kept)), variant_index = kept,
    n_variants = length(found$variants$id), left_out = left_out_of_bgen(found),
    block_begins = found$block_begins,
    hard_call_threshold = how$hard_call_threshold %||% usual_hard_call_threshold,
    dosages = wants_dosages(how)
  )
}

# Indices of variants
biallelic_variants <- function(path, found) {
  n <- length(found$variants$id)
  kept <- setdiff(seq_len(n), c(found$multiallelic, found$one_allele))
  if (length(kept) == 0) {
    abort_ancify(
      sprintf("%s has no variant of two alleles: it has %s.", quoted(path),
              left_out_text(left_out_of_bgen(found))),
      "format", file = path
    )
  }
  kept
}

# NULL if no variant is left out
left_out_of_bgen <- function(found) {
  counts <- lengths(found[c("multiallelic", "one_allele")])
  if (any(counts > 0)) counts[counts > 0]
}

warn_of_threshold <- function(path) {
  warn_ancify(
    sprintf(
      paste("%s has probabilities, of which only hard calls are read: dosages within %s of 0, 1",
            "or 2. Others are missing; set `hard_call_threshold` for another distance."),
      quoted(path), usual_hard_call_threshold
    ),
    "dosage", file = path
  )
}

# Returns list(path = of the file that has the samples, samples =).
samples_of_bgen <- function(path, given, found) {
  beside <- sub("[.]bgen$", ".sample", path, ignore.case = TRUE)
  table_path <- given %||% if (is_file(beside)) beside
  if (is.null(table_path)) {
    if (length(found$ids) == 0) {
      abort_ancify(
        sprintf("%s has no sample IDs, and there is no %s: give a .sample as `samples`.",
                quoted(path), quoted(beside)),
        "format", file = path
      )
    }
    samples <- list2DF(list(family = rep("0", length(found$ids)), id = found$ids))
    return(list(path = path, samples = samples))
  }
  samples <- oxford_samples(table_path, found$n_samples)
  if (nrow(samples) != found$n_samples) {
    abort_ancify(
      sprintf("%s has %s, but %s has %s.", quoted(table_path), count_of(nrow(samples), "sample"),
              quoted(path), format_count(found$n_samples)),
      "format", file = table_path
    )
  }
  if (is.null(given)) {
    check_ids_of_bgen(samples, found$ids, table_path, path)
  } else {
    check_order_of_bgen(samples, found$ids, table_path, path)
  }
  list(path = normalizePath(table_path), samples = samples)
}

# The samples of a .sample, which belongs to a BGEN of `n` samples. `na`: as for sample_frame()
oxford_samples <- function(path, n, na = "-9") {
  samples <- sample_frame(with_watch("Reading", function(watch) {
    read_oxford_samples_impl(path, n, watch)
  }), na)
  samples[names(samples) != "missing"]
}

# IDs in a BGEN are IIDs, family IDs, or both with a character between them. qctool writes anonymous
# ones.
check_ids_of_bgen <- function(samples, ids, table_path, path) {
  if (length(ids) == 0 || startsWith(ids[1], "(anonymous_sample_")) {
    return(invisible())
  }
  both <- startsWith(ids, samples$family) & endsWith(ids, samples$id) &
    nchar(ids) == nchar(samples$family) + nchar(samples$id) + 1
  other <- which(ids != samples$id & ids != samples$family & !both)
  if (length(other)) {
    abort_ancify(
      sprintf(
        paste("Sample %s is %s in %s, but %s in %s. If these are the same samples in one order",
              "under other names, give the .sample as `samples`."),
        format_count(other[1]), quoted(ids[other[1]]), quoted(path), quoted(samples$id[other[1]]),
        quoted(table_path)
      ),
      "format", file = table_path
    )
  }
}

# IDs of a given .sample replace those of the BGEN, but not if they are the same in another order.
check_order_of_bgen <- function(samples, ids, table_path, path) {
  other <- which(ids != samples$id)
  if (length(other) && setequal(ids, samples$id)) {
    abort_ancify(
      sprintf(
        paste("%s has the samples of %s in another order: sample %s is %s there, but %s here.",
              "Sort its rows as the BGEN, or leave it out."),
        quoted(table_path), quoted(path), format_count(other[1]), quoted(ids[other[1]]),
        quoted(samples$id[other[1]])
      ),
      "format", file = table_path
    )
  }
}
