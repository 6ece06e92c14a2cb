# A row is all that a new event needs. Here: a population becomes a copy of another one.

replacement <- function(pop, by) new_event("replace", pop = pop, by = by)

replacement_row <- function() {
  event_row(
    "replacement()", c("pop", "by"),
    to_core = function(event, populations, refuse) {
      destination <- population_number(event[["pop"]], populations, "pop", refuse)
      by <- population_number(event[["by"]], populations, "by", refuse)
      list(
        kind = "pulse", destination = destination,
        shares = as.double(seq_len(populations) == by)
      )
    },
    to_demes = pulse_to_demes, to_history = pulse_to_history, to_words = pulse_to_words
  )
}

with_replacement <- function(code) {
  rows <- c(event_rows(), list(replace = replacement_row()))
  with_function("event_rows", function() rows, code)
}

test_that("an event of the registry is computed, printed, checked and written", {
  model_with <- function(event) {
    demography(
      event_equilibrium(), event_split(1), event_epoch(0.1, c(1, 2)), event,
      event_epoch(0.1, c(1, 3))
    )
  }
  known <- model_with(event_pulse(2, c("1" = 1)))
  expected <- coarse_sfs(known, NULL, c(4, 4), 12)
  file <- tempfile(fileext = ".yaml")
  write_demes(known, file, reference_size = 1000)
  written <- readLines(file)
  model <- model_with(replacement(2, by = 1))
  with_replacement({
    expect_identical(coarse_sfs(model, NULL, c(4, 4), 12), expected)
    expect_output(print(model), "replace: pop = 2, by = 1", fixed = TRUE)
    expect_match(summary(model)$sentences[4], "100 % of population 2 comes from population 1")
    expect_ancify_error(
      expected_sfs(model_with(replacement(2, by = 3)), NULL, c(4, 4), 12), "input",
      "Event 4 of the model, replacement(): `by` is 3"
    )
    write_demes(model, file, reference_size = 1000)
    expect_identical(readLines(file), written)
    expect_s3_class(read_demes(file), "demography")
  })
  expect_ancify_error(expected_sfs(model, NULL, c(4, 4), 12), "input", "Event 4", "'replace'")
})
