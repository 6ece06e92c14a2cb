# Standard errors of a fitted history from blocks, the chromosomes. Neighbouring sites share gene
# trees, so they carry less information than independent sites. Let I be the information of
# independent sites plus that of the prior, and J the sum of outer products of the blocks' scores.
# The covariance of the estimates is then I^-1 (J + prior) I^-1 (Godambe 1960, Annals of
# Mathematical Statistics 31:1208; as a composite likelihood of linked sites: Coffman and others
# 2016, Molecular Biology and Evolution 33:591).

# With fewer blocks J is too uncertain.
fewest_blocks <- 10

# The rows of `patterns` and `variants` by chromosome. NULL if either has none, or too few.
chromosome_blocks <- function(patterns, variants) {
  chromosomes <- unique(as.character(patterns$chromosome))
  known <- is.null(variants) || all(variants$chromosome %in% chromosomes)
  if (length(chromosomes) < fewest_blocks || !known || anyNA(chromosomes) ||
        (!is.null(variants) && is.null(variants$chromosome))) {
    return(NULL)
  }
  lapply(stats::setNames(nm = chromosomes), function(name) {
    list(
      patterns = patterns[patterns$chromosome == name, , drop = FALSE],
      variants = variants[variants$chromosome == name, , drop = FALSE]
    )
  })
}

# The count of each cell of `data` in each block: one column per block. `data` and `parts` are
# counts of patterns, or results of joint_tables().
cells_by_block <- function(data, parts) {
  if (is.data.frame(data)) {
    counts_at <- function(part) part$count[match(data$pattern, part$pattern)]
  } else {
    counts_at <- function(part) {
      unlist(lapply(c("varying", "rest"), function(kind) {
        key <- function(table) do.call(paste, table[setdiff(names(table), "count")])
        part[[kind]]$count[match(key(data[[kind]]), key(part[[kind]]))]
      }))
    }
  }
  counts <- vapply(parts, counts_at, numeric(length(counts_at(parts[[1]]))))
  counts[is.na(counts)] <- 0
  counts
}

# The information J of blocks. `slopes`: the gradients of the cells' log-probabilities. At the
# maximum the scores sum to the gradient of the prior, so each block's share of the sum is
# subtracted.
information_of_blocks <- function(counts, slopes) {
  share <- colSums(counts) / sum(counts)
  scores <- crossprod(counts, slopes)
  scores <- scores - outer(share, colSums(scores))
  crossprod(scores) * nrow(scores) / (nrow(scores) - 1)
}

# The covariance of the free parameters; NA for others, and where the information is singular.
# `blocks`: a result of information_of_blocks(), or NULL for independent sites.
history_covariance <- function(fit, blocks) {
  information <- fit$information
  free <- fit$x > fit$problem$lower + 1e-6 & fit$x < fit$problem$upper - 1e-6
  covariance <- NA * information
  # Splits and sizes are strongly correlated, so almost no direction counts as flat here.
  covariance[free, free] <- tryCatch(
    {
      inverse <- solve(information[free, free, drop = FALSE])
      if (!is.null(blocks)) {
        middle <- (blocks + fit$problem$prior_information)[free, free, drop = FALSE]
        inverse <- inverse %*% middle %*% inverse
      }
      inverse
    },
    error = function(condition) NA
  )
  covariance
}

# Splits and sizes with their standard errors, from those of the logarithms.
history_estimates <- function(x, covariance, space) {
  jacobian <- derivatives(space$values, x, 1e-4)
  data.frame(
    parameter = space$names, estimate = space$values(x),
    std_error = propagated_errors(jacobian, covariance)
  )
}

# c(stated =, std_error =): the mean posterior of the more probable allele at the variants, and its
# standard error due to the uncertainty of the history. The fitted history determines which allele
# is the more probable one.
stated_confidence <- function(fit, counts, covariance) {
  varying <- counts$varying
  first_is_ancestral <- function(x) {
    both <- allele_probabilities(fit$problem$history(x), counts)
    both[, 1] / rowSums(both)
  }
  takes_first <- first_is_ancestral(fit$x) >= 0.5
  mean_posterior <- function(x) {
    first <- first_is_ancestral(x)
    stats::weighted.mean(ifelse(takes_first, first, 1 - first), varying$count)
  }
  slopes <- derivatives(mean_posterior, fit$x, 1e-4)
  # Parameters at a bound are taken as known.
  known <- is.na(diag(covariance))
  slopes[known] <- 0
  c(stated = mean_posterior(fit$x), std_error = propagated_errors(slopes, covariance))
}
