# The findings of the checks before a run, and their printing.

# The error for all findings. A fault in a file also has the class that reading the file would
# raise.
check_error <- function(errors, checks) {
  problems <- sprintf("%s: %s", errors$subject, errors$finding)
  n <- length(problems)
  lead <- sprintf("%s this run:", if (n == 1) "A problem stops" else paste(n, "problems stop"))
  error_of_problems(
    lead, problems, "check", check_kinds[errors$check], checks = checks, file = errors$file[1],
    line = errors$line[1]
  )
}

check_kinds <- c(
  text = "format", names = "format", lengths = "format", focal = "format", disk = "file",
  permission = "file"
)

statuses <- c("ok", "note", "warning", "error")

# A list of one finding. c() joins findings much faster than rbind() joins data frames.
finding <- function(check, subject, status, finding, file = NA_character_, line = NA_real_) {
  list(list(
    check = check, subject = subject, status = status, finding = finding, file = file, line = line
  ))
}

# A list of findings with one check and status, by subject and text.
findings <- function(check, subjects, status, texts) {
  of_subject <- function(subject, text) finding(check, subject, status, text)[[1]]
  Map(of_subject, subjects, texts, USE.NAMES = FALSE)
}

# Joins lists of findings.
all_findings <- function(lists) {
  unlist(lists, recursive = FALSE)
}

new_check <- function(findings) {
  column <- function(name, like) vapply(findings, `[[`, like, name)
  status <- factor(column("status", ""), statuses, ordered = TRUE)
  checks <- data.frame(
    check = column("check", ""), subject = column("subject", ""), status = status,
    finding = column("finding", ""), file = column("file", ""), line = column("line", 0)
  )
  checks <- checks[order(-as.integer(status)), ]
  rownames(checks) <- NULL
  structure(checks, class = c("ancify_check", "data.frame"))
}

#' @rdname ancify_check
#' @param x An `ancify_check`.
#' @param ... Not used.
#' @export
print.ancify_check <- function(x, ...) {
  if (!all(c("check", "subject", "status", "finding") %in% names(x))) {
    return(NextMethod())
  }
  counts <- table(factor(x$status, rev(statuses)))
  plural <- ifelse(names(counts) == "ok" | counts == 1, "", "s")
  write_object("ancify_check", paste0(counts, " ", names(counts), plural))
  head <- paste0("  ", paste(
    format(as.character(x$status)), format(x$check), format(x$subject)
  ))
  width <- getOption("width")
  indent <- strrep(" ", 4)
  for (i in seq_len(nrow(x))) {
    line <- paste0(head[i], "  ", x$finding[i])
    wrapped <- c(trimws(head[i], "right"), strwrap(x$finding[i], width - 4, prefix = indent))
    writeLines(if (nchar(line) <= width) line else wrapped)
  }
  invisible(x)
}
