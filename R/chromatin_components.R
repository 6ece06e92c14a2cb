#' Principal components of distance maps
#'
#' `map_components(x)` gives each cell its coordinates along the leading principal components of the
#' maps' upper triangles. They are the usual input for clustering, and a baseline for other codes.
#'
#' @details
#' The components equal those of [stats::prcomp()] without scaling of pairs, but only the leading
#' ones are computed. Each sign makes the sum of the cells' cubed scores positive.
#'
#' The first component often reflects the size of cells. To cluster by shape, use maps with
#' `scale = "each"` ([distance_maps()]).
#'
#' @param x A [distance_maps()] object without missing pairs.
#' @param n Number of components; 10 by default.
#' @return A matrix of cells x `n`, with the columns `PC1`, `PC2` and so on. The attribute `share`
#'   holds each component's share of the variance.
#' @section Errors:
#' `ancify_input_error`: `x` has missing pairs, or at most `n` cells.
#' @seealso [cluster_metrics()]
#' @export
#' @examples
#' x <- simulate_polymers(60, list(
#'   one = polymer_model(32, 32, domain_spring = 0.1), two = polymer_model(32, c(16, 16))
#' ), seed = 1)
#' scores <- map_components(distance_maps(x), 3)
#' clusters <- stats::kmeans(scores, 2, nstart = 10)$cluster
#' table(clusters, attr(x, "model"))
map_components <- function(x, n = 10) {
  check_args(x = check_maps, n = whole())
  refuse_if(anyNA(x$maps), "There are missing pairs: complete them first, by complete_maps().")
  refuse_if(length(x) <= n || nrow(x$maps) < n,
            "%d components need more than %d cells and at least %d pairs, not %d and %d.", n, n, n,
            length(x), nrow(x$maps))
  z <- x$maps - rowMeans(x$maps)
  parts <- svd(crossprod(leading_axes(z, n), z), nu = 0)
  scores <- parts$v %*% diag(parts$d, n)
  scores <- scores * rep(ifelse(colSums(scores^3) < 0, -1, 1), each = nrow(scores))
  structure(
    scores, dimnames = list(x$cells, paste0("PC", seq_len(n))),
    share = no_nan(parts$d^2 / sum(z^2))
  )
}

# An orthonormal basis of the `n` leading left singular vectors of `z`, from block Krylov spaces
# (Musco and Musco 2015, Advances in Neural Information Processing Systems 28:1396-1404).
leading_axes <- function(z, n) {
  # Compute a few more axes than requested, so that the last requested one converges too.
  width <- n + 5
  depth <- 5
  if (width * depth >= min(dim(z))) {
    return(svd(z, nu = n, nv = 0)$u)
  }
  axes <- first_axes(z, width)
  values <- numeric(n)
  for (round in seq_len(50)) {
    basis <- axes
    for (step in seq_len(depth - 1)) {
      last <- basis[, ncol(basis) - width + seq_len(width)]
      basis <- qr.Q(qr(cbind(basis, z %*% crossprod(z, last))))
    }
    parts <- svd(crossprod(z, basis), nu = 0)
    axes <- basis %*% parts$v[, seq_len(width)]
    change <- max(abs(parts$d[seq_len(n)] - values))
    values <- parts$d[seq_len(n)]
    if (change <= 1e-9 * values[1]) break
  }
  axes[, seq_len(n), drop = FALSE]
}

# Initial directions: columns of `z` that are far apart.
first_axes <- function(z, n) qr.Q(qr(z[, unique(round(seq(1, ncol(z), length.out = n)))]))
