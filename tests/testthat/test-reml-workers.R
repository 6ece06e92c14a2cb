# Fits and scans on workers of BiocParallel have the bytes of those in this session.

require_package("BiocParallel")
set.seed(3)
case <- reml_case(40, 40)
fit <- quiet_fit(y ~ sex, case$data, case$g, list(a = 1:20, b = 21:40))
null <- quiet_fit(y ~ sex, case$data, case$g)
snow <- BiocParallel::SnowParam(2)
BiocParallel::bpstart(snow)

test_that("a bootstrap and a scan have the same bytes on workers", {
  stochastic <- suppressWarnings(quiet_fit(y ~ sex, case$data, case$g, method = "stochastic",
                                           control = reml_control(max_probes = 400)))
  matrix <- quiet_fit(y ~ sex, case$data, open_genotypes(case$calls, case$g$variants))
  boot <- function(...) anova(fit, null, test = "bootstrap", nsim = 6, progress = FALSE, ...)
  here <- boot()
  alone <- anova(matrix, test = "bootstrap", nsim = 4, progress = FALSE)
  scans <- lapply(list(fit, stochastic, matrix), scan_variants, progress = FALSE)
  set.seed(1)
  before <- .Random.seed
  for (param in list(BiocParallel::SerialParam(), BiocParallel::MulticoreParam(2), snow)) {
    expect_identical(boot(BPPARAM = param), here)
    expect_identical(
      anova(matrix, test = "bootstrap", nsim = 4, progress = FALSE, BPPARAM = param), alone
    )
    for (i in seq_along(scans)) {
      expect_identical(scan_variants(list(fit, stochastic, matrix)[[i]], progress = FALSE,
                                     BPPARAM = param), scans[[i]])
    }
  }
  expect_identical(.Random.seed, before)
})

test_that("a jackknife has the same bytes on workers", {
  regress <- function(...) {
    haseman_elston(y ~ sex, case$data, case$g, list(a = 1:20, b = 21:40), blocks = 23, ...)
  }
  here <- regress()
  for (param in list(BiocParallel::SerialParam(), snow)) {
    expect_identical(regress(BPPARAM = param), here)
  }
  expect_ancify_error(regress(BPPARAM = 1), "input", "`BPPARAM`")
})

test_that("workers find the package where this session has it", {
  libraries <- Sys.getenv(c("R_LIBS", "R_LIBS_USER"), names = TRUE)
  Sys.unsetenv(names(libraries))
  on.exit(do.call(Sys.setenv, as.list(libraries)))
  param <- BiocParallel::SnowParam(1)
  expect_identical(scan_variants(fit, BPPARAM = param), scan_variants(fit, progress = FALSE))
})

test_that("errors and warnings of workers are those of this session", {
  of_part <- function(part) {
    if (part == 2) warn_ancify("Two.", "fit")
    if (part == 3) abort_ancify("Three.", "file", file = "x")
    part
  }
  for (param in list(NULL, BiocParallel::SerialParam(), snow)) {
    expect_identical(over_parts(4:5, of_part, param, "x", FALSE), list(4L, 5L))
    expect_warning(over_parts(1:2, of_part, param, "x", FALSE), "Two.",
                   class = "ancify_fit_warning")
    expect_identical(expect_ancify_error(over_parts(3:4, of_part, param, "x", FALSE), "file",
                                         "Three.")$file, "x")
  }
  dies <- function(part) quit(status = 1)
  expect_ancify_error(over_parts(1:2, dies, BiocParallel::SnowParam(2), "x", FALSE), "task")
  expect_ancify_error(scan_variants(fit, BPPARAM = 2), "input", "`BPPARAM`")
  expect_ancify_error(anova(fit, BPPARAM = "x"), "input", "`BPPARAM`")
})

BiocParallel::bpstop(snow)
