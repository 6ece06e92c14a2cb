# summary() and print() of comparisons.

#' @export
summary.ancify_comparison <- function(object, ...) {
  check_comparison(object, "object")
  pairs <- unique(object$pairs[c("first", "second")])
  key <- function(table) {
    paste(match(table$first, object$runs$run), match(table$second, object$runs$run))
  }
  total <- function(table, column, which = TRUE) {
    sums <- tapply(table[[column]][which], factor(key(table), key(pairs))[which], sum)
    as.vector(ifelse(is.na(sums), 0, sums))
  }
  high <- object$agreement$first_confidence == "high" & object$agreement$second_confidence == "high"
  confusion <- object$confusion
  differ <- confusion$first_base != confusion$second_base
  purine <- function(base) base %in% c("A", "G")
  transition <- differ & purine(confusion$first_base) == purine(confusion$second_base)
  both <- total(object$pairs, "both")
  both_high <- total(object$agreement, "both", high)
  summary <- data.frame(
    pairs,
    both = both, agreement = total(object$pairs, "same") / both,
    both_high = both_high, agreement_high = total(object$agreement, "same", high) / both_high,
    only_first = total(object$pairs, "only_first"),
    only_second = total(object$pairs, "only_second"),
    transitions = total(confusion, "positions", transition),
    transversions = total(confusion, "positions", differ & !transition),
    row.names = NULL
  )
  structure(summary, class = c("summary.ancify_comparison", "data.frame"))
}

#' @export
print.summary.ancify_comparison <- function(x, ...) {
  shown <- as.data.frame(lapply(unclass(x), function(column) {
    if (is.numeric(column)) vapply(column, format_count, "") else column
  }))
  for (share in intersect(c("agreement", "agreement_high"), names(x))) {
    shown[[share]] <- format_share(x[[share]])
  }
  print(shown, row.names = FALSE)
  invisible(x)
}

format_share <- function(share) {
  ifelse(is.nan(share), "-", sprintf("%.3f %%", 100 * share))
}

#' @export
print.ancify_comparison <- function(x, ...) {
  check_comparison(x)
  lengths <- x$confidence$length[x$confidence$run == x$runs$run[1]]
  write_object("ancify_comparison", c(
    count_of(nrow(x$runs), "run"), count_of(length(lengths), "chromosome"),
    count_of(sum(lengths), "position")
  ))
  counts <- rowsum(as.matrix(x$confidence[confidences]), x$confidence$run, reorder = FALSE)
  print(noquote(array(sprintf("%.2f %%", 100 * counts / sum(lengths)), dim(counts),
                      dimnames(counts))), right = TRUE)
  cat("Agreement where both call:\n")
  print(summary(x)[c("first", "second", "both", "agreement", "agreement_high")])
  invisible(x)
}
