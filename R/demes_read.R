#' Read and write Demes files
#'
#' `read_demes()` makes a demographic model from a Demes file, and `write_demes()` writes one:
#' `write_demes(model, "model.yaml", params, reference_size = 10000)`. Many programs share the Demes
#' format (Gower and others 2022).
#'
#' @details
#' Sizes are in units of a reference size: the size at which the oldest deme begins. Times in years
#' are divided by the file's generation time.
#'
#' | Case | Result |
#' | --- | --- |
#' | a sampled deme ends before the present | it stays unchanged after its end |
#' | a deme contributes nothing (more) to sampled demes | it is omitted |
#' | several events at one time | in order: pulses, demes begin, pulses into these, demes end |
#' | cloning or selfing rates above 0 | an error |
#' | more than one deme without ancestors | an error |
#' | more than five other demes at a time | an error |
#'
#' `write_demes()` records the final populations and their order in the file's metadata. It does not
#' write `theta0`. When the file is read again, sizes are in units of the model's first size.
#'
#' **Fields to fit.** The file `parameters` has the format of the program moments. Each of its
#' `parameters` has a `name`, `values`, and optionally a `description`, `lower_bound` and
#' `upper_bound`. `values` are the places in the Demes file that get this value; each place has at
#' most one parameter. Indices begin at 0:
#'
#' | Place | Field |
#' | --- | --- |
#' | `demes: {A: start_time}` | the time at which deme A begins |
#' | `demes: {A: {epochs: {0: end_size}}}` | a size or time of A's first epoch |
#' | `demes: {A: {proportions: 0}}` | A's share of its first ancestor; the last one has the rest |
#' | `migrations: {0: rate}` | the rate of the first migration |
#' | `pulses: {0: time}` | the time of the first pulse |
#' | `pulses: {0: {proportions: 0}}` | the share of its first source |
#'
#' `constraints` are pairs such as `{params: [T1, T2], constraint: greater_than}` or `less_than`.
#' Parameters are in the file's own units. With a free theta, a spectrum determines sizes and times
#' only up to a common factor, so fix one size. With two-locus statistics, all can be fitted.
#'
#' @param file Path of a Demes file, in YAML. `read_demes()` also reads gzip.
#' @param samples Names of the sampled demes, in the order of the spectrum. Default: the demes
#'   recorded by `write_demes()`, else all demes at the present.
#' @param parameters Path of a YAML file that lists the fields to fit, see Details. `NULL` (the
#'   default): the model has no parameters.
#' @param model A [demography()], or a list of events.
#' @param params Values of the model's parameters, named or in the model's order. `NULL` (the
#'   default): none.
#' @param reference_size Size of the reference population in diploid individuals, above 0.
#' @param demes Names of the populations, in the order of their first appearance. Default: `pop1`
#'   and so on.
#' @param description A description of the model, for the file. `NULL` (the default): none.
#' @return `read_demes()`: a [demography()], with the attributes `samples`, `reference_size`,
#'   `time_units` and `generation_time`; with `parameters` also `start`, `lower` and `upper`, which
#'   [fit_demography()] takes.
#'   `write_demes()`: the path, invisibly. Times in the file are in generations.
#' @section Errors:
#' * `ancify_file_error` (field `file`): the file cannot be read or written.
#' * `ancify_format_error` (field `file`): the file is not a Demes file, or a case that is an error
#'   in the table; `parameters` name a place that the Demes file lacks, or one place twice; or a
#'   value is outside its bounds.
#' * `ancify_input_error`: the model is invalid, or Demes cannot describe it. Cases: selection;
#'   mutation that changes; sizes or rates that are functions; a migration rate that changes in an
#'   epoch; a frozen population that changes later; a pulse at the present or directly after a
#'   split.
#' @references
#' Gower and others (2022) Demes: a standard format for demographic models. Genetics 222:iyac131.
#' @seealso [demography()], [demography_model()]
#' @export
#' @examples
#' file <- tempfile(fileext = ".yaml")
#' write_demes(demography_model("split_mig"), file, c(nu1 = 2, nu2 = 0.5, time = 0.1, m = 1),
#'             reference_size = 10000, demes = c("YRI", "CEU"))
#' writeLines(readLines(file))
#' read_demes(file)
#'
#' # The split's time and the migration rate as parameters
#' free <- tempfile(fileext = ".yaml")
#' writeLines(c(
#'   "parameters:",
#'   "- name: split",
#'   "  values:",
#'   "  - demes: {CEU: start_time, YRI: {epochs: {0: end_time}}}",
#'   "  - migrations: {0: start_time, 1: start_time}",
#'   "  lower_bound: 100",
#'   "- name: m",
#'   "  values: [{migrations: {0: rate, 1: rate}}]"
#' ), free)
#' model <- read_demes(file, parameters = free)
#' expected_sfs(model, c(split = 1000, m = 1e-5), c(YRI = 4, CEU = 4), c(20, 25, 30))
read_demes <- function(file, samples = NULL, parameters = NULL) {
  check_args(file = one_path())
  refuse <- demes_refusal(file)
  yaml <- read_demes_yaml(file, refuse)
  graph <- demes_graph(yaml, refuse)
  samples <- demes_samples(graph, samples)
  model <- if (is.null(parameters)) {
    do.call(demography, demes_events(graph, samples))
  } else {
    demes_with_parameters(yaml, samples, check_path(parameters, "parameters"))
  }
  attr(model, "samples") <- samples
  attr(model, "reference_size") <- graph$reference_size
  attr(model, "time_units") <- graph$time_units
  attr(model, "generation_time") <- graph$generation_time
  model
}
