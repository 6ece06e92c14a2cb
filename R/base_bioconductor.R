# Bioconductor's classes: what functions take and give. Its packages are suggested only, so nothing
# here loads one before it is used.

# Lengths of a `Seqinfo`, or of an object that has one, such as a TwoBitFile, BSgenome or GRanges.
lengths_of_seqinfo <- function(x, name) {
  need_bioconductor("GenomeInfoDb", "Lengths of an S4 object")
  lengths <- tryCatch(GenomeInfoDb::seqlengths(x), error = function(condition) NULL)
  if (length(lengths) == 0 || anyNA(lengths)) {
    abort_ancify(
      sprintf(
        "`%s` is a %s without %s: give a path or a named vector.", name, class(x)[1],
        if (length(lengths)) {
          paste("the length of", quoted(names(lengths)[is.na(lengths)][1]))
        } else {
          "lengths (seqlengths())"
        }
      ),
      "input"
    )
  }
  lengths
}

# A `Seqinfo` of chromosomes. A length that exceeds R's integers, and a `genome` that is not known,
# are NA.
seqinfo_of <- function(chromosomes, lengths, genome = NULL) {
  GenomeInfoDb::Seqinfo(
    as.character(chromosomes), suppressWarnings(as.integer(lengths)), genome = genome %||% NA
  )
}

seqinfo_of_run <- function(x) {
  seqinfo_of(x$chromosome, x$length, attr(x, "config")$genome)
}

# The S4 method of `seqinfo()`, and so of `seqlengths()`, `seqnames()` and `genome()`. Its table is
# in an environment of its own, as the package's is locked when GenomeInfoDb is loaded later. So is
# the class: one in the package's would make each R that loads the package look at all S4 methods.
add_seqinfo_method <- function(...) {
  where <- new.env()
  methods::setOldClass(c("ancify_run", "data.frame"), where = where)
  methods::setMethod(GenomeInfoDb::seqinfo, "ancify_run", seqinfo_of_run, where = where)
}

.onLoad <- function(libname, pkgname) {
  if (isNamespaceLoaded("GenomeInfoDb")) add_seqinfo_method()
  setHook(packageEvent("GenomeInfoDb", "onLoad"), add_seqinfo_method)
}

# Bioconductor's data frame as R's own; others as they are.
plain_table <- function(x) if (inherits(x, "DataFrame")) as.data.frame(x) else x

# A table of chromosome, start, end and strand of regions in one of the forms of the help page; NULL
# if `x` has none of them.
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

# "chr1:1-20", also with commas in the numbers, and with a strand, as "chr1:1-20:-". Names of
# chromosomes may contain colons.
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

# A DNAStringSet as it is, or paths of files that are there.
dna_or_paths <- function(x) {
  if (is_dna(x)) {
    need_bioconductor("Biostrings", "DNAStringSets")
    return(x)
  }
  if (!is.character(x) || length(x) == 0 || anyNA(x)) {
    abort_ancify(
      sprintf("`x` must be paths of files or a DNAStringSet, not %s.", show_value(x)), "input"
    )
  }
  paths <- vapply(x, check_path, "", "x", USE.NAMES = FALSE)
  for (path in paths) check_is_file(path)
  paths
}

# Names of sequences; those without one are numbered.
numbered_ids <- function(names, n) {
  names <- names %||% character(n)
  none <- names %in% c("", NA)
  names[none] <- which(none)
  names
}
