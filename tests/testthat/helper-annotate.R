# Annotating VCF, and looking at what comes out.

# AA and AA_reason of records as text, "." where there is none.
info_of <- function(lines, id) {
  info <- vapply(strsplit(lines, "\t"), `[`, "", 8)
  found <- regmatches(info, regexec(sprintf("(^|;)%s=([^;]*)", id), info))
  vapply(found, function(match) if (length(match)) match[3] else ".", "")
}

records_of <- function(path) {
  if (grepl("bcf$", path)) {
    return(bcftools_lines("view", path, "-H"))
  }
  lines <- readLines(path)
  lines[!startsWith(lines, "#")]
}

write_fasta <- function(sequences, path, width = 60) {
  lines <- unlist(lapply(names(sequences), function(name) {
    starts <- seq(1, nchar(sequences[[name]]), width)
    c(paste0(">", name), substring(sequences[[name]], starts, starts + width - 1))
  }))
  writeLines(lines, path)
  path
}

annotate <- function(..., out = tempfile(fileext = ".vcf"), threads = 2) {
  list(counts = annotate_vcf(..., out = out, threads = threads, verbose = FALSE), out = out)
}

tempfile_of <- function(lines) {
  path <- tempfile()
  writeLines(lines, path)
  path
}
