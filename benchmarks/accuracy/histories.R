# The histories that are simulated: a row each. All have 20 focal haplotypes, recombination and
# mutation. `assumed` has what the calls take for true where this differs from the simulation.

simulated <- function(splits, sizes, focal_size, length, into = 0, focal_changes = NULL,
                      missing = 0, assumed = list()) {
  list(
    splits = splits, sizes = rep_len(sizes, length(splits)), focal_size = focal_size,
    length = length, into = rep_len(into, length(splits)), focal_changes = focal_changes,
    missing = missing, assumed = assumed, haplotypes = 20, mutation_rate = 1.25e-8,
    recombination_rate = 1e-8, kappa = 4
  )
}

histories <- function() {
  strong <- c(20000, 50000, 90000)
  list(
    human = simulated(c(240000, 320000, 1100000), 50000, 10000, 2e7),
    near = simulated(c(40000, 120000, 200000), 30000, 30000, 2e7),
    strong = simulated(strong, 30000, 30000, 2e7),
    uneven = simulated(c(30000, 45000, 300000), c(60000, 20000, 80000), 40000, 2e7),
    sisters = simulated(
      c(60000, 30000, 200000), 30000, 20000, 2e7, into = c(0, 1, 0),
      focal_changes = list(c(2000, 4000), c(6000, 20000))
    ),
    missing = simulated(strong, 30000, 30000, 2e7, missing = 0.2),
    size_halved = simulated(strong, 30000, 30000, 2e7, assumed = list(focal_size = 15000)),
    size_doubled = simulated(strong, 30000, 30000, 2e7, assumed = list(focal_size = 60000))
  )
}

# Runs a Python script that simulates a history into the folder `to`; `...`: its further
# arguments.
simulate_history <- function(script, python, history, seed, to = tempfile(), ...) {
  dir.create(to, recursive = TRUE, showWarnings = FALSE)
  input <- file.path(to, "history.json")
  fields <- c(history[setdiff(names(history), "assumed")], seed = seed)
  writeLines(jsonlite::toJSON(fields, auto_unbox = TRUE, digits = NA, null = "list"), input)
  if (system2(python, c(script, input, to, ...)) != 0) stop(script, " failed")
  to
}
