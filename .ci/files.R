# Rscript .ci/files.R [FOLDER]: files of FOLDER (R) call one another in one direction, define each
# name once, and have at most 400 lines.
folder <- c(commandArgs(trailingOnly = TRUE), "R")[[1]]
paths <- setdiff(Sys.glob(file.path(folder, "*.R")), file.path(folder, "RcppExports.R"))
code <- lapply(paths, parse, keep.source = FALSE)
names(code) <- basename(paths)

definition <- function(call) {
  if (is.call(call) && identical(call[[1]], as.name("<-")) && is.name(call[[2]])) {
    as.character(call[[2]])
  }
}
defined <- lapply(code, function(calls) unlist(lapply(calls, definition)))
owner <- stats::setNames(rep(names(defined), lengths(defined)), unlist(defined))

# Names that a file uses: of functions and of values, not of its own arguments and local values.
used <- lapply(code, function(calls) {
  unique(unlist(lapply(calls, function(call) {
    value <- if (is.null(definition(call))) call else call[[3]]
    codetools::findGlobals(eval(base::call("function", NULL, value), baseenv()))
  })))
})
arrows <- Map(
  function(names, file) setdiff(unique(owner[intersect(names, names(owner))]), file),
  used, names(used)
)

# Files are taken away while all their arrows lead to files taken away. Arrows that are left
# lead round in a cycle.
repeat {
  done <- names(arrows)[lengths(arrows) == 0]
  if (length(done) == 0) break
  arrows <- lapply(arrows[setdiff(names(arrows), done)], setdiff, done)
}
way <- names(arrows)[1]
while (length(arrows) && !anyDuplicated(way)) way <- c(way, arrows[[way[length(way)]]][1])

problems <- c(
  sprintf("%s is defined twice.", names(owner)[duplicated(names(owner))]),
  sprintf("%s has more than 400 lines.", basename(paths[lengths(lapply(paths, readLines)) > 400])),
  if (length(arrows)) {
    round <- way[match(way[length(way)], way):length(way)]
    paste("A cycle of calls:", paste(round, collapse = " -> "))
  }
)
writeLines(problems)
quit(status = length(problems) > 0)
