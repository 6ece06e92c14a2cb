# Kernels within kernels, and their columns of a fit's `data`.

# The fields of a kernel, as made by a user or kept by a fit, that are kernels.
inner_kernels <- c("kernel", "one", "other")

# A kernel and all within it, without plain matrices.
all_parts <- function(kernel) {
  if (!is.list(kernel)) {
    return(list())
  }
  inner <- kernel[intersect(inner_kernels, names(kernel))]
  c(list(kernel), unlist(lapply(unname(inner), all_parts), recursive = FALSE))
}

# The kernel after change() of it and of all within it.
change_parts <- function(kernel, change) {
  if (!is.list(kernel)) {
    return(kernel)
  }
  inner <- intersect(inner_kernels, names(kernel))
  kernel[inner] <- lapply(kernel[inner], change_parts, change)
  change(kernel)
}

# Whether a kernel is made of nothing but groups of samples, so that its variance is not genetic.
is_environmental <- function(kernel) {
  if (!is.list(kernel)) {
    return(FALSE)
  }
  inner <- kernel[intersect(inner_kernels, names(kernel))]
  if (length(inner)) all(vapply(inner, is_environmental, NA)) else kernel$kind == "groups"
}

# ---- Columns -------------------------------------------------------------------------------------

# The name of the column in a formula such as ~ sex.
one_column <- function(formula, name) {
  column <- if (inherits(formula, "formula") && length(formula) == 2) formula[[2]]
  must_be(is.name(column), formula, name, "a formula of one column of the fit's `data`, as ~ sex")
  as.character(column)
}

kernel_columns <- function(kernel) unlist(lapply(all_parts(kernel), `[[`, "column"))

check_columns <- function(columns, data) {
  absent <- setdiff(columns, names(data))
  refuse_if(length(absent), "`data` lacks the column %s, which a kernel or the residual needs.",
            quoted(absent[1]))
  for (column in columns) check_column(column, data)
}

# A matrix or list has other numbers of values than rows.
check_column <- function(column, data) {
  values <- data[[column]]
  refuse_if(!is.atomic(values) || length(values) != nrow(data),
            "The column %s of `data` must be a vector or factor of one value for each row, not %s.",
            quoted(column), show_value(values))
}

# `data`: the rows of the fit, of the samples `ids`.
check_no_infinite <- function(columns, data, ids) {
  for (column in columns) {
    wrong <- which(is.infinite(data[[column]]))
    refuse_if(length(wrong), "%s of the sample %s is not finite: correct it, or make it NA.",
              quoted(column), quoted(ids[wrong[1]]))
  }
}

# The kernel with the values of its columns. `data`: the rows of the fit.
with_column_values <- function(kernel, data) {
  change_parts(kernel, function(part) {
    if (!is.null(part$column)) part$values <- data[[part$column]]
    part
  })
}

# ---- Several rows of a sample --------------------------------------------------------------------

# Whether samples may have several rows of `data`: a kernel of their ids is there.
takes_records <- function(kernels, id) {
  parts <- unlist(lapply(unname(kernels), all_parts), recursive = FALSE)
  any(vapply(parts, function(part) part$kind == "groups" && identical(part$column, id), NA))
}

refuse_records <- function(model, what) {
  refuse_if(!is.null(model$individuals),
            "%s one row of `data` for each sample: fit the means of the samples' rows.", what)
}
