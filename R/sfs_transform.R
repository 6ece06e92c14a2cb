#' Fold a spectrum
#'
#' Makes the spectrum of the rarer allele, for data without known ancestral alleles: `fold(x)`.
#'
#' At exactly half of all haplotypes either allele can be the rarer one. The two cells of such
#' sites share them equally.
#'
#' The Bioconductor package S4Vectors has a `fold()` too. If it is attached later, write
#' `ancify::fold()`.
#'
#' @param x An [sfs()].
#' @param ... Not used.
#' @return An [sfs()] of the same size. A cell is masked if one of the two cells that it sums was
#'   masked. A folded `x` is returned unchanged.
#' @section Errors:
#' * `ancify_input_error`: `x` is no valid spectrum.
#' @seealso [unfold()], [sfs()], [project_sfs()]
#' @export
#' @examples
#' fold(sfs(c(0, 12, 5, 3, 2, 0), "YRI"))
fold <- function(x, ...) {
  check_given()
  UseMethod("fold")
}

#' @export
fold.default <- function(x, ...) check_sfs(x)

#' @rdname fold
#' @export
fold.sfs <- function(x, ...) {
  check_no_more(...)
  check_sfs(x)
  if (attr(x, "folded")) {
    return(x)
  }
  dim <- dim(x)
  counts <- plain_array(x)
  above <- above_half(dim)
  half <- 2 * total_copies(dim) == sum(dim - 1)
  both <- counts + rev(counts)
  both[half] <- both[half] / 2
  both[above] <- 0
  mask <- attr(x, "mask")
  new_sfs(both, names(dimnames(x)), mask | rev(mask) | above, TRUE)
}

#' Unfold a spectrum
#'
#' Splits each cell of a folded spectrum equally between its two unfolded cells. The result says
#' nothing about ancestral alleles; it is for computations that sum over derived copies.
#'
#' @param x An [sfs()].
#' @return An unfolded [sfs()] of the same size, which folds to `x`. A cell is masked if its folded
#'   cell was. An unfolded `x` is returned unchanged.
#' @section Errors:
#' * `ancify_input_error`: `x` is no valid spectrum.
#' @seealso [fold()]
#' @export
#' @examples
#' unfold(fold(sfs(c(0, 12, 5, 3, 2, 0), "YRI")))
unfold <- function(x) {
  check_given()
  check_sfs(x)
  if (!attr(x, "folded")) {
    return(x)
  }
  counts <- plain_array(x)
  mask <- attr(x, "mask") & !above_half(dim(x))
  new_sfs((counts + rev(counts)) / 2, names(dimnames(x)), mask | rev(mask), FALSE)
}

# Applies `transform` to an unfolded spectrum. A folded `x` is unfolded before and folded after.
as_unfolded <- function(x, transform) {
  check_sfs(x)
  if (attr(x, "folded")) fold(transform(unfold(x))) else transform(x)
}

#' Project a spectrum to smaller samples
#'
#' Makes the expected spectrum of fewer haplotypes, drawn from the present ones without
#' replacement: `project_sfs(x, c(CEU = 10))`.
#'
#' In each population a site of h derived copies among n goes to k copies among m with the
#' hypergeometric probability `dhyper(k, h, n - h, m)`. Sites that lose the derived or the
#' ancestral allele go to the cells of sites that do not vary. A model of the smaller samples can
#' be compared with the projection.
#'
#' @param x An [sfs()]. A folded one is unfolded equally, projected and folded again.
#' @param size New number of haplotypes of each population, from 1 to the present one, in order or
#'   named. Populations that are not named keep their size.
#' @return An [sfs()]. A cell is masked if a masked cell contributes to it.
#' @section Errors:
#' * `ancify_input_error`: a size is no whole number from 1 to the present size, or names no
#'   population of `x`.
#' @references
#' Marth, Czabarka, Murvai and Sherry (2004) The allele frequency spectrum in
#' genome-wide human variation data. Genetics 166:351.
#' @seealso [sfs()]; [sfs_from_sites()] projects each site from the haplotypes called there
#' @export
#' @examples
#' x <- sfs(matrix(c(0, 9:1, 5, 0), 3, 4), c("YRI", "CEU"))
#' project_sfs(x, c(CEU = 2))
project_sfs <- function(x, size) {
  check_given()
  check_sfs(x)
  size <- new_sizes(size, x)
  as_unfolded(x, function(x) {
    for (k in which(size < dim(x) - 1)) x <- project_population(x, k, size[k])
    x
  })
}

new_sizes <- function(size, x) {
  now <- dim(x) - 1L
  labels <- population_labels(x)
  if (!is.null(names(size))) {
    if (anyDuplicated(names(size)) || !all(names(size) %in% labels)) {
      abort_ancify(
        sprintf("`size` names %s: the spectrum's populations are %s, each once.",
                enumerate(quoted(names(size))), enumerate(quoted(labels))),
        "input"
      )
    }
    size <- replace(now, match(names(size), labels), size)
  }
  if (!is.numeric(size) || length(size) != length(now)) {
    abort_ancify(
      sprintf("`size` must be a number for each of %d populations, or be named by populations.",
              length(now)),
      "input"
    )
  }
  wrong <- which(is.na(size) | size != round(size) | size < 1 | size > now)
  if (length(wrong)) {
    abort_ancify(
      sprintf(
        "`size` is %s for %s: give a whole number from 1 to %d, its haplotypes now.",
        format(size[wrong[1]]), labels[wrong[1]], now[wrong[1]]
      ),
      "input"
    )
  }
  as.integer(size)
}

project_population <- function(x, k, size) {
  n <- dim(x)[k] - 1
  weights <- outer(0:size, 0:n, function(to, from) stats::dhyper(to, from, n - from, size))
  counts <- plain_array(x)
  mask <- attr(x, "mask")
  counts[mask & !is.finite(counts)] <- 0
  new_sfs(
    along_dimension(counts, k, weights), names(dimnames(x)),
    along_dimension(mask + 0, k, (weights > 0) + 0) > 0, FALSE
  )
}

# Multiplies every line of an array along its dimension k by a matrix.
along_dimension <- function(values, k, matrix) {
  dim <- dim(values)
  order <- c(k, seq_along(dim)[-k])
  lines <- matrix %*% matrix(aperm(values, order), dim[k])
  aperm(array(lines, c(nrow(matrix), dim[-k])), order(order))
}

#' Keep some of a spectrum's populations
#'
#' Sums a joint spectrum over the other populations: `marginal_sfs(x, "CEU")`. It can also change
#' the order of populations.
#'
#' Sites that vary only in other populations go to the cell without derived copies. That cell is
#' masked if it was masked in the joint spectrum.
#'
#' @param x An [sfs()]. A folded one is folded again by the haplotypes that remain.
#' @param populations Names or numbers of the populations to keep, in the order of the result.
#' @return An [sfs()]. A cell is masked if a masked cell contributes to it.
#' @section Errors:
#' * `ancify_input_error`: a population is not in `x` or is named twice.
#' @seealso [sfs()], [combine_populations()]
#' @export
#' @examples
#' x <- sfs(matrix(1:12, 3, 4), c("YRI", "CEU"))
#' marginal_sfs(x, "CEU")
#' marginal_sfs(x, c("CEU", "YRI"))
marginal_sfs <- function(x, populations) {
  check_given()
  check_sfs(x)
  keep <- population_numbers(populations, x)
  as_unfolded(x, function(x) {
    counts <- plain_array(x)
    mask <- attr(x, "mask")
    counts[mask & !is.finite(counts)] <- 0
    shape <- function(values) array(apply(values, keep, sum), dim(x)[keep])
    new_sfs(shape(counts), names(dimnames(x))[keep], shape(mask) > 0, FALSE)
  })
}

population_numbers <- function(populations, x) {
  labels <- population_labels(x)
  numbers <- if (is.character(populations)) match(populations, labels) else populations
  good <- is.numeric(numbers) && length(numbers) > 0 && all(numbers %in% seq_along(labels)) &&
    !anyDuplicated(numbers)
  if (!good) {
    abort_ancify(
      sprintf("`populations` must be some of %s, each once, not %s.", enumerate(quoted(labels)),
              show_value(populations)),
      "input"
    )
  }
  as.integer(numbers)
}

#' Combine populations of a spectrum
#'
#' Adds up the derived copies of several populations, which become one sample:
#' `combine_populations(x, c("CEU", "CHB"))`.
#'
#' @param x An [sfs()]. A folded one stays folded.
#' @param populations Names or numbers of at least two populations. The new one takes the place of
#'   the first of them in `x`.
#' @param name Name of the new population. `NULL` (the default): their names in the order of `x`,
#'   joined by `"+"`.
#' @return An [sfs()]. A cell is masked if a masked cell contributes to it. So the cells of sites
#'   that do not vary stay masked, as no others contribute to them.
#' @section Errors:
#' * `ancify_input_error`: a population is not in `x` or is named twice, there are fewer than two,
#'   or `name` is no name.
#' @seealso [marginal_sfs()] leaves out populations or changes their order
#' @export
#' @examples
#' x <- sfs(array(1:24, c(2, 3, 4)), c("YRI", "CEU", "CHB"))
#' combine_populations(x, c("CEU", "CHB"))
combine_populations <- function(x, populations, name = NULL) {
  check_given()
  check_sfs(x)
  together <- sort(population_numbers(populations, x))
  if (length(together) < 2) {
    abort_ancify("`populations` must be at least two.", "input")
  }
  labels <- names(dimnames(x))
  if (!is.null(name)) check_text(name, "name")
  if (!is.null(labels)) {
    labels[together[1]] <- name %||% paste(labels[together], collapse = "+")
    labels <- labels[-together[-1]]
  }
  folded <- attr(x, "folded")
  copies <- arrayInd(seq_along(x), dim(x)) - 1
  copies[, together[1]] <- rowSums(copies[, together])
  size <- dim(x) - 1
  size[together[1]] <- sum(size[together])
  dim <- (size + 1)[-together[-1]]
  cell <- 1 + drop(copies[, -together[-1], drop = FALSE] %*% cumprod(c(1, dim))[seq_along(dim)])
  counts <- as.vector(plain_array(x))
  mask <- as.vector(attr(x, "mask"))
  counts[mask & !is.finite(counts)] <- 0
  summed <- function(values) array(rowsum(values, factor(cell, seq_len(prod(dim))))[, 1], dim)
  new_sfs(summed(counts), labels, summed(mask + 0) > 0, folded)
}

#' Simulate spectra of independent sites
#'
#' Draws spectra from an expected one, of unlinked sites: `simulate(expected, nsim = 100)`.
#'
#' @param object An [sfs()] of expected numbers of sites.
#' @param nsim Number of spectra, 1 by default.
#' @param seed A number for [set.seed()]. `NULL` (the default): the random numbers go on.
#' @param draws `"poisson"` (the default): each unmasked cell is Poisson distributed.
#'   `"multinomial"`: the spectra have as many sites as `object`, to a whole number.
#' @param ... Not used.
#' @return A list of `nsim` spectra, masked as `object`.
#' @section Errors:
#' * `ancify_input_error`: `object` has a negative cell, or `nsim` is no positive whole number.
#' @seealso [expected_sfs()]
#' @importFrom stats simulate
#' @export
#' @examples
#' simulate(sfs(c(0, 100 / 1:4, 0)), nsim = 2, seed = 1)
simulate.sfs <- function(object, nsim = 1, seed = NULL, draws = c("poisson", "multinomial"), ...) {
  check_no_more(...)
  draws <- check_choice(draws, c("poisson", "multinomial"), "draws")
  check_sfs(object)
  check_whole_number(nsim, "nsim")
  mask <- attr(object, "mask")
  means <- as.vector(plain_array(object))[!mask]
  if (any(means < 0)) {
    abort_ancify(
      sprintf("`object` is %s in cell %s: an expected count cannot be negative.", min(means),
              cell_name(which(!mask)[which.min(means)], dim(object))),
      "input"
    )
  }
  if (!is.null(seed)) set.seed(seed)
  lapply(seq_len(nsim), function(i) {
    counts <- array(0, dim(object))
    counts[!mask] <- if (draws == "poisson") stats::rpois(length(means), means)
    else if (any(means > 0)) stats::rmultinom(1, round(sum(means)), means) else 0
    new_sfs(counts, names(dimnames(object)), mask, attr(object, "folded"))
  })
}
