#' Fold a spectrum
#'
#' `fold(x)` makes the spectrum of the rarer allele, for data without known ancestral alleles.
#'
#' At exactly half of all haplotypes, either allele can be the rarer one. Such sites are divided
#' equally between their two cells.
#'
#' The Bioconductor package S4Vectors also has a `fold()`. If it is attached later, write
#' `ancify::fold()`.
#'
#' @param x An [sfs()].
#' @param ... Not used.
#' @return An [sfs()] of the same size. A cell is masked if either of its two source cells was
#'   masked. A folded `x` is returned unchanged.
#' @section Errors:
#' * `ancify_input_error`: `x` is not a valid spectrum.
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
  check_method(x = check_sfs)
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
#' Splits each cell of a folded spectrum equally between its two unfolded cells. The result carries
#' no information on ancestral alleles; it is for computations that sum over derived copies.
#'
#' @param x An [sfs()].
#' @return An unfolded [sfs()] of the same size, which folds to `x`. A cell is masked if its folded
#'   cell was. An unfolded `x` is returned unchanged.
#' @section Errors:
#' * `ancify_input_error`: `x` is not a valid spectrum.
#' @seealso [fold()]
#' @export
#' @examples
#' unfold(fold(sfs(c(0, 12, 5, 3, 2, 0), "YRI")))
unfold <- function(x) {
  check_args(x = check_sfs)
  if (!attr(x, "folded")) {
    return(x)
  }
  counts <- plain_array(x)
  mask <- attr(x, "mask") & !above_half(dim(x))
  new_sfs((counts + rev(counts)) / 2, names(dimnames(x)), mask | rev(mask), FALSE)
}

# Applies `transform` to an unfolded spectrum. A folded `x` is unfolded first and refolded
# afterwards.
as_unfolded <- function(x, transform) {
  check_sfs(x)
  if (attr(x, "folded")) fold(transform(unfold(x))) else transform(x)
}

#' Project a spectrum to smaller samples
#'
#' `project_sfs(x, c(CEU = 10))` computes the expected spectrum of fewer haplotypes, drawn without
#' replacement from the current sample.
#'
#' In each population, a site of h derived copies among n moves to k copies among m with the
#' hypergeometric probability `dhyper(k, h, n - h, m)`. Sites that lose the derived or the
#' ancestral allele move to the cells of invariant sites. A model of the smaller samples is
#' comparable with the projection.
#'
#' @param x An [sfs()]. A folded spectrum is unfolded equally, projected and folded again.
#' @param size New number of haplotypes of each population, from 1 to the current number, in order
#'   or named. Populations that are not named keep their size.
#' @return An [sfs()]. A cell is masked if a masked cell contributes to it.
#' @section Errors:
#' * `ancify_input_error`: a size is not a whole number from 1 to the current size, or names no
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
  check_args(x = check_sfs)
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
    refuse_if(anyDuplicated(names(size)) || !all(names(size) %in% labels),
              "`size` names %s: the spectrum's populations are %s, each once.",
              enumerate(quoted(names(size))), enumerate(quoted(labels)))
    size <- replace(now, match(names(size), labels), size)
  }
  refuse_if(!is.numeric(size) || length(size) != length(now),
            "`size` must be a number for each of %d populations, or be named by populations.",
            length(now))
  wrong <- which(is.na(size) | size != round(size) | size < 1 | size > now)
  refuse_if(length(wrong),
            "`size` is %s for %s: give a whole number from 1 to %d, its haplotypes now.",
            format(size[wrong[1]]), labels[wrong[1]], now[wrong[1]])
  as.integer(size)
}

project_population <- function(x, k, size) {
  n <- dim(x)[k] - 1
  counts <- plain_array(x)
  mask <- attr(x, "mask")
  counts[mask & !is.finite(counts)] <- 0
  projected <- masked <- 0
  # The weights of all copies at once could be larger than the spectrum by far.
  copies <- 0:n
  for (from in split(copies, copies %/% max(1, most_weights %/% (size + 1)))) {
    weights <- outer(0:size, from, function(to, from) stats::dhyper(to, from, n - from, size))
    projected <- projected + along_dimension(counts, k, weights, from + 1)
    masked <- masked + along_dimension(mask + 0, k, (weights > 0) + 0, from + 1)
  }
  new_sfs(projected, names(dimnames(x)), masked > 0, FALSE)
}

# Maximum number of weights in memory: 80 MB.
most_weights <- 1e7

# Multiplies every line of an array along its dimension k, or some cells of it, by a matrix.
along_dimension <- function(values, k, matrix, cells = seq_len(dim(values)[k])) {
  dim <- dim(values)
  order <- c(k, seq_along(dim)[-k])
  lines <- matrix %*% matrix(aperm(values, order), dim[k])[cells, , drop = FALSE]
  aperm(array(lines, c(nrow(matrix), dim[-k])), order(order))
}

#' Keep some of a spectrum's populations
#'
#' `marginal_sfs(x, "CEU")` sums a joint spectrum over the other populations. It can also reorder
#' populations.
#'
#' Sites that vary only in other populations move to the cell without derived copies. This cell is
#' masked if it was masked in the joint spectrum.
#'
#' @param x An [sfs()]. A folded spectrum is refolded by the remaining haplotypes.
#' @param populations Names or indices of the populations to keep, in the order of the result.
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
  check_args(x = check_sfs)
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
  refuse_if(!good, "`populations` must be some of %s, each once, not %s.",
            enumerate(quoted(labels)), show_value(populations))
  as.integer(numbers)
}

#' Combine populations of a spectrum
#'
#' `combine_populations(x, c("CEU", "CHB"))` sums the derived copies of several populations, which
#' become one sample.
#'
#' @param x An [sfs()]. A folded spectrum stays folded.
#' @param populations Names or indices of at least two populations. The new population takes the
#'   position of the first of them in `x`.
#' @param name Name of the new population. `NULL` (the default): their names in the order of `x`,
#'   joined by `"+"`.
#' @return An [sfs()]. A cell is masked if a masked cell contributes to it. The cells of invariant
#'   sites therefore stay masked, as no others contribute to them.
#' @section Errors:
#' * `ancify_input_error`: a population is not in `x` or is named twice, there are fewer than two,
#'   or `name` is not a name.
#' @seealso [marginal_sfs()] leaves out populations or changes their order
#' @export
#' @examples
#' x <- sfs(array(1:24, c(2, 3, 4)), c("YRI", "CEU", "CHB"))
#' combine_populations(x, c("CEU", "CHB"))
combine_populations <- function(x, populations, name = NULL) {
  check_args(x = check_sfs)
  together <- sort(population_numbers(populations, x))
  refuse_if(length(together) < 2, "`populations` must be at least two.")
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
#' `simulate(expected, nsim = 100)` draws spectra of unlinked sites from an expected spectrum.
#'
#' @param object An [sfs()] of expected numbers of sites.
#' @param nsim Number of spectra, 1 by default.
#' @param seed A number for [set.seed()]. `NULL` (the default): the generator's current state.
#' @param draws `"poisson"` (the default): each unmasked cell is Poisson distributed.
#'   `"multinomial"`: the spectra have as many sites as `object`, rounded to a whole number.
#' @param ... Not used.
#' @return A list of `nsim` spectra, with the mask of `object`.
#' @section Errors:
#' * `ancify_input_error`: `object` has a negative cell, or `nsim` is not a positive whole number.
#' @seealso [expected_sfs()]
#' @importFrom stats simulate
#' @export
#' @examples
#' simulate(sfs(c(0, 100 / 1:4, 0)), nsim = 2, seed = 1)
simulate.sfs <- function(object, nsim = 1, seed = NULL, draws = c("poisson", "multinomial"), ...) {
  check_method(draws = choice(c("poisson", "multinomial")))
  check_sfs(object)
  check_whole_number(nsim, "nsim")
  mask <- attr(object, "mask")
  means <- as.vector(plain_array(object))[!mask]
  refuse_if(any(means < 0), "`object` is %s in cell %s: an expected count cannot be negative.",
            min(means), cell_name(which(!mask)[which.min(means)], dim(object)))
  if (!is.null(seed)) set.seed(seed)
  lapply(seq_len(nsim), function(i) {
    counts <- array(0, dim(object))
    counts[!mask] <- if (draws == "poisson") stats::rpois(length(means), means)
    else if (any(means > 0)) stats::rmultinom(1, round(sum(means)), means) else 0
    new_sfs(counts, names(dimnames(object)), mask, attr(object, "folded"))
  })
}
