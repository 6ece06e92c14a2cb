# Gene models: the coding parts of transcripts, from files and Bioconductor's objects.

# A data frame with a row for each coding part: `transcript`, `gene` (NA if unknown), `sequence`
# (its name among the coding sequences of the transcript), `rank` (of the transcript's tags),
# `chromosome`, `start`, `end`, `strand`, `phase` (bases before the part's first whole codon; NA if
# unknown), `open_start` (true if bases before it are missing) and `code` (the number of the genetic
# code that the file gives, or NA).
coding_parts <- function(genes, watch) {
  parts <- parts_given(genes, watch)
  check_coding_parts(parts)
  without <- sum(is.na(parts$phase))
  # A GRangesList has no phases.
  if (without > 0 && !inherits(genes, "GRangesList")) {
    warn_ancify(
      sprintf(
        paste(
          "`genes` has %s without a phase: codons are counted from a transcript's first base, if",
          "its length is a multiple of 3. Give 0, 1 or 2 as the phase."
        ),
        count_of(without, "coding part")
      ),
      "annotation"
    )
  }
  parts
}

check_coding_parts <- function(parts) {
  is_position <- function(x) is.finite(x) & x == floor(x) & x >= 1 & x < 2^31
  has_place <- !is.na(parts$chromosome) & is_position(parts$start) & is_position(parts$end) &
    parts$start <= parts$end
  refuse_part(parts, has_place, function(part) {
    sprintf(
      "from %s to %s: positions are whole numbers from 1 below 2^31, the start first",
      format(part$start), format(part$end)
    )
  })
  refuse_part(parts, parts$strand %in% c("+", "-"), function(part) {
    sprintf("on the strand %s: give + or -", quoted(part$strand))
  })
  refuse_part(parts, parts$phase %in% c(NA, 0:2), function(part) {
    sprintf("with the phase %s: give 0, 1 or 2", format(part$phase))
  })
  refuse_part(parts, !is.na(parts$transcript) & nzchar(parts$transcript), function(part) {
    "without a name: gene models need transcripts with names"
  })
}

# `problem`: a function that describes a part's problem.
refuse_part <- function(parts, good, problem) {
  bad <- which(!good)[1]
  if (is.na(bad)) {
    return(invisible())
  }
  part <- parts[bad, ]
  refuse_input("`genes` has a coding part, number %d, of the transcript %s %s.", bad,
               quoted(part$transcript), problem(part))
}

parts_given <- function(genes, watch) {
  if (is.character(genes)) {
    path <- check_file(genes, "genes")
    parts_of_features(read_gff_impl(path, known_tags, watch), quoted(path))
  } else if (inherits(genes, "GRangesList")) {
    parts_of_lists(genes)
  } else if (inherits(genes, "GenomicRanges")) {
    parts_of_features(features_of_ranges(genes), "`genes`")
  } else {
    refuse_input(
      paste(
        "`genes` must be the path of a GFF3 or GTF file, a GRanges of such a file, or a",
        "GRangesList of coding parts by transcript, not %s."
      ),
      show_value(genes)
    )
  }
}

# Ranks of the tags of Ensembl, GENCODE or RefSeq that mark a canonical transcript.
canonical_tags <- c("MANE_Select" = 1, "MANE Select" = 1, "Ensembl_canonical" = 2,
                    "RefSeq Select" = 2)

untagged <- 3

# Ensembl's and GENCODE's tag of a coding sequence whose start is unknown
no_start <- "cds_start_NF"

known_tags <- c(names(canonical_tags), no_start)

# The best rank of each transcript. `tags`: list(owner =, tag =).
ranks_of <- function(transcripts, tags) {
  found <- unname(canonical_tags[tags$tag])
  best_first <- order(found, na.last = NA)
  rank <- found[best_first][match(transcripts, tags$owner[best_first])]
  ifelse(is.na(rank), untagged, rank)
}

# `features`: as read_gff_impl() gives them.
parts_of_features <- function(features, origin) {
  refuse_if(
    length(features$transcript) == 0,
    paste("%s has no coding part: gene models need features of type CDS, with `Parent` (GFF3) or",
          "`transcript_id` (GTF)."), origin
  )
  transcript <- features$transcript
  in_gtf <- !is.na(features$gene)
  above <- features$owners$gene[match(transcript, features$owners$id)]
  tags <- features$tags
  data.frame(
    transcript = sub("^transcript:", "", transcript),
    gene = sub("^gene:", "", ifelse(in_gtf, features$gene, above)),
    # Some GTF files give transcripts of several genes the same name.
    sequence = ifelse(in_gtf, features$gene, sequences_in_transcripts(transcript, features$id)),
    rank = ranks_of(transcript, tags),
    features[c("chromosome", "start", "end", "strand", "phase")],
    code = one_code(transcript, features$code, origin),
    open_start = features$open_start | transcript %in% tags$owner[tags$tag == no_start]
  )
}

# The genetic code of each part's transcript. A file may name it for only some of the parts.
one_code <- function(transcript, code, origin) {
  given <- which(!is.na(code))
  if (length(given) == 0) {
    return(code)
  }
  found <- code[given][match(transcript, transcript[given])]
  refuse <- function(part, problem) {
    refuse_input("%s: `transl_table` of the transcript %s %s. Correct the file.", origin,
                 quoted(transcript[part]), problem)
  }
  differs <- given[code[given] != found[given]]
  if (length(differs)) {
    part <- differs[1]
    refuse(part, sprintf("is %s and %s", found[part], code[part]))
  }
  unknown <- given[!code[given] %in% Biostrings::GENETIC_CODE_TABLE$id]
  if (length(unknown)) refuse(unknown[1], sprintf("is %s, no code of NCBI's", code[unknown[1]]))
  found
}

# A transcript may have several coding sequences, whose parts share an id. If each part has its own
# id, or none, all parts form one sequence.
sequences_in_transcripts <- function(transcript, id) {
  shares <- duplicated(paste(match(transcript, transcript), id)) & !is.na(id)
  ifelse(transcript %in% transcript[shares] & !is.na(id), id, "")
}

# The result of read_gff_impl(), from ranges with columns as in GFF3 or GTF.
features_of_ranges <- function(genes) {
  n <- length(genes)
  columns <- as.list(S4Vectors::mcols(genes))
  column <- function(name) joined_texts(columns[[name]], n)
  type <- column("type")
  id <- column("ID")
  is_gtf <- all(is.na(unlist(as.list(columns$Parent))))
  parents <- if (is_gtf) column("transcript_id") else columns$Parent
  named <- list(of = rep(seq_len(n), lengths(as.list(parents))), by = as_texts(parents))
  refuse_if(!all(which(type == "CDS") %in% named$of[!is.na(named$by)]),
            paste(
              "`genes` has parts without a transcript: gene models need features of type CDS, with",
              "`Parent` (GFF3) or `transcript_id` (GTF)."
            ))
  is_part <- type[named$of] %in% "CDS"
  part <- named$of[is_part]
  places <- lapply(places_of(genes), `[`, part)
  first <- stats::setNames(named$by[!duplicated(named$of)], named$of[!duplicated(named$of)])
  parent <- unname(first[as.character(seq_len(n))])
  open <- ifelse(places$strand == "-", grepl("[.]$", column("end_range")[part]),
                 grepl("^[.]", column("start_range")[part]))
  c(places, list(
    phase = phases_of(column("phase"))[part], transcript = named$by[is_part],
    gene = if (is_gtf) column("gene_id")[part] else rep(NA_character_, length(part)),
    id = if (is_gtf) rep(NA_character_, length(part)) else id[part],
    code = column("transl_table")[part], open_start = open,
    owners = list(id = id, gene = ifelse(is.na(parent) & grepl("gene", type), id, parent)),
    tags = tags_of_ranges(columns$tag, named, ifelse(type %in% "CDS" | is_gtf, NA, id))
  ))
}

as_texts <- function(values) as.character(unlist(as.list(values)))

# A string for each element, or NA; several strings of an element are joined by commas.
joined_texts <- function(values, n) {
  if (is.null(values)) {
    rep(NA_character_, n)
  } else if (is.atomic(values)) {
    as.character(values)
  } else {
    text <- vapply(as.list(values), paste, "", collapse = ",")
    ifelse(nzchar(text), text, NA)
  }
}

# An invalid phase becomes -1, which is refused later.
phases_of <- function(text) {
  ifelse(text %in% c(NA, "."), NA, match(text, c("0", "1", "2"), nomatch = 0L) - 1L)
}

# Tags of features, assigned to their transcripts (`named`) and to the features themselves (`id`).
tags_of_ranges <- function(tags, named, id) {
  feature <- rep(seq_along(tags), lengths(as.list(tags)))
  tag <- as_texts(tags)
  owners <- lapply(known_tags, function(known) {
    tagged <- feature[tag %in% known]
    own <- id[tagged]
    c(own[!is.na(own)], named$by[named$of %in% tagged[is.na(own)]])
  })
  list(owner = unlist(owners), tag = rep(known_tags, lengths(owners)))
}

places_of <- function(ranges) {
  list(
    chromosome = as.character(GenomicRanges::seqnames(ranges)),
    start = BiocGenerics::start(ranges), end = BiocGenerics::end(ranges),
    strand = as.character(BiocGenerics::strand(ranges))
  )
}

parts_of_lists <- function(genes) {
  refuse_if(is.null(names(genes)) || length(genes) == 0,
            paste(
              "`genes` is a GRangesList without names, which are those of transcripts: make it by",
              "`cdsBy(txdb, \"tx\", use.names = TRUE)`."
            ))
  # Two elements with one name are two transcripts.
  data.frame(
    transcript = rep(names(genes), lengths(genes)), gene = NA_character_,
    sequence = as.character(rep(seq_along(genes), lengths(genes))), rank = untagged,
    places_of(unlist(genes, use.names = FALSE)), phase = NA_integer_, code = NA_integer_,
    open_start = FALSE
  )
}
