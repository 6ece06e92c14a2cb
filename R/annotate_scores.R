# Missense scores for annotate_vcf().

# Scores for the core: lists by chromosome, named as in the VCF, with chr or without.
core_scores <- function(scores, chromosomes) {
  if (is.null(scores)) {
    return(NULL)
  }
  check_args(scores = scores_with(c("score", "ancestral", "transcript")))
  table <- lowest_scores(scores)
  code <- function(base) match(base, c("A", "C", "G", "T")) - 1L
  table <- data.frame(
    chromosome = table$chromosome, position = table$position, ancestral = code(table$ancestral),
    derived = code(table$derived), score = table$score, transcript = in_info(table$transcript)
  )
  table$chromosome <- chromosomes[match_chromosomes(table$chromosome, chromosomes)]
  refuse_if(all(is.na(table$chromosome)), "`scores` has no scored site on a chromosome of `vcf`.")
  table <- table[order(table$position), ]
  lapply(split(table, table$chromosome), function(x) {
    core_list(
      "RecordScores",
      position = x$position, ancestral = x$ancestral, derived = x$derived, score = x$score,
      transcript = x$transcript
    )
  })
}

# A string as an INFO value: VCF 4.3 percent-encodes characters with a special meaning.
in_info <- function(text) {
  for (character in c("%", ":", ";", "=", ",", " ", "\t", "\r", "\n")) {
    code <- sprintf("%%%02X", utf8ToInt(character))
    text <- gsub(character, code, text, fixed = TRUE)
  }
  text
}
