# The residual of a model: one variance, or one for each ancestry or group.

# Names that genetic components may not have.
is_residual <- function(names) grepl("^residual($|[.])", names)

# What divides the residual, a list with `shares` and their names, `ancestries`: a kernel by
# ancestry, or groups of samples. NULL if nothing does.
dividing_kernel <- function(model) {
  by_ancestry <- lapply(model$kernels, admixture_within)
  divides <- vapply(by_ancestry, function(kernel) {
    identical(kernel$residual, "ancestry") && ncol(kernel$shares) > 1
  }, NA)
  refuse_if(sum(divides) > 1, "The kernels %s have a residual by ancestry each, but a fit has one.",
            enumerate(quoted(names(model$kernels)[divides])))
  refuse_if(any(divides) && !is.null(model$residual_groups),
            "The kernel %s has a residual by ancestry, and `residual` one by group: choose one.",
            quoted(names(model$kernels)[divides]))
  if (any(divides)) by_ancestry[[which(divides)]] else model$residual_groups
}

# Groups of samples as shares of 0 and 1. A single group is the whole residual.
residual_groups <- function(values, column) {
  groups <- droplevels(as.factor(values))
  single <- names(which(table(groups) == 1))
  refuse_if(length(single) == nlevels(groups),
            "Each value of %s is in one row only, which gives no variance: leave out `residual`.",
            quoted(column))
  refuse_if(length(single),
            "%s has %s in one row only, which gives no variance: join it with another, or %s.",
            quoted(column), quoted(single[1]), "make it NA")
  if (nlevels(groups) > 1) {
    list(shares = outer(as.integer(groups), seq_len(nlevels(groups)), "==") + 0,
         ancestries = levels(groups))
  }
}

residual_names <- function(model) {
  kernel <- dividing_kernel(model)
  if (is.null(kernel)) "residual" else paste0("residual.", kernel$ancestries)
}

# Each sample's residual variance.
residual_variances <- function(fit) {
  theta <- fit$theta[is_residual(names(fit$theta))]
  kernel <- dividing_kernel(fit)
  if (is.null(kernel)) rep(unname(theta), length(fit$y)) else drop(kernel$shares %*% theta)
}

check_one_residual <- function(model, what) {
  refuse_if(!is.null(dividing_kernel(model)),
            paste(what, "needs one residual variance: make kernels with `residual = \"shared\"`,",
                  "and fit without `residual`."))
}
