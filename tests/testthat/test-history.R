# Coalescent histories.

near <- coalescent_history(
  c(a = 40000, b = 120000, c = 200000), c(30000, 25000, 35000),
  focal_size = 30000, model = list(rates = c(1, 4, 1, 1, 4, 1))
)

# For what does not depend on the number of outgroups: a fit takes a fifth of the time.
two <- coalescent_history(
  c(a = 40000, b = 120000), c(30000, 25000), focal_size = 30000, model = near$model
)

# Every pattern without missing bases, with its expected count under a history.
expected_counts <- function(history, sites) {
  bases <- c("A", "C", "G", "T")
  species <- length(history$splits) + 1
  patterns <- do.call(paste0, do.call(expand.grid, rep(list(bases), species)))
  probabilities <- array(
    pattern_probabilities_impl(
      core_history(history), core_mutation_model(history), function(...) NULL
    ),
    rep(5, species)
  )
  whole <- do.call(`[`, c(list(probabilities), rep(list(1:4), species)))
  data.frame(pattern = patterns, count = sites * as.vector(whole))
}

test_that("a history prints its splits from the youngest on", {
  history <- coalescent_history(
    c(far = 3e5, near = 1e5, nearer = 5e4), 20000, 10000, into = c("0", "far", "near")
  )
  printed <- capture.output(expect_identical(print(history), history))
  expect_identical(printed[1:6], c(
    "<ancify_history> 3 outgroups",
    "  focal size     10,000",
    "  haplotypes     20",
    "  splits         nearer joins near at 50,000 generations, size 20,000",
    "                 near joins far at 100,000 generations, size 20,000",
    "                 far joins the focal species at 300,000 generations, size 20,000"
  ))
})

test_that("without a focal size the next older size is used, with a message", {
  expect_message(
    history <- coalescent_history(c(2e5, 1e5), c(40000, 20000)), "20,000",
    class = "ancify_log_message"
  )
  expect_identical(history$focal_size, 20000)
})

test_that("outgroups may be in any order", {
  turned <- near
  turned$splits <- rev(near$splits)
  turned$sizes <- rev(near$sizes)
  sites <- function(patterns, history) {
    polarise_sites(patterns, c("A/G", "C/G"), c(3, 9), 20, history)
  }
  expect_equal(sites(c("AGG", "GCN"), near), sites(c("GGA", "NCG"), turned))
})

test_that("invalid histories are errors with the reason", {
  refused <- function(..., text) expect_ancify_error(coalescent_history(...), "input", text)
  refused(c(1e5, -1), 1e4, 1e4, text = "`splits` must be numbers above 0")
  refused(1e5, NA_real_, 1e4, text = "`sizes` must be numbers above 0")
  refused(1e5, 1e4, 0, text = "`focal_size` must be a number above 0")
  refused(c(1e5, 2e5, 3e5), c(1e4, 1e4), 1e4, text = "`sizes` has length 2")
  refused(1e5, c(0.5), 1e4, text = "`sizes` is 0.5: give numbers of diploids")
  refused(1e5, 1e4, 0.5, text = "`focal_size` is 0.5: give numbers of diploids")
  refused(1e5, 1e4, 1e4, focal_lineages = 10001, text = "up to 10,000")
  refused(1e5, 1e4, 1e4, focal_lineages = 0, text = "`focal_lineages`")
  refused(1e5, 1e4, 1e4, mutation_rate = c(1, 2), text = "`mutation_rate` must be a number")
  refused(1e5, 1e4, 1e4, model = "F81", text = "`model` must be one of")
  refused(1e5, 1e4, 1e4, model = 3, text = "`model` must be")
  refused(1e5, 1e4, 1e4, model = list(3), text = "`model` must be")
  refused(1e5, 1e4, 1e4, model = list(rate = 1:6), text = "rate")
  refused(1e5, 1e4, 1e4, model = list(rates = 1:5), text = "`rates`")
  refused(1e5, 1e4, 1e4, model = list(rates = -(1:6)), text = "`rates`")
  refused(1e5, 1e4, 1e4, model = list(invariant = 1), text = "`invariant`")
  refused(c(1e5, 2e5), 1e4, 1e4, into = c(0, 3), text = "`into` has 3")
  refused(c(1e5, 2e5), 1e4, 1e4, into = c(0, 1), text = "Outgroup 2 joins outgroup 1 200,000")
  refused(c(1e5, 1e5), 1e4, 1e4, into = c(2, 1), text = "Outgroup 1 joins outgroup 2 100,000")
})

test_that("all splits have different names, or none", {
  refused <- function(names, text) {
    splits <- stats::setNames(c(1e5, 2e5, 3e5), names)
    expect_ancify_error(coalescent_history(splits, 1e4, 1e4), "input", text)
  }
  refused(c("", "", ""), "split 1 is ''")
  refused(c("a", "", "c"), "split 2 is ''")
  refused(c("a", NA, "c"), "split 2")
  refused(c("a", "b", "a"), "split 3 is 'a'")
  refused(c("a", "0", "c"), "split 2 is '0'")
})

test_that("a history's model may be a name, a list or a model", {
  model_of <- function(model) coalescent_history(1e5, 1e4, 1e4, model = model)$model
  expect_identical(model_of(NULL), substitution_model("JC69"))
  expect_identical(model_of("JC69"), substitution_model("JC69"))
  gtr <- substitution_model("GTR", rates = 1:6, alpha = 0.5)
  expect_identical(model_of(gtr), gtr)
  expect_identical(model_of(list(rates = 1:6, alpha = 0.5)), gtr)
  expect_identical(model_of(list(name = "K80", kappa = 4)), substitution_model("K80", kappa = 4))
})

test_that("a history that was changed is checked again", {
  refused <- function(..., text) {
    changed <- near
    changed[names(list(...))] <- list(...)
    expect_ancify_error(polarise_sites("AAA", "A/C", 3, 20, changed), "input", text)
  }
  refused(splits = c(1, 2, NA), text = "`splits`")
  refused(sizes = 1:2, text = "`sizes` has length 2")
  refused(into = c(0, 1, 9), text = "`into`")
  refused(mutation_rate = "fast", text = "`mutation_rate`")
  refused(model = "F81", text = "`model` must be one of")
})

test_that("changes of a history and its model count", {
  changed <- near
  changed$splits <- near$splits * 2
  changed$into <- c("0", "0", "0")
  changed["focal_size"] <- list(NULL)
  changed$model <- "K80"
  made <- suppressMessages(
    coalescent_history(near$splits * 2, near$sizes, NULL, near$focal_lineages, near$mutation_rate,
                       "K80")
  )
  called <- function(history) polarise_sites("ACN", "A/C", 3, 20, history)
  expect_identical(called(changed), called(made))
  model <- substitution_model("HKY85", kappa = 2)
  model$kappa <- 50
  expect_identical(check_model(model), substitution_model("HKY85", kappa = 50))
})

test_that("the core's errors come through", {
  recent <- coalescent_history(c(1000, 2e5), 1e6, 1e6)
  expect_ancify_error(polarise_sites("AA", "A/C", 3, 1000, recent), "input", "too recent")
  frequencies <- near
  frequencies$model$base_freqs <- c(0.5, 0.5, 0.5, 0.5)
  expect_ancify_error(polarise_sites("AAA", "A/C", 3, 20, frequencies), "input", "sum to 2")
})

long_test_that("a fit to expected counts finds the history", {
  start <- near
  start$splits <- near$splits * c(1.3, 1.2, 0.8)
  start$sizes <- near$sizes * c(0.5, 2, 0.6)
  # So many sites that the prior on sizes has no weight
  counts <- expected_counts(near, 1e14)
  fit <- fit_history(counts, start)
  expect_true(fit$converged)
  expect_equal(fit$history$splits, near$splits, tolerance = 1e-3)
  expect_equal(fit$history$sizes, near$sizes, tolerance = 1e-3)
  probabilities <- counts$count / 1e14
  expect_equal(fit$log_likelihood, sum(counts$count * log(probabilities)), tolerance = 1e-12)
  expect_equal(coef(fit)[c(2, 4)],
               c("split b" = fit$history$splits[[2]], "size a" = fit$history$sizes[[1]]))
  expect_identical(attr(logLik(fit), "df"), 6L)
  expect_output(print(summary(fit)), "size c")
  expect_true(all(fit$estimates$std_error < 0.01 * fit$estimates$estimate))
})

long_test_that("errors of estimates are about as large as their standard errors", {
  set.seed(2)
  # So many sites that the prior on sizes has no weight
  expected <- expected_counts(two, 1e12)
  squares <- vapply(1:9, function(i) {
    fit <- fit_history(transform(expected, count = rpois(length(count), count)), two)
    mean(((coef(fit) - c(two$splits, two$sizes)) / fit$estimates$std_error)^2)
  }, 0)
  expect_gt(mean(squares), 0.5)
  expect_lt(mean(squares), 1.8)
})

# An order of splits as the populations after each join, each named by its species.
populations_of <- function(history) {
  members <- as.list(0:length(history$splits))
  lapply(order(history$splits), function(from) {
    into <- history$into[from] + 1
    members[[into]] <<- sort(c(members[[into]], members[[from + 1]]))
    members[from + 1] <<- list(NULL)
    sort(vapply(Filter(length, members), paste, "", collapse = " "))
  })
}

# Fits with so few sites warn of standard errors.
quiet_fit <- function(...) {
  withCallingHandlers(fit_history(...), ancify_fit_warning = function(warning) {
    if (grepl("hardly determine", conditionMessage(warning))) tryInvokeRestart("muffleWarning")
  })
}

long_test_that("neighbouring orders are all that differ at the splits that touch", {
  random_order <- function(n) {
    history <- coalescent_history(seq_len(n) * 1e5, 2e4, 2e4)
    left <- 0:n
    for (i in sample(n)) {
      left <- setdiff(left, i)
      history$into[i] <- left[sample(length(left), 1)]
      history$splits[i] <- (n + 1 - length(left)) * 1e5
    }
    history
  }
  set.seed(4)
  everywhere <- unique(lapply(1:3000, function(i) populations_of(random_order(4))))
  expect_length(everywhere, 10 * 6 * 3)
  for (i in 1:20) {
    history <- random_order(4)
    k <- sample(3, 1)
    history$splits[history$splits == (k + 1) * 1e5] <- k * 1e5 + 10
    own <- populations_of(history)
    near <- Filter(function(other) !identical(other, own) && identical(other[-k], own[-k]),
                   everywhere)
    found <- lapply(neighbouring_orders(history, history), check_history)
    expect_setequal(lapply(found, populations_of), near)
  }
  expect_length(neighbouring_orders(random_order(4), random_order(4)), 0)
})

test_that("a start with splits in the wrong order finds the right one, and says so", {
  true <- coalescent_history(c(a = 2e5, b = 1e5), c(30000, 20000), 20000)
  counts <- expected_counts(true, 1e9)
  fit_from <- function(a, b, into = 0) {
    expect_message(
      fit <- quiet_fit(counts, coalescent_history(c(a = a, b = b), 20000, 20000, into = into)),
      "'b' joins the focal species, 'a' joins the focal species", class = "ancify_log_message"
    )
    fit
  }
  right <- expect_silent(quiet_fit(counts, true))
  for (fit in list(fit_from(1e5, 2e5), fit_from(1e5, 2e5, c("b", "0")))) {
    expect_true(fit$converged)
    expect_equal(fit$log_likelihood, right$log_likelihood, tolerance = 1e-10)
    expect_equal(fit$history$splits, right$history$splits, tolerance = 1e-2)
    expect_identical(fit$history$into, c(0L, 0L))
  }
})

long_test_that("sisters among the outgroups are found by several steps", {
  true <- coalescent_history(c(a = 5e4, b = 15e4, c = 25e4), 20000, 20000, into = c("b", "0", "0"))
  start <- coalescent_history(c(a = 10e4, b = 15e4, c = 5e4), 20000, 20000)
  fit <- suppressMessages(quiet_fit(expected_counts(true, 1e8), start))
  expect_identical(populations_of(fit$history), populations_of(true))
})

test_that("splits that touch in every order are a warning", {
  at_once <- coalescent_history(c(a = 1e5, b = 1e5), c(20000, 20000), 20000)
  expect_warning(
    quiet_fit(expected_counts(at_once, 1e9), coalescent_history(c(a = 1e5, b = 2e5), 2e4, 2e4)),
    "same time.*'[ab]' and '[ab]'.*leave out one", class = "ancify_fit_warning"
  )
})

long_test_that("species are matched to splits by name, and others are left out", {
  counts <- expected_counts(near, 1e9)
  letters <- do.call(rbind, strsplit(counts$pattern, ""))
  other <- data.frame(
    pattern = paste0(letters[, 3], tolower(letters[, 1]), "G", letters[, 4], letters[, 2]),
    count = counts$count
  )
  species <- c("c", "a", "unused", "human", "b")
  expect_equal(
    fit_history(other, near, species, "human"), fit_history(counts, near), tolerance = 1e-8
  )
  refused <- function(text, ...) {
    expect_ancify_error(fit_history(other, near, ...), "input", text)
  }
  refused("the focal species", species)
  refused("'b'", c("c", "a", "unused", "human", "rhesus"), "human")
  refused("5 bases", species[1:4], "human")
  refused("'b', which is an outgroup", species, "b")
  refused("one species' name", species, c("human", "b"))
  unnamed <- near
  names(unnamed$splits) <- NULL
  expect_ancify_error(fit_history(other, unnamed, species, "human"), "input", "4 outgroups")
})

long_test_that("an estimated history polarises as many sites correctly as the true one", {
  set.seed(1)
  given <- coalescent_history(c(40000, 120000, 200000), 30000, 30000)
  sites <- simulated_sites(1500, 20, given)
  counts <- expected_counts(given, 1e7)
  counts$count <- rpois(nrow(counts), counts$count)
  start <- given
  start$splits <- given$splits * c(1.3, 1.2, 0.8)
  start$sizes <- given$sizes * c(0.5, 2, 0.6)
  fit <- suppressWarnings(fit_history(counts, start), classes = "ancify_fit_warning")
  right <- function(history) {
    calls <- polarise_sites(sites$pattern, sites$alleles, sites$count, 20, history)
    sum((toupper(calls$ancestral) == sites$truth) * sites$weight) / sum(sites$weight)
  }
  expect_gt(right(given), 0.98)
  expect_gt(right(fit$history), right(given) - 0.003)
})

long_test_that("a fit with too little data is no less likely than its start", {
  counts <- data.frame(pattern = c("AAAA", "ACNA", "GGTT"), count = c(1000, 3, 1))
  expect_warning(
    fit <- fit_history(counts, near), "'size a', 'size b' and 'size c'.*exceed",
    class = "ancify_fit_warning"
  )
  expect_true(fit$converged)
  expect_true(all(is.finite(c(fit$history$splits, fit$history$sizes, fit$log_likelihood))))
})

test_that("an estimate at its bound has no standard error, nor have values that depend on it", {
  start <- coalescent_history(c(a = 40000, b = 120000), 30000, 30000)
  fit <- suppressWarnings(
    fit_history(data.frame(pattern = c("AAA", "CGC"), count = c(1e6, 1e4)), start),
    classes = "ancify_fit_warning"
  )
  expect_equal(fit$estimates$estimate[c(1, 3)], c(400, 300), tolerance = 1e-6)
  expect_identical(is.na(fit$estimates$std_error), c(TRUE, TRUE, TRUE, FALSE))
  expect_output(print(fit), "undetermined +split a, split b and size a \\(or at a bound\\)\n")
})

test_that("a free focal size equals the next older size", {
  free <- suppressMessages(coalescent_history(c(40000, 120000), 30000))
  fit <- fit_history(expected_counts(free, 1e14), free)
  expect_identical(fit$history$focal_size, fit$history$sizes[[1]])
  expect_output(print(fit), "not fitted +the focal size \\(not given: the next older size\\)")
})

test_that("a given focal size stays, also if it equals the next older size", {
  expect_identical(two$focal_size, two$sizes[[1]])
  true <- two
  true$sizes[1] <- 60000
  fit <- fit_history(expected_counts(true, 1e14), two)
  expect_identical(fit$history$focal_size, 30000)
  expect_output(print(fit), "not fitted +the focal size \\(given\\)")
  expect_equal(fit$history$sizes[[1]], 60000, tolerance = 1e-2)
})

long_test_that("the example's fit converges from any start", {
  config <- ancify_example()
  ancify_run(config, "project", threads = 1, verbose = FALSE)
  counts <- total_counts(count_patterns(config, threads = 1, progress = FALSE))
  fit_from <- function(splits, size) {
    # Three sizes are hardly determined by so few sites.
    suppressWarnings(
      fit_history(counts, suppressMessages(coalescent_history(splits, size))),
      classes = "ancify_fit_warning"
    )
  }
  fit <- fit_from(c(4e5, 6e5, 2e6), 30000)
  other <- fit_from(c(3e5, 8e5, 3e6), 60000)
  expect_true(fit$converged && other$converged)
  expect_equal(other$log_likelihood, fit$log_likelihood, tolerance = 1e-9)
  expect_equal(other$history$splits, fit$history$splits, tolerance = 1e-3)
  expect_equal(other$history$sizes, fit$history$sizes, tolerance = 1e-3)
})

test_that("invalid counts are errors", {
  refused <- function(counts, text) expect_ancify_error(fit_history(counts, near), "input", text)
  refused(list(), "data frame")
  refused(data.frame(pattern = "AAAA", count = -1), "Row 1")
  refused(data.frame(pattern = "AAA", count = 1), "'AAA' has 3 bases")
  refused(data.frame(pattern = "AANA", count = 1), "No site has a base of 'c'")
})

test_that("samples of more than a million haplotypes are errors", {
  refused <- function(counts, n) {
    expect_ancify_error(
      polarise_sites(c("AAA", "AAA"), rep("A/C", 2), counts, n, near),
      "input", "Site 2", "1,000,000"
    )
  }
  refused(c(1, 1), c(10, 1e6 + 1))
  refused(c(1, 1), c(10, 1e12))
})

test_that("sizes and joins go by the outgroups' names", {
  splits <- c(a = 40000, b = 120000, c = 200000)
  expect_equal(
    coalescent_history(splits, c(c = 3, a = 1, b = 2), into = c(b = "c", c = "0", a = "b")),
    coalescent_history(splits, c(1, 2, 3), into = c("b", "c", "0"))
  )
  for (wrong in list(c(x = 1, y = 2, z = 3), c(a = 1, a = 2, b = 3), c(a = 1))) {
    expect_ancify_error(coalescent_history(splits, wrong), "input", "`sizes` names", "'c'")
  }
})
