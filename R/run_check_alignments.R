# Checks of the alignments and the focal genome for ancify_check().

check_alignment_texts <- function(config, work, brief) {
  outgroups <- config$outgroups
  seen <- with_watch("Looking at the alignments", function(watch) {
    # Bad blocks become findings, not errors.
    reading <- config_reading(config, work, focal_fasta = config$focal_fasta %||% "")
    reading$on_bad_block <- "skip"
    look_at_alignments_impl(config_alignments(config), reading, brief, watch)
  }, work$progress, inputs = expected_inputs(config))
  all_lengths <- lengths_of_genome(config)
  known <- known_names(config)
  each <- lapply(seq_along(seen$outgroups), function(i) {
    one <- c(seen$outgroups[[i]], as.list(outgroups[i, ]), on_bad_block = config$on_bad_block)
    c(
      check_blocks(one), check_chromosome_names(one, all_lengths, known),
      check_coordinates(one, config$lengths, all_lengths, known)
    )
  })
  c(
    all_findings(each), check_all_chromosomes(seen, config, known), check_equal_files(config),
    if (is.null(config$focal_fasta)) {
      check_focal_rows(seen, outgroups)
    } else {
      check_against_genome(seen, config)
    },
    check_divergence(seen, outgroups)
  )
}

mend_or_skip <- "Correct the file, or set `on_bad_block: skip` to leave such blocks out"

check_blocks <- function(one) {
  found <- function(status, text, line = NA_real_) {
    finding("text", one$name, status, text, one$alignment, line)
  }
  extent <- if (one$whole) "all" else "the first part"
  if (nzchar(one$problem)) {
    found("error", one$problem, one$problem_line)
  } else if (one$bad > 0) {
    skipped <- one$on_bad_block == "skip"
    found(
      if (skipped) "note" else "error",
      sprintf(
        "%s, line %.0f: %s%s. %s", quoted(one$alignment), one$bad_line, one$bad_problem,
        if (one$bad > 1) sprintf(" (the first of %s bad blocks)", format_count(one$bad)) else "",
        if (skipped) {
          "Such blocks are left out"
        } else {
          no_axt <- one$bad_line == 1 && startsWith(one$bad_problem, "not the header")
          paste0(if (no_axt) "Alignments are AXT, MAF, TAF, chain or PAF files. ", mend_or_skip,
                 ".")
        }
      ),
      one$bad_line
    )
  } else if (length(one$chromosomes) == 0 && one$whole) {
    found("error", sprintf(
      "%s: %s", quoted(one$alignment),
      if (one$secondary > 0) {
        sprintf("all of its alignments (%s) are secondary; give the primary ones",
                format_count(one$secondary))
      } else {
        "this file has no alignment block"
      }
    ))
  } else {
    found("ok", sprintf(
      "%s read: %s on %s", extent, count_of(sum(one$blocks), "block"),
      count_of(length(one$chromosomes), "chromosome")
    ))
  }
}

# ---- Names and lengths -------------------------------------------------------------------

check_chromosome_names <- function(one, all_lengths, known) {
  names <- one$chromosomes
  if (length(names) == 0) {
    return(NULL)
  }
  found <- function(status, ...) finding("names", one$name, status, sprintf(...), one$alignment)
  unknown <- names[is.na(known[names])]
  if (length(unknown) == 0) {
    found(
      "ok", "all are in the table of lengths%s",
      if (all(names %in% names(all_lengths))) "" else ", are aliases, or differ by a leading 'chr'"
    )
  } else if (length(unknown) < length(names)) {
    found(
      "note", "blocks on %s are passed over: the table of lengths lacks these names",
      enumerate(quoted(unknown))
    )
  } else {
    other <- other_names(names, names(all_lengths))
    # The unread part may have known names, unless these are certainly of another kind.
    found(
      if (one$whole || other$certain) "error" else "note",
      "%s has %s. The table of lengths has none of these names (it has %s). %s",
      quoted(one$alignment), enumerate(quoted(names)), enumerate(quoted(names(all_lengths))),
      other$advice
    )
  }
}

# The genome's chromosomes, named by each of their possible names in files.
known_names <- function(config) {
  of_table <- names(lengths_of_genome(config))
  others <- spellings(of_table)
  known <- c(
    stats::setNames(of_table, of_table), aliases_of_genome(config),
    stats::setNames(rep(of_table, ncol(others)), c(others))
  )
  known[!duplicated(names(known))]
}

# Advice if the table has none of the names, and whether the names are certainly of another kind.
other_names <- function(names, of_table) {
  if (any(is_accession(names))) {
    list(
      certain = any(is_accession(names, "chromosome")) && !any(is_accession(of_table)),
      advice = paste(
        "These are accessions of an assembly (RefSeq or GenBank). Give `chromosome_aliases`, such",
        "as UCSC's chromAlias.txt, or use the same names in the table of lengths."
      )
    )
  } else {
    list(certain = FALSE, advice = "Is this the alignment of another genome?")
  }
}

# `of`: accessions of "any" sequence, or only of a "chromosome".
is_accession <- function(names, of = c("any", "chromosome")) {
  pattern <- switch(match.arg(of),
    any = "^((AC|NC|NG|NT|NW|NZ)_[0-9]{6,}|[A-Z]{1,2}[0-9]{5,8}|[A-Z]{4,6}[0-9]{8,})([.][0-9]+)?$",
    chromosome = "^((AC|NC)_[0-9]{6,}|CM[0-9]{6})([.][0-9]+)?$"
  )
  grepl(pattern, names)
}

# Finds chromosomes that no alignment covers, if all files were read to their ends.
check_all_chromosomes <- function(seen, config, known) {
  looks <- seen$outgroups
  if (!all(vapply(looks, `[[`, NA, "whole"))) {
    return(NULL)
  }
  names <- unlist(lapply(looks, `[[`, "chromosomes"))
  without <- setdiff(names(config$lengths), known[names])
  if (length(names) && length(without)) {
    finding("names", "all outgroups", "warning", sprintf(
      "no alignment has a block on %s: all of its calls will be N. Leave it out of `chromosomes`.",
      enumerate(quoted(without))
    ))
  }
}

# Copies of one alignment would confirm each other; different species of one MAF would not.
check_equal_files <- function(config) {
  outgroups <- config$outgroups
  outgroups <- outgroups[is.na(outgroups$maf_name) & !duplicated(outgroups$alignment), ]
  content <- vapply(outgroups$alignment, function(path) {
    identity <- input_identity(config, path) %||% identity_if_readable(path)
    if (is.null(identity)) path else paste(identity$size, identity$sample_checksum)
  }, "")
  equal <- outgroups[content %in% content[duplicated(content)], ]
  if (nrow(equal)) {
    finding("names", "all outgroups", "warning", sprintf(
      "the alignments of %s seem to be copies of one file, and would confirm each other: %s.",
      enumerate(quoted(equal$name)), enumerate(quoted(equal$alignment))
    ))
  }
}

check_coordinates <- function(one, lengths, all_lengths, known) {
  in_table <- unname(known[one$chromosomes])
  known <- !is.na(in_table) & one$ends > 0
  if (!any(known)) {
    return(NULL)
  }
  names <- in_table[known]
  over <- one$ends[known] - all_lengths[names]
  found <- function(status, ...) finding("lengths", one$name, status, sprintf(...), one$alignment)
  if (all(over <= 0)) {
    return(found("ok", "no coordinate is beyond the end of a chromosome"))
  }
  worst <- names[which.max(over)]
  processed <- any(names[over > 0] %in% names(lengths))
  found(
    if (processed && one$on_bad_block == "error") "error" else "warning",
    paste(
      "%s has a block up to %s on %s, which has %s bases in the table of lengths.",
      "Give the table of the genome that was aligned."
    ),
    quoted(one$alignment), format_count(max(one$ends[known][over == max(over)])), quoted(worst),
    format_count(all_lengths[[worst]])
  )
}

check_fasta_index <- function(config) {
  index <- paste0(config$focal_fasta %||% "", ".fai")
  if (index == ".fai" || !file.exists(index)) {
    return(NULL)
  }
  found <- function(status, ...) finding("lengths", "focal_fasta", status, sprintf(...), index)
  lengths <- tryCatch(read_chromosome_lengths(index), ancify_error = conditionMessage)
  if (is.character(lengths)) {
    return(found("warning", "its index cannot be read: %s", lengths))
  }
  names(lengths) <- known_names(config)[names(lengths)]
  names <- names(config$lengths)
  differ <- names[!lengths[names] %in% config$lengths[names] | lengths[names] != config$lengths]
  if (length(differ) == 0) {
    return(found("ok", "its chromosomes are those of the table of lengths"))
  }
  one <- differ[1]
  found(
    "error",
    "%s has %s, the table of lengths has %s bases. Give the focal genome that was aligned.",
    quoted(index),
    if (is.na(lengths[one])) paste("no", quoted(one)) else
      sprintf("%s bases for %s", format_count(lengths[[one]]), quoted(one)),
    format_count(config$lengths[[one]])
  )
}

# ---- Focal letters -------------------------------------------------------------------------

# A larger share of differences indicates displaced positions, not substitutions.
most_disagreement <- 0.01

fewest_compared <- 200

check_against_genome <- function(seen, config) {
  fasta <- quoted(config$focal_fasta)
  per_outgroup <- lapply(seq_along(seen$outgroups), function(i) {
    one <- seen$outgroups[[i]]
    alignment <- config$outgroups$alignment[i]
    found <- function(status, ...) {
      finding("focal", config$outgroups$name[i], status, sprintf(...), alignment)
    }
    if (one$compared == 0) {
      return(found("ok", "no focal letter could be compared"))
    }
    if (one$wrong == 0) {
      return(found("ok", "%s letters are those of the focal genome", format_count(one$compared)))
    }
    share <- one$wrong / one$compared
    is_error <- config$on_bad_block == "error" || share > most_disagreement
    found(
      if (is_error) "error" else "warning",
      "%s of %s focal letters (%s) in %s differ from %s (the first at %s). %s.",
      format_count(one$wrong), format_count(one$compared), format_percent(share),
      quoted(alignment), fasta, one$first_wrong,
      if (share > most_disagreement) other_genome else
        mend_or_skip
    )
  })
  c(
    if (nzchar(seen$fasta_problem)) {
      finding("focal", "focal_fasta", "error", paste0(seen$fasta_problem, "."), config$focal_fasta)
    },
    all_findings(per_outgroup)
  )
}

other_genome <-
  "This alignment is of another build of the genome, or has wrong coordinates or a wrong strand"

check_focal_rows <- function(seen, outgroups) {
  pairs <- seen$focal[seen$focal$sites >= fewest_compared, ]
  bad <- pairs$differ / pairs$sites > most_disagreement
  culprits <- odd_ones_out(pairs, bad, nrow(outgroups))
  blamed <- bad & !pairs$first %in% culprits & !pairs$second %in% culprits
  found <- function(i, status, ...) {
    finding(
      "focal", enumerate(outgroups$name[i]), status, sprintf(...), outgroups$alignment[i[1]]
    )
  }
  described <- function(pair, i) {
    sprintf(
      "%s of %s focal letters differ from %s (the first at %s)",
      format_percent(pair$differ / pair$sites), format_count(pair$sites),
      quoted(outgroups$alignment[i]), pair$where
    )
  }
  of_culprit <- function(i) {
    pair <- pairs[bad & (pairs$first == i | pairs$second == i), ][1, ]
    found(
      i, "error", "In %s %s. The other alignments agree. %s.", quoted(outgroups$alignment[i]),
      described(pair, setdiff(c(pair$first, pair$second), i)), other_genome
    )
  }
  of_pair <- function(k) {
    pair <- pairs[k, ]
    found(
      c(pair$first, pair$second), "error", "In %s %s. One of the two is wrong: %s.",
      quoted(outgroups$alignment[pair$first]), described(pair, pair$second),
      sub("^This alignment", "it", other_genome)
    )
  }
  named <- c(culprits, pairs$first[blamed], pairs$second[blamed])
  fine <- setdiff(seq_len(nrow(outgroups)), named)
  of_fine <- function(i) {
    own <- pairs[!bad & (pairs$first == i | pairs$second == i), ]
    if (nrow(own) == 0) {
      return(found(i, "ok", "no other alignment has enough common positions to compare"))
    }
    found(i, "ok", "%s letters agree with those of other alignments",
          format_count(sum(own$sites - own$differ)))
  }
  all_findings(c(
    lapply(culprits, of_culprit), lapply(which(blamed), of_pair), lapply(fine, of_fine)
  ))
}

# Alignments that disagree with most others, provided that some of the others agree.
odd_ones_out <- function(pairs, bad, n) {
  of_each <- function(which) tabulate(c(pairs$first[which], pairs$second[which]), n)
  compared <- of_each(rep(TRUE, nrow(pairs)))
  disagree <- of_each(bad)
  odd <- which(disagree >= 2 & 2 * disagree > compared)
  if (any(!bad & !pairs$first %in% odd & !pairs$second %in% odd)) odd else integer()
}

# ---- Divergence ----------------------------------------------------------------------------

check_divergence <- function(seen, outgroups) {
  pairs <- seen$divergence
  pairs <- pairs[pairs$excess > 4 & pairs$inner_differ > 1.05 * pairs$outer_differ, ]
  name <- outgroups$name
  sites <- vapply(seen$outgroups, `[[`, 0, "sites")
  differ <- vapply(seen$outgroups, `[[`, 0, "differ")
  seen_any <- sites > 0
  # Many species have thousands of pairs, so the texts of all are made at once.
  c(
    findings("divergence", name[pairs$inner], "warning", sprintf(
      paste(
        "this inner outgroup differs from the focal species at %s of bases, the outer outgroup %s",
        "at %s (of %s common positions). Were they exchanged?"
      ),
      format_percent(pairs$inner_differ / pairs$sites), quoted(name[pairs$outer]),
      format_percent(pairs$outer_differ / pairs$sites), format_count(pairs$sites)
    )),
    findings("divergence", name[seen_any], "ok", sprintf(
      "%s of %s bases differ from the focal ones",
      format_percent(differ[seen_any] / sites[seen_any]), format_count(sites[seen_any])
    ))
  )
}
