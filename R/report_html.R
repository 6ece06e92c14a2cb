# HTML for reports.

report_style <- paste(
  "body { font: 16px/1.5 sans-serif; color: #222; background: #fff; max-width: 60em;",
  "margin: 0 auto; padding: 1em; }",
  "h1, h2, h3 { line-height: 1.2; overflow-wrap: anywhere; } h2 { margin-top: 2em; }",
  "div.wide { overflow: auto; max-height: 36em; margin: 1em 0; }",
  "figure div.wide { max-height: none; }",
  "table { border-collapse: collapse; font-size: 0.9em; }",
  "th, td { padding: 0.2em 0.8em 0.2em 0; text-align: left; vertical-align: top;",
  "border-bottom: 1px solid #ddd; } .number { text-align: right; white-space: nowrap; }",
  "figure { margin: 1.5em 0; } figure img { width: 100%; min-width: 620px; }",
  "pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f5f5f5; padding: 0.8em; }",
  ".long { overflow-wrap: anywhere; min-width: 14em; }",
  "@media (max-width: 640px) {",
  "figure::before { content: 'Swipe sideways to see the whole picture.'; color: #555; } }",
  "@media print { div.wide { max-height: none; } }",
  sep = "\n"
)

escape_html <- function(text) {
  for (sign in list(c("&", "&amp;"), c("<", "&lt;"), c(">", "&gt;"), c("\"", "&quot;"))) {
    text <- gsub(sign[1], sign[2], text, fixed = TRUE)
  }
  text
}

heading <- function(text) paste0("<h2>", escape_html(text), "</h2>")

# Text with a number and its percent sign always on one line.
prose <- function(text) {
  gsub(" %", "&nbsp;%", escape_html(text), fixed = TRUE)
}

paragraph <- function(...) {
  sprintf("<p>%s</p>", prose(paste(...)))
}

in_counts <- function(numbers) {
  vapply(numbers, format_count, "")
}

in_percent <- function(share) {
  ifelse(is.finite(share), sprintf("%.2f %%", 100 * share), "-")
}

html_table <- function(table) {
  cells <- lapply(table, function(column) as.character(column))
  class <- vapply(cells, class_of_cells, "")
  row <- function(tag, values) {
    values <- sprintf("<%s%s>%s</%s>", tag, class, escape_html(values), tag)
    paste0("<tr>", paste(values, collapse = ""), "</tr>")
  }
  head <- if (!is.null(names(table)) && any(nzchar(names(table)))) {
    c("<thead>", row("th", names(table)), "</thead>")
  }
  body <- vapply(seq_along(cells[[1]]), function(i) row("td", vapply(cells, `[`, "", i)), "")
  c("<div class=\"wide\"><table>", head, "<tbody>", body, "</tbody>", "</table></div>")
}

# Numeric columns are right-aligned. Paths may break anywhere.
class_of_cells <- function(column) {
  if (all(grepl("^[-0-9.,]+( %)?$", column))) {
    " class=\"number\""
  } else if (any(nchar(column) > 30)) {
    " class=\"long\""
  } else {
    ""
  }
}

# A picture with its caption; `height` in inches, for a width of 8.
figure <- function(picture, words, height) {
  file <- tempfile(fileext = ".png")
  on.exit(unlink(file))
  ggplot2::ggsave(file, picture, width = 8, height = height, dpi = 150)
  words <- prose(words)
  c(
    "<figure>",
    sprintf("<div class=\"wide\"><img src=\"%s\" alt=\"%s\"></div>", knitr::image_uri(file), words),
    sprintf("<figcaption>%s</figcaption>", words), "</figure>"
  )
}

# The height in inches of a picture with this many panels, each with a row per chromosome.
height_of <- function(n_panels, n_chromosomes) {
  rows <- min(n_chromosomes, most_rows_drawn(n_panels)) + 2
  1.4 + ceiling(n_panels / 3) * (0.4 + 0.2 * rows)
}
