# Genotypes of a VCF or BCF. Their SNPs are kept in memory: two bits a call, two bytes a dosage.

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
  fields <- dosage_fields(how)
  found <- packed_records(path, identity, split, fields)
  check_some_snp(path, found)
  if (found$unread_dosages) warn_of_unread_dosages(path)
  genotypes <- found$genotypes
  tell_dosages(genotypes, fields, path)
  list(
    path = path, identity = identity, dosages = nzchar(genotypes$dosages),
    files = c(genotypes = path, samples = path, variants = path),
    samples = list2DF(list(family = rep("0", length(found$samples)), id = found$samples)),
    variants = list2DF(found$variants), left_out = found$left_out, split = found$split,
    calls = genotypes$calls,
    memory = list(split = split, fields = fields, checksum = genotypes$checksum)
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

# The fields of FORMAT to read dosages from: the first one of which a record has numbers
dosage_fields <- function(how) {
  if (is.character(how$dosages)) how$dosages else if (how$dosages) c("DS", "GP") else character()
}

warn_of_unread_dosages <- function(path) {
  warn_ancify(
    sprintf("%s has dosages (DS), but only its calls are read: `dosages = TRUE` reads dosages.",
            quoted(path)),
    "dosage", file = path
  )
}

tell_dosages <- function(found, fields, path) {
  refuse_if(length(fields) == 1 && !nzchar(found$dosages),
            "%s declares no %s in FORMAT: leave `dosages` out.", quoted(path), fields)
  if (nzchar(found$dosages)) {
    inform_ancify(paste0(
      sprintf("%s: dosages are those of %s", quoted(path), found$dosages),
      if (found$of_next > 0) {
        sprintf(", or of %s in %s", setdiff(fields, found$dosages),
                count_of(found$of_next, "record"))
      },
      if (found$rounded > 0) {
        sprintf(", with %s rounded to 1/16384", format_count(found$rounded))
      },
      if (found$called > 0) {
        sprintf(", and calls of %s without it", count_of(found$called, "genotype"))
      }, "."
    ))
  }
}

packed_records <- function(path, identity, split, fields) {
  with_watch("Reading", function(watch) {
    read_records_impl(path, split, fields, new_work(), watch)
  }, inputs = stats::setNames(identity, path))
}

# Reads the calls again. The checksum finds changes that leave the file's size and sampled parts
# equal.
calls_again <- function(part) {
  memory <- part$memory
  check_again(packed_records(part$path, part$identity, memory$split, memory$fields)$genotypes, part)
}

# The calls, if they are those of the first reading.
check_again <- function(found, part) {
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
