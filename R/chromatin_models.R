#' Models of polymers
#'
#' Make models for [simulate_polymers()]. `polymer_model()` is a Gaussian chain of points joined by
#' springs, whose mean squared distances are known exactly. `self_avoiding_model()` is a chain of
#' hard balls in a sphere.
#'
#' @details
#' **Gaussian chains.** The energy is half the sum of each spring's strength times its squared
#' length. Coordinates are therefore normal, and their precision along each axis is the Laplacian L
#' of the springs. With C the pseudo-inverse of L, the mean squared distance of points i and j is 3
#' (C_ii + C_jj - 2 C_ij); `expected_squares()` gives it for all pairs. Springs of one pair add up:
#' * the backbone joins neighbours (alone, it is the ideal chain);
#' * a domain joins all pairs of its points;
#' * a loop joins its two anchors.
#'
#' **Self-avoiding chains.** Neighbours are one unit apart. The centres of any two balls are at
#' least `diameter` apart, and all centres lie within `radius` of the sphere's centre. All such
#' chains are equally likely. Each cell is drawn independently, by pivot moves from a compact chain.
#'
#' @param n Number of points, from 8 to 5,000; 64 by default.
#' @param domains Lengths of domains along the chain, in points; their sum is `n`. `NULL` (the
#'   default): none.
#' @param loops Points that loops join: two of them, or a matrix with two columns. `NULL` (the
#'   default): none.
#' @param backbone,domain_spring,loop_spring Strengths of the springs, numbers above 0; 1, 0.02 and
#'   1 by default. A spring of strength 1 alone has a mean squared length of 3.
#' @param diameter Diameter of the balls, from 0 to 1, in units of the distance of neighbours; 0.8
#'   by default.
#' @param radius Radius of the sphere, in the same unit. Default: 0.6 times `n` to the power 0.6,
#'   which compresses the chain slightly.
#' @param moves Attempted moves for each cell. Default: 20 for each point.
#' @param model The result of `polymer_model()`.
#' @return
#' * `polymer_model()`, `self_avoiding_model()`: an object of class `polymer_model`.
#' * `expected_squares()`: a matrix of n x n mean squared distances.
#' @section Errors:
#' `ancify_input_error`: an argument is outside its range, or one spring is over 1e6 times as strong
#' as another; domains do not add up to `n`; loops are not pairs of different points; the sphere is
#' too small for the compact chain; or `model` is a self-avoiding chain, whose expected squares are
#' unknown.
#' @references
#' Doi and Edwards (1986) The Theory of Polymer Dynamics. Oxford.
#'
#' Madras and Sokal (1988) The pivot algorithm. Journal of Statistical Physics 50:109-186.
#' @seealso [simulate_polymers()]
#' @export
#' @examples
#' ideal <- polymer_model(64)
#' expected_squares(ideal)[1, 2:4]
#' domains <- polymer_model(64, domains = c(20, 24, 20))
#' domains
#' expected_squares(domains)[1, 2:4]
#' polymer_model(64, loops = rbind(c(5, 30), c(30, 60)))
#' self_avoiding_model(64, radius = 6)
polymer_model <- function(n = 64, domains = NULL, loops = NULL, backbone = 1, domain_spring = 0.02,
                          loop_spring = 1) {
  check_args(n = check_polymer_points, backbone = positive(1), domain_spring = positive(1),
             loop_spring = positive(1))
  springs <- backbone * (abs(outer(seq_len(n), seq_len(n), `-`)) == 1)
  if (!is.null(domains)) {
    domain <- rep(seq_along(domains), check_domains(domains, n))
    springs <- springs + domain_spring * (outer(domain, domain, `==`) & !diag(n))
  }
  loops <- check_loops(loops, n)
  for (row in seq_len(NROW(loops))) {
    ends <- rbind(loops[row, ], rev(loops[row, ]))
    springs[ends] <- springs[ends] + loop_spring
  }
  strengths <- range(backbone, springs[springs > 0])
  refuse_if(strengths[2] > most_contrast * strengths[1],
            "The strongest spring is %.1e times as strong as the weakest: at most %g is exact.",
            strengths[2] / strengths[1], most_contrast)
  structure(
    list(
      kind = "gaussian", n = n, domains = domains, loops = loops, backbone = backbone,
      springs = springs
    ),
    class = "polymer_model"
  )
}

# Products with the inverse of the Laplacian lose about this factor in precision.
most_contrast <- 1e6

#' @rdname polymer_model
#' @export
self_avoiding_model <- function(n = 64, diameter = 0.8, radius = 0.6 * n^0.6, moves = 20 * n) {
  check_args(n = check_polymer_points, diameter = number(0, 1), radius = positive(1),
             moves = whole(1e9))
  structure(
    list(kind = "self_avoiding", n = n, diameter = diameter, radius = radius, moves = moves),
    class = "polymer_model"
  )
}

check_polymer_points <- function(n, name) check_points(check_whole_number(n, name))

check_domains <- function(domains, n) {
  good <- is.numeric(domains) && all(is.finite(domains) & domains >= 1) &&
    all(domains == round(domains)) && sum(domains) == n
  must_be(good, domains, "domains", sprintf("whole numbers of points that add up to %d", n))
}

check_loops <- function(loops, n) {
  if (is.null(loops)) {
    return(NULL)
  }
  if (!is.matrix(loops) && length(loops) == 2) loops <- t(loops)
  has_pairs <- is.matrix(loops) && is.numeric(loops) && ncol(loops) == 2
  refuse_if(!has_pairs || !all(loops %in% seq_len(n)) || any(loops[, 1] == loops[, 2]),
            "`loops` must be pairs of different points from 1 to %d, in a matrix of two columns.",
            n)
  loops
}

#' @rdname polymer_model
#' @export
expected_squares <- function(model) {
  check_given()
  covariance <- solve(centred_precision(check_gaussian(model)))
  variance <- diag(covariance)
  3 * (outer(variance, variance, `+`) - 2 * covariance)
}

# The Laplacian plus a multiple of 11'. Its inverse gives the same distances as the Laplacian's
# pseudo-inverse. The multiple has the magnitude of the springs, so that any unit of length works.
centred_precision <- function(model) laplacian(model) + model$backbone / model$n

laplacian <- function(model) diag(rowSums(model$springs)) - model$springs

check_polymer_model <- of_class("polymer_model", "the result of polymer_model()")

check_gaussian <- function(model) {
  refuse_if(check_polymer_model(model, "model")$kind != "gaussian",
            "Only chains of springs have known distances: give a model by polymer_model().")
  model
}

#' @export
print.polymer_model <- function(x, ...) {
  check_no_more(...)
  write_object("polymer_model", sprintf("%d points", x$n), switch(x$kind,
    gaussian = c(
      chain = if (is.null(x$domains) && is.null(x$loops)) "ideal" else "Gaussian",
      domains = paste(x$domains, collapse = ", "),
      loops = paste(apply(x$loops %||% matrix(0, 0, 2), 1, paste, collapse = "-"), collapse = ", ")
    ),
    self_avoiding = c(
      chain = "self-avoiding", diameter = format(x$diameter), radius = format(x$radius, digits = 3),
      moves = format_count(x$moves)
    )
  ))
  invisible(x)
}
