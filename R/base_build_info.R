#' Show how the package was built
#'
#' `ancify_build_info()` lists the libraries, the GPU code and the vector instructions of this copy
#' of the package. It touches no GPU.
#'
#' @details
#' These environment variables choose libraries and GPU code at installation:
#'
#' | Variable | Values |
#' | :--- | :--- |
#' | `ANCIFY_CUDA` | `auto`, `yes`, `no` |
#' | `ANCIFY_GZIP` | `auto`, `isal`, `libdeflate`, `zlib` |
#' | `ANCIFY_HTSLIB` | `auto`, `system`, `rhtslib`, `no` |
#'
#' An example of `cuda_archs` is `"75 80 90"`, for compute capabilities 7.5, 8.0 and 9.0. Code for
#' later GPUs is compiled on first use. GPUs older than the first architecture cannot be used: CUDA
#' 13 starts at 7.5, so a V100 needs a build with CUDA 12.
#'
#' @return A list of class `ancify_build_info`, with a print method:
#'
#' | Field | Content |
#' | :--- | :--- |
#' | `version` | Version of the package. |
#' | `compiler` | Version of the compiler. |
#' | `inflater` | Library or libraries that read gzip: ISA-L, libdeflate or zlib. |
#' | `zstd` | Version of libzstd; `NA` if the build cannot read tables compressed by Zstandard. |
#' | `blosc` | Version of libblosc; `NA` if the build cannot read VCF Zarr that Blosc compresses. |
#' | `htslib` | Version of htslib; `NA` if the build cannot read VCF and BCF, or write bgzip. |
#' | `cuda` | Version of the CUDA toolkit; `NA` without GPU code. |
#' | `cuda_archs` | GPU architectures with code in this build; `NA` without GPU code. |
#' | `simd` | Vector instructions that the CPU code uses on this processor. |
#' | `hardware_threads` | Number of threads that this machine runs simultaneously. |
#'
#' `options(ancify.simd = )` chooses other vector instructions: `"scalar"`, `"avx2"` or `"avx512"`.
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
  built <- function(version) if (is.na(version)) "not built" else version
  write_object("ancify_build_info", fields = c(
    version = x$version, compiler = x$compiler, inflater = x$inflater,
    Zstandard = built(x$zstd), Blosc = built(x$blosc), htslib = built(x$htslib), CUDA = cuda,
    SIMD = x$simd, `threads here` = x$hardware_threads
  ))
  invisible(x)
}

# Refuses a build without htslib (`version` is NA), before any work that needs it. `use`: what
# htslib does.
check_htslib <- function(version = build_info_impl()$htslib, use = "reads VCF and BCF") {
  if (is.na(version)) {
    abort_ancify(
      paste(
        sprintf("This copy of ancify was built without htslib, which %s.", use),
        "Install libhts-dev (Debian, Ubuntu), htslib-devel (Fedora), or in R",
        "BiocManager::install(\"Rhtslib\"). Then install ancify again."
      ),
      "package"
    )
  }
}
