# Sequencing depth, and its effect on spectra of called genotypes.

#' Describe the depth of sequencing
#'
#' Makes a model of the read depths of each population's genotypes:
#' `read_coverage("variants.vcf.gz", "populations.txt")` measures them. At low depth, rare alleles
#' are missed and heterozygotes are called as homozygotes. With the model, [sampling_low_coverage()]
#' corrects expected spectra, and [sfs_from_likelihoods()] corrects for missed sites.
#'
#' @details
#' The model describes multi-sample callers:
#' * Each genotype has its own depth, drawn from the depths of its population.
#' * A read of a heterozygote has each allele with probability 1/2, and reads have no errors.
#' * A genotype without reads is missing. A heterozygote with reads of only one allele is called as
#'   a homozygote.
#' * A site is detected if at least `reads` reads of all individuals have the derived allele. Reads
#'   of samples that `subset = TRUE` leaves out do not count.
#'
#' `read_coverage()` uses records of one REF and one ALT base, except records that `AA_reason` marks
#' `MASKED` or `REF_MISMATCH`. The depth is `DP` of FORMAT. An uncalled genotype has depth 0, so
#' filters on genotypes count too.
#'
#' @param vcf,subset As in [sfs_from_vcf()].
#' @param depths A list with a vector for each population: the number or share of genotypes with
#'   depth 0, 1, 2 and so on.
#' @param individuals The number of sequenced diploid individuals of each population, up to 500; in
#'   the order of `depths`, or named.
#' @param reads Minimum number of reads of the derived allele for detection of a site, from 0 to 10;
#'   2 by default.
#' @param populations The population of each sample: a vector, a data frame or a file, as in
#'   [sfs_from_vcf()].
#' @inheritParams sfs_from_vcf
#' @return A list of class `coverage_model`: `depths`, shares of each population's genotypes by
#'   depth; `individuals`; and `reads`. `read_coverage()` also has `sites`, the records it used.
#' @section Errors:
#' * `ancify_input_error`: samples and populations do not match; or `depths`, `individuals` or
#'   `reads` are not valid numbers.
#' * `ancify_format_error` (fields `file`, `line`): the file is damaged; a called genotype is not
#'   diploid; no record has `DP` and `GT`; or no called genotype of a population has a depth.
#' * `ancify_file_error` (field `file`): the file cannot be read.
#' @references
#' Fonseca, Tran, Mendoza and Gutenkunst (2025) Modeling biases from low-pass genome sequencing to
#' enable accurate population genetic inferences. Molecular Biology and Evolution 42:msaf002.
#' @seealso [sampling_low_coverage()], [sfs_from_likelihoods()]
#' @export
#' @examples
#' # 20 individuals at 4-fold depth
#' coverage_model(list(YRI = dpois(0:20, 4)), 20)
coverage_model <- function(depths, individuals, reads = 2) {
  check_given()
  depths <- lapply(if (is.list(depths)) depths else list(depths), check_depths)
  n <- length(depths)
  refuse_if(n == 0, "`depths` must have a vector for each population, not none.")
  if (!is.null(names(depths))) check_populations(names(depths), n)
  individuals <- check_individuals(individuals, names(depths), n)
  refuse_if(!is.numeric(reads) || length(reads) != 1 || !reads %in% 0:10,
            "`reads` must be a whole number from 0 to 10, not %s.", show_value(reads))
  structure(
    list(depths = depths, individuals = individuals, reads = as.integer(reads)),
    class = "coverage_model"
  )
}

#' @rdname coverage_model
#' @export
read_coverage <- function(vcf, populations, reads = 2, subset = FALSE, progress = interactive()) {
  check_args(vcf = one_path(), subset = flag())
  check_htslib()
  table <- population_table(populations)
  samples <- variant_samples_impl(vcf)
  check_samples(samples, table, vcf, subset)
  numbers <- sample_populations(samples, table)
  found <- with_watch("Reading", function(watch) count_depths_impl(vcf, numbers, watch), progress)
  names <- unique(table$population)
  depths <- lapply(seq_along(names), function(k) {
    counts <- found$genotypes[, k]
    if (all(counts[-1] == 0)) {
      abort_ancify(
        sprintf("%s: no called genotype of population %s has a depth (DP).", quoted(vcf),
                quoted(names[k])),
        "format", file = vcf
      )
    }
    counts[seq_len(max(which(counts > 0)))]
  })
  coverage <- coverage_model(
    stats::setNames(depths, names), tabulate(numbers + 1, length(names)), reads
  )
  coverage$sites <- found$sites
  coverage
}

check_depths <- function(depths) {
  good <- is.numeric(depths) && length(depths) > 0 && all(is.finite(depths)) &&
    all(depths >= 0) && sum(depths) > 0
  refuse_if(!good, "`depths` must have numbers from 0 for each population, not %s.",
            show_value(depths))
  refuse_if(sum(depths[-1]) == 0, "`depths` has only genotypes of depth 0, so that none is called.")
  as.double(depths) / sum(depths)
}

# Whole numbers in the order of `populations`, which may be NULL.
check_individuals <- function(individuals, populations, n) {
  if (!is.null(names(individuals)) && !is.null(populations)) {
    refuse_if(!setequal(names(individuals), populations),
              "`individuals` has the populations %s, but `depths` has %s.",
              enumerate(quoted(names(individuals))), enumerate(quoted(populations)))
    individuals <- individuals[populations]
  }
  good <- is.numeric(individuals) && length(individuals) == n &&
    isTRUE(all(individuals >= 1 & individuals <= 500 & individuals == round(individuals)))
  refuse_if(!good, "`individuals` must be a whole number from 1 to 500 for each of %s, not %s.",
            count_of(n, "population"), show_value(individuals))
  stats::setNames(as.integer(individuals), populations)
}

#' @export
print.coverage_model <- function(x, ...) {
  labels <- names(x$individuals) %||% paste("population", seq_along(x$individuals))
  means <- vapply(x$depths, function(share) sum(share * (seq_along(share) - 1)), 0)
  called <- vapply(x$depths, function(share) 1 - share[1], 0)
  lines <- sprintf("%d individuals, mean depth %s, %s %% of genotypes called", x$individuals,
                   format(means, digits = 3), format(100 * called, digits = 3))
  write_object("coverage_model", sprintf("sites with %s or more found",
                                         count_of(x$reads, "derived read")),
               stats::setNames(lines, labels))
  invisible(x)
}

# ---- Called genotypes ----------------------------------------------------------------------------

# For each population of a coverage model a list of matrices. Rows are 0 to `size` copies among
# called haplotypes, and columns 0 to 2 n true copies in the sample. The last matrix has the
# probabilities of rows. The preceding matrices have joint probabilities with 0, 1, ... derived
# reads, below `reads`. If `sizes` is NULL, one row covers any number of called haplotypes.
called_matrices <- function(coverage, sizes = NULL) {
  lapply(seq_along(coverage$individuals), function(k) {
    individuals <- coverage$individuals[[k]]
    if (is.null(sizes)) {
      found_chances(coverage$depths[[k]], individuals, coverage$reads)
    } else {
      called_chances(coverage$depths[[k]], individuals, coverage$reads, sizes[[k]])
    }
  })
}

# If M of n individuals are called, their 2 M haplotypes are a random sample of all. Calling changes
# their copies, and the spectrum contains a random `size` of them.
called_chances <- function(depths, individuals, reads, size) {
  calls <- calls_of_individual(depths[-1] / sum(depths[-1]), reads)
  chance <- stats::dbinom(0:individuals, individuals, 1 - depths[1])
  sums <- rep(list(matrix(0, size + 1, 2 * individuals + 1)), reads + 1)
  joint <- array(1, c(1, 1, reads + 1))
  joint[, , -1] <- 0
  for (called in seq_len(individuals)) {
    joint <- with_individual(joint, calls, reads)
    if (2 * called < size) next
    n <- 2 * called
    drawn <- drawn_chances(n, 2 * individuals) / stats::dbinom(0:n, n, 0.5)
    projected <- outer(0:size, 0:n, function(to, from) stats::dhyper(to, from, n - from, size))
    for (t in seq_len(reads + 1)) {
      of_calls <- projected %*% t(matrix(joint[, , t], n + 1)) %*% drawn
      sums[[t]] <- sums[[t]] + chance[called + 1] * of_calls
    }
  }
  c(sums[seq_len(reads)], list(Reduce(`+`, sums)))
}

# Rows: copies among `n` haplotypes drawn from `all`; columns: copies among all.
drawn_chances <- function(n, all) {
  outer(0:n, 0:all, function(to, from) stats::dhyper(to, from, all - from, n))
}

# The probability that an individual with random haplotypes has given derived copies, calls and
# reads; reads beyond `most` count as `most`.
calls_of_individual <- function(depths, most) {
  reads_of <- function(chances) {
    counts <- pmin(seq_along(chances) - 1, most)
    vapply(0:most, function(t) sum(chances[counts == t]), 0)
  }
  n <- length(depths)
  # Derived reads of a heterozygote, by its call
  all_reads <- lapply(seq_len(n), function(depth) depths[depth] * stats::dbinom(0:n, depth, 0.5))
  of_call <- function(is_call) {
    reads_of(Reduce(`+`, Map(function(p, depth) p * is_call(0:n, depth), all_reads, seq_len(n))))
  }
  none <- c(1, numeric(most))
  rows <- list(
    list(0, 0, none), list(2, 2, reads_of(c(0, depths))),
    list(1, 0, of_call(function(t, depth) t == 0)),
    list(1, 1, of_call(function(t, depth) t > 0 & t < depth)),
    list(1, 2, of_call(function(t, depth) t == depth))
  )
  do.call(rbind, lapply(rows, function(row) {
    weight <- stats::dbinom(row[[1]], 2, 0.5)
    data.frame(copies = row[[1]], called = row[[2]], reads = 0:most, chance = weight * row[[3]])
  }))
}

# `joint`: probabilities of copies, called copies and reads of some individuals. Adds an individual.
with_individual <- function(joint, calls, most) {
  copies <- seq_len(dim(joint)[1])
  called <- seq_len(dim(joint)[2])
  more <- array(0, dim(joint) + c(2, 2, 0))
  for (i in which(calls$chance > 0)) {
    row <- calls[i, ]
    for (t in 0:most) {
      to <- 1 + min(t + row$reads, most)
      more[copies + row$copies, called + row$called, to] <-
        more[copies + row$copies, called + row$called, to] + row$chance * joint[, , 1 + t]
    }
  }
  more
}

# The probabilities of reads whatever the calls: one row.
found_chances <- function(depths, individuals, reads) {
  calls <- calls_of_individual(depths[-1] / sum(depths[-1]), reads)
  calls$chance <- calls$chance * (1 - depths[1])
  missing <- data.frame(copies = 0:2, called = 0, reads = 0,
                        chance = depths[1] * stats::dbinom(0:2, 2, 0.5))
  calls <- rbind(calls, missing)
  calls$called <- 0
  joint <- array(c(1, numeric(reads)), c(1, 1, reads + 1))
  for (individual in seq_len(individuals)) {
    joint <- with_individual(joint, calls, reads)[, 1, , drop = FALSE]
  }
  n <- 2 * individuals
  rows <- lapply(seq_len(reads + 1), function(t) t(joint[, 1, t] / stats::dbinom(0:n, n, 0.5)))
  c(rows[seq_len(reads)], list(Reduce(`+`, rows)))
}

# The observed counts for an array of true counts.
called_counts <- function(counts, matrices) {
  counts[corner_mask(dim(counts))] <- 0
  of_found(matrices, function(chosen) {
    for (k in seq_along(chosen)) counts <- along_dimension(counts, k, chosen[[k]])
    counts
  })
}

# The probability that a site is detected, for each true cell.
chances_of_sites <- function(coverage) {
  chances <- of_found(called_matrices(coverage), function(chosen) {
    Reduce(outer, lapply(chosen, as.vector))
  })
  array(chances, 2 * coverage$individuals + 1)
}

# The sum of `part` over all read counts that suffice for detection: all read counts, minus those
# that are too low. `part` takes one matrix per population.
of_found <- function(matrices, part) {
  reads <- length(matrices[[1]]) - 1
  at <- function(numbers) part(Map(`[[`, matrices, numbers))
  all <- at(rep(reads + 1, length(matrices)))
  few <- as.matrix(expand.grid(rep(list(seq_len(reads)), length(matrices))))
  for (i in which(rowSums(few - 1) < reads)) all <- all - at(few[i, ])
  all
}
