# Models of the commands reml and sparse: their components, kernels, choices and further tables.

require_tool("zip")
set.seed(62)
case <- reml_case(60, 40)
folder <- new_folder()
at <- paths_in(folder)
model_files(case, folder)
write_table <- function(table, name, header = TRUE) {
  utils::write.table(table, at(name), quote = FALSE, row.names = FALSE, col.names = header)
  at(name)
}
ids <- case$data$id
pheno <- write_table(data.frame(FID = 1, IID = ids, y = case$data$y), "pheno.txt")
covar <- write_table(data.frame(FID = 1, IID = ids, sex = case$data$sex, age = case$data$age),
                     "covar.txt")

run <- function(command, ..., pheno = at("pheno.txt")) {
  out <- file.path(new_folder(), "out")
  result <- run_here(command, "--pheno", pheno, "--out", out, "-n", "1", ...)
  result$table <- function(kind) utils::read.delim(sprintf("%s.%s.tsv", out, kind))
  result
}
reml <- function(...) run("reml", "--genotypes", case$file, ...)
is_fit <- function(result, fit) {
  expect_identical(result$status, 0L, info = paste(result$err, collapse = " "))
  table <- result$table("components")
  expect_identical(table$component, names(fit$theta))
  expect_equal(table$theta, unname(fit$theta), tolerance = 1e-8)
}
fit <- function(..., data = case$data) quiet_fit(y ~ 1, data, ...)

test_that("components are files, chromosomes, or sets of GPU_REML", {
  by_chromosome <- fit(case$g, components_by_chromosome(case$g))
  is_fit(reml("--by", "chromosome"), by_chromosome)
  some <- c(one = 1, two = 11)
  for (name in names(some)) write_bed(case$g[, some[name] + 0:9], at(paste0(name, ".bed")))
  files <- c(at("one.bed"), at("two"))
  is_fit(run("reml", "--genotypes", files, "--by", "file"),
         fit(case$g, list(one = 1:10, two = 11:20)))
  halves <- list(a = 1:20, component2 = 21:40)
  is_fit(reml("--components", at("mice.json")), fit(case$g, halves))
  writeLines('[{"name": "a", "variant_indices": [0, 1]}, {"name": "b", "variant_indices": [1, 2]}]',
             at("bare.json"))
  result <- reml("--components", at("bare.json"))
  expect_identical(result$status, 1L)
  expect_match(result$err, "--overlap", all = FALSE)
  is_fit(reml("--components", at("bare.json"), "--overlap"),
         fit(case$g, list(a = 1:2, b = 2:3), overlap = TRUE))
  arrays <- c(write_npy(0:19, at("a.npy")), write_npy(20:39, at("b.npy")))
  npz <- write_npz(arrays, at("sets.npz"))
  is_fit(reml("--components", npz), fit(case$g, list(a = 1:20, b = 21:40)))
})

test_that("kernels are weighted blocks, ancestries, or matrices of GCTA", {
  blocks <- lapply(c(15, 15, 10), near_weights)
  files <- at(sprintf("W%d.npy", 1:3))
  one <- fit(kernels = list(weighted = kernel_weighted(case$g, blocks)))
  is_fit(reml("--weights", paste(files, collapse = ",")), one)
  groups <- paste0("group", c(1, 1, 2))
  two <- fit(kernels = list(weighted = kernel_weighted(case$g, blocks, groups)))
  is_fit(reml("--weights", sprintf("%s,%s;%s", files[1], files[2], files[3])), two)
  result <- reml("--weights", files[1])
  expect_identical(result$status, 1L)
  expect_match(result$err, "`--weights` must tile", all = FALSE)
  by_ancestry <- kernel_admixture(case$g, at("mice.2.Q"))
  is_fit(reml("--admixture", at("mice.2.Q")), fit(kernels = list(admixture = by_ancestry)))
  gcta <- list(mice = kernel_gcta(at("mice")))
  is_fit(run("reml", "--grm", at("mice")), fit(kernels = gcta))
  families <- outer(rep(1:15, 4), rep(1:15, 4), "==") * 0.5 + diag(0.5, 60)
  write_gcta_matrix(families, ids, at("families"))
  both <- fit(case$g, kernels = list(families = kernel_gcta(at("families"))))
  is_fit(reml("--grm", at("families")), both)
  fewer <- write_table(data.frame(1, ids[1:9]), "remove.txt", FALSE)
  is_fit(run("reml", "--grm", at("mice"), "--remove", fewer),
         fit(kernels = gcta, data = case$data[-(1:9), ]))
})

test_that("lists keep and leave out samples and variants", {
  variants <- case$g$variants$id
  extract <- write_table(data.frame(variants[1:30]), "extract.txt", FALSE)
  exclude <- write_table(data.frame(c(variants[c(2, 35)], "absent")), "exclude.txt", FALSE)
  keep <- write_table(data.frame(1, ids[1:50]), "kept.txt", FALSE)
  remove <- write_table(data.frame(1, ids[c(3, 60)]), "remove.txt", FALSE)
  result <- reml("--keep", keep, "--remove", remove, "--extract", extract, "--exclude", exclude,
                 "--export", "samples")
  is_fit(result, fit(case$g[setdiff(1:50, 3), setdiff(1:30, 2)]))
  expect_match(result$err, "1 variant of .*exclude.txt' that the genotypes lack: 'absent'",
               all = FALSE)
  used <- result$table("samples")
  expect_identical(used$IID[used$used], ids[setdiff(1:50, 3)])
  # Indices of components stay those of the file.
  result <- reml("--components", at("mice.json"), "--extract", extract)
  is_fit(result, fit(case$g[, 1:30], list(a = 1:20, component2 = 21:30)))
  none <- write_table(data.frame("none"), "none.txt", FALSE)
  expect_match(reml("--extract", none)$err, "no variant of the genotypes: use their ids",
               all = FALSE)
  expect_match(reml("--exclude", write_table(data.frame(variants), "all.txt", FALSE))$err,
               "No variant remains", all = FALSE)
  file.create(at("empty.txt"))
  expect_identical(reml("--extract", at("empty.txt"))$status, 1L)
})

test_that("covariates are chosen, and numbers may be labels", {
  batch <- rep(1:3, 20)
  factors <- write_table(data.frame(1, ids, batch), "factors.txt", FALSE)
  data <- data.frame(case$data, factor1 = factor(batch))
  result <- reml("--covar", covar, "--factors", factors, "--covariates", "age,factor1")
  is_fit(result, quiet_fit(y ~ age + factor1, data, case$g))
  result <- reml("--covar", covar, "--covariates", "aeg")
  expect_match(result$err, "no covariate 'aeg'; did you mean 'age'", all = FALSE)
  result <- reml("--covar", covar, "--factors", covar)
  expect_match(result$err, "both have a column 'sex'", all = FALSE)
})

test_that("settings of a fit are those of R", {
  result <- reml("--method", "stochastic", "--seed", "7", "--probes", "8")
  control <- reml_control(probes = 8, seed = 7)
  is_fit(result, fit(case$g, method = "stochastic", control = control))
  expect_identical(reml("--seed", "0", "--method", "exact")$status, 0L)
})

test_that("weak components are merged", {
  sets <- stats::setNames(split(1:40, rep(1:8, each = 5)), paste0("s", 1:8))
  components <- write_table(stack(lapply(sets, function(i) case$g$variants$id[i])), "fine.txt",
                            FALSE)
  result <- reml("--components", components, "--merge")
  merged <- merge_components(fit(case$g, sets), stats::qnorm(0.95), progress = FALSE)
  expect_lt(length(merged$theta), 9)
  is_fit(result, merged)
  table <- result$table("merged")
  expect_identical(table$into, merged$merged$into)
  expect_equal(table$z, merged$merged$z, tolerance = 1e-6)
})

test_that("effects, genetic values, information and predictions are R's", {
  train <- write_table(data.frame(1, ids[11:60]), "train.txt", FALSE)
  result <- reml("--keep", train, "--covar", covar, "--components", at("mice.json"), "--effects",
                 "--predict", at("test.bed"), "--export", "information,genetic")
  expected <- quiet_fit(y ~ sex + age, case$data, case$g[11:60, ],
                        list(a = 1:20, component2 = 21:40))
  is_fit(result, expected)
  effects <- variant_effects(expected, progress = FALSE)
  expect_equal(result$table("effects")$effect, effects$effect, tolerance = 1e-8)
  genetic <- result$table("genetic")
  expect_identical(genetic$IID, rep(ids[11:60], 2))
  expect_equal(genetic$value, as.vector(expected$genetic), tolerance = 1e-8)
  information <- result$table("information")
  expect_identical(information$component, rep(names(expected$theta), each = 3))
  expect_equal(matrix(information$information, 3), unname(expected$information), tolerance = 1e-7)
  predicted <- result$table("predicted")
  test <- open_genotypes(at("test.bed"))
  expect_identical(predicted$IID, ids[1:10])
  expect_equal(predicted$predicted, as.vector(predict(expected, test, case$data)), tolerance = 1e-8)
  expect_equal(predicted$genetic, as.vector(predict(expected, test, type = "genetic")),
               tolerance = 1e-8)

  others <- data.frame(FID = 1, IID = ids[2:9], sex = case$data$sex[2:9], age = 0)
  result <- reml("--keep", train, "--covar", covar, "--predict", at("test.bed"), "--predict-covar",
                 write_table(others, "others.txt"))
  expect_match(result$err, "2 samples without all covariates are not predicted, such", all = FALSE)
  expect_identical(is.na(result$table("predicted")$predicted), c(TRUE, rep(FALSE, 8), TRUE))
  # Labels of the samples to predict
  labels <- function(i, name) {
    write_table(data.frame(FID = 1, IID = ids[i], batch = rep(1:3, 20)[i]), name)
  }
  result <- reml("--keep", train, "--factors", labels(11:60, "of_fit.txt"), "--predict",
                 at("test.bed"), "--predict-factors", labels(1:10, "of_test.txt"))
  data <- data.frame(case$data, batch = factor(rep(1:3, 20)))
  by_batch <- quiet_fit(y ~ batch, data, case$g[11:60, ])
  expect_equal(result$table("predicted")$predicted, as.vector(predict(by_batch, test, data)),
               tolerance = 1e-8)
  expect_match(reml("--predict-factors", at("of_test.txt"))$err,
               "--predict-factors needs --predict", all = FALSE)
  # Without covariates, and by weighted blocks
  files <- paste(at(sprintf("W%d.npy", 1:3)), collapse = ",")
  result <- reml("--keep", train, "--weights", files, "--predict", at("test.bed"))
  kernel <- kernel_weighted(case$g[11:60, ], lapply(c(15, 15, 10), near_weights))
  expect_equal(result$table("predicted")$predicted,
               as.vector(predict(fit(kernels = list(weighted = kernel)), test)), tolerance = 1e-8)
})

test_that("faults of the genotypes to predict are theirs, and told once", {
  write_bed(case$g[1:10, 1:30], at("fewer.bed"))
  result <- reml("--predict", at("fewer.bed"))
  expect_identical(result$status, 0L)
  told <- grep("lacks .* of the fit's .* variants", result$err, value = TRUE)
  expect_length(told, 1)
  expect_match(told, "`--predict` lacks", fixed = TRUE)
  parts <- open_genotypes(case$file)
  write_table(data.frame(2, parts$variants$id, 0, parts$variants$position + 1e6, "A", "C"),
              "other.bim", FALSE)
  for (ending in c("bed", "fam")) {
    file.copy(sub("bed$", ending, case$file), at(paste0("other.", ending)))
  }
  expect_match(reml("--predict", at("other.bed"))$err, "`--predict` has no variant of the fit",
               fixed = TRUE, all = FALSE)
})

test_that("chromosomes are chosen of genotypes", {
  expect_match(run("reml", "--grm", at("mice"), "--chromosomes", "1")$err,
               "--chromosomes needs --genotypes", all = FALSE)
})

test_that("sparse gives the support of each phenotype", {
  case <- sparse_case()
  data <- case$data
  data$z <- rev(data$y)
  pheno <- write_table(data.frame(FID = 1, IID = data$id, data[c("y", "z")]), "two.txt")
  covar <- write_table(data.frame(FID = 1, IID = data$id, sex = data$sex), "sexes.txt")
  sets <- list(a = 1:40, b = 41:70)
  variants <- case$g$variants$id
  of_variants <- data.frame(variants, rep(names(sets), lengths(sets)))
  components <- write_table(of_variants, "sets.txt", FALSE)
  write_bed(case$g[1:10, ], at("sparse_test.bed"))
  result <- run("sparse", "--genotypes", case$g$path, "--covar", covar, "--components", components,
                "--predict", at("sparse_test.bed"), pheno = pheno)
  expect_identical(result$status, 0L, info = paste(result$err, collapse = " "))
  expected <- fit_sparse_reml(quiet_fit(y ~ sex, data, case$g, sets), progress = FALSE,
                              verbose = FALSE)
  of_y <- function(kind) {
    table <- result$table(kind)
    table[table$phenotype == "y", ]
  }
  expect_gt(nrow(expected$support), 0)
  expect_identical(of_y("support")$id, as.character(expected$support$id))
  expect_equal(of_y("support")$effect, expected$support$effect, tolerance = 1e-7)
  expect_identical(of_y("variances")$component, names(expected$variances))
  expect_equal(of_y("variances")$variance, unname(expected$variances), tolerance = 1e-7)
  expect_equal(of_y("fixed")$estimate, unname(coef(expected, "fixed")), tolerance = 1e-7)
  predicted <- predict(expected, open_genotypes(at("sparse_test.bed")), data, progress = FALSE)
  expect_equal(of_y("predicted")$predicted, as.vector(predicted), tolerance = 1e-7)
  traits <- result$table("traits")
  expect_identical(traits$status, rep("converged", 2))
  share <- 1 - expected$variances[["residual"]] / sum(expected$variances)
  expect_equal(traits$h2[1], share, tolerance = 1e-7)
})

test_that("combinations that contradict one another are wrong usage", {
  complains <- function(text, ..., command = "reml") {
    result <- run_here(command, "--out", at("out"), ...)
    expect_identical(result$status, 2L)
    expect_match(result$err, text, fixed = TRUE, all = FALSE)
  }
  g <- c("--genotypes", case$file)
  complains("--components cannot stand beside --by", g, "--components", "x", "--by", "file")
  complains("--weights cannot stand beside --admixture", g, "--weights", "x", "--admixture", "q")
  complains("--overlap is for --components, not for --weights", g, "--overlap", "--weights", "x")
  complains("--effects needs effects of variants, which are unknown with --grm", g, "--effects",
            "--grm", "x")
  complains("unknown with --admixture", g, "--predict", "x", "--admixture", "q")
  complains("reml needs --genotypes FILE or --grm PREFIXES", "--pheno", pheno)
  complains("--grm needs --pheno or --genotypes", "--grm", "x")
  complains("--components needs --genotypes", "--grm", "x", "--pheno", pheno, "--components", "c")
  complains("--maf needs --genotypes", "--grm", at("mice"), "--pheno", pheno, "--maf", "0.1")
  complains("--predict-covar needs --predict", g, "--predict-covar", "x")
  complains("--by must be file or chromosome, not set", g, "--by", "set")
  complains("--method must be auto or exact or stochastic, not ai", g, "--method", "ai")
  complains("--export must be information or genetic or samples, not all", g, "--export", "all")
  complains("--probes must be a positive whole number", g, "--probes", "0")
  complains("--covariates needs --covar or --factors", g, "--pheno", pheno, "--covariates", "x")
  complains("--weights has a group without a file", g, "--pheno", pheno, "--weights", "a;;b")
  complains("sparse takes no --weights", g, "--weights", "x", command = "sparse")
  complains("sparse needs --genotypes", command = "sparse")
})
