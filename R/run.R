#' Call the ancestral alleles of a genome
#'
#' @description
#' Projects each outgroup's alignment onto the focal genome, and calls the ancestral base at every
#' position. Each chromosome becomes one line of letters, exactly as long as the chromosome:
#'
#' ```
#' run <- ancify_run("config.yaml")   # writes <output_dir>/<chromosome>.fa
#' readLines(run$file[1])[2]          # "ACGTnNacgTA..."
#' # ACGT: high confidence   acgt: low   n: unresolved   N: missing
#' ```
#'
#' @usage
#' ancify_run(config, phases = c("project", "call", "evaluate"),
#'   threads = NULL, backend = NULL, resume = TRUE, BPPARAM = NULL,
#'   progress = interactive(), verbose = TRUE)
#' @param config Path of a YAML file, a list, an [ancify_config()] or a run.
#' @param phases One or more of `"project"`, `"call"` and `"evaluate"`; all by default.
#' @param threads Number of threads; `NULL` (the default) for `num_cpus` of `config`.
#' @param backend `"auto"`, `"cpu"` or `"gpu"` (see [call_ancestral()]); `NULL` (the default) for
#'   `backend` of `config`.
#' @param resume `TRUE` (the default) keeps all files that are up to date.
#' @param BPPARAM A `BiocParallelParam`, such as [slurm_param()], whose workers execute the run as
#'   tasks; `NULL` (the default) for none.
#' @param progress Whether to show a progress bar after two seconds; by default only in interactive
#'   sessions.
#' @param verbose Whether to log the run in messages of class `ancify_message`; `TRUE` by default.
#' @return A data frame of class `ancify_run` with one row per chromosome. `ancify_project()`
#'   returns only its attribute `alignments`.
#'
#'   | Columns, attributes | Content |
#'   |:--------------------|:--------|
#' | `chromosome`, `length`, `file` | name, length, path of the calls |
#' | `high`, `low`, `unresolved`, `missing` | numbers of positions; `NA` without calls |
#' | attribute `alignments` | one row per outgroup: numbers of blocks |
#' | attributes `config`, `backend`, `seconds` | configuration, backend, time of each phase |
#' | attributes `evaluation`, `fit`, `history` | results of an evaluation and of fits |
#'
#'   `summary()` gives the shares by chromosome. Bioconductor's `seqinfo()` gives names, lengths and
#'   the setting `genome`.
#' @section Special cases:
#' | Case | Result |
#' |:-----|:-------|
#' | a run was stopped or killed | the same command completes it |
#' | an output would replace a file of yours | an error before any work |
#' | an input changes during the run | an error; start the run again |
#' | projections that no run wrote | used only if `"call"` is the only phase |
#' | no `evaluation` block | `"evaluate"` runs only if it is the only phase |
#' | `estimate: true` | fits the model before calling |
#' | `posterior: true` | writes each call's error probability ([read_posterior()]) |
#' | `keep_projected: true` | also writes the projections |
#' | `focal_fasta` | is compared with each block's focal letters |
#' @section Errors:
#' * `ancify_config_error`: a setting cannot be used.
#' * `ancify_check_error` (field `checks`): an input is unusable.
#' * `ancify_lock_error`: another run is using one of the folders.
#' * `ancify_task_error` (field `tasks`): tasks failed.
#' * `ancify_file_error`, `ancify_format_error`, `ancify_device_error`: a file or a GPU is unusable.
#' @seealso [ancify_check()]; `vignette("running")`; `vignette("cluster")`
#' @export
#' @examples
#' run <- ancify_run(ancify_example(), threads = 1)
#' run
#' readLines(run$file[1])[2] |> substr(2001, 2060)
#' ancify_project(ancify_example(tempfile()), threads = 1, verbose = FALSE)
ancify_run <- function(config, phases = c("project", "call", "evaluate"), threads = NULL,
                       backend = NULL, resume = TRUE, BPPARAM = NULL, progress = interactive(),
                       verbose = TRUE) {
  check_given()
  phases <- check_phases(phases)
  check_args(resume = flag(), verbose = flag())
  given <- config
  config <- read_config(given, phases)
  phases <- phases_asked_for(phases, config)
  check_own_calls(given, phases)
  config$backend <- backend %||% config$backend
  refuse_unkept_alone(config, phases)
  config$num_cpus <- threads %||% config$num_cpus
  log <- log_where(verbose)
  cluster <- new_cluster(BPPARAM, config$work_dir, config$backend, progress, log)
  work <- session_work(config, cluster, progress)
  config$num_cpus <- work$threads
  kind <- kind_of_run(work, cluster)
  description <- if (is.null(cluster)) describe_work_impl(work) else describe_cluster(cluster)
  log(paste("Using", description))
  for (note in config$notes) log(note)
  config <- with_alignments(config, phases)
  check_inputs(config, phases, work, kind, log)
  files <- if ("evaluate" %in% phases) files_to_compare(config, phases, log)
  caller <- NULL
  if ("call" %in% phases) {
    check_before_work(config, log)
    config <- with_inputs(config, unlist(method_of(config)$files(config)))
    # Make the caller before any work, because it checks the method's inputs. A fit makes its own.
    if (!fits_model(config)) {
      caller <- config_caller(config, run_settings(config, verbose), work, verbose)
    }
  }

  work_in(new_context(config, work, cluster, verbose), phases, function(context) {
    if (kind == "gpu") log_what_stays_on_the_cpu(context, phases)
    started <- Sys.time()
    seconds <- c()
    timed <- function(name, job, ...) {
      start <- proc.time()[["elapsed"]]
      result <- job(...)
      for (ledger in context$ledgers[c("work", "output")]) save_ledger(ledger, at_once = TRUE)
      if (is.null(result)) {
        return(NULL)
      }
      seconds[[name]] <<- proc.time()[["elapsed"]] - start
      log(sprintf("Phase %s took %.1f s", name, seconds[[name]]))
      result
    }
    result <- with_workers(cluster, function() {
      carry_out(context, phases, kind, caller, files, timed)
    })
    run <- new_run(config, result, description, seconds)
    record_run(context, run, phases, started)
    attr(run, "files") <- files_of_run(context, run)
    run
  }, resume)
}

#' @rdname ancify_run
#' @usage
#' ancify_project(config, threads = NULL, backend = NULL, resume = TRUE,
#'   BPPARAM = NULL, progress = interactive(), verbose = TRUE)
#' @export
ancify_project <- function(config, threads = NULL, backend = NULL, resume = TRUE, BPPARAM = NULL,
                           progress = interactive(), verbose = TRUE) {
  run <- ancify_run(config, "project", threads, backend, resume, BPPARAM, progress, verbose)
  attr(run, "alignments")
}

#' @rdname ancify_run
#' @usage
#' ancify_call(config, threads = NULL, backend = NULL, resume = TRUE,
#'   BPPARAM = NULL, progress = interactive(), verbose = TRUE)
#' @export
ancify_call <- function(config, threads = NULL, backend = NULL, resume = TRUE, BPPARAM = NULL,
                        progress = interactive(), verbose = TRUE) {
  ancify_run(config, "call", threads, backend, resume, BPPARAM, progress, verbose)
}

# "cpu" or "gpu" without a cluster; "tasks" with workers; "jobs" with a batch system.
kind_of_run <- function(work, cluster) {
  if (is.null(cluster)) {
    return(work$backend)
  }
  if (is_batch(cluster$given)) "jobs" else "tasks"
}

# Each task chooses its own backend on its machine.
session_work <- function(config, cluster, progress) {
  if (!is.null(cluster)) config$backend <- "cpu"
  config_work(config, progress)
}

log_what_stays_on_the_cpu <- function(context, phases) {
  config <- context$config
  log <- context$log
  no_code <- no_code_on_devices(config)
  if ("project" %in% phases) {
    goes <- is.null(no_code) && runs_as_one(context, phases, "gpu")
    log(paste0("Projection runs on the CPU", if (goes) "; its bases go to the GPU as they come"))
  }
  if ("call" %in% phases && !is.null(no_code)) log(no_code)
}

#' Evaluate the calls of a run
#'
#' @description
#' Counts the called positions of each chromosome. If the configuration's `evaluation` block names a
#' reference or known variants, also compares the calls with them:
#'
#' ```
#' ancify_evaluate("config.yaml")$reference_agreement_rate   # 0.981 0.979 ...
#' ```
#'
#' The calls are `<output_dir>/<chromosome>.fa`, as [ancify_run()] wrote them. The results also go
#' to `<output_dir>/evaluation/<chromosome>.evaluation.txt`.
#'
#' @inheritParams ancify_run
#' @return A data frame with one row per chromosome:
#'
#'   | Column | Content |
#'   |:-------|:--------|
#'   | `chromosome`, `total_positions` | name and length |
#'   | `high_confidence`, `low_confidence` | positions called with this confidence |
#'   | `missing`, `unresolved` | positions `N` and `n` |
#'   | `prop_nonmissing` | share called, with either confidence |
#'   | `prop_high_confidence` | share called with high confidence |
#'   | `reference_test_nonmissing` | share of positions with a call |
#'   | `reference_ref_nonmissing` | share of positions with a reference base |
#' | `reference_both_nonmissing` | number of positions with both |
#' | `reference_agreement_rate` | share of such positions with equal bases |
#' | `reference_disagreement_rate` | share of such positions with different bases |
#' | `vcf_num_variants` | number of variants |
#'   | `vcf_prop_nonmissing` | share of variants that are called |
#' | `vcf_matches_ref`, `vcf_matches_alt` | share of called variants called as REF, or as an ALT |
#' | `vcf_matches_either` | share of called variants called as either |
#'   | `vcf_unresolved`, `vcf_missing` | variants at `n` and `N` |
#'   | `vcf_other_records` | records of the chromosome that are not variants |
#'
#'   Without such files the `reference_` and `vcf_` columns are absent. The text file has these keys
#'   without prefixes, in the sections `[coverage]`, `[reference_comparison]` and
#'   `[vcf_comparison]`; `nan` stands for a division by zero.
#' @section Comparison files:
#' | Keys of `evaluation` | File |
#' |:---------------------|:-----|
#' | `reference_dir`, `reference_pattern` | a FASTA per chromosome, such as Ensembl's EPO |
#' | `vcf_dir`, `vcf_pattern` | a sorted VCF or BCF per chromosome, or one for all |
#'
#' * In a pattern, `{chrom}` stands for the chromosome's name, and `{chrom_id}` for the name without
#'   a leading `chr` (in any case).
#' * A reference is plain, gzip or bgzip, with any header. It must be as long as the chromosome, or
#'   have Ensembl's header for a part of it
#'   (`ANCESTOR_for_chromosome:GRCh37:Y:2649521:59034049:1`). All letters but A, C, G and T, in
#'   either case, are missing.
#' * A VCF needs no index. Its chromosome names may differ from the calls' by a leading `chr`.
#' * A variant is a record whose REF, and at least one ALT, is a single base. Other ALTs of the
#'   record are ignored.
#' @section Errors:
#' * `ancify_file_error`: a file is missing, or cannot be read or written.
#' * `ancify_format_error`: a VCF is damaged, truncated or unsorted; it lacks its header or the
#'   chromosome; it has positions beyond the chromosome's end; or a reference or the calls have
#'   another length. The message names the record and its line.
#' * `ancify_package_error`: variants need htslib, and the package was built without it.
#' * `ancify_config_error`: a setting cannot be used.
#' * `ancify_check_error`: an evaluation would replace a file that no run wrote.
#' * `ancify_lock_error`, `ancify_task_error`: see [ancify_run()].
#' * `ancify_input_error`: `config` is an earlier run whose files have been replaced.
#' * `ancify_evaluation_warning`: the calls were made with other settings.
#' @references Paten et al. (2008) Genome-wide nucleotide-level mammalian ancestor
#'   reconstruction. Genome Research 18:1829 (EPO).
#' @seealso [ancify_run()], whose phase `"evaluate"` performs this evaluation
#' @export
#' @examples
#' config <- ancify_example()
#' ancify_run(config, threads = 1, verbose = FALSE)
#' ancify_evaluate(config, threads = 1, verbose = FALSE)
ancify_evaluate <- function(config, threads = NULL, BPPARAM = NULL, progress = interactive(),
                            verbose = TRUE) {
  check_given()
  run <- ancify_run(config, "evaluate", threads, "cpu", TRUE, BPPARAM, progress, verbose)
  attr(run, "evaluation")
}
