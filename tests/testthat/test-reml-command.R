# The command reml.

ancify_reml <- function(...) run_program(command_script, "reml", ..., env = library_environment())

set.seed(18)
case <- reml_case(60, 40)
write_table <- function(table, header = TRUE, path = tempfile()) {
  utils::write.table(table, path, quote = FALSE, row.names = FALSE, col.names = header)
  path
}
traits <- write_table(data.frame(FID = case$data$id, IID = case$data$id, y = case$data$y,
                                 z = replace(case$data$age, 1:2, NA))[60:1, ])

test_that("a fit for each phenotype is written as tables and JSON", {
  out <- file.path(new_folder(), "mice")
  covariates <- write_table(data.frame(FID = 1, IID = case$data$id, sex = case$data$sex)[-5, ])
  keep <- write_table(data.frame(case$data$id, case$data$id)[-(1:10), ], FALSE)
  components <- write_table(data.frame(case$g$variants$id, rep(c("a", "b"), c(15, 25))), FALSE)
  result <- ancify_reml("--genotypes", case$file, "--pheno", traits, "--covar", covariates,
                        "--keep", keep, "--components", components, "--out", out, "-n", "1")
  expect_identical(result$err, character())
  expect_identical(result$status, 0L)
  expect_match(result$out, "Variance components", all = FALSE)
  files <- paste0(out, c(".components.tsv", ".fixed.tsv", ".json"))
  expect_true(all(file.exists(files)))
  expect_identical(tail(result$out, 3), paste("Wrote", files))

  fit <- quiet_fit(y ~ sex, case$data, case$g[-(1:10), ], list(a = 1:15, b = 16:40))
  table <- utils::read.delim(files[1])
  expect_identical(table$phenotype, rep(c("y", "z"), each = 3))
  expect_equal(table[1:3, -1], as.data.frame(fit), tolerance = 1e-9, ignore_attr = TRUE)
  fixed <- utils::read.delim(files[2])
  expect_identical(fixed$effect, rep(c("(Intercept)", "sexm"), 2))
  expect_equal(fixed$estimate[1:2], unname(coef(fit)), tolerance = 1e-9)
  json <- jsonlite::fromJSON(files[3])
  expect_named(json, c("y", "z"))
  expect_equal(json$y$log_likelihood, fit$log_likelihood, tolerance = 1e-9)
  expect_equal(json$y$h2$estimate, heritability(fit)["h2", "share"], tolerance = 1e-9)
  expect_identical(json$z$dropped[["not in keep"]], 10L)
  expect_identical(json$z$dropped[["not in genotypes"]], 0L)
  expect_identical(json$y$samples, 50L)
  expect_true(json$y$converged)
  expect_true(json$y$lrt$p_is_bound)
})

test_that("results are written, whoever reads what is printed", {
  folder <- new_folder()
  for (reader in c("true", "head -n 3")) {
    for (command in c("reml", "scan")) {
      unlink(list.files(folder, full.names = TRUE))
      line <- paste("ancify", command, "-n 1 --out out --genotypes", shQuote(case$file), "--pheno",
                    shQuote(traits), "2> err |", reader, "> head")
      expect_identical(run_shell(folder, c(line, "echo ${PIPESTATUS[0]}"))$out, "0")
      files <- sub("^", "out", c(reml = ".json", scan = ".scan.tsv"))[[command]]
      expect_true(all(file.exists(file.path(folder, c(files, "out.traits.tsv")))))
      table <- utils::read.delim(file.path(folder, "out.traits.tsv"))
      expect_identical(table$phenotype, c("y", "z"))
      expect_identical(readLines(file.path(folder, "err")), character())
    }
  }
})

test_that("samples to keep that the genotypes lack are told", {
  keep <- write_table(data.frame(1, c(case$data$id[1:40], "absent")), FALSE)
  result <- ancify_reml("--genotypes", case$file, "--pheno", traits, "--keep", keep, "--out",
                        file.path(new_folder(), "out"), "-n", "1")
  expect_identical(result$status, 0L)
  expect_match(result$err, "1 sample of .* that the genotypes lack: 'absent'", all = FALSE)
})

test_that("phenotypes of the .fam are taken if there are no others", {
  folder <- new_folder()
  calls <- case$calls
  file <- oracle_write_bed(calls, file.path(folder, "mice"))
  fam <- data.frame(1, case$data$id, 0, 0, 1, case$data$y, replace(case$data$age, 3, NA))
  write_table(fam, FALSE, file.path(folder, "mice.fam"))
  out <- file.path(folder, "out")
  result <- ancify_reml("--genotypes", file, "--out", out)
  expect_identical(result$status, 0L)
  json <- jsonlite::fromJSON(paste0(out, ".json"))
  expect_named(json, c("pheno1", "pheno2"))
  expect_identical(json$pheno2$samples, 59L)
})

test_that("phenotypes of a .psam are chosen, with what stands for missing values", {
  folder <- new_folder()
  file <- oracle_write_bed(case$calls, file.path(folder, "mice"))
  unlink(file.path(folder, "mice.fam"))
  write_table(data.frame(`#IID` = case$data$id, SEX = 1, y = replace(case$data$y, 2:3, c(-99, NaN)),
                         breed = "x", empty = ".", check.names = FALSE),
              path = file.path(folder, "mice.psam"))
  out <- file.path(folder, "out")
  reml <- function(...) ancify_reml("--genotypes", file, "--out", out, "-n", "1", ...)
  result <- reml("--na", "-99,0")
  expect_identical(result$err, character())
  traits <- utils::read.delim(paste0(out, ".traits.tsv"))
  expect_identical(traits[c("phenotype", "samples")], data.frame(phenotype = "y", samples = 58L))
  reml()
  expect_identical(utils::read.delim(paste0(out, ".traits.tsv"))$samples, 59L)
  result <- reml("--trait", "breed,y,empty")
  traits <- utils::read.delim(paste0(out, ".traits.tsv"))
  expect_identical(traits$status, c("left out", "converged", "left out"))
  expect_match(traits$reason[1], "texts, such as 'x'", fixed = TRUE)
  expect_identical(result$status, 0L)
  expect_match(reml("--trait", "yy")$err, "no phenotype 'yy'; did you mean 'y'\\? It has 'y', ",
               all = FALSE)
})

test_that("--trait chooses phenotypes, and a table tells what became of each", {
  table <- data.frame(FID = 1, IID = case$data$id, y = case$data$y, text = "a", z = case$data$age,
                      mixed = c("x", rep(1, 59)), same = 7, few = c(1, rep("nan", 59)))
  pheno <- write_table(table)
  for (command in c("reml", "scan")) {
    out <- file.path(new_folder(), "mice")
    run <- function(...) {
      run_program(command_script, command, "--genotypes", case$file, "--pheno", pheno, "--out", out,
                  "-n", "1", ..., env = library_environment())
    }
    result <- run("--trait", "same,text,z,mixed,y,few")
    expect_identical(result$status, 0L)
    expect_length(result$err, 4)
    traits <- utils::read.delim(paste0(out, ".traits.tsv"))
    expect_identical(traits$phenotype, c("same", "text", "z", "mixed", "y", "few"))
    done <- if (command == "reml") "converged" else "tested"
    expect_identical(traits$status,
                     c("left out", "left out", done, "left out", done, "left out"))
    expect_identical(traits$samples, c(NA, NA, 60L, NA, 60L, NA))
    reasons <- c("does not vary", "'a' in line 2 of .* is not a number", "^$",
                 "'x' in line 2 of .* is not a number", "^$", "1 sample and 1 fixed effect")
    for (i in 1:6) expect_match(ifelse(is.na(traits$reason), "", traits$reason)[i], reasons[i])
    expect_no_match(result$out, "Phenotypes, of which")
    if (command == "reml") {
      fit <- quiet_fit(age ~ 1, case$data, case$g)
      expect_equal(traits$h2[3], heritability(fit)["h2", "share"], tolerance = 1e-9)
    }
    # Only a chosen phenotype may clash with a covariate.
    expect_identical(run("--trait", "z", "--covar", write_table(table[1:3]))$status, 0L)
    expect_match(run()$out[1], "--trait chooses: y, text, z, mixed, same and few", fixed = TRUE)
    result <- run("--trait", "y,texts")
    expect_identical(result$status, 1L)
    expect_match(result$err, "no phenotype 'texts'; did you mean 'text'\\? It has 'y', 'text',")
  }
})

test_that("--na tells what is missing in phenotypes and covariates", {
  pheno <- write_table(data.frame(FID = 1, IID = case$data$id,
                                  y = c("-9", "none", ".", "NaN", case$data$y[-(1:4)])))
  covar <- write_table(data.frame(FID = 1, IID = case$data$id,
                                  age = c(1:4, "None", "-9", case$data$age[-(1:6)])))
  out <- file.path(new_folder(), "mice")
  result <- ancify_reml("--genotypes", case$file, "--pheno", pheno, "--covar", covar,
                        "--na", "-9,none", "--out", out, "-n", "1")
  expect_identical(result$err, character())
  dropped <- jsonlite::fromJSON(paste0(out, ".json"))$y$dropped
  expect_identical(unlist(dropped[c("no phenotype", "missing covariate")], use.names = FALSE),
                   c(4L, 2L))
})

test_that("a phenotype that cannot be analysed stops no other", {
  none <- rep(NA, 60)
  table <- data.frame(FID = 1, IID = case$data$id, same = 1, good = case$data$y, none,
                      one = replace(none, 4, 2), last = case$data$age)
  out <- file.path(new_folder(), "new", "out")
  options <- c("--genotypes", case$file, "--pheno", write_table(table), "--out", out, "-n", "1")
  for (command in list("reml", "scan", c("scan", "--mixed"))) {
    result <- do.call(run_program, c(command_script, as.list(c(command, options)),
                                     list(env = library_environment())))
    expect_identical(result$status, 0L)
    said <- c("same" = "does not vary", none = "None of the 60", one = "1 sample and 1 fixed")
    for (name in names(said)) {
      expect_match(result$err, sprintf("warning: The phenotype '%s' is left out. .*%s", name,
                                       said[[name]]), all = FALSE)
    }
    expect_length(result$err, 3)
  }
  expect_named(jsonlite::fromJSON(paste0(out, ".json")), c("good", "last"))
  expect_identical(unique(utils::read.delim(paste0(out, ".scan.tsv"))$phenotype), c("good", "last"))
  # If there is no other, it is an error.
  alone <- write_table(table[c("FID", "IID", "same", "none")])
  result <- ancify_reml("--genotypes", case$file, "--pheno", alone, "--out", out)
  expect_identical(result$status, 1L)
  expect_match(result$err, "error: .*'same' does not vary")
})

test_that("a fit that has not converged is status 3", {
  fits <- lapply(c(y = 1, z = 100), function(most) {
    suppressWarnings(quiet_fit(y ~ 1, case$data, case$g,
                               control = reml_control(max_iterations = most)))
  })
  expect_identical(status_of_fits(fits), 3L)
  expect_identical(status_of_fits(fits["z"]), 0L)
})

test_that("wrong options are status 2, wrong inputs 1", {
  complains <- function(status, text, ...) {
    result <- ancify_reml(...)
    expect_identical(result$status, status)
    expect_identical(result$out, character())
    expect_match(paste(result$err, collapse = "\n"), text, fixed = TRUE)
  }
  complains(2L, "reml needs --genotypes", "--out", "x")
  complains(2L, "reml needs --out", "--genotypes", case$file)
  complains(2L, "reml takes no --config", "-c", "x", "--genotypes", "g", "--out", "x")
  complains(1L, "there is no such file", "--genotypes", tempfile(), "--out", "x")
  given <- c("--genotypes", case$file, "--out", tempfile())
  complains(1L, "give --pheno", given[1], given[2], given[3], given[4])
  in_vain <- function(text, ...) do.call(complains, c(1L, text, as.list(given), ...))
  in_vain("No such file", "--pheno", traits, "--keep", tempfile())
  complains(1L, "which is a folder", "--genotypes", case$file, "--out", tempdir())
  complains(1L, "choose another folder for --out", "--genotypes", case$file, "--out", "/proc/x/y")
  other <- write_table(data.frame("x1", "x1"), FALSE)
  in_vain("'x1'", "--pheno", traits, "--keep", other)
  in_vain("both have a column 'y'", "--pheno", traits, "--covar", traits)
})

test_that("its options are refused with other commands", {
  result <- run_program(command_script, "check", "--pheno", "x", "-c", "y",
                        env = library_environment())
  expect_identical(result$status, 2L)
  expect_match(result$err, "check takes no --pheno, which is for reml", fixed = TRUE, all = FALSE)
})

test_that("the command scan writes the tests of all variants for each phenotype", {
  out <- file.path(new_folder(), "mice")
  scan <- function(...) {
    run_program(command_script, "scan", "--genotypes", case$file, "--pheno", traits, "--out", out,
                "-n", "1", ..., env = library_environment())
  }
  result <- scan()
  expect_identical(result$err, character())
  expect_identical(result$status, 0L)
  file <- paste0(out, ".scan.tsv")
  expect_identical(tail(result$out, 1), paste("Wrote", file))
  table <- utils::read.delim(file)
  expect_identical(table$phenotype, rep(c("y", "z"), each = 40))
  expected <- scan_variants(y ~ 1, case$data, case$g, threads = 1)
  expect_equal(table$p[1:40], expected$p, tolerance = 1e-12)
  result <- scan("--mixed")
  expect_identical(result$status, 0L)
  mixed <- scan_variants(quiet_fit(y ~ 1, case$data, case$g))
  expect_equal(utils::read.delim(file)$p[1:40], mixed$p, tolerance = 1e-12)
})

test_that("cases and controls are coded as in PLINK", {
  y <- (case$data$y > stats::median(case$data$y)) + 1
  file <- write_table(data.frame(FID = 1, IID = case$data$id, plink = replace(y, 1:2, c(0, -9)),
                                 plain = y - 1, number = case$data$y))
  out <- file.path(new_folder(), "out")
  run <- function(command, ...) {
    run_program(command_script, command, "--genotypes", case$file, "--pheno", file, "--out", out,
                "-n", "1", "--trait", ..., env = library_environment())
  }
  all <- "plink,plain,number"
  result <- run("reml", all, "--binary", "--prevalence", "0.1")
  expect_identical(result$status, 0L)
  traits <- utils::read.delim(paste0(out, ".traits.tsv"))
  expect_identical(traits$samples, c(58L, 60L, NA))
  expect_match(traits$reason[3], "cases are 1 and controls 0")
  json <- jsonlite::fromJSON(paste0(out, ".json"))
  data <- case$data
  data$case <- y == 2
  fit <- quiet_fit(case ~ 1, data[-(1:2), ], case$g, prevalence = 0.1)
  expect_equal(json$plink$liability$shares$liability, liability(fit)$liability, tolerance = 1e-9)
  expect_identical(json$plink$liability$prevalence, 0.1)

  result <- run("scan", all, "--binary")
  expect_identical(result$status, 0L)
  table <- utils::read.delim(paste0(out, ".scan.tsv"))
  scan <- scan_variants(case ~ 1, data[-(1:2), ], case$g, threads = 1)
  expect_equal(table$p[table$phenotype == "plink"], scan$p, tolerance = 1e-12)
  expect_identical(run("scan", all, "--binary", "--mixed")$status, 0L)
  expect_identical(run("scan", "plink", "--binary", "--firth")$status, 0L)
  table <- utils::read.delim(paste0(out, ".scan.tsv"))
  firth <- scan_variants(case ~ 1, data[-(1:2), ], case$g, firth = TRUE, threads = 1)
  expect_equal(table$effect, firth$effect, tolerance = 1e-12)

  result <- run("scan", "plain")
  expect_match(result$err, "by logistic regression: `--binary`", fixed = TRUE, all = FALSE)
  expect_match(run("scan", "number", "--firth")$err, "`--firth` is for cases and controls",
               fixed = TRUE, all = FALSE)
  result <- run("reml", all, "--prevalence", "0.1")
  expect_match(result$err, "--prevalence needs --binary", fixed = TRUE, all = FALSE)
  expect_false(result$status == 0)
})

test_that("--together fits phenotypes jointly", {
  out <- file.path(new_folder(), "both")
  run <- function(...) {
    ancify_reml("--genotypes", case$file, "--pheno", traits, "--out", out, "-n", "1", ...)
  }
  expect_identical(run("--trait", "y,z", "--together")$status, 0L)
  data <- case$data
  data$z <- replace(data$age, 1:2, NA)
  fit <- quiet_fit(cbind(y, z) ~ 1, data, case$g)
  table <- utils::read.delim(paste0(out, ".components.tsv"))
  expect_identical(unique(table$phenotype), "y,z")
  expect_equal(table$covariance, as.data.frame(fit)$covariance, tolerance = 1e-6)
  json <- jsonlite::fromJSON(paste0(out, ".json"))[["y,z"]]
  expect_equal(json$correlations$rg, genetic_correlation(fit)$rg, tolerance = 1e-6)
  expect_equal(json$heritability$share, heritability(fit)$share, tolerance = 1e-6)
  fixed <- utils::read.delim(paste0(out, ".fixed.tsv"))
  expect_equal(fixed$estimate, as.vector(coef(fit)), tolerance = 1e-6)
  expect_identical(utils::read.delim(paste0(out, ".traits.tsv"))$samples, 60L)

  cases <- write_table(data.frame(FID = 1, IID = case$data$id, y = case$data$y,
                                  ill = as.numeric(case$data$y > 0)))
  result <- ancify_reml("--genotypes", case$file, "--pheno", cases, "--out", out, "--together",
                        "-n", "1")
  expect_match(result$err, "'ill' has two values.* Fitted alone with `--binary`", all = FALSE)
  expect_match(run("--trait", "y", "--together")$err, "two or more", all = FALSE)
  expect_match(run("--together", "--binary")$err, "quantitative", all = FALSE)
})
