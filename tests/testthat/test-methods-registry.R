# A row alone adds a method. Here: parsimony on a star, which needs no tree.

star_row <- function() {
  calling_method(
    help = "parsimony on a star.", core = "parsimony", arguments = "focal",
    shown = function(config) ", on a star",
    given = function(arguments, species) list(focal = arguments$focal),
    to_core = function(settings, species) {
      leaves <- c(species, settings$focal)
      star <- ape::read.tree(text = paste0("(", paste(leaves, collapse = ","), ");"))
      list(tree = core_tree(star, species, settings$focal))
    }
  )
}

with_star <- function(code) {
  rows <- c(calling_methods(), list(star = star_row()))
  with_function("calling_methods", function() rows, code)
}

test_that("call_ancestral() takes a method that a row adds", {
  set.seed(71)
  sequences <- random_columns(c("a", "b", "c"), 60, missing = 0.2)
  expected <- call_ancestral(sequences[1:2], sequences[3], "parsimony", "(a,b,c);")
  with_star({
    expect_identical(call_ancestral(sequences[1:2], sequences[3], "star"), expected)
    # The row decides: one tier may be empty, and a tree is refused.
    expect_identical(call_ancestral(sequences, NULL, "star"), expected)
    expect_ancify_error(
      call_ancestral(sequences, NULL, "star", "(a,b,c);"), "input", "'star' takes no `tree`"
    )
    expect_ancify_error(
      call_ancestral(sequences, NULL, "star", posterior = TRUE), "input", "'star' has no posterior"
    )
  })
  expect_ancify_error(call_ancestral(sequences, NULL, "star"), "input", "'star'")
})

test_that("runs take an added method, resume it and distinguish it from others", {
  random <- random_config(method = "star")
  with_star({
    expect_output(print(ancify_config(random$config)), "star, on a star")
    run_quietly(random$config)
    species <- names(random$projected)
    tree <- paste0("(", paste(species, collapse = ","), ");")
    for (chromosome in names(random$lengths)) {
      sequences <- vapply(random$projected, `[[`, "", chromosome)
      calls <- readLines(file.path(random$config$output_dir, paste0(chromosome, ".fa")))
      expect_identical(calls[-1], call_ancestral(sequences, NULL, "parsimony", tree))
    }
    record <- jsonlite::read_json(file.path(random$config$output_dir, "ancify_run.json"))
    expect_identical(record$settings$method, "star")

    calls <- file.path(random$config$output_dir, "chr1.fa")
    before <- file.info(calls)$mtime
    Sys.sleep(0.01)
    run_quietly(random$config)
    expect_identical(file.info(calls)$mtime, before)
    random$config$method <- "voting"
    run_quietly(random$config)
    expect_gt(file.info(calls)$mtime, before)
    random$config$method <- "star"
    random$config$posterior <- TRUE
    expect_ancify_error(ancify_config(random$config), "config", "'star' has none")
  })
})
