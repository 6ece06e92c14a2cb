# The look, before a run, at files that it would replace.

check_would_replace <- function(config, phases) {
  c(
    look_in_place(projections_place(config), projections_replaced(config, phases), config$file),
    look_in_place(calls_place(config), files_replaced(config, phases), config$file)
  )
}

look_in_place <- function(place, files, config_file) {
  others <- c(others_files(place, files), intersect(path_in(config_file, place$folder), files))
  if (length(others)) {
    finding("permission", place$key, "error", in_the_way(place, others[1], config_file),
            file.path(place$folder, others[1]))
  }
}
