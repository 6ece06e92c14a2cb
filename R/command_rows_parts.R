# Parts that rows of commands share.

# purpose    the command's effect, in one line
# run        function(parsed) that carries out the command; returns the exit status if it is not 0
# arguments  names of its arguments in the usage; "..." ends the last if it may be several words, []
#            enclose optional ones
# options    names of option_rows; options in `required` must be given
# streams    the arguments and options that may be -, for a standard stream
# details    paragraphs of its help
# examples   complete command lines
# instead    R functions that the command replaces, for messages that name them
# words      the command line's names of R arguments, apart from options of the same name
# writes     function(parsed) that returns the paths of its results, which must not be inputs
command_row <- function(purpose, run, arguments = character(), options = character(),
                        required = character(), streams = character(), details = character(),
                        examples = character(), instead = character(), words = character(),
                        writes = function(parsed) parsed$output) {
  as.list(environment())
}

# For the commands that analyse phenotypes
traits_sentence <- paste(
  "PREFIX.traits.tsv has a row for each phenotype: its status, and why it is left out, as a",
  "constant one is. It does not stop the others."
)

word_of_family <- c(`family = "binary"` = "--binary")

# Options of genotypes and of choices among them; with phenotypes, the options of command_study().
options_of_genotypes <- c(
  "genotypes", "samples", "hard_call_threshold", "dosages", "multiallelic", "keep", "remove",
  "extract", "exclude", "chromosomes", "split_par", "maf", "missing", "hwe", "info"
)
options_of_study <- c(
  options_of_genotypes, "pheno", "trait", "covar", "factors", "chosen_covariates", "binary", "na"
)

# Options of components of variants, of fits and of predictions
options_of_components <- c(
  "components", "by", "overlap", "method", "seed", "probes", "predict", "covar_to_predict",
  "factors_to_predict"
)

words_of_models <- c(
  word_of_family, blocks = "--weights", shares = "--admixture", source = "--genotypes"
)

details_of_reml <- c(
  paste(
    "--components takes a table of variant and component, the JSON or NPZ of GPU_REML, and other",
    "files of ?components. --by, --weights and --admixture make components otherwise."
  ),
  paste(
    "--grm needs no GENOTYPES. --merge writes PREFIX.merged.tsv; --effects PREFIX.effects.tsv and",
    "PREFIX.genetic.tsv; --predict PREFIX.predicted.tsv; --export the tables that it names."
  )
)
