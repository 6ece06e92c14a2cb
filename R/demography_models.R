#' Get a common demographic model
#'
#' Returns a model by name, for fitting or as published: `demography_model("split_mig")`. Parameters
#' have the units of [demography_events].
#'
#' @details
#' One population:
#'
#' | Name | Model |
#' | --- | --- |
#' | `snm` | constant size, the standard neutral model |
#' | `two_epoch` | sudden change to size `nu`, `time` ago |
#' | `growth` | exponential growth to `nu` over `time` |
#' | `bottlegrowth` | sudden change to size `nu_b`, then exponential to `nu_f` over `time` |
#' | `three_epoch` | size `nu_b` for `time_b`, then size `nu_f` for `time_f` |
#'
#' Inbreeding is a parameter of sampling, for any model: see [sampling_inbred()].
#'
#' Two populations:
#'
#' | Name | Model |
#' | --- | --- |
#' | `snm_2d` | two samples of one population of constant size |
#' | `bottlegrowth_2d` | `bottlegrowth`, then a split at the present |
#' | `bottlegrowth_split` | `bottlegrowth` with a split `time_split` ago; both keep growing |
#' | `bottlegrowth_split_mig` | `bottlegrowth_split` with migration at rate `m` after the split |
#' | `split_mig` | a split `time` ago into sizes `nu1` and `nu2`, with migration at rate `m` |
#' | `split_asym_mig` | `split_mig` at rates `m12` into the first and `m21` into the second |
#' | `split_delay_mig` | `split_mig` without migration for `time_pre`, then with it for `time_mig` |
#' | `IM` | a split into shares `s` and 1 - `s`; exponential change to `nu1` and `nu2`; migration |
#' | `IM_pre` | `IM` after `time_pre` at the ancestral size `nu_pre` |
#'
#' Three populations:
#'
#' | Name | Model |
#' | --- | --- |
#' | `out_of_africa` | Africans, Europeans, East Asians (Gutenkunst and others 2009) |
#'
#' Most models of one or two populations also exist with selection, equal for all mutations:
#'
#' | Name | Selection coefficients |
#' | --- | --- |
#' | `two_epoch_sel` and so on | `gamma` |
#' | `split_mig_sel` and so on | `gamma1` of the first population and its ancestors, else `gamma2` |
#' | `split_mig_sel_single_gamma` and so on | `gamma` of all populations |
#'
#' [selected_spectra()] adds a distribution of fitness effects to any model.
#'
#' The models of splits below, and their names, are from Portik and others (2017) and Firneno and
#' others (2020). Their sizes are `nu1`, `nu2` and `nu3`, and `nu_a` for the ancestors of the second
#' and third population. An admixed population has a share `f` from the first. The periods between
#' and after splits last `time`, or `time1`, `time2` and so on.
#' Migration is at rate `m`, or at `m12` into the first population and `m21` into the second. Models
#' of three populations have these rates, all symmetric except the last two:
#'
#' | Rate | Between |
#' | --- | --- |
#' | `m1` | the first and the second |
#' | `m2` | the second and the third |
#' | `m3` | the first and the third |
#' | `m_a` | the first and the ancestors of the others |
#' | `m31`, `m32` | from the first, or from the second, into the third only |
#'
#' | Name | Two populations |
#' | --- | --- |
#' | `no_mig` | no migration |
#' | `sym_mig`, `asym_mig` | symmetric or asymmetric migration |
#' | `anc_sym_mig`, `anc_asym_mig` | migration in the first of two periods |
#' | `sec_contact_sym_mig`, `sec_contact_asym_mig` | migration in the second of two periods |
#' | each of these with `_size` | two periods: sizes `nu1a` and `nu2a`, then `nu1b` and `nu2b` |
#' | `sym_mig_twoepoch`, `asym_mig_twoepoch` | two periods with their own rates, `a` and `b` |
#' | `sec_contact_sym_mig_three_epoch` | symmetric migration in the second of three periods |
#' | `sec_contact_asym_mig_three_epoch` | asymmetric migration in the second of three periods |
#' | `sec_contact_sym_mig_size_three_epoch` | symmetric; other sizes after the first period |
#' | `sec_contact_asym_mig_size_three_epoch` | asymmetric; other sizes after the first period |
#' | `vic_no_mig` | sizes 1 - `s` and `s`, no migration |
#' | `vic_anc_sym_mig`, `vic_anc_asym_mig` | `vic_no_mig`, migration in the first of two periods |
#' | `vic_sec_contact_sym_mig`, `vic_sec_contact_asym_mig` | `vic_no_mig`, migration in the second |
#' | `founder_nomig` | sizes 1 - `s`, and exponentially from `s` to `nu2` |
#' | `founder_sym`, `founder_asym` | `founder_nomig` with migration |
#' | `vic_no_mig_admix_early`, `..._late` | `vic_no_mig`, admixed after the split or at present |
#' | `vic_two_epoch_admix` | `vic_no_mig`, admixed between two periods |
#' | `founder_nomig_admix_early`, `..._late` | `founder_nomig`, admixed at these times |
#' | `founder_nomig_admix_two_epoch` | `founder_nomig`, admixed when `nu2` is reached |
#'
#' | Name | Three populations |
#' | --- | --- |
#' | `split_nomig` | no migration |
#' | `split_symmig_all` | migration between all populations in both periods |
#' | `split_symmig_adjacent` | `split_symmig_all` without `m3` |
#' | `refugia_adj_1` | isolation, then migration between neighbours in the last period |
#' | `refugia_adj_2` | migration between neighbours after the second split |
#' | `refugia_adj_3` | `refugia_adj_2`, with `m_a` in the second of two periods between splits |
#' | `ancmig_adj_1` | `m_a` between splits, then between neighbours, then isolation |
#' | `ancmig_adj_2` | `m_a` between splits |
#' | `ancmig_adj_3` | `m_a` in the first of two periods between splits |
#' | `sim_split_no_mig` | both splits at once, no migration |
#' | `sim_split_sym_mig_all` | `sim_split_no_mig` with migration between all |
#' | `sim_split_sym_mig_adjacent` | `sim_split_no_mig` with migration between neighbours |
#' | `sim_split_refugia_sym_mig_all` | isolation, then migration between all |
#' | `sim_split_refugia_sym_mig_adjacent` | isolation, then migration between neighbours |
#' | `split_nomig_size`, `sim_split_no_mig_size` | sizes `nu1b`, `nu2b`, `nu3b` in the last period |
#' | `ancmig_2_size` | `ancmig_adj_2` with other sizes in the last period |
#' | `sim_split_refugia_sym_mig_adjacent_size` | with other sizes in the last period |
#' | `refugia_adj_2_var_sym`, `refugia_adj_3_var_sym` | the third migrates to and from both others |
#' | `split_sym_mig_adjacent_var1`, `..._var2` | after `m_a`: the third with both, or only `m3` |
#' | `sim_split_sym_mig_adjacent_var` | both splits at once, then the third with both others |
#' | `sim_split_refugia_sym_mig_adjacent_var` | isolation, then the third with both |
#' | each of the last four rows with `_uni` for `_sym` | migration into the third population only |
#' | `admix_origin_no_mig` | the third population is a mixture of the others |
#' | `admix_origin_sym_mig_adj`, `admix_origin_uni_mig_adj` | `admix_origin_no_mig` with migration |
#'
#' Published models, without parameters:
#'
#' | Name | Model |
#' | --- | --- |
#' | `OutOfAfrica_2L06` | African and European fruit flies (Li and Stephan 2006) |
#' | `OutOfAfrica_3G09` | Africans, Europeans, East Asians (Gutenkunst and others 2009) |
#' | `NewWorld_4G09` | these three and Mexicans (Gutenkunst and others 2009) |
#' | `NewWorld_4G09_no_admixture` | `NewWorld_4G09` without the Mexicans' latest European ancestry |
#' | `ArchaicAdmixture_5R19` | these three with archaic admixture (Ragsdale and Gravel 2019) |
#'
#' @section Pictures:
#' Models of `demography_model()`, as [plot.demography()] draws them:
#'
#' \figure{models_common.png}{Common models of one, two and more populations}
#'
#' The sets for two populations:
#'
#' \figure{models_two.png}{Models of two populations that split}
#'
#' The sets for three populations:
#'
#' \figure{models_three.png}{Models of three populations that split}
#'
#' @param name Name of the model. `NULL` (the default): return the names of all models.
#' @return A [demography()]; without a `name` a character vector.
#' @section Errors:
#' * `ancify_input_error`: no model has this name.
#' @references
#' Firneno, O'Neill, Portik, Emery, Townsend and Fujita (2020) Finding complexity in complexes:
#' assessing the causes of mitonuclear discordance in a problematic species complex of Mesoamerican
#' toads. Molecular Ecology 29:3543.
#'
#' Gutenkunst, Hernandez, Williamson and Bustamante (2009) Inferring the joint demographic history
#' of multiple populations from multidimensional SNP frequency data. PLoS Genetics 5:e1000695.
#'
#' Li and Stephan (2006) Inferring the demographic history and rate of adaptive substitution in
#' Drosophila. PLoS Genetics 2:e166.
#'
#' Portik, Leache, Rivera, Barej, Burger, Hirschfeld, Roedel, Blackburn and Fujita (2017) Evaluating
#' mechanisms of diversification in a Guineo-Congolian tropical forest frog using demographic model
#' selection. Molecular Ecology 26:5245.
#'
#' Ragsdale and Gravel (2019) Models of archaic admixture and recent history from two-locus
#' statistics. PLoS Genetics 15:e1008204.
#' @seealso [demography()], [expected_sfs()], [fit_demography()]
#' @export
#' @examples
#' demography_model()
#' demography_model("IM")
#' expected_sfs(demography_model("two_epoch"), c(nu = 2, time = 0.1), 6, c(20, 25, 30))
demography_model <- function(name = NULL) {
  models <- c(common_models, selected_models(), split_models())
  if (is.null(name)) {
    return(names(models))
  }
  model <- models[[check_choice(name, names(models), "name")]]
  if (length(formals(model))) demography(model) else do.call(demography, model())
}

# Models of common_models with selected mutations, in one or two populations.
selected_models <- function() {
  of_one <- common_models[c("snm", "two_epoch", "growth", "bottlegrowth", "three_epoch")]
  of_two <- common_models[c("bottlegrowth_split", "bottlegrowth_split_mig", "split_mig",
                            "split_asym_mig", "split_delay_mig", "IM", "IM_pre")]
  selected <- function(models, suffix, gammas) {
    stats::setNames(lapply(models, under_selection, gammas), paste0(names(models), suffix))
  }
  c(selected(of_one, "_sel", "gamma"), selected(of_two, "_sel", c("gamma1", "gamma2")),
    selected(of_two, "_sel_single_gamma", "gamma"))
}

# The model with selection coefficients of these names. Ancestors have the first coefficient.
under_selection <- function(model, gammas) {
  params <- names(formals(model))
  model_of_params(c(params, gammas), function(p) {
    lapply(do.call(model, as.list(p[params])), function(event) {
      if (event$op %in% c("equilibrium", "integrate")) {
        event$gamma <- unname(p[gammas])[seq_len(min(length(event$nu), length(gammas)))]
      }
      event
    })
  })
}

# Each model is a function of its parameters that returns the events.
common_models <- list(
  snm = function() list(event_equilibrium()),
  two_epoch = function(nu, time) list(event_equilibrium(), event_epoch(time, nu)),
  growth = function(nu, time) {
    list(event_equilibrium(), event_epoch(time, list(size_history(1, nu))))
  },
  bottlegrowth = function(nu_b, nu_f, time) {
    list(event_equilibrium(), event_epoch(time, list(size_history(nu_b, nu_f))))
  },
  three_epoch = function(nu_b, nu_f, time_b, time_f) {
    list(event_equilibrium(), event_epoch(time_b, nu_b), event_epoch(time_f, nu_f))
  },
  snm_2d = function() list(event_equilibrium(), event_split(1)),
  bottlegrowth_2d = function(nu_b, nu_f, time) {
    list(event_equilibrium(), event_epoch(time, list(size_history(nu_b, nu_f))), event_split(1))
  },
  bottlegrowth_split = function(nu_b, nu_f, time, time_split) {
    size <- size_history(nu_b, nu_f, time)
    list(
      event_equilibrium(), event_epoch(time - time_split, list(size)), event_split(1),
      event_epoch(time_split, list(size, size), initial_t = time - time_split)
    )
  },
  bottlegrowth_split_mig = function(nu_b, nu_f, m, time, time_split) {
    size <- size_history(nu_b, nu_f, time)
    list(
      event_equilibrium(), event_epoch(time - time_split, list(size)), event_split(1),
      event_epoch(time_split, list(size, size), m, initial_t = time - time_split)
    )
  },
  split_mig = function(nu1, nu2, time, m) {
    list(event_equilibrium(), event_split(1), event_epoch(time, c(nu1, nu2), m))
  },
  split_asym_mig = function(nu1, nu2, time, m12, m21) {
    list(
      event_equilibrium(), event_split(1), event_epoch(time, c(nu1, nu2), migration_2(m12, m21))
    )
  },
  split_delay_mig = function(nu1, nu2, time_pre, time_mig, m12, m21) {
    list(
      event_equilibrium(), event_split(1), event_epoch(time_pre, c(nu1, nu2)),
      event_epoch(time_mig, c(nu1, nu2), migration_2(m12, m21))
    )
  },
  IM = function(s, nu1, nu2, time, m12, m21) {
    list(
      event_equilibrium(), event_split(1),
      event_epoch(time, list(size_history(s, nu1), size_history(1 - s, nu2)), migration_2(m12, m21))
    )
  },
  IM_pre = function(nu_pre, time_pre, s, nu1, nu2, time, m12, m21) {
    sizes <- list(size_history(nu_pre * s, nu1), size_history(nu_pre * (1 - s), nu2))
    list(
      event_equilibrium(), event_epoch(time_pre, nu_pre), event_split(1),
      event_epoch(time, sizes, migration_2(m12, m21))
    )
  },
  out_of_africa = function(nu_af, nu_b, nu_eu0, nu_eu, nu_as0, nu_as, m_af_b, m_af_eu, m_af_as,
                           m_eu_as, time_af, time_b, time_eu_as) {
    list(
      event_equilibrium(), event_epoch(time_af, nu_af),
      event_split(1), event_epoch(time_b, c(nu_af, nu_b), m_af_b),
      event_split(2),
      event_epoch(
        time_eu_as, list(nu_af, size_history(nu_eu0, nu_eu), size_history(nu_as0, nu_as)),
        symmetric_migration(m_af_eu, m_af_as, m_eu_as)
      )
    )
  },
  OutOfAfrica_2L06 = function() {
    list(
      event_equilibrium(), event_epoch(0.12844356619783798, 5), event_split(1),
      event_epoch(0.0009880274322910613, c(5, 0.0012786237359060793)),
      event_epoch(0.044926188538881785, c(5, 0.6247820527722887))
    )
  },
  OutOfAfrica_3G09 = function() {
    n <- 7300
    year <- 1 / (2 * n * 25)
    grown <- function(size, rate) size * exp(rate * 848)
    common_models$out_of_africa(
      nu_af = 12300 / n, nu_b = 2100 / n, nu_eu0 = 1000 / n, nu_eu = grown(1000, 0.004) / n,
      nu_as0 = 510 / n, nu_as = grown(510, 0.0055) / n, m_af_b = 2 * n * 25e-5,
      m_af_eu = 2 * n * 3e-5, m_af_as = 2 * n * 1.9e-5, m_eu_as = 2 * n * 9.6e-5,
      time_af = 80000 * year, time_b = 118800 * year, time_eu_as = 21200 * year
    )
  },
  NewWorld_4G09 = function() {
    c(common_models$NewWorld_4G09_no_admixture(), list(event_pulse(4, c("2" = 0.48))))
  },
  NewWorld_4G09_no_admixture = function() {
    eu <- size_history(0.208, 2.42, 0.131)
    as <- size_history(0.081, 4.186, 0.131)
    eu_later <- size_history(0.208 * (2.42 / 0.208)^(0.072 / 0.131), 2.42)
    as_later <- size_history(0.081 * (4.186 / 0.081)^(0.072 / 0.131), 4.186)
    m <- symmetric_migration(0.44, 0.28, 1.98)
    list(
      event_equilibrium(), event_epoch(0.08, 1.68),
      event_split(1), event_epoch(0.265, c(1.68, 0.287), 3.65),
      event_split(2), event_epoch(0.072, list(1.68, eu, as), m),
      event_split(3),
      event_epoch(0.059, list(1.68, eu_later, as_later, size_history(0.103, 7.94)),
                  rbind(cbind(m, 0), 0))
    )
  },
  # Populations: Africans, Neanderthals, archaic Africans, Europeans, East Asians
  ArchaicAdmixture_5R19 = function() {
    n <- 3600
    year <- 1 / (2 * n * 29)
    rates <- 2 * n * c(archaic = 1.98e-5, bottleneck = 52.2e-5, neanderthal = 0.825e-5,
                       europe = 2.48e-5, asia = 11.3e-5)
    grown <- function(size, rate) {
      size_history(size / n, size * exp(rate * 36000 / 29) / n, 36000 * year)
    }
    africa <- 13900 / n
    europe <- grown(2300, 0.00125)
    asia <- grown(650, 0.00372)
    # A matrix of symmetric rates. Each of `...` has two populations and an index of `rates`.
    between <- function(n, ...) {
      m <- matrix(0, n, n)
      for (pair in list(...)) m[rbind(pair[1:2], pair[2:1])] <- rates[pair[3]]
      m
    }
    list(
      event_equilibrium(),
      event_split(1), event_epoch(60000 * year, c(1, 1)),
      event_split(1), event_epoch(199000 * year, c(1, 1, 1)),
      event_epoch(175000 * year, c(africa, 1, 1)),
      event_epoch(64300 * year, c(africa, 1, 1), between(3, c(1, 3, 1))),
      event_split(1),
      event_epoch(24700 * year, c(africa, 1, 1, 880 / n),
                  between(4, c(1, 3, 1), c(1, 4, 2), c(2, 4, 3))),
      event_split(4),
      event_epoch(17300 * year, list(africa, 1, 1, europe, asia),
                  between(5, c(1, 3, 1), c(2, 4, 3), c(2, 5, 3), c(1, 4, 4), c(4, 5, 5))),
      event_removal(3), event_removal(2),
      event_epoch(18700 * year, list(africa, europe, asia), symmetric_migration(
        rates[["europe"]], 0, rates[["asia"]]
      ), initial_t = 17300 * year)
    )
  }
)
