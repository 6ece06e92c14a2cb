# Rscript .ci/files.R [FOLDER]: files of FOLDER (R) call one another in one direction, define each
# name once, and have at most 400 lines; families of files call one another as in its layers.txt.
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
used <- lapply(used, intersect, names(owner))
arrows <- Map(
  function(names, file) setdiff(unique(owner[names]), file), used, names(used)
)

# The families of layers.txt, from the lowest: the families that each may use.
layers <- strsplit(grep("^#", readLines(file.path(folder, "layers.txt")), invert = TRUE,
                        value = TRUE), ":? +")
names(layers) <- vapply(layers, function(line) sub(":$", "", line[[1]]), "")
layers <- lapply(layers, `[`, -1)
above <- lapply(seq_along(layers), function(i) names(layers)[seq_len(i - 1)])

family_of <- function(file) {
  begins <- startsWith(sub("[.]R$", "_", file), paste0(names(layers), "_"))
  c(names(layers)[begins], NA)[[1]]
}
families <- vapply(names(code), family_of, "")

# A row for each name of another family's that a file uses.
calls <- data.frame(
  file = rep(names(used), lengths(used)), name = as.character(unlist(used))
)
calls$from <- families[calls$file]
calls$to <- families[owner[calls$name]]
calls <- calls[calls$from != calls$to & !is.na(calls$from) & !is.na(calls$to), ]
needed <- lapply(stats::setNames(nm = names(layers)), function(from) calls$to[calls$from == from])
not_allowed <- calls[!mapply(`%in%`, calls$to, layers[calls$from]), ]

# One problem for each family and each of its families in `each`.
say <- function(format, each) {
  sprintf(format, rep(names(layers), lengths(each)), as.character(unlist(each)))
}
layer_problems <- c(
  sprintf("%s is of no family in layers.txt.", names(families)[is.na(families)]),
  sprintf("%s calls %s(), but %s may not use %s.", not_allowed$file, not_allowed$name,
          not_allowed$from, not_allowed$to),
  say("layers.txt: %s lists %s, which is not above it.", Map(setdiff, layers, above)),
  say("layers.txt: %s lists %s, which it does not use.", Map(setdiff, layers, needed))
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
  layer_problems,
  if (length(arrows)) {
    round <- way[match(way[length(way)], way):length(way)]
    paste("A cycle of calls:", paste(round, collapse = " -> "))
  }
)
writeLines(problems)
quit(status = length(problems) > 0)
