# Lists that do not fit a struct of the core are refused by its table of fields.

refused <- function(settings, problem) {
  error <- expect_error(
    filter_kmers_impl(count_kmers(Biostrings::DNAStringSet("ACGTA"), 2)$database, settings,
                      kmer_output(NULL, new_work(1)), function(...) NULL),
    class = "ancify_internal_error"
  )
  expect_match(conditionMessage(error), problem, fixed = TRUE)
  expect_identical(error$struct, "KmerSettings")
}

test_that("a list has every field of its struct, and no other", {
  settings <- kmer_settings(2, TRUE, 1, 5)
  refused(settings[-3], "the field `min_count` of KmerSettings is missing.")
  refused(c(settings, min_cuont = 2), "the field `min_cuont` of KmerSettings is unknown.")
  refused(c(settings, k = 2), "the field `k` of KmerSettings is given twice.")
  refused(unname(settings), "has an element without a name.")
})

test_that("a field has its type, and is neither NA nor out of range", {
  with_field <- function(name, value) {
    settings <- kmer_settings(2, TRUE, 1, 5)
    settings[name] <- list(value)
    settings
  }
  refused(with_field("k", "2"), "the field `k` of KmerSettings is not a single number.")
  refused(with_field("k", NULL), "is not a single number.")
  refused(with_field("k", c(2, 3)), "is not a single number.")
  refused(with_field("k", NA_real_), "the field `k` of KmerSettings is NA.")
  refused(with_field("k", 2^31), "the field `k` of KmerSettings is out of range.")
  refused(with_field("min_count", -1), "the field `min_count` of KmerSettings is out of range.")
  refused(with_field("canonical", NA), "the field `canonical` of KmerSettings is NA.")
  refused(with_field("canonical", 1), "is not a single TRUE or FALSE.")
})

test_that("lists within a problem of REML are refused as any other", {
  control <- core_control(reml_control(), c("k", "residual"), 9, "exact")
  model <- list(y = stats::rnorm(9), x = matrix(1, 9), kernels = list(diag(9)), control = control)
  problem <- core_problem(model, list(work = new_work(1)))
  with_kernel <- function(...) replace(problem, "kernels", list(list(list(...))))
  wrong <- list(
    RemlProblem = c(problem, nmaes = "k"),
    RemlControl = replace(problem, "control", list(problem$control[-1])),
    OtherKernel = with_kernel(kind = "matirx", fields = list(matrix = diag(9))),
    MatrixKernel = with_kernel(kind = "matrix", fields = list(matirx = diag(9)))
  )
  for (struct in names(wrong)) {
    error <- expect_error(reml_exact_impl(wrong[[struct]], function(...) NULL),
                          class = "ancify_internal_error")
    expect_identical(error$struct, struct)
  }
})
