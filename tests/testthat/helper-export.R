# What other programs read, in plain R.

# The states of a VCF's records: the call where all alleles are single bases, else N.
oracle_states <- function(records, calls, low_confidence = TRUE) {
  vapply(strsplit(records, "\t"), function(record) {
    alleles <- c(record[4], if (record[5] != ".") strsplit(record[5], ",")[[1]])
    call <- substr(calls[[record[1]]], record[2], record[2])
    if (!low_confidence) call <- gsub("[acgt]", "N", call)
    is_single <- all(toupper(setdiff(alleles, no_alleles)) %in% c("A", "C", "G", "T"))
    if (is_single) gsub("[^ACGT]", "N", toupper(call)) else "N"
  }, "")
}

# Bases in upper case, those without a call from `reference`, and `unknown` without either.
oracle_filled <- function(calls, reference, unknown, low_confidence = TRUE) {
  bases <- strsplit(calls, "")[[1]]
  if (!low_confidence) bases[bases %in% c("a", "c", "g", "t")] <- "N"
  others <- strsplit(reference, "")[[1]]
  is_base <- function(x) toupper(x) %in% c("A", "C", "G", "T")
  paste(toupper(ifelse(is_base(bases), bases, ifelse(is_base(others), others, unknown))),
        collapse = "")
}

confidence_word <- function(call) {
  if (grepl("[ACGT]", call)) {
    "high"
  } else if (grepl("[acgt]", call)) {
    "low"
  } else if (call == "n") {
    "unresolved"
  } else {
    "missing"
  }
}

# A BED line for each stretch of one confidence.
oracle_bed <- function(name, calls) {
  words <- rle(vapply(strsplit(calls, "")[[1]], confidence_word, "", USE.NAMES = FALSE))
  ends <- cumsum(words$lengths)
  paste(name, ends - words$lengths, ends, words$values, sep = "\t")
}

# A Python with tsinfer and vcf2zarr.
tsinfer_python <- function() {
  python <- Sys.getenv("ANCIFY_TSINFER_PYTHON", "python3")
  if (run_program(python, "-c", "import tsinfer, bio2zarr, cyvcf2")$status != 0) {
    lacking("Python's tsinfer and bio2zarr[vcf] (ANCIFY_TSINFER_PYTHON says in which Python)")
  }
  python
}

# The lines of a FASTA file of all chromosomes.
oracle_fasta <- function(calls, width) {
  unlist(Map(function(name, letters) {
    starts <- seq(1, nchar(letters), width)
    c(paste0(">", name), substring(letters, starts, pmin(starts + width - 1, nchar(letters))))
  }, names(calls), calls), use.names = FALSE)
}

# The lines of its index: name, length, offset, letters and bytes of a line.
oracle_fai <- function(calls, width) {
  offset <- 0
  lines <- character()
  for (name in names(calls)) {
    n <- nchar(calls[[name]])
    offset <- offset + nchar(name) + 2
    line <- min(n, width)
    lines <- c(lines, paste(c(name, format(c(n, offset, line, line + 1), scientific = FALSE,
                                           trim = TRUE)), collapse = "\t"))
    offset <- offset + n + ceiling(n / width)
  }
  lines
}
