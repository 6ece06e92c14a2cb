# The models of splits and migration of Portik and others (2017) and Firneno and others (2020), from
# tables.

# A row for each model of two populations: its name, then its periods after the split, from the
# first. A period is `-` without migration, `s` with symmetric and `a` with asymmetric migration;
# `+` is a pulse from the first population into the second. `size`: an element of population_sizes.
# `rates`: true if each period has rates of its own.
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
  two_population_row("founder_asym", "a", size = "founded"),
  two_population_row("vic_no_mig_admix_early", "+-", size = "shared"),
  two_population_row("vic_no_mig_admix_late", "-+", size = "shared"),
  two_population_row("vic_two_epoch_admix", "-+-", size = "shared"),
  two_population_row("founder_nomig_admix_early", "+-", size = "founded"),
  two_population_row("founder_nomig_admix_late", "-+", size = "founded"),
  two_population_row("founder_nomig_admix_two_epoch", "-+-", size = "founded")
)

# A row for each model of three populations, with its periods before and after the third population
# arises. Without periods before, both splits are simultaneous. A period is `A` with migration
# between the first population and the ancestors of the others, or a name of rates_of_three. `size`:
# the change of sizes before the last period, if any. `origin`: the third population's origin, a
# split from the second or a mixture of the first and second.
three_population_row <- function(name, between, after, size = "same", origin = "split") {
  data.frame(name, between, after, size, origin)
}

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
  three_population_row("sim_split_refugia_sym_mig_adjacent", "", "-n"),
  three_population_row("split_nomig_size", "-", "--", size = "changed"),
  three_population_row("ancmig_2_size", "A", "--", size = "changed"),
  three_population_row("sim_split_no_mig_size", "", "--", size = "changed"),
  three_population_row("sim_split_refugia_sym_mig_adjacent_size", "", "-nn", size = "changed"),
  three_population_row("refugia_adj_2_var_sym", "-", "t"),
  three_population_row("refugia_adj_2_var_uni", "-", "u"),
  three_population_row("refugia_adj_3_var_sym", "-A", "t"),
  three_population_row("refugia_adj_3_var_uni", "-A", "u"),
  three_population_row("split_sym_mig_adjacent_var1", "A", "t"),
  three_population_row("split_uni_mig_adjacent_var1", "A", "u"),
  three_population_row("split_sym_mig_adjacent_var2", "A", "f"),
  three_population_row("split_uni_mig_adjacent_var2", "A", "o"),
  three_population_row("sim_split_sym_mig_adjacent_var", "", "t"),
  three_population_row("sim_split_uni_mig_adjacent_var", "", "u"),
  three_population_row("sim_split_refugia_sym_mig_adjacent_var", "", "-t"),
  three_population_row("sim_split_refugia_uni_mig_adjacent_var", "", "-u"),
  three_population_row("admix_origin_no_mig", "-", "-", origin = "admixed"),
  three_population_row("admix_origin_sym_mig_adj", "-", "t", origin = "admixed"),
  three_population_row("admix_origin_uni_mig_adj", "-", "u", origin = "admixed")
)

# The cells of the migration matrix that each rate fills: "12" is into the first population from the
# second.
symmetric_rates <- list(m1 = c("12", "21"), m2 = c("23", "32"), m3 = c("13", "31"))
one_way_rates <- list(m32 = "32", m31 = "31")
rates_of_three <- list(
  "-" = list(),
  n = symmetric_rates[c("m1", "m2")], # between neighbours in a row
  e = symmetric_rates, # between every two populations
  t = symmetric_rates[c("m2", "m3")], # between the third population and each of the others
  f = symmetric_rates["m3"], # between the first and third
  u = one_way_rates, # from each of the others into the third
  o = one_way_rates["m31"] # from the first into the third
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

# Parameters of sizes, and the sizes in period i: constant; changed after the first period; shares
# of the ancestral size; or a founder share that grows.
population_sizes <- list(
  same = list(params = c("nu1", "nu2"), of = function(p, i) p[c("nu1", "nu2")]),
  changed = list(
    params = c("nu1a", "nu2a", "nu1b", "nu2b"),
    of = function(p, i) p[if (i == 1) c("nu1a", "nu2a") else c("nu1b", "nu2b")]
  ),
  shared = list(params = "s", of = function(p, i) c(1 - p[["s"]], p[["s"]])),
  founded = list(
    params = c("nu2", "s"),
    of = function(p, i) {
      list(1 - p[["s"]], if (i == 1) size_history(p[["s"]], p[["nu2"]]) else p[["nu2"]])
    }
  )
)

two_population_model <- function(periods, size, rates) {
  steps <- strsplit(periods, "")[[1]]
  is_pulse <- steps == "+"
  periods <- steps[!is_pulse]
  n <- length(periods)
  sizes <- population_sizes[[size]]
  migration <- function(i) {
    of_kind <- list("-" = character(), s = c("m", "m"), a = c("m12", "m21"))[[periods[i]]]
    paste0(of_kind, if (rates) letters[i] else "", recycle0 = TRUE)
  }
  times <- period_times(n)
  params <- c(sizes$params, unlist(lapply(seq_len(n), migration)), times, if (any(is_pulse)) "f")
  model_of_params(params, function(p) {
    events <- vector("list", length(steps))
    events[is_pulse] <- list(if (any(is_pulse)) event_pulse(2, c("1" = p[["f"]])))
    events[!is_pulse] <- lapply(seq_len(n), function(i) {
      m <- unname(p[migration(i)])
      event_epoch(p[[times[i]]], unname(sizes$of(p, i)),
                  if (length(m)) migration_2(m[1], m[2]) else 0)
    })
    c(list(event_equilibrium(), event_split(1)), events)
  })
}

three_population_model <- function(between, after, size, origin) {
  between <- strsplit(between, "")[[1]]
  after <- strsplit(after, "")[[1]]
  times <- period_times(length(between) + length(after))
  nu <- c("nu1", "nu2", "nu3")
  sizes <- lapply(seq_along(after), function(i) {
    paste0(nu, if (size == "same") "" else if (i < length(after)) "a" else "b")
  })
  admixed <- origin == "admixed"
  before <- c(sizes[[1]][1], if (admixed) sizes[[1]][2] else "nu_a")
  params <- c(
    if (length(between)) before, unlist(sizes), if ("A" %in% between) "m_a",
    unlist(lapply(rates_of_three[after], names)), times, if (admixed) "f"
  )
  model_of_params(params, function(p) {
    first <- Map(function(period, time) {
      event_epoch(p[[time]], unname(p[before]), if (period == "A") p[["m_a"]] else 0)
    }, between, times[seq_along(between)])
    last <- Map(function(period, nu, time) {
      event_epoch(p[[time]], unname(p[nu]), migration_3(rates_of_three[[period]], p))
    }, after, sizes, times[length(between) + seq_along(after)])
    third <- if (admixed) event_admixture(c(p[["f"]], 1 - p[["f"]])) else event_split(2)
    c(list(event_equilibrium(), event_split(1)), unname(first), list(third), unname(last))
  })
}

period_times <- function(n) if (n == 1) "time" else paste0("time", seq_len(n))

# A function of these parameters that returns the events. `events` takes them as a named vector.
model_of_params <- function(params, events) {
  params <- unique(params)
  model <- function() events(unlist(mget(params, environment())))
  formals(model) <- stats::setNames(rep(list(substitute()), length(params)), params)
  model
}

migration_3 <- function(rates, p) {
  m <- matrix(0, 3, 3, dimnames = list(1:3, 1:3))
  for (rate in names(rates)) {
    for (cell in strsplit(rates[[rate]], "")) m[cell[1], cell[2]] <- p[[rate]]
  }
  unname(m)
}

migration_2 <- function(m12, m21) rbind(c(0, m12), c(m21, 0))

# The matrix of symmetric rates between three populations.
symmetric_migration <- function(m12, m13, m23) {
  rbind(c(0, m12, m13), c(m12, 0, m23), c(m13, m23, 0))
}
