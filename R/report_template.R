# Rendering of reports by R Markdown.

# The path of `template`; by default, of the package's own.
check_template <- function(template) {
  if (is.null(template)) {
    return(system.file("rmarkdown", "templates", "report", "skeleton", "skeleton.Rmd",
                       package = "ancify", mustWork = TRUE))
  }
  check_args(template = file_in())
  refuse_if(!grepl("\\.[Rr]md$", template), "`template` is %s: it must end in .Rmd.",
            quoted(template))
  template
}

# pandoc 2.0 keeps raw HTML as it is.
need_rmarkdown <- function() {
  if (!requireNamespace("rmarkdown", quietly = TRUE) || !rmarkdown::pandoc_available("2.0")) {
    abort_ancify(
      paste(
        "Reports need the package rmarkdown and the program pandoc, 2.0 or later. Install them",
        "with install.packages(\"rmarkdown\") and from https://pandoc.org/installing.html (Debian:",
        "apt install pandoc). RStudio brings a pandoc."
      ),
      "package"
    )
  }
}

# The bytes of the page. rmarkdown writes beside its input, so it renders a copy of the template.
render_template <- function(template, params) {
  folder <- tempfile("report-")
  dir.create(folder)
  # A document that calls ancify_report() may have chunks of the same names. Without the option of
  # rmarkdown, the page has a script.
  old <- options(knitr.duplicate.label = "allow", rmarkdown.html_dependency.header_attr = FALSE)
  on.exit({
    options(old)
    unlink(folder, recursive = TRUE)
  })
  page <- file.path(folder, "report.html")
  home <- dirname(normalizePath(template))
  # One page that needs no network; images and style sheets may lie beside the template.
  html_options <- list(
    self_contained = TRUE, mathjax = NULL,
    pandoc_args = c("--to", "html5", "--resource-path", paste(folder, home, sep = ":"))
  )
  tryCatch(
    {
      file.copy(template, file.path(folder, "report.Rmd"))
      suppressMessages(rmarkdown::render(
        file.path(folder, "report.Rmd"), "html_document", page, knit_root_dir = home,
        output_options = html_options, params = params,
        envir = new.env(parent = globalenv()), quiet = TRUE
      ))
    },
    error = function(condition) {
      abort_ancify(
        sprintf("The template %s ended with an error: %s", quoted(template),
                conditionMessage(condition)),
        "input", file = template
      )
    }
  )
  read_range_impl(page, 1, file.size(page))
}
