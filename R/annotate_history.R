# The arguments of annotate_vcf() that concern a history, and the files that they name.

# list(history =, projected =, samples =), or NULL without a history.
check_sample_history <- function(history, projected, samples, ancestral) {
  if (is.null(history)) {
    given <- c("projected", "samples")[c(!is.null(projected), !is.null(samples))]
    refuse_if(length(given), "`%s` needs a `history`: give one, or leave it out.", given[1])
    return(NULL)
  }
  history <- check_history(history)
  refuse_if(is.null(names(history$splits)),
            "The splits of `history` have no names: name them after the outgroups in `projected`.")
  if (is.null(projected) && inherits(ancestral, "ancify_run")) {
    warn_about_kept_projections(attr(ancestral, "config"))
  }
  list(
    history = history, samples = counted_samples(samples),
    projected = check_path(projected %||% run_projected(ancestral), "projected")
  )
}

core_sample_history <- function(given, chromosomes) {
  if (is.null(given)) {
    return(NULL)
  }
  history <- given$history
  core_list(
    "SampleHistory",
    history = core_history(history), model = core_mutation_model(history),
    outgroups = outgroup_files(given$projected, names(history$splits), chromosomes),
    samples = given$samples
  )
}

run_projected <- function(ancestral) {
  refuse_if(!inherits(ancestral, "ancify_run"),
            paste(
              "`projected` is missing, but `history` needs it: give the folder of the outgroups'",
              "projected sequences, or an ancify_run as `ancestral`."
            ))
  file.path(attr(ancestral, "config")$work_dir, "projected")
}
