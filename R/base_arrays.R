# Arrays and objects in files: NumPy's, RDS, and csv.

# The extension of a file's name in lower case, ignoring an extension of compression.
ending_of <- function(file) {
  tolower(tools::file_ext(sub("[.](gz|bgz|zst)$", "", file)))
}

is_csv <- function(file) ending_of(file) == "csv"

# The arrays of a .npy or .npz, by name. A .npy's array has the name of its file.
arrays_in <- function(file) {
  arrays <- with_watch("Reading", function(watch) read_numpy_impl(file, watch))
  unnamed <- !nzchar(names(arrays))
  names(arrays)[unnamed] <- tools::file_path_sans_ext(basename(file))
  arrays
}

# Before R 4.4, a file in this format could run code when its object was used.
rds_is_safe <- function() getRversion() >= "4.4.0"

object_in_rds <- function(file) {
  if (!rds_is_safe()) {
    refuse_file(file, paste(
      "%s: files in RDS are read from R 4.4 on, as they may run code in older versions. Read it by",
      "readRDS if you trust it, and give the object."
    ), quoted(file))
  }
  bytes <- with_watch("Reading", function(watch) read_inflated_impl(file, watch))
  tryCatch(unserialize(bytes), error = function(condition) {
    abort_ancify(
      sprintf("%s: this is no RDS file of R, plain or gzip: %s.", quoted(file),
              trimws(conditionMessage(condition))),
      "format", file = file
    )
  })
}
