# Alignments with gaps, and ancestral alleles of insertions and deletions in plain R.

# Two rows of a block: the focal bases first, ..., last with substitutions, deletions and insertions
# in the outgroup, which often repeat what is beside them.
random_rows <- function(genome, first, last) {
  focal <- strsplit(genome, "")[[1]]
  columns <- lapply(first:last, function(i) {
    kind <- sample(c("same", "other", "gap", "more"), 1, prob = c(0.8, 0.06, 0.07, 0.07))
    # AXT blocks begin and end with bases.
    if (i %in% c(first, last) && kind != "same") kind <- "other"
    switch(
      kind,
      same = c(focal[i], focal[i]), other = c(focal[i], sample(c("A", "C", "G", "T"), 1)),
      gap = c(focal[i], "-"),
      more = {
        n <- sample(1:3, 1)
        inserted <- if (runif(1) < 0.5) random_bases(n) else substr(genome, i - n + 1, i)
        c(paste0(focal[i], strrep("-", nchar(inserted))), paste0(focal[i], inserted))
      }
    )
  })
  list(
    start = first, focal = paste(vapply(columns, `[`, "", 1), collapse = ""),
    outgroup = paste(vapply(columns, `[`, "", 2), collapse = "")
  )
}

random_bases <- function(n, letters = c("A", "C", "G", "T")) {
  paste(sample(letters, n, replace = TRUE), collapse = "")
}

# An insertion or deletion at every second position. Returns the file's path.
vcf_of_many_indels <- function(genome) {
  write_vcf(unlist(lapply(names(genome), function(name) {
    position <- seq(2, nchar(genome[[name]]) - 20, 2)
    more <- sample(0:9, length(position), replace = TRUE)
    bases <- substring(genome[[name]], position, position + more)
    first <- substr(bases, 1, 1)
    vcf_records(name, position, bases, ifelse(more > 0, first, paste0(first, "CC")))
  })))
}

# Of blocks that overlap, the later have better scores, and stand first in the file.
rows_as_axt <- function(chromosome, blocks) {
  lines <- lapply(seq_along(blocks), function(i) {
    block <- blocks[[i]]
    lines <- axt_block(chromosome, block$start, block$focal, block$outgroup)
    c(sub("5$", i, lines[1]), lines[-1])
  })
  unlist(rev(lines))
}

# What the outgroup has at each focal position, and after it (from 0 on): NA if unknown.
oracle_gapped_row <- function(blocks, length) {
  base <- rep(NA_character_, length)
  after <- rep(NA_character_, length + 1)
  for (block in blocks) {
    focal <- strsplit(block$focal, "")[[1]]
    outgroup <- strsplit(block$outgroup, "")[[1]]
    end <- block$start + sum(focal != "-") - 1
    base[block$start:end] <- outgroup[focal != "-"]
    between <- tapply(
      ifelse(focal == "-", outgroup, ""), factor(cumsum(focal != "-"), 1:(end - block$start + 1)),
      paste, collapse = ""
    )
    after[block$start:end + 1] <- between
    after[c(block$start, end + 1)] <- NA
  }
  list(base = base, after = after)
}

# All that a change may be written as: by brute force, the first and the last position before which
# bases can be left out or put in, so that the genome becomes the same.
oracle_stretch <- function(genome, position, ref, alt) {
  changed <- paste0(
    substr(genome, 1, position - 1), alt, substring(genome, position + nchar(ref))
  )
  n <- nchar(alt) - nchar(ref)
  places <- Filter(function(start) {
    made <- if (n > 0) {
      paste0(
        substr(genome, 1, start - 1), substr(changed, start, start + n - 1),
        substring(genome, start)
      )
    } else {
      paste0(substr(genome, 1, start - 1), substring(genome, start - n))
    }
    n != 0 && made == changed
  }, seq_len(nchar(genome) + 1 + min(n, 0)))
  if (length(places)) {
    return(c(min(places), max(places) + max(-n, 0)))
  }
  # A change that is no insertion or deletion alone stands where it is.
  same <- function(a, b) sum(cumprod(utils::head(a, length(b)) == utils::head(b, length(a))))
  ref <- strsplit(ref, "")[[1]]
  alt <- strsplit(alt, "")[[1]]
  after <- same(rev(ref), rev(alt))
  before <- same(utils::head(ref, length(ref) - after), utils::head(alt, length(alt) - after))
  c(position + before, position + length(ref) - after)
}

# "REF", "1" for the first ALT, ..., "other", or NA without data.
oracle_carried <- function(columns, genome, position, ref, alts) {
  stretches <- vapply(alts, function(alt) oracle_stretch(genome, position, ref, alt), c(0, 0))
  start <- min(stretches[1, ])
  end <- max(stretches[2, ])
  if (start < 2 || end > nchar(genome)) {
    return(NA)
  }
  inside <- seq_len(end - start) + start - 1
  around <- c(start - 1, inside, end)
  found <- c(rbind(columns$after[utils::head(around, -1) + 1], c(columns$base[inside], "")))
  if (anyNA(c(columns$base[around], found))) {
    return(NA)
  }
  if ("-" %in% columns$base[c(start - 1, end)]) {
    return("other")
  }
  found <- strsplit(gsub("-", "", paste(found, collapse = "")), "")[[1]]
  differences <- vapply(c(ref, alts), function(allele) {
    sequence <- paste0(
      substr(genome, start, position - 1), allele, substring(genome, position + nchar(ref), end - 1)
    )
    # The stretch may begin or end inside REF.
    sequence <- substr(
      sequence, max(start - position, 0) + 1,
      nchar(sequence) - max(position + nchar(ref) - end, 0)
    )
    sequence <- strsplit(sequence, "")[[1]]
    if (length(sequence) == length(found)) sum(sequence != found) else Inf
  }, 0)
  best <- which(differences == min(differences))
  if (length(best) > 1 || min(differences) > length(found) %/% 2) {
    return("other")
  }
  c("REF", seq_along(alts))[best]
}

# The vote of tiers: a list of AA_reason and the allele; any choice among ties must give the same.
oracle_allele_vote <- function(inner, outer) {
  most <- function(alleles) {
    votes <- table(alleles[!is.na(alleles)])
    if (length(votes)) names(votes)[votes == max(votes)] else NA
  }
  calls <- unique(unlist(lapply(most(inner), function(a) {
    vapply(most(outer), function(b) {
      if (is.na(a) && is.na(b)) {
        "NO_COVERAGE"
      } else if (is.na(a) || is.na(b)) {
        paste("LOW", if (is.na(a)) b else a)
      } else if (a == b) {
        paste("OK", a)
      } else {
        "UNRESOLVED"
      }
    }, "")
  })))
  if (length(calls) > 1) calls <- "UNRESOLVED"
  if (grepl("other", calls)) calls <- "NEITHER_ALLELE"
  strsplit(paste(calls, ""), " ")[[1]]
}

run_of_alignments <- function(genome, alignments, n_inner, ...) {
  folder <- new_folder()
  path <- function(name) file.path(folder, name)
  writeLines(paste0("chr1\t", nchar(genome)), path("chrom.sizes"))
  entries <- lapply(names(alignments), function(name) {
    write_axt(rows_as_axt("chr1", alignments[[name]]), path(paste0(name, ".axt")))
    list(name = name, alignment = path(paste0(name, ".axt")))
  })
  inner <- seq_len(n_inner)
  run_quietly(list(
    focal_species = "focal", chromosome_lengths = path("chrom.sizes"),
    outgroups = list(inner = entries[inner], outer = entries[-inner]), work_dir = path("work"),
    output_dir = path("calls"), num_cpus = 2, ...
  ))
}

# Indels between conserved bases, many in repeats, of which the reference has either allele. Gaps
# stand anywhere in a repeat, and there are many substitutions.
simulated_indels <- function(n, species) {
  pieces <- lapply(seq_len(n), function(i) {
    unit <- random_bases(sample(1:3, 1))
    copies <- sample(1:5, 2)
    list(
      left = random_bases(12), ancestral = strrep(unit, copies[1]),
      derived = strrep(unit, copies[2]), reference = sample(c("ancestral", "derived"), 1),
      right = random_bases(12)
    )
  })
  placed <- function(longer, shorter) {
    at <- sample(0:nchar(shorter), 1)
    paste0(
      substr(shorter, 1, at), strrep("-", nchar(longer) - nchar(shorter)),
      substring(shorter, at + 1)
    )
  }
  mutated <- function(bases) {
    letters <- strsplit(bases, "")[[1]]
    change <- runif(length(letters)) < 0.05 & letters != "-"
    letters[change] <- sample(c("A", "C", "G", "T"), sum(change), replace = TRUE)
    paste(letters, collapse = "")
  }
  rows <- lapply(stats::setNames(nm = species), function(name) {
    columns <- vapply(pieces, function(piece) {
      focal <- piece[[piece$reference]]
      outgroup <- piece$ancestral
      middle <- if (nchar(focal) > nchar(outgroup)) {
        c(focal, placed(focal, outgroup))
      } else {
        c(placed(outgroup, focal), outgroup)
      }
      # A deletion of its own, at the end of the piece
      right <- if (runif(1) < 0.2) paste0(substr(piece$right, 1, 9), "---") else piece$right
      c(
        paste0(piece$left, middle[1], piece$right),
        mutated(paste0(piece$left, middle[2], right))
      )
    }, c("", ""))
    list(list(
      start = 2, focal = paste0(paste(columns[1, ], collapse = ""), "A"),
      outgroup = paste0(paste(columns[2, ], collapse = ""), "A")
    ))
  })
  focal <- vapply(pieces, function(piece) piece[[piece$reference]], "")
  left <- vapply(pieces, `[[`, "", "left")
  right <- vapply(pieces, `[[`, "", "right")
  whole <- paste0(left, focal, right)
  other <- vapply(pieces, function(piece) {
    piece[[setdiff(c("ancestral", "derived"), piece$reference)]]
  }, "")
  # Written where the first difference can be, after the base that both have before it.
  shared <- pmin(nchar(focal), nchar(other))
  list(
    genome = paste0("C", paste(whole, collapse = ""), "AT"), rows = rows,
    position = 1 + cumsum(c(0, utils::head(nchar(whole), -1))) + 12,
    ref = paste0(substring(left, 12), focal), alt = paste0(substring(left, 12), other),
    ancestral = paste0(substring(left, 12), vapply(pieces, `[[`, "", "ancestral"))
  )
}
