# A plain implementation of missense scores, and changes to score.

# One sequence at a time: with a mask at the site, or as it is.
oracle_scores <- function(changes, model, marginal = "masked") {
  vapply(seq_len(nrow(changes)), function(i) {
    x <- changes[i, ]
    if (x$consequence != "missense") {
      return(NA_real_)
    }
    proteins <- attr(changes, "proteins")
    text <- proteins$sequence[proteins$protein == x$protein]
    if (marginal == "masked") {
      text <- paste0(substr(text, 1, x$codon - 1), "<mask>", substring(text, x$codon + 1))
    }
    p <- residue_log_probs(text, model, threads = 1)[[1]][x$codon, ]
    p[[x$derived_residue]] - p[[x$ancestral_residue]]
  }, 0)
}

# Missense changes of one protein, without files.
changes_in_protein <- function(sequence, codon, derived, posterior = NA) {
  ancestral <- substring(sequence, codon, codon)
  n <- length(codon)
  structure(
    data.frame(
      chromosome = rep("1", n), position = 3 * codon, ancestral = rep("A", n),
      derived = rep("C", n), posterior = rep_len(as.numeric(posterior), n), called = rep(10, n),
      copies = rep(1, n), transcript = rep("t1", n), gene = rep("g1", n), codon = codon,
      ancestral_residue = ancestral, derived_residue = derived,
      consequence = factor(rep("missense", n), "missense"), ref_is_ancestral = rep(TRUE, n),
      protein = rep("t1:1", n), canonical = rep(TRUE, n), worst = rep(TRUE, n)
    ),
    records = data.frame(reason = "CODING", records = n),
    proteins = data.frame(
      protein = "t1:1", transcript = "t1", sequence = sequence, focal_codons = 0
    ),
    class = c("coding_changes", "data.frame")
  )
}
