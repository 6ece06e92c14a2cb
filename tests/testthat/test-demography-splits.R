# The models that demography_model() makes from tables.

test_that("spectra of splits and of selection are those of dadi's models", {
  theirs <- utils::read.csv(test_path("fixtures", "dadi_splits.csv"))
  values <- c(
    nu1 = 1.5, nu2 = 0.6, nu3 = 0.9, nu_a = 0.7, nu1a = 1.2, nu2a = 0.5, nu1b = 2, nu2b = 0.8,
    m = 1.1, m12 = 0.4, m21 = 1.3, m12a = 0.4, m21a = 1.3, m12b = 0.9, m21b = 0.2, m_a = 0.8,
    ma = 1.1, mb = 0.7, m1 = 1.1, m2 = 0.7, m3 = 0.6, s = 0.3, time1 = 0.08, time2 = 0.06,
    time3 = 0.05, nu3a = 0.9, nu3b = 1.4, m31 = 0.5, m32 = 0.9, f = 0.3, nu = 2, nu_b = 0.5,
    nu_f = 3, time_b = 0.08, time_f = 0.06, time_split = 0.04, nu_pre = 1.6, time_pre = 0.08,
    time_mig = 0.06, gamma = -3, gamma1 = -2, gamma2 = 1.5
  )
  expect_gt(length(unique(theirs$model)), 80)
  for (name in unique(theirs$model)) {
    of <- theirs$value[theirs$model == name]
    model <- demography_model(name)
    sizes <- list("6" = 5, "12" = c(3, 2))[[as.character(length(of))]]
    if (any(c("nu3", "nu3a") %in% model$params)) sizes <- c(2, 1, 1)
    values[["time"]] <- if (length(sizes) == 3) 0.08 else 0.1
    found <- expected_sfs(model, values[model$params], sizes, 14, "dadi", "none")[[1]]
    cells <- which(!attr(found, "mask"))
    expected <- as.numeric(aperm(array(of, rev(sizes + 1))))
    found <- as.numeric(plain_array(found))
    expect_equal(found[cells], expected[cells], tolerance = 1e-6, info = name)
  }
  # dadi has no parameter for the last of its periods
  model <- demography_model("sec_contact_asym_mig_three_epoch")
  expect_identical(model$params, c("nu1", "nu2", "m12", "m21", "time1", "time2", "time3"))
})

test_that("models of chromosomes have the factors of population genetics", {
  model <- demography_model("two_epoch")
  params <- c(nu = 3, time = 0.2)
  spectrum <- function(model, ...) expected_sfs(model, params, 6, c(20, 25), ...)
  expect_identical(spectrum(inherit_demography(model)), spectrum(model))
  x <- inherit_demography(model, "X")
  expect_identical(x$params, model$params)
  scaled <- demography(event_equilibrium(0.75), event_epoch(0.2, 3 * 0.75))
  expect_equal(spectrum(x), expected_sfs(scaled, NULL, 6, c(20, 25)))

  # Effective sizes from numbers of females and males (Hedrick 2007), over that of autosomes
  size <- function(chromosome, females) {
    rows <- inherit_demography(demography(event_equilibrium()), chromosome, females = females)
    rows$events[[1]]$nu
  }
  males <- 30
  for (females in c(0.5, 1, 4)) {
    n <- c(f = females * males, m = males)
    all <- 4 * prod(n) / sum(n)
    expect_equal(size("X", females), 9 * prod(n) / (4 * n[["m"]] + 2 * n[["f"]]) / all)
    expect_equal(size("Y", females), n[["m"]] / 2 / all)
    expect_equal(size("mitochondrion", females), n[["f"]] / 2 / all)
  }
  mutation <- function(chromosome, a) {
    rows <- inherit_demography(demography(event_equilibrium()), chromosome, male_mutation = a)
    rows$events[[1]]$theta0
  }
  for (a in c(1, 3)) {
    mean <- (a + 1) / 2
    expect_equal(mutation("X", a), (2 + a) / 3 / mean)
    expect_equal(mutation("Y", a), a / mean)
    expect_equal(mutation("mitochondrion", a), 1 / mean)
  }
  # Size histories, functions and lists keep their form
  growth <- demography(event_equilibrium(), event_split(1), event_epoch(
    0.1, list(size_history(1, 4), function(t) 1 + t), theta0 = function(t) 1 + t
  ))
  half <- inherit_demography(growth, "Y", male_mutation = 3)
  by_hand <- demography(event_equilibrium(0.25, theta0 = 1.5), event_split(1), event_epoch(
    0.1, list(size_history(0.25, 1), function(t) (1 + t) / 4), theta0 = function(t) 1.5 * (1 + t)
  ))
  expect_equal(coarse_sfs(half, NULL, c(3, 3), 12), coarse_sfs(by_hand, NULL, c(3, 3), 12))
})

test_that("selfing lowers sizes, and is refused where it cannot be", {
  model <- demography(event_equilibrium())
  selfing <- inherit_demography(model, selfing = 0.5)
  expect_equal(selfing$events[[1]]$nu, 1 / (1 + 1 / 3))
  expect_equal(inherit_demography(model, selfing = 1)$events[[1]]$nu, 1 / 2)
  input <- function(..., pattern) {
    expect_ancify_error(inherit_demography(...), "input", pattern)
  }
  input(model, "X", selfing = 0.1, pattern = "have no sex chromosomes")
  input(model, selfing = 2, pattern = "from 0 to 1")
  input(model, "X", females = 0, pattern = "`females`")
  input(model, "W", pattern = "chromosome")
  selected <- demography(event_equilibrium(), event_epoch(0.1, 1, gamma = size_history(0, -3)))
  input(selected, "X", pattern = "has selection")
  input(demography(event_equilibrium(gamma = 1)), "X", pattern = "has selection")
})
