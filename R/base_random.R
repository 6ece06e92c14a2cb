# The state of R's random numbers.

# Evaluates `code` with random numbers from `seed`, and puts the session's back. With NULL these go
# on.
seeded <- function(seed, code) {
  if (is.null(seed)) {
    return(code)
  }
  old <- globalenv()$.Random.seed
  on.exit(set_random_state(old))
  set.seed(seed)
  code
}

# `state` is NULL in a session that has drawn no random number yet.
set_random_state <- function(state) {
  if (!is.null(state)) {
    assign(".Random.seed", state, globalenv())
  } else if (exists(".Random.seed", globalenv(), inherits = FALSE)) {
    rm(".Random.seed", envir = globalenv())
  }
}
