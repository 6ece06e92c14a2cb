# Bioconductor's classes as arguments and results. Its packages are only suggested, so each is
# loaded only when it is used.

# Lengths of a `Seqinfo`, or of an object that has one, such as a TwoBitFile, BSgenome or GRanges.
lengths_of_seqinfo <- function(x, name) {
  need_bioconductor("GenomeInfoDb", "Lengths of an S4 object")
  lengths <- tryCatch(GenomeInfoDb::seqlengths(x), error = function(condition) NULL)
  refuse_if(
    length(lengths) == 0 || anyNA(lengths),
    "`%s` is a %s without %s: give a path or a named vector.", name, class(x)[1],
    if (length(lengths)) {
      paste("the length of", quoted(names(lengths)[is.na(lengths)][1]))
    } else {
      "lengths (seqlengths())"
    }
  )
  lengths
}

# A `Seqinfo` of chromosomes. Lengths beyond R's integers are NA, and so is an unknown `genome`.
seqinfo_of <- function(chromosomes, lengths, genome = NULL) {
  GenomeInfoDb::Seqinfo(
    as.character(chromosomes), suppressWarnings(as.integer(lengths)), genome = genome %||% NA
  )
}

seqinfo_of_run <- function(x) {
  seqinfo_of(x$chromosome, x$length, attr(x, "config")$genome)
}

# Adds the S4 method of `seqinfo()`, and so of `seqlengths()`, `seqnames()` and `genome()`. Its
# table has an environment of its own, because the namespace is locked when GenomeInfoDb is loaded.
# So has the class: in the namespace, R would search all S4 methods whenever it loads the package.
add_seqinfo_method <- function(...) {
  where <- new.env()
  methods::setOldClass(c("ancify_run", "data.frame"), where = where)
  methods::setMethod(GenomeInfoDb::seqinfo, "ancify_run", seqinfo_of_run, where = where)
}

.onLoad <- function(libname, pkgname) {
  if (isNamespaceLoaded("GenomeInfoDb")) add_seqinfo_method()
  setHook(packageEvent("GenomeInfoDb", "onLoad"), add_seqinfo_method)
}

# Converts Bioconductor's data frame to R's own; other objects stay unchanged.
plain_table <- function(x) if (inherits(x, "DataFrame")) as.data.frame(x) else x

# A table of chromosome, start, end and strand, from regions in any form of the help page; NULL for
# other values.
as_region_table <- function(x) {
  if (inherits(x, "RangedSummarizedExperiment")) {
    need_bioconductor("SummarizedExperiment", "Regions of a VCF")
    x <- SummarizedExperiment::rowRanges(x)
  }
  if (inherits(x, "GenomicRanges")) {
    need_bioconductor("GenomicRanges", "Regions as ranges")
    return(data.frame(
      chromosome = as.character(GenomicRanges::seqnames(x)),
      start = as.numeric(BiocGenerics::start(x)), end = as.numeric(BiocGenerics::end(x)),
      strand = as.character(BiocGenerics::strand(x))
    ))
  }
  if (is.character(x) && length(x)) {
    return(regions_of_text(x))
  }
  x <- plain_table(x)
  if (is.data.frame(x)) regions_of_table(x)
}

regions_of_table <- function(x) {
  names(x)[names(x) == "seqnames"] <- "chromosome"
  if (!"strand" %in% names(x)) x$strand <- rep("*", nrow(x))
  columns <- c("chromosome", "start", "end", "strand")
  good <- all(columns %in% names(x)) && is.numeric(x$start) && is.numeric(x$end) &&
    !anyNA(x[columns]) && all(x$strand %in% c("+", "-", "*"))
  if (good) {
    x[c("chromosome", "strand")] <- lapply(x[c("chromosome", "strand")], as.character)
    x[columns]
  }
}

# Parses "chr1:1-20", optionally with commas in numbers and with a strand, as in "chr1:1-20:-".
# Names of chromosomes may contain colons.
regions_of_text <- function(x) {
  number <- "([0-9][0-9,]*)"
  parts <- regmatches(x, regexec(sprintf("^(.+):%s-%s(:([-+*]))?$", number, number), x))
  if (!all(lengths(parts))) {
    return(NULL)
  }
  field <- function(i) vapply(parts, `[`, "", i)
  number_in <- function(i) as.numeric(gsub(",", "", field(i), fixed = TRUE))
  data.frame(
    chromosome = field(2), start = number_in(3), end = number_in(4),
    strand = ifelse(nzchar(field(6)), field(6), "*")
  )
}

is_dna <- function(x) inherits(x, "DNAStringSet")

# A DNAStringSet unchanged, or paths of existing files.
dna_or_paths <- function(x) {
  if (is_dna(x)) {
    need_bioconductor("Biostrings", "DNAStringSets")
    return(x)
  }
  refuse_if(!is.character(x) || length(x) == 0 || anyNA(x),
            "`x` must be paths of files or a DNAStringSet, not %s.", show_value(x))
  paths <- vapply(x, check_path, "", "x", USE.NAMES = FALSE)
  for (path in paths) check_is_file(path)
  paths
}

# Checks texts of a `thing`, such as DNA, whose `letters` may be in any case. Paths consist of
# letters too, but must not be taken for sequences. `reader`: a function that reads files of such
# sequences.
check_sequence_texts <- function(x, name, thing, letters, reader) {
  wrong <- regexpr(sprintf("[^%s]", letters), x, ignore.case = TRUE)
  is_file <- is_file(as.character(ifelse(nchar(x, "bytes") > most_path_bytes, "", x)))
  # Recognise paths by their endings, because all letters of proteins.faa may occur in a protein.
  endings <- "[.](fa|fas|fasta|faa|fna|ffn|fq|fastq|txt|gb)([.](gz|bgz|zst))?$"
  has_ending <- wrong < 0 & grepl(endings, x)
  is_path <- is_file | has_ending | (wrong > 0 & grepl("[/\\\\]", x))
  # A text of A, C, G, T and N is a sequence, even if a file has this name.
  is_path <- is_path & !(wrong < 0 & grepl("^[ACGTN]*$", x, ignore.case = TRUE))
  refuse_if(any(is_path), "`%s` must be sequences, but %s is a path: read the file with %s.", name,
            show_value(x[is_path][[1]]), reader)
  if (any(wrong > 0)) {
    at <- which(wrong > 0)[1]
    refuse_input("`%s` must be sequences of %s, but %s has the letter %s at position %d.", name,
                 thing, show_value(x[[at]]), quoted(substr(x[[at]], wrong[at], wrong[at])),
                 wrong[at])
  }
  x
}

# Sequences as texts, from a DNAStringSet or from texts of IUPAC letters and gaps.
dna_texts <- function(x, name) {
  if (is_dna(x)) {
    return(as.character(x))
  }
  must_be(is.character(x) && !anyNA(x) && all(validEnc(x)), x, name, "texts or a DNAStringSet")
  check_sequence_texts(x, name, "DNA", "ACGTMRWSYKVHDBN.+-", "Biostrings::readDNAStringSet()")
}

# One warning for all files without sequences, if other files had some.
warn_empty_files <- function(paths) {
  if (length(paths)) {
    warn_ancify(
      sprintf("%s no sequence and nothing to count: %s.",
              count_with_verb(length(paths), "file"), enumerate(quoted(paths))),
      "sequence"
    )
  }
}

# Names of sequences; unnamed sequences get their index.
numbered_ids <- function(names, n) {
  names <- names %||% character(n)
  none <- names %in% c("", NA)
  names[none] <- which(none)
  names
}
