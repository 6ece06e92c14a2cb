# MAF files: an independent implementation of projection in plain R, and random files.

# Projects `lines` of a MAF file for the species `outgroups` onto the chromosomes of `lengths`.
# `chromosomes`: all of the focal species. Gives for each outgroup the sequences, the numbers of
# blocks `used`, `bad` and `passed_over`, of `duplicates`, and of `shared` positions.
oracle_project_maf <- function(lines, focal, outgroups, lengths, chromosomes = names(lengths),
                               skip = FALSE, overlaps = "score") {
  blocks <- oracle_maf_blocks(lines)
  lapply(stats::setNames(nm = outgroups), function(name) {
    result <- list(
      covered = oracle_covered(lengths), used = 0, bad = 0, passed_over = 0, duplicates = 0
    )
    for (block in blocks) {
      result <- oracle_maf_block(
        result, block, focal, name, outgroups, lengths, chromosomes, skip, overlaps
      )
    }
    result$shared <- oracle_shared(result$covered)
    result$sequences <- oracle_uncover(result$covered, lengths, overlaps)
    result
  })
}

oracle_maf_block <- function(result, block, focal, name, outgroups, lengths, chromosomes, skip,
                             overlaps) {
  source <- vapply(block$rows, `[[`, "", "source")
  focals <- source %in% paste0(focal, ".", chromosomes)
  # The longest matching name.
  owner <- vapply(source, function(source) {
    names <- c(outgroups, focal)
    fits <- names[source == names | startsWith(source, paste0(names, "."))]
    fits <- fits[order(-nchar(fits))]
    if (length(fits)) fits[1] else ""
  }, "")
  owner[focals] <- focal
  bad <- function(line, fault) {
    if (!skip) stop("line ", line, ": ", fault)
    result$bad <- result$bad + 1
    result
  }
  if (!any(owner == focal)) {
    return(bad(block$line, "no focal row"))
  }
  own <- block$rows[owner == name]
  focal_rows <- block$rows[if (any(focals)) focals else which(owner == focal)[1]]
  chromosome_of <- function(row) substring(row$source, nchar(focal) + 2)
  wanted <- vapply(focal_rows, chromosome_of, "") %in% names(lengths)
  if (!any(wanted)) {
    result$passed_over <- result$passed_over + (length(own) > 0)
  }
  for (focal_row in focal_rows[wanted]) {
    chromosome <- chromosome_of(focal_row)
    fault <- oracle_row_fault(focal_row)
    if (is.null(fault) && focal_row$source_size != lengths[[chromosome]]) fault <- "length"
    if (!is.null(fault)) {
      result <- bad(focal_row$line, fault)
      next
    }
    if (length(own) == 0) next
    faults <- lapply(own, function(row) {
      oracle_row_fault(row) %||%
        if (length(row$columns) != length(focal_row$columns)) "columns"
    })
    faulty <- which(lengths(faults) > 0)
    if (length(faulty)) {
      result <- bad(own[[faulty[1]]]$line, faults[[faulty[1]]])
      next
    }
    result$used <- result$used + 1
    result$duplicates <- result$duplicates + length(own) - 1
    result$covered <- oracle_cover_maf(
      result$covered, chromosome, focal_row, own, block$score, overlaps
    )
  }
  result
}

# The rows of a species that have most bases of the focal row, or all, have one letter in common.
oracle_cover_maf <- function(covered, chromosome, focal_row, rows, score, overlaps) {
  same <- vapply(rows, function(row) {
    base <- toupper(row$columns)
    sum(base == toupper(focal_row$columns) & base %in% c("A", "C", "G", "T"))
  }, 0)
  nearest <- if (overlaps == "missing") rows else rows[same == max(same)]
  letters <- vapply(seq_along(focal_row$columns), function(column) {
    found <- vapply(nearest, function(row) row$columns[column], "")
    if (length(found) == 1 || all(found == found[1]) && found[1] != "N") {
      found[1]
    } else if (length(unique(toupper(found))) > 1 || "N" %in% found) {
      "N"
    } else {
      tolower(found[1])
    }
  }, "")
  here <- focal_row$columns != "-"
  position <- focal_row$start + seq_len(sum(here))
  if (focal_row$strand == "-") {
    position <- focal_row$source_size - position + 1
    letters <- oracle_complement(letters)
  }
  oracle_cover(covered, chromosome, position, letters[here], score)
}

oracle_complement <- function(letters) {
  chartr("ACGTURYKMBVDHacgturykmbvdh", "TGCAAYRMKVBHDtgcaayrmkvbhd", letters)
}

# A block is an `a` line and the `s` lines after it.
oracle_maf_blocks <- function(lines) {
  lines <- sub("[\r \t]+$", "", lines)
  blocks <- list()
  for (i in seq_along(lines)) {
    fields <- strsplit(lines[i], "[ \t]+")[[1]]
    n <- length(blocks)
    if (identical(fields[1], "a")) {
      score <- sub("^score=", "", grep("^score=", fields[-1], value = TRUE)[1])
      blocks[[n + 1]] <- list(
        line = i, rows = list(), score = if (is.na(score)) -Inf else as.numeric(score)
      )
    }
    if (identical(fields[1], "s")) {
      blocks[[n]]$rows[[length(blocks[[n]]$rows) + 1]] <- list(
        line = i, source = fields[2], start = as.numeric(fields[3]), size = as.numeric(fields[4]),
        strand = fields[5], source_size = as.numeric(fields[6]),
        columns = strsplit(fields[7], "")[[1]]
      )
    }
  }
  blocks
}

oracle_row_fault <- function(row) {
  if (!all(row$columns %in% c(letters, LETTERS, "-"))) {
    "neither a letter nor '-'"
  } else if (sum(row$columns != "-") != row$size) {
    "size"
  } else if (row$start + row$size > row$source_size) {
    "outside its sequence"
  }
}

# ---- Random files --------------------------------------------------------------------

# Names that begin like others, and names with dots, also of chromosomes.
maf_focal <- "f.1"
maf_outgroups <- c("f", "f.1.b", "near", "near.2")

# Lines of a MAF file on these chromosomes and on a further one. Rows are in any order, on both
# strands, some twice, also the focal one, among other species' rows and other lines.
random_maf <- function(lengths, n_blocks = 20, gaps = 0.15) {
  lengths <- c(lengths, chrElse = 30)
  chromosomes <- c(names(lengths), sample(names(lengths), n_blocks, replace = TRUE))
  blocks <- lapply(chromosomes, function(name) random_maf_block(name, lengths[[name]], gaps))
  c("##maf version=1", "# a comment", "", unlist(blocks))
}

random_maf_block <- function(chromosome, length, gaps) {
  ends <- sort(sample(length, 2, replace = TRUE))
  if (runif(1) < 0.3) ends <- c(1, length)
  bases <- random_base(ends[2] - ends[1] + 1)
  n_extra <- rbinom(1, length(bases) + 2, gaps)
  focal <- c(bases, rep("-", n_extra))[order(c(seq_along(bases), runif(n_extra, 0, length + 1)))]
  minus <- runif(1) < 0.3
  row <- function(source) {
    columns <- ifelse(runif(length(focal)) < gaps, "-", random_base(length(focal)))
    start <- sample(1000, 1)
    maf_row(source, start, columns, sample(c("+", "-"), 1), start + length(focal) + 5)
  }
  tails <- c(".chr1", ".chr.2", ".x.y.z", "")
  sources <- paste0(maf_outgroups, sample(tails, 4, replace = TRUE))
  sources <- c(
    sources[runif(4) < 0.8], sample(sources, rbinom(1, 2, 0.2)),
    sample(c("far.chr1", "nea.1", "near3", "F.1.chr1"), sample(0:3, 1))
  )
  rows <- c(
    maf_row(
      paste0(maf_focal, ".", chromosome), if (minus) length - ends[2] else ends[1] - 1, focal,
      if (minus) "-" else "+", length
    ),
    vapply(sources, row, "", USE.NAMES = FALSE),
    # The focal species again, at another place and on an unknown chromosome.
    if (runif(1) < 0.1) maf_row(paste0(maf_focal, ".", chromosome), 0, focal, "+", length),
    if (runif(1) < 0.1) row(paste0(maf_focal, ".unknown"))
  )
  between <- c("i near.chr1 C 0 C 0", "e far.chr1 5 3 + 100 I", "q near.chr1 99", "# comment", NA)
  lines <- c(rbind(sample(rows), sample(between, length(rows), replace = TRUE)))
  begins <- sample(c("a score=1.5", "a", "a pass=1 score=-20", "a score=1.6e3"), 1)
  c(begins, lines[!is.na(lines)], random_maf_end())
}

maf_row <- function(source, start, columns, strand = "+", source_size = 1000,
                    size = sum(columns != "-")) {
  sprintf(
    "s %s%s%.0f %.0f %s %.0f %s", source, sample(c(" ", "   ", "\t"), 1), start, size, strand,
    source_size, paste(columns, collapse = "")
  )
}

# Mostly a blank line; also none, blanks alone, and several.
random_maf_end <- function() {
  switch(sample(4, 1), "", character(), "   ", c("", "", "# comment", ""))
}

# A block of rows: (source, start, columns, strand, source_size, size) each.
maf_block <- function(...) {
  rows <- vapply(list(...), function(row) {
    row[[3]] <- strsplit(row[[3]], "")[[1]]
    do.call(maf_row, row)
  }, "")
  c("a score=0", rows, "")
}

maf_file <- function(..., path = tempfile(fileext = ".maf")) {
  write_axt(c("##maf version=1", ...), path)
}

project_maf <- function(maf, lengths, maf_name = "near", focal_maf_name = "hg", ...) {
  project_axt(maf, lengths, maf_name = maf_name, focal_maf_name = focal_maf_name, ...)
}

# A configuration with a random MAF for all of maf_outgroups.
maf_config <- function(lines, lengths, ..., compression = "none") {
  folder <- new_folder()
  path <- function(name) file.path(folder, name)
  writeLines(sprintf("%s\t%.0f", names(lengths), lengths), path("chrom.sizes"))
  maf <- write_axt(lines, path("alignment"), compression = compression)
  entry <- function(i) list(name = paste0("s", i), alignment = maf, maf_name = maf_outgroups[i])
  list(
    focal_species = "focal", focal_maf_name = maf_focal,
    chromosome_lengths = path("chrom.sizes"),
    outgroups = list(inner = lapply(1:3, entry), outer = list(entry(4))),
    work_dir = path("work"), output_dir = path("calls"), ...
  )
}

expect_maf_run <- function(config, expected, threads) {
  names(expected) <- paste0("s", seq_along(expected))
  projected <- lapply(expected, `[[`, "sequences")
  run <- suppressWarnings(run_quietly(config, threads = threads, resume = FALSE))
  if (!isFALSE(config$keep_projected)) expect_projected(config$work_dir, projected)
  expect_calls(config$output_dir, expected_calls(projected, 3))
  alignments <- attr(run, "alignments")
  for (count in c("used", "bad", "passed_over", "duplicates", "shared")) {
    expect_equal(alignments[[count]], unname(vapply(expected, `[[`, 0, count)))
  }
}
