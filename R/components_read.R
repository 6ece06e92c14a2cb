# Components in files.

#' @rdname components
#' @export
read_components <- function(file) {
  check_args(file = file_in())
  read <- if (grepl("\\.json(\\.(gz|bgz|zst))?$", file)) components_in_json else components_in_table
  rows <- read(file)
  tryCatch(components_of_table(rows), ancify_input_error = function(condition) {
    abort_ancify(paste0(quoted(file), ": ", conditionMessage(condition)), "format", file = file)
  })
}

refuse_components <- function(file, line, problem) {
  place <- if (is.na(line)) "" else sprintf(", line %s", number_text(line))
  abort_ancify(
    sprintf("%s%s: %s.", quoted(file), place, problem), "format", file = file,
    line = if (!is.na(line)) line
  )
}

components_in_json <- function(file) {
  sets <- tryCatch(read_json_file(file), error = function(condition) {
    if (inherits(condition, "ancify_error")) stop(condition)
    refuse_components(file, NA, paste("it is not JSON:", trimws(conditionMessage(condition))))
  })
  is_set <- function(set) all(vapply(set, function(id) is.character(id) && length(id) == 1, NA))
  if (!is.list(sets) || is.null(names(sets)) || !all(vapply(sets, is.list, NA)) ||
    !all(vapply(sets, is_set, NA))) {
    refuse_components(
      file, NA, 'it must be a list of ids for each component, such as {"coding": ["rs1", "rs2"]}'
    )
  }
  twice <- anyDuplicated(names(sets))
  if (twice) {
    refuse_components(
      file, NA, sprintf("it has the component %s twice: join its lists", quoted(names(sets)[twice]))
    )
  }
  data.frame(
    variant = as.character(unlist(sets)),
    component = factor(rep(names(sets), lengths(sets)), unique(names(sets)))
  )
}

components_in_table <- function(file) {
  read <- with_watch("Reading", function(watch) {
    read_words_impl(file, 2L, 3L, c("variant", "component"), watch)
  })
  if (!length(read$line)) refuse_components(file, NA, "it has no variant")
  table <- data.frame(variant = read$columns[[1]], component = read$columns[[2]])
  if (length(read$columns) == 3) {
    text <- read$columns[[3]]
    table$weight <- suppressWarnings(as.numeric(text))
    bad <- which(!is.finite(table$weight))[1]
    if (!is.na(bad)) {
      refuse_components(file, read$line[bad], sprintf("the weight %s is no number",
                                                      quoted(text[bad])))
    }
  }
  table
}
