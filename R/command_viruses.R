# The command viruses: files of a detection in a folder.

viruses_command <- function(parsed) {
  size <- number_option(parsed$size, "--size") %||% 500
  threads <- threads_option(parsed)
  backend <- backend_option(parsed)
  jobs <- jobs_option(parsed)
  param <- cluster_option(parsed$cluster, jobs, threads, backend)
  hits <- detect_viruses(
    parsed$input, parsed$dna, parsed$protein, parsed$classifier, parsed$output, size,
    threads = threads, backend = backend, BPPARAM = param
  )
  print(hits)
  wrote(file.path(parsed$output, detection_files))
}

# The resources to request for jobs, without a configuration.
jobs_option <- function(parsed) {
  asked <- list(memory = parsed$job_memory, time = parsed$job_time, partition = parsed$partition)
  asked <- asked[lengths(asked) > 0]
  if (is.null(parsed$cluster) && length(asked)) {
    usage_error(requests_of_jobs[[names(asked)[1]]], " needs --cluster slurm")
  }
  if (!is.null(parsed$cluster) && is.null(asked$memory)) {
    usage_error("--cluster needs ", requests_of_jobs[["memory"]], ", such as 16G")
  }
  list(cluster = asked)
}

requests_of_jobs <- c(memory = "--job-memory", time = "--job-time", partition = "--partition")
