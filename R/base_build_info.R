#' Tell how this copy of the package was built
#'
#' @return A list of class `ancify_build_info`, with a print method: `version` of
#'   the package; `compiler`; `inflater`, the library or libraries that read gzip
#'   (ISA-L, libdeflate or zlib); `htslib`, its version, or `NA` for a build that reads
#'   no VCF and BCF; `cuda`, the version of the CUDA toolkit or `NA`
#'   for a build without GPU code; `cuda_archs`, the GPU architectures it has
#'   code for (such as `"75 80 90"` for compute capabilities 7.5, 8.0 and 9.0;
#'   later ones are compiled on first use), or `NA`: GPUs older than the first cannot
#'   be used (CUDA 13 starts at 7.5, so a V100 needs a build with CUDA 12); `simd`, the best vector
#'   instructions of this processor that the CPU code uses (`options(ancify.simd =
#'   "scalar")`, `"avx2"` or `"avx512"` chooses others); `hardware_threads`, how many
#'   threads this machine runs at once. No GPU is touched.
#' @details What is built is chosen at installation by the environment variables
#'   `ANCIFY_CUDA` (`auto`, `yes`, `no`), `ANCIFY_GZIP` (`auto`, `isal`,
#'   `libdeflate`, `zlib`) and `ANCIFY_HTSLIB` (`auto`, `system`, `rhtslib`, `no`).
#' @seealso [available_gpus()] for the GPUs of this machine
#' @export
#' @examples
#' ancify_build_info()
ancify_build_info <- function() {
  version <- as.character(utils::packageVersion("ancify"))
  structure(
    c(list(version = version), build_info_impl(), hardware_threads = hardware_threads_impl()),
    class = "ancify_build_info"
  )
}

#' @export
print.ancify_build_info <- function(x, ...) {
  cuda <- if (is.na(x$cuda)) {
    "not built"
  } else {
    sprintf("%s, for sm_%s", x$cuda, gsub(" ", ", sm_", x$cuda_archs))
  }
  write_object("ancify_build_info", fields = c(
    version = x$version, compiler = x$compiler, inflater = x$inflater,
    htslib = if (is.na(x$htslib)) "not built" else x$htslib, CUDA = cuda,
    SIMD = x$simd, `threads here` = x$hardware_threads
  ))
  invisible(x)
}

# What reads variants asks for it first. `version` is NA in a build without.
check_htslib <- function(version = build_info_impl()$htslib) {
  if (is.na(version)) {
    abort_ancify(
      paste(
        "VCF and BCF are read by htslib, which this copy of ancify was built without.",
        "Install Debian's or Ubuntu's libhts-dev, Fedora's htslib-devel, or in R",
        "BiocManager::install(\"Rhtslib\"), and then ancify again."
      ),
      "package"
    )
  }
}
