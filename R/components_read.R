# Components in files.

#' @rdname components
#' @export
read_components <- function(file) {
  check_given()
  file <- check_path(file, "file")
  check_is_file(file)
  read <- if (grepl("\\.json(\\.gz)?$", file)) components_in_json else components_in_table
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
  text <- paste(readLines(file, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
  sets <- tryCatch(jsonlite::fromJSON(text, simplifyVector = FALSE), error = function(condition) {
    refuse_components(file, NA, paste("it is not JSON:", trimws(conditionMessage(condition))))
  })
  is_set <- function(set) all(vapply(set, function(id) is.character(id) && length(id) == 1, NA))
  if (!is.list(sets) || is.null(names(sets)) || !all(vapply(sets, is.list, NA)) ||
    !all(vapply(sets, is_set, NA))) {
    refuse_components(
      file, NA, 'it must be a list of ids for each component, such as {"coding": ["rs1", "rs2"]}'
    )
  }
  data.frame(
    variant = as.character(unlist(sets)),
    component = factor(rep(names(sets), lengths(sets)), unique(names(sets)))
  )
}

components_in_table <- function(file) {
  lines <- readLines(file, warn = FALSE, encoding = "UTF-8")
  number <- which(grepl("[^[:space:]]", lines))
  fields <- strsplit(trimws(lines[number]), "[[:space:]]+")
  header <- c("variant", "component")
  if (length(fields) && identical(utils::head(fields[[1]], 2), header)) {
    fields <- fields[-1]
    number <- number[-1]
  }
  if (!length(fields)) refuse_components(file, NA, "it has no variant")
  wrong <- which(!lengths(fields) %in% 2:3 | lengths(fields) != length(fields[[1]]))[1]
  if (!is.na(wrong)) {
    refuse_components(
      file, number[wrong],
      sprintf("there are %d words; give a variant, a component and perhaps a weight on all lines",
              length(fields[[wrong]]))
    )
  }
  column <- function(i) vapply(fields, `[`, "", i)
  table <- data.frame(variant = column(1), component = column(2))
  if (length(fields[[1]]) == 3) {
    table$weight <- suppressWarnings(as.numeric(column(3)))
    bad <- which(!is.finite(table$weight))[1]
    if (!is.na(bad)) {
      refuse_components(file, number[bad], sprintf("the weight %s is no number",
                                                   quoted(column(3)[bad])))
    }
  }
  table
}
