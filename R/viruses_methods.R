#' Results of a detection of viruses
#'
#' `print()` shows the sequences with the most viral chunks. `as.data.frame()` gives a table of
#' sequences, chunks or frames. `plot()` draws chunks along the sequences with the most viral
#' chunks; `autoplot()` gives the ggplot2 object.
#'
#' @param x,object A result of [detect_viruses()].
#' @param of The rows of the table: `"contigs"`, `"chunks"` or `"frames"`.
#' @param n Maximum number of sequences drawn (20).
#' @param ... Not used.
#' @return
#' * `print()`: `x`, invisibly.
#' * `as.data.frame()`: a data frame, with columns described in [detect_viruses()].
#' * `autoplot()`: a `ggplot`. `plot()`: this `ggplot`, invisibly.
#' @section Errors:
#' * `ancify_input_error`: an argument has the wrong shape or is out of range, or there is no chunk
#'   to draw.
#' * `ancify_package_error`: ggplot2 is not installed.
#' @seealso [detect_viruses()]
#' @export
#' @examplesIf requireNamespace("Biostrings", quietly = TRUE)
#' # Random models and a classifier of random numbers show the usage, not biology.
#' folder <- function(name) system.file("extdata", name, package = "ancify")
#' set.seed(1)
#' group <- rep(1:10, each = 8)
#' numbers <- matrix(rnorm(80 * 56), 80) + group %% 2
#' classifier <- train_classifier(numbers, group %% 2, group, threads = 1)
#' contigs <- Biostrings::DNAStringSet(c(
#'   a = strrep("ATGGCACGTTCTGACC", 40), b = strrep("TTGACGATAGC", 20)
#' ))
#' hits <- detect_viruses(
#'   contigs, folder("dnabert_random"), folder("esm2_random"), classifier,
#'   out = tempfile("viruses"), size = 100, threads = 1
#' )
#' as.data.frame(hits, of = "chunks")
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(hits)
print.virus_detection <- function(x, ...) {
  check_no_more(...)
  contigs <- x$contigs
  total <- function(column) format_count(sum(contigs[[column]]))
  write_object("virus_detection", sprintf(
    "%s of %s with viral chunks", format_count(sum(contigs$viral > 0)),
    count_of(nrow(contigs), "sequence")
  ), c(
    chunks = sprintf("%s, of which %s are viral, %s have no frame, and %s are too short",
                     total("chunks"), total("viral"), total("no_frame"), total("too_short")),
    frames = format_count(sum(!is.na(x$frames$id))),
    viral = sprintf("more probably %s than %s, by the surest frames", quoted(x$classes[2]),
                    quoted(x$classes[1])),
    files = x$out
  ))
  most <- contigs[utils::head(most_viral(contigs), 6), ]
  most <- most[most$viral > 0, ]
  if (nrow(most)) print(most, row.names = FALSE)
  invisible(x)
}

# Rows of contigs, with the most viral chunks first.
most_viral <- function(contigs) order(-contigs$viral, -contigs$chunks)

#' @rdname print.virus_detection
#' @export
as.data.frame.virus_detection <- function(x, ..., of = c("contigs", "chunks", "frames")) {
  check_no_more(...)
  x[[check_choice(of, c("contigs", "chunks", "frames"), "of")]]
}

#' @rdname print.virus_detection
#' @usage \method{autoplot}{virus_detection}(object, n = 20, ...)
#' @exportS3Method ggplot2::autoplot
autoplot.virus_detection <- function(object, n = 20, ...) { # nolint: object_name_linter.
  check_method(n = whole())
  refuse_if(nrow(object$chunks) == 0, "There is no chunk to draw.")
  need_ggplot2()
  shown <- object$contigs$sequence[utils::head(most_viral(object$contigs), n)]
  drawn <- object$chunks[object$chunks$sequence %in% shown, ]
  drawn$row <- factor(drawn$sequence, rev(shown))
  drawn$from <- drawn$start - 1
  drawn$middle <- (drawn$from + drawn$end) / 2
  viral <- drawn[drawn$is_virus %in% TRUE, ]
  viral$call <- rep("viral", nrow(viral))
  ggplot2::ggplot(drawn, by_column(
    y = "row", yend = "row", x = "from", xend = "end", colour = "virus"
  )) +
    # Chunks overlap: each has a mark at its start.
    ggplot2::geom_segment(linewidth = 4) +
    ggplot2::geom_point(by_column(x = "from", y = "row"), colour = "white", shape = "|", size = 4) +
    ggplot2::geom_point(
      by_column(x = "middle", y = "row", shape = "call"), viral, colour = "#D55E00", size = 1.6
    ) +
    ggplot2::scale_colour_gradient(
      "Largest probability of a frame", low = light_colour, high = dark_colour,
      na.value = "grey75", limits = c(0, 1)
    ) +
    ggplot2::scale_shape_manual("Call", values = c(viral = 16)) +
    ggplot2::labs(
      x = "Position", y = NULL, title = "Viral chunks",
      subtitle = sprintf(
        "%d of %s; grey chunks have no frame", length(shown),
        count_of(nrow(object$contigs), "sequence")
      )
    ) +
    picture_theme(length(shown) > 15)
}

#' @rdname print.virus_detection
#' @export
plot.virus_detection <- function(x, n = 20, ...) draw_picture(autoplot.virus_detection(x, n, ...))
