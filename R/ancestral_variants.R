# Sites that are known to vary, in call_ancestral().

# The result of call_in_memory_impl(), with the calls and posteriors at the variants replaced.
with_sites_that_vary <- function(result, sequences, variants, settings) {
  history <- history_of_species(settings$history, names(sequences))
  variants <- check_variants(variants, nchar(sequences[[1]], type = "bytes"))
  states <- states_at_positions(sequences, variants$position)
  with_data <- colSums(states < 4) > 0
  states <- states[, with_data, drop = FALSE]
  variants <- variants[with_data, ]
  sample <- check_counts(variants$counts, variants$n, nrow(variants), history)
  neighbours <- if (!is.null(history$model$classes)) {
    classes_at_positions(sequences, variants$position)
  }
  classes <- class_numbers(neighbours, history$model, nrow(variants))
  posterior <- site_posteriors(states, allele_codes(variants$alleles), sample, history, classes)
  bases <- called_bases(posterior, settings$high, settings$low)
  bases[is.na(bases)] <- "n"
  calls <- charToRaw(result$calls)
  calls[variants$position] <- charToRaw(paste(bases, collapse = ""))
  result$calls <- rawToChar(calls)
  if (!is.null(result$posterior)) {
    posterior[is.na(posterior)] <- NaN
    result$posterior[variants$position, ] <- posterior
  }
  result
}

# Base codes, a row for each species and a column for each position. Positions beyond the ends have
# no bases.
states_at_positions <- function(sequences, position) {
  inside <- position >= 1 & position <= nchar(sequences[[1]], type = "bytes")
  states <- matrix(4L, nrow = length(sequences), ncol = length(position))
  for (i in seq_along(sequences)) {
    bases <- rawToChar(charToRaw(sequences[[i]])[position[inside]])
    states[i, inside] <- base_codes(strsplit(bases, "")[[1]])
  }
  states
}

# The class of each position, from the outgroups' bases beside it.
classes_at_positions <- function(sequences, position) {
  class_of_states(
    states_at_positions(sequences, position - 1), states_at_positions(sequences, position + 1)
  )
}

check_variants <- function(variants, length) {
  needed <- c("position", "alleles")
  known <- c(needed, "counts", "n")
  refuse_if(!is.data.frame(variants) || !all(needed %in% names(variants)) ||
              !all(names(variants) %in% known), "`variants` must be a data frame of %s, not %s.",
            enumerate(quoted(known)),
            if (is.data.frame(variants)) show_value(names(variants)) else show_value(variants))
  position <- variants$position
  right <- is.numeric(position) & is.finite(position) & position %in% seq_len(length) &
    !duplicated(position)
  refuse_if(!all(right), "`variants$position` has %s: give whole numbers from 1 to %s, each once.",
            show_value(position[!right][1]), format_count(length))
  variants
}
