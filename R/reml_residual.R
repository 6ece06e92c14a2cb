# The residual of a model: one variance, or one for each ancestry.

# Names that genetic components may not have.
is_residual <- function(names) grepl("^residual($|[.])", names)

# The kernel that divides the residual by ancestry; NULL if none does.
dividing_kernel <- function(model) {
  divides <- vapply(model$kernels, function(kernel) {
    is.list(kernel) && identical(kernel$residual, "ancestry") && ncol(kernel$shares) > 1
  }, NA)
  refuse_if(sum(divides) > 1, "The kernels %s have a residual by ancestry each, but a fit has one.",
            enumerate(quoted(names(model$kernels)[divides])))
  if (any(divides)) model$kernels[[which(divides)]]
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
            paste(what,
                  "needs one residual variance: make the kernel with `residual = \"shared\"`."))
}
