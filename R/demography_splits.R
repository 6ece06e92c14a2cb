# The models of splits and migration of Portik and others (2017), made from a table.

# A row for each model of two populations: its name, then its periods after the split, from the
# first. A period is `-` without migration, `s` with symmetric and `a` with asymmetric migration.
# `size`: a row of population_sizes(). `rates`: whether each period has rates of its own.
two_population_row <- function(name, periods, size = "same", rates = FALSE) {
  data.frame(name, periods, size, rates)
}

two_population_rows <- rbind(
  two_population_row("no_mig", "-"),
  two_population_row("sym_mig", "s"),
  two_population_row("asym_mig", "a"),
  two_population_row("anc_sym_mig", "s-"),
  two_population_row("anc_asym_mig", "a-"),
  two_population_row("sec_contact_sym_mig", "-s"),
  two_population_row("sec_contact_asym_mig", "-a"),
  two_population_row("no_mig_size", "--", size = "changed"),
  two_population_row("sym_mig_size", "ss", size = "changed"),
  two_population_row("asym_mig_size", "aa", size = "changed"),
  two_population_row("anc_sym_mig_size", "s-", size = "changed"),
  two_population_row("anc_asym_mig_size", "a-", size = "changed"),
  two_population_row("sec_contact_sym_mig_size", "-s", size = "changed"),
  two_population_row("sec_contact_asym_mig_size", "-a", size = "changed"),
  two_population_row("sym_mig_twoepoch", "ss", rates = TRUE),
  two_population_row("asym_mig_twoepoch", "aa", rates = TRUE),
  two_population_row("sec_contact_sym_mig_three_epoch", "-s-"),
  two_population_row("sec_contact_asym_mig_three_epoch", "-a-"),
  two_population_row("sec_contact_sym_mig_size_three_epoch", "-s-", size = "changed"),
  two_population_row("sec_contact_asym_mig_size_three_epoch", "-a-", size = "changed"),
  two_population_row("vic_no_mig", "-", size = "shared"),
  two_population_row("vic_anc_sym_mig", "s-", size = "shared"),
  two_population_row("vic_anc_asym_mig", "a-", size = "shared"),
  two_population_row("vic_sec_contact_sym_mig", "-s", size = "shared"),
  two_population_row("vic_sec_contact_asym_mig", "-a", size = "shared"),
  two_population_row("founder_nomig", "-", size = "founded"),
  two_population_row("founder_sym", "s", size = "founded"),
  two_population_row("founder_asym", "a", size = "founded")
)

# A row for each model of three populations: its periods between the splits, and those after the
# second. Both splits are at once if there are none between. A period is `-` without migration, `A`
# with migration between the first population and the ancestors of the others, `n` between
# neighbours, `e` between every two populations. All migration is symmetric.
three_population_row <- function(name, between, after) data.frame(name, between, after)

three_population_rows <- rbind(
  three_population_row("split_nomig", "-", "-"),
  three_population_row("split_symmig_all", "A", "e"),
  three_population_row("split_symmig_adjacent", "A", "n"),
  three_population_row("refugia_adj_1", "-", "-n"),
  three_population_row("refugia_adj_2", "-", "n"),
  three_population_row("refugia_adj_3", "-A", "n"),
  three_population_row("ancmig_adj_1", "A", "n-"),
  three_population_row("ancmig_adj_2", "A", "-"),
  three_population_row("ancmig_adj_3", "A-", "-"),
  three_population_row("sim_split_no_mig", "", "-"),
  three_population_row("sim_split_sym_mig_all", "", "e"),
  three_population_row("sim_split_sym_mig_adjacent", "", "n"),
  three_population_row("sim_split_refugia_sym_mig_all", "", "-e"),
  three_population_row("sim_split_refugia_sym_mig_adjacent", "", "-n")
)

split_models <- function() {
  two <- lapply(seq_len(nrow(two_population_rows)), function(i) {
    do.call(two_population_model, two_population_rows[i, -1])
  })
  three <- lapply(seq_len(nrow(three_population_rows)), function(i) {
    do.call(three_population_model, three_population_rows[i, -1])
  })
  stats::setNames(c(two, three), c(two_population_rows$name, three_population_rows$name))
}

# The parameters of sizes, and those of a period: the same in all; others after the first; shares of
# the ancestral size; or a share that grows.
population_sizes <- list(
  same = list(params = c("nu1", "nu2"), of = function(p, i) p[c("nu1", "nu2")]),
  changed = list(
    params = c("nu1a", "nu2a", "nu1b", "nu2b"),
    of = function(p, i) p[if (i == 1) c("nu1a", "nu2a") else c("nu1b", "nu2b")]
  ),
  shared = list(params = "s", of = function(p, i) c(1 - p[["s"]], p[["s"]])),
  founded = list(
    params = c("nu2", "s"),
    of = function(p, i) list(1 - p[["s"]], course(p[["s"]], p[["nu2"]]))
  )
)

two_population_model <- function(periods, size, rates) {
  periods <- strsplit(periods, "")[[1]]
  n <- length(periods)
  sizes <- population_sizes[[size]]
  migration <- function(i) {
    of_kind <- list("-" = character(), s = c("m", "m"), a = c("m12", "m21"))[[periods[i]]]
    paste0(of_kind, if (rates) letters[i] else "", recycle0 = TRUE)
  }
  times <- if (n == 1) "time" else paste0("time", seq_len(n))
  params <- c(sizes$params, unlist(lapply(seq_len(n), migration)), times)
  model_of_params(params, function(p) {
    epochs <- lapply(seq_len(n), function(i) {
      m <- unname(p[migration(i)])
      event_epoch(p[[times[i]]], unname(sizes$of(p, i)),
                  if (length(m)) migration_2(m[1], m[2]) else 0)
    })
    c(list(event_equilibrium(), event_split(1)), epochs)
  })
}

three_population_model <- function(between, after) {
  between <- strsplit(between, "")[[1]]
  after <- strsplit(after, "")[[1]]
  migration <- function(period) {
    paste0("m", seq_len(c("-" = 0, A = 0, n = 2, e = 3)[[period]]), recycle0 = TRUE)
  }
  n <- length(between) + length(after)
  times <- if (n == 1) "time" else paste0("time", seq_len(n))
  params <- c(
    if (length(between)) "nu_a", "nu1", "nu2", "nu3", if ("A" %in% between) "m_a",
    unlist(lapply(after, migration)), times
  )
  model_of_params(params, function(p) {
    first <- Map(function(period, time) {
      event_epoch(p[[time]], unname(p[c("nu1", "nu_a")]), if (period == "A") p[["m_a"]] else 0)
    }, between, times[seq_along(between)])
    last <- Map(function(period, time) {
      m <- c(p[migration(period)], 0, 0, 0)
      event_epoch(p[[time]], unname(p[c("nu1", "nu2", "nu3")]),
                  symmetric_migration(m[[1]], m[[3]], m[[2]]))
    }, after, times[length(between) + seq_along(after)])
    c(list(event_equilibrium(), event_split(1)), unname(first), list(event_split(2)), unname(last))
  })
}

# A function of these parameters. `events` takes them as a named vector.
model_of_params <- function(params, events) {
  params <- unique(params)
  model <- function() events(unlist(mget(params, environment())))
  formals(model) <- stats::setNames(rep(list(substitute()), length(params)), params)
  model
}

migration_2 <- function(m12, m21) rbind(c(0, m12), c(m21, 0))

# Rates between three populations.
symmetric_migration <- function(m12, m13, m23) {
  rbind(c(0, m12, m13), c(m12, 0, m23), c(m13, m23, 0))
}
