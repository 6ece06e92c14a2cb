#' Fold a spectrum
#'
#' Makes the spectrum of the rarer allele, for data in which the ancestral allele is
#' not known. Where exactly half of all haplotypes have an allele, either is the
#' rarer one, and the two cells share their sites equally.
#'
#' The Bioconductor package S4Vectors has a `fold()` too; where it is attached later, this
#' one is `ancify::fold()`.
#'
#' @param x An [sfs()].
#' @param ... Not used.
#' @return An `sfs` of the same size. A cell is masked where it or the one that is
#'   added to it was. A folded spectrum is returned as it is.
#' @section Errors:
#' `ancify_input_error` for what is not a whole spectrum.
#' @seealso [sfs()], [project_sfs()]
#' @export
#' @examples
#' fold(sfs(c(0, 12, 5, 3, 2, 0), "YRI"))
fold <- function(x, ...) UseMethod("fold")

#' @export
fold.default <- function(x, ...) check_sfs(x)

#' @rdname fold
#' @export
fold.sfs <- function(x, ...) {
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

# Each cell's sites in equal parts where its allele and where the other is derived: an unfolded
# spectrum that folds to this one.
unfold <- function(x) {
  counts <- plain_array(x)
  mask <- attr(x, "mask") & !above_half(dim(x))
  new_sfs((counts + rev(counts)) / 2, names(dimnames(x)), mask | rev(mask), FALSE)
}

# transform() sees unfolded spectra only.
as_unfolded <- function(x, transform) {
  check_sfs(x)
  if (attr(x, "folded")) fold(transform(unfold(x))) else transform(x)
}

#' Project a spectrum to smaller samples
#'
#' The spectrum expected in samples of fewer haplotypes, drawn from those that there
#' are: a site with h derived copies among n goes to k among m with the
#' hypergeometric probability `dhyper(k, h, n - h, m)`, in each population.
#'
#' Projected data can be compared with a model of the smaller samples. Sites from
#' which the derived or the ancestral allele is lost go to the cells of sites that do
#' not vary.
#'
#' @param x An [sfs()]. A folded one is projected as if of each site's two alleles
#'   either were derived, and folded again.
#' @param size The new number of haplotypes of each population, from 1 to the present
#'   one: in their order, or named by populations, of which those not named keep
#'   theirs.
#' @return An `sfs`. A cell is masked where any masked cell goes to it.
#' @section Errors:
#' `ancify_input_error` for sizes that are no whole numbers, above the present ones,
#' or of populations that are not there.
#' @references
#' Marth, Czabarka, Murvai and Sherry (2004) The allele frequency spectrum in
#' genome-wide human variation data. Genetics 166:351.
#' @seealso [sfs()], [sfs_from_sites()] projects each site from those haplotypes that
#'   are known at it.
#' @export
#' @examples
#' x <- sfs(matrix(c(0, 9:1, 5, 0), 3, 4), c("YRI", "CEU"))
#' project_sfs(x, c(CEU = 2))
project_sfs <- function(x, size) {
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
        "`size` is %s for %s: give a whole number from 1 to %d, the haplotypes there are.",
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

#' Spectrum of some of the populations
#'
#' Sums a joint spectrum over the populations that are left out.
#'
#' Sites that vary only in populations left out are then in the cell of those
#' without a derived copy, which is masked if the joint spectrum's was.
#'
#' @param x An [sfs()]. A folded one is folded again by the haplotypes that remain.
#' @param populations Names or numbers of the populations to keep, in the order that
#'   the result is to have.
#' @return An `sfs`. A cell is masked where any masked cell is added to it.
#' @section Errors:
#' `ancify_input_error` for populations that are not there or are named twice.
#' @seealso [sfs()]
#' @export
#' @examples
#' x <- sfs(matrix(1:12, 3, 4), c("YRI", "CEU"))
#' marginal_sfs(x, "CEU")
#' marginal_sfs(x, c("CEU", "YRI"))
marginal_sfs <- function(x, populations) {
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
