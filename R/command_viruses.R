# The command viruses: files of a detection in a folder.

viruses_command <- function(parsed) {
  size <- number_option(parsed$size, "--size") %||% 500
  hits <- detect_viruses(
    parsed$input, parsed$dna, parsed$protein, parsed$classifier, parsed$output, size,
    threads = threads_option(parsed), backend = backend_option(parsed)
  )
  print(hits)
  wrote(file.path(parsed$output, detection_files))
}
