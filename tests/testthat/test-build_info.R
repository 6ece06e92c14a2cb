# What a build says of itself.

test_that("the build is told, and prints", {
  info <- ancify_build_info()
  expect_s3_class(info, "ancify_build_info")
  expect_named(
    info, c("version", "compiler", "inflater", "zstd", "blosc", "htslib", "cuda",
            "cuda_archs", "simd", "hardware_threads"),
    ignore.order = TRUE
  )
  expect_identical(info$version, as.character(utils::packageVersion("ancify")))
  expect_match(info$compiler, "[0-9]")
  expect_match(info$inflater, "ISA-L|libdeflate|zlib")
  expect_identical(is.na(info$cuda), is.na(info$cuda_archs))
  if (!is.na(info$cuda)) {
    expect_match(info$cuda, "^[0-9]+[.][0-9]+")
    expect_match(info$cuda_archs, "^[0-9]+( [0-9]+)*$")
  }
  expect_true(info$simd %in% c("scalar", "AVX2", "AVX-512", "NEON"))
  expect_gte(info$hardware_threads, 1)

  lines <- utils::capture.output(print(info))
  expect_identical(lines[1], "<ancify_build_info>")
  expect_length(lines, 10)
  expect_true(all(nchar(lines) <= 80))
  names <- c("version", "compiler", "inflater", "Zstandard", "Blosc", "htslib", "CUDA",
             "SIMD", "threads here")
  for (name in names) {
    expect_match(lines, paste0("^  ", name, " "), all = FALSE)
  }
  expect_identical(any(grepl("^  CUDA +not built", lines)), is.na(info$cuda))
  expect_identical(any(grepl("^  Zstandard +not built", lines)), is.na(info$zstd))
  expect_identical(any(grepl("^  Blosc +not built", lines)), is.na(info$blosc))
  expect_identical(any(grepl("^  htslib +not built", lines)), is.na(info$htslib))
})

test_that("a build with GPU code prints what it is for", {
  info <- ancify_build_info()
  info$cuda <- "13.0"
  info$cuda_archs <- "75 80 90"
  expect_output(print(info), "CUDA +13.0, for sm_75, sm_80, sm_90")
  utils::capture.output(printed <- withVisible(print(info)))
  expect_false(printed$visible)
})
