# Files: paths that name one, and text that is written whole or not at all.

# The input would be gone; `vcf` itself may be replaced by what it becomes.
refuse_same_file <- function(out, ...) {
  inputs <- list(...)
  for (name in names(inputs)) {
    path <- inputs[[name]]
    if (!is.null(path) && normalizePath(path, mustWork = FALSE) ==
      normalizePath(out, mustWork = FALSE)) {
      abort_ancify(
        sprintf("`out` and `%s` are one file, %s: name another.", name, quoted(out)), "input"
      )
    }
  }
}

# The innermost of a path's folders that is there.
existing_folder <- function(path) {
  while (!is_there(path) && dirname(path) != path) path <- dirname(path)
  path
}

# Of a file or a folder inside that where it is used.
names_a_path <- function(names) {
  validUTF8(names) & !leaves_folder(names) & nchar(names, "bytes") <= core_limits()$name_bytes
}

leaves_folder <- function(names) {
  names %in% c("", ".", "..") | grepl("/", names, fixed = TRUE, useBytes = TRUE)
}

is_absolute <- function(path) {
  startsWith(path, "/")
}

absolute_path <- function(path) {
  if (is_absolute(path)) path else file.path(getwd(), sub("^(\\./)+", "", path))
}

input_problem <- function(key, path, folder) {
  kind <- if (folder) "folder" else "file"
  why <- if (!file.exists(path)) {
    sprintf("there is no such %s; correct the path", kind)
  } else if (dir.exists(path) != folder) {
    sprintf("a %s is needed; correct the path", kind)
  } else if (file.access(path, 4) != 0) {
    sprintf("this %s can't be read; check its permissions", kind)
  }
  if (!is.null(why)) {
    sprintf("`%s` is %s: %s.", key, quoted(path), why)
  }
}

package_version_text <- function() as.character(utils::packageVersion("ancify"))

is_file <- function(paths) is_there(paths) & !dir.exists(paths)

# A link to what is not, such as a disk that is not mounted, is there too.
is_there <- function(paths) {
  file.exists(paths) | !Sys.readlink(paths) %in% c("", NA)
}

# Of a file in the folder its path there, else nothing.
path_in <- function(file, folder) {
  if (is.null(file)) {
    return(character())
  }
  folder <- paste0(normalizePath(folder, mustWork = FALSE), "/")
  file <- normalizePath(file, mustWork = FALSE)
  if (startsWith(file, folder)) substring(file, nchar(folder) + 1) else character()
}

remove_files <- function(paths) {
  unlink(paths, expand = FALSE)
  left <- paths[file.exists(paths)]
  if (length(left)) {
    abort_ancify(
      sprintf("%s can't be removed, but belongs to earlier calls: remove it.", quoted(left[1])),
      "file", file = left[1]
    )
  }
}

# With as many digits as each number needs to be read again as itself.
exact_text <- function(x) {
  text <- sprintf("%.15g", x)
  finite <- which(is.finite(x))
  for (digits in c("%.16g", "%.17g")) {
    longer <- finite[as.numeric(text[finite]) != x[finite]]
    text[longer] <- sprintf(digits, x[longer])
  }
  text[is.na(x)] <- "nan"
  text[is.infinite(x)] <- ifelse(x[is.infinite(x)] > 0, "inf", "-inf")
  text
}

# Before the training, at whose end it would be too late.
check_output_file <- function(file, name = "file") {
  file <- check_path(file, name)
  if (dir.exists(file)) {
    abort_ancify(
      sprintf("`%s` is %s, which is a folder: name the file in it.", name, quoted(file)), "file",
      file = file
    )
  }
  file
}

# write(path) writes a file beside `path`, which then takes its name.
write_whole <- function(path, write) {
  dir.create(dirname(path), showWarnings = FALSE, recursive = TRUE)
  temporary <- temporary_name(path)
  on.exit(unlink(temporary, expand = FALSE))
  fail <- function(...) {
    abort_ancify(
      sprintf("Can't write %s; may you write to its folder, and is there space?", quoted(path)),
      "file",
      file = path
    )
  }
  if (!suppressWarnings(file.create(temporary))) fail()
  write(temporary)
  if (!suppressWarnings(file.rename(temporary, path))) fail()
}

# Lines of text, as UTF-8, which are on the disk when the file appears.
write_text <- function(path, lines) {
  dir.create(dirname(path), showWarnings = FALSE, recursive = TRUE)
  write_file_impl(path, charToRaw(paste0(enc2utf8(lines), "\n", collapse = "")))
}

# A name like those of the core's temporary files, which is not taken.
temporary_name <- function(path) {
  tempfile(paste0(basename(path), core_limits()$temporary, Sys.getpid(), "-"), dirname(path))
}
