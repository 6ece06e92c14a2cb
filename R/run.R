#' Call the ancestral alleles of a genome
#'
#' Carries out a configuration: projects each outgroup's alignment onto the focal
#' genome's coordinates, then calls the ancestral base at every position.
#'
#' Phase `"project"` writes `<work_dir>/projected/<species>/<chromosome>.fa`,
#' several alignments at once; phase `"call"` reads these files, whoever made
#' them, and writes `<output_dir>/<chromosome>.fa`: one line, exactly as long as
#' the chromosome, `ACGT` for calls of high confidence, `acgt` for low, `n` where
#' the outgroups leave it open and `N` where they have no data, as
#' [call_ancestral()] explains for each method. A file appears when it is complete,
#' only in place of one that an earlier run wrote: projections that others made are for the phase
#' `"call"` alone. Phase `"evaluate"` compares the
#' calls with a reference and with known variants, as [ancify_evaluate()] explains; beside other
#' phases it runs only where the configuration has an `evaluation` block.
#'
#' With `estimate: true` the phase `"call"` begins by a fit to the projected
#' sequences' pattern counts ([count_patterns()], [fit_substitution_model()]): for
#' the method likelihood the branch lengths and the substitution model, for
#' coalescent also the history (its focal size and mutation rate remain as they are
#' given). `rate_alpha` and `invariant` are fitted if they are set. What was fitted
#' is in `<output_dir>/fitted_model.yml` and `fitted_history.yml`, as keys of a
#' configuration, with the fit's figures as comments. The fit takes the focal bases
#' from `focal_fasta`, or else from the alignments' focal rows, and they are kept in
#' `<work_dir>/projected/<focal_species>`.
#'
#' With `posterior: true` the error of each call, phred-scaled in one byte a
#' position, goes to `<output_dir>/posterior/<chromosome>.phred`, which
#' [read_posterior()] and [export_posterior()] read.
#'
#' Before calls are made anew, the run removes what belongs to earlier calls: evaluations of these
#' chromosomes, posteriors, `fitted_model.yml`, `fitted_history.yml` and `ancify_run.json`. Calls
#' that stay keep their evaluation.
#'
#' With `keep_projected: false` both phases run as one: the projected sequences
#' stay in memory, half a byte a position and outgroup, and are never written. With
#' `estimate: true` they are, in a new folder in `work_dir` that is removed at the
#' end, also after an error; earlier projections stay as they are.
#'
#' On a GPU the alignments are read and checked by the CPU all the same. Where both phases run
#' and nothing is estimated, they run as one: the projected bases go to the GPUs' memory as they
#' come, a byte a position and outgroup, and are called there; with `keep_projected: true` the
#' files are written too. What does not fit `gpu_memory` goes there in tiles later, from the
#' files or from the computer's memory; the log tells so. The phase `"call"` without the other
#' sends the files' bases in tiles.
#'
#' With `focal_fasta` the focal letters of every block are compared with that genome. It is
#' read once, before the alignments: into `<work_dir>/projected/<focal_species>`, or with
#' `keep_projected: false` into half a byte of memory a position.
#'
#' All settings and files are checked before any work starts, and what [ancify_check()] looks
#' at: the first part of every alignment, disk, permissions and memory. The run can be
#' interrupted at any time, which leaves no incomplete file.
#'
#' @param config Path of a YAML file, a list, or what [ancify_config()] or an earlier run returned.
#' @param phases Which phases to run: one or more of `"project"`, `"call"` and `"evaluate"`; all
#'   by default.
#' @param threads Threads; `NULL` (the default) for `num_cpus` of the
#'   configuration (default 4).
#' @param backend `"auto"`, `"cpu"` or `"gpu"`; `NULL` (the default) for
#'   `backend` of the configuration (default `"auto"`), as [call_ancestral()]
#'   explains them. On GPUs the calls are made, chromosome by chromosome in turn on
#'   those of `gpu_devices`.
#' @param resume Whether to go on from what earlier runs have finished, as by default; `FALSE`
#'   makes all anew.
#' @param BPPARAM A `BiocParallelParam`, such as `BiocParallel::SnowParam(4)` or [slurm_param()],
#'   whose workers carry out the run in tasks; `NULL` (the default) for this process alone.
#' @param progress Whether to show a progress bar for phases that take more than two seconds; by
#'   default in interactive sessions alone.
#' @param verbose Whether to log what is done, as by default, as messages of class
#'   `ancify_message`; the first line says which backend and how many threads.
#' @return `ancify_run()` and `ancify_call()` give a data frame of class `ancify_run` with one row a
#'   chromosome:
#'   `chromosome`; `length` in bases; the numbers of positions called with
#'   `high` and with `low` confidence, `unresolved` and `missing` (`NA` without
#'   the phase `"call"`); `file`, the path of the calls.
#'   Attributes: `alignments`, a data frame with one row an outgroup (`species`,
#'   `tier`, `alignment`, the blocks `used`, `bad` and `passed_over`, and the
#'   `duplicates`, rows of a species that its block of a MAF had already; `bad` and
#'   `duplicates` are those on all chromosomes of the run that read the alignment);
#'   `config`; `backend`, as the log has it; `seconds`, by phase; where
#'   `estimate` is true `fit`, an `ancify_fit`, and `history`; `evaluation`, what
#'   [ancify_evaluate()] gives, where that phase ran. `ancify_project()` gives the attribute
#'   `alignments`.
#' @section What is done again:
#' A run does only what is left. Each folder has a ledger, `.ancify/ledger`, of the files that runs
#' wrote there: what each was made from (inputs, the settings that matter, the package's version),
#' its size and its CRC-32. A file is made again where one of these differs, or where it is missing.
#' So a run that was killed is started again with the same configuration, and ends with the same
#' bytes. The log tells what stays as it is.
#'
#' | File | Final | Made again |
#' |:-----|:------|:-----------|
#' | projections of an outgroup | when its alignment is read to the end | with another alignment |
#' | calls of a chromosome | one by one | with other projections or settings |
#' | the fit of `estimate: true` | when it has converged | with other projections or settings |
#' | evaluations | at the end | always |
#'
#' With `keep_projected: false` the alignments are read again for chromosomes that are left.
#'
#' *Inputs.* An input is known by its inode, its size, and the times of the last change of its
#' contents and of any change. These are taken when the run begins, and compared when the file is
#' opened and at the end of reading. A file that was replaced or changed meanwhile is an error:
#' start the run again. A copy, a renamed file, or one whose permissions were changed is another
#' input.
#'
#' *Your files.* A run replaces and removes only files of its ledger. It ends before any work where
#' another file is in the way, and before it writes where one came meanwhile. A folder that is moved
#' or copied with its ledger is gone on with; without it, all files there are yours.
#'
#' *Locks.* A run locks `work_dir` and `output_dir` while it works there (`.ancify.lock`). The lock
#' ends with the process, however that ends. The next run removes what a killed one left under
#' temporary names. A run ends where `.ancify.lock` is a link, or not a run's.
#'
#' *The report.* A run that calls leaves `<output_dir>/ancify_run.json`: versions, backend,
#' settings, inputs with their identities and checksums, counts and checksums of the chromosomes'
#' files, seconds by phase, fit and evaluation. Versions, backend, host and times are those of the
#' last run, also where earlier ones had made the calls. [ancify_report()] makes a page of it.
#' @section In tasks:
#' With `BPPARAM` each alignment is a task of its own, the largest file first, then each chromosome,
#' the longest first; chromosomes below a tenth of the longest share tasks, and there are at most
#' about 200. Evaluation has tasks by chromosome too, and a fit and `focal_fasta` are one each. The
#' result is the same to the byte.
#'
#' The workers must see the same files by the same paths, and find the same version of this
#' package: they get the calling session's library paths, working directory and options of
#' `ancify`. Each task uses `num_cpus` threads; forked workers (`MulticoreParam`) use one, and no
#' GPU. Where tasks call on GPUs, those of a batch system take what their job was given, and
#' others one GPU of their machine each, which they wait for. Projections always go to files, with
#' `keep_projected: false` to `<work_dir>/.ancify/not_kept`, which is removed after the last call.
#'
#' A task's log and outcome are in `<work_dir>/.ancify/tasks/<task>`; the calling session tells of
#' a task when it has ended, shows how many have, and alone holds the locks and writes the record.
#' A task that fails leaves the others alone: when these have ended, an `ancify_task_error` names
#' each failure with its host or job, and the next run does what is left. An interrupt cancels
#' queued and running tasks. Should the calling session be killed, tasks at work go on, and those
#' that wait do nothing; a later run takes over what they finish, and while one is at work it is
#' an `ancify_lock_error` that names it.
#' @section Errors:
#' `ancify_config_error` for settings that can't be used. `ancify_check_error` for what the look
#' before the run finds, with all findings in the field `problems` and the whole table in
#' `checks`; where they are of one kind it is an `ancify_format_error` or `ancify_file_error` too,
#' with `file` and `line` of the first.
#' What is suspicious, such as an inner outgroup that differs more than an outer one, is an
#' `ancify_check_warning` with the fields `check`, `subject` and `file`. `ancify_file_error`,
#' `ancify_format_error` and `ancify_device_error` as [project_axt()] and [call_ancestral()] give
#' them.
#' What the alignments lack is an `ancify_projection_warning`. `ancify_lock_error` where another
#' run, whose process and host it names, works in one of the folders. `ancify_task_error` (fields
#' `problems` and `tasks`) where tasks of `BPPARAM` failed; where their errors are of one kind it is
#' of that class too, with `file` and `line` of the first.
#' @seealso [ancify_init()] for a configuration to start from, [ancify_check()] for its inputs,
#'   `vignette("cluster", "ancify")`
#' @export
#' @examples
#' run <- ancify_run(ancify_example(), threads = 1)
#' run
#' readLines(run$file[1])[2] |> substr(2001, 2060)
#'
#' # One phase after the other, in a folder of its own
#' config <- ancify_example(tempfile("phases-"))
#' ancify_project(config, threads = 1, verbose = FALSE)
#' ancify_call(config, threads = 1, verbose = FALSE)
#' @examplesIf requireNamespace("BiocParallel", quietly = TRUE)
#'
#' # In tasks
#' ancify_run(ancify_example(), resume = FALSE, BPPARAM = BiocParallel::SerialParam())
ancify_run <- function(config, phases = c("project", "call", "evaluate"), threads = NULL,
                       backend = NULL, resume = TRUE, BPPARAM = NULL, progress = interactive(),
                       verbose = TRUE) {
  check_given()
  phases <- check_phases(phases)
  check_flag(resume, "resume")
  check_flag(progress, "progress")
  check_flag(verbose, "verbose")
  given <- config
  config <- read_config(given, phases)
  phases <- phases_asked_for(phases, config)
  check_own_calls(given, phases)
  config$backend <- backend %||% config$backend
  refuse_unkept_alone(config, phases)
  config$num_cpus <- resolve_threads(threads %||% config$num_cpus)
  log <- log_where(verbose)
  cluster <- new_cluster(BPPARAM, config, progress, log)
  backend <- session_backend(config, cluster)
  kind <- kind_of_run(backend, cluster)
  log(paste("Using", backend$description))
  for (note in config$notes) log(note)
  config <- with_alignments(config, phases)
  check_inputs(config, phases, backend, kind, progress, log)
  files <- if ("evaluate" %in% phases) files_to_compare(config, phases, log)
  caller <- NULL
  if ("call" %in% phases) {
    check_before_work(config, log)
    config <- with_inputs(config, unlist(method_of(config)$files(config)))
    # Before any work, for it checks what a method needs; a fit makes its own.
    if (!fits_model(config)) {
      caller <- config_caller(config, run_settings(config, verbose), backend, progress)
    }
  }

  work_in(new_context(config, backend, cluster, progress, verbose), phases, function(context) {
    if (kind == "gpu") log_what_stays_on_the_cpu(context, phases)
    started <- Sys.time()
    seconds <- c()
    timed <- function(name, job, ...) {
      start <- proc.time()[["elapsed"]]
      result <- job(...)
      for (ledger in list(context$work, context$output)) save_ledger(ledger, at_once = TRUE)
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
    run <- new_run(config, result, backend$description, seconds)
    record_run(context, run, phases, started)
    attr(run, "files") <- files_of_run(context, run)
    run
  }, resume)
}

#' @rdname ancify_run
#' @export
ancify_project <- function(config, threads = NULL, backend = NULL, resume = TRUE, BPPARAM = NULL,
                           progress = interactive(), verbose = TRUE) {
  run <- ancify_run(config, "project", threads, backend, resume, BPPARAM, progress, verbose)
  attr(run, "alignments")
}

#' @rdname ancify_run
#' @export
ancify_call <- function(config, threads = NULL, backend = NULL, resume = TRUE, BPPARAM = NULL,
                        progress = interactive(), verbose = TRUE) {
  ancify_run(config, "call", threads, backend, resume, BPPARAM, progress, verbose)
}

# "cpu" or "gpu"; "tasks" on machines like this one, or "jobs" of a batch system.
kind_of_run <- function(backend, cluster) {
  if (is.null(cluster)) {
    return(backend$kind)
  }
  if (is_batch(cluster$given)) "jobs" else "tasks"
}

# Tasks choose their own, where they run.
session_backend <- function(config, cluster) {
  if (is.null(cluster)) {
    return(choose_backend(
      config$backend, config$num_cpus, config$gpu_devices, config$gpu_memory
    ))
  }
  backend <- choose_backend("cpu", config$num_cpus)
  backend$description <- describe_cluster(cluster)
  backend
}

log_what_stays_on_the_cpu <- function(context, phases) {
  config <- context$config
  log <- context$log
  on_gpu <- runs_on_devices(method_of(config), nrow(config$outgroups))
  if ("project" %in% phases) {
    goes <- on_gpu && runs_as_one(context, phases, "gpu")
    log(paste0("Projection runs on the CPU", if (goes) "; its bases go to the GPU as they come"))
  }
  if ("call" %in% phases && !on_gpu) {
    log("The method has no GPU code for so many outgroups: it calls on the CPU")
  }
}

#' Evaluate the calls of a run
#'
#' How much of each chromosome is called, how far the calls agree with a reference,
#' and how often they are an allele of a known variant.
#'
#' The calls are `<output_dir>/<chromosome>.fa`, as [ancify_run()] wrote them. With what
#' they are compared stands in the configuration's `evaluation`:
#' * `reference_dir` and `reference_pattern`: a FASTA file a chromosome, such as
#'   Ensembl's EPO ancestral sequences (plain, gzip or bgzip; any name in the header,
#'   lines of any length), exactly as long as the chromosome, or called as Ensembl calls a
#'   part of it (`ANCESTOR_for_chromosome:GRCh37:Y:2649521:59034049:1`). Case is ignored, and
#'   all but A, C, G and T is missing (EPO's `-`, `.` and `N` too).
#' * `vcf_dir` and `vcf_pattern`: a VCF or BCF file a chromosome, or one for all,
#'   sorted; with or without an index. Chromosomes may be named with or without a leading
#'   `chr`. A variant is a record whose REF is one base and of which an ALT is; other ALTs
#'   of the record do not count.
#'
#' In the patterns `{chrom}` stands for the chromosome's name and `{chrom_id}` for the
#' name without a leading `chr`, in upper case too.
#'
#' The results also go to `<output_dir>/evaluation/<chromosome>.evaluation.txt`, in the
#' sections `[coverage]`, `[reference_comparison]` and `[vcf_comparison]`, the last two
#' where they were asked for, with the keys below; there the last two sections' keys stand
#' without the prefix, and `nan` is what has nothing to divide by.
#'
#' @inheritParams ancify_run
#' @return A data frame with a row a chromosome, `chromosome` its name.
#'
#'   Coverage: `total_positions`; of these `high_confidence`, `low_confidence`, `missing`
#'   (`N`); the shares of them `prop_nonmissing` (called with either confidence) and
#'   `prop_high_confidence`; `unresolved` (`n`).
#'
#'   With a reference: `reference_test_nonmissing` and `reference_ref_nonmissing`, the
#'   shares of positions that the calls and the reference have a base for;
#'   `reference_both_nonmissing`, how many both have; `reference_agreement_rate` and
#'   `reference_disagreement_rate`, shares of these.
#'
#'   With variants: `vcf_num_variants`; `vcf_prop_nonmissing`, the share of them that is
#'   called; of those called the shares `vcf_matches_ref`, `vcf_matches_alt` and
#'   `vcf_matches_either`; how many are `vcf_unresolved` (`n`) and `vcf_missing` (`N`);
#'   `vcf_other_records`, records of the chromosome that are no variant as above.
#' @section Errors:
#' `ancify_file_error` for files that are missing or can't be read or written;
#' `ancify_format_error`, with the record and its line, for a VCF that is damaged, cut
#' short or not sorted, lacks a header or the chromosome, or has positions behind its end,
#' and for a reference, or calls, of another length; `ancify_package_error` where variants are asked
#' for and the package was built without htslib; `ancify_config_error` for the
#' configuration; `ancify_check_error` where files that no run wrote are in the way;
#' `ancify_lock_error` and `ancify_task_error` as [ancify_run()] gives them. Calls
#' that a run with other settings made are an `ancify_evaluation_warning`; where `config` is a run
#' whose files are others by now, that is an `ancify_input_error`.
#' @references Paten et al. (2008) Genome-wide nucleotide-level mammalian ancestor
#'   reconstruction. Genome Research 18:1829 (EPO).
#' @seealso [ancify_run()], whose phase `"evaluate"` does the same
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
