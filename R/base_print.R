# Prints objects: a title with the class and the main facts, then a line for each field.

# `facts`: the title's text after the class; `fields`: texts, named by their labels. Empty fields
# are omitted.
write_object <- function(class, facts = NULL, fields = NULL) {
  writeLines(object_lines(class, facts, fields))
}

object_lines <- function(class, facts = NULL, fields = NULL) {
  width <- min(80, getOption("width"))
  title <- paste(c(sprintf("<%s>", class), paste(facts, collapse = ", ")), collapse = " ")
  fields <- fields[nzchar(fields)]
  labels <- paste0("  ", format(cut_text(as.character(names(fields)), width %/% 2)), "  ")
  # strwrap() makes lines shorter than its width.
  lines <- Map(function(text, label) {
    strwrap(text, width + 1, initial = label, exdent = nchar(label))
  }, fields, labels)
  lines <- c(strwrap(title, width + 1, exdent = 2), unlist(lines, use.names = FALSE))
  # Only paths can still be too long.
  cut_middle(gsub(fixed_blank, " ", lines, fixed = TRUE), width)
}

# Keeps a text on one line, with all its blanks.
on_one_line <- function(text) gsub(" ", fixed_blank, text, fixed = TRUE)

fixed_blank <- "\u00a0"

# Counts of records that are not sites, by reason. `kept`: reasons that are not reported.
format_records <- function(records, kept = c("TOO_FEW", "USED")) {
  if (is.null(records)) {
    return(NULL)
  }
  left <- records[!records$reason %in% kept & records$records > 0, ]
  paste0(
    format_count(sum(records$records)), if (nrow(left)) ", left out ",
    paste(format_count(left$records), left$reason, collapse = ", ")
  )
}
