# Genotypes of a VCF or BCF. Their SNPs are kept in memory, at two bits a call.

# By the file's name or its first bytes, which may be compressed.
is_record_file <- function(path) {
  if (is_variant_path(path)) {
    return(TRUE)
  }
  path <- path_of(path)
  if (!is.character(path) || length(path) != 1 || !is_file(path)) {
    return(FALSE)
  }
  start <- text_start_impl(path, 16)
  begins <- function(text) identical(utils::head(start, nchar(text)), charToRaw(text))
  begins("##fileformat=VCF") || begins("BCF\002")
}

open_records <- function(source, how) {
  refuse_variants(how$variants)
  path <- check_file(source, "source")
  path <- normalizePath(path)
  identity <- identity_of(path)
  split <- how$multiallelic == "split"
  found <- packed_records(path, identity, split)
  check_some_snp(path, found)
  list(
    path = path, identity = identity,
    files = c(genotypes = path, samples = path, variants = path),
    samples = list2DF(list(family = rep("0", length(found$samples)), id = found$samples)),
    variants = list2DF(found$variants), left_out = found$left_out, split = found$split,
    calls = found$calls, memory = list(split = split, checksum = found$checksum)
  )
}

check_some_snp <- function(path, found) {
  if (length(found$variants$id) == 0) {
    abort_ancify(
      sprintf(
        "%s has no SNP of two alleles with genotypes: it has %s.", quoted(path),
        c(left_out_text(found$left_out), "no record")[1]
      ),
      "format", file = path
    )
  }
}

packed_records <- function(path, identity, split) {
  with_watch("Reading", function(watch) {
    read_records_impl(path, split, new_work(), watch)
  }, inputs = stats::setNames(identity, path))
}

# Reads the calls again. The checksum finds changes that leave the file's size and sampled parts
# equal.
calls_again <- function(part) {
  found <- packed_records(part$path, part$identity, part$memory$split)
  refuse_file_if(!identical(found$checksum, part$memory$checksum), part$path,
                 "%s has other genotypes than open_genotypes() found there: open it again.",
                 quoted(part$path))
  found$calls
}

# A description of the records left out; empty if there are none.
left_out_text <- function(left_out) {
  what <- c(
    multiallelic = "with several ALT alleles", not_snp = "that are no SNP",
    without_genotypes = "without GT", one_allele = "with one allele"
  )
  some <- names(left_out)[left_out > 0]
  enumerate(sprintf("%s %s", vapply(left_out[some], count_of, "", "record"), what[some]))
}
