# Two-locus statistics of a pair of sites as they are defined: means over all choices of different
# genotypes or haplotypes.

# Rows are all choices of k different numbers of 1 to n, in order.
different <- function(n, k) {
  rows <- matrix(seq_len(n))
  for (column in seq_len(k)[-1]) {
    rows <- do.call(rbind, lapply(seq_len(n), function(number) {
      cbind(rows[rowSums(rows == number) == 0, , drop = FALSE], number)
    }))
  }
  rows
}

# The mean over choices of different rows of the product of column 1 in the first, 2 in the second.
different_mean <- function(columns) {
  choices <- different(nrow(columns), ncol(columns))
  products <- 1
  for (k in seq_len(ncol(columns))) products <- products * columns[choices[, k], k]
  mean(products)
}

# `x`, `y`: copies of an allele in units, NA if missing; `ploidy`: of a unit, 1 or 2. `population`:
# of each unit. The result has names of ld_statistics_names().
oracle_pair <- function(x, y, population, populations, ploidy) {
  called <- !is.na(x) & !is.na(y)
  p <- x[called] / ploidy
  q <- y[called] / ploidy
  population <- population[called]
  # Slots are list(population number, values of units).
  mean_of <- function(slots) {
    numbers <- vapply(slots, `[[`, 0, 1)
    prod(vapply(unique(numbers), function(number) {
      own <- population == populations[number]
      columns <- vapply(slots[numbers == number], function(slot) slot[[2]][own], p[own])
      different_mean(columns)
    }, 0))
  }
  # E[D a b ...]; genotypes have half of the haplotypes' covariance.
  d <- function(numbers, others = list()) {
    if (!length(numbers)) {
      return(mean_of(others))
    }
    i <- numbers[1]
    ploidy * (d(numbers[-1], c(others, list(list(i, p * q)))) -
                d(numbers[-1], c(others, list(list(i, p), list(i, q)))))
  }
  dz <- function(i, j, k) d(i, list(list(j, 1 - 2 * p), list(k, 1 - 2 * q)))
  pi2 <- function(i, j, k, l) {
    d(NULL, list(list(i, p), list(j, 1 - p), list(k, q), list(l, 1 - q)))
  }
  rows <- ld_table(populations)
  values <- vapply(seq_len(nrow(rows)), function(r) {
    i <- as.numeric(rows[r, c("i", "j", "k", "l")])
    switch(rows$kind[r],
      DD = d(i[1:2]), Dz = (dz(i[1], i[2], i[3]) + dz(i[1], i[3], i[2])) / 2,
      pi2 = {
        orders <- rbind(c(1, 2, 3, 4), c(2, 1, 3, 4), c(1, 2, 4, 3), c(2, 1, 4, 3))
        orders <- rbind(orders, orders[, c(3, 4, 1, 2)])
        mean(apply(orders, 1, function(order) do.call(pi2, as.list(i[order]))))
      }
    )
  }, 0)
  stats::setNames(values, rows$name)
}
