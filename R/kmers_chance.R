# Distances between counts, less the counts expected by chance from a sample's bases.

# Each takes the results of centred_counts() for two samples.
centred_measures <- list(
  d2s = function(one, other) {
    size <- sqrt(sqrt(one$counts^2 + other$counts^2))
    half_less_cosine(or_zero(one$counts / size), or_zero(other$counts / size))
  },
  d2star = function(one, other) {
    half_less_cosine(
      or_zero(one$counts / sqrt(one$expected)), or_zero(other$counts / sqrt(other$expected))
    )
  }
)

# Counts equal to their expectations have a cosine of 0 with all others.
half_less_cosine <- function(x, y) (1 - or_zero(sum(x * y) / sqrt(sum(x^2) * sum(y^2)))) / 2

# A k-mer whose count and expectation are both 0 gives 0 / 0.
or_zero <- function(x) replace(x, is.nan(x), 0)

# The distance as a function of two indices of samples in kmer_samples().
by_chance <- function(samples, measure, order) {
  k <- samples$k
  refuse_if(k > 12, "This method needs k of at most 12, not %d.", k)
  refuse_if(!is.numeric(order) || length(order) != 1 || !order %in% 0:min(2, k - 1),
            "`order` must be 0, 1 or 2 and below k, %d, not %s.", k, show_value(order))
  centred <- lapply(seq_along(samples$names), function(i) {
    centred_counts(samples$counts(i), k, samples$canonical, order)
  })
  function(i, j) measure(centred[[i]], centred[[j]])
}

# The counts of all k-mers, less their expectations.
centred_counts <- function(counts, k, canonical, order) {
  expected <- sum(counts) * chances(counts, k, canonical, order)
  list(counts = counts - expected, expected = expected)
}

# The probability of each k-mer under a Markov chain fitted to their counts.
chances <- function(counts, k, canonical, order) {
  kmers <- kmer_numbers(k, canonical)
  of_strands <- numeric(4^k)
  of_strands[kmers$number + 1] <- counts
  opposite <- kmers$opposite + 1
  # A palindrome counts twice, once on each strand.
  if (canonical) of_strands[opposite] <- of_strands[opposite] + counts
  chance <- prop.table(colSums(matrix(of_strands, 4^(k - order - 1)))) # of the first bases
  next_base <- or_zero(as.vector(prop.table(matrix(chance, 4), 2)))
  for (base in seq_len(k - order - 1)) chance <- rep(chance, each = 4) * next_base
  if (!canonical) {
    return(chance)
  }
  is_palindrome <- kmers$number == kmers$opposite
  chance[kmers$number + 1] + ifelse(is_palindrome, 0, chance[opposite])
}
