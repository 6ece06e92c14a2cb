# A plain implementation of coding changes, and data for them.

# A random genome and transcripts on it: list(sequence = letters by chromosome, transcripts =
# lists of name, chromosome, strand, phase and parts, a matrix of start and end). Some coding
# sequences are cut at either end. But for `faulty` transcripts, they have no inner stop.
simulate_genes <- function(lengths, n, faulty = 0) {
  sequence <- lapply(lengths, function(length) {
    sample(c("A", "C", "G", "T"), length, replace = TRUE)
  })
  transcripts <- lapply(seq_len(n), function(i) {
    chromosome <- sample(names(lengths), 1)
    parts <- sample(1:4, 1)
    ends <- sort(sample(seq_len(lengths[[chromosome]] - 2), 2 * parts)) + 1:2
    parts <- matrix(ends, ncol = 2, byrow = TRUE)
    phase <- sample(c(0, 0, 0, 1, 2), 1)
    size <- sum(parts[, 2] - parts[, 1] + 1)
    extra <- if (stats::runif(1) < 0.3) 0 else (size - phase) %% 3
    last <- nrow(parts)
    parts[last, 2] <- parts[last, 2] + (3 - extra) %% 3
    list(name = paste0("t", i), chromosome = chromosome, strand = sample(c("+", "-"), 1),
         phase = phase, parts = parts)
  })
  fits <- vapply(transcripts, function(x) max(x$parts) <= lengths[[x$chromosome]], NA)
  transcripts <- transcripts[fits]
  if (length(transcripts) > faulty) {
    for (x in utils::head(transcripts, length(transcripts) - faulty)) {
      sequence <- without_stops(sequence, x)
    }
  }
  list(sequence = sequence, transcripts = transcripts)
}

# The genome's positions of a transcript's bases, from its first whole codon on.
coding_positions <- function(transcript) {
  positions <- all_positions(transcript)
  positions[seq_along(positions) > transcript$phase]
}

all_positions <- function(transcript) {
  positions <- unlist(Map(seq, transcript$parts[, 1], transcript$parts[, 2]))
  if (transcript$strand == "-") rev(positions) else positions
}

on_strand <- function(letters, strand) {
  if (strand == "-") chartr("ACGT", "TGCA", letters) else letters
}

# Changes a base of each whole codon that is a stop.
without_stops <- function(sequence, transcript) {
  positions <- coding_positions(transcript)
  for (first in 3 * seq_len(length(positions) %/% 3) - 2) {
    at <- positions[first + 0:2]
    codon <- on_strand(sequence[[transcript$chromosome]][at], transcript$strand)
    if (paste(codon, collapse = "") %in% c("TAA", "TAG", "TGA")) {
      sequence[[transcript$chromosome]][at[1]] <- on_strand("C", transcript$strand)
    }
  }
  sequence
}

write_genes <- function(transcripts, path = tempfile(fileext = ".gff3")) {
  lines <- unlist(lapply(transcripts, function(x) {
    parts <- x$parts
    feature <- function(type, start, end, phase, attributes) {
      paste(x$chromosome, ".", type, start, end, ".", x$strand, phase, attributes, sep = "\t")
    }
    in_order <- if (x$strand == "-") rev(seq_len(nrow(parts))) else seq_len(nrow(parts))
    before <- c(0, cumsum((parts[, 2] - parts[, 1] + 1)[in_order]))[seq_len(nrow(parts))]
    phase <- (x$phase - before) %% 3
    c(
      feature("mRNA", min(parts), max(parts), ".",
              sprintf("ID=transcript:%s;Parent=gene:g%s", x$name, x$name)),
      feature("CDS", parts[in_order, 1], parts[in_order, 2], phase,
              sprintf("Parent=transcript:%s", x$name))
    )
  }))
  writeLines(c("##gff-version 3", lines), path)
  path
}

write_letters <- function(sequence, path = tempfile(fileext = ".fa")) {
  writeLines(unlist(Map(function(name, letters) {
    c(paste0(">", name), paste(letters, collapse = ""))
  }, names(sequence), sequence)), path)
  path
}

translated <- function(codon) {
  residue <- Biostrings::GENETIC_CODE[paste(codon, collapse = "")]
  if (is.na(residue)) "X" else unname(residue)
}

# A transcript's positions and focal bases in its own direction, from its first whole codon on, and
# whether it has an inner stop.
oracle_reading <- function(x, genes) {
  positions <- coding_positions(x)
  focal <- on_strand(genes$sequence[[x$chromosome]][positions], x$strand)
  whole <- vapply(seq_len(length(focal) %/% 3), function(k) translated(focal[3 * k - 2:0]), "")
  inner <- if (length(focal) %% 3 == 0) utils::head(whole, -1) else whole
  list(positions = positions, focal = focal, fault = "*" %in% inner)
}

# The consequence of each site (chromosome, position, ancestral, derived) in each transcript.
oracle_changes <- function(sites, genes, calls, background = "ancestral") {
  readings <- lapply(genes$transcripts, oracle_reading, genes)
  rows <- list()
  chromosomes <- vapply(genes$transcripts, `[[`, "", "chromosome")
  sites <- do.call(Map, c(list(list), sites[c("chromosome", "position", "ancestral", "derived")]))
  for (site in sites) for (k in which(chromosomes == site$chromosome)) {
    x <- genes$transcripts[[k]]
    positions <- readings[[k]]$positions
    offset <- match(site$position, all_positions(x)) - x$phase
    if (is.na(offset)) next
    focal <- readings[[k]]$focal
    fault <- readings[[k]]$fault
    number <- (offset - 1) %/% 3 + 1
    place <- (offset - 1) %% 3 + 1
    at <- 3 * number - 2:0
    is_cut <- number < 1 || max(at) > length(positions)
    if (is_cut) at <- rep(NA_integer_, 3)
    codon <- focal_codon <- focal[at]
    called <- on_strand(calls[[x$chromosome]][positions[at]], x$strand)
    sure <- called %in% c("A", "C", "G", "T")
    if (background == "ancestral") codon[sure] <- called[sure]
    codon[place] <- focal_codon[place] <- on_strand(site$ancestral, x$strand)
    with_derived <- function(codon) replace(codon, place, on_strand(site$derived, x$strand))
    made_stop <- function(change) {
      translated(change(codon)) == "*" && translated(change(focal_codon)) != "*"
    }
    if (made_stop(identity) || made_stop(with_derived)) codon <- focal_codon
    derived <- with_derived(codon)
    residues <- c(translated(codon), translated(derived))
    consequence <- if (fault) {
      "inner stop"
    } else if (is_cut) {
      "partial codon"
    } else if ("X" %in% residues) {
      "unknown codon"
    } else if (number == 1 && x$phase == 0 && paste(codon, collapse = "") == "ATG") {
      "start lost"
    } else if (residues[1] == residues[2]) {
      "synonymous"
    } else if (residues[2] == "*") {
      "stop gained"
    } else if (residues[1] == "*") {
      "stop lost"
    } else {
      "missense"
    }
    rows[[length(rows) + 1]] <- list(
      chromosome = site$chromosome, position = site$position, transcript = x$name,
      codon = if (number < 1) NA else number, place = place,
      ancestral_codon = if (fault || is_cut) NA_character_ else paste(codon, collapse = ""),
      derived_codon = if (fault || is_cut) NA_character_ else paste(derived, collapse = ""),
      consequence = consequence
    )
  }
  as.data.frame(do.call(Map, c(list(c), rows)))
}

# A transcript's protein on the background, with the ancestral residues of `missense` changes, and
# the number of codons that have the focal bases as the ancestral ones make a stop.
oracle_protein <- function(x, genes, calls, background, missense) {
  positions <- coding_positions(x)
  focal <- on_strand(genes$sequence[[x$chromosome]][positions], x$strand)
  called <- on_strand(calls[[x$chromosome]][positions], x$strand)
  sure <- called %in% c("A", "C", "G", "T") & background == "ancestral"
  n <- length(focal) %/% 3
  residues <- function(bases) vapply(seq_len(n), function(k) translated(bases[3 * k - 2:0]), "")
  now <- residues(focal)
  then <- residues(replace(focal, sure, called[sure]))
  made <- then == "*" & now != "*"
  then[made] <- now[made]
  within <- seq_len(match("*", now, n + 1) - 1)
  for (i in if (background == "ancestral") which(missense$transcript == x$name)) {
    then[missense$codon[i]] <- missense$ancestral_residue[i]
  }
  list(sequence = paste(then[within], collapse = ""), focal_codons = sum(made[within]))
}

sorted_changes <- function(x) {
  x <- as.data.frame(x)[c("chromosome", "position", "transcript", "codon", "place",
                          "ancestral_codon", "derived_codon", "consequence")]
  x$consequence <- as.character(x$consequence)
  x[c("position", "codon", "place")] <- lapply(x[c("position", "codon", "place")], as.integer)
  x <- x[order(x$chromosome, x$position, x$transcript), ]
  rownames(x) <- NULL
  x
}

changes_of <- function(x, ...) {
  coding_changes(x$vcf, x$ancestral, x$gff, x$focal, ..., threads = 1, progress = FALSE)
}

# ATG GCA TGG TAA at 2 to 13, with the ancestral codon GCC, and the same on the other strand.
small_files <- function(calls = "CATGGCCTGGTAAC") {
  vcf <- write_vcf(vcf_records("1", c(2, 6, 7, 10, 12), c("A", "C", "A", "G", "A"),
                               c("G", "T", "C", "A", "G")))
  gff <- tempfile(fileext = ".gff3")
  writeLines(c(
    "##gff-version 3", "##species https://example.org/9606",
    "1\t.\tmRNA\t2\t13\t.\t+\t.\tID=t1;Parent=g1",
    "1\t.\tCDS\t2\t13\t.\t+\t0\tID=c1;Parent=t1"
  ), gff)
  list(vcf = vcf, gff = gff, focal = write_letters(list(`1` = "CATGGCATGGTAAC")),
       ancestral = write_letters(list(`1` = calls)))
}

# A genome, genes, calls that differ from it, and SNPs of which most have an ancestral allele.
coding_example <- function(n = 300, faulty = 3) {
  lengths <- c(chr1 = 1500, chr2 = 900)
  genes <- simulate_genes(lengths, 25, faulty)
  calls <- lapply(genes$sequence, function(letters) {
    other <- sample(c("A", "C", "G", "T", "n", "N", "-"), length(letters), replace = TRUE)
    letters <- ifelse(stats::runif(length(letters)) < 0.2, other, letters)
    ifelse(stats::runif(length(letters)) < 0.2, tolower(letters), letters)
  })
  records <- do.call(rbind, lapply(names(lengths), function(name) {
    position <- sort(sample(lengths[[name]], n, replace = TRUE))
    ref <- genes$sequence[[name]][position]
    alt <- vapply(ref, function(base) sample(setdiff(c("A", "C", "G", "T"), base), 1), "")
    data.frame(chromosome = name, position = position, ref = ref, alt = alt)
  }))
  letter <- unlist(Map(function(name, at) calls[[name]][at], records$chromosome, records$position))
  records$ancestral <- toupper(letter)
  records$low <- letter != toupper(letter)
  records$derived <- ifelse(records$ancestral == records$ref, records$alt, records$ref)
  is_site <- records$ancestral == records$ref | records$ancestral == records$alt
  list(
    genes = genes, calls = calls, sites = records[is_site, ],
    vcf = write_vcf(vcf_records(records$chromosome, records$position, records$ref, records$alt)),
    gff = write_genes(genes$transcripts), focal = write_letters(genes$sequence),
    ancestral = write_letters(calls)
  )
}

# The consequences of changes of a gene of one exon that lies at 3: `at`, the bases of `seq` that
# change, to `alt`. `columns`: of the gene models, such as strand.
consequences_of <- function(seq, at, alt, chromosome = "1", note = "", strand = "+", phase = 0,
                            part_note = "", ...) {
  focal <- write_letters(stats::setNames(list(paste0("CC", seq, "CC")), chromosome))
  end <- nchar(seq) + 2
  gff <- tempfile(fileext = ".gff3")
  writeLines(c(
    "##gff-version 3",
    sprintf("%s\t.\tmRNA\t3\t%d\t.\t%s\t.\tID=t;Parent=g%s", chromosome, end, strand, note),
    sprintf("%s\t.\tCDS\t3\t%d\t.\t%s\t%s\tID=c;Parent=t%s", chromosome, end, strand, phase,
            part_note)
  ), gff)
  ref <- substring(seq, at, at)
  vcf <- write_vcf(vcf_records(chromosome, at + 2, ref, alt, paste0("AA=", ref)))
  found <- coding_changes(vcf, "AA", gff, focal, ..., threads = 1, progress = FALSE)
  as.character(found$consequence)
}
