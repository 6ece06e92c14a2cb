# Genetic codes: NCBI's list, and the code of each chromosome or transcript.

# Residues named by codons, in the core's order: AAA, AAC, AAG, AAT, ACA and so on.
genetic_code_of <- function(number) {
  need_bioconductor("Biostrings", "A genetic code")
  code <- tryCatch(Biostrings::getGeneticCode(as.character(number)), error = function(condition) {
    refuse_input(
      paste(
        "`genetic_code` must be the number of one of NCBI's genetic codes, such as \"1\", not",
        "%s: see `Biostrings::GENETIC_CODE_TABLE`."
      ),
      show_value(number)
    )
  })
  bases <- c("A", "C", "G", "T")
  code[paste0(rep(bases, each = 16), rep(rep(bases, each = 4), 4), bases)]
}

# The argument `genetic_code`: list(default = the number for all chromosomes that are not named,
# named = numbers by chromosome).
codes_by_chromosome <- function(genetic_code) {
  names <- names(genetic_code) %||% rep("", length(genetic_code))
  good <- (is.character(genetic_code) || is.numeric(genetic_code)) && !anyNA(names) &&
    length(genetic_code) > 0 && !anyDuplicated(names)
  refuse_if(!good,
            paste(
              "`genetic_code` must be a number, or numbers named by chromosomes with at most one",
              "without a name, such as `c(\"1\", chrM = \"2\")`, not %s."
            ), show_value(genetic_code))
  numbers <- stats::setNames(as.character(genetic_code), names)
  for (number in numbers) genetic_code_of(number)
  list(default = c(numbers[names == ""], "1")[[1]], named = numbers[names != ""])
}

# Mitochondrial chromosomes by the names of UCSC, Ensembl, NCBI and species databases.
is_mitochondrial <- function(chromosomes) {
  grepl("^(m|mt|mito|mtdna)([._-].*)?$|mitochondri", bare_names(chromosomes), ignore.case = TRUE) |
    sub("[.][0-9]+$", "", chromosomes) %in% mitochondrial_accessions
}

# Human, chimpanzee, bonobo, gorilla, orangutans and rhesus macaque; mouse, rat, rabbit, dog, cat,
# cow, sheep, pig and horse; chicken, clawed frog and zebrafish; fruit fly, C. elegans and yeast
mitochondrial_accessions <- c(
  "NC_012920", "J01415", "NC_001807", "NC_001643", "NC_001644", "NC_001645", "NC_011120",
  "NC_001646", "NC_002083", "NC_005943", "NC_005089", "NC_001665", "NC_001913", "NC_002008",
  "NC_001700", "NC_006853", "NC_001941", "NC_000845", "NC_001640", "NC_001323", "NC_040970",
  "NC_001573", "NC_002333", "NC_024511", "NC_001328", "NC_001224"
)

# True if mitochondria use a code; with `alone`, true if no other genome uses it.
is_code_of_mitochondria <- function(number, alone = FALSE) {
  table <- Biostrings::GENETIC_CODE_TABLE
  name <- table$name[match(number, table$id)]
  grepl("Mitochondrial", name) & !(alone & grepl("plasma", name))
}

# The number of each transcript's code: from `genetic_code` by chromosome name, else from the file,
# else the default. The default applies to mitochondria only if it is a mitochondrial code;
# otherwise their code is NA.
codes_of_transcripts <- function(transcripts, codes) {
  chromosome <- transcripts$chromosome
  mitochondrial <- is_mitochondrial(chromosome)
  named <- match_chromosomes(chromosome, names(codes$named))
  synonym <- match(TRUE, is_mitochondrial(names(codes$named)))
  named <- ifelse(is.na(named) & mitochondrial, synonym, named)
  number <- unname(codes$named)[named]
  number <- ifelse(is.na(number), as.character(transcripts$code), number)
  fits <- !mitochondrial | is_code_of_mitochondria(codes$default)
  ifelse(is.na(number) & fits, codes$default, number)
}

# A code whose chromosome has another name in the gene models would be ignored.
warn_about_unused_codes <- function(codes, chromosomes) {
  named <- names(codes$named)
  used <- bare_names(named) %in% bare_names(chromosomes) |
    (is_mitochondrial(named) & any(is_mitochondrial(chromosomes)))
  if (!all(used)) {
    warn_ancify(
      sprintf(
        paste(
          "`genetic_code` names %s, which the gene models lack: its code is not used. They have",
          "%s."
        ),
        enumerate(quoted(named[!used])), enumerate(quoted(chromosomes))
      ),
      "annotation"
    )
  }
}

# A code that probably belongs to another genome changes consequences, so warn about it.
warn_about_codes <- function(changes, codes) {
  without <- changes$consequence == "no genetic code"
  if (any(without)) {
    name <- unique(changes$chromosome[without])
    warn_ancify(
      sprintf(
        paste(
          "%s on %s: not translated, as mitochondria have a genetic code of their own. Give its",
          "number, for vertebrates by `genetic_code = c(\"%s\", %s = \"2\")`."
        ),
        count_of(sum(without), "change"), enumerate(quoted(name)), codes$default, name[1]
      ),
      "annotation"
    )
  }
  nuclear <- changes$genetic_code %in% codes$default & !is_mitochondrial(changes$chromosome) &
    !bare_names(changes$chromosome) %in% bare_names(names(codes$named))
  if (any(nuclear) && is_code_of_mitochondria(codes$default, alone = TRUE)) {
    name <- unique(changes$chromosome[nuclear])
    warn_ancify(
      sprintf(
        paste(
          "%s on %s: translated by genetic code %s, which is that of mitochondria alone. Name its",
          "chromosome, as by `genetic_code = c(\"1\", chrM = \"%s\")`."
        ),
        count_of(sum(nuclear), "change"), enumerate(quoted(name)), codes$default, codes$default
      ),
      "annotation"
    )
  }
}
