# The p-value that several tests share.

# The p-value of a likelihood ratio. The alternative has additional parameters: `bounded` ones,
# which the null hypothesis fixes at their bound, such as variances of 0, and `free` ones.
#
# For a single bounded parameter it is 1/2 P(chi2_1 > LRT), and 1 at LRT = 0 (Self and Liang 1987).
# For k parameters, some of them bounded, 1/2 P(chi2_(k-1) > LRT) + 1/2 P(chi2_k > LRT) is an upper
# bound (Perlman 1969).
lrt_p_value <- function(statistic, bounded, free = 0) {
  k <- bounded + free
  beyond <- function(df) {
    if (df == 0) as.numeric(statistic <= 0) else stats::pchisq(statistic, df, lower.tail = FALSE)
  }
  if (bounded == 0) beyond(k) else (beyond(k - 1) + beyond(k)) / 2
}
