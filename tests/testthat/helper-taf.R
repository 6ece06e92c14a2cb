# TAF files: a writer of MAF blocks in plain R, and random alignments.

# Lines of a TAF file with these blocks, from oracle_maf_blocks(). `runs`: the bases are run-length
# encoded. Which of several operations states a change is random.
taf_lines <- function(blocks, runs = FALSE) {
  rows <- list() # of the last block, with their ends
  lines <- list(sprintf("#taf version:1%s", if (runs) " run_length_encode_bases:1" else ""))
  for (block in blocks) {
    columns <- do.call(rbind, lapply(block$rows, `[[`, "columns"))
    text <- apply(columns, 2, taf_bases, runs)
    text[1] <- paste(c(text[1], ";", taf_changes(rows, block$rows)), collapse = " ")
    tagged <- runif(length(text)) < 0.05
    text[tagged] <- paste(text[tagged], "@ a:1 b:x;y")
    comment <- if (runif(1) < 0.1) sample(c("# comment", "", "#ACGT"), 1)
    lines[[length(lines) + 1]] <- append(text, comment, sample(length(text), 1))
    rows <- lapply(block$rows, function(row) {
      row$start <- row$start + row$size
      row
    })
  }
  unlist(lines)
}

taf_bases <- function(column, runs) {
  if (!runs) {
    return(paste(column, collapse = ""))
  }
  runs <- rle(column)
  paste(runs$values, runs$lengths, collapse = " ")
}

# The operations that turn the rows `old`, which are at their ends, into the rows `new`.
taf_changes <- function(old, new) {
  of <- taf_pairing(old, new)
  gone <- setdiff(seq_along(old), of)
  c(
    sprintf("d %d", gone - seq_along(gone)),
    unlist(lapply(seq_along(new), function(i) {
      row <- new[[i]]
      coordinates <- sprintf(
        "%d %s %.0f %s %.0f", i - 1, row$source, row$start, row$strand, row$source_size
      )
      if (of[i] == 0) {
        return(paste("i", coordinates))
      }
      gap <- if (taf_continues(old[[of[i]]], row)) row$start - old[[of[i]]]$start else -1
      bases <- if (gap > 0) paste(random_base(gap), collapse = "") else ""
      operations <- c(
        s = paste("s", coordinates), g = sprintf("g %d %.0f", i - 1, gap),
        G = sprintf("G %d %s", i - 1, bases), none = NA
      )
      fits <- if (gap < 0) "s" else if (gap == 0) c("s", "none", "none", "g") else c("s", "g", "G")
      operation <- operations[[sample(fits, 1)]]
      if (is.na(operation)) character() else operation
    }))
  )
}

# For each new row the old one that it continues or replaces, in order; 0 for an inserted row.
taf_pairing <- function(old, new) {
  last <- 0
  vapply(new, function(row) {
    candidates <- seq_along(old)[seq_along(old) > last]
    candidates <- c(
      Filter(function(j) taf_continues(old[[j]], row), candidates),
      if (runif(1) < 0.1) candidates[1]
    )
    if (length(candidates) == 0 || is.na(candidates[1]) || runif(1) < 0.05) {
      return(0)
    }
    last <<- candidates[1]
    candidates[1]
  }, 0)
}

taf_continues <- function(old, row) {
  old$source == row$source && old$strand == row$strand && old$source_size == row$source_size &&
    old$start <= row$start && row$start - old$start < 100
}

# Lines of a MAF file without scores, whose rows mostly continue from block to block, on both
# strands; species appear, vanish, and have several rows.
random_taf_maf <- function(lengths, species, step = 12) {
  rows <- lapply(sample(species), random_taf_row)
  blocks <- list()
  for (chromosome in names(lengths)) {
    at <- 0
    repeat {
      at <- at + (runif(1) < 0.3) * sample(0:5, 1)
      size <- min(sample(step, 1), lengths[[chromosome]] - at)
      if (size < 1) break
      focal <- c(random_base(size), rep("-", rpois(1, size / 8)))
      focal <- focal[order(runif(length(focal)))]
      minus <- runif(1) < 0.1
      start <- if (minus) lengths[[chromosome]] - at - size else at
      rows <- next_taf_rows(rows, species, length(focal))
      lines <- vapply(rows, function(row) {
        maf_row(row$source, row$start, row$columns, row$strand, 5000)
      }, "")
      lines <- append(
        lines, maf_row(paste0(maf_focal, ".", chromosome), start, focal, if (minus) "-" else "+",
                       lengths[[chromosome]]),
        if (runif(1) < 0.1) sample(0:length(lines), 1) else 0
      )
      blocks[[length(blocks) + 1]] <- c("a", lines, "")
      at <- at + size
    }
  }
  c("##maf version=1", "", unlist(blocks))
}

random_taf_row <- function(species) {
  list(source = paste0(species, sample(c(".c1", ".c.2", ""), 1)), start = sample(1000, 1),
       size = 0, strand = sample(c("+", "-"), 1))
}

next_taf_rows <- function(rows, species, n_columns) {
  rows <- rows[runif(length(rows)) > 0.05]
  for (name in sample(species, rbinom(1, length(species), 0.03))) {
    rows <- append(rows, list(random_taf_row(name)), sample(0:length(rows), 1))
  }
  if (runif(1) < 0.02) rows <- sample(rows)
  lapply(rows, function(row) {
    row$start <- row$start + row$size + (runif(1) < 0.2) * sample(20, 1)
    if (runif(1) < 0.03 || row$start > 4000) row$start <- sample(1000, 1)
    row$columns <- ifelse(runif(n_columns) < 0.15, "-", random_base(n_columns))
    row$size <- sum(row$columns != "-")
    row
  })
}
