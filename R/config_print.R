# Prints a configuration.

#' @export
print.ancify_config <- function(x, ...) {
  write_object("ancify_config", if (!is.null(x$file)) on_one_line(x$file), config_fields(x))
  writeLines(strwrap(x$notes, min(80, getOption("width"))))
  invisible(x)
}

config_fields <- function(config) {
  outgroups <- config$outgroups
  species <- on_one_line(paste(format(outgroups$name), outgroups$alignment))
  c(
    `focal species` = config$focal_species,
    chromosomes = sprintf(
      "%s (%s bases)", enumerate(names(config$lengths)), format_count(sum(config$lengths))
    ),
    structure(species, names = ifelse(duplicated(outgroups$tier), "", outgroups$tier)),
    method = paste0(config$method, method_of(config)$shown(config)),
    `work folder` = on_one_line(config$work_dir),
    `output folder` = on_one_line(config$output_dir),
    threads = sprintf("%d, backend %s", config$num_cpus, config$backend),
    `also set` = paste(also_set(config), collapse = ", ")
  )
}

# Settings without a line of their own that differ from their defaults.
also_set <- function(config) {
  keys <- Filter(function(key) !key$printed, config_keys())
  is_default <- Map(function(name, key) identical(config[[name]], key$default), names(keys), keys)
  names(keys)[!unlist(is_default)]
}
