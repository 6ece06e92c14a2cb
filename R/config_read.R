#' Read and check a configuration
#'
#' Reads every key of a configuration and checks all of them at once, before
#' any work starts: names, types, ranges, files, species, chromosomes and the
#' tree.
#'
#' A relative path to an input is looked for in R's working directory, and
#' where it is not there, beside the configuration file; `notes` of the result
#' then says so. Outputs are always relative to the working directory.
#' [ancify_init()] writes a template with one line on each key.
#'
#' Names of species and chromosomes are taken from a file letter by letter:
#' `[2L, 4, X, Y, 01, 1e5]` are six names, and a species may be called `NO`. Files and
#' folders have these names, so they may hold anything but `/`, of at most 200 bytes, and
#' be neither `.` nor `..`; chromosomes' names have no blanks either. A configuration has
#' at most 16 MB.
#'
#' @section Keys:
#' Required:
#' * `focal_species`: the species whose ancestor is called.
#' * `chromosome_lengths`: a file with a name and a length in bases on each
#'   line (`chrom.sizes` or `.fai`).
#' * `outgroups`: `inner` and `outer`, each a list of
#'   `{name, alignment}`. One tier may be empty for the methods parsimony,
#'   likelihood and coalescent. An alignment is an AXT or a MAF file, as
#'   [project_axt()] explains them; one MAF may serve several outgroups and is then
#'   read once. An entry for a MAF may have `maf_name` too, where the species has
#'   another name in that file.
#'
#' With a default:
#' * `chromosomes` (all of the lengths file): which to process, in this order.
#' * `work_dir` (`.`), `output_dir` (`./ancestral_calls`).
#' * `min_inner_freq`, `min_outer_freq` (1): fewest votes for a consensus.
#' * `num_cpus` (4): threads. `backend` (`auto`): `auto`, `cpu` or `gpu`.
#'   `gpu_devices` (all): numbers of [available_gpus()]; `[]` for none. `gpu_memory` (what is
#'   free, less a margin): bytes that may be taken of each.
#' * `method` (`voting`): `voting`, `parsimony`, `likelihood`, `ml` or
#'   `coalescent`, as [call_ancestral()] explains them. `tree`: Newick text or a
#'   file with it, for parsimony and likelihood. Its leaves are the outgroups and,
#'   where the call is to be for the node at which its lineage joins the others,
#'   the focal species. Likelihood needs branch lengths.
#' * `substitution_model` (`JC69`): `JC69`, `K80`, `HKY85` or `GTR`, with
#'   `model_kappa` (2), `model_base_freqs` (0.25 each; A, C, G, T), `model_rates`
#'   (1 each; AC, AG, AT, CG, CT, GT), `rate_alpha` (none), `n_rates` (4) and
#'   `invariant` (0), as [substitution_model()] explains them.
#' * `estimate` (`false`): for likelihood and coalescent, fit branch lengths and
#'   model to the data before calling, and for coalescent the history; see
#'   [ancify_run()].
#' * `likelihood_high_threshold` (0.8), `likelihood_low_threshold` (0.5): the
#'   posterior from which a call is upper case and lower case, for likelihood and
#'   coalescent. `ml_high_threshold`, `ml_low_threshold`: the same for ml.
#' * `ml_model_path` (`<work_dir>/ancify_ml_model.lgb` for calling and training),
#'   `ml_training_reference` (none).
#' * `history` (none): `splits`, `sizes`, `focal_size`, `focal_lineages` (20) and
#'   `mutation_rate` (1.25e-8) as [coalescent_history()] has them. A split and a
#'   size for each outgroup, in their order, inner ones first, or by their names
#'   (`splits: {chimp: 240000, ...}`). All join the focal species' ancestors: what
#'   `into` of [coalescent_history()] can say is for [call_ancestral()] alone.
#' * `evaluation` (none): `reference_dir`, `reference_pattern` (`{chrom}.fa`),
#'   `vcf_dir`, `vcf_pattern` (`{chrom}.vcf.gz`).
#' * `focal_maf_name` (`focal_species`): the focal species' name in MAF files, such
#'   as `hg38`.
#' * `on_bad_block` (`error`): `error` or `skip`.
#' * `keep_projected` (`true`).
#' * `posterior` (`false`): for likelihood, coalescent and ml, write how sure each
#'   call is; see [read_posterior()].
#' * `focal_fasta` (none): the focal genome, any FASTA of all its chromosomes, plain,
#'   gzip or bgzip. Every block's focal letters are compared with it: one with another
#'   base, whatever the case, is a bad block (`N` and other codes fit anything).
#'   `estimate` and [count_patterns()] take the focal bases from it, and else from the
#'   alignments' focal rows.
#' * `cluster` (none): what a job of a batch system asks for, `partition`, `time`, `memory`, `cpus`
#'   and `gpus`, as [slurm_param()] explains them.
#'
#' @param config Path of a YAML file, or a list with the same keys (names and
#'   paths as character, numbers as numeric, `chromosomes` as character or whole
#'   numbers), or what `ancify_config()` or [ancify_run()] returned, which is then checked again.
#' @return A list of class `ancify_config` with every key, defaults filled
#'   in and paths of inputs made absolute. In place of the nested lists,
#'   `outgroups` is a data frame (`name`, `tier`, `alignment`, `maf_name`: `NA` where
#'   that is the name). Besides:
#'   `lengths`, a named numeric vector of the chromosomes to process in their
#'   order (bases); `notes`, what a log should say; `file`, the path of the
#'   configuration or `NULL`.
#' @section Errors:
#' `ancify_config_error` with the fields `file` and `problems`, a character
#' vector with all that is wrong (for text that is no YAML also `line`, where the
#' parser tells it); `ancify_file_error` where the configuration file itself
#' can't be read; `ancify_input_error` where `config` is none of the above.
#' @seealso [ancify_init()], [ancify_run()]
#' @export
#' @examples
#' config <- ancify_example()
#' config
#'
#' # All problems are reported at once.
#' try(ancify_config(list(focal_species = "human", metod = "voting")))
ancify_config <- function(config) {
  check_given()
  read_config(config)
}

# The phases tell which input files have to be there.
read_config <- function(config, phases = c("project", "call", "evaluate", "train")) {
  if (inherits(config, "ancify_run")) config <- attr(config, "config")
  if (is.character(config)) {
    origin <- config_origin(config)
    config <- load_config(config)
  } else if (inherits(config, "ancify_config")) {
    # Checked again: it may have been changed, and files may have gone.
    origin <- config_origin(config$file, config$notes)
    config <- raw_config(config)
  } else {
    origin <- config_origin()
  }
  check_is_mapping(config, origin)
  config <- build_config(config, origin)
  origin$problems <- c(origin$problems, missing_inputs(config, phases))
  stop_on_problems(origin)
  config
}

# The list that gives this configuration when read.
raw_config <- function(config) {
  outgroups <- config$outgroups
  columns <- c("name", "tier", "alignment")
  if (!is.data.frame(outgroups) || !all(columns %in% names(outgroups)) ||
    !all(outgroups$tier %in% c("inner", "outer"))) {
    abort_ancify(
      "`outgroups` must be a data frame of name, tier (\"inner\" or \"outer\") and alignment.",
      "config",
      file = config$file, problems = "`outgroups` is not as ancify_config() makes it."
    )
  }
  outgroups <- split(config$outgroups, factor(config$outgroups$tier, c("inner", "outer")))
  entries <- function(tier) {
    maf_name <- lapply(tier$maf_name %||% rep(NA, nrow(tier)), function(name) {
      if (!is.na(name)) name
    })
    Map(list, name = tier$name, alignment = tier$alignment, maf_name = maf_name,
        USE.NAMES = FALSE)
  }
  raw <- unclass(config)
  raw[c("lengths", "notes", "file", "not_kept_in")] <- NULL
  raw$outgroups <- lapply(outgroups, entries)
  raw
}

# ---- A YAML file, every scalar as the text that stands there -------------------

load_config <- function(path) {
  text <- config_text(path)
  # The parser would read the first document and pass over the rest.
  documents <- grep("^---(\\s|$)", strsplit(text, "\r?\n")[[1]])
  if (length(documents) > 1) {
    stop_on_bad_yaml(sprintf("a second document begins at line %d", documents[2]), path)
  }
  # A warning of the parser's means that something was read as something else.
  parse_yaml(text, text_handlers(), function(problem) stop_on_bad_yaml(problem, path), TRUE)
}

stop_on_bad_yaml <- function(message, path) {
  origin <- config_origin(path)
  origin$problems <- sprintf("this is not valid YAML: %s. Correct it there.", message)
  lines <- regmatches(message, gregexpr("(?<=at line )[0-9]+", message, perl = TRUE))[[1]]
  # Where the parser names two places, the fault is at the second.
  stop_on_problems(origin, line = if (length(lines)) as.integer(lines[length(lines)]))
}

config_text <- function(path) {
  fail <- function(why) {
    abort_ancify(
      sprintf("The configuration file %s %s.", quoted(path), why), "file",
      file = path
    )
  }
  if (!file.exists(path)) {
    fail("does not exist; ancify_init() writes a template")
  }
  if (dir.exists(path)) {
    fail("is a folder; give the path of a YAML file")
  }
  tryCatch(read_text_file(path), ancify_error = function(condition) {
    abort_ancify(paste("The configuration file", conditionMessage(condition)), "file", file = path)
  })
}

# YAML takes Y for a boolean, 01 for an octal number and 1e5 for 100000. All are
# kept as text here and converted by the type of their key. An empty value of a
# key is NULL; in a list `null` is a name like another.
text_handlers <- function() {
  scalars <- c(
    "str", "str#na", "bool#yes", "bool#no", "bool#na",
    "int", "int#hex", "int#oct", "int#base60", "int#na",
    "float", "float#fix", "float#exp", "float#base60", "float#inf", "float#neginf",
    "float#nan", "float#na",
    "timestamp", "timestamp#iso8601", "timestamp#spaced", "timestamp#ymd"
  )
  handlers <- structure(rep(list(identity), length(scalars)), names = scalars)
  handlers$null <- function(text) structure(text, class = "yaml_null")
  handlers$seq <- function(items) lapply(items, unclass_null)
  handlers$map <- function(values) {
    values[vapply(values, inherits, NA, "yaml_null")] <- list(NULL)
    values
  }
  handlers
}

unclass_null <- function(item) {
  if (inherits(item, "yaml_null")) unclass(item) else item
}

# ---- From raw values to a checked configuration --------------------------------

build_config <- function(raw, origin) {
  config <- read_section(raw, config_keys(), "", origin)
  check_tiers(config, origin)
  config$outgroups <- outgroup_table(config$outgroups)
  config["lengths"] <- list(read_lengths(config, origin))
  check_species(config, origin)
  check_alignments_once(config, origin)
  check_outputs(config, origin)
  check_tree(config, origin)
  if (!is.null(method_of(config))) method_of(config)$check(config, origin)
  check_posterior_key(config, origin)
  for (name in unique(unlist(lapply(calling_methods(), `[[`, "thresholds")))) {
    check_thresholds(config, name, origin)
  }
  config["notes"] <- list(c(origin$notes, beside_note(origin$beside)))
  config["file"] <- list(origin$file)
  structure(config, class = "ancify_config", inputs = origin$inputs)
}
