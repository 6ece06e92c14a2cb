#' Send the tasks of a run to Slurm
#'
#' @description
#' Makes the `BPPARAM` for [ancify_run()] to run its tasks as Slurm jobs. Each job requests the
#' resources under `cluster` in the configuration:
#'
#' ```
#' ancify_run("config.yaml", BPPARAM = slurm_param("config.yaml"))
#' ```
#'
#' | Key of `cluster` | Default |
#' |:-----------------|:--------|
#' | `cpus` | `num_cpus`, the threads of a task |
#' | `memory` | computed from the genome; a message reports it |
#' | `gpus` | 1 with `backend: gpu`, else none; only for calling jobs |
#' | `time`, `partition` | not requested |
#'
#' Other jobs, such as [embed_sequences()], have no configuration: give their requests alone, as in
#' `slurm_param(list(cluster = list(memory = "16G", cpus = 8)))`. They need `memory`.
#'
#' @inheritParams ancify_run
#' @param threads,backend As for [ancify_run()]; `NULL` (the default) for `num_cpus` and `backend`
#'   of `config`.
#' @param workers Maximum number of simultaneous jobs; 1000 by default. If a phase has more tasks, a
#'   job runs several.
#' @param template Path of a template for batchtools; `NULL` (the default) for this package's. To
#'   add accounts or modules, edit a copy of
#'   `system.file("templates", "slurm.tmpl", package = "ancify")`.
#' @param verbose Whether to report the request of each job, in a message of class `ancify_message`;
#'   `TRUE` by default.
#' @return A `BatchtoolsParam` of the package BiocParallel. For other batch systems, make one from a
#'   batchtools template.
#' @section Errors:
#' * `ancify_package_error`: BiocParallel or batchtools is not installed.
#' * `ancify_file_error`: this machine has no `sbatch`, or the template does not exist.
#' * `ancify_config_error`: a setting cannot be used.
#' * `ancify_input_error`: another argument cannot be used.
#' @seealso [ancify_run()], `vignette("cluster", "ancify")`
#' @export
#' @examples
#' config <- ancify_example()
#' config$cluster <- list(time = "00:10:00", memory = "1G", cpus = 1)
#' if (nzchar(Sys.which("sbatch"))) slurm_param(config)
slurm_param <- function(config, threads = NULL, backend = NULL, workers = 1000, template = NULL,
                        verbose = TRUE) {
  check_args(workers = whole(), verbose = flag())
  need_batchtools()
  config <- if (is_cluster_alone(config)) read_cluster(config) else read_config(config, character())
  config$num_cpus <- resolve_threads(threads %||% config$num_cpus)
  config$backend <- check_choice(backend %||% config$backend %||% "cpu", backends, "backend")
  template <- check_path(
    template %||% system.file("templates", "slurm.tmpl", package = "ancify"), "template"
  )
  refuse_file_if(!file.exists(template), template,
                 "%s: there is no such template; correct the path.", quoted(template))
  refuse_file_if(!nzchar(Sys.which("sbatch")), "sbatch",
                 "This machine has no sbatch: start the run where Slurm jobs are submitted.")
  resources <- slurm_resources(config)
  if (verbose) inform_ancify(describe_resources(resources, config))
  BiocParallel::BatchtoolsParam(
    workers = workers, cluster = "slurm", template = template, resources = resources,
    registryargs = BiocParallel::batchtoolsRegistryargs(
      file.dir = temporary_name(registry_folder(config)),
      work.dir = getwd()
    )
  )
}

is_cluster_alone <- function(config) is.list(config) && identical(names(config), "cluster")

read_cluster <- function(config) {
  origin <- new_origin()
  config <- read_section(config, config_keys()["cluster"], "", origin)
  if (is.null(config$cluster$memory)) {
    add_problem(origin, "`cluster.memory` must be given: it is computed for runs alone.")
  }
  stop_on_problems(origin)
  config
}

# On a file system that nodes share.
registry_folder <- function(config) {
  if (is.null(config$work_dir)) file.path(getwd(), "registry")
  else file.path(config$work_dir, ".ancify", "registry")
}

need_batchtools <- function() {
  need_bioconductor("BiocParallel", "Jobs of Slurm")
  need_packages("batchtools", "Jobs of Slurm")
}

# The resources for the template, in Slurm's format.
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
    sprintf("Each job requests %d core%s and %s of memory from Slurm", resources$cpus,
            if (resources$cpus == 1) "" else "s", resources$memory),
    if (is.null(config$cluster$memory)) " (computed from the genome)",
    if (resources$gpus > 0) {
      sprintf(if (is.null(config$work_dir)) ", and %s" else "; jobs that call also request %s",
              count_of(resources$gpus, "GPU"))
    }
  )
}

# The maximum memory of a task in bytes: R with its packages, and the run's own estimate.
job_memory <- function(config) {
  2^29 + memory_needed(config, c("project", "call"), "tasks")
}
