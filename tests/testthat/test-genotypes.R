# Genotypes: what is read, chosen, counted and written, and what is refused.

# ---- Reading ------------------------------------------------------------------------------------

test_that("calls are those that a plain writer has written, at any number of samples", {
  set.seed(1)
  for (n in c(1, 2, 3, 4, 5, 17, 255, 257)) {
    calls <- random_calls(n, 23)
    for (path in c(bed_fileset(calls), pgen_fileset(calls))) {
      for (threads in 1:2) {
        expect_identical(bare(as.matrix(open_genotypes(path), threads = threads)), calls)
      }
    }
  }
})

test_that("the tables beside genotypes are in `samples` and `variants`", {
  path <- bed_fileset(
    matrix(0:2, 3, 2),
    samples = data.frame("f", c("i1", "i2", "007"), c("007", "0", "0"), 0, 1:3 %% 3,
                         c("1.5", "-9", "NA"), c("x", "NA", "1")),
    variants = data.frame(c(1, "X"), c("rs1", "."), 0.5, c(100, -9), c("A", "ACT"), c("G", "T"))
  )
  g <- open_genotypes(path)
  expect_identical(g$path, normalizePath(path))
  expect_identical(g$n_file, c(samples = 3L, variants = 2L))
  expect_identical(g$samples, data.frame(
    family = "f", id = c("i1", "i2", "007"), father = c("007", "0", "0"), mother = "0",
    sex = c(1, 2, 0), pheno1 = c(1.5, NA, NA), pheno2 = c("x", "NA", "1")
  ))
  expect_identical(g$variants, data.frame(
    chromosome = c("1", "X"), id = c("rs1", "."), position = c(100L, -9L), counted = c("A", "ACT"),
    other = c("G", "T")
  ))
  expect_identical(g$sample_index, 1:3)
  expect_identical(g$variant_index, 1:2)
})

test_that("a .psam keeps its names, and a .pvar counts ALT", {
  g <- open_genotypes(pgen_fileset(matrix(0:2, 3, 1)))
  expect_identical(names(g$samples), c("family", "id", "SEX"))
  expect_identical(g$samples$SEX, c(1, 2, 0))
  expect_identical(g$variants[c("counted", "other")], data.frame(counted = "A", other = "C"))
})

test_that("files are found with and without extension, compressed or of the other kind", {
  path <- bed_fileset(matrix(0:2, 3, 2))
  stem <- sub(".bed$", "", path)
  g <- open_genotypes(path)
  expect_identical(open_genotypes(stem)$path, g$path)
  with_folder(dirname(path), {
    expect_identical(open_genotypes(basename(stem))$path, g$path)
  })
  for (ending in c(".fam", ".bim")) {
    writeBin(gzip_member(file_bytes(paste0(stem, ending))), paste0(stem, ending, ".gz"))
    unlink(paste0(stem, ending))
  }
  expect_identical(open_genotypes(path)$samples, g$samples)

  file.copy(path, paste0(stem, ".pgen"))
  expect_ancify_error(open_genotypes(stem), "input", ".bed", ".pgen", "with its extension")
  # PLINK 2 takes a BED for a PGEN, and a .fam beside it.
  expect_identical(as.matrix(open_genotypes(paste0(stem, ".pgen"))), as.matrix(g))
})

test_that("genotypes that do not fit their tables are refused", {
  path <- bed_fileset(random_calls(9, 4))
  stem <- sub(".bed$", "", path)
  bytes <- file_bytes(path)
  refused <- function(class, ...) {
    condition <- expect_ancify_error(open_genotypes(path), class, ...)
    expect_true(startsWith(condition$file, normalizePath(dirname(path))))
  }
  writeBin(utils::head(bytes, -1), path)
  refused("format", "too short: 9 samples and 4 variants make 15 bytes, but it has 14")
  writeBin(c(bytes, as.raw(0)), path)
  refused("format", "too long")
  writeBin(replace(bytes, 3, as.raw(0)), path)
  refused("format", "stored sample by sample", "--make-bed")
  writeBin(replace(bytes, 1, as.raw(0)), path)
  refused("format", "not a BED or PGEN file")
  writeBin(gzip_member(bytes), path)
  refused("format", "gunzip")
  writeBin(bytes, path)

  fam <- readLines(paste0(stem, ".fam"))
  writeLines(fam[-1], paste0(stem, ".fam"))
  refused("format", "too long: 8 samples")
  writeLines(c(fam[1:8], fam[3]), paste0(stem, ".fam"))
  refused("format", ".fam", "line 9", "the IID 'i3' is also in line 3")
  writeLines(sub(" -9", "", fam, fixed = TRUE)[1], paste0(stem, ".fam"))
  refused("format", "too long: 1 samples")
  unlink(paste0(stem, ".fam"))
  refused("file", ".fam", "there is no such file beside the genotypes, nor a .psam")
  expect_ancify_error(open_genotypes(paste0(stem, "x")), "file", "there is no such file")
  expect_ancify_error(open_genotypes(dirname(path)), "file", "this is a folder")
  expect_ancify_error(open_genotypes(), "input", "`source`")
  expect_ancify_error(open_genotypes(1), "input", "`source`")
})

test_that("genotypes that were changed must be opened again", {
  path <- bed_fileset(random_calls(9, 4))
  g <- open_genotypes(path)
  counts <- summary(g)
  writeBin(bed_bytes(matrix(0, 9, 4)), path)
  for (use in c(as.matrix, summary, function(g) write_bed(g, tempfile()))) {
    expect_ancify_error(use(g), "file", "was changed since open_genotypes() opened it")
  }
  unlink(path)
  expect_ancify_error(as.matrix(g), "file", path)
  expect_ancify_error(summary(g), "file", path)
})

# ---- Choosing -----------------------------------------------------------------------------------

test_that("choices by number, logical value and ID give the same calls as from a matrix", {
  set.seed(2)
  calls <- random_calls(30, 40)
  for (path in c(bed_fileset(calls), pgen_fileset(calls))) {
    g <- open_genotypes(path)
    all <- as.matrix(g)
    expect_identical(dimnames(all), list(paste0("i", 1:30), paste0("v", 1:40)))
    i <- sample(30, 11)
    j <- sample(40, 17)
    late <- seq_len(40) > 25
    choices <- list(
      g[i, j], g[paste0("i", i), paste0("v", j)], g[i, ][, j], g[, j][i, ], g[sort(i), j][rank(i), ]
    )
    for (chosen in choices) expect_identical(as.matrix(chosen), all[i, j])
    expect_identical(as.matrix(g[-i, late]), all[-i, late])
    expect_identical(as.matrix(g[i, late][, -(2:3)]), all[i, late][, -(2:3)])
    expect_identical(as.matrix(g[3, 5]), all[3, 5, drop = FALSE])
    expect_identical(as.matrix(g[, ]), all)
    expect_identical(as.matrix(utils::head(g, 3)), utils::head(all, 3))

    chosen <- g[i, j]
    expect_identical(dim(chosen), c(11L, 17L))
    expect_identical(chosen$samples$id, paste0("i", i))
    expect_identical(chosen$variants$position, 10L * j)
    expect_identical(rownames(chosen$samples), as.character(1:11))
    expect_identical(chosen$sample_index, i)
    expect_identical(chosen$variant_index, j)
    expect_identical(chosen$n_file, g$n_file)
  }
})

test_that("choices that name nothing, or something twice, are refused", {
  path <- bed_fileset(
    matrix(0, 3, 4), variants = data.frame(1, c("a", "b", "b", "."), 0, 1:4, "A", "C")
  )
  g <- open_genotypes(path)
  refused <- function(code, ...) expect_ancify_error(code, "input", ...)
  refused(g[1], "g[samples, variants]")
  refused(g[4, ], "Samples are chosen by numbers from 1 to 3")
  for (bad in list(0, 1.5, NA_real_, c(-1, 2), factor("i1"), list(1), NULL)) {
    refused(g[bad, ], "Samples are chosen by numbers from 1 to 3")
    refused(g[, bad], "Variants are chosen by numbers from 1 to 4")
  }
  refused(g[c(TRUE, FALSE), ],
          "To choose samples, 3 values must be TRUE or FALSE, but there are 2.")
  refused(g[c(TRUE, NA, FALSE), ], "one is NA")
  refused(g["i4", ], "There is no sample 'i4'.")
  refused(g[c("i4", "x", "i1"), ], "There is no sample 'i4' (and 1 more).")
  refused(g[NA_character_, ], "There is no sample 'NA'.")
  refused(g[c(1, 2, 1), ], "The sample 'i1' is chosen twice.")
  refused(g[c("i1", "i1"), ], "The sample 'i1' is chosen twice.")
  refused(g[, "b"], "There are several variants 'b': choose by position.")
  refused(g[, c("a", "a")], "The variant 'a' is chosen twice.")
  refused(g[rep(FALSE, 3), ], "No sample is chosen.")
  refused(g[, integer()], "No variant is chosen.")
  refused(g[-(1:3), ], "No sample is chosen.")
  expect_identical(g[, 2:3]$variants$id, c("b", "b"))
})

test_that("printing says what is chosen of which file", {
  g <- open_genotypes(bed_fileset(matrix(0, 3, 4)))
  shown <- capture.output(print(g))
  expect_match(shown[1], "<ancify_genotypes> 3 samples, 4 variants", fixed = TRUE)
  expect_match(shown, basename(g$path), fixed = TRUE, all = FALSE)
  expect_match(capture.output(print(g[1, 1:2]))[1], "1 sample of 3, 2 variants of 4", fixed = TRUE)
})

# ---- Counting -----------------------------------------------------------------------------------

test_that("counts and frequencies are those of the matrix", {
  set.seed(3)
  calls <- random_calls(101, 60, missing = 0.2)
  calls[, 5] <- NA
  calls[, 6] <- 2
  for (path in c(bed_fileset(calls), pgen_fileset(calls))) {
    g <- open_genotypes(path)
    for (chosen in list(g, g[sample(101, 50), sample(60, 31)])) {
      m <- as.matrix(chosen)
      for (threads in 1:2) {
        counts <- summary(chosen[, ], threads = threads)
        expect_identical(counts$hom_counted, unname(as.integer(colSums(m == 2, na.rm = TRUE))))
        expect_identical(counts$het, unname(as.integer(colSums(m == 1, na.rm = TRUE))))
        expect_identical(counts$hom_other, unname(as.integer(colSums(m == 0, na.rm = TRUE))))
        expect_identical(counts$missing, unname(as.integer(colSums(is.na(m)))))
        expect_identical(counts$n, unname(as.integer(colSums(!is.na(m)))))
        expect_equal(is.na(counts$frequency), counts$n == 0)
        frequency <- unname(colMeans(m, na.rm = TRUE)) / 2
        expect_equal(counts$frequency, replace(frequency, is.nan(frequency), NA))
        expect_identical(as.list(counts)[names(chosen$variants)], as.list(chosen$variants))
      }
    }
  }
})

test_that("counts are made once for a choice", {
  g <- open_genotypes(bed_fileset(random_calls(20, 30)))
  counts <- summary(g)
  no_counts <- function(...) stop("counted again")
  with_function("genotype_counts_impl", no_counts, {
    expect_identical(summary(g), counts)
    expect_error(summary(g[-1, ]), "counted again")
  })
  some <- g[-1, ]
  expect_identical(unique(summary(some)$n + summary(some)$missing), 19L)
  expect_identical(summary(g), counts)
})

test_that("a summary is printed as counts, even where there is no call", {
  g <- open_genotypes(bed_fileset(cbind(c(0, 1, NA), c(2, 2, 2), c(NA, NA, NA))))
  shown <- capture.output(print(summary(g)))
  expect_match(shown[1], "<summary.ancify_genotypes> 3 variants", fixed = TRUE)
  expect_match(shown, "44.4 %", fixed = TRUE, all = FALSE)
  expect_match(shown, "0.25 to 1", fixed = TRUE, all = FALSE)
  expect_match(shown, "without variation  2 variants", fixed = TRUE, all = FALSE)
  expect_output(print(summary(g[, 3])), "100 %")
})

# ---- Writing ------------------------------------------------------------------------------------

test_that("written genotypes are the bytes of a plain writer, and open as what was chosen", {
  set.seed(4)
  calls <- random_calls(37, 29)
  samples <- cbind(plain_samples(37), pheno2 = c(NA, stats::rnorm(36)))
  for (path in c(bed_fileset(calls, samples = samples), pgen_fileset(calls))) {
    g <- open_genotypes(path)
    for (chosen in list(g, g[sample(37, 18), sample(29, 20)])) {
      written <- write_bed(chosen, file.path(tempfile(), "new.bed"), threads = 2)
      expect_identical(file_bytes(written), bed_bytes(as.matrix(chosen)))
      expect_length(content_of(dirname(written)), 3)
      again <- open_genotypes(written)
      expect_identical(as.matrix(again), as.matrix(chosen))
      expect_identical(again$variants, chosen$variants)
      expect_identical(again$samples[c("family", "id")], chosen$samples[c("family", "id")])
      if (endsWith(path, ".bed")) expect_identical(again$samples, chosen$samples)
    }
  }
})

test_that("a .fam has the sex and parents of a .psam", {
  g <- open_genotypes(pgen_fileset(matrix(0:2, 3, 1)))
  g$samples <- data.frame(
    family = "f", id = c("a", "b", "c"), SID = "s", PAT = c("0", "0", "a"), MAT = c("0", "0", "b"),
    SEX = c("M", "f", "NA"), CD8 = c(1 / 3, NA, 2), batch = "b1"
  )
  written <- write_bed(g, tempfile())
  expect_identical(readLines(sub(".bed$", ".fam", written)), c(
    "f\ta\t0\t0\t1\t0.3333333333333333", "f\tb\t0\t0\t2\t-9", "f\tc\ta\tb\t0\t2"
  ))
})

test_that("files are not replaced by accident, and those of the genotypes never", {
  path <- bed_fileset(random_calls(9, 4))
  g <- open_genotypes(path)
  bytes <- file_bytes(path)
  for (overwrite in c(FALSE, TRUE)) {
    expect_ancify_error(write_bed(g, path, overwrite), "input", "is a file of `g`")
  }
  # A link to a file of g, under another name
  link <- tempfile()
  file.symlink(g$files[["samples"]], paste0(link, ".fam"))
  expect_ancify_error(write_bed(g, link, overwrite = TRUE), "input", "is a file of `g`")
  expect_identical(file_bytes(path), bytes)

  other <- file.path(new_folder(), "other")
  writeLines("mine", paste0(other, ".bim"))
  expect_ancify_error(write_bed(g, other), "input", ".bim", "overwrite = TRUE")
  expect_identical(content_of(dirname(other)), "other.bim")
  write_bed(g, other, overwrite = TRUE)
  expect_identical(as.matrix(open_genotypes(other)), as.matrix(g))
  expect_ancify_error(write_bed(as.matrix(g), other), "input", "`g` must be genotypes")
  expect_ancify_error(write_bed(g, other, overwrite = NA), "input", "`overwrite`")

  folder <- file.path(new_folder(), "new")
  dir.create(paste0(folder, ".fam"), recursive = TRUE)
  expect_ancify_error(write_bed(g, folder, overwrite = TRUE), "file", "folder has the name")
  expect_identical(content_of(dirname(folder)), "new.fam")
})

test_that("nothing is left where the disk is full", {
  g <- open_genotypes(bed_fileset(random_calls(2000, 1000)))
  with_small_disk(100000, function(folder) {
    expect_ancify_error(write_bed(g, file.path(folder, "x")), "file", "No space left")
    expect_identical(content_of(folder), character())
  })
})

test_that("too large a matrix is refused before it is made", {
  g <- open_genotypes(bed_fileset(matrix(0, 3, 4)))
  with_function("available_memory", function() 47, {
    expect_ancify_error(as.matrix(g), "system", "12 calls takes 48 bytes")
  })
  with_function("available_memory", function() NA_real_, expect_length(as.matrix(g), 12))
})

test_that("files of several writers are never mixed", {
  stem <- file.path(tempfile("writers"), "x")
  # All have the same size, so that only their names and calls tell writers apart.
  write_as <- function(k) {
    calls <- matrix(k, 8, 5, dimnames = list(paste0(k, "_", 1:8), paste0(k, "_", 1:5)))
    write_bed(open_genotypes(calls, data.frame(position = 1:5)), stem, TRUE, threads = 1)
  }
  read_whose <- function() {
    g <- open_genotypes(stem)
    calls <- as.matrix(g, threads = 1)
    unique(c(sub("_.*", "", c(g$samples$id, g$variants$id)), calls))
  }
  expect_never_mixed(write_as, read_whose)
  expect_setequal(list.files(dirname(stem), all.files = TRUE, no.. = TRUE),
                  paste0("x", c(".bed", ".bim", ".fam")))
})

test_that("a set that was written meanwhile is replaced only on request", {
  path <- bed_fileset(random_calls(4, 3))
  g <- open_genotypes(path)
  stem <- file.path(tempfile("taken"), "x")
  dir.create(dirname(stem))
  writeLines("of another", paste0(stem, ".fam"))
  chosen <- core_genotypes(g)
  write <- function(overwrite) {
    with_watch("Writing", function(watch) {
      tables <- list(bim_lines(g$variants), fam_lines(g$samples))
      files <- files_to_write(g, stem, "bed", tables, overwrite, new_work(1))
      write_genotypes_impl(chosen, files, watch)
    })
  }
  expect_ancify_error(write(FALSE), "input", ".fam", "made by another process meanwhile")
  expect_identical(list.files(dirname(stem)), "x.fam")
  write(TRUE)
  expect_identical(bare(as.matrix(open_genotypes(stem))), bare(as.matrix(g)))
})

test_that("a table without end is read no further than its genotypes need", {
  path <- bed_fileset(random_calls(4, 3))
  bim <- sub(".bed$", ".bim", path)
  row <- charToRaw("1 v 0 1 A C\n")
  con <- gzfile(paste0(bim, ".gz"), "wb")
  for (i in 1:30) writeBin(rep(row, 1e5), con)
  close(con)
  unlink(bim)
  expect_ancify_error(open_genotypes(path), "format", "no room for so many rows")
})
