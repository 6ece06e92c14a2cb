# Dense kernels of exact fits, kept in this session for the next job on the same genotypes.

# `kernels`: the core's kernels. `owner`: the token of their genotypes, which subsets share, and the
# masks of calls. They are not part of the genotypes, as R would then save them too.
kept_kernels <- new.env(parent = emptyenv())

# The store of dense kernels for jobs on these genotypes. Kernels of other genotypes are dropped.
kernels_kept_of <- function(g) {
  if (is.null(kept_kernels$kernels)) kept_kernels$kernels <- new_kept_kernels_impl()
  owner <- list(g$token, masks_of(g))
  if (!identical(kept_kernels$owner, owner)) {
    clear_kept_kernels_impl(kept_kernels$kernels)
    kept_kernels$owner <- owner
  }
  kept_kernels$kernels
}

# Settings in which kept kernels may take up to an eighth of the memory: for two models, as a
# bootstrap fits two in turn.
with_kept_kernels <- function(settings, model) {
  kernel <- 8 * length(model$y)^2
  bytes <- kernel * min(settings$work$memory %/% (8 * kernel), 2 * model$n_genetic)
  if (bytes > 0) {
    settings$work$memory <- settings$work$memory - bytes
    settings$kept <- core_list(
      "KernelKeeper", kernels = kernels_kept_of(model$genotypes), bytes = bytes
    )
  }
  settings
}
