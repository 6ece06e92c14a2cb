#' Make a small complete example
#'
#' Copies simulated data to a folder: a focal genome of three chromosomes (chr1,
#' 40 kb; chr2, 25 kb; chrX, 10 kb), alignments of three outgroups to it (`near1`
#' and `near2`, inner; `far`, outer), variants of ten diploid samples, and the true
#' sequence of the ancestor of `focal` and `near1`. A configuration is written
#' beside them.
#'
#' The files are `chrom.sizes`, `near1.axt.gz`, `near2.axt.gz`, `far.axt.gz`,
#' `variants.vcf.gz` (1,000 SNPs), `focal.fa.gz`, `ancestor.fa.gz` (in the focal
#' genome's coordinates, `N` where the ancestor has no base) and `config.yaml`. The
#' script that made them is `system.file("script", "make_example.R", package = "ancify")`.
#'
#' @param path Path of the folder to copy to; created if missing. It may contain files of an earlier
#'   example. Default: `ancify-example` in R's temporary folder. Runs write to its folders
#'   `projected` and `ancestral_calls`.
#' @return The [ancify_config()] of the example.
#' @section Errors:
#' `ancify_file_error` with the field `file` if the folder cannot be created or written to,
#' `ancify_input_error` if `path` is not one path.
#' @seealso [ancify_run()]
#' @export
#' @examples
#' ancify_example()
ancify_example <- function(path = file.path(tempdir(), "ancify-example")) {
  path <- check_path(path, "path")
  dir.create(path, showWarnings = FALSE, recursive = TRUE)
  if (!dir.exists(path)) {
    stop_on_file(path, "can't be made; choose a folder you may write to")
  }
  folder <- normalizePath(path)
  config <- tempfile(fileext = ".yaml")
  on.exit(unlink(config))
  yaml::write_yaml(example_config(folder), config)

  data <- system.file("extdata", "example", package = "ancify", mustWork = TRUE)
  files <- list.files(data, full.names = TRUE)
  copy_unless_other(c(files, config), file.path(folder, c(basename(files), "config.yaml")))
  ancify_config(file.path(folder, "config.yaml"))
}

# A file of the same name with other content belongs to the user.
copy_unless_other <- function(from, to) {
  there <- file.exists(to)
  same <- unname(tools::md5sum(from)) == unname(tools::md5sum(to))
  other <- to[there & !same %in% TRUE]
  if (length(other)) {
    stop_on_file(other[1], "is there already and not the example's; choose another folder")
  }
  copied <- suppressWarnings(file.copy(from[!there], to[!there], copy.mode = FALSE))
  if (!all(copied)) {
    stop_on_file(to[!there][!copied][1], "can't be written; choose another folder")
  }
}

example_config <- function(folder) {
  in_folder <- function(name) file.path(folder, name)
  species <- function(name) list(name = name, alignment = in_folder(paste0(name, ".axt.gz")))
  list(
    focal_species = "focal",
    chromosome_lengths = in_folder("chrom.sizes"),
    outgroups = list(
      inner = list(species("near1"), species("near2")),
      outer = list(species("far"))
    ),
    work_dir = folder,
    output_dir = in_folder("ancestral_calls")
  )
}
