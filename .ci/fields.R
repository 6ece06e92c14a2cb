# Rscript .ci/fields.R [FOLDER]: lists of R and structs of the core, in the sources of FOLDER (.).
# Each table `fields("Struct", field("name", ...), ...)` of src/rcpp_* has one call
# core_list("Struct", name = , ...) in R with the same names. The glue reads lists by tables alone.
# The table of an event is its row of event_kinds() in the core. Exports have few arguments.
folder <- c(commandArgs(trailingOnly = TRUE), ".")[[1]]

most_arguments <- 5 # of an export

glue <- Sys.glob(file.path(folder, "src", "rcpp_*"))
text <- unlist(lapply(glue, readLines))
text <- paste(text[!grepl("^ *//", text)], collapse = " ")
# The table's text, up to the semicolon that ends it
starts <- gregexpr("= +fields\\([^;]*;", text)
tables <- regmatches(text, starts)[[1]]
struct <- sub("^[^\"]*\"([^\"]+)\".*", "\\1", tables)
names_in <- function(table, read) {
  found <- regmatches(table, gregexpr(paste0(read, "\\( *\"[^\"]+\""), table))[[1]]
  sort(sub(".*\"([^\"]+)\"", "\\1", found))
}
wanted <- lapply(tables, names_in, "field(_or_default)?")

events <- file.path(folder, "src", "core", "diffusion", "events.cpp")
events <- paste(readLines(events), collapse = " ")
rows <- gregexpr("\\{\"[a-z]+\", *\\[\\]\\(Fields.*?\\}\\}", events, perl = TRUE)
rows <- regmatches(events, rows)[[1]]
struct <- c(struct, sub("^[^\"]*\"([^\"]+)\".*", "\\1", rows))
wanted <- c(wanted, lapply(rows, function(row) sort(c("kind", names_in(row, "fields[.][a-z_]+")))))
names(wanted) <- struct

calls_in <- function(code) {
  if (!is.call(code)) {
    return(if (is.pairlist(code) || is.expression(code)) unlist(lapply(code, calls_in)))
  }
  own <- if (identical(code[[1]], as.name("core_list"))) list(as.list(code)[-1])
  c(own, unlist(lapply(as.list(code), function(part) if (!missing(part)) calls_in(part)),
                recursive = FALSE))
}
paths <- Sys.glob(file.path(folder, "R", "*.R"))
calls <- unlist(lapply(paths, function(path) {
  unlist(lapply(parse(path, keep.source = FALSE), calls_in), recursive = FALSE)
}), recursive = FALSE)
made <- stats::setNames(
  lapply(calls, function(call) sort(names(call)[-1])),
  vapply(calls, function(call) as.character(call[[1]]), "")
)

# Exports with more arguments than a reader keeps apart
exports <- parse(file.path(folder, "R", "RcppExports.R"), keep.source = FALSE)
long <- Filter(function(export) length(export[[3]][[2]]) > most_arguments, as.list(exports))

# Elements that are read without a table
reads <- unlist(lapply(glue[grepl("cpp$", glue)], function(path) {
  lines <- readLines(path)
  at <- grep("[a-z_)]\\[\"[a-z_]+\"\\]", lines)
  at <- at[!grepl("\"\\] =[^=]|package\\[", lines[at])]
  if (length(at)) paste0(basename(path), ":", at)
}))

both <- intersect(names(wanted), names(made))
differ <- both[!mapply(identical, wanted[both], made[both])]
names_of <- function(names) if (length(names)) paste(names, collapse = ", ") else "none"
problems <- c(
  sprintf("%s() has more than %d arguments: put settings into a list with a table of fields.",
          vapply(long, function(export) as.character(export[[2]]), ""), most_arguments),
  sprintf("%s reads an element of a list by its name: use a table of fields.", reads),
  sprintf("%s has two tables.", unique(struct[duplicated(struct)])),
  sprintf("core_list(\"%s\") is called twice.", unique(names(made)[duplicated(names(made))])),
  sprintf("core_list(\"%s\") has no table.", setdiff(names(made), struct)),
  sprintf("No core_list(\"%s\") makes the table's list.", setdiff(struct, names(made))),
  sprintf(
    "%s: only the core has %s; only R has %s.", differ,
    vapply(differ, function(name) names_of(setdiff(wanted[[name]], made[[name]])), ""),
    vapply(differ, function(name) names_of(setdiff(made[[name]], wanted[[name]])), "")
  )
)
writeLines(problems)
quit(status = length(problems) > 0)
