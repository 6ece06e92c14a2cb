# Genotypes of VCF Zarr: those of the VCF that bio2zarr has converted, and of a plain writer.

# A VCF with split sites, indels, alleles that are none, missing and haploid calls.
vcf_of_all_kinds <- function(n, m) {
  bases <- c("A", "C", "G", "T")
  records <- vapply(seq_len(m), function(j) {
    alleles <- sample(bases)
    alts <- switch(sample(c("snp", "several", "indel", "star", "none", "symbol"), 1,
                          prob = c(8, 4, 1, 2, 1, 1)),
                   snp = alleles[2], several = alleles[seq(2, sample(3:4, 1))],
                   indel = c(paste0(alleles[1], "AT"), alleles[2]),
                   star = sample(c("*", alleles[2])), none = character(), symbol = "<DEL>")
    numbers <- c(".", 0, seq_along(alts))
    chances <- c(0.3, rep(2, length(numbers) - 1))
    pick <- function() sample(numbers, n, replace = TRUE, prob = chances)
    calls <- paste0(pick(), sample(c("/", "|"), n, TRUE), pick())
    alone <- stats::runif(n) < (if (j > m / 2) 0.5 else 0.02)
    calls[alone] <- pick()[alone]
    paste(c(if (j > m / 2) "X" else "1", 10 * j, sample(c(".", paste0("v", j)), 1), alleles[1],
            if (length(alts)) paste(alts, collapse = ",") else ".", ".", ".", ".", "GT", calls),
          collapse = "\t")
  }, "")
  more <- c("##ALT=<ID=DEL,Description=\"Deletion\">", declared_formats["GT"])
  write_vcf(records, header = vcf_header(records, c("1", "X"), more))
}

# Chunks without any allele but REF are no files, which is told.
open_store <- function(...) {
  withCallingHandlers(open_genotypes(...), ancify_chunks_warning = function(condition) {
    invokeRestart("muffleWarning")
  })
}

expect_genotypes_of_vcf <- function(path, vcf) {
  for (multiallelic in c("split", "drop")) {
    g <- open_store(path, multiallelic = multiallelic)
    expected <- open_genotypes(vcf, multiallelic = multiallelic)
    expect_identical(g$variants, expected$variants)
    expect_identical(g$samples, expected$samples)
    expect_identical(as.matrix(g), as.matrix(expected))
    expect_identical(g$left_out, expected$left_out[names(g$left_out)])
    expect_identical(g$split, expected$split)
  }
}

# ---- bio2zarr -----------------------------------------------------------------------------------

test_that("stores of bio2zarr have the genotypes of their VCF, in chunks of any size", {
  bio2zarr_python()
  set.seed(1)
  vcf <- vcf_of_all_kinds(23, 150)
  for (chunks in list(c(1000, 10000), c(64, 8), c(7, 3), c(50, 23))) {
    expect_genotypes_of_vcf(vcf_zarr_of_vcf(vcf, chunks), vcf)
  }
})

test_that("all compressors have the same genotypes", {
  bio2zarr_python()
  set.seed(2)
  vcf <- vcf_of_all_kinds(9, 60)
  path <- vcf_zarr_of_vcf(vcf, c(25, 4))
  blosc <- outer(c("zstd", "lz4", "lz4hc", "blosclz", "zlib"), 0:2, sprintf,
                 fmt = "{\"id\": \"blosc\", \"cname\": \"%s\", \"clevel\": 5, \"shuffle\": %d}")
  for (codec in c(blosc, "{\"id\": \"zstd\"}", "{\"id\": \"zlib\"}", "null")) {
    compress_again(path, codec)
    expect_genotypes_of_vcf(path, vcf)
  }
  for (codec in c("lz4", "gzip", "bz2")) {
    compress_again(path, sprintf("{\"id\": \"%s\"}", codec))
    expect_ancify_error(open_store(path), "format", "the compressor", codec, "blosc, zstd, zlib",
                        "vcf2zarr")
  }
})

test_that("Zarr of format 3 is refused", {
  path <- tempfile(fileext = ".vcz")
  dir.create(path)
  writeLines("{\"zarr_format\": 3, \"node_type\": \"group\"}", file.path(path, "zarr.json"))
  expect_ancify_error(open_genotypes(path), "format", "format 3", "--zarr-format 2")
})

test_that("products have the same bytes from a VCF, a BED and a store", {
  bio2zarr_python()
  set.seed(4)
  calls <- random_calls(40, 120)
  table <- plain_variants(120)
  code <- c("0/0", "0/1", "1/1")
  vcf <- tempfile(fileext = ".vcf")
  text <- ifelse(is.na(calls), "./.", code[calls + 1])
  writeLines(c(
    "##fileformat=VCFv4.2", sprintf("##contig=<ID=%d>", 1:22),
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Call\">",
    paste(c("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT",
            paste0("i", 1:40)), collapse = "\t"),
    paste(table[[1]], table[[4]], table[[2]], table[[6]], table[[5]], ".", ".", ".", "GT",
          apply(text, 2, paste, collapse = "\t"), sep = "\t")
  ), vcf)
  v <- matrix(stats::rnorm(80), 40)
  products <- lapply(c(vcf, bed_fileset(calls), vcf_zarr_of_vcf(vcf, c(32, 7))), function(path) {
    kernel_times(kernel_grm(open_store(path)), v)
  })
  expect_identical(products[[2]], products[[1]])
  expect_identical(products[[3]], products[[1]])
})

# ---- A plain writer -----------------------------------------------------------------------------

test_that("a store is read in all of its forms", {
  set.seed(5)
  for (n in c(1, 4, 7, 30)) {
    calls <- random_calls(n, 40, missing = 0.1)
    arrays <- vcf_zarr_arrays(alleles_of_calls(calls), rep(list(c("A", "C")), 40), c(9, 5))
    expected <- open_genotypes(vcf_zarr(arrays))
    expect_identical(bare(as.matrix(expected)), calls)
    expect_identical(expected$variants, data.frame(
      chromosome = rep(c("1", "X"), each = 20), id = paste0("v", 1:40), position = 10L * 1:40,
      counted = "C", other = "A"
    ))
    with_form <- function(...) lapply(arrays, utils::modifyList, list(...), keep.null = TRUE)
    forms <- list(
      vcf_zarr(arrays, consolidated = TRUE), vcf_zarr(with_form(separator = "/")),
      vcf_zarr(with_form(compressor = NULL)), vcf_zarr(arrays[names(arrays) != "variant_id_mask"])
    )
    for (dtype in c("<i2", "<i4")) {
      other <- arrays
      other$call_genotype$dtype <- other$variant_contig$dtype <- dtype
      forms <- c(forms, vcf_zarr(other))
    }
    for (path in forms) {
      g <- open_genotypes(path)
      expect_identical(g$variants, expected$variants)
      expect_identical(g$samples, expected$samples)
      expect_identical(as.matrix(g), as.matrix(expected))
    }
  }
})

test_that("masked and empty IDs are dots, also of packed masks", {
  arrays <- vcf_zarr_arrays(alleles_of_calls(matrix(0:2, 3, 11)), rep(list(c("A", "C")), 11))
  arrays$variant_id_mask$values <- rep(c(0L, 1L, 1L, 0L), length.out = 11)
  arrays$variant_id$values[4] <- ""
  for (packbits in c(FALSE, TRUE)) {
    arrays$variant_id_mask$packbits <- packbits
    ids <- open_genotypes(vcf_zarr(arrays))$variants$id
    expect_identical(ids, ifelse(1:11 %% 4 %in% 2:3 | 1:11 == 4, ".", paste0("v", 1:11)))
  }
})

test_that("haploid, missing and split calls are those of a VCF", {
  alleles <- list(c("A", "C"), c("A", "C", "G"), c("A", "*", "T"), c("AT", "A"), "A", c("c", "g"))
  pairs <- rbind(c(0, 1), c(1, 1), c(-1, 1), c(1, -1), c(0, -2), c(1, -2), c(-1, -2), c(-2, -2))
  calls <- aperm(array(pairs, c(dim(pairs), 6)), c(3, 1, 2))
  calls[2, 1, ] <- c(1, 2)
  calls[2, 2, ] <- c(2, 2)
  calls[3, 1, ] <- c(2, 2)
  storage.mode(calls) <- "integer"
  calls[5, , ][calls[5, , ] > 0] <- 0L
  g <- open_genotypes(vcf_zarr(vcf_zarr_arrays(calls, alleles)))
  expect_identical(g$variants$counted, c("C", "C", "G", "T", "g"))
  usual <- c(1L, 2L, NA, NA, 0L, 2L, NA, NA)
  expect_identical(bare(as.matrix(g)), cbind(
    usual, c(1L, 0L, NA, NA, 0L, 2L, NA, NA), c(1L, 2L, NA, NA, 0L, 0L, NA, NA),
    c(2L, NA, NA, NA, 0L, NA, NA, NA), usual, deparse.level = 0
  ))
  expect_identical(g$left_out, c(multiallelic = 0, not_snp = 2))
  expect_identical(g$split, 1)
  # Copies after the second, which bio2zarr adds for other sites
  wide <- array(-2L, c(6, 8, 4))
  wide[, , 1:2] <- calls
  expect_identical(as.matrix(open_genotypes(vcf_zarr(vcf_zarr_arrays(wide, alleles)))),
                   as.matrix(g))
  wide[1, 2, 3] <- 0L
  expect_ancify_error(as.matrix(open_genotypes(vcf_zarr(vcf_zarr_arrays(wide, alleles)))),
                      "format", "sample 2 of variant 1 has more than two alleles")
  calls[6, 3, 2] <- 2L
  expect_ancify_error(as.matrix(open_genotypes(vcf_zarr(vcf_zarr_arrays(calls, alleles)))),
                      "format", "sample 3 of variant 6", "none of its 2 alleles", "1.1.0")
  expect_ancify_error(open_genotypes(vcf_zarr(vcf_zarr_arrays(
    calls[4:5, , , drop = FALSE], alleles[4:5]
  ))), "format", "no SNP", "2 records that are no SNP")
})

test_that("chunks that are no files have the fill value, which is told", {
  calls <- random_calls(5, 8, missing = 0)
  arrays <- vcf_zarr_arrays(alleles_of_calls(calls), rep(list(c("A", "C")), 8))
  arrays$call_genotype$left_out <- c("1.1.0", "2.0.0")
  # Chunks have three variants and two samples.
  at <- rbind(as.matrix(expand.grid(3:4, 4:6)), as.matrix(expand.grid(1:2, 7:8)))
  for (fill in list(NULL, 0, 1, -1)) {
    arrays$call_genotype["fill"] <- list(fill)
    path <- vcf_zarr(arrays)
    expect_warning(g <- open_genotypes(path),
                   sprintf("2 of 9 chunks.*are all %d", as.integer(fill %||% 0)),
                   class = "ancify_chunks_warning")
    value <- if (identical(fill, -1)) NA else as.integer(2 * (fill %||% 0))
    expect_identical(bare(as.matrix(g)), replace(calls, at, value))
  }
  for (name in c("sample_id", "variant_allele", "variant_position")) {
    damaged <- arrays
    damaged[[name]]$left_out <- if (name == "variant_allele") "1.0" else "1"
    expect_ancify_error(open_store(vcf_zarr(damaged)), "file", name, "no such file", "not whole")
  }
})

# ---- Damage -------------------------------------------------------------------------------------

test_that("damaged chunks are refused with what they hold", {
  calls <- random_calls(5, 8)
  arrays <- vcf_zarr_arrays(alleles_of_calls(calls), rep(list(c("A", "C")), 8))
  damage <- function(name, chunk, change) {
    path <- vcf_zarr(arrays)
    file <- file.path(path, name, chunk)
    writeBin(change(file_bytes(file)), file)
    as.matrix(open_genotypes(path))
  }
  cut <- function(bytes) utils::head(bytes, -3)
  flip <- function(bytes) replace(bytes, length(bytes), xor(bytes[length(bytes)], as.raw(1)))
  for (change in list(cut, flip, function(bytes) raw(), function(bytes) c(bytes, as.raw(0)))) {
    expect_ancify_error(damage("call_genotype", "1.2.0", change), "format", "1.2.0",
                        "variants 4 to 6 and samples 5 to 5", "is damaged")
    expect_ancify_error(damage("variant_position", "2", change), "format", "variants 7 to 8")
    expect_ancify_error(damage("variant_allele", "0.0", change), "format", "variants 1 to 3")
    expect_ancify_error(damage("sample_id", "1", change), "format", "samples 3 to 4")
  }
  bytes <- function(...) function(old) memCompress(as.raw(c(...)), "gzip")
  texts <- list(
    list(bytes(2, 0, 0, 0, 9, 0, 0, 0, 65), "end too soon"), list(bytes(2, 0, 0), "end too soon"),
    list(bytes(3, 0, 0, 0, numeric(12)), "3 texts, not 2"),
    list(bytes(2, 0, 0, 0, 1, 0, 0, 0, 255, numeric(4)), "not UTF-8"),
    list(bytes(2, 0, 0, 0, 1, 0, 0, 0, 65, numeric(5)), "more bytes follow")
  )
  for (one in texts) {
    expect_ancify_error(damage("sample_id", "0", one[[1]]), "format", one[[2]])
  }
})

test_that("other metadata are refused with the value and the way out", {
  calls <- random_calls(5, 8)
  arrays <- vcf_zarr_arrays(alleles_of_calls(calls), rep(list(c("A", "C")), 8))
  refuses <- function(name, change, ...) {
    changed <- arrays
    changed[[name]]$changes <- change
    for (consolidated in c(FALSE, TRUE)) {
      expect_ancify_error(
        as.matrix(open_genotypes(vcf_zarr(changed, consolidated = consolidated))), "format", name,
        ...
      )
    }
  }
  way_out <- "vcf2zarr convert"
  refuses("call_genotype", list(order = "F"), ".zarray", "order is 'F'", way_out)
  refuses("call_genotype", list(dtype = "<f4"), "dtype is '<f4'", way_out)
  refuses("call_genotype", list(dtype = ">i2"), "dtype is '>i2'", way_out)
  refuses("call_genotype", list(dtype = "|u1"), "no negative numbers")
  refuses("call_genotype", list(zarr_format = 3), "zarr_format is 3", way_out)
  refuses("call_genotype", list(compressor = list(id = "lzma")), "'lzma'", way_out)
  refuses("call_genotype", list(filters = list(list(id = "delta"))), "'delta'", way_out)
  refuses("call_genotype", list(dimension_separator = "-"), "dimension_separator is '-'")
  refuses("call_genotype", list(fill_value = 0.5), "fill_value is 0.5")
  refuses("call_genotype", list(fill_value = "NaN"), "fill_value is 'NaN'")
  refuses("call_genotype", list(chunks = list(3, 2, 1)), "in several chunks", way_out)
  refuses("call_genotype", list(chunks = list(3, 2)), "differ in length")
  refuses("call_genotype", list(chunks = list(0, 2, 2)), "chunks has 0")
  refuses("call_genotype", list(shape = list(-1, 5, 2)), "shape has -1")
  refuses("call_genotype", list(shape = list(8, 5, 2, 1)), "4 dimensions")
  refuses("call_genotype", list(shape = list(8, 5), chunks = list(3, 2)), "2 dimensions, not 3")
  refuses("call_genotype", list(chunks = list(1e6, 1e6, 2)), "limit", "--variants-chunk-size")
  refuses("variant_position", list(shape = list(9)), "9 variants, but call_genotype has 8")
  refuses("variant_position", list(dtype = "|O", filters = list(list(id = "vlen-utf8"))),
          "no whole numbers")
  refuses("sample_id", list(shape = list(6)), "6 samples, but call_genotype has 5")
  refuses("sample_id", list(filters = NULL), "vlen-utf8")
  refuses("sample_id", list(dtype = "<U5"), "dtype is '<U5'", way_out)
  refuses("sample_id", list(dtype = "|i1", filters = NULL), "no texts")
  refuses("sample_id", list(fill_value = "x"), "fill_value is 'x'")
})

test_that("values that make no sense are refused with their place", {
  calls <- random_calls(5, 8)
  arrays <- vcf_zarr_arrays(alleles_of_calls(calls), rep(list(c("A", "C")), 8))
  refuses <- function(name, values, ...) {
    arrays[[name]]$values <- values
    expect_ancify_error(open_genotypes(vcf_zarr(arrays)), "format", name, ...)
  }
  refuses("sample_id", c("a", "b", "a", "c", "d"), "sample 3 has the ID 'a' of sample 1")
  refuses("sample_id", c("a", "b", "", "c", "d"), "sample 3 has an empty ID")
  refuses("variant_position", replace(1:8, 5, -2L), "variant 5 has the position -2")
  refuses("variant_contig", replace(rep(0L, 8), 4, 2L), "variant 4 has contig 2", "has 2")
  refuses("variant_contig", replace(rep(0L, 8), 4, -1L), "variant 4 has contig -1")
})

test_that("what is no store, or not whole, is refused", {
  expect_ancify_error(open_genotypes("none.vcz"), "file", "none.vcz", "no such folder")
  file <- tempfile(fileext = ".vcz")
  writeLines("x", file)
  expect_ancify_error(open_genotypes(file), "file", "unpack it")
  folder <- tempfile(fileext = ".zarr")
  dir.create(folder)
  expect_ancify_error(open_genotypes(folder), "format", ".zgroup")
  writeLines("{}", file.path(folder, "zarr.json"))
  expect_ancify_error(open_genotypes(folder), "format", "format 3", "--zarr-format 2")
  arrays <- vcf_zarr_arrays(alleles_of_calls(matrix(0:2, 3)), list(c("A", "C")))
  for (name in setdiff(names(arrays), c("variant_id", "variant_id_mask"))) {
    expect_ancify_error(open_genotypes(vcf_zarr(arrays[names(arrays) != name])), "format",
                        paste("no array", name))
  }
  path <- vcf_zarr(arrays)
  expect_ancify_error(open_genotypes(path, variants = data.frame()), "input", "for a matrix")
  for (text in c("", "[", "{}", "1", "{\"metadata\": 1}")) {
    writeLines(text, file.path(path, ".zmetadata"))
    expect_ancify_error(open_genotypes(path), "format")
  }
  unlink(file.path(path, ".zmetadata"))
  for (text in c("", "[1]", "{}", "{\"zarr_format\": 2}", "\"x\"")) {
    writeLines(text, file.path(path, "call_genotype", ".zarray"))
    expect_ancify_error(open_genotypes(path), "format", "call_genotype")
  }
})

test_that("a store that changes is refused", {
  calls <- random_calls(5, 8)
  path <- vcf_zarr_of_calls(calls)
  g <- open_genotypes(path)
  file <- file.path(path, "call_genotype", "0.0.0")
  bytes <- file_bytes(file)
  writeBin(bytes, file)
  expect_ancify_error(as.matrix(g), "file", "open it again")
  g <- open_genotypes(path)
  unlink(file)
  expect_ancify_error(as.matrix(g), "file", "open it again")
})

# ---- As a BED -----------------------------------------------------------------------------------

test_that("choices, counts, copies and sets are those of a BED of the same calls", {
  set.seed(6)
  for (n in c(1, 4, 7, 33)) {
    calls <- random_calls(n, 30, missing = 0.2)
    bed <- open_genotypes(bed_fileset(calls))
    g <- open_genotypes(vcf_zarr_of_calls(calls))
    expect_identical(g$variants, bed$variants)
    expect_identical(as.matrix(g), as.matrix(bed))
    expect_identical(as.data.frame(summary(g)), as.data.frame(summary(bed)))
    rows <- rev(seq_len(n))
    columns <- c(30, 2:5, 21)
    expect_identical(as.matrix(g[rows, columns]), as.matrix(bed[rows, columns]))
    expect_identical(file_bytes(write_bed(g[rows, columns], tempfile())),
                     file_bytes(write_bed(bed[rows, columns], tempfile())))
  }
  table <- plain_variants(30)
  first <- table[[1]] <= 11
  set <- open_genotypes(c(bed_fileset(calls[, first], variants = table[first, ]),
                          vcf_zarr_of_calls(calls[, !first], table[!first, ])))
  expect_identical(as.matrix(set), as.matrix(bed))
  expect_identical(filter_variants(g, maf = 0.1)$variants,
                   filter_variants(bed, maf = 0.1)$variants)
})

test_that("fits, scans and predictions have the bytes of a BED's, also saved", {
  set.seed(7)
  calls <- random_calls(60, 80)
  ids <- paste0("i", 1:60)
  bed <- open_genotypes(bed_fileset(calls))
  path <- vcf_zarr_of_calls(calls)
  g <- open_genotypes(path)
  data <- data.frame(id = ids, y = stats::rnorm(60))
  sets <- list(a = 1:20, b = 21:80)
  likelihood_again <- expect_fits_of_bed(g, bed, data, sets)
  likelihood <- likelihood_again()
  # A copy has the same content.
  moved <- paste0(path, ".moved")
  file.rename(path, moved)
  dir.create(path)
  file.copy(list.files(moved, all.files = TRUE, no.. = TRUE, full.names = TRUE), path,
            recursive = TRUE)
  expect_identical(likelihood_again(), likelihood)
  file <- file.path(path, "call_genotype", "0.0.0")
  file.copy(file.path(path, "call_genotype", "1.0.0"), file, overwrite = TRUE)
  expect_ancify_error(likelihood_again(), "file", "has changed since the fit")
})

test_that("commands take a store", {
  set.seed(8)
  calls <- random_calls(40, 10)
  data <- data.frame(id = paste0("i", 1:40), y = round(stats::rnorm(40), 3))
  path <- vcf_zarr_of_calls(calls)
  pheno <- tempfile()
  writeLines(c("FID IID y", paste(0, data$id, data$y)), pheno)
  out <- tempfile()
  result <- run_here("scan", "--genotypes", path, "--pheno", pheno, "--out", out)
  expect_identical(result$status, 0L)
  scan <- scan_variants(y ~ 1, data, open_genotypes(path), progress = FALSE)
  written <- utils::read.delim(paste0(out, ".scan.tsv"))
  expect_equal(written$beta, scan$beta, tolerance = 1e-5)
})

# A VCF of 13 samples, some haploid, with DS, GP, both, or neither, by record.
vcf_of_dosages <- function(m) {
  n <- 13
  format <- rep_len(c("GT:DS", "GT:DS:GP", "GT:GP", "GT"), m)
  alts <- rep_len(c("G", "G,T", "T", "G", "*,G"), m)
  fields <- vapply(seq_len(m), function(j) {
    alleles <- 1 + length(strsplit(alts[j], ",")[[1]])
    haploid <- stats::runif(n) < 0.2
    allele <- function() sample(0:(alleles - 1), n, replace = TRUE)
    call <- ifelse(haploid, allele(), paste0(allele(), "/", allele()))
    call[stats::runif(n) < 0.1] <- "."
    one <- !grepl("/", call)
    numbers <- function(count, most) {
      paste(round(stats::runif(count, 0, most / count), sample(3:8, 1)), collapse = ",")
    }
    ds <- vapply(one, function(is) numbers(alleles - 1, if (is) 1 else 2), "")
    gp <- vapply(one, function(is) numbers(if (is) alleles else alleles * (alleles + 1) / 2, 1), "")
    ds[stats::runif(n) < 0.1] <- "."
    gp[stats::runif(n) < 0.1] <- "."
    parts <- list(GT = call, DS = ds, GP = gp)[strsplit(format[j], ":")[[1]]]
    do.call(paste, c(unname(parts), sep = ":"))
  }, character(n))
  vcf_of_fields(fields, format, alts = alts)
}

test_that("dosages of a store are those of its VCF, with the same message", {
  set.seed(31)
  vcf <- vcf_of_dosages(30)
  for (chunks in list(c(1000, 10000), c(7, 4))) {
    store <- vcf_zarr_of_vcf(vcf, chunks)
    for (dosages in list(TRUE, "DS", "GP")) {
      said <- vapply(c(store, vcf), function(path) {
        message <- testthat::capture_messages(open_store(path, dosages = dosages))
        sub(".*: dosages", "dosages", message)
      }, "", USE.NAMES = FALSE)
      expect_identical(said[1], said[2])
      g <- suppressMessages(open_store(store, dosages = dosages))
      expected <- suppressMessages(open_genotypes(vcf, dosages = dosages))
      expect_identical(as.matrix(g), as.matrix(expected))
      expect_identical(g$variants, expected$variants)
    }
  }
  file <- tempfile()
  saveRDS(g, file)
  expect_identical(as.matrix(readRDS(file)), as.matrix(expected))
  expect_warning(open_store(store), "has dosages \\(DS\\)", class = "ancify_dosage_warning")
})

test_that("dosages of a store that make no sense are refused with their place", {
  arrays <- vcf_zarr_arrays(alleles_of_calls(matrix(c(0, 1, 2, 1), 2)), rep(list(c("A", "G")), 2))
  bits <- function(x) {
    array(readBin(writeBin(as.vector(x), raw(), 4), "integer", length(x)), c(2, 2, 1))
  }
  store <- function(x, ...) {
    vcf_zarr(c(arrays, list(call_DS = list(values = bits(x), chunks = c(3, 2, 1), dtype = "<f4",
                                           ...))))
  }
  g <- suppressMessages(open_store(store(matrix(c(0.25, 1, NaN, 1.5), 2)), dosages = TRUE))
  expect_identical(bare(as.matrix(g)), matrix(c(0.25, 1, 1, 1.5), 2))
  refused <- function(store, ...) {
    expect_ancify_error(open_store(store, dosages = TRUE), "format", "call_DS", ...)
  }
  refused(store(matrix(c(0.25, 1, 3, 1.5), 2)), "sample 2 of variant 1 has a dosage beyond")
  refused(store(matrix(1, 2, 2), changes = list(shape = list(3, 2, 1))), "other variants")
  refused(store(matrix(1, 2, 2), changes = list(dtype = "<f8")), "dtype is '<f8'", "vcf2zarr")
  refused(store(matrix(1, 2, 2), changes = list(fill_value = "x")), "fill_value is 'x'")
  cut <- store(matrix(1, 2, 2))
  file <- file.path(cut, "call_DS", "0.0.0")
  writeBin(utils::head(file_bytes(file), -3), file)
  refused(cut, "damaged")
  expect_ancify_error(identity_of(new_folder()), "format", "no folder of VCF Zarr")
})
