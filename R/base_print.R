# How objects are printed: a title with the class and the main facts, then a line for each field.

# `facts`: what the title says after the class; `fields`: texts, named by their labels. Empty ones
# are left out.
write_object <- function(class, facts = NULL, fields = NULL) {
  writeLines(object_lines(class, facts, fields))
}

object_lines <- function(class, facts = NULL, fields = NULL) {
  width <- min(80, getOption("width"))
  title <- paste(c(sprintf("<%s>", class), paste(facts, collapse = ", ")), collapse = " ")
  fields <- fields[nzchar(fields)]
  labels <- paste0("  ", format(names(fields)), "  ")
  lines <- Map(function(text, label) {
    strwrap(text, width + 1, initial = label, exdent = nchar(label))
  }, fields, labels)
  # strwrap() makes lines shorter than its width; only paths stay longer.
  cut_middle(c(strwrap(title, width + 1, exdent = 2), unlist(lines, use.names = FALSE)), width)
}
