#' Kernels by ancestry
#'
#' Kernels of admixed samples, one for each ancestry: `kernel_admixture(g, "k3.Q")`. Each ancestry
#' then has its own genetic variance and heritability.
#'
#' With K the kernel of [kernel_grm()] and \eqn{q_a} the samples' shares of an ancestry a, the
#' kernel is \eqn{K_a = D_a K D_a} with \eqn{D_a = diag(\sqrt{q_a})}. Its component is named after
#' the kernel and the ancestry: `admixture.ancestry1`.
#'
#' **Residual.** With `residual = "ancestry"` the residual has the covariance
#' \eqn{\sum_a \theta_{ea} diag(q_a)}, with a variance for each ancestry: `residual.ancestry1`. The
#' same holds within [kernel_interaction()]. All rows of a sample have its shares.
#'
#' For these kernels, [heritability()] has a column `h2`, the heritability among samples of this
#' ancestry alone: \eqn{\theta_a m / (\theta_a m + \theta_e)}, where m is the mean of K's diagonal,
#' weighted by \eqn{q_a}. The residual variance is the ancestry's own, if it has one.
#'
#' @inheritParams kernels
#' @param g Genotypes, from [open_genotypes()].
#' @param shares A matrix of shares from 0 to 1, with a row for each sample of `g` and a column for
#'   each ancestry. Or the path of a Q file of ADMIXTURE, with a line for each sample of `g`, or of
#'   the file of `g`. Row names are sample ids, column names ancestries.
#' @param residual `"shared"` (the default) for one residual variance, or `"ancestry"` for one per
#'   ancestry.
#' @return A list of class `reml_kernel`.
#' @section Errors:
#' * `ancify_input_error`: a sample's shares are negative or do not sum to 1 within 0.005, or no
#'   sample has a share of an ancestry. The message names the row, sample or ancestry.
#' * `ancify_format_error` (fields `file`, `line`): the same for a file, or its lines differ in
#'   number of columns.
#' * `ancify_file_error`: the file cannot be read.
#' @references
#' Alexander, Novembre and Lange (2009) Fast model-based estimation of ancestry in unrelated
#' individuals. Genome Research 19:1655.
#' @seealso [kernels], [fit_reml()], [heritability()]
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
#' north <- runif(60)
#' kernel <- kernel_admixture(g, cbind(north, south = 1 - north))
#' data <- data.frame(id = paste0("sample", 1:60), y = rnorm(60) + as.matrix(g)[, 1])
#' fit <- fit_reml(y ~ north, cbind(data, north), kernels = list(by = kernel), threads = 1)
#' heritability(fit)
kernel_admixture <- function(g, shares, scale_power = -1, residual = c("shared", "ancestry"),
                             chromosomes = "autosomes") {
  check_args(g = check_genotypes, scale_power = number(),
             residual = choice(c("shared", "ancestry")))
  g <- genotypes_on(g, chromosomes, "the kernel")
  shares <- if (is.character(shares) && is.null(dim(shares))) {
    shares_in_file(shares, g)
  } else {
    checked_shares(shares, g, function(row, problem) {
      refuse_input("Row %d of `shares` (sample %s) %s.", row, quoted(g$samples$id[row]), problem)
    })
  }
  new_kernel(
    "admixture", g$samples$id, nrow(g), genotypes = g, scale_power = scale_power, shares = shares,
    parts = colnames(shares), residual = residual
  )
}

# The shares, scaled to sum to 1 and named by ancestry. refuse(row, problem) stops.
checked_shares <- function(shares, g, refuse) {
  refuse_if(!is.matrix(shares) || !is.numeric(shares) || nrow(shares) != nrow(g) ||
              ncol(shares) < 1,
            "`shares` must be a matrix of numbers with a row for each of the %s, not %s.",
            count_of(nrow(g), "sample"),
            if (is.matrix(shares)) paste(dim(shares), collapse = " x ") else show_value(shares))
  ids <- g$samples$id
  other <- which(rownames(shares) != ids)
  if (length(other)) {
    refuse(other[1], sprintf("is named %s: order rows as the samples",
                             quoted(rownames(shares)[other[1]])))
  }
  sums <- sums_of_shares(shares, refuse)
  names <- colnames(shares) %||% paste0("ancestry", seq_len(ncol(shares)))
  refuse_if(anyDuplicated(names), "`shares` has the ancestry %s twice.",
            quoted(names[anyDuplicated(names)]))
  none <- which(colSums(shares) == 0)
  refuse_if(length(none), "No sample has a share of the ancestry %s: leave it out.",
            quoted(names[none[1]]))
  matrix(as.double(shares / sums), nrow(shares), dimnames = list(NULL, names))
}

sums_of_shares <- function(shares, refuse) {
  wrong <- which(rowSums(!is.finite(shares) | shares < 0) > 0)
  if (length(wrong)) refuse(wrong[1], "has a share that is not a number from 0 on")
  sums <- rowSums(shares)
  wrong <- which(abs(sums - 1) > 5e-3)
  if (length(wrong)) {
    sum <- format(sums[wrong[1]], digits = 6)
    refuse(wrong[1], sprintf("has shares that sum to %s, not 1", sum))
  }
  sums
}

# The shares in a Q file, which has a row for each sample of `g`, or of its file.
shares_in_file <- function(path, g) {
  path <- check_file(path, "shares")
  read <- with_watch("Reading", function(watch) read_numbers_impl(path, is_csv(path), watch))
  rows <- nrow(read$values)
  if (rows == nrow(g) && rows == g$n_file[["samples"]] && is.unsorted(g$sample_index)) {
    abort_ancify(
      sprintf(
        paste(
          "%s has a line for each sample, but `g` has another order of samples than its file.",
          "Open the genotypes again without changing their order, or give the shares as a matrix",
          "in the order of `g`."
        ),
        quoted(path)
      ),
      "input", file = path
    )
  }
  of_sample <- if (rows == nrow(g)) {
    seq_len(rows)
  } else if (rows == g$n_file[["samples"]]) {
    g$sample_index
  } else {
    abort_ancify(
      sprintf("%s has %s, but the genotypes have %s.", quoted(path), count_of(rows, "line"),
              count_of(nrow(g), "sample")),
      "format", file = path
    )
  }
  checked_shares(read$values[of_sample, , drop = FALSE], g, function(sample, problem) {
    line <- read$line[of_sample[sample]]
    abort_ancify(sprintf("%s, line %.0f: it %s.", quoted(path), line, problem), "format",
                 file = path, line = line)
  })
}

# ---- For fits ------------------------------------------------------------------------------------

core_admixture <- function(kernel, rows, n, name) {
  list(
    kind = "admixture", parts = kernel$parts, genotypes = kernel$genotypes[rows, ],
    scale_power = kernel$scale_power, shares = unname(kernel$shares[rows, , drop = FALSE]),
    residual = kernel$residual, ancestries = colnames(kernel$shares)
  )
}

# A kernel by ancestry, or the one within another, with the shares of each row; NULL if there is
# none. `kernel`: as a fit keeps it.
admixture_within <- function(kernel) {
  if (!is.list(kernel) || kernel$kind == "admixture") {
    return(if (is.list(kernel)) kernel)
  }
  found <- admixture_within(kernel[["kernel"]])
  if (!is.null(found) && kernel$kind == "records") {
    found$shares <- found$shares[kernel$individuals, , drop = FALSE]
  }
  found
}

admixture_fields <- function(kernel) {
  core_list(
    "AdmixtureKernel",
    genotypes = core_genotypes(kernel$genotypes), scale_power = kernel$scale_power,
    shares = kernel$shares
  )
}
