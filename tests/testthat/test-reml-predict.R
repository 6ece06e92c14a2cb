# Predictions from genotypes, against dense kernels.

# 90 samples in families, of which the last 20 are held out.
predicted_case <- function() {
  set.seed(3)
  calls <- simulate_calls(90, 60, family = 3, missing = 0.03)
  calls[1:70, 5] <- 1 # does not vary in the fit
  stem <- tempfile("predict")
  oracle_write_bed(calls, stem, rep(c("1", "2"), each = 30))
  data <- data.frame(
    id = rownames(calls), sex = rep(c("m", "f"), 45),
    y = simulate_trait(replace(calls, is.na(calls), 1), 0.5)
  )
  list(calls = calls, g = open_genotypes(stem), data = data, stem = stem)
}

# Genetic values of all samples by the kernel of the fit's samples: theta K P y.
oracle_prediction <- function(calls, fit, sets, power) {
  old <- seq_along(fit$ids)
  total <- 0
  for (k in seq_along(sets)) {
    part <- calls[, sets[[k]]]
    mean <- colMeans(part[old, ], na.rm = TRUE)
    v <- colMeans(part[old, ]^2, na.rm = TRUE) - mean^2
    used <- v > 1e-12
    z <- sweep(sweep(part[, used], 2, mean[used]), 2, v[used]^(power / 2), "*")
    z[is.na(z)] <- 0
    kernel <- tcrossprod(z, z[old, ]) / sum(v[used]^(1 + power))
    total <- total + fit$theta[k] * drop(kernel %*% fit$residual_projection)
  }
  total
}

test_that("predictions are those of the kernel between samples", {
  case <- predicted_case()
  for (power in c(-1, 0)) {
    for (sets in list(list(all = 1:60), list(a = 1:30, b = 31:60))) {
      kernels <- lapply(sets, function(set) kernel_grm(case$g[1:70, ], set, power))
      fit <- fit_reml(y ~ sex, case$data, kernels = kernels, threads = 1, verbose = FALSE)
      expected <- oracle_prediction(case$calls, fit, sets, power)
      expect_equal(unname(predict(fit, type = "genetic")), unname(expected[1:70]),
                   tolerance = 1e-8)
      found <- predict(fit, case$g[71:90, ], type = "genetic")
      expect_equal(c(found), expected[71:90], tolerance = 1e-8, ignore_attr = TRUE)
      expect_named(found, case$data$id[71:90])
      used <- sum(variant_effects(fit)$effect != 0) # none of a component without variance
      expect_identical(attr(found, "variants"), c(used = used, turned = 0L, absent = 0L))
      whole <- predict(fit, case$g[71:90, ], case$data[90:1, ])
      sex <- ifelse(case$data$sex[71:90] == "m", fit$coefficients[["sexm"]], 0)
      expect_equal(c(whole), expected[71:90] + fit$coefficients[["(Intercept)"]] + sex,
                   tolerance = 1e-8, ignore_attr = TRUE)
    }
  }
})

test_that("the samples of the fit have their fitted values", {
  case <- predicted_case()
  fit <- fit_reml(y ~ sex, case$data, case$g, threads = 1, verbose = FALSE)
  expect_equal(c(predict(fit, case$g, case$data)), fitted(fit), tolerance = 1e-8,
               ignore_attr = TRUE)
  expect_identical(predict(fit), fitted(fit))
})

test_that("effects are those of variants, and make the same values", {
  case <- predicted_case()
  fit <- fit_reml(y ~ sex, case$data, case$g[1:70, ], threads = 1, verbose = FALSE)
  effects <- variant_effects(fit)
  expect_identical(effects$effect[5], 0)
  new <- sweep(case$calls[71:90, ], 2, 2 * effects$frequency)
  new[is.na(new)] <- 0
  expect_equal(drop(new %*% effects$effect), c(predict(fit, case$g[71:90, ], type = "genetic")),
               tolerance = 1e-8, ignore_attr = TRUE)
})

test_that("variants are matched by place and alleles, and turned", {
  case <- predicted_case()
  fit <- fit_reml(y ~ sex, case$data, case$g[1:70, ], threads = 1, verbose = FALSE)
  straight <- predict(fit, case$g[71:90, ], type = "genetic")
  # Others names, order and counted alleles.
  order <- 60:1
  turned <- 2 - case$calls[71:90, order]
  stem <- tempfile("turned")
  oracle_write_bed(turned, stem, rep(c("chr2", "chr1"), each = 30))
  bim <- utils::read.table(paste0(case$stem, ".bim"), colClasses = "character")[order, ]
  bim$V1 <- paste0("chr", bim$V1)
  bim[c("V5", "V6")] <- bim[c("V6", "V5")]
  bim$V2 <- paste0("other", order)
  write_columns(bim, paste0(stem, ".bim"))
  found <- predict(fit, open_genotypes(stem), type = "genetic")
  expect_equal(c(found), c(straight), tolerance = 1e-8, ignore_attr = TRUE)
  expect_identical(attr(found, "variants"), c(used = 59L, turned = 59L, absent = 0L))
  expect_warning(some <- predict(fit, case$g[71:90, 1:10], type = "genetic"),
                 class = "ancify_variants_warning")
  expect_identical(attr(some, "variants"), c(used = 9L, turned = 0L, absent = 50L))
})

test_that("covariates of predictions are coded as in the fit", {
  case <- predicted_case()
  case$data$grade <- factor(
    rep(c("low", "mid", "high"), 30), c("low", "mid", "high"), ordered = TRUE
  )
  case$data$age <- rep(1:9, 10)
  fit <- fit_reml(y ~ sex + grade + poly(age, 2), case$data, case$g, threads = 1, verbose = FALSE)
  old <- options(contrasts = c("contr.sum", "contr.poly"))
  on.exit(options(old))
  expect_equal(c(predict(fit, case$g, case$data)), fitted(fit), tolerance = 1e-8,
               ignore_attr = TRUE)
  case$data$age[4] <- NA
  expect_identical(which(is.na(predict(fit, case$g, case$data))), c(s4 = 4L))
})

test_that("a fit without genetic variance predicts its fixed effects", {
  case <- predicted_case()
  set.seed(5)
  case$data$y <- rep(c(-1, 1), length.out = 90)
  expect_warning(
    fit <- fit_reml(y ~ 1, case$data, case$g[1:70, ], threads = 1, verbose = FALSE),
    class = "ancify_response_warning"
  )
  expect_identical(fit$theta[[1]], 0)
  expect_equal(c(predict(fit, case$g[71:90, ])), rep(fit$coefficients[[1]], 20),
               ignore_attr = TRUE)
})

test_that("variants that are there twice keep apart", {
  case <- predicted_case()
  bim <- utils::read.table(paste0(case$stem, ".bim"), colClasses = "character")
  bim[2:3, ] <- bim[c(1, 1), ]
  bim[3, 5:6] <- bim[1, 6:5]
  bim$V2 <- paste0("v", 1:60)
  write_columns(bim, paste0(case$stem, ".bim"))
  g <- open_genotypes(case$stem)
  fit <- fit_reml(y ~ 1, case$data, g, threads = 1, verbose = FALSE)
  expect_equal(c(predict(fit, g)), fitted(fit), tolerance = 1e-8, ignore_attr = TRUE)
})

test_that("variants of one place and alleles are told apart by their ids", {
  case <- predicted_case()
  calls <- replace(case$calls, is.na(case$calls), 1)
  colnames(calls) <- paste0("v", 1:60)
  fit <- fit_reml(y ~ 1, case$data, open_genotypes(calls), threads = 1, verbose = FALSE)
  expected <- predict(fit, open_genotypes(calls))
  # No variant of a matrix has a place.
  order <- sample(60)
  expect_equal(predict(fit, open_genotypes(calls[, order])), expected, tolerance = 1e-8)
  effects <- variant_effects(fit)
  half <- seq(2, 60, 2)
  expect_warning(
    some <- predict(fit, open_genotypes(calls[, half]), type = "genetic"),
    "lacks 30 of .* 60 variants.* of 30 several have place and alleles, but not the id",
    class = "ancify_variants_warning"
  )
  centred <- sweep(calls, 2, 2 * effects$frequency)
  expect_equal(c(some), drop(centred[, half] %*% effects$effect[half]), tolerance = 1e-8,
               ignore_attr = TRUE)
  others <- calls
  colnames(others) <- paste0("other", 1:60)
  expect_ancify_error(predict(fit, open_genotypes(others)), "input", "'v1'", "'other1'")

  # Two variants of one place, exchanged; and of one id too
  variants <- case$g$variants
  variants$position[2] <- variants$position[1]
  twice <- open_genotypes(calls, variants)
  fit <- fit_reml(y ~ 1, case$data, twice, threads = 1, verbose = FALSE)
  exchanged <- c(2, 1, 3:60)
  new <- open_genotypes(calls[, exchanged], variants[exchanged, ])
  expect_equal(predict(fit, new), predict(fit, twice), tolerance = 1e-8)
  variants$id[2] <- variants$id[1]
  expect_warning(found <- predict(fit, open_genotypes(calls, variants)), "lacks 2 of",
                 class = "ancify_variants_warning")
  expect_identical(attr(found, "variants")[["absent"]], 2L)
})

test_that("alleles of variants are matched in any case", {
  case <- predicted_case()
  fit <- fit_reml(y ~ 1, case$data, case$g, threads = 1, verbose = FALSE)
  variants <- case$g$variants
  variants[c("counted", "other")] <- lapply(variants[c("other", "counted")], tolower)
  turned <- open_genotypes(2 - case$calls, variants)
  expect_equal(predict(fit, turned), predict(fit, case$g), tolerance = 1e-8, ignore_attr = TRUE)
})

test_that("predictions that cannot be made are refused", {
  case <- predicted_case()
  fit <- fit_reml(y ~ sex, case$data, case$g[1:70, ], threads = 1, verbose = FALSE)
  new <- case$g[71:90, ]
  expect_ancify_error(predict(fit, new), "input", "sexm")
  expect_ancify_error(predict(fit, data = case$data), "input", "genotypes")
  expect_ancify_error(predict(fit, new, case$data[1:80, ]), "input", "s81")
  expect_ancify_error(predict(fit, new, case$data["id"]), "input", "lacks 'sex'")
  aged <- fit_reml(y ~ age, cbind(case$data, age = 1:90), case$g[1:70, ], threads = 1,
                   verbose = FALSE)
  expect_ancify_error(predict(aged, new, cbind(case$data, age = "old")), "input",
                      "must be numbers")
  other <- replace(case$data, "sex", "unknown")
  expect_ancify_error(predict(fit, new, other), "input", "unknown")
  stem <- tempfile("elsewhere")
  oracle_write_bed(case$calls, stem, rep("3", 60))
  expect_ancify_error(predict(fit, open_genotypes(stem), type = "genetic"), "input", "no variant")
  strand <- case$g$variants
  strand[c("counted", "other")] <- list("T", "C")
  expect_ancify_error(
    predict(fit, open_genotypes(case$calls, strand), type = "genetic"), "input",
    "60 variants with other alleles", "1:1,000, A/G in the fit and T/C here"
  )
  expect_ancify_error(predict(fit, case$g[c(71, 72, 71), ], case$data), "input", "'s71' is chosen")
  expect_ancify_error(predict(fit, new, case$data[c(71:90, 80), ]), "input", "'s80' twice")
  families <- kernel_matrix(outer(1:90, 1:90, function(i, j) (i + 2) %/% 3 == (j + 2) %/% 3) + 0)
  both <- fit_reml(y ~ sex, case$data, case$g, kernels = list(family = families), threads = 1,
                   verbose = FALSE)
  expect_ancify_error(variant_effects(both), "input", "'family'")
})

test_that("covariates that are no columns of the data are refused", {
  case <- predicted_case()
  age <- stats::rnorm(90)
  workspace <- fit_reml(y ~ age, case$data, case$g, threads = 1, verbose = FALSE)
  table <- cbind(case$data, age)
  column <- fit_reml(y ~ age, table, case$g, threads = 1, verbose = FALSE)
  expect_equal(coef(workspace), coef(column))
  expect_ancify_error(predict(workspace, case$g[90:1, ], case$data), "input", "not columns of")
  expect_ancify_error(predict(workspace, case$g[1:20, ], case$data), "input", "not columns of")
  by_name <- fit_reml(table$y ~ table$age, table, case$g, threads = 1, verbose = FALSE)
  expect_ancify_error(predict(by_name, case$g[90:1, ], table), "input", "not columns of `data`")
  mixed <- fit_reml(y ~ sex + age, case$data, case$g, threads = 1, verbose = FALSE)
  expect_ancify_error(predict(mixed, case$g[1:20, ], case$data), "input", "variable lengths differ")
  # What a term takes beside its columns may come from the workspace.
  degree <- 2
  curve <- fit_reml(y ~ poly(age, degree), table, case$g, threads = 1, verbose = FALSE)
  expect_equal(predict(curve, case$g[20:1, ], table)[1:20], predict(curve, case$g, table)[20:1])
  logs <- fit_reml(y ~ log(age), transform(table, age = abs(age) + 1), case$g, threads = 1,
                   verbose = FALSE)
  expect_ancify_error(predict(logs, case$g, transform(table, age = "old")), "input",
                      "cannot be made of `data`")
})
