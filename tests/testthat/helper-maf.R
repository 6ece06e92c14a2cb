# MAF files: an independent implementation of projection in plain R, and random files.

# Projects `lines` of a MAF file for the species `outgroups` onto the chromosomes of `lengths`.
# `chromosomes`: all of the focal species. Gives for each outgroup the sequences, the numbers of
# blocks `used`, `bad` and `passed_over`, and of `duplicates`.
oracle_project_maf <- function(lines, focal, outgroups, lengths, chromosomes = names(lengths),
                               skip = FALSE) {
  blocks <- oracle_maf_blocks(lines)
  lapply(stats::setNames(nm = outgroups), function(name) {
    result <- list(
      sequences = lapply(lengths, function(n) rep("N", n)),
      used = 0, bad = 0, passed_over = 0, duplicates = 0
    )
    for (block in blocks) {
      result <- oracle_maf_block(result, block, focal, name, outgroups, lengths, chromosomes, skip)
    }
    result$sequences <- vapply(result$sequences, paste, "", collapse = "")
    result
  })
}

oracle_maf_block <- function(result, block, focal, name, outgroups, lengths, chromosomes, skip) {
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
  focal_row <- block$rows[[c(which(focals), which(owner == focal))[1]]]
  chromosome <- substring(focal_row$source, nchar(focal) + 2)
  own <- which(owner == name)
  if (!chromosome %in% names(lengths)) {
    result$passed_over <- result$passed_over + (length(own) > 0)
    return(result)
  }
  fault <- oracle_row_fault(focal_row)
  if (is.null(fault) && focal_row$source_size != lengths[[chromosome]]) fault <- "length"
  if (!is.null(fault)) {
    return(bad(focal_row$line, fault))
  }
  if (length(own) == 0) {
    return(result)
  }
  row <- block$rows[[own[1]]]
  fault <- oracle_row_fault(row)
  if (is.null(fault) && length(row$columns) != length(focal_row$columns)) fault <- "columns"
  if (!is.null(fault)) {
    return(bad(row$line, fault))
  }
  result$used <- result$used + 1
  result$duplicates <- result$duplicates + sum(owner == focal) - 1 + length(own) - 1
  position <- focal_row$start
  for (column in which(focal_row$columns != "-")) {
    at <- if (focal_row$strand == "+") position + 1 else focal_row$source_size - position
    letter <- row$columns[column]
    if (focal_row$strand == "-") letter <- oracle_complement(letter)
    result$sequences[[chromosome]][at] <- letter
    position <- position + 1
  }
  result
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
    if (identical(fields[1], "a")) blocks[[n + 1]] <- list(line = i, rows = list())
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
# strands, some twice, among other species' rows and other lines.
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
    # The focal species again, elsewhere and on an unknown chromosome.
    if (runif(1) < 0.1) row(paste0(maf_focal, ".unknown"))
  )
  between <- c("i near.chr1 C 0 C 0", "e far.chr1 5 3 + 100 I", "q near.chr1 99", "# comment", NA)
  lines <- c(rbind(sample(rows), sample(between, length(rows), replace = TRUE)))
  c(sample(c("a score=1.5", "a"), 1), lines[!is.na(lines)], random_maf_end())
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
