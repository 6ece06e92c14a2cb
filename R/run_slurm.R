#' Send the tasks of a run to Slurm
#'
#' What [ancify_run()] takes as `BPPARAM` to carry out its tasks as jobs of Slurm: a
#' `BatchtoolsParam` of the package BiocParallel with a template of this package, and with what
#' the configuration's `cluster` asks for each job.
#'
#' Each job asks for `cpus` cores (`num_cpus` by default, the threads of a task), `memory` (by
#' default as much as is needed, computed from the genome, which a message tells), and for `time`,
#' `partition` and `gpus` where these are given. Without `gpus` a run with `backend: gpu` asks for
#' one. Only jobs that call ask for GPUs: no other has code for them.
#'
#' For what sites add (accounts, modules, constraints) copy the template,
#' `system.file("templates", "slurm.tmpl", package = "ancify")`, and give the copy's path. Other
#' batch systems take a `BatchtoolsParam` with a template of batchtools.
#'
#' @inheritParams ancify_run
#' @param threads,backend As [ancify_run()] is given them; `NULL` (the default) for those of the
#'   configuration.
#' @param workers Most jobs at a time, 1000 by default; where a phase has more tasks, jobs carry out
#'   several.
#' @param template Path of a template for batchtools; `NULL` (the default) for this package's.
#' @param verbose Whether to tell, as by default, what each job asks for, as a message of class
#'   `ancify_message`.
#' @return A `BatchtoolsParam` of the package BiocParallel.
#' @section Errors:
#' `ancify_package_error` where BiocParallel or batchtools is not installed;
#' `ancify_file_error` where this machine has no `sbatch`, or there is no such template;
#' `ancify_config_error` for the configuration; `ancify_input_error` for other arguments that
#' can't be used.
#' @seealso [ancify_run()], `vignette("cluster", "ancify")`
#' @export
#' @examples
#' config <- ancify_example()
#' config$cluster <- list(time = "00:10:00", memory = "1G", cpus = 1)
#' if (nzchar(Sys.which("sbatch"))) slurm_param(config)
slurm_param <- function(config, threads = NULL, backend = NULL, workers = 1000, template = NULL,
                        verbose = TRUE) {
  check_given()
  check_whole_number(workers, "workers")
  check_flag(verbose, "verbose")
  need_batchtools()
  config <- read_config(config, character())
  config$num_cpus <- resolve_threads(threads %||% config$num_cpus)
  config$backend <- check_choice(backend %||% config$backend, backends, "backend")
  template <- check_path(
    template %||% system.file("templates", "slurm.tmpl", package = "ancify"), "template"
  )
  if (!file.exists(template)) {
    abort_ancify(sprintf("%s: there is no such template.", quoted(template)), "file",
                 file = template)
  }
  if (!nzchar(Sys.which("sbatch"))) {
    abort_ancify(
      "This machine has no sbatch: start the run where jobs of Slurm are submitted.", "file",
      file = "sbatch"
    )
  }
  resources <- slurm_resources(config)
  if (verbose) inform_ancify(describe_resources(resources, config))
  BiocParallel::BatchtoolsParam(
    workers = workers, cluster = "slurm", template = template, resources = resources,
    registryargs = BiocParallel::batchtoolsRegistryargs(
      file.dir = temporary_name(file.path(config$work_dir, ".ancify", "registry")),
      work.dir = getwd()
    )
  )
}

need_batchtools <- function() {
  need_bioconductor("BiocParallel", "Jobs of Slurm")
  need_packages("batchtools", "Jobs of Slurm")
}

# What the template has; each as Slurm reads it.
slurm_resources <- function(config) {
  asked <- config$cluster
  gpus <- asked$gpus %||% (if (config$backend == "gpu") 1L else 0L)
  list(
    cpus = asked$cpus %||% config$num_cpus,
    memory = asked$memory %||% sprintf("%.0fM", ceiling(job_memory(config) / 2^20)),
    time = asked$time, partition = asked$partition, gpus = gpus
  )
}

describe_resources <- function(resources, config) {
  paste0(
    sprintf("Each job asks Slurm for %d core%s and %s of memory", resources$cpus,
            if (resources$cpus == 1) "" else "s", resources$memory),
    if (is.null(config$cluster$memory)) ", computed from the genome",
    if (resources$gpus > 0) sprintf(", those that call for %d GPU too", resources$gpus)
  )
}

# Bytes that a task needs at most: R and its packages, and what the run's own check has.
job_memory <- function(config) {
  2^29 + memory_needed(config, c("project", "call"), "tasks")
}
