# Gene models: the coding parts of transcripts, from files and Bioconductor's objects.

# A data frame with a row for each coding part: `transcript`, `gene` (NA if unknown), `sequence`
# (its name among the coding sequences of the transcript), `rank` (of the transcript's tags),
# `chromosome`, `start`, `end`, `strand` and `phase` (bases before the part's first whole codon).
coding_parts <- function(genes) {
  parts <- parts_given(genes)
  wrong <- which(!(parts$start >= 1 & parts$end >= parts$start))[1]
  if (!is.na(wrong)) {
    part <- parts[wrong, ]
    abort_ancify(
      sprintf(
        "`genes` has a coding part of %s from %s to %s: positions count from 1, the start first.",
        quoted(part$transcript), format(part$start), format(part$end)
      ),
      "input"
    )
  }
  parts
}

parts_given <- function(genes) {
  if (is.character(genes)) {
    path <- check_path(genes, "genes")
    parts_of_features(read_features(path), quoted(path))
  } else if (inherits(genes, "GRangesList")) {
    parts_of_lists(genes)
  } else if (inherits(genes, "GenomicRanges")) {
    parts_of_features(c(as.list(S4Vectors::mcols(genes)), places_of(genes)), "`genes`")
  } else {
    abort_ancify(
      sprintf(
        paste(
          "`genes` must be the path of a GFF3 or GTF file, a GRanges of such a file, or a",
          "GRangesList of coding parts by transcript, not %s."
        ),
        show_value(genes)
      ),
      "input"
    )
  }
}

# Not rtracklayer::import(), which asks the network for the species of some files.
read_features <- function(path) {
  need_bioconductor("rtracklayer", "A file of gene models")
  if (!file.exists(path)) {
    abort_ancify(sprintf("%s: there is no such file.", quoted(path)), "file", file = path)
  }
  read <- tryCatch(
    as.list(rtracklayer::readGFF(
      path, tags = c("ID", "Parent", "transcript_id", "gene_id", "tag"),
      filter = list(type = c("CDS", "mRNA", "transcript"))
    )),
    error = function(condition) {
      abort_ancify(
        sprintf("%s cannot be read as GFF3 or GTF: %s.", quoted(path),
                sub("[.]?\\s*$", "", conditionMessage(condition))),
        "format", file = path
      )
    }
  )
  read$chromosome <- as.character(read$seqid)
  read$rank <- if (is_gtf(read)) {
    ranks <- ranks_in_gtf(path)
    rank <- unname(ranks[as.character(read$transcript_id)])
    ifelse(is.na(rank), untagged, rank)
  }
  read
}

# Features of GTF have no parents.
is_gtf <- function(features) all(is.na(unlist(as.list(features$Parent))))

# How canonical a tag of Ensembl, GENCODE or RefSeq makes a transcript.
canonical_tags <- c("MANE_Select" = 1, "MANE Select" = 1, "Ensembl_canonical" = 2,
                    "RefSeq Select" = 2)

untagged <- 3

# The best rank of each feature. `tags`: a list with the tags of each, or NULL.
ranks_of_tags <- function(tags, n) {
  rank <- rep(untagged, n)
  of <- rep(seq_along(tags), lengths(tags))
  found <- unname(canonical_tags[as.character(unlist(as.list(tags)))])
  # The smallest is assigned last.
  order <- order(found, decreasing = TRUE, na.last = NA)
  rank[of[order]] <- found[order]
  rank
}

# readGFF() keeps one tag of each line of a GTF. So lines with these tags are read here: ranks named
# by transcripts.
ranks_in_gtf <- function(path) {
  connection <- gzfile(path, "rt")
  on.exit(close(connection))
  ranks <- numeric()
  while (length(lines <- readLines(connection, 1e5, warn = FALSE))) {
    for (tag in names(canonical_tags)) {
      tagged <- grep(sprintf("tag \"%s\"", tag), lines, fixed = TRUE, value = TRUE)
      named <- grep("transcript_id \"", tagged, fixed = TRUE, value = TRUE)
      transcript <- unique(sub(".*transcript_id \"([^\"]*)\".*", "\\1", named))
      ranks <- c(ranks, stats::setNames(rep(canonical_tags[[tag]], length(transcript)), transcript))
    }
  }
  ranks <- sort(ranks)
  ranks[!duplicated(names(ranks))]
}

places_of <- function(ranges) {
  list(
    chromosome = as.character(GenomicRanges::seqnames(ranges)),
    start = BiocGenerics::start(ranges), end = BiocGenerics::end(ranges),
    strand = as.character(BiocGenerics::strand(ranges))
  )
}

# `features`: a list of columns.
parts_of_features <- function(features, origin) {
  owners <- owners_of_parts(features, which(as.character(features$type) == "CDS"))
  if (nrow(owners) == 0 || anyNA(owners$transcript)) {
    abort_ancify(
      sprintf(
        paste(
          "%s has %s: gene models need features of type CDS, with `Parent` (GFF3) or",
          "`transcript_id` (GTF)."
        ),
        origin, if (nrow(owners)) "parts without a transcript" else "no coding part"
      ),
      "input"
    )
  }
  places <- as.data.frame(features[c("chromosome", "start", "end", "strand")])[owners$part, ]
  phase <- as.integer(features$phase %||% 0L)
  phase <- rep_len(phase, length(features$start))[owners$part]
  data.frame(owners[-1], places, phase = ifelse(is.na(phase), 0L, phase))
}

# The features `coding` and what they are parts of: in GTF a part names its transcript and gene. In
# GFF3 it names its parents, each of which names the gene as its own parent.
owners_of_parts <- function(features, coding) {
  rank <- features$rank %||% ranks_of_tags(features$tag, length(features$start))
  if (is_gtf(features)) {
    gene <- as.character(features$gene_id %||% NA)[coding]
    # Some files give transcripts of several genes one name.
    return(data.frame(
      part = coding, transcript = as.character(features$transcript_id %||% NA)[coding],
      gene = gene, sequence = ifelse(is.na(gene), "", gene), rank = rank[coding]
    ))
  }
  parents <- as.list(features$Parent)
  transcript <- as.character(unlist(parents[coding]))
  part <- rep(coding, lengths(parents[coding]))
  owner <- match(transcript, features$ID)
  above <- parents[owner]
  gene <- vapply(above, function(x) c(x, NA_character_)[1], "")
  data.frame(
    part = part, transcript = sub("^transcript:", "", transcript),
    gene = sub("^gene:", "", gene),
    sequence = sequences_in_transcripts(transcript, features$ID[part]),
    rank = pmin(rank[owner], rank[part], na.rm = TRUE)
  )
}

# A transcript may have several coding sequences. Parts of one share its id; where each part has
# its own, or none, they are one sequence.
sequences_in_transcripts <- function(transcript, id) {
  if (is.null(id)) {
    return(rep("", length(transcript)))
  }
  shares <- duplicated(data.frame(transcript, id)) & !is.na(id)
  ifelse(transcript %in% transcript[shares] & !is.na(id), id, "")
}

parts_of_lists <- function(genes) {
  if (is.null(names(genes)) || length(genes) == 0) {
    abort_ancify(
      paste(
        "`genes` is a GRangesList without names, which are those of transcripts: make it by",
        "`cdsBy(txdb, \"tx\", use.names = TRUE)`."
      ),
      "input"
    )
  }
  data.frame(
    transcript = rep(names(genes), lengths(genes)), gene = NA_character_, sequence = "",
    rank = untagged, places_of(unlist(genes, use.names = FALSE)), phase = 0L
  )
}
