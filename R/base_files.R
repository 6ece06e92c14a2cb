# Paths, and files that are written atomically.

# Refuses an `out` that would overwrite an input, even through links. Files are replaced by
# renaming, so another hard link of an input is safe. `...`: paths of inputs, named by their
# arguments; `name`: the argument of `out`.
refuse_same_file <- function(out, ..., name = "out") {
  inputs <- Filter(Negate(is.null), list(...))
  is_read <- vapply(inputs, function(paths) {
    normalizePath(out, mustWork = FALSE) %in% normalizePath(paths, mustWork = FALSE)
  }, NA)
  refuse_if(any(is_read), "`%s` and `%s` are one file, %s: choose another `%s`.", name,
            names(inputs)[is_read][1], quoted(out), name)
}

# The path itself if it exists, else the innermost existing folder above it.
existing_folder <- function(path) {
  while (!is_there(path) && dirname(path) != path) path <- dirname(path)
  path
}

# TRUE for names of files or folders that cannot escape their folder. Names with blanks, control
# characters or bytes that are not UTF-8 are FALSE too.
names_a_path <- function(names) are_file_names_impl(as.character(names))

# Species' names may also contain blanks. Chromosomes' names may not: in alignments, a blank ends
# them.
names_a_species <- function(names) {
  names_a_path(gsub(" ", "_", names, fixed = TRUE, useBytes = TRUE))
}

# The requirements for a name, for messages.
name_advice <- function(blanks = FALSE) {
  sprintf("rename it, in UTF-8 of at most %d bytes without %scontrol characters and \"/\"",
          core_limits()$name_bytes, if (blanks) "" else "blanks, ")
}

# The files of chromosomes. Their names come from input files, so none may escape its folder.
chromosome_file <- function(chromosomes, ending) {
  bad <- chromosomes[!names_a_path(chromosomes)]
  refuse_if(length(bad), "The chromosome %s cannot name a file: %s.", show_value(bad[1]),
            name_advice())
  paste0(chromosomes, ending, recycle0 = TRUE)
}

sequence_path <- function(folder, chromosome) file.path(folder, sequence_file(chromosome))

sequence_file <- function(chromosome) chromosome_file(chromosome, ".fa")

# Inserts a chromosome into a file name. Placeholders inside a chromosome's name are not replaced.
# {chrom_id} of Chr1 is 1 too, as in the Python tool.
fill_pattern <- function(pattern, chromosomes) {
  ids <- without_chr(chromosomes)
  names <- list(`{chrom}` = chromosomes, `{chrom_id}` = ids)
  found <- gregexpr("\\{chrom(_id)?\\}", pattern)
  marks <- regmatches(pattern, found)[[1]]
  between <- regmatches(pattern, found, invert = TRUE)[[1]]
  filled <- rep(between[1], length(chromosomes))
  for (i in seq_along(marks)) filled <- paste0(filled, names[[marks[i]]], between[i + 1])
  filled
}

# The files of a pattern by chromosome, under any spelling of its name; NA where none exists.
pattern_files <- function(pattern, chromosomes) {
  first_existing(function(names) fill_pattern(pattern, names), chromosomes)
}

no_pattern_file <- function(name, path, pattern, chromosomes) {
  sprintf(
    "`%s` is %s, which has no file for %s, with or without a leading 'chr' (such as %s).", name,
    quoted(path), enumerate(quoted(chromosomes)), quoted(fill_pattern(pattern, chromosomes[1]))
  )
}

# The first existing file of path_of(names) for each chromosome; NA where none exists. Names come
# from input files, so a name that would escape the folder has no file.
first_existing <- function(path_of, chromosomes) {
  names <- spellings(chromosomes)
  is_safe <- array(names_a_path(names) & names_a_path(without_chr(names)), dim(names))
  vapply(seq_along(chromosomes), function(i) {
    if (!any(is_safe[i, ])) {
      return(NA_character_)
    }
    paths <- path_of(names[i, is_safe[i, ]])
    paths[file.exists(paths)][1]
  }, "")
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

# A dangling link, such as to an unmounted disk, also exists.
is_there <- function(paths) {
  file.exists(paths) | !Sys.readlink(paths) %in% c("", NA)
}

# True if `x` is the path of a VCF or BCF (by its name), or a VcfFile.
is_variant_path <- function(x) {
  x <- path_of(x)
  is.character(x) && length(x) == 1 && grepl("\\.(vcf|vcf\\.gz|vcf\\.bgz|bcf)$", x)
}

# The path of `file` relative to `folder`, or an empty vector if it is outside.
path_in <- function(file, folder) {
  if (is.null(file)) {
    return(character())
  }
  folder <- paste0(normalizePath(folder, mustWork = FALSE), "/")
  file <- normalizePath(file, mustWork = FALSE)
  if (startsWith(file, folder)) substring(file, nchar(folder) + 1) else character()
}

# Reads `n` little-endian doubles. A shorter file is an error.
read_doubles <- function(path, n) {
  readBin(read_range_impl(path, 1, 8 * n), "double", n, endian = "little")
}

remove_files <- function(paths) {
  unlink(paths, expand = FALSE)
  left <- paths[file.exists(paths)]
  refuse_file_if(length(left), left[1], "Cannot remove %s of an earlier call: remove it by hand.",
                 quoted(left[1]))
}

# Numbers as text, each with enough digits to be read back exactly.
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

# A tab-separated table with a header line.
tsv_lines <- function(table) {
  cells <- lapply(table, function(column) {
    if (is.double(column)) ifelse(is.na(column), "NA", exact_text(column)) else column
  })
  c(paste(names(table), collapse = "\t"), do.call(paste, c(unname(cells), sep = "\t")))
}

# Checks the path of a result, before the work begins. `whole`: true if it is the complete name of
# an uncompressed file.
check_output_file <- function(file, name = "file", whole = TRUE) {
  file <- check_path(file, name)
  extension <- regmatches(file, regexpr("[.](gz|bgz|bz2|xz|zst)$", file))
  refuse_if(whole && length(extension) && !is_variant_path(file),
            "`%s` is %s, but this output is not compressed: leave %s out of its name.", name,
            quoted(file), quoted(extension))
  refuse_file_if(dir.exists(file), file, "`%s` is %s, which is a folder: add the name of a file.",
                 name, quoted(file))
  refuse_file_if(are_special_files_impl(file), file,
                 "`%s` is %s, a device or a pipe: choose another path.", name, quoted(file))
  file
}

stop_on_file <- function(file, problem) refuse_file(file, "%s %s.", quoted(file), problem)

# A kind of argument of check_args()
file_out <- function() check_output_file

# Calls write(temporary) for a file beside `path`, then renames the file to `path`.
write_whole <- function(path, write) {
  dir.create(dirname(path), showWarnings = FALSE, recursive = TRUE)
  temporary <- temporary_name(path)
  on.exit(unlink(temporary, expand = FALSE))
  fail <- function(...) {
    refuse_file(path, "Cannot write %s; check the folder's permissions and the free space.",
                quoted(path))
  }
  if (!suppressWarnings(file.create(temporary))) fail()
  write(temporary)
  if (!suppressWarnings(file.rename(temporary, path))) fail()
}

# Writes lines of text as UTF-8. They are synced to the disk before the file appears.
write_text <- function(path, lines) {
  write_bytes(path, charToRaw(paste0(enc2utf8(lines), "\n", collapse = "")))
}

write_bytes <- function(path, bytes) {
  dir.create(dirname(path), showWarnings = FALSE, recursive = TRUE)
  write_file_impl(path, bytes)
}

# An unused name in the core's form of names for temporary files.
temporary_name <- function(path) {
  tempfile(paste0(basename(path), core_limits()$temporary, Sys.getpid(), "-"), dirname(path))
}
