# Which samples and fixed effects a fit has.

set.seed(13)
case <- reml_case(30, 20)
g <- case$g
data <- case$data

samples_of <- function(formula = y ~ 1, table = data, genotypes = g, kernels = NULL, id = "id") {
  model_on_samples(reml_model(genotypes, NULL, kernels, FALSE), formula, table, id)
}

test_that("samples are in the order of the genotypes, and dropped by reason", {
  table <- data[30:1, ]
  table$y[table$id %in% c("s3", "s4")] <- NA
  table$age[table$id %in% c("s4", "s7")] <- NA
  table <- rbind(table[table$id != "s9", ], transform(table[1:2, ], id = c("x1", "x2")))
  found <- samples_of(y ~ age, table)
  kept <- setdiff(data$id, c("s3", "s4", "s7", "s9"))
  expect_identical(found$ids, kept)
  expect_identical(found$y, data$y[match(kept, data$id)])
  expect_identical(found$x[, "age"], data$age[match(kept, data$id)])
  expect_identical(found$genotypes$samples$id, kept)
  expect_equal(found$dropped, c(
    "not in keep" = 0, "not in genotypes" = 2, "no phenotype" = 3, "missing covariate" = 1,
    "not in kernels" = 0
  ))
  chosen <- samples_of(y ~ 1, data, g[c("s5", "s2", "s8"), ])
  expect_identical(chosen$ids, c("s5", "s2", "s8"))
  expect_equal(chosen$dropped[["not in keep"]], 27)
  expect_equal(chosen$dropped[["not in genotypes"]], 0)
})

test_that("ids that are numbers have no exponent, and a dot is all columns but the ids", {
  expect_identical(ids_as_text(c(99999, 1e5, 2e6, 0.5, NA)),
                   c("99999", "100000", "2000000", "0.5", NA))
  expect_identical(ids_as_text(c(3L, 100000L)), c("3", "100000"))
  found <- samples_of(y ~ ., data[c("id", "y", "age")])
  expect_identical(colnames(found$x), c("(Intercept)", "age"))
})

test_that("kernels find their samples by name, or have the order of the genotypes or data", {
  k <- tcrossprod(matrix(rnorm(900), 30)) / 30
  named <- `dimnames<-`(k, list(rev(data$id), rev(data$id)))[-(1:2), -(1:2)]
  table <- transform(data, y = replace(y, 4, NA))
  found <- samples_of(y ~ 1, table, g, list(a = kernel_matrix(named), b = kernel_matrix(k)))
  kept <- setdiff(data$id, c("s29", "s30", "s4"))
  expect_identical(found$ids, kept)
  expect_equal(found$dropped[["not in kernels"]], 2)
  expect_equal(found$dropped[["not in genotypes"]], 0)
  expect_identical(found$kernels$a, unname(named[kept, kept]))
  at <- match(kept, data$id)
  expect_identical(found$kernels$b, k[at, at])
  # Without genotypes the data have the order, or if all kernels have names, the first of them.
  reversed <- kernel_matrix(`dimnames<-`(k, list(rev(data$id), rev(data$id))))
  found <- samples_of(y ~ 1, table, NULL, list(b = kernel_matrix(k), a = reversed))
  expect_identical(found$ids, setdiff(data$id, "s4"))
  at <- match(found$ids, data$id)
  expect_identical(found$kernels$b, k[at, at])
  expect_identical(found$kernels$a, k[31 - at, 31 - at])
  found <- samples_of(y ~ 1, table, NULL, list(reversed))
  expect_identical(found$ids, setdiff(rev(data$id), "s4"))
  expect_identical(samples_of(y ~ 1, table, NULL, list(kernel_matrix(k)))$ids,
                   setdiff(data$id, "s4"))
})

test_that("kernels of genotypes join those of components", {
  model <- reml_model(g, list(a = 11:15, b = 2:4), list(c = kernel_grm(g, c(20, 3, 5))), TRUE)
  expect_identical(model$names, c("a", "b", "c"))
  expect_equal(model$genotypes$variant_index, c(2:5, 11:15, 20))
  expect_identical(model$uncovered, 10L)
  table <- model$weights
  expect_identical(
    split(model$genotypes$variants$id[table$variant], model$names[table$component]),
    list(a = sprintf("v%d", 11:15), b = sprintf("v%d", 2:4), c = c("v3", "v5", "v20"))
  )
  # Also variants that the first component's genotypes lack, in any order.
  model <- reml_model(g[, 12:3], NULL, list(kernel_grm(g[, c(19, 1)])), FALSE)
  expect_identical(model$genotypes$variants$id, sprintf("v%d", c(1, 3:12, 19)))
  expect_identical(model$uncovered, 0L)
  model <- reml_model(NULL, NULL, list(k = kernel_grm(g, 1:3, 0)), FALSE)
  expect_identical(model[c("names", "n_genetic", "scale_power")],
                   list(names = "k", n_genetic = 1L, scale_power = 0))
})

test_that("fixed effects are those of model.matrix()", {
  x <- samples_of(y ~ sex * poly(age, 2))$x
  expect_equal(x, model.matrix(~ sex * poly(age, 2), data), ignore_attr = TRUE)
  expect_identical(colnames(x), colnames(model.matrix(~ sex * poly(age, 2), data)))
  expect_identical(ncol(samples_of(y ~ 0)$x), 0L)
  expect_identical(samples_of(log(y + 10) ~ 1)$y, log(data$y + 10))
})

test_that("a constant covariate is dropped with a warning", {
  table <- transform(data, batch = "one", dose = 3, ward = factor("a", c("a", "b")))
  for (one in c("batch", "dose", "ward")) {
    warned <- expect_one_warning(
      x <- samples_of(reformulate(c(one, "age"), "y"), table)$x, "covariate",
      sprintf("'%s' is dropped", one), "30 samples"
    )
    expect_identical(colnames(x), c("(Intercept)", "age"))
    expect_identical(warned$warning$covariates, one)
  }
  # Constant among the samples of the fit alone
  table <- transform(data, y = replace(y, sex == "m", NA))
  expect_one_warning(samples_of(y ~ sex, table), "covariate", "'sex' is dropped", "15 samples")
  # Without an intercept it stands for one.
  expect_identical(unname(samples_of(y ~ 0 + dose, transform(data, dose = 3))$x), matrix(3, 30))
})

test_that("bad data are refused by sample and variable", {
  with_y <- function(row, value) transform(data, y = replace(y, row, value))
  other <- function(ids) transform(data, id = ids)
  k <- diag(30)
  apart <- transform(data, y = replace(y, 1:15, NA), age = replace(age, 16:30, NA))
  expect_refusals(list(
    list(function() samples_of(y ~ 1, 1), "`data`"),
    list(function() samples_of(y ~ 1, data, id = "iid"), "'iid'"),
    list(function() samples_of(y ~ 1, other(c("s1", "s1", 3:30))), "'s1' twice"),
    list(function() samples_of(y ~ 1, other(c("s1", NA, 3:30))), "Row 2"),
    list(function() samples_of(~ sex), "`formula`"),
    list(function() samples_of("y ~ 1"), "`formula`"),
    list(function() samples_of(z ~ 1), "'z' not found"),
    list(function() samples_of(y ~ offset(age)), "offset()"),
    list(function() samples_of(sex ~ 1), "'sex'", "numbers"),
    list(function() samples_of(cbind(y, age) ~ 1), "one column"),
    list(function() samples_of(y ~ 1, with_y(4, Inf)), "'y' of the sample 's4' is not finite"),
    list(function() samples_of(y ~ 1, with_y(4, NaN)), "'s4'"),
    list(function() samples_of(y ~ age, transform(data, age = replace(age, 9, -Inf))),
         "'age' of the sample 's9'"),
    list(function() samples_of(y ~ 1, other(sprintf("x%d", 1:30))),
         "no sample of the genotypes or kernels", "'x1'", "'s1'"),
    list(function() samples_of(y ~ 1, transform(data, y = NA_real_)), "None of the 30 common"),
    list(function() samples_of(y ~ age + twice, transform(data, twice = 2 * age + 1)), "'twice'",
         "'(Intercept)' and 'age'"),
    list(function() samples_of(y ~ 0 + zero + age, transform(data, zero = 0)), "'zero' is 0"),
    list(function() samples_of(y ~ factor(id)), "30 samples and 30 fixed effects"),
    list(function() samples_of(y ~ 1, transform(data, y = 7)), "'y' does not vary", "7"),
    list(function() samples_of(y ~ age, transform(data, y = 2 * age + 1)), "explain all", "'y'"),
    list(function() samples_of(y ~ age, transform(data, y = 1e200 * (2 * age + 1))), "explain all"),
    list(function() samples_of(y ~ age, transform(data, y = NA_real_)), "has a value of 'y'"),
    list(function() samples_of(y ~ age, apart), "values of all of 'y' and 'age'"),
    list(function() samples_of(y ~ 1, data, NULL), "no genetic component"),
    list(function() reml_model(NULL, list(a = 1), NULL, FALSE), "`genotypes`"),
    list(function() reml_model(case$calls, NULL, NULL, FALSE), "open_genotypes()"),
    list(function() samples_of(y ~ 1, data, g, list(kernel_matrix(diag(29)))), "'kernel1'",
         "29 samples", "there are 30"),
    list(function() samples_of(y ~ 1, data, g, list(a = 1)), "kernels$a"),
    list(function() samples_of(y ~ 1, data, g, 1), "`kernels`"),
    list(function() samples_of(y ~ 1, data, g, list(genotypes = kernel_matrix(k))), "'genotypes'"),
    list(function() samples_of(y ~ 1, data, g, list(residual = kernel_matrix(k))), "'residual'"),
    list(function() samples_of(y ~ 1, data, g, list(kernel_grm(g, scale_power = 0))), "-1 and 0"),
    list(function() samples_of(y ~ 1, data, g, list(kernel_grm(g[1:9, ]))), "'kernel1'", "samples")
  ))
})

test_that("settings are checked and put into the order of components", {
  expect_refusals(list(
    list(function() reml_control(start = c(1, Inf)), "`start`"),
    list(function() reml_control(lower = NA), "`lower`"),
    list(function() reml_control(lower = Inf), "`lower`"),
    list(function() reml_control(information = "observed"), "`information`"),
    list(function() reml_control(probes = 0), "`probes`"),
    list(function() reml_control(probes = matrix(NA_real_)), "`probes`"),
    list(function() reml_control(max_probes = 1.5), "`max_probes`"),
    list(function() reml_control(mc_tolerance = 0), "`mc_tolerance`"),
    list(function() reml_control(rank = -1), "`rank`"),
    list(function() reml_control(tolerance = 0), "`tolerance`"),
    list(function() reml_control(max_iterations = 0), "`max_iterations`"),
    list(function() reml_control(seed = -1), "`seed`"),
    list(function() core_control(reml_control(start = 1:2), c("a", "b", "residual"), 9, "exact"),
         "2 numbers", "'a', 'b' and 'residual'"),
    list(function() core_control(reml_control(lower = c(c = 1)), c("a", "residual"), 9, "exact"),
         "'c'"),
    list(function() {
      core_control(reml_control(probes = diag(8)), c("a", "residual"), 9, "stochastic")
    }, "8 rows", "9 samples")
  ))
  names <- c("a", "b", "residual")
  settings <- core_control(reml_control(start = c(residual = 3, b = 2, a = 1), lower = c(b = -Inf)),
                           names, 9, "exact")
  expect_identical(settings$start, c(a = 1, b = 2, residual = 3))
  expect_identical(settings$lower, c(0, -Inf, NA))
  expect_identical(settings$tolerance, 1e-18)
  settings <- core_control(reml_control(lower = -1, tolerance = 1e-3), names, 9, "stochastic")
  expect_identical(settings$lower, c(-1, -1, NA))
  expect_identical(settings$tolerance, 1e-3)
  expect_output(print(reml_control(lower = c(a = 1))), "a = 1")
})

test_that("factors keep the contrasts that a user has set, as in lm()", {
  table <- transform(data, group = factor(rep(letters[1:3], 10)))
  effects <- function(formula, table) {
    x <- samples_of(formula, table)$x
    expect_equal(unname(x), unname(stats::model.matrix(formula, table)), ignore_attr = TRUE)
    colnames(x)
  }
  trend <- table
  stats::contrasts(trend$group, 1) <- cbind(lin = -1:1)
  expect_identical(effects(y ~ group, trend), c("(Intercept)", "grouplin"))
  stats::contrasts(trend$group) <- stats::contr.helmert(3)
  expect_identical(effects(y ~ group, trend), c("(Intercept)", "group1", "group2"))
  stats::contrasts(trend$group) <- "contr.sum"
  expect_identical(effects(y ~ group, trend), c("(Intercept)", "group1", "group2"))
  effects(y ~ C(group, contr.sum), table)
  # A scheme holds for the levels that are left, a matrix does not.
  trend$y[trend$group == "c"] <- NA
  expect_identical(colnames(samples_of(y ~ group, trend)$x), c("(Intercept)", "group1"))
  stats::contrasts(trend$group) <- stats::contr.helmert(3)
  expect_equal(ncol(samples_of(y ~ C(group, contr.sum) + 0, trend)$x), 2L)
  x <- samples_of(y ~ group, trend)$x
  expect_identical(sort(unique(x[, "group1"])), c(-1, 1))
  stats::contrasts(trend$group, 1) <- cbind(lin = c(-1, 0, 3))
  expect_ancify_error(samples_of(y ~ group, trend), "input", "'group'", "no sample", "'c'")
  trend$y[trend$group == "b"] <- NA
  expect_warning(samples_of(y ~ group, trend), "dropped")
})

test_that("kernels without row names have the order of the data if there are no genotypes", {
  set.seed(15)
  table <- data[sample(30), ]
  site <- outer(rep(1:6, 5), rep(1:6, 5), "==") + 0
  family <- outer(rep(1:10, each = 3), rep(1:10, each = 3), "==") + 0
  dimnames(family) <- list(data$id, data$id)
  named <- structure(site, dimnames = list(table$id, table$id))
  for (order in list(1:2, 2:1)) {
    theta <- function(site) {
      kernels <- list(family = kernel_matrix(family), site = kernel_matrix(site))[order]
      quiet_fit(y ~ 1, table, kernels = kernels)$theta
    }
    expect_equal(theta(site), theta(named), tolerance = 1e-6)
  }
  found <- samples_of(y ~ 1, table, NULL, list(site = kernel_matrix(site)))
  expect_identical(found$ids, table$id)
  # With genotypes it is theirs.
  found <- samples_of(y ~ 1, table, g, list(site = kernel_matrix(site)))
  expect_identical(found$ids, g$samples$id)
})

test_that("names of components are there, and those of nothing else", {
  kernel <- kernel_matrix(outer(rep(1:6, 5), rep(1:6, 5), "==") + 0)
  named <- function(name) {
    quiet_fit(y ~ 1, data, g, kernels = stats::setNames(list(kernel), name))
  }
  expect_ancify_error(named("h2"), "input", "'h2' stands for the heritability")
  expect_ancify_error(named("residual"), "input", "a residual")
  expect_ancify_error(named("genotypes"), "input", "two components")
  weights <- matrix(1, 20, 1, dimnames = list(NULL, NA))
  expect_ancify_error(quiet_fit(y ~ 1, data, g, weights), "input", "has no name")
  file <- tempfile(fileext = ".json")
  writeLines('{"": ["v1", "v2"]}', file)
  expect_ancify_error(quiet_fit(y ~ 1, data, g, read_components(file)), "input", "name")
})

test_that("rounding in fits of few samples is not told as a kernel's fault", {
  set.seed(1)
  for (n in c(4, 5, 8)) {
    k <- tcrossprod(matrix(rnorm(n * 40), n)) / 40
    data <- data.frame(id = seq_len(n), y = rnorm(n), x = rnorm(n))
    fit <- function(...) {
      kernels <- list(a = kernel_matrix(`dimnames<-`(k, list(seq_len(n), seq_len(n)))))
      quiet_fit(y ~ x, data, kernels = kernels, ...)
    }
    expect_s3_class(fit(method = "exact"), "reml_fit")
    text <- tryCatch({
      suppressWarnings(fit(method = "stochastic"))
      "fitted"
    }, ancify_input_error = conditionMessage)
    expect_match(text, sprintf("^fitted$|these %d samples in rounding.*method = \"exact\"", n))
  }
  names <- rev(as.character(data$id))
  expect_ancify_error(fit(control = reml_control(probes = matrix(1, n, 2, dimnames = list(names)))),
                      "input", "Row 1 of `probes` is '8', but this sample is '1'")
})
