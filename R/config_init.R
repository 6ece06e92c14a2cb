#' Write a configuration to start from
#'
#' Writes a template with every key of [ancify_config()], its default and a line
#' of explanation. Fill in the names and paths, and it is ready for
#' [ancify_run()].
#'
#' @param path Path of the file to write, as one text; its folder must exist.
#'   Default `"ancify.yaml"`. A file that exists is never overwritten.
#' @return `path`, invisibly.
#' @section Errors:
#' `ancify_file_error` with the field `file` where the file exists already or
#' can't be written, `ancify_input_error` where `path` is not one path.
#' @seealso [ancify_config()], [ancify_example()]
#' @export
#' @examples
#' path <- tempfile(fileext = ".yaml")
#' ancify_init(path)
#' cat(head(readLines(path), 12), sep = "\n")
ancify_init <- function(path = "ancify.yaml") {
  path <- check_path(path, "path")
  if (file.exists(path)) {
    abort_ancify(
      sprintf("%s exists already; remove it or choose another path.", quoted(path)), "file",
      file = path
    )
  }
  template <- system.file("templates", "config.yaml", package = "ancify", mustWork = TRUE)
  if (!suppressWarnings(file.copy(template, path, copy.mode = FALSE))) {
    abort_ancify(
      sprintf("Can't write %s; does its folder exist, and may you write there?", quoted(path)),
      "file",
      file = path
    )
  }
  invisible(path)
}
