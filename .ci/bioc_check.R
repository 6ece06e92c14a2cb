# Runs BiocCheck on a source package, without a network: Rscript .ci/bioc_check.R TARBALL FOLDER. FOLDER is for what it
# writes. Fails for an error, and for a warning that CONTRIBUTING.md does not explain.

args <- commandArgs(trailingOnly = TRUE)
folder <- normalizePath(args[2])

# BiocManager wants to know which version of Bioconductor goes with this R. A new package is for the version in development.
version <- as.character(tools:::.BioC_version_associated_with_R_version())
this_r <- as.character(getRversion()[, 1:2])
table_of <- function(name, values) c(paste0(name, ":"), sprintf('  "%s": "%s"', names(values), values))
config <- file.path(folder, "bioconductor.yaml")
writeLines(c(
  'release_version: "1.2"', sprintf('devel_version: "%s"', version),
  table_of("r_ver_for_bioc_ver", stats::setNames(c("1.1", "1.1", this_r), c("1.1", "1.2", version))),
  table_of("mran_ver_for_bioc_ver", c("1.2" = "none")), table_of("rspm_ver_for_bioc_ver", c("1.2" = "none")), "end:"
), config)
Sys.setenv(BIOCONDUCTOR_CONFIG_FILE = paste0("file://", config))

# A repository without packages
repository <- file.path(folder, "no_packages")
contrib <- file.path(
  repository, c("", file.path("packages", version, c("bioc", "data/annotation", "data/experiment", "workflows", "books"))),
  "src", "contrib"
)
for (path in contrib) {
  dir.create(path, recursive = TRUE)
  file.create(file.path(path, "PACKAGES"))
}
options(repos = c(CRAN = paste0("file://", repository)), BioC_mirror = paste0("file://", repository))

setwd(folder)
found <- BiocCheck::BiocCheck(
  args[1], `no-check-bioc-help` = TRUE, `no-check-bioc-views` = TRUE, `no-check-deprecated` = TRUE,
  `no-check-remotes` = TRUE, `no-check-CRAN` = TRUE
)
# The lines after the first of a finding name places.
problems <- grep("^\\* (ERROR|WARNING)", c(unlist(found$error), unlist(found$warning)), value = TRUE)
not_explained <- grep("Remove set.seed usage", problems, value = TRUE, invert = TRUE)
if (length(not_explained)) stop("not explained in CONTRIBUTING.md:\n", paste(not_explained, collapse = "\n"))
