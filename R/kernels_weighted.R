#' Kernels of weighted blocks
#'
#' A kernel of genotypes with a dense weight matrix for each block of neighbouring variants:
#' `kernel_weighted(g, blocks)`. Such weights can correct for linkage disequilibrium between
#' neighbours, or model correlated effects.
#'
#' The kernel is \eqn{K = \sum_b Z_b W_b Z_b' / c} over blocks b, with standardised genotypes Z as
#' in [kernels] and weights W. With `normalisation = "trace"`, c is the mean diagonal of the sum, so
#' the mean diagonal of K is 1. With `"rank"`, c is the sum of the blocks' `ranks`. Shares of the
#' variance do not depend on c. With identity matrices K is the kernel of [kernel_grm()], up to a
#' factor if calls are missing.
#'
#' **Groups.** Blocks of a group form one component of the fit, with its own variance and c. It is
#' named after the kernel and the group: `ld.coding`.
#'
#' **Memory.** The weights stay in memory, at 8 bytes each. A product takes another 64 MB.
#'
#' @inheritParams kernels
#' @param g Genotypes, from [open_genotypes()].
#' @param blocks A list of symmetric matrices without negative eigenvalues. They tile the variants
#'   of `g`: the rows of the first are the first variants, and so on. Row names, if any, are variant
#'   ids. A matrix is one block. Or paths of files in this order: `.npy` or `.npz` of NumPy, `.rds`
#'   of a matrix or a list (from R 4.4 on), and tables of numbers, `.csv` or with blanks.
#' @param groups The group of each block, a factor or character vector. `NULL` (the default): the
#'   kernel is one component.
#' @param normalisation `"trace"` (the default) or `"rank"`.
#' @param ranks The rank of each block, above 0, only for `normalisation = "rank"`.
#' @return A list of class `reml_kernel`.
#' @section Errors:
#' * `ancify_input_error`: blocks do not tile the variants, or one is not symmetric, not finite, or
#'   has a negative eigenvalue. The message names block, row and variant.
#' * `ancify_input_error`: `groups` or `ranks` do not match the blocks.
#' * `ancify_file_error`, `ancify_format_error`: a file of blocks cannot be read, or is damaged.
#' @references
#' Speed, Hemani, Johnson and Balding (2012) Improved heritability estimation from genome-wide SNPs.
#' American Journal of Human Genetics 91:1011.
#' @seealso [kernels], [fit_reml()]
#' @export
#' @examples
#' # 60 samples and 40 variants
#' set.seed(1)
#' stem <- tempfile()
#' calls <- matrix(sample(c(0, 2, 3), 60 * 40, replace = TRUE), 4)
#' writeBin(as.raw(c(0x6c, 0x1b, 0x01, c(1, 4, 16, 64) %*% calls)), paste0(stem, ".bed"))
#' writeLines(sprintf("family%d sample%d 0 0 0 -9", 1:60, 1:60), paste0(stem, ".fam"))
#' writeLines(sprintf("1 snp%d 0 %d G A", 1:40, 1:40), paste0(stem, ".bim"))
#' g <- open_genotypes(stem)
#'
#' # Blocks of 10 variants, whose neighbours have correlated effects
#' near <- 0.8^abs(outer(1:10, 1:10, "-"))
#' kernel <- kernel_weighted(g, list(near, near, near, near), c("a", "a", "b", "b"))
#' data <- data.frame(id = paste0("sample", 1:60), y = rnorm(60) + as.matrix(g)[, 1])
#' fit <- fit_reml(y ~ 1, data, kernels = list(near = kernel), threads = 1)
#' heritability(fit)
kernel_weighted <- function(g, blocks, groups = NULL, normalisation = c("trace", "rank"),
                            ranks = NULL, scale_power = -1) {
  check_args(g = check_genotypes, normalisation = choice(c("trace", "rank")),
             scale_power = number())
  if (is.matrix(blocks)) blocks <- list(blocks)
  if (is.character(blocks)) blocks <- weight_blocks_in(blocks)
  blocks <- check_weight_blocks(blocks, g)
  groups <- check_weight_groups(groups, length(blocks))
  check_weights_left(blocks, groups)
  new_kernel(
    "weighted", g$samples$id, nrow(g), genotypes = g, scale_power = scale_power, blocks = blocks,
    component = as.integer(groups), divisors = weight_divisors(normalisation, ranks, groups),
    parts = levels(groups)
  )
}

# The blocks in files.
weight_blocks_in <- function(paths) {
  unlist(lapply(paths, function(path) {
    path <- check_file(path, "blocks")
    blocks <- switch(
      ending_of(path), npy = , npz = arrays_in(path), rds = object_in_rds(path),
      with_watch("Reading", function(watch) read_numbers_impl(path, is_csv(path), watch))$values
    )
    if (is.list(blocks)) {
      blocks
    } else {
      stats::setNames(list(blocks), tools::file_path_sans_ext(basename(path)))
    }
  }), recursive = FALSE)
}

# ---- Checks --------------------------------------------------------------------------------------

# The blocks as matrices of doubles without names, equal to their transposes.
check_weight_blocks <- function(blocks, g) {
  must_be(is.list(blocks) && length(blocks) != 0, blocks, "blocks", "a list of square matrices")
  ids <- as.character(g$variants$id)
  names <- weight_block_names(blocks)
  first <- 1
  for (b in seq_along(blocks)) {
    size <- check_weight_square(blocks[[b]], names[b])
    if (first + size - 1 > length(ids)) break
    blocks[[b]] <- check_weight_block(blocks[[b]], names[b], ids[first - 1 + seq_len(size)])
    first <- first + size
  }
  sizes <- vapply(blocks, NROW, 0L)
  refuse_if(
    sum(sizes) != length(ids), "`blocks` must tile the %s, but %s %s.",
    count_of(length(ids), "variant"), names[b],
    if (sum(sizes) > length(ids)) {
      sprintf("goes %s beyond the last, %s",
              count_of(first + size - 1 - length(ids), "row"), quoted(ids[length(ids)]))
    } else {
      sprintf("is the last and ends before %s", quoted(ids[first]))
    }
  )
  unname(blocks)
}

# "block 3", or "block 3 'LD3'".
weight_block_names <- function(blocks) {
  names <- names(blocks) %||% rep("", length(blocks))
  paste0("block ", seq_along(blocks), ifelse(nzchar(names), paste0(" ", quoted(names)), ""))
}

check_weight_square <- function(block, name) {
  refuse_if(!is.matrix(block) || !is.numeric(block) || nrow(block) != ncol(block) || !length(block),
            "%s of `blocks` must be a square matrix of numbers, not %s.", name,
            if (is.matrix(block)) paste(dim(block), collapse = " x ") else show_value(block))
  nrow(block)
}

# `ids`: the ids of its variants.
check_weight_block <- function(block, name, ids) {
  given <- rownames(block) %||% colnames(block) %||% ids
  refuse <- function(row, problem) {
    refuse_input("Row %d of %s (variant %s) %s.", row, name, quoted(ids[row]), problem)
  }
  first_row <- function(wrong) arrayInd(which(wrong)[1], dim(block))[1]
  if (any(given != ids)) {
    row <- which(given != ids)[1]
    refuse(row, sprintf("is named %s: order blocks as the variants", quoted(given[row])))
  }
  infinite <- !is.finite(block)
  if (any(infinite)) refuse(first_row(infinite), "has a number that is not finite")
  unequal <- abs(block - t(block)) > 1e-8 * max(abs(block))
  if (any(unequal)) refuse(first_row(unequal), "differs from its column: a block is symmetric")
  block <- unname(block + t(block)) / 2
  if (any(diag(block) < 0)) {
    refuse(which(diag(block) < 0)[1], "is below 0 on the diagonal: no eigenvalue may be negative")
  }
  # Eigenvalues take 30 times as long as a Cholesky factor, which exists if none is below -shift.
  shift <- 1e-6 * mean(diag(block))
  is_good <- all(block == 0) ||
    !is.null(tryCatch(chol(block + diag(shift, nrow(block))), error = function(condition) NULL))
  if (!is_good) {
    parts <- eigen(block, symmetric = TRUE)
    refuse(
      which.max(abs(parts$vectors[, nrow(block)])),
      sprintf("dominates the eigenvector of eigenvalue %s: no eigenvalue may be negative",
              format(parts$values[nrow(block)], digits = 3))
    )
  }
  block
}

# A factor with a level for each component; 1 for all blocks if the kernel is one component.
check_weight_groups <- function(groups, n) {
  if (is.null(groups)) {
    return(rep(1L, n))
  }
  refuse_if(!(is.factor(groups) || is.character(groups)) || length(groups) != n || anyNA(groups),
            "`groups` must be a factor or texts, one for each of the %s, not %s.",
            count_of(n, "block"),
            if (length(groups) == n) show_value(groups) else count_of(length(groups), "value"))
  groups <- if (is.factor(groups)) groups else factor(groups, unique(groups))
  droplevels(groups)
}

check_weights_left <- function(blocks, groups) {
  is_zero <- vapply(blocks, function(block) all(block == 0), NA)
  empty <- setdiff(unique(groups), groups[!is_zero])
  if (length(empty)) {
    of_group <- if (is.factor(groups)) sprintf(" of the group %s", quoted(empty[1])) else ""
    refuse_input("The weights%s are all 0, which makes no kernel: %s.", of_group,
                 "leave these variants out of `g`, or give the blocks to another group")
  }
}

# c of each component; 0 stands for the mean diagonal.
weight_divisors <- function(normalisation, ranks, groups) {
  refuse_if((normalisation == "rank") == is.null(ranks),
            "`ranks` are for `normalisation` \"rank\" alone%s.",
            if (is.null(ranks)) ", which needs them: give one for each block" else "")
  group <- as.integer(groups)
  if (is.null(ranks)) {
    return(numeric(max(group)))
  }
  check_positive(ranks, "ranks")
  refuse_if(length(ranks) != length(group), "`ranks` has %s, but there are %s: give one for each.",
            count_of(length(ranks), "number"), count_of(length(group), "block"))
  rowsum_of(as.double(ranks), group, max(group))
}

# ---- For fits ------------------------------------------------------------------------------------

core_weighted <- function(kernel, rows, n, name) {
  kernel$genotypes <- kernel$genotypes[rows, ]
  kernel$component <- kernel$component - 1L
  unclass(kernel)[c(
    "kind", "parts", "genotypes", "scale_power", "blocks", "component", "divisors"
  )]
}

weighted_fields <- function(kernel) {
  core_list(
    "WeightedKernel",
    genotypes = core_genotypes(kernel$genotypes), scale_power = kernel$scale_power,
    blocks = kernel$blocks, component = kernel$component, divisors = kernel$divisors
  )
}

# Effects of a copy of the counted alleles: s_j sum_k f_b W_jk s_k (g_k - mean_k)'Py for the
# variants k of j's block. `factors`: theta / c of each component. `response`: (g_j - mean_j)'Py.
weighted_effects <- function(kernel, factors, variance, response) {
  scale <- ifelse(variance > 0, variance^(kernel$scale_power / 2), 0)
  sizes <- vapply(kernel$blocks, nrow, 0L)
  of_blocks <- split(scale * response, rep(seq_along(sizes), sizes))
  weighted <- Map(function(block, values, factor) factor * drop(block %*% values),
                  kernel$blocks, of_blocks, factors[kernel$component + 1])
  scale * unlist(weighted, use.names = FALSE)
}
