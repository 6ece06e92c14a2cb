# Genotypes of VCF Zarr stores. Their calls stay in the folder, dosages are kept in memory.

# By its name, or by the files that mark folders of Zarr.
is_vcf_zarr <- function(path) {
  path <- path_of(path)
  is.character(path) && length(path) == 1 &&
    (grepl("[.](vcz|zarr)/?$", path) || dir.exists(path) &&
       any(file.exists(file.path(path, c(".zgroup", ".zmetadata", "zarr.json")))))
}

open_vcf_zarr <- function(source, how) {
  refuse_variants(how$variants)
  path <- normalizePath(check_path(source, "source"), mustWork = FALSE)
  refuse_file_if(!dir.exists(path), path, "%s: there is no such folder of VCF Zarr%s.",
                 quoted(path),
                 if (is_file(path)) ", but a file: unpack it" else "; correct the path")
  identity <- identity_of(path)
  found <- with_watch("Reading", function(watch) {
    read_vcf_zarr_impl(path, how$multiallelic == "split", watch)
  }, inputs = stats::setNames(identity, path))
  check_some_snp(path, found)
  warn_of_missing_chunks(path, found)
  if (found$has_dosages && !wants_dosages(how)) warn_of_unread_dosages(path)
  part <- list(
    path = path, identity = identity,
    files = c(genotypes = path, samples = path, variants = path),
    samples = list2DF(list(family = rep("0", length(found$samples)), id = found$samples)),
    variants = list2DF(found$variants), left_out = found$left_out, split = found$split,
    places = core_list("VcfZarrPlaces", places = found$places, no_alleles = found$no_alleles)
  )
  if (wants_dosages(how)) with_dosages_of_store(part, dosage_fields(how)) else part
}

# Dosages are kept in memory, as those of a VCF.
with_dosages_of_store <- function(part, fields) {
  genotypes <- packed_dosages_of_store(part, fields, nrow(part$samples))
  tell_dosages(genotypes, fields, part$path)
  if (!nzchar(genotypes$dosages)) {
    return(part)
  }
  c(part, list(dosages = TRUE, calls = genotypes$calls,
               memory = list(fields = fields, checksum = genotypes$checksum)))
}

packed_dosages_of_store <- function(part, fields, samples) {
  with_watch("Reading", function(watch) {
    read_vcf_zarr_dosages_impl(part$path, samples, part$places, fields, watch)
  }, inputs = stats::setNames(part$identity, part$path))
}

dosages_of_store_again <- function(part) {
  check_again(packed_dosages_of_store(part, part$memory$fields, part$samples), part)
}

# A chunk of equal alleles need not be a file. In a copy that was cut short, it is one that lacks.
warn_of_missing_chunks <- function(path, found) {
  if (found$missing_chunks > 0) {
    warn_ancify(
      sprintf(
        paste("%s of %s of genotypes are no files of %s: their alleles are all %s. If the store",
              "is a copy, compare it with the original."),
        format_count(found$missing_chunks), count_of(found$chunks, "chunk"), quoted(path),
        format_count(found$fill)
      ),
      "chunks", file = path
    )
  }
}
