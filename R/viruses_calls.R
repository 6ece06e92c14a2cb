#' Calls of viral chunks
#'
#' `chunk_calls()` calls each chunk of [chunk_sequences()] viral or not, like VirNucPro, from the
#' probabilities of its reading frames. `contig_calls()` counts the calls of each original
#' sequence.
#'
#' A chunk is called viral if the largest and the smallest probability of its frames sum to 1 or
#' more. The most viral frame is then at least as certain as the least viral one. A tie is viral.
#'
#' A chunk without a frame has no call. [detect_viruses()] also omits calls for chunks that are too
#' short. In `frames` such a chunk has one row with `"too_short"` for `frame` and `NA` for `id`.
#'
#' @param frames The table `frames` of [six_frames()].
#' @param probability Probabilities that frames are viral, 0 to 1, named by their ids.
#' @param calls A table from `chunk_calls()`.
#' @return `chunk_calls()`: a data frame with a row per chunk, in the order of `frames`:
#'   * `chunk`, its id, and `frames`, its number of frames;
#'   * `other` and `virus`, the largest probability of each class among its frames; `NA` without a
#'     frame;
#'   * `is_virus`, the call; `NA` without a call;
#'   * `not_called`, the reason for a missing call: `"no frame"` or `"too short"`; else `NA`.
#'
#'   `contig_calls()`: a data frame with a row per sequence, in the order of its first chunk:
#'   `sequence`, its id, and `chunks`, `called`, `viral`, `no_frame` and `too_short`, numbers of
#'   chunks. A sequence without a called chunk has 0 viral ones, which is not a verdict.
#' @section Errors:
#' `ancify_input_error`: an argument has the wrong shape or is out of range, or a frame has no
#' probability.
#' @inherit chunk_sequences references
#' @seealso [six_frames()], [embed_sequences()]
#' @export
#' @examples
#' frames <- data.frame(
#'   sequence = c("a_chunk_1", "a_chunk_1", "a_chunk_2", "b_chunk_1"),
#'   frame = c("F1", "R2", "F3", "no_frame"),
#'   id = c("a_chunk_1F1", "a_chunk_1R2", "a_chunk_2F3", NA)
#' )
#' p <- c(a_chunk_1F1 = 0.9, a_chunk_1R2 = 0.2, a_chunk_2F3 = 0.3)
#' calls <- chunk_calls(frames, p)
#' calls
#' contig_calls(calls)
chunk_calls <- function(frames, probability) {
  check_given()
  check_columns_of(frames, c("sequence", "frame", "id"), "frames", "six_frames()")
  chunks <- unique(frames$sequence)
  kept <- frames[!is.na(frames$id), ]
  without <- frames[is.na(frames$id), ]
  p <- probabilities_of(kept$id, probability)
  of <- factor(kept$sequence, chunks)
  ends <- function(end) {
    found <- vapply(split(p, of), function(x) if (length(x)) end(x) else NA_real_, 0)
    unname(found)
  }
  most <- ends(max)
  least <- ends(min)
  data.frame(
    chunk = chunks, frames = as.vector(table(of)), other = 1 - least, virus = most,
    is_virus = most + least >= 1,
    not_called = sub("_", " ", without$frame[match(chunks, without$sequence)], fixed = TRUE)
  )
}

# Probabilities of the frames with these ids, in their order.
probabilities_of <- function(ids, probability) {
  refuse_if(!is.numeric(probability) || !isTRUE(all(probability >= 0 & probability <= 1)),
            "`probability` must be numbers from 0 to 1, without NA.")
  at <- match(ids, names(probability))
  refuse_if(anyNA(at), "`probability` must have a number for each frame by its id, but lacks %s.",
            enumerate(quoted(ids[is.na(at)])))
  refuse_if(anyDuplicated(names(probability)), "`probability` has %s twice.",
            quoted(names(probability)[anyDuplicated(names(probability))]))
  unname(probability[at])
}

#' @rdname chunk_calls
#' @export
contig_calls <- function(calls) {
  check_given()
  check_columns_of(calls, c("chunk", "is_virus", "not_called"), "calls", "chunk_calls()")
  id <- sub("_chunk_[0-9]+$", "", calls$chunk)
  of <- factor(id, unique(id))
  count <- function(which) as.vector(rowsum(as.integer(which), of, reorder = FALSE))
  data.frame(
    sequence = levels(of), chunks = as.vector(table(of)), called = count(!is.na(calls$is_virus)),
    viral = count(calls$is_virus %in% TRUE), no_frame = count(calls$not_called %in% "no frame"),
    too_short = count(calls$not_called %in% "too short")
  )
}

check_columns_of <- function(x, columns, name, maker) {
  must_be(is.data.frame(x) && all(columns %in% names(x)), x, name, sprintf("a table of %s", maker))
}
