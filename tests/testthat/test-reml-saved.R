# Saved fits, and checkpoints.

set.seed(17)
case <- reml_case(40, 30)

test_that("a saved fit finds its genotypes by path, or in the working directory", {
  fit <- quiet_fit(y ~ sex, case$data, case$g)
  saved <- tempfile(fileext = ".rds")
  saveRDS(fit, saved)
  again <- readRDS(saved)
  expected <- reml_log_likelihood(fit, c(0.3, 0.7), progress = FALSE)
  expect_identical(reml_log_likelihood(again, c(0.3, 0.7), progress = FALSE), expected)
  drawn <- simulate(fit, seed = 1)
  folder <- new_folder()
  file.rename(case$file, file.path(folder, basename(case$file)))
  on.exit(file.rename(file.path(folder, basename(case$file)), case$file))
  # What needs no genotypes works without them.
  expect_identical(coef(again), coef(fit))
  expect_identical(heritability(again), heritability(fit))
  expect_ancify_error(reml_log_likelihood(again, c(0.3, 0.7)), "file", quoted(again$file$path),
                      "does not exist")
  with_folder(folder, {
    expect_identical(reml_log_likelihood(again, c(0.3, 0.7), progress = FALSE), expected)
    expect_identical(simulate(again, seed = 1), drawn)
    bytes <- file_bytes(basename(case$file))
    bytes[50] <- xor(bytes[50], as.raw(2))
    writeBin(bytes, basename(case$file))
    expect_ancify_error(simulate(again), "file", "has changed since the fit")
    bytes[50] <- xor(bytes[50], as.raw(2))
    writeBin(bytes, basename(case$file))
  })
})

# Another file, as the first has had other times since it was opened.
case <- reml_case(40, 30)

# A checkpoint of a problem: a fit of the stochastic path asks for it with all of its inputs.
problem_of <- function(..., control = reml_control()) {
  model <- model_on_samples(reml_model(case$g, list(a = 1:9, b = 10:30), list(...), FALSE), y ~ sex,
                            case$data, "id")
  model$control <- core_control(control, c(model$names, "residual"), 40, "stochastic")
  model$path <- "stochastic"
  list(
    problem = c(core_problem(model), list(control = model$control), core_settings(1, NULL)),
    file = genotype_file_facts(case$g)
  )
}

test_that("a checkpoint is read by an equal fit alone", {
  path <- tempfile()
  open <- function(fit) open_checkpoint(path, fit$problem, fit$file)
  fit <- problem_of()
  first <- open(fit)
  expect_null(first$state)
  expect_false(file.exists(path))
  first$save(list(number = 1))
  state <- list(
    number = c(pi, NaN, -Inf, 1e-310), none = double(), flag = TRUE, text = "a \"word\" \u00e9",
    deep = list(matrix = matrix(1:6, 2), deeper = list(x = 2L)), empty = matrix(0, 4, 0)
  )
  first$save(state)
  expect_identical(open(fit)$state, state)
  expect_identical(list.files(dirname(path), paste0("^", basename(path))), basename(path))
  # Threads and memory change nothing; all else does.
  fit$problem[c("threads", "memory")] <- list(3L, 1e9)
  expect_identical(open(fit)$state, state)
  k <- crossprod(matrix(rnorm(1600), 40)) / 40
  others <- list(
    problem_of(control = reml_control(seed = 2)), problem_of(k = kernel_matrix(k)),
    replace(fit, "file", list(replace(fit$file, "checksum", "0"))),
    replace(fit, "problem", list(replace(fit$problem, "y", list(fit$problem$y * 2))))
  )
  for (other in others) {
    expect_ancify_error(open(other), "input", quoted(path), "other inputs or settings")
  }
  whole <- file_bytes(path)
  one_other <- replace(whole, length(whole) - 3, xor(whole[length(whole) - 3], as.raw(1)))
  for (bytes in list(charToRaw("text"), raw(), head(whole, -1), one_other)) {
    writeBin(bytes, path)
    expect_ancify_error(open(fit), "format", quoted(path), "no whole checkpoint")
  }
})

test_that("functions of a checkpoint's fit are known by what they give", {
  path <- tempfile()
  k <- crossprod(matrix(rnorm(1600), 40)) / 40
  open <- function(fit) open_checkpoint(path, fit$problem, fit$file)
  open(problem_of(k = kernel_products(function(V) k %*% V, 40)))$save(list(x = 1))
  same <- function(V) {
    product <- k %*% V
    product
  }
  expect_identical(open(problem_of(k = kernel_products(same, 40)))$state, list(x = 1))
  expect_ancify_error(open(problem_of(k = kernel_products(function(V) 2 * k %*% V, 40))), "input")
})

test_that("a fit that stops at each checkpoint goes on to the same bytes", {
  problem <- problem_of()$problem
  run <- function(state, save) {
    with_watch("Fitting", function(watch) {
      reml_stochastic_impl(problem, list(state = state), watch)
    }, tell = list(checkpoint = save))
  }
  expected <- run(NULL, function(state) NULL)
  state <- NULL
  stops <- 0
  fit <- NULL
  while (is.null(fit) && stops < 100) {
    old <- state
    fit <- tryCatch(run(state, function(new) {
      state <<- state_of(state_bytes(new))
      if (!identical(state, old)) abort_ancify("As if by Ctrl-C.", "cancelled")
    }), ancify_cancelled_error = function(condition) NULL)
    stops <- stops + 1
  }
  expect_gt(stops, 2)
  expect_identical(fit, expected)
})

test_that("a fit writes its checkpoint, and an equal one begins there", {
  path <- tempfile()
  fit_again <- function(checkpoint) {
    fit <- suppressWarnings(quiet_fit(y ~ sex, case$data, case$g, method = "stochastic",
                                      checkpoint = checkpoint))
    fit[c("theta", "mc_score", "log_likelihood", "genetic", "passes", "iterations")]
  }
  first <- fit_again(path)
  expect_true(file.exists(path))
  expect_identical(fit_again(path), first)
  expect_identical(fit_again(NULL), first)
})
