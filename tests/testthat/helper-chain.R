# Chains and 2bit genomes in plain R: random net AXT files, and the chains and genomes that they
# were made from.

# ---- From AXT to chains ------------------------------------------------------------------

# The lines of a chain file with the blocks of a net AXT file. `lengths` and `outgroup_lengths`: of
# both genomes' sequences. Consecutive blocks become one chain where chains can say what is between
# them.
axt_to_chain <- function(lines, lengths, outgroup_lengths) {
  chains <- list()
  for (block in oracle_blocks(lines)) {
    header <- strsplit(lines[block$line], "[ \t]+")[[1]]
    pieces <- ungapped_pieces(block, as.numeric(header[6]) - 1)
    names <- header[c(2, 5, 8)]
    last <- if (length(chains)) chains[[length(chains)]]
    same <- identical(last$names, names) && identical(last$score, block$score)
    if (same && one_chain_can_have(last$pieces, pieces)) {
      chains[[length(chains)]]$pieces <- rbind(last$pieces, pieces)
    } else {
      chains[[length(chains) + 1]] <- list(names = names, score = block$score, pieces = pieces)
    }
  }
  unlist(lapply(seq_along(chains), function(i) {
    chain <- chains[[i]]
    sizes <- c(lengths[[chain$names[1]]], outgroup_lengths[[chain$names[2]]])
    chain_lines(chain$pieces, chain$names, sizes, chain$score, i)
  }))
}

# A row an ungapped piece: its starts, counted from 0, and its size.
ungapped_pieces <- function(block, outgroup_start) {
  focal <- block$focal != "-"
  outgroup <- block$outgroup != "-"
  target <- block$start - 1 + cumsum(focal) - focal
  query <- outgroup_start + cumsum(outgroup) - outgroup
  columns <- which(focal & outgroup)
  first <- columns[c(TRUE, diff(columns) > 1)]
  last <- columns[c(diff(columns) > 1, TRUE)]
  data.frame(target = target[first], query = query[first], size = last - first + 1)
}

# Between them must be bases of both species, or more than an AXT block bridges.
one_chain_can_have <- function(before, after) {
  gap <- unlist(after[1, 1:2]) - unlist(before[nrow(before), 1:2]) - before$size[nrow(before)]
  all(gap >= 0) && (all(gap > 0) || max(gap) > 100)
}

chain_lines <- function(pieces, names, sizes, score, id) {
  n <- nrow(pieces)
  gaps <- function(starts) starts[-1] - (starts + pieces$size)[-n]
  ends <- function(starts) sprintf("%.0f %.0f", starts[1], starts[n] + pieces$size[n])
  c(
    sprintf("chain %.0f %s %.0f + %s %s %.0f %s %s %d", score, names[1], sizes[1],
            ends(pieces$target), names[2], sizes[2], names[3], ends(pieces$query), id),
    sprintf("%.0f\t%.0f\t%.0f", pieces$size[-n], gaps(pieces$target), gaps(pieces$query)),
    sprintf("%.0f", pieces$size[n]), ""
  )
}

# ---- Genomes -----------------------------------------------------------------------------

# Sequences of a 2bit file, with stretches of N and of lower case.
random_genome <- function(lengths) {
  vapply(lengths, function(n) {
    bases <- sample(c("A", "C", "G", "T"), n, replace = TRUE)
    bases[in_stretches(n)] <- "N"
    lower <- in_stretches(n)
    bases[lower] <- tolower(bases[lower])
    paste(bases, collapse = "")
  }, "")
}

# Whether each of n positions is in a stretch: about a quarter of them.
in_stretches <- function(n) {
  rep(rep(c(FALSE, TRUE), n), rbind(rpois(n, 30), rpois(n, 10)))[seq_len(n)]
}

reverse_complement_of <- function(sequence) {
  paste(rev(strsplit(oracle_complement(sequence), "")[[1]]), collapse = "")
}

# Writes a 2bit file; `endian` and `version` as in writeBin() and the format.
write_twobit <- function(genome, path = tempfile(fileext = ".2bit"), endian = "little",
                         version = 0) {
  records <- lapply(genome, twobit_record, endian)
  offset_bytes <- 4 + 4 * version
  index <- 16 + sum(1 + nchar(names(genome), "bytes") + offset_bytes)
  offsets <- index + cumsum(c(0, lengths(records)))[seq_along(records)]
  entries <- Map(function(name, offset) {
    high <- if (version == 1) 0
    numbers <- if (endian == "big") c(high, offset) else c(offset, high)
    c(as.raw(nchar(name, "bytes")), charToRaw(name), uint32(numbers, endian))
  }, names(genome), offsets)
  header <- uint32(c(0x1A412743, version, length(genome), 0), endian)
  writeBin(c(header, unlist(c(entries, records), use.names = FALSE)), path)
  path
}

uint32 <- function(numbers, endian) writeBin(as.integer(numbers), raw(), endian = endian)

twobit_record <- function(sequence, endian) {
  upper <- charToRaw(toupper(sequence))
  n <- length(upper)
  stretches <- function(inside) {
    change <- diff(c(FALSE, inside, FALSE))
    starts <- which(change == 1) - 1
    uint32(c(length(starts), starts, which(change == -1) - 1 - starts), endian)
  }
  codes <- match(upper, charToRaw("TCAG"), nomatch = 1) - 1
  codes <- matrix(c(codes, rep(0, -n %% 4)), nrow = 4)
  c(
    uint32(n, endian), stretches(upper == charToRaw("N")),
    stretches(charToRaw(sequence) == charToRaw(tolower(sequence))),
    uint32(0, endian), as.raw(colSums(codes * c(64, 16, 4, 1)))
  )
}

# ---- Random net AXT files ----------------------------------------------------------------

# Lines of an AXT file of an outgroup's genome, as UCSC's tools make them from chains: blocks with
# gaps in one row at a time, of at most 100 columns. Some blocks are on a chromosome that `lengths`
# lacks.
random_net <- function(genome, lengths, n_chains = 12) {
  chromosomes <- c(names(lengths), sample(names(lengths), n_chains, replace = TRUE))
  unlist(lapply(chromosomes, function(name) {
    other <- sample(names(genome), 1)
    strand <- sample(c("+", "-"), 1)
    row <- genome[[other]]
    if (strand == "-") row <- reverse_complement_of(row)
    random_net_chain(name, lengths[[name]], other, row, strand)
  }))
}

# Goes on by blocks until one sequence ends.
random_net_chain <- function(name, length, other, row, strand) {
  lines <- NULL
  score <- sample(1e6, 1)
  target <- sample(length, 1) - 1
  query <- sample(nchar(row), 1) - 1
  repeat {
    focal <- outgroup <- NULL
    from <- c(target, query)
    repeat {
      n <- min(sample(40, 1), length - target, nchar(row) - query)
      focal <- c(focal, rep("A", n))
      outgroup <- c(outgroup, substring(row, query + seq_len(n), query + seq_len(n)))
      target <- target + n
      query <- query + n
      gap <- sample(c(1:9, 100), 1)
      if (runif(1) < 0.3 || target + gap >= length || query + gap >= nchar(row)) break
      if (runif(1) < 0.5) {
        focal <- c(focal, rep("A", gap))
        outgroup <- c(outgroup, rep("-", gap))
        target <- target + gap
      } else {
        focal <- c(focal, rep("-", gap))
        outgroup <- c(outgroup, substring(row, query + seq_len(gap), query + seq_len(gap)))
        query <- query + gap
      }
    }
    lines <- c(
      lines, sprintf("0 %s %d %d %s %d %d %s %d", name, from[1] + 1, target, other, from[2] + 1,
                     query, strand, score),
      paste(focal, collapse = ""), paste(outgroup, collapse = ""), ""
    )
    gap <- switch(sample(3, 1), sample(20, 2), c(101, 0), c(0, 101))
    target <- target + gap[1]
    query <- query + gap[2]
    if (target >= length || query >= nchar(row)) {
      return(lines)
    }
  }
}

# Chain and 2bit files, the AXT file with the same blocks, and the sequences expected.
random_chain_case <- function(lengths = c(chr1 = 3000, chr2 = 700, one = 1), n_chains = 12,
                              folder = new_folder(), ...) {
  genome <- random_genome(c(chrA = 2500, scaffold_7 = 900, chrB = 40))
  all <- c(lengths, chrElse = 500)
  net <- random_net(genome, all, n_chains)
  path <- function(name) file.path(folder, name)
  write_axt(net, path("net.axt"))
  write_axt(c("##matrix=x", "", axt_to_chain(net, all, nchar(genome))), path("over.chain"))
  list(
    lengths = lengths, net = net, genome = genome, axt = path("net.axt"),
    chain = path("over.chain"), twobit = write_twobit(genome, path("outgroup.2bit"), ...),
    expected = oracle_project(net, lengths)
  )
}

project_quietly <- function(...) suppressWarnings(project_axt(...), classes = "ancify_warning")
