# The state of R's random number generator.

# Evaluates `code` with random numbers from `seed`, then restores the session's state. With NULL,
# the session's random numbers continue.
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
