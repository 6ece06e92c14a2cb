# Whether outgroups that are samples of a VCF polarise as well as alignments with the same bases.
#
#   Rscript benchmarks/accuracy/samples.R PYTHON [MILLIONS OF BASES]      in the repository's root
#
# PYTHON is a Python with msprime. Prints the shares of right calls, among sites where the focal
# sample has two alleles.
library(ancify)
source("benchmarks/accuracy/histories.R")
source("tests/testthat/helper-files.R")
source("tests/testthat/helper-vcf.R")
source("tests/testthat/helper-annotate.R")

arguments <- commandArgs(TRUE)
python <- arguments[1]
length <- 1e6 * if (length(arguments) > 1) as.numeric(arguments[2]) else 5
bases <- c("A", "C", "G", "T")

read_table <- function(path) {
  table <- read.delim(path, colClasses = "character")
  number <- names(table) %in% c("count", "copies", "sites")
  table[number] <- lapply(table[number], as.numeric)
  table
}

# A row for each site, in random order: the outgroups' bases, the first focal base, both alleles,
# copies of the second allele and the ancestor. Sites that do not vary in the focal sample have one.
simulated_sites <- function(history, seed) {
  folder <- simulate_history("benchmarks/accuracy/simulate.py", python, history, seed)
  patterns <- read_table(file.path(folder, "patterns.tsv"))
  varying <- read_table(file.path(folder, "varying.tsv"))
  first <- substr(varying$alleles, 1, 1)
  rest <- stats::setNames(patterns$count, patterns$pattern)
  taken <- tapply(varying$sites, paste0(varying$outgroups, first), sum)
  rest[names(taken)] <- rest[names(taken)] - taken
  width <- nchar(patterns$pattern[1]) - 1
  sites <- data.frame(
    outgroups = c(rep(varying$outgroups, varying$sites), rep(substr(names(rest), 1, width), rest)),
    focal = c(rep(first, varying$sites), rep(substring(names(rest), width + 1), rest)),
    alt = NA, ancestor = NA, copies = 0
  )
  sites$alt[seq_len(sum(varying$sites))] <- rep(substring(varying$alleles, 3), varying$sites)
  sites$ancestor[seq_len(sum(varying$sites))] <- rep(varying$ancestor, varying$sites)
  sites$copies[seq_len(sum(varying$sites))] <- rep(varying$copies, varying$sites)
  sites[sample(nrow(sites)), ]
}

# A VCF of haploid samples, with a record where species or focal haplotypes differ. `outgroups`:
# whether outgroups are samples too.
write_sites <- function(sites, species, haplotypes, outgroups) {
  letters <- do.call(cbind, lapply(seq_along(species), function(i) substr(sites$outgroups, i, i)))
  differs <- which(!is.na(sites$alt) | (outgroups & rowSums(letters != sites$focal) > 0))
  here <- sites[differs, ]
  seen <- cbind(here$alt, if (outgroups) letters[differs, , drop = FALSE])
  alts <- lapply(seq_along(differs), function(i) setdiff(seen[i, ], c(here$focal[i], NA)))
  focal <- vapply(here$copies, function(copies) {
    paste(rep(c("1", "0"), c(copies, haplotypes - copies)), collapse = "\t")
  }, "")
  genotypes <- cbind(focal, if (outgroups) vapply(seq_along(species), function(j) {
    vapply(seq_along(differs), function(i) {
      as.character(match(seen[i, j + 1], alts[[i]], nomatch = 0))
    }, "")
  }, rep("", length(differs))))
  records <- paste(
    vcf_records("chr1", differs, here$focal, vapply(alts, paste, "", collapse = ",")), "GT",
    apply(genotypes, 1, paste, collapse = "\t"), sep = "\t"
  )
  header <- vcf_header(records, sprintf("chr1,length=%d", nrow(sites)))
  names <- c(sprintf("focal%d", seq_len(haplotypes)), if (outgroups) species)
  header[length(header)] <- sub("s1\t.*", paste(names, collapse = "\t"), header[length(header)])
  write_vcf(records, header = header)
}

write_alignments <- function(sites, species) {
  n <- nrow(sites)
  vapply(seq_along(species), function(i) {
    path <- tempfile(fileext = ".axt")
    writeLines(c(
      sprintf("0 chr1 1 %d q 1 %d + 1", n, n), paste(sites$focal, collapse = ""),
      paste(substr(sites$outgroups, i, i), collapse = ""), ""
    ), path)
    path
  }, "")
}

share_right <- function(vcf, from, method, sites) {
  out <- tempfile(fileext = ".vcf")
  polarise(vcf, from, out, method = method, also = "multiallelic", verbose = FALSE)
  records <- records_of(out)
  position <- as.integer(sub("^[^\t]*\t([^\t]*).*", "\\1", records))
  called <- toupper(sub(".*AA=([^;\t]*).*", "\\1", records))
  called[!grepl("AA=", records)] <- NA
  varying <- !is.na(sites$alt[position])
  mean(called[varying] == sites$ancestor[position[varying]], na.rm = TRUE)
}

methods <- c("likelihood", "parsimony", "coalescent")
results <- do.call(rbind, lapply(names(histories())[1:5], function(name) {
  history <- histories()[[name]]
  history$length <- length
  set.seed(1)
  sites <- simulated_sites(history, match(name, names(histories())))
  species <- paste0("o", seq_along(history$splits))
  alone <- write_sites(sites, species, history$haplotypes, FALSE)
  joint <- write_sites(sites, species, history$haplotypes, TRUE)
  alignments <- stats::setNames(write_alignments(sites, species), species)
  samples <- paste0("samples:", paste(species, collapse = ","))
  share <- function(...) vapply(methods, function(method) share_right(..., method, sites), 0)
  data.frame(
    history = name, method = methods, alignments = share(alone, alignments),
    samples = share(joint, samples)
  )
}))
results$difference <- results$samples - results$alignments
print(results, digits = 4, row.names = FALSE)
