# PAF in plain R: a projection that walks along CIGARs and difference strings, and random files.

# ---- Projection ----------------------------------------------------------------------------

# Projects `lines` of a PAF file onto the chromosomes of `lengths`. `genome`: the outgroup's.
# Without it, bases come from difference strings in the long form. Rows must be good.
oracle_paf <- function(lines, lengths, genome = NULL, overlaps = "score") {
  covered <- oracle_covered(lengths)
  for (line in lines) {
    row <- strsplit(line, "\t")[[1]]
    tags <- substring(row[-(1:12)], 6)
    names(tags) <- substr(row[-(1:12)], 1, 5)
    if (!row[6] %in% names(lengths) || tags["tp:A:"] %in% c("S", "i")) next
    columns <- oracle_paf_columns(tags)
    if (!is.null(genome)) {
      query <- substr(genome[[row[1]]], as.numeric(row[3]) + 1, as.numeric(row[4]))
      if (row[5] == "-") query <- reverse_complement_of(query)
      columns$letter[columns$kind != "D"] <- strsplit(query, "")[[1]]
    }
    columns <- columns[columns$kind != "I", ]
    columns$letter[columns$kind == "D"] <- "-"
    score <- as.numeric(if (is.na(tags["AS:i:"])) row[10] else tags[["AS:i:"]])
    covered <- oracle_cover(
      covered, row[6], as.numeric(row[8]) + seq_len(nrow(columns)), columns$letter, score
    )
  }
  oracle_uncover(covered, lengths, overlaps)
}

# A row a column: M, I or D, and the outgroup's letter if the text tells it.
oracle_paf_columns <- function(tags) {
  columns <- if (is.na(tags["cs:Z:"])) {
    steps <- regmatches(tags[["cg:Z:"]], gregexpr("[0-9]+[MIDX=]", tags[["cg:Z:"]]))[[1]]
    lapply(steps, function(step) {
      kind <- sub("[X=]", "M", substring(step, nchar(step)))
      n <- as.numeric(substr(step, 1, nchar(step) - 1))
      data.frame(kind = rep(kind, n), letter = rep(NA_character_, n))
    })
  } else {
    steps <- regmatches(
      tags[["cs:Z:"]], gregexpr("[-+=][A-Za-z]+|[*][A-Za-z]{2}|:[0-9]+", tags[["cs:Z:"]])
    )[[1]]
    lapply(steps, function(step) {
      text <- substring(step, 2)
      letters <- strsplit(toupper(text), "")[[1]]
      switch(substr(step, 1, 1),
        ":" = data.frame(kind = rep("M", as.numeric(text)), letter = NA_character_),
        "*" = data.frame(kind = "M", letter = letters[2]),
        "=" = data.frame(kind = "M", letter = letters),
        "+" = data.frame(kind = "I", letter = letters),
        "-" = data.frame(kind = "D", letter = letters)
      )
    })
  }
  do.call(rbind, columns)
}

# ---- From AXT to PAF -----------------------------------------------------------------------

# Lines of a PAF file with the blocks of AXT lines. `forms`: of the tags, "cg" (with M), "eqx" (with
# = and X), "short" or "long" (cs:Z:).
axt_to_paf <- function(lines, lengths, outgroup_lengths, forms) {
  vapply(oracle_blocks(lines), function(block) {
    header <- strsplit(lines[block$line], "[ \t]+")[[1]]
    size <- outgroup_lengths[[header[5]]]
    range <- c(as.numeric(header[6]) - 1, as.numeric(header[7]))
    if (header[8] == "-") range <- size - rev(range)
    same <- toupper(block$focal) == toupper(block$outgroup)
    numbers <- c(sum(same), length(same), 60)
    score <- if (is.finite(block$score)) sprintf("AS:i:%.0f", block$score)
    tags <- vapply(forms, function(form) paf_tag(block, form), "")
    paste(c(
      header[5], sprintf("%.0f", c(size, range)), header[8], header[2],
      sprintf("%.0f", c(lengths[[header[2]]], block$start - 1, block$end, numbers)),
      "tp:A:P", score, tags
    ), collapse = "\t")
  }, "")
}

paf_tag <- function(block, form) {
  focal <- toupper(block$focal)
  outgroup <- toupper(block$outgroup)
  kind <- ifelse(focal == outgroup, "=", "X")
  kind[outgroup == "-"] <- "D"
  kind[focal == "-"] <- "I"
  if (form == "cg") kind <- sub("[X=]", "M", kind)
  runs <- rle(kind)
  if (form %in% c("cg", "eqx")) {
    return(paste0("cg:Z:", paste0(runs$lengths, runs$values, collapse = "")))
  }
  last <- cumsum(runs$lengths)
  steps <- vapply(seq_along(last), function(i) {
    at <- seq(to = last[i], length.out = runs$lengths[i])
    text <- function(letters) paste(letters[at], collapse = "")
    switch(runs$values[i],
      "=" = if (form == "long") paste0("=", text(focal)) else paste0(":", length(at)),
      "X" = paste0("*", tolower(focal[at]), tolower(outgroup[at]), collapse = ""),
      "I" = paste0("+", tolower(text(outgroup))),
      "D" = paste0("-", tolower(text(focal)))
    )
  }, "")
  paste0("cs:Z:", paste(steps, collapse = ""))
}

# ---- Random files --------------------------------------------------------------------------

# Lines of an AXT file of both genomes. Its blocks have gaps of any length and in any order, also at
# their ends, but each has a focal base.
random_gapped <- function(focal, genome, n_blocks = 15) {
  chromosomes <- c(names(focal), sample(names(focal), n_blocks, replace = TRUE))
  unlist(lapply(chromosomes, function(name) {
    other <- sample(names(genome), 1)
    strand <- sample(c("+", "-"), 1)
    row <- genome[[other]]
    if (strand == "-") row <- reverse_complement_of(row)
    random_gapped_block(name, focal[[name]], other, row, strand)
  }))
}

random_gapped_block <- function(name, focal, other, row, strand) {
  from <- at <- c(sample(nchar(focal), 1), sample(nchar(row), 1)) - 1
  letters <- list(NULL, NULL)
  for (kind in c(sample(c("M", "I", "D"), sample(12, 1), replace = TRUE), "M")) {
    n <- min(sample(c(1:9, 30, 120), 1), nchar(focal) - at[1], nchar(row) - at[2])
    text <- substring(c(focal, row), at + 1, at + n)
    moves <- c(kind != "I", kind != "D")
    for (i in 1:2) {
      letters[[i]] <- c(letters[[i]], if (moves[i]) strsplit(text[i], "")[[1]] else rep("-", n))
    }
    at <- at + n * moves
  }
  if (at[1] == from[1] || at[2] == from[2]) {
    return(NULL)
  }
  c(
    sprintf("0 %s %.0f %.0f %s %.0f %.0f %s %d", name, from[1] + 1, at[1], other, from[2] + 1,
            at[2], strand, sample(40, 1)),
    vapply(letters, paste, "", collapse = ""), ""
  )
}

# An AXT file, its sequences, and both genomes. `path(...)` writes its blocks as PAF of these forms.
random_paf_case <- function(lengths = c(chr1 = 1500, chr2 = 400, one = 1), ...) {
  all <- c(lengths, chrElse = 300)
  focal <- vapply(all, random_bases, "", letters = c("A", "C", "N"))
  genome <- random_genome(c(chrA = 1300, scaffold_7 = 500, chrB = 40))
  net <- random_gapped(focal, genome, ...)
  list(
    lengths = lengths, focal = focal, genome = genome, net = net,
    axt = write_axt(net, tempfile(fileext = ".axt")), twobit = write_twobit(genome),
    lines = function(...) axt_to_paf(net, all, nchar(genome), c(...)),
    expected = oracle_project(net, lengths)
  )
}

# One row of PAF, q along chr1 of 12 bases, with these tags.
paf_row <- function(..., query = c("q", 9, 1, 5), strand = "+", target = c("chr1", 12, 2, 6)) {
  paste(c(query, strand, target, 3, 4, 60, ...), collapse = "\t")
}
