# Counts of calls and sums of dosages, which are kept so that genotypes are read once.

# The result of read(genotypes for the core), kept under `name`.
kept_reading <- function(g, name, read) {
  chosen <- core_genotypes(g)
  # The key is saved with the genotypes, so it excludes their calls and places.
  key <- without_fields(chosen, c("calls", "block_begins", "places"))
  if (!identical(g$known[[name]]$key, key)) {
    g$known[[name]] <- list(key = key, value = read(chosen))
  }
  g$known[[name]]$value
}

# Numbers of samples with 0, 1 and 2 copies and without a call, a column for each variant
genotype_counts <- function(g, work) {
  kept_reading(g, "counts", function(chosen) {
    with_watch("Counting", function(watch) {
      genotype_counts_impl(chosen, work, watch)
    }, work$progress)
  })
}

# Numbers of samples with dosages, and sums and variances of their copies, for each variant
dosage_sums <- function(g, work) {
  kept_reading(g, "sums", function(chosen) {
    list2DF(with_watch("Summing", function(watch) {
      dosage_sums_impl(chosen, work, watch)
    }, work$progress))
  })
}
