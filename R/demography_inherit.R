#' Adapt a demographic model to a chromosome, or to selfing
#'
#' Converts a model of autosomes in outcrossing organisms into one of a sex chromosome, the
#' mitochondrion, or selfing organisms: `inherit_demography(model, "X")`. Parameters keep the values
#' and units of the autosomal model, so that the models are comparable.
#'
#' @details
#' Sizes and `theta0` are multiplied by these factors. Times stay unchanged, and so do migration
#' rates, which apply to both sexes. `b` is the number of breeding females per breeding male, and
#' `a` the ratio of the male to the female mutation rate.
#'
#' | Chromosome | Sizes | `theta0` |
#' | --- | --- | --- |
#' | `"autosome"` | 1 | 1 |
#' | `"X"` (or Z, with the sexes exchanged) | 9 (1 + b) / (8 (2 + b)) | 2 (2 + a) / (3 (1 + a)) |
#' | `"Y"` (or W) | (1 + b) / (8 b) | 2 a / (1 + a) |
#' | `"mitochondrion"` | (1 + b) / 8 | 2 / (1 + a), for the nuclear rate of females |
#'
#' With a selfing rate `s` the inbreeding coefficient is F = s / (2 - s), and all sizes are
#' divided by 1 + F. Genotypes are then inbred too: [expected_sfs()] takes
#' `sampling = sampling_inbred(s / (2 - s))`.
#'
#' @param model A [demography()], or a list of events, without selection.
#' @param chromosome `"autosome"` (the default), `"X"`, `"Y"` or `"mitochondrion"`.
#' @param females Breeding females per breeding male, above 0; 1 by default.
#' @param male_mutation Ratio of the male to the female mutation rate, above 0; 1 by default.
#' @param selfing Share of offspring by self-fertilisation, from 0 to 1; 0 by default. Only for
#'   autosomes.
#' @return A [demography()] with the parameters of `model`.
#' @section Errors:
#' * `ancify_input_error`: an argument is out of range; `selfing` is given for a chromosome other
#'   than autosomes; or an event has selection, which acts differently on other chromosomes.
#' @references
#' Hedrick (2007) Sex: differences in mutation, recombination, selection, gene flow, and genetic
#' drift. Evolution 61:2750.
#'
#' Miyata, Hayashida, Kuma, Mitsuyasu and Yasunaga (1987) Male-driven molecular evolution: a model
#' and nucleotide sequence analysis. Cold Spring Harbor Symposia on Quantitative Biology 52:863.
#'
#' Nordborg and Donnelly (1997) The coalescent process with selfing. Genetics 146:1185.
#' @seealso [sampling_inbred()], [demography_events]
#' @export
#' @examples
#' model <- demography_model("two_epoch")
#' params <- c(nu = 3, time = 0.2)
#' autosomes <- expected_sfs(model, params, 6, c(20, 30, 40))
#' x <- expected_sfs(inherit_demography(model, "X"), params, 6, c(20, 30, 40))
#' x / autosomes
#'
#' selfing <- inherit_demography(model, selfing = 0.5)
#' expected_sfs(selfing, params, 6, c(20, 30, 40), sampling = sampling_inbred(1 / 3))
inherit_demography <- function(model, chromosome = c("autosome", "X", "Y", "mitochondrion"),
                               females = 1, male_mutation = 1, selfing = 0) {
  check_given()
  model <- as_demography(model)
  check_args(chromosome = choice(names(inheritances)), females = positive(1),
             male_mutation = positive(1), selfing = number(0, 1))
  refuse_if(selfing > 0 && chromosome != "autosome",
            "`selfing` is for autosomes: organisms that self have no sex chromosomes.")
  factors <- inheritances[[chromosome]](females, male_mutation)
  inbreeding <- selfing / (2 - selfing)
  inherit <- function(events) {
    events[] <- lapply(events, event_of_chromosome, factors[["size"]] / (1 + inbreeding),
                       factors[["mutation"]])
    events
  }
  if (!is.function(model$events)) {
    model$events <- inherit(model$events)
    return(model)
  }
  events <- function() inherit(do.call(of_autosomes, mget(params, environment())))
  of_autosomes <- model$events
  params <- model$params
  formals(events) <- formals(args(of_autosomes))
  model$events <- events # the attributes of read_demes() stay
  model
}

# A row for each chromosome: the factors of sizes and of mutation rates, from the number of females
# per male and the ratio of male to female mutation rates.
inheritances <- list(
  autosome = function(females, mutation) c(size = 1, mutation = 1),
  X = function(females, mutation) {
    c(size = 9 * (1 + females) / (8 * (2 + females)),
      mutation = 2 * (2 + mutation) / (3 * (1 + mutation)))
  },
  Y = function(females, mutation) {
    c(size = (1 + females) / (8 * females), mutation = 2 * mutation / (1 + mutation))
  },
  mitochondrion = function(females, mutation) {
    c(size = (1 + females) / 8, mutation = 2 / (1 + mutation))
  }
)

event_of_chromosome <- function(event, size, mutation) {
  gamma <- unlist(event$gamma)
  refuse_if(!is.null(gamma) && !(is.numeric(gamma) && all(gamma == 0)),
            paste(
              "`model` has selection, which differs on other chromosomes and in selfing organisms:",
              "give a model without selection."
            ))
  if (!is.null(event$nu)) event$nu <- times(event$nu, size)
  if (!is.null(event$theta0)) event$theta0 <- times(event$theta0, mutation)
  event
}

# A number, a size history, a function of time, or a list of these, times a factor.
times <- function(value, factor) {
  if (is.function(value)) {
    function(time) factor * value(time)
  } else if (is_size_history(value)) {
    value[c("from", "to")] <- list(value$from * factor, value$to * factor)
    value
  } else if (is.list(value)) {
    lapply(value, times, factor)
  } else {
    value * factor
  }
}
