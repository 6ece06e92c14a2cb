# An independent implementation of projection and voting in plain R: slow,
# obvious, and written from the specification alone. The core is compared with it
# byte for byte.

# ---- Projection ----------------------------------------------------------------

# `lines` of one AXT file; `lengths` of the requested chromosomes, by name. A bad
# block is an error, or with `skip` left out.
oracle_project <- function(lines, lengths, skip = FALSE, overlaps = "score") {
  covered <- oracle_covered(lengths)
  for (block in oracle_blocks(lines)) {
    if (!block$chromosome %in% names(lengths)) next
    fault <- oracle_block_fault(block, lengths[[block$chromosome]])
    if (!is.null(fault)) {
      if (skip) next
      stop("line ", block$line, ": ", fault)
    }
    positions <- block$start - 1 + seq_len(sum(block$focal != "-"))
    covered <- oracle_cover(
      covered, block$chromosome, positions, block$outgroup[block$focal != "-"], block$score
    )
  }
  oracle_uncover(covered, lengths, overlaps)
}

# All letters of blocks with their positions and scores, by chromosome.
oracle_covered <- function(lengths) lapply(lengths, function(n) list())

oracle_cover <- function(covered, chromosome, position, letter, score) {
  if (length(position)) {
    rows <- data.frame(position, letter, score)
    covered[[chromosome]] <- c(covered[[chromosome]], list(rows))
  }
  covered
}

# The sequences. Of the letters at a position those with the best score count, all of them, or the
# last one. N stands where those that count differ; lower case stays.
oracle_uncover <- function(covered, lengths, overlaps = "score") {
  common <- function(letters) {
    if (overlaps == "last") {
      letters[length(letters)]
    } else if ("N" %in% letters || length(unique(toupper(letters))) > 1) {
      "N"
    } else if (all(letters == letters[1])) {
      letters[1]
    } else {
      tolower(letters[1])
    }
  }
  vapply(stats::setNames(nm = names(lengths)), function(name) {
    sequence <- rep("N", lengths[[name]])
    rows <- do.call(rbind, covered[[name]])
    if (is.null(rows)) {
      return(paste(sequence, collapse = ""))
    }
    if (overlaps == "score") {
      rows <- rows[rows$score == stats::ave(rows$score, rows$position, FUN = max), ]
    }
    letters <- tapply(rows$letter, rows$position, common)
    sequence[as.numeric(names(letters))] <- letters
    paste(sequence, collapse = "")
  }, "")
}

# The number of positions that several blocks cover.
oracle_shared <- function(covered) {
  sum(vapply(covered, function(blocks) {
    position <- do.call(rbind, blocks)$position
    length(unique(position[duplicated(position)]))
  }, 0L))
}

# Comments and blank lines lie between blocks; a block is three lines in a row.
oracle_blocks <- function(lines) {
  lines <- sub("\r$", "", lines)
  blocks <- list()
  i <- 1
  while (i <= length(lines)) {
    if (lines[i] == "" || startsWith(lines[i], "#")) {
      i <- i + 1
      next
    }
    header <- strsplit(lines[i], "[ \t]+")[[1]]
    blocks[[length(blocks) + 1]] <- list(
      line = i,
      chromosome = header[2], start = as.numeric(header[3]), end = as.numeric(header[4]),
      score = if (length(header) == 9) as.numeric(header[9]) else -Inf,
      focal = strsplit(lines[i + 1], "")[[1]], outgroup = strsplit(lines[i + 2], "")[[1]]
    )
    i <- i + 3
  }
  blocks
}

oracle_block_fault <- function(block, length) {
  allowed <- c(letters, LETTERS, "-")
  if (length(block$focal) != length(block$outgroup)) {
    "rows of different length"
  } else if (!all(c(block$focal, block$outgroup) %in% allowed)) {
    "neither a letter nor '-'"
  } else if (block$start < 1 || block$end > length || block$end < block$start) {
    "outside the chromosome"
  } else if (sum(block$focal != "-") != block$end - block$start + 1) {
    "coordinates do not match the focal row"
  }
}

# ---- Voting --------------------------------------------------------------------

# `inner`, `outer`: sequences of equal length, as character vectors.
oracle_vote <- function(inner, outer, min_inner = 1, min_outer = 1, ties = "open") {
  inner <- do.call(cbind, strsplit(toupper(inner), ""))
  outer <- do.call(cbind, strsplit(toupper(outer), ""))
  calls <- vapply(seq_len(nrow(inner)), function(i) {
    oracle_tied_call(
      oracle_consensus(inner[i, ], min_inner), oracle_consensus(outer[i, ], min_outer), ties
    )
  }, "")
  paste(calls, collapse = "")
}

# The most frequent bases; NA if they have too few votes.
oracle_consensus <- function(observed, minimum) {
  votes <- c(
    A = sum(observed == "A"), C = sum(observed == "C"),
    G = sum(observed == "G"), T = sum(observed == "T")
  )
  if (max(votes) < minimum || max(votes) == 0) NA else names(votes)[votes == max(votes)]
}

# The call that all choices among the most frequent bases give, or that of the first ones.
oracle_tied_call <- function(inner, outer, ties) {
  if (ties == "alphabet") {
    return(oracle_call(inner[1], outer[1]))
  }
  calls <- unlist(lapply(inner, function(a) lapply(outer, function(b) oracle_call(a, b))))
  if (length(unique(calls)) == 1) calls[1] else "n"
}

oracle_call <- function(inner, outer) {
  if (is.na(inner) && is.na(outer)) {
    "N"
  } else if (is.na(inner)) {
    tolower(outer)
  } else if (is.na(outer)) {
    tolower(inner)
  } else if (inner == outer) {
    inner
  } else {
    "n"
  }
}

oracle_counts <- function(sequence) {
  letter <- strsplit(sequence, "")[[1]]
  c(
    high = sum(letter %in% c("A", "C", "G", "T")),
    low = sum(letter %in% c("a", "c", "g", "t")),
    unresolved = sum(letter == "n"),
    missing = sum(letter == "N")
  )
}

# ---- Random alignments -----------------------------------------------------------

random_base <- function(n) {
  iupac <- c("R", "Y", "S", "W", "K", "M", "B", "D", "H", "V", "N")
  base <- sample(
    c("A", "C", "G", "T", iupac), n,
    replace = TRUE, prob = c(rep(0.23, 4), rep(0.08 / 11, 11))
  )
  ifelse(runif(n) < 0.4, tolower(base), base)
}

# A stretch of the focal genome of all random alignments. Its bases are always the same, but their
# case is random, and some are another IUPAC code.
random_focal <- function(chromosome, from, to) {
  of_chromosome <- sum(utf8ToInt(chromosome) * seq_len(nchar(chromosome)))
  number <- (sin(seq(from, to) * 12.9898 + of_chromosome) * 43758.5453) %% 1
  base <- c("A", "C", "G", "T")[floor(4 * number) + 1]
  other <- random_base(length(base))
  ambiguous <- !toupper(other) %in% c("A", "C", "G", "T")
  base[ambiguous] <- other[ambiguous]
  ifelse(runif(length(base)) < 0.4, tolower(base), base)
}

# Lines of an AXT file on these chromosomes and on a further one.
# Blocks come in any order and touch both ends of chromosomes; gaps lie
# in the focal row, in the outgroup's and in both.
random_axt <- function(lengths, n_blocks = 20, gaps = 0.15, passed_over = "chrElse",
                       overlap = FALSE) {
  lengths <- c(lengths, setNames(30, passed_over))
  chromosomes <- c(names(lengths), sample(names(lengths), n_blocks, replace = TRUE))
  ranges <- lapply(names(lengths), function(name) {
    ends <- if (overlap) ends_anywhere else ends_apart
    lapply(ends(lengths[[name]], sum(chromosomes == name)), list, chromosome = name)
  })
  ranges <- sample(do.call(c, ranges))
  blocks <- lapply(seq_along(ranges), function(i) {
    chromosome <- ranges[[i]]$chromosome
    c(random_block(i - 1, chromosome, ranges[[i]][[1]], lengths[[chromosome]], gaps),
      random_between())
  })
  c(random_between(), unlist(blocks))
}

ends_anywhere <- function(length, n) {
  lapply(seq_len(n), function(i) {
    ends <- sort(sample(length, 2, replace = TRUE))
    where <- sample(c("start", "end", "all", "inside"), 1, prob = c(1, 1, 0.5, 4))
    if (where %in% c("start", "all")) ends[1] <- 1
    if (where %in% c("end", "all")) ends[2] <- length
    ends
  })
}

# Of at most n ranges, some of which touch.
ends_apart <- function(length, n) {
  n <- max(1, min(n, length %/% 2))
  ends <- rep_len(sort(sample(length, min(2 * n, length))), 2 * n)
  if (runif(1) < 0.5) ends[1] <- 1
  if (runif(1) < 0.5) ends[2 * n] <- length
  lapply(seq_len(n), function(i) ends[2 * i - 1:0])
}

random_block <- function(number, chromosome, ends, length, gaps) {
  focal <- random_focal(chromosome, ends[1], ends[2])
  # Columns that stand for no focal position, at the ends too.
  n_extra <- rbinom(1, length(focal) + 2, gaps)
  focal <- c(focal, rep("-", n_extra))[order(c(seq_along(focal), runif(n_extra, 0, length + 1)))]
  outgroup <- ifelse(runif(length(focal)) < gaps, "-", random_base(length(focal)))
  from <- sample(1000, 1)
  header <- paste(
    number, chromosome, ends[1], ends[2],
    "other", from, max(from, from + sum(outgroup != "-") - 1), sample(c("+", "-"), 1)
  )
  if (runif(1) < 0.7) header <- paste(header, sample(c(-5:5, 100000), 1))
  c(header, paste(focal, collapse = ""), paste(outgroup, collapse = ""))
}

# Mostly one blank line; also none, several, and comments.
random_between <- function() {
  switch(sample(5, 1),
    "",
    "",
    character(),
    c("", "", ""),
    c("", "# a comment with ACGT - 1 chr1 1 2", "##", "")
  )
}

# ---- Files ---------------------------------------------------------------------------

write_axt <- function(lines, path, eol = "\n", final_newline = TRUE,
                      compression = c("none", "gzip", "members", "bgzip")) {
  compression <- match.arg(compression)
  text <- paste(lines, collapse = eol)
  bytes <- charToRaw(if (final_newline) paste0(text, eol) else text)
  if (compression == "bgzip") {
    require_tool("bgzip")
    plain <- tempfile()
    on.exit(unlink(plain))
    writeBin(bytes, plain)
    stopifnot(system2("bgzip", c("-c", shQuote(plain)), stdout = path) == 0)
    return(path)
  }
  bytes <- switch(compression,
    none = bytes,
    gzip = gzip_member(bytes),
    members = do.call(c, lapply(split_anywhere(bytes), gzip_member))
  )
  writeBin(bytes, path)
  path
}

gzip_member <- function(bytes) {
  path <- tempfile()
  on.exit(unlink(path))
  connection <- gzfile(path, "wb")
  writeBin(bytes, connection)
  close(connection)
  readBin(path, "raw", file.size(path))
}

split_anywhere <- function(bytes, n = 5) {
  cuts <- sort(sample(length(bytes), n - 1, replace = TRUE))
  Map(
    function(from, to) bytes[seq_len(to - from) + from],
    c(0, cuts), c(cuts, length(bytes))
  )
}

# ---- Requirements of tests -----------------------------------------------------------

# A skip, or a failure if everything must be tested.
lacking <- function(what) {
  if (identical(Sys.getenv("CI"), "true") || identical(Sys.getenv("ANCIFY_REQUIRE_ALL"), "1")) {
    stop("This test needs ", what, ".", call. = FALSE)
  }
  testthat::skip(paste("needs", what))
}

# A path in the folder of real data, which is not part of the package.
test_data <- function(...) {
  folder <- Sys.getenv("ANCIFY_TEST_DATA")
  if (!nzchar(folder)) {
    above <- Reduce(function(path, i) dirname(path), 1:20, getwd(), accumulate = TRUE)
    folder <- Filter(dir.exists, file.path(unique(above), "shared", "data"))[1]
  }
  path <- file.path(folder, ...)
  if (!file.exists(path)) {
    lacking(paste0(
      "shared/data (", file.path(...), "): put it beside the repository, or name the folder in ",
      "ANCIFY_TEST_DATA"
    ))
  }
  path
}

require_tool <- function(program) {
  if (!nzchar(Sys.which(program))) lacking(paste("the program", program))
}

require_package <- function(package) {
  if (!requireNamespace(package, quietly = TRUE)) lacking(paste("the package", package))
}

require_reports <- function() {
  require_package("ggplot2")
  require_package("rmarkdown")
  if (!rmarkdown::pandoc_available("2.0")) lacking("pandoc 2.0 or later")
}
