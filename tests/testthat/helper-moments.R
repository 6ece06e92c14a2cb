# The structured coalescent as a plain Markov chain: exact spectra of few samples. A state is the
# list of lineages, each with its population and the numbers of samples of each population below it.

# The expected spectrum of n[1] and n[2] haplotypes from two populations of sizes `nu`, which split
# `time` before the present from one of size 1. m[i, j]: migration into i from j. theta is 1.
coalescent_spectrum <- function(n, nu, m, time) {
  samples <- rep(1:2, n)
  start <- data.frame(at = samples, a = as.integer(samples == 1), b = as.integer(samples == 2))
  chain <- coalescent_states(start, nu, m)
  # Time in each state until the split, then in one population from where each state ends
  k <- length(chain$states)
  rates <- chain$rates
  augmented <- rbind(cbind(rates, diag(k)), matrix(0, k, 2 * k))
  power <- matrix_exponential(augmented * time)
  first <- power[1, k + seq_len(k)]
  ends <- power[1, seq_len(k)]
  merged <- lapply(chain$states, function(state) transform(state, at = 1))
  spectrum <- array(0, n + 1)
  add <- function(state, weight) {
    for (i in seq_len(nrow(state))) {
      cell <- cbind(state$a[i], state$b[i]) + 1
      spectrum[cell] <<- spectrum[cell] + weight / 2
    }
  }
  for (i in seq_len(k)) add(chain$states[[i]], first[i])
  for (i in seq_len(k)) {
    if (nrow(merged[[i]]) < 2) next
    after <- coalescent_states(merged[[i]], c(1, 1), matrix(0, 2, 2))
    open <- vapply(after$states, nrow, 0L) > 1
    spent <- solve(t(-after$rates[open, open, drop = FALSE]), as.double(seq_len(sum(open)) == 1))
    Map(add, after$states[open], ends[i] * spent)
  }
  spectrum
}

# All states that follow a state, and the matrix of rates between them; the first is the state.
coalescent_states <- function(start, nu, m) {
  tidied <- function(state) state[do.call(order, state), , drop = FALSE]
  key_of <- function(state) paste(unlist(state), collapse = " ")
  states <- list(tidied(start))
  keys <- key_of(states[[1]])
  moves <- list()
  done <- 0
  while (done < length(states)) {
    done <- done + 1
    for (move in coalescent_moves(states[[done]], nu, m)) {
      state <- tidied(move$state)
      to <- match(key_of(state), keys)
      if (is.na(to)) {
        states <- c(states, list(state))
        keys <- c(keys, key_of(state))
        to <- length(states)
      }
      moves <- c(moves, list(c(done, to, move$rate)))
    }
  }
  rates <- matrix(0, length(states), length(states))
  for (move in moves) rates[move[1], move[2]] <- rates[move[1], move[2]] + move[3]
  diag(rates) <- diag(rates) - rowSums(rates)
  list(states = states, rates = rates)
}

coalescent_moves <- function(state, nu, m) {
  n <- nrow(state)
  migrations <- lapply(seq_len(n), function(i) {
    at <- state$at[i]
    list(state = replace(state, "at", list(replace(state$at, i, 3 - at))), rate = m[at, 3 - at])
  })
  pairs <- if (n > 1) utils::combn(n, 2, simplify = FALSE)
  pairs <- Filter(function(pair) state$at[pair[1]] == state$at[pair[2]], pairs)
  mergers <- lapply(pairs, function(pair) {
    merged <- state
    merged[pair[1], c("a", "b")] <- state[pair[1], c("a", "b")] + state[pair[2], c("a", "b")]
    list(state = merged[-pair[2], ], rate = 1 / nu[state$at[pair[1]]])
  })
  Filter(function(move) move$rate > 0, c(migrations, mergers))
}

# By its series, for a matrix that is halved until it is small
matrix_exponential <- function(a) {
  halvings <- max(0, ceiling(log2(max(rowSums(abs(a))))) + 2)
  a <- a / 2^halvings
  term <- result <- diag(nrow(a))
  for (k in 1:20) {
    term <- term %*% a / k
    result <- result + term
  }
  for (k in seq_len(halvings)) result <- result %*% result
  result
}
