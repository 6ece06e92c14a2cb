# Paths, and files that appear whole or not at all.

# `out` must not overwrite an input, whatever links lead there. Files are replaced by renaming, so
# another hard link of an input is safe. `...`: paths, by the names of their arguments; `name` is
# that of `out`.
refuse_same_file <- function(out, ..., name = "out") {
  inputs <- Filter(Negate(is.null), list(...))
  is_read <- vapply(inputs, function(paths) {
    normalizePath(out, mustWork = FALSE) %in% normalizePath(paths, mustWork = FALSE)
  }, NA)
  if (any(is_read)) {
    abort_ancify(
      sprintf("`%s` and `%s` are one file, %s: choose another `%s`.", name,
              names(inputs)[is_read][1], quoted(out), name),
      "input"
    )
  }
}

# The path itself if it exists, else the innermost of its folders that does.
existing_folder <- function(path) {
  while (!is_there(path) && dirname(path) != path) path <- dirname(path)
  path
}

# TRUE for names of a file or folder that cannot lead out of its own folder.
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
    sprintf("this %s cannot be read; check its permissions", kind)
  }
  if (!is.null(why)) {
    sprintf("`%s` is %s: %s.", key, quoted(path), why)
  }
}

package_version_text <- function() as.character(utils::packageVersion("ancify"))

is_file <- function(paths) is_there(paths) & !dir.exists(paths)

# A link to nothing, as to a disk that is not mounted, exists too.
is_there <- function(paths) {
  file.exists(paths) | !Sys.readlink(paths) %in% c("", NA)
}

# Whether `x` is the path of a VCF or BCF, by its name, or a VcfFile.
is_variant_path <- function(x) {
  x <- path_of(x)
  is.character(x) && length(x) == 1 && grepl("\\.(vcf|vcf\\.gz|vcf\\.bgz|bcf)$", x)
}

# The path of `file` relative to `folder`, or nothing if it is outside.
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
      sprintf("Cannot remove %s of an earlier call: remove it by hand.", quoted(left[1])),
      "file", file = left[1]
    )
  }
}

# Numbers as text, with as many digits as each needs to be read back exactly.
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

# A table with tabs, and a line of names.
tsv_lines <- function(table) {
  cells <- lapply(table, function(column) {
    if (is.double(column)) ifelse(is.na(column), "NA", exact_text(column)) else column
  })
  c(paste(names(table), collapse = "\t"), do.call(paste, c(unname(cells), sep = "\t")))
}

# Call it before long work whose result goes to `file`.
check_output_file <- function(file, name = "file") {
  file <- check_path(file, name)
  if (dir.exists(file)) {
    abort_ancify(
      sprintf("`%s` is %s, which is a folder: add the name of a file.", name, quoted(file)), "file",
      file = file
    )
  }
  if (are_special_files_impl(file)) {
    abort_ancify(
      sprintf("`%s` is %s, a device or a pipe: choose another path.", name, quoted(file)), "file",
      file = file
    )
  }
  file
}

# write(temporary) writes a file beside `path`. The file then takes the name `path`.
write_whole <- function(path, write) {
  dir.create(dirname(path), showWarnings = FALSE, recursive = TRUE)
  temporary <- temporary_name(path)
  on.exit(unlink(temporary, expand = FALSE))
  fail <- function(...) {
    abort_ancify(
      sprintf("Cannot write %s; check the folder's permissions and the free space.", quoted(path)),
      "file",
      file = path
    )
  }
  if (!suppressWarnings(file.create(temporary))) fail()
  write(temporary)
  if (!suppressWarnings(file.rename(temporary, path))) fail()
}

# Lines of text as UTF-8, synced to the disk before the file appears.
write_text <- function(path, lines) {
  dir.create(dirname(path), showWarnings = FALSE, recursive = TRUE)
  write_file_impl(path, charToRaw(paste0(enc2utf8(lines), "\n", collapse = "")))
}

# A free name of the form that the core gives temporary files.
temporary_name <- function(path) {
  tempfile(paste0(basename(path), core_limits()$temporary, Sys.getpid(), "-"), dirname(path))
}
