# Chromosomes that are no autosomes: their names, and that it is said.

test_that("chromosomes of two tables are the same by PLINK's numbers and other names", {
  expect_identical(
    genotype_chromosomes(c("chr1", "1", "chrX", "x", "Y", "PAR1", "XY", "chrM", "MT")),
    c("1", "1", "X", "X", "Y", "XY", "XY", "M", "M")
  )
  expect_identical(genotype_chromosomes(c("1", "23", "24", "chr25", "26")),
                   c("1", "X", "Y", "XY", "M"))
  expect_identical(genotype_chromosomes(c("22", "23")), c("22", "X"))
  # Cattle have 29 autosomes, sheep have 26 and X.
  expect_identical(genotype_chromosomes(as.character(22:29)), as.character(22:29))
  expect_identical(genotype_chromosomes(c("23", "X")), c("23", "X"))
  expect_identical(genotype_chromosomes(c("chrUn_1", "2L")), c("Un_1", "2L"))
})

test_that("numbers from 23 on are PLINK's codes or the species' own, in all tables at once", {
  autosomes <- as.character(1:26)
  cases <- list(
    list(FALSE, autosomes), list(FALSE, c("1", "chr23")), list(FALSE, autosomes, c("1", "X")),
    list(FALSE, c("22", "X"), c("22", "24")), list(FALSE, c("X", "24", "MT"), "PAR2"),
    list(FALSE, character()), list(FALSE, NULL, "23"),
    list(TRUE, c(autosomes, "X")), list(TRUE, autosomes, c(autosomes, "chrX")),
    list(TRUE, c("23", "x"), "24"), list(TRUE, c("26", "chrMT")), list(TRUE, c("25", "PAR1")),
    list(TRUE, as.character(1:29)), list(TRUE, "23", "chr29"), list(TRUE, autosomes, "27"),
    list(TRUE, c(autosomes, "Z")), list(TRUE, autosomes, "chrW")
  )
  for (case in cases) {
    expect_identical(do.call(has_own_numbers, case[-1]), case[[1]], info = deparse1(case))
    # The order of tables says nothing.
    expect_identical(do.call(has_own_numbers, rev(case[-1])), case[[1]], info = deparse1(case))
  }
  expect_false(has_own_numbers(autosomes, sequences = character()))
  expect_true(has_own_numbers("23", sequences = "23"))
  expect_identical(genotype_chromosomes(c("22", "23", "24"), TRUE), c("22", "23", "24"))
  g <- open_genotypes(matrix(0:2, 1, dimnames = list("a", NULL)),
                      data.frame(chromosome = c("22", "23", "X")))
  # The file's other chromosomes count too where they are not chosen.
  numbers <- open_genotypes(matrix(0:1, 1, dimnames = list("a", NULL)),
                            data.frame(chromosome = c("23", "24")))
  expect_identical(comparable_chromosomes(g[, 3], numbers), list("X", c("23", "24")))
  expect_no_warning(kernel_grm(g[, 2]))
})

# 60 samples at 20 variants of 1 and 40 of another chromosome
of_chromosome <- function(name) {
  set.seed(1)
  calls <- matrix(stats::rbinom(60 * 60, 2, 0.4), 60, dimnames = list(1:60, NULL))
  variants <- data.frame(chromosome = rep(c("1", name), c(20, 40)), position = 1:60,
                         counted = "A", other = "G")
  list(g = open_genotypes(calls, variants), data = data.frame(id = 1:60, y = stats::rnorm(60)),
       calls = calls, variants = variants)
}

test_that("each variant has a class by its chromosome", {
  # The name in the file, the common name, and the class
  table <- c(
    "1" = "1 autosome", chr22 = "22 autosome", "0" = "0 autosome", "2L" = "2L autosome",
    "23" = "X X", X = "X X", chrX = "X X", chr23 = "X X", x = "X X", "24" = "Y Y", chrY = "Y Y",
    "25" = "XY PAR", XY = "XY PAR", PAR1 = "XY PAR", chrPAR2 = "XY PAR", par = "XY PAR",
    "26" = "MT MT", M = "MT MT", MT = "MT MT", chrM = "MT MT", chrMT = "MT MT"
  )
  class_of <- function(names) {
    g <- list(variants = data.frame(chromosome = names))
    unname(do.call(paste, variant_classes(g)))
  }
  for (name in names(table)) expect_identical(class_of(c("1", name))[2], table[[name]], info = name)
  expect_identical(class_of(c("Z", "chrW", "23")), c("Z Z", "W W", "23 autosome"))
  expect_identical(class_of(c("23", "X", "29")), c("23 autosome", "X X", "29 autosome"))
})

test_that("chromosomes are chosen by name, number and class", {
  names <- c("1", "chr2", "X", "25", "MT", "1")
  g <- open_genotypes(matrix(0:5 %% 3, 1, dimnames = list("a", NULL)),
                      data.frame(chromosome = names))
  chosen <- function(...) which(on_chromosomes(g, c(...)))
  expect_identical(chosen("autosomes"), c(1L, 2L, 6L))
  expect_identical(chosen("all"), 1:6)
  expect_identical(chosen(1:2), c(1L, 2L, 6L))
  expect_identical(chosen("chr1", "23"), c(1L, 3L, 6L))
  expect_identical(chosen("autosomes", "chrM", "PAR1"), c(1L, 2L, 4:6))
  expect_ancify_error(chosen("X", "7", "Y"), "input", "no chromosome '7' and 'Y'; they have 1, 2")
  for (wrong in list(NULL, NA, TRUE, character())) {
    expect_ancify_error(on_chromosomes(g, wrong), "input", "`chromosomes`", "\"autosomes\"")
  }
})

test_that("fits and kernels have the autosomes by default, and tell it", {
  told <- c(X = "X", chrX = "X", "23" = "23 (X)", "24" = "24 (Y)", chrM = "MT", MT = "MT",
            XY = "XY", "25" = "25 (XY)")
  for (name in names(told)) {
    case <- of_chromosome(name)
    expect_said <- function(code, what) {
      text <- sprintf(
        "Left out of %s: 40 variants of %s. To choose: `chromosomes = \"all\"`, or such as c(%s)",
        what, told[[name]], sprintf("\"autosomes\", \"%s\"", sub(" .*", "", told[[name]]))
      )
      expect_message(code, text, fixed = TRUE, class = "ancify_log_message")
    }
    autosomes <- quiet_fit(y ~ 1, case$data, case$g[, 1:20])
    expect_identical(autosomes$left_out, stats::setNames(integer(), character()))
    expect_no_match(capture.output(print(autosomes)), "chromosomes")
    expect_said(fit <- fit_reml(y ~ 1, case$data, case$g, threads = 1), "the components")
    expect_identical(fit$theta, autosomes$theta)
    expect_identical(fit$left_out, stats::setNames(40L, told[[name]]))
    expect_output(print(summary(fit)), "autosomes; left out: 40 variants of", fixed = TRUE)
    expect_said(kernel <- kernel_grm(case$g), "the kernel")
    v <- matrix(case$data$y)
    expect_identical(kernel_times(kernel, v), kernel_times(kernel_grm(case$g[, 1:20]), v))
    expect_said(haseman_elston(y ~ 1, case$data, case$g, threads = 1), "the components")
    expect_said(kernel_admixture(case$g, cbind(a = rep(0.5, 60), b = 0.5)), "the kernel")
    for (code in list(kernel_grm, function(g) quiet_fit(y ~ 1, case$data, g))) {
      expect_ancify_error(code(case$g[, 21:60]), "input", "no variant of autosomes", "40 variants",
                          "chromosomes")
    }
  }
  expect_no_message(kernel_grm(of_chromosome("29")$g))
})

test_that("components have the chosen chromosomes", {
  case <- of_chromosome("X")
  fit_on <- function(chromosomes, ...) {
    suppressWarnings(quiet_fit(y ~ 1, case$data, case$g, ..., chromosomes = chromosomes),
                     "ancify_chromosome_warning")
  }
  by_chromosome <- components_by_chromosome(case$g)
  expect_identical(fit_on("autosomes", by_chromosome)$names, "1")
  both <- fit_on(c("autosomes", "23"), by_chromosome)
  expect_identical(both$names, c("1", "X"))
  expect_identical(both[c("theta", "left_out")],
                   fit_on("all", by_chromosome)[c("theta", "left_out")])
  # In plain R
  y <- matrix(case$data$y)
  kernel <- oracle_kernel(case$calls[, 21:60])
  x <- suppressWarnings(kernel_grm(case$g, chromosomes = "X"))
  expect_equal(kernel_times(x, y), kernel %*% y, tolerance = 1e-12)
  expect_equal(fit_on("X")$theta, quiet_fit(y ~ 1, case$data, kernels = list(
    genotypes = kernel_matrix(kernel)
  ))$theta, tolerance = 1e-6)
  # A component of both keeps its autosomal variants, and those in none are counted apart.
  mixed <- fit_on("autosomes", list(a = 11:30, b = 31:40))
  expect_identical(mixed$names, "a")
  expect_identical(mixed$weights$variant, 1:10)
  expect_identical(mixed$uncovered, 10L)
  expect_ancify_error(fit_on("autosomes", list(a = 21:30)), "input", "no variant of autosomes")
})

test_that("X, Y and MT are told where they count as autosomes", {
  told <- c(X = "X", chrX = "X", "23" = "X", "24" = "Y", chrM = "MT", MT = "MT")
  for (name in names(told)) {
    case <- of_chromosome(name)
    expect_said <- function(code) {
      suppressWarnings(expect_warning(
        code, sprintf("40 variants of chromosome %s .* as autosomes", told[[name]]),
        class = "ancify_chromosome_warning"
      ))
    }
    expect_said(kernel_grm(case$g, chromosomes = "all"))
    expect_said(quiet_fit(y ~ 1, case$data, case$g, chromosomes = "all"))
    expect_no_warning(kernel_grm(case$g[, 1:20]))
    expect_no_warning(quiet_fit(y ~ 1, case$data, case$g))
  }
  for (name in c("2", "XY", "25", "29")) {
    expect_no_warning(kernel_grm(of_chromosome(name)$g, chromosomes = "all"))
  }
})

test_that("predictions match X and 23, and tell what is absent", {
  case <- of_chromosome("X")
  case$data$y <- drop(case$calls %*% stats::rnorm(60))
  fit <- suppressWarnings(quiet_fit(y ~ 1, case$data, case$g, chromosomes = "all"))
  predicted <- function(chromosome, variants = case$variants) {
    variants$chromosome[21:60] <- chromosome
    suppressWarnings(predict(fit, open_genotypes(case$calls, variants)),
                     "ancify_chromosome_warning")
  }
  same <- predicted("X")
  # XY is a part of X.
  for (name in c("23", "chrX", "chr23", "x", "XY", "25")) expect_identical(predicted(name), same)
  expect_warning(predicted("2"), "lacks 40 of the fit's 60 variants.*of 40 no variant.*fit the",
                 class = "ancify_variants_warning")
  other <- case$variants
  other$counted[21:30] <- "T"
  other$position[1:5] <- 1001:1005
  expect_warning(predicted("X", other), "lacks 15 of .*of 5 no variant .* of 10 alleles differ",
                 class = "ancify_variants_warning")
  # Without X in the fit, none of it is absent.
  of_autosomes <- quiet_fit(y ~ 1, case$data, case$g)
  expect_no_warning(values <- predict(of_autosomes, case$g))
  expect_equal(attr(values, "variants"), c(used = 20, turned = 0, absent = 0))
})

# Autosomes from 21 to `last` as numbers, and X; the autosomes alone, whose numbers may be PLINK's;
# and the same by names that are not. Chromosome 26 has no heterozygous call, which MT cannot have.
species_of <- function(last) {
  set.seed(3)
  chromosome <- rep(c(21:last, "X"), each = 10)
  m <- length(chromosome)
  calls <- matrix(stats::rbinom(80 * m, 2, 0.4), 80, dimnames = list(1:80, NULL))
  calls[, chromosome == "26"] <- 2 * (calls[, chromosome == "26"] > 0)
  variants <- data.frame(chromosome, position = rep(1:10, m / 10), counted = "A", other = "G")
  g <- open_genotypes(calls, variants)
  of_autosomes <- function(prefix) {
    some <- variants[chromosome != "X", ]
    some$chromosome <- paste0(prefix, some$chromosome)
    open_genotypes(calls[, chromosome != "X"], some)
  }
  y <- drop(calls[, chromosome == "23"] %*% stats::rnorm(10)) + stats::rnorm(80)
  list(all = g, autosomes = of_autosomes(""), named = of_autosomes("a"),
       numbers = which(chromosome != "X"), data = data.frame(id = 1:80, y))
}

test_that("a species' chromosome 23 is not the X of other genotypes", {
  for (last in c(23, 24, 26)) {
    case <- species_of(last)
    fit <- suppressWarnings(quiet_fit(y ~ 1, case$data, case$autosomes, chromosomes = "all"))
    own <- scan_variants(quiet_fit(y ~ 1, case$data, case$named))
    # By genotypes with X, by X alone, and the other way round
    both <- suppressWarnings(scan_variants(fit, case$all))
    expect_equal(both$statistic[case$numbers], own$statistic)
    chromosomes <- rownames(attr(both, "scan")$theta)
    expect_identical(chromosomes, c(21:last, ""))
    x <- suppressWarnings(scan_variants(fit, case$all[, -case$numbers]))
    expect_false(attr(x, "scan")$loco)
    expect_equal(suppressWarnings(predict(fit, case$all), classes = "ancify_chromosome_warning"),
                 fitted(fit), ignore_attr = TRUE)
    expect_error(suppressWarnings(predict(fit, case$all[, -case$numbers])),
                 class = "ancify_input_error")
    of_all <- suppressWarnings(quiet_fit(y ~ 1, case$data, case$all[, case$numbers]))
    expect_equal(suppressWarnings(scan_variants(of_all, case$autosomes))$statistic, own$statistic)
  }
})

test_that("sequences are asked for a number before PLINK's letter", {
  skip_if(is.na(ancify_build_info()$htslib))
  set.seed(4)
  calls <- matrix(stats::rbinom(60 * 22, 2, 0.3), 60, dimnames = list(1:60, NULL))
  g <- open_genotypes(calls, data.frame(
    chromosome = rep(c("21", "22", "23"), c(2, 10, 10)), position = c(1:2, 1:10, 1:10),
    counted = "A", other = "G"
  ))
  derived_bins <- function(names, bases) {
    names <- c("21", names)
    bases <- c("AG", bases)
    fasta <- withr::local_tempfile(fileext = ".fa")
    writeLines(paste0(">", names, "\n", strrep(bases, 10)), fasta)
    folder <- withr::local_tempdir()
    for (i in seq_along(names)) {
      writeLines(paste0(">", names[i], "\n", strrep(bases[i], 10)),
                 file.path(folder, paste0(names[i], ".fa")))
    }
    of <- lapply(list(fasta, folder), function(ancestral) {
      as.data.frame(components_by_frequency(g, c(0, 0.5, 1), ancestral))
    })
    expect_identical(of[[1]], of[[2]])
    bin <- match(of[[1]]$component, c("[0,0.5]", "(0.5,1]"))
    bin[match(g$variants$id, of[[1]]$variant)][-(1:2)]
  }
  # A, the counted and rare allele, is ancestral: its derived allele is frequent.
  expect_identical(derived_bins(c("22", "23", "X"), c("A", "A", "G")), rep(2L, 20))
  expect_identical(derived_bins(c("chr22", "chr23"), c("A", "A")), rep(2L, 20))
  expect_identical(derived_bins(c("22", "24", "X"), c("A", "A", "A")), rep(c(2L, NA), each = 10))
  # Sequences of humans have no 23.
  expect_identical(derived_bins(c("22", "X"), c("A", "G")), rep(c(2L, 1L), each = 10))
})

test_that("traits of two values are told, and PLINK's codes", {
  g <- open_genotypes(matrix(stats::rbinom(40 * 30, 2, 0.3), 40, dimnames = list(1:40, NULL)))
  set.seed(2)
  with_values <- function(...) data.frame(id = 1:40, y = sample(rep_len(c(...), 40)))
  for (values in list(c(0, 1), c(1, 2), c(-1, 1), c(0, 0, 0, 1))) {
    data <- with_values(values)
    expect_warning(scan_variants(y ~ 1, data, g, threads = 1), "'y' has two values, .* linear test",
                   class = "ancify_response_warning")
    expect_warning(fit <- fit_reml(y ~ 1, data, g, threads = 1, verbose = FALSE), "observed scale",
                   class = "ancify_response_warning")
    expect_warning(scan_variants(fit, loco = FALSE), "linear test",
                   class = "ancify_response_warning")
  }
  expect_warning(scan_variants(y ~ 1, with_values(0:2), g, threads = 1), "0 is a missing phenotype",
                 class = "ancify_response_warning")
  expect_no_warning(scan_variants(y ~ 1, with_values(0:3), g, threads = 1))
})
