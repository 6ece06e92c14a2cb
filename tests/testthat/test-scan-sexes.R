# Scans of X, Y, MT and pseudoautosomal regions, against plink2, lm() and dense matrices.

# 90 samples, and 10 variants each of 1, 2, X, XY, Y and MT. Males have one copy of X and Y, and all
# samples have one of MT.
sexed_study <- function(missing_sex = integer()) {
  set.seed(6)
  chromosome <- rep(c("1", "2", "X", "XY", "Y", "MT"), each = 10)
  sex <- sample(1:2, 90, TRUE)
  calls <- matrix(stats::rbinom(90 * 60, 2, rep(stats::runif(60, 0.2, 0.8), each = 90)), 90)
  haploid <- outer(sex == 1, chromosome %in% c("X", "Y")) | outer(sex > 0, chromosome == "MT")
  calls[haploid] <- 2 * (calls[haploid] > 0)
  calls[sex == 2, chromosome == "Y"] <- NA
  rownames(calls) <- paste0("i", 1:90)
  y <- drop(calls[, c(3, 22)] %*% c(0.5, 0.6)) + (sex == 1) + stats::rnorm(90)
  data <- data.frame(id = rownames(calls), age = stats::rnorm(90), y)
  samples <- data.frame("f", data$id, 0, 0, replace(sex, missing_sex, 0), -9)
  variants <- data.frame(chromosome, paste0("v", 1:60), 0, 100000L * 1:60, "A", "C")
  file <- bed_fileset(calls, tempfile("sexes-"), samples, variants)
  list(calls = calls, sex = sex, chromosome = chromosome, data = data, file = file,
       g = open_genotypes(file))
}

test_that("a scan of all chromosomes is that of plink2", {
  study <- sexed_study()
  stem <- sub("[.]bed$", "", study$file)
  theirs <- plink2_glm(stem, plink2_files(stem, study$data, "age"))
  expect_gt(nrow(theirs), 55)
  expect_warning(ours <- scan_variants(y ~ age, study$data, study$g, threads = 1),
                 "10 variants of chromosome Y are not tested",
                 class = "ancify_chromosome_warning")
  expect_identical(which(is.na(ours$p)), which(study$chromosome == "Y"))
  # Y is tested in males alone.
  males <- scan_variants(y ~ age, study$data, study$g[study$sex == 1, study$chromosome == "Y"],
                         threads = 1)
  for (some in list(ours[study$chromosome != "Y", ], males)) {
    expected <- theirs[match(some$id, theirs$ID), ]
    known <- !is.na(expected$P)
    expect_gt(sum(known), 5)
    sign <- ifelse(expected$A1 == some$counted, 1, -1)
    same <- function(ours, theirs) expect_equal(ours[known], theirs[known], tolerance = 2e-6)
    same(some$effect * sign, expected$BETA)
    same(some$se, expected$SE)
    same(some$statistic * sign, expected$T_STAT)
    same(some$p, expected$P)
    expect_equal(some$n[known], expected$OBS_CT[known])
  }
})

test_that("X is tested with sex as a fixed effect, unless the model has it", {
  study <- sexed_study()
  on_x <- which(study$chromosome == "X")
  scan <- suppressWarnings(scan_variants(y ~ age, study$data, study$g, threads = 1))
  male <- study$sex == 1
  expected <- oracle_ols(study$data$y, cbind(study$data$age, male), study$calls[, on_x])
  expect_equal(as.matrix(scan[on_x, c("effect", "se", "statistic", "p")]), expected,
               tolerance = 1e-9, ignore_attr = TRUE)
  data <- cbind(study$data, male)
  with_sex <- suppressWarnings(scan_variants(y ~ age + male, data, study$g, threads = 1))
  expect_equal(with_sex[on_x, ], scan[on_x, ], tolerance = 1e-9, ignore_attr = TRUE)
  # One sex alone needs none.
  females <- scan_variants(y ~ age, study$data, study$g[!male, on_x], threads = 1)
  expect_equal(females$p, oracle_ols(study$data$y[!male], study$data$age[!male],
                                     study$calls[!male, on_x])[, 4],
               tolerance = 1e-9, ignore_attr = TRUE)
})

test_that("unknown sexes and heterozygous males are told, and counted as documented", {
  study <- sexed_study(missing_sex = 4:6)
  g <- study$g[, study$chromosome == "X"]
  calls <- study$calls[, study$chromosome == "X"]
  expect_warning(scan <- scan_variants(y ~ 1, study$data, g, threads = 1),
                 "10 variants of chromosome X .* as autosomes in 3 samples of unknown sex",
                 class = "ancify_chromosome_warning")
  level <- factor(replace(study$sex, 4:6, 0))
  x <- stats::model.matrix(~level)[, -1]
  expect_equal(scan$p, oracle_ols(study$data$y, x, calls)[, 4], tolerance = 1e-9,
               ignore_attr = TRUE)
  # Heterozygous males count as missing calls do.
  males <- setdiff(which(study$sex == 1), 4:6)[1:3]
  calls[males, 2] <- 1
  changed <- open_genotypes(calls, g$variants)
  changed$samples$sex <- study$sex
  expect_warning(scan <- scan_variants(y ~ 1, study$data, changed, threads = 1),
                 "3 heterozygous calls are set missing.*1 variant of chromosome X",
                 class = "ancify_chromosome_warning")
  calls[males, 2] <- NA
  expect_equal(scan$p, oracle_ols(study$data$y, study$sex, calls)[, 4], tolerance = 1e-9,
               ignore_attr = TRUE)
  expect_identical(scan$n[2], 87)
})

test_that("a mixed scan of X has sex as a fixed effect, and a kernel of autosomes or without X", {
  study <- sexed_study()
  g <- study$g
  on_x <- which(study$chromosome == "X")
  fit <- quiet_fit(y ~ age, study$data, g)
  scan <- suppressWarnings(scan_variants(fit, g))
  male <- study$sex == 1
  by_sex <- quiet_fit(y ~ age + male, cbind(study$data, male), g)
  x <- cbind(1, study$data$age, male)
  kernel <- oracle_kernel(study$calls[, 1:20])
  expected <- oracle_gls(study$data$y, x, study$calls[, on_x], by_sex$theta, list(kernel))
  expect_equal(as.matrix(scan[on_x, c("effect", "se")]), expected, tolerance = 1e-5,
               ignore_attr = TRUE)
  expect_identical(rownames(attr(scan, "scan")$theta), c("1", "2", "X", ""))
  expect_equal(attr(scan, "scan")$theta["X", ], by_sex$theta, tolerance = 1e-6)
  # The other chromosomes are those of the fit, with the effect of a copy of MT.
  others <- oracle_gls(study$data$y, cbind(1, study$data$age), study$calls[, 51:60], fit$theta,
                       list(kernel))
  expect_equal(as.matrix(scan[51:60, c("effect", "se")]), 2 * others, tolerance = 1e-5,
               ignore_attr = TRUE)
  # X in the kernel is left out for X.
  both <- suppressWarnings(quiet_fit(y ~ age, study$data, g, chromosomes = c("autosomes", "X")))
  again <- suppressWarnings(scan_variants(both, g))
  expect_equal(again$p[on_x], scan$p[on_x], tolerance = 1e-6)
  # A fit's own genotypes lack what it left out, which is told.
  expect_message(own <- scan_variants(fit), "Not tested: 10 variants of X, 10 of XY, 10 of Y",
                 class = "ancify_log_message")
  expect_equal(own$p, scan$p[1:20])
})

test_that("sparse effects tell of X among the candidates", {
  study <- sexed_study()
  fit <- quiet_fit(y ~ age, study$data, study$g)
  expect_warning(lasso_path(fit, study$g[, 1:30], progress = FALSE),
                 "10 variants of chromosome X are tested as autosomes",
                 class = "ancify_chromosome_warning")
  expect_no_warning(lasso_path(fit, study$g[, 1:20], progress = FALSE))
})

test_that("the command line takes --chromosomes and --split-par", {
  study <- sexed_study()
  pheno <- file.path(withr::local_tempdir(), "y.txt")
  utils::write.table(cbind("f", study$data[c("id", "y")]), pheno, quote = FALSE,
                     row.names = FALSE, col.names = c("FID", "IID", "y"))
  out <- tempfile()
  run <- function(...) {
    run_program(command_script, ..., "--genotypes", study$file, "--pheno", pheno, "--out", out,
                "-n", "1", env = library_environment())
  }
  reml <- function(...) {
    expect_identical(run("reml", ...)$status, 0L)
    jsonlite::read_json(paste0(out, ".json"))$y$variants
  }
  by_default <- reml()
  expect_identical(by_default$used, 20L)
  expect_identical(by_default$on_other_chromosomes, list(X = 10L, XY = 10L, Y = 10L, MT = 10L))
  expect_identical(reml("--chromosomes", "1,23")$used, 20L)
  expect_length(reml("--chromosomes", "all")$on_other_chromosomes, 0)
  scan <- function(...) {
    expect_identical(run("scan", ...)$status, 0L)
    utils::read.delim(paste0(out, ".scan.tsv"))
  }
  expected <- suppressWarnings(scan_variants(y ~ 1, study$data, study$g, threads = 1))
  expect_equal(scan()$p, expected$p, tolerance = 1e-9)
  expect_equal(scan("--chromosomes", "X,autosomes")$p, expected$p[1:30], tolerance = 1e-9)
  # In GRCh37 all variants of X from 2.7 million on are in no region.
  expect_identical(scan("--split-par", "GRCh37", "--chromosomes", "XY")$id,
                   c("v21", "v22", "v23", "v24", "v25", "v26", paste0("v", 31:40)))
  mixed <- scan("--mixed", "--chromosomes", "X")
  fit <- quiet_fit(y ~ 1, study$data, study$g)
  expect_equal(mixed$p, scan_variants(fit, study$g[, 21:30])$p, tolerance = 1e-6)
  expect_identical(run("scan", "--chromosomes", "9")$status, 1L)
  # Messages name options.
  calls <- study$calls
  calls[study$sex == 1, 21] <- 1
  samples <- data.frame("f", study$data$id, 0, 0, study$sex, -9)
  variants <- data.frame(study$chromosome, paste0("v", 1:60), 0, 1:60, "A", "C")
  study$file <- bed_fileset(calls, tempfile("hets-"), samples, variants)
  expect_match(run("scan", "--chromosomes", "X")$err, "`--split-par` separates", all = FALSE)
  expect_match(run("reml", "--split-par", "hg20")$err, "GRCh38", all = FALSE)
})
