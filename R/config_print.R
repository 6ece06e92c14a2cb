# How a configuration is printed.

#' @rdname ancify_config
#' @param x An `ancify_config`.
#' @param ... Not used.
#' @export
print.ancify_config <- function(x, ...) {
  write_object("ancify_config", x$file, config_fields(x))
  writeLines(strwrap(x$notes, min(80, getOption("width"))))
  invisible(x)
}

config_fields <- function(config) {
  outgroups <- config$outgroups
  species <- paste(format(outgroups$name), outgroups$alignment)
  c(
    `focal species` = config$focal_species,
    chromosomes = sprintf(
      "%s (%s bases)", enumerate(names(config$lengths)), format_count(sum(config$lengths))
    ),
    structure(species, names = ifelse(duplicated(outgroups$tier), "", outgroups$tier)),
    method = paste0(config$method, method_of(config)$shown(config)),
    `work folder` = config$work_dir,
    `output folder` = config$output_dir,
    threads = sprintf("%d, backend %s", config$num_cpus, config$backend),
    `also set` = paste(also_set(config), collapse = ", ")
  )
}

# Keys that print() does not show otherwise and that differ from their default.
also_set <- function(config) {
  keys <- config_keys()
  shown <- c(
    "focal_species", "chromosome_lengths", "chromosomes", "outgroups", "work_dir", "output_dir",
    "min_inner_freq", "min_outer_freq", "num_cpus", "backend", "method"
  )
  other <- setdiff(names(keys), shown)
  other[!vapply(other, function(name) identical(config[[name]], keys[[name]]$default), NA)]
}
