#' Write a configuration to start from
#'
#' Writes a template with all settings of [ancify_config()]: their meanings and defaults. Fill in
#' the required settings, then give the file to [ancify_run()].
#'
#' @param path Path of the file to write; `"ancify.yaml"` by default. Its folder must exist, and the
#'   file must not.
#' @return `path`, invisibly.
#' @section Errors:
#' * `ancify_file_error` (field `file`): the file exists already, or cannot be written.
#' * `ancify_input_error`: `path` is not one path.
#' @seealso [ancify_config()], [ancify_settings()], [ancify_example()]
#' @export
#' @examples
#' path <- tempfile(fileext = ".yaml")
#' ancify_init(path)
#' cat(head(readLines(path), 12), sep = "\n")
ancify_init <- function(path = "ancify.yaml") {
  path <- check_path(path, "path")
  fail <- function(why) refuse_file(path, "%s %s", quoted(path), why)
  if (file.exists(path)) fail("exists already: remove it, or choose another path.")
  not_written <- function(condition) {
    fail("cannot be written: choose a folder that you may write to.")
  }
  tryCatch(writeLines(config_template(), path), error = not_written, warning = not_written)
  invisible(path)
}
