# The same bytes by every way. The sums stand here, so that builds with other libraries for gzip,
# with and without CUDA, have them too: ./check runs this with ISA-L and with zlib.

sums_of <- function(config) {
  files <- list.files(config$output_dir, "\\.(fa|phred)$", recursive = TRUE)
  stats::setNames(unname(tools::md5sum(file.path(config$output_dir, files))), files)
}

expected_sums <- c(
  chr1.fa = "f8f2eb56ba4a4253bbb5ae5134c8f38f",
  chr2.fa = "1c1480d37712a7a9d5ca02f3d287c550",
  chrX.fa = "652d2212ccc259ce928100fb8914c247",
  `posterior/chr1.phred` = "22bb11b1836a6c21e3e51db0a868f816",
  `posterior/chr2.phred` = "a3cb33eb50bbf84b716d6d6130b70fd0",
  `posterior/chrX.phred` = "8003526ee1145c7bf4b2418e2574c8c1"
)

long_test_that("threads, instructions, kept projections and resuming change no byte", {
  levels <- c("scalar", "avx2", "avx512")
  best <- match(ancify_build_info()$simd, c("scalar", "AVX2", "AVX-512"), nomatch = 1)
  ways <- expand.grid(
    threads = c(1, 2, 8), simd = levels[seq_len(best)], keep = c(TRUE, FALSE),
    resumed = c(FALSE, TRUE), stringsAsFactors = FALSE
  )
  for (i in seq_len(nrow(ways))) {
    way <- ways[i, ]
    config <- example_with_posteriors()
    folder <- new_folder()
    config[c("work_dir", "output_dir")] <- file.path(folder, c("work", "calls"))
    config$keep_projected <- way$keep
    run <- function() {
      with_options(list(ancify.simd = way$simd), run_quietly(config, threads = way$threads))
    }
    run()
    if (way$resumed) {
      unlink(file.path(config$output_dir, c("chr2.fa", "posterior/chrX.phred")))
      unlink(file.path(config$work_dir, "projected", "near2"), recursive = TRUE)
      run()
    }
    expect_identical(sums_of(config), expected_sums, info = paste(way, collapse = ", "))
    unlink(folder, recursive = TRUE)
  }
})
