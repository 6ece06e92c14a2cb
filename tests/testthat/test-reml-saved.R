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
  expect_ancify_error(reml_log_likelihood(again, c(0.3, 0.7)), "file",
                      quoted(again$files[[1]]$path), "does not exist")
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

long_test_that("a change of any byte of a large BED is found, in a component and in a kernel", {
  # Pieces of 64 KiB at 16 places would not show each change of 2 MB.
  m <- 200000
  path <- paste0(tempfile("large"), c(".bed", ".bim", ".fam"))
  codes <- c(0, 2, 8, 11, 46, 58, 187, 255)
  bytes <- as.raw(c(0x6c, 0x1b, 0x01, sample(codes, 10 * m, TRUE)))
  writeBin(bytes, path[1])
  writeLines(paste0("1 v", seq_len(m), " 0 ", seq_len(m), " A G"), path[2])
  writeLines(paste("f", 1:40, "0 0 0 -9"), path[3])
  g <- open_genotypes(path[1])
  data <- data.frame(id = as.character(1:40), y = rnorm(40))
  saved <- lapply(list(
    quiet_fit(y ~ 1, data, g),
    quiet_fit(y ~ 1, data, kernels = list(a = kernel_admixture(g, matrix(1, 40))))
  ), function(fit) unserialize(serialize(fit, NULL)))
  values <- lapply(saved, reml_log_likelihood, c(0.3, 0.7), progress = FALSE)
  # Written anew with the same bytes
  writeBin(bytes, path[1])
  expect_identical(lapply(saved, reml_log_likelihood, c(0.3, 0.7), progress = FALSE), values)
  for (at in c(4, 100000, length(bytes) - 100000)) {
    writeBin(replace(bytes, at, xor(bytes[at], as.raw(3))), path[1])
    for (fit in saved) {
      expect_ancify_error(reml_log_likelihood(fit, c(0.3, 0.7), progress = FALSE), "file",
                          quoted(fit_files(fit)[[1]]$path),
                          "has changed since the fit")
    }
  }
})

# Another file, as the first has had other times since it was opened.
case <- reml_case(40, 30)

# A checkpoint of a problem: a fit of the stochastic path asks for it with all of its inputs.
problem_of <- function(..., sets = list(a = 1:9, b = 10:30), control = reml_control()) {
  model <- model_on_samples(reml_model(case$g, sets, list(...), FALSE), y ~ sex, case$data, "id")
  model$control <- core_control(control, c(model$names, "residual"), 40, "stochastic")
  model$path <- "stochastic"
  list(
    problem = core_problem(model, list(work = new_work(1))),
    files = list(genotype_file_facts(case$g$parts[[1]]))
  )
}

run_problem <- function(fit, state, save) {
  with_watch("Fitting", function(watch) {
    reml_stochastic_impl(fit$problem, state, watch)
  }, tell = list(checkpoint = save))
}

# All states of a fit.
states_of <- function(fit) {
  states <- list()
  run_problem(fit, NULL, function(state) states[[length(states) + 1]] <<- state)
  states
}

one_component <- problem_of(sets = list(a = 1:30), control = reml_control(max_probes = 30))
two_components <- problem_of(control = reml_control(max_probes = 30, mc_tolerance = 0.01))

test_that("a checkpoint is read by an equal fit alone", {
  path <- tempfile()
  open <- function(fit) open_checkpoint(path, fit$problem, fit$files)
  fit <- problem_of()
  first <- open(fit)
  expect_null(first$state)
  expect_false(file.exists(path))
  states <- states_of(fit)
  for (state in states) {
    first$save(state)
    expect_identical(open(fit)$state, state)
  }
  expect_identical(list.files(dirname(path), paste0("^", basename(path))), basename(path))
  # The work changes nothing; all else does.
  fit$problem$work <- new_work(3, memory = 1e9)
  expect_identical(open(fit)$state, state)
  # A copy of the genotypes is known by its bytes.
  copy <- paste0(tempfile("copy"), c(".bed", ".bim", ".fam"))
  file.copy(paste0(sub("[.]bed$", "", case$g$path), c(".bed", ".bim", ".fam")), copy)
  fit_of_copy <- function() {
    replace(fit, "files", list(list(genotype_file_facts(open_genotypes(copy[1])$parts[[1]]))))
  }
  expect_identical(open(fit_of_copy())$state, state)
  Sys.setFileTime(copy[1], Sys.time() + 9)
  expect_identical(open(fit_of_copy())$state, state)
  bytes <- file_bytes(copy[1])
  writeBin(replace(bytes, 9, xor(bytes[9], as.raw(1))), copy[1])
  k <- crossprod(matrix(rnorm(1600), 40)) / 40
  others <- list(
    problem_of(control = reml_control(seed = 2)), problem_of(k = kernel_matrix(k)),
    fit_of_copy(),
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

# A state with another vector in the place of one, whose name has dots.
forged <- function(state, name, value) {
  at <- strsplit(name, ".", fixed = TRUE)[[1]]
  if (is.null(value)) state[[at]] <- NULL else state[[at]] <- value
  state
}

# What may be wrong with a vector: NULL where it is missing.
wrongs_of <- function(x) {
  other <- if (is.character(x)) 1 else "text"
  c(
    list(missing = NULL, type = rep(other, max(length(x), 1)), longer = c(x, x, x[1])),
    if (is.numeric(x) && length(x)) {
      last <- function(value) replace(x, length(x), value)
      if (is.integer(x)) {
        list(nan = last(NA), negative = last(-1L), huge = last(.Machine$integer.max))
      } else {
        list(nan = last(NaN), huge = last(1e300), infinite = last(-Inf))
      }
    },
    if (is.logical(x)) list(nan = NA),
    if (is.character(x)) list(nan = NA_character_, huge = strrep("x", 2000))
  )
}

long_test_that("a checkpoint of the right checksum and the wrong content is refused", {
  path <- tempfile()
  for (fit in list(one_component, two_components)) {
    checkpoint <- open_checkpoint(path, fit$problem, fit$files)
    states <- states_of(fit)
    state <- states[[length(states)]]
    for (name in names(state_fields)) {
      x <- state[[strsplit(name, ".", fixed = TRUE)[[1]]]]
      wrongs <- wrongs_of(x)
      for (kind in names(wrongs)) {
        checkpoint$save(forged(state, name, wrongs[[kind]]))
        label <- paste(name, kind)
        condition <- tryCatch(
          open_checkpoint(path, fit$problem, fit$files), error = identity
        )
        expect_true(inherits(condition, "ancify_format_error"), label = label)
        expect_match(condition$message, "no whole checkpoint.*remove it", label = label)
        expect_identical(condition$file, path, label = label)
      }
    }
    unlink(path)
  }
})

test_that("an index that is no index is refused", {
  path <- tempfile()
  fit <- two_components
  checkpoint <- open_checkpoint(path, fit$problem, fit$files)
  checkpoint$save(states_of(fit)[[1]])
  bytes <- file_bytes(path)
  lines <- which(bytes == as.raw(10))[1:3]
  index <- rawToChar(bytes[(lines[2] + 1):(lines[3] - 1)])
  numbers <- bytes[-seq_len(lines[3])]
  with_index <- function(text, more = raw()) {
    rest <- c(charToRaw(paste0(text, "\n")), numbers, more)
    writeBin(c(bytes[seq_len(lines[1])], checksum_line(rest), rest), path)
  }
  with_index(index)
  expect_type(open_checkpoint(path, fit$problem, fit$files)$state, "list")
  bad <- list(
    sub("\"length\":1,", "\"length\":1e9,", index), sub("\"length\":1,", "\"length\":-1,", index),
    sub("\"length\":1,", "\"length\":\"1\",", index), sub("\"length\":1,", "", index),
    sub("\"double\"", "\"closure\"", index), sub("\"dim\":\\[[0-9]+,", "\"dim\":[1e9,", index),
    sub("passes", "other", index), sub("\"passes\"", "[1]", index), "[]", "{}", "1", "", "\xff",
    strrep("[", 5000), paste0("[", index, "]"), strrep(" ", 2e5)
  )
  for (text in bad) {
    with_index(text)
    expect_ancify_error(open_checkpoint(path, fit$problem, fit$files), "format", quoted(path),
                        "no whole checkpoint", "remove it")
  }
  with_index(index, as.raw(rep(0, 8)))
  expect_ancify_error(open_checkpoint(path, fit$problem, fit$files), "format", "do not fill it")
  # A file that is larger than any is not read at all.
  file <- file(path, "ab")
  seek(file, 2e9, rw = "write")
  writeBin(raw(1), file)
  close(file)
  system2("truncate", c("-s", "40G", shQuote(path)))
  expect_ancify_error(open_checkpoint(path, fit$problem, fit$files), "format", "larger than any")
})

test_that("a fit that goes on from numbers of no fit ends, and names its checkpoint", {
  for (fit in list(one_component, two_components)) {
    states <- states_of(fit)
    for (state in states[unique(c(1, length(states) %/% 2, length(states)))]) {
      doubles <- Filter(function(name) state_fields[[name]]$type == "double", names(state_fields))
      for (name in doubles) {
        at <- strsplit(name, ".", fixed = TRUE)[[1]]
        for (factor in c(0, -1, 1e20)) {
          checkpoint <- list(path = "the/path", state = forged(state, name, state[[at]] * factor))
          found <- tryCatch(
            naming_checkpoint(checkpoint, function() {
              run_problem(fit, checkpoint$state, function(state) NULL)
            }),
            ancify_error = identity
          )
          if (inherits(found, "error")) {
            expect_match(conditionMessage(found), "'the/path': if that was changed, remove it")
          } else {
            expect_type(found$theta, "double")
          }
        }
      }
    }
  }
})

test_that("functions of a checkpoint's fit are known by what they give", {
  path <- tempfile()
  k <- crossprod(matrix(rnorm(1600), 40)) / 40
  open <- function(fit) open_checkpoint(path, fit$problem, fit$files)
  first <- problem_of(k = kernel_products(function(V) k %*% V, 40))
  state <- states_of(first)[[1]]
  open(first)$save(state)
  same <- function(V) {
    product <- k %*% V
    product
  }
  expect_identical(open(problem_of(k = kernel_products(same, 40)))$state, state)
  expect_ancify_error(open(problem_of(k = kernel_products(function(V) 2 * k %*% V, 40))), "input")
})

test_that("a fit that stops at each checkpoint goes on to the same bytes", {
  path <- tempfile()
  for (problem in list(problem_of(), one_component, two_components)) {
    expected <- run_problem(problem, NULL, function(state) NULL)
    checkpoint <- open_checkpoint(path, problem$problem, problem$files)
    stops <- 0
    fit <- NULL
    old <- NULL
    while (is.null(fit) && stops < 100) {
      state <- open_checkpoint(path, problem$problem, problem$files)$state
      fit <- tryCatch(run_problem(problem, state, function(new) {
        checkpoint$save(new)
        if (!identical(new, state)) abort_ancify("As if by Ctrl-C.", "cancelled")
      }), ancify_cancelled_error = function(condition) NULL)
      stops <- stops + 1
    }
    expect_gt(stops, 1)
    expect_identical(fit, expected)
    unlink(path)
  }
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

test_that("R may collect garbage while a state is made", {
  expected <- states_of(one_component)
  on.exit(gctorture(FALSE))
  gctorture2(20)
  found <- states_of(one_component)
  gctorture(FALSE)
  expect_identical(found, expected)
})
