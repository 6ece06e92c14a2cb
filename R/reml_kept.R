# Dense kernels of exact fits that stay in this session, for the next job on the same genotypes.

# `kernels`: the core's. `owner`: the token of their genotypes, which subsets share. They are not in
# the genotypes, with which R would save them.
kept_kernels <- new.env(parent = emptyenv())

# Where a job on these genotypes finds and keeps its dense kernels. Those of others are dropped.
kernels_kept_of <- function(g) {
  if (is.null(kept_kernels$kernels)) kept_kernels$kernels <- new_kept_kernels_impl()
  if (!identical(kept_kernels$owner, g$memory$token)) {
    clear_kept_kernels_impl(kept_kernels$kernels)
    kept_kernels$owner <- g$memory$token
  }
  kept_kernels$kernels
}

# Settings that leave up to an eighth of the memory to kernels that stay: of two models, as a
# bootstrap fits two in turn.
with_kept_kernels <- function(settings, model) {
  kernel <- 8 * length(model$y)^2
  bytes <- kernel * min(settings$work$memory %/% (8 * kernel), 2 * model$n_genetic)
  if (bytes > 0) {
    settings$work$memory <- settings$work$memory - bytes
    settings$kept <- list(kernels = kernels_kept_of(model$genotypes), bytes = bytes)
  }
  settings
}
