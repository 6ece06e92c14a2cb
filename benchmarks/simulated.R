# What benchmarks/run has simulated, for the scripts in R, and what they simulate themselves.

# A configuration of the alignments of so many chromosomes in `folder`.
config_of <- function(folder, n, length) {
  files <- file.path(folder, sprintf("%d x %.0f Mb", n, length / 1e6))
  lengths <- file.path(files, "chrom.sizes")
  dir.create(files, showWarnings = FALSE)
  writeLines(sprintf("chr%d\t%.0f", seq_len(n), length), lengths)
  species <- Map(
    list, name = paste0("s", 0:3), alignment = file.path(files, sprintf("%d.axt.gz", 0:3)),
    USE.NAMES = FALSE
  )
  list(
    focal_species = "focal", chromosome_lengths = lengths,
    outgroups = list(inner = species[1:3], outer = species[4]),
    work_dir = file.path(folder, "out"), output_dir = file.path(folder, "out", "calls")
  )
}

# Writes the BED of `n` samples and `m` variants in linkage disequilibrium, on 20 chromosomes,
# with the functions of tests/testthat/helper-reml.R. Gives list(stem =, data = ids and a trait of
# variance 1, sets = the component of each variant). `h2`: the share of each component, which are
# as many successive parts of the variants.
simulate_study <- function(stem, n, m, h2) {
  size <- ceiling(m / 20)
  starts <- seq(1, m, size)
  sets <- ceiling(seq_len(m) / (m / length(h2)))
  genetic <- matrix(0, n, length(h2))
  bed <- file(paste0(stem, ".bed"), "wb")
  on.exit(close(bed))
  parts <- lapply(seq_along(starts), function(chromosome) {
    variants <- seq(starts[chromosome], min(starts[chromosome] + size - 1, m))
    calls <- simulate_calls(n, length(variants))
    part <- oracle_write_bed(calls, file.path(tempdir(), "part"), rep(chromosome, ncol(calls)))
    bytes <- readBin(part, "raw", file.size(part))
    writeBin(if (chromosome == 1) bytes else bytes[-(1:3)], bed)
    columns <- oracle_columns(calls)
    effects <- stats::rnorm(sum(columns$used))
    for (set in unique(sets[variants])) {
      chosen <- sets[variants][columns$used] == set
      genetic[, set] <<- genetic[, set] + columns$z[, chosen, drop = FALSE] %*% effects[chosen]
    }
    table <- utils::read.table(sub("bed$", "bim", part), colClasses = "character")
    table$V2 <- paste0("v", variants)
    table
  })
  write_columns(do.call(rbind, parts), paste0(stem, ".bim"))
  file.copy(file.path(tempdir(), "part.fam"), paste0(stem, ".fam"), overwrite = TRUE)
  genetic <- sweep(genetic, 2, sqrt(h2 / tabulate(sets)), "*")
  y <- rowSums(genetic) + stats::rnorm(n) * sqrt(1 - sum(h2))
  list(
    stem = stem, data = data.frame(id = sprintf("s%d", seq_len(n)), y = y), sets = paste0("c", sets)
  )
}

# Writes the BED of `n` samples, a multiple of 4, and `m` variants. Calls are independent,
# so that bytes of four can be drawn.
write_many_calls <- function(stem, n, m) {
  bed <- file(paste0(stem, ".bed"), "wb")
  on.exit(close(bed))
  writeBin(as.raw(c(0x6c, 0x1b, 0x01)), bed)
  for (j in seq_len(m)) {
    frequency <- stats::runif(1, 0.02, 0.5)
    # Codes are 2 copies, missing, 1, 0.
    codes <- c(frequency^2, 0, 2 * frequency * (1 - frequency), (1 - frequency)^2)
    chances <- Reduce(outer, list(codes, codes, codes, codes))
    writeBin(as.raw(sample.int(256, n / 4, TRUE, chances) - 1), bed)
  }
  ids <- sprintf("s%d", seq_len(n))
  write_columns(data.frame(ids, ids, 0, 0, 0, -9), paste0(stem, ".fam"))
  variants <- sprintf("v%d", seq_len(m))
  write_columns(data.frame(1, variants, 0, seq_len(m), "A", "G"), paste0(stem, ".bim"))
}
