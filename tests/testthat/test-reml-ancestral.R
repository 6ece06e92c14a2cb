# Effects that depend on which allele is derived: bins of derived-allele frequency give them back,
# bins of the rarer allele's frequency do not.

# Variants whose derived allele is rare explain 0.4 of the variance, those in the middle 0.1, and
# those whose derived allele is nearly fixed nothing.
shares <- c(0.4, 0.1, 0)
breaks <- c(0, 0.2, 0.8, 1)

derived_study <- function(n = 400, m = 300) {
  derived <- runif(m, 0.05, 0.95)
  counted_is_derived <- runif(m) < 0.5
  calls <- matrix(rbinom(n * m, 2, rep(ifelse(counted_is_derived, derived, 1 - derived), each = n)),
                  n, dimnames = list(sprintf("s%d", 1:n), sprintf("v%d", 1:m)))
  g <- open_genotypes(oracle_write_bed(calls))
  # The bins are those of the sample, as a user's are.
  counted <- summary(g)$frequency
  bin <- cut(ifelse(counted_is_derived, counted, 1 - counted), breaks, labels = FALSE)
  effects <- rnorm(m, sd = sqrt(shares / tabulate(bin, 3))[bin])
  y <- drop(oracle_columns(calls)$z %*% effects) + rnorm(n, sd = sqrt(1 - sum(shares)))
  list(g = g, data = data.frame(id = rownames(calls), y = y), derived = counted_is_derived)
}

# Posteriors of A, the counted allele, and G. They are right as often as they say.
posteriors <- function(derived, certainty) {
  right <- runif(length(derived)) < certainty
  a_is_ancestral <- !derived == right
  data.frame(A = ifelse(a_is_ancestral, certainty, 1 - certainty), C = 0,
             G = ifelse(a_is_ancestral, 1 - certainty, certainty), T = 0)
}

# Without a bound, so that estimates are not drawn up near 0.
share_of <- function(study, components) {
  fit <- quiet_fit(y ~ 1, study$data, study$g, components, control = reml_control(lower = -Inf))
  heritability(fit)$share[-1]
}

test_that("50 studies give back the shares by derived-allele frequency", {
  set.seed(20)
  found <- vapply(1:50, function(i) {
    study <- derived_study()
    of <- function(certainty) {
      share_of(study, components_by_frequency(
        study$g, breaks, posteriors(study$derived, certainty)
      ))
    }
    c(certain = of(1), uncertain = of(0.85),
      rarer = share_of(study, components_by_frequency(study$g, c(0, 0.2, 0.5))))
  }, numeric(8))
  mean <- rowMeans(found)
  se <- apply(found, 1, sd) / sqrt(50)
  of <- function(name) grep(name, rownames(found))
  expect_true(all(abs(mean[of("^certain")] - shares) < 2 * se[of("^certain")]))
  expect_true(all(abs(mean[of("uncertain")] - shares) < 2 * se[of("uncertain")]))
  # Old and new mutations are equally many, so the usual bins give both of them half of 0.4.
  old <- mean[["rarer1"]] / 2
  expect_gt(old, mean[["certain3"]] + 5 * se[["rarer1"]])
})

test_that("shares of alternatives are those of their variances", {
  set.seed(21)
  study <- derived_study(100, 50)
  made <- components_by_frequency(study$g, breaks, posteriors(study$derived, 0.7))
  fit <- quiet_fit(y ~ 1, study$data, study$g, made)
  h <- heritability(fit)
  expect_equal(h$share[-1], unname((fit$theta * fit$mean_diagonal)[1:3] / sum(fit$theta *
                                                                                fit$mean_diagonal)))
  weights <- vapply(1:3, function(k) sum(made$table$weight[made$table$component == k]), 0)
  expect_equal(h$variants, c(50, weights))
  expect_equal(sum(h$variants[-1]), 50)
  expect_equal(sum(h$enrichment[-1] * weights) / 50, 1)
  # Also if the bins leave some frequencies out
  few <- components_by_frequency(study$g, breaks[1:3], posteriors(study$derived, 0.7))
  h <- heritability(quiet_fit(y ~ 1, study$data, study$g, few))
  expect_equal(stats::weighted.mean(h$enrichment[-1], h$variants[-1]), 1)
})
