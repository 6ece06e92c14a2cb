# A split with migration, with a coefficient of selection for each population. The ancestor has that
# of the first.
split_selected <- function(gamma1, gamma2) {
  list(
    event_equilibrium(gamma = gamma1), event_split(1),
    event_epoch(0.1, c(2, 0.5), m = 1, gamma = c(gamma1, gamma2))
  )
}
sizes <- c(A = 4L, B = 3L)
strengths <- exp(seq(log(0.05), log(10), length.out = 10))
pairs_of_split <- function(..., gammas = -strengths, pts = 30) {
  selected_spectra(split_selected(0, 0), NULL, sizes, pts, gammas, pairs = TRUE, ...)
}
pairs_2d <- pairs_of_split()
at_pair <- function(gamma1, gamma2, pts = 30) {
  segregating(coarse_sfs(split_selected(gamma1, gamma2), NULL, sizes, pts))
}

# Nodes and weights of Gauss and Hermite for a standard normal, by Golub and Welsch.
normal_nodes <- function(n) {
  off <- sqrt(seq_len(n - 1))
  jacobi <- matrix(0, n, n)
  jacobi[cbind(seq_len(n - 1), 2:n)] <- off
  jacobi[cbind(2:n, seq_len(n - 1))] <- off
  parts <- eigen(jacobi, symmetric = TRUE)
  list(x = parts$values, weight = parts$vectors[1, ]^2)
}

# The mean of direct spectra over a bivariate lognormal distribution.
oracle_lognormal <- function(mean, sd, correlation, n = 6) {
  nodes <- normal_nodes(n)
  at <- expand.grid(i = seq_len(n), j = seq_len(n))
  x <- mean[1] + sd[1] * nodes$x[at$i]
  y <- mean[2] + sd[2] * (correlation * nodes$x[at$i] + sqrt(1 - correlation^2) * nodes$x[at$j])
  c(mapply(at_pair, -exp(x), -exp(y)) %*% (nodes$weight[at$i] * nodes$weight[at$j]))
}

test_that("computed pairs have the spectra of expected_sfs()", {
  expect_identical(dim(pairs_2d$spectra), c(11L, 11L))
  expect_output(print(pairs_2d), "<selected_spectra> 121 pairs")
  for (pair in list(c(1, 10), c(10, 4), c(11, 3), c(5, 5))) {
    gammas <- pairs_2d$gammas[pair]
    expect_equal(segregating(pairs_2d$spectra[[pair[1], pair[2]]]), at_pair(gammas[1], gammas[2]),
                 tolerance = 1e-12)
  }
})

test_that("the second population at the end has the second coefficient from its founding on", {
  model <- function(gamma1, gamma2) {
    list(
      event_equilibrium(gamma = gamma1), event_split(1),
      event_epoch(0.05, c(1, 2), gamma = c(gamma1, gamma2)), event_admixture(c(0.5, 0.5)),
      event_epoch(0.05, c(1, 2, 1), gamma = c(gamma1, gamma2, gamma1)),
      event_reordering(c(3, 1, 2)),
      event_epoch(0.02, c(1, 1, 2), gamma = c(gamma1, gamma1, gamma2)), event_removal(2)
    )
  }
  spectra <- selected_spectra(model(0, 0), NULL, sizes, c(12, 15), c(-3, -1), pairs = TRUE)
  expected <- expected_sfs(model(-1, -3), NULL, sizes, c(12, 15))
  expect_equal(spectra$spectra[[2, 1]], expected, tolerance = 1e-12)
})

test_that("long time steps under strong selection change spectra by less than 0.2 %", {
  spectra <- pairs_of_split(gammas = c(-100, -1), pts = 45)
  for (pair in list(c(1, 1), c(1, 2), c(2, 1))) {
    found <- segregating(spectra$spectra[[pair[1], pair[2]]])
    expected <- at_pair(spectra$gammas[pair[1]], spectra$gammas[pair[2]], 45)
    expect_lt(sum(abs(found - expected)) / sum(expected), 2e-3)
    expect_false(isTRUE(all.equal(found, expected)))
  }
})

test_that("bivariate lognormal distributions are the means of direct spectra", {
  for (one in list(list(c(0, 0.5), c(0.5, 0.4), 0.6), list(c(0.2, -0.2), c(0.4, 0.6), -0.8))) {
    found <- dfe_sfs(pairs_2d, dfe_bivariate_lognormal(one[[1]], one[[2]], one[[3]]))
    expect_equal(segregating(found), oracle_lognormal(one[[1]], one[[2]], one[[3]]),
                 tolerance = 5e-4)
  }
})

test_that("spectra of joint distributions are those of dadi's Cache2D and mixture()", {
  theirs <- utils::read.csv(test_path("fixtures", "dadi_dfe.csv"))
  of <- function(what, n) {
    rows <- theirs[theirs$what == what & theirs$coefficients == n, ]
    values <- matrix(NA_real_, 5, 4)
    values[cbind(rows$first, rows$second) + 1] <- rows$value
    values[!is.na(values)]
  }
  spectra <- pairs_of_split(time = "dadi")
  expect_equal(segregating(spectra$spectra[[3, 8]]), of("pair", 10), tolerance = 1e-8)
  one <- dfe_lognormal(0.5, 0.6)
  joint <- list(
    lognormal = dfe_bivariate_lognormal(0.5, 0.6, 0.4),
    asymmetric = dfe_bivariate_lognormal(c(0.5, 0), c(0.6, 0.5), -0.3),
    mixture = dfe_correlated(one, 0.7)
  )
  for (what in names(joint)) {
    ours <- segregating(dfe_sfs(spectra, joint[[what]]))
    distance <- function(x, y) max(abs(x / y - 1))
    errors <- vapply(c(10, 20, 40), function(n) distance(of(what, n), of(what, 80)), 0)
    expect_true(all(diff(errors) < 0))
    # Of ten coefficients, the spline is nearer to the limit than the trapezoid rule of forty
    expect_lt(distance(ours, of(what, 80)), errors[3])
  }
})

test_that("weights of joint distributions sum to 1 and have the right tails", {
  gammas <- pairs_2d$gammas
  weights <- function(dfe) matrix(dfe_weights(dfe, gammas, TRUE, spline_of), 11)
  for (dfe in list(
    dfe_bivariate_lognormal(1, 3, 0.5), dfe_bivariate_lognormal(c(-5, 5), c(0.1, 2), -1),
    dfe_bivariate_lognormal(0, 1, 1), dfe_correlated(dfe_gamma(0.2, 1000), 0.3)
  )) {
    expect_equal(sum(weights(dfe)), 1)
  }
  corner <- function(i, j) replace(matrix(0, 11, 11), cbind(i, j), 1)
  expect_equal(weights(dfe_bivariate_lognormal(c(20, -20), 0.5, 0.5)), corner(1, 11))
  expect_equal(weights(dfe_bivariate_lognormal(c(-20, 20), 0.5, 0)), corner(11, 1))
  # Without correlation both are independent
  apart <- dfe_independent(dfe_lognormal(0, 1.5), dfe_lognormal(1, 1))
  expect_equal(segregating(dfe_sfs(pairs_2d, dfe_bivariate_lognormal(c(0, 1), c(1.5, 1), 0))),
               segregating(dfe_sfs(pairs_2d, apart)), tolerance = 1e-4)
  # With a correlation of 1 both are the same
  expect_equal(segregating(dfe_sfs(pairs_2d, dfe_bivariate_lognormal(0.3, 0.8, 1))),
               segregating(dfe_sfs(pairs_2d, dfe_lognormal(0.3, 0.8))), tolerance = 2e-3)
  # Equal, and opposite, effects of other means than those of the coefficients
  of_strength <- 1 / (1 - gammas / 3)
  normal <- normal_nodes(60)
  for (sign in c(1, -1)) {
    both <- exp(0.3 * normal$x) / 3 + 1
    other <- exp(0.13 + 0.3 * sign * normal$x) / 3 + 1
    found <- weights(dfe_bivariate_lognormal(c(0, 0.13), 0.3, sign))
    expect_equal(c(of_strength %*% found %*% of_strength), sum(normal$weight / (both * other)),
                 tolerance = 1e-3)
  }
  # In exchanged populations, weights are exchanged
  expect_equal(weights(dfe_bivariate_lognormal(c(0, 1), c(1, 0.7), 0.4)),
               t(weights(dfe_bivariate_lognormal(c(1, 0), c(0.7, 1), 0.4))), tolerance = 1e-2)
})

test_that("mixtures are sums of equal and independent effects, with points of positive selection", {
  spectra <- selected_spectra(split_selected(0, 0), NULL, sizes, 30, c(-4^(-1:2), 2), pairs = TRUE)
  one <- dfe_mixture(dfe_lognormal(0, 1), dfe_point(2), shares = c(0.9, 0.1))
  of <- function(dfe) segregating(dfe_sfs(spectra, dfe))
  expect_equal(of(dfe_correlated(one, 0.3)), 0.3 * of(one) + 0.7 * of(dfe_independent(one)))
  positive <- of(dfe_independent(dfe_point(2), dfe_point(-4)))
  expect_equal(positive, at_pair(2, -4), tolerance = 1e-12)
  expected <- 0.01 * at_pair(2, 2) + 0.81 * of(dfe_independent(dfe_lognormal(0, 1))) +
    0.09 * of(dfe_independent(dfe_lognormal(0, 1), dfe_point(2))) +
    0.09 * of(dfe_independent(dfe_point(2), dfe_lognormal(0, 1)))
  expect_equal(of(dfe_independent(one)), expected, tolerance = 1e-12)
  expect_output(print(dfe_correlated(dfe_point(0), 0.3)), "0.7  0, and independent 0", fixed = TRUE)
})

test_that("fits recover the parameters of joint distributions within their ranges", {
  set.seed(41)
  lognormal_w <- function(meanlog, sdlog, w) dfe_correlated(dfe_lognormal(meanlog, sdlog), w)
  model <- dfe_model(pairs_2d, lognormal_w, theta = 1e5)
  truth <- c(meanlog = 0.8, sdlog = 0.9, w = 0.6)
  data <- dfe_sfs(pairs_2d, do.call(lognormal_w, as.list(truth)), theta = 1e5)
  start <- c(meanlog = 0.5, sdlog = 0.6, w = 0.5)
  fit <- fit_demography(
    model, misidentified_sfs(data, 0.02), start[c("meanlog", "w")], fixed = truth["sdlog"],
    starts = 3, misidentified = TRUE, progress = FALSE
  )
  expect_true(fit$converged)
  expect_equal(fit$params, c(truth, misidentified = 0.02), tolerance = 1e-2)
  expect_identical(fit$bounds["w", "lower_of"], "range")
  expect_identical(unlist(fit$bounds["w", c("lower", "upper")]), c(lower = 0, upper = 1))
  errors <- sqrt(diag(vcov(fit, log = TRUE)))
  expect_true(all(errors > 0 & errors < 0.5))
  expect_identical(dim(simulate(fit, 1, seed = 1)[[1]]), dim(data))

  bivariate <- dfe_model(pairs_2d, dfe_bivariate_lognormal, theta = 1e5)
  data <- dfe_sfs(pairs_2d, dfe_bivariate_lognormal(0.8, 0.9, 0.5), theta = 1e5)
  fit <- fit_demography(bivariate, data, c(correlation = 0.2), starts = 3,
                        fixed = c(meanlog = 0.8, sdlog = 0.9), progress = FALSE)
  expect_equal(coef(fit), c(correlation = 0.5), tolerance = 1e-2)
  equal <- dfe_sfs(pairs_2d, dfe_lognormal(0.8, 0.9), theta = 1e5)
  warning <- expect_warning(
    fit_demography(model, equal, start["w"], starts = 3, fixed = truth[1:2], progress = FALSE),
    class = "ancify_fit_warning"
  )
  expect_match(conditionMessage(warning), "w is at 1, the end of its range: fix it", fixed = TRUE)
})

test_that("spectra in a folder are those of memory, and only missing ones are computed", {
  folder <- withr::local_tempdir()
  cache <- file.path(folder, "spectra")
  few <- function(...) pairs_of_split(gammas = -4^(-1:1), ...)
  expected <- few()
  expect_identical(few(cache = cache), expected)
  expect_identical(read_selected_spectra(cache), expected)
  files <- file.path(cache, sprintf("spectra-%d.bin", 1:4))
  expect_true(all(file.exists(files)))
  # A file that is gone, as if the call had been killed, and a damaged one
  unlink(files[1])
  cat("x", file = files[3], append = TRUE)
  before <- file.mtime(files)
  expect_ancify_error(read_selected_spectra(cache), "format", "selected_spectra() again")
  Sys.sleep(0.05)
  expect_identical(few(cache = cache), expected)
  expect_identical(which(!(file.mtime(files) == before) %in% TRUE), c(1L, 3L))

  one <- function(...) {
    selected_spectra(demography_model("two_epoch"), c(nu = 2, time = 0.1), c(YRI = 8), 10,
                     gammas = -4^(-3:3), ...)
  }
  cache <- file.path(folder, "one")
  expect_identical(suppressWarnings(one(cache = cache)), suppressWarnings(one()))
  # Finer grids are told of again
  expect_warning(one(cache = cache), class = "ancify_grid_warning")
})

test_that("a ledger of spectra that no run writes is refused, without room for its numbers", {
  folder <- withr::local_tempdir()
  make <- function(cache) {
    suppressWarnings(selected_spectra(demography_model("two_epoch"), c(nu = 2, time = 0.1),
                                      c(YRI = 8), 10, gammas = -4^(-3:3), cache = cache))
  }
  good <- file.path(folder, "good")
  make(good)
  forgeries <- list(
    c("sources", "\"sample_sizes\":8", "\"sample_sizes\":1000000000"),
    c("sources", "\"sample_sizes\":8", "\"sample_sizes\":100000"),
    c("sources", "\"sample_sizes\":8", "\"sample_sizes\":-8"),
    c("sources", "\"sample_sizes\":8", "\"sample_sizes\":8.5"),
    c("sources", "\"sample_sizes\":8", "\"sample_sizes\":[8,8,8,8,8,8]"),
    c("sources", "\"sample_sizes\":8", "\"sample_sizes\":\"8\""),
    c("sources", "\"sample_sizes\":8,", ""),
    c("sources", "\"sample_sizes\":8", "\"sample_sizes\":[]"),
    c("sources", "\"pairs\":false", "\"pairs\":null"),
    c("sources", "\"gammas\":\\[", "\"gammas\":[\"text\","),
    c("sources", "\"gammas\":\\[", "\"gammas\":[\"1e9\","),
    c("sources", "\"populations\":\"YRI\"", "\"populations\":{\"a\":[1]}"),
    c("sources", "\"events\":", "\"events\":7,\"more\":"),
    c("sources", "\\{", "["),
    c("facts", "\"pts\":\\[.*", "\"pts\":[[1e9]]}"),
    c("facts", "\"pts\":\\[.*", "\"pts\":[[\"x\"]]}"),
    c("facts", "\"pts\":\\[.*", "\"pts\":7}"),
    c("facts", "\\{", "[")
  )
  for (one in forgeries) {
    bad <- file.path(folder, "bad")
    unlink(bad, recursive = TRUE)
    dir.create(bad)
    file.copy(list.files(good, full.names = TRUE, all.files = TRUE, no.. = TRUE), bad,
              recursive = TRUE)
    forge_ledger(bad, one[1], one[2], one[3])
    condition <- expect_ancify_error(read_selected_spectra(bad), "format", "no ledger that a run",
                                     "remove")
    expect_identical(condition$file, ledger_file(bad))
    if (one[1] == "sources") expect_error(make(bad), class = "ancify_error")
  }
})

test_that("spectra of other numerics are never mixed with new ones", {
  cache <- file.path(withr::local_tempdir(), "spectra")
  make <- function() {
    selected_spectra(demography_model("snm"), NULL, c(YRI = 8), c(20, 30, 40), -4^(-1:1),
                     cache = cache)
  }
  made <- make()
  ledger <- file_bytes(ledger_file(cache))
  for (earlier in c("", ",\"numerics\":1", ",\"numerics\":9")) {
    writeBin(ledger, ledger_file(cache))
    forge_ledger(cache, "sources", ",\"numerics\":2", earlier)
    expect_ancify_error(make(), "input", "other numerics", "another `cache`")
    expect_ancify_error(read_selected_spectra(cache), "input", "other numerics", "another `cache`")
  }
  writeBin(ledger, ledger_file(cache))
  expect_identical(read_selected_spectra(cache), made)
})

test_that("a folder of other spectra, or of a user, is an error with the way out", {
  folder <- withr::local_tempdir()
  cache <- file.path(folder, "spectra")
  make <- function(model = split_selected(0, 0), gammas = -4^(-1:2), pts = 10, ...) {
    suppressWarnings(selected_spectra(model, NULL, sizes, pts, gammas, pairs = TRUE, ...))
  }
  make(cache = cache)
  other <- split_selected(0, 0)
  other[[3]]$nu <- c(2, 0.6)
  refused <- function(text, ...) expect_ancify_error(make(..., cache = cache), "input", text)
  refused("differs (model: events): choose another `cache`", other)
  refused("settings: pts", pts = 12)
  refused("settings: gammas", gammas = -4^(0:3))
  refused("settings: h", h = 0.3)
  # Functions of time are known by their values
  growing <- function(size) {
    list(event_equilibrium(), event_split(1),
         event_epoch(0.1, list(function(time) 1 + size * time, 1)))
  }
  cache <- file.path(folder, "growing")
  make(growing(1), cache = cache)
  expect_no_error(make(growing(1), cache = cache))
  refused("model: events", growing(2))

  expect_ancify_error(read_selected_spectra(file.path(folder, "none")), "file", "has no spectra")
  own <- file.path(folder, "own")
  dir.create(own)
  writeLines("mine", file.path(own, "spectra-4.bin"))
  expect_ancify_error(make(cache = own), "file", "choose another `cache`")
  expect_identical(list.files(own), "spectra-4.bin")
  file <- file.path(folder, "file")
  writeLines("mine", file)
  expect_ancify_error(make(cache = file), "file", "file")
  expect_identical(readLines(file), "mine")
})

test_that("invalid joint distributions are errors in the user's terms", {
  input <- function(code, text) expect_ancify_error(code, "input", text)
  input(dfe_bivariate_lognormal(NA, 1, 0), "`meanlog`")
  input(dfe_bivariate_lognormal(1, c(1, -1), 0), "`sdlog`")
  input(dfe_bivariate_lognormal(1:3, 1, 0), "`meanlog`")
  input(dfe_bivariate_lognormal(1, 1, 1.2), "`correlation` must be a number from -1 to 1")
  input(dfe_correlated(dfe_gamma(1, 1), 2), "`w` must be a number from 0 to 1")
  input(dfe_correlated(1, 0.5), "`dfe`")
  input(dfe_independent(dfe_gamma(1, 1), dfe_correlated(dfe_gamma(1, 1), 0.5)), "`second`")
  input(selected_spectra(demography_model("snm"), NULL, 4, 20, pairs = TRUE), "two populations")
  input(pairs_of_split(cache = 1), "`cache`")
  one <- selected_spectra(demography_model("snm"), NULL, 4, 30, -4^(-1:2))
  input(dfe_sfs(one, dfe_correlated(dfe_gamma(1, 1), 0.5)), "selected_spectra(pairs = TRUE)")
})
