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

# Where a configuration comes from, and what is found on the way.
config_origin <- function(file = NULL, notes = character()) {
  if (!is.null(file) && (length(file) != 1 || is.na(file) || !nzchar(file))) {
    abort_ancify("`config` must be one path, a list or an ancify_config.", "input")
  }
  origin <- new.env(parent = emptyenv())
  origin$file <- file
  origin$problems <- character()
  origin$failed <- character()
  origin$notes <- notes
  origin$beside <- character()
  origin$inputs <- list()
  origin
}

stop_on_problems <- function(origin, ...) {
  n <- length(origin$problems)
  if (n == 0) {
    return(invisible())
  }
  what <- if (is.null(origin$file)) "The configuration" else quoted(origin$file)
  lead <- sprintf("%s has %s:", what, if (n == 1) "a problem" else paste(n, "problems"))
  abort_ancify(
    paste(c(lead, paste("*", origin$problems)), collapse = "\n"),
    "config",
    file = origin$file, problems = origin$problems, ...
  )
}

check_is_mapping <- function(config, origin) {
  if (is.list(config) && !is.null(names(config))) {
    return(invisible())
  }
  if (is.null(origin$file)) {
    abort_ancify("`config` must be a path, a named list or an ancify_config.", "input")
  }
  origin$problems <- "holds no keys; ancify_init() writes a template to start from."
  stop_on_problems(origin)
}

# ---- The keys -----------------------------------------------------------------

key <- function(read, default = NULL, required = FALSE) {
  list(read = read, default = default, required = required)
}

config_keys <- function() {
  list(
    focal_species = key(read_name, required = TRUE),
    chromosome_lengths = key(read_input, required = TRUE),
    chromosomes = key(read_names),
    outgroups = key(section(outgroup_keys()), required = TRUE),
    work_dir = key(read_output, "."),
    output_dir = key(read_output, "./ancestral_calls"),
    min_inner_freq = key(whole_number(1), 1L),
    min_outer_freq = key(whole_number(1), 1L),
    num_cpus = key(whole_number(1, core_limits()$threads), 4L),
    backend = key(one_of("auto", "cpu", "gpu"), "auto"),
    gpu_devices = key(read_devices),
    method = key(one_of(method_names()), "voting"),
    tree = key(read_tree),
    substitution_model = key(one_of(model_names), "JC69"),
    model_kappa = key(number(above = 0), 2),
    model_base_freqs = key(read_base_frequencies, rate_values("base", 0.25)),
    model_rates = key(labelled_numbers(rate_labels$exchange), rate_values("exchange", 1)),
    likelihood_high_threshold = key(number(0, 1), 0.8),
    likelihood_low_threshold = key(number(0, 1), 0.5),
    ml_model_path = key(read_input),
    ml_training_reference = key(read_input),
    ml_high_threshold = key(number(0, 1), 0.8),
    ml_low_threshold = key(number(0, 1), 0.5),
    evaluation = key(section(evaluation_keys())),
    focal_maf_name = key(read_text),
    on_bad_block = key(one_of("error", "skip"), "error"),
    keep_projected = key(read_flag, TRUE),
    focal_fasta = key(read_input),
    estimate = key(read_flag, FALSE),
    rate_alpha = key(number(above = 0, highest = most_alpha)),
    n_rates = key(whole_number(1, most_rates), 4L),
    invariant = key(read_share, 0),
    history = key(section(history_keys())),
    posterior = key(read_flag, FALSE),
    gpu_memory = key(number(above = 0)),
    cluster = key(section(cluster_keys()))
  )
}

outgroup_keys <- function() {
  list(inner = key(read_outgroups), outer = key(read_outgroups))
}

outgroup_entry_keys <- function() {
  list(
    name = key(read_name, required = TRUE),
    alignment = key(read_input, required = TRUE),
    maf_name = key(read_text)
  )
}

evaluation_keys <- function() {
  list(
    reference_dir = key(read_input),
    reference_pattern = key(read_text, "{chrom}.fa"),
    vcf_dir = key(read_input),
    vcf_pattern = key(read_text, "{chrom}.vcf.gz")
  )
}

history_keys <- function() {
  list(
    splits = key(positive_numbers),
    sizes = key(positive_numbers),
    focal_size = key(number(above = 0)),
    focal_lineages = key(whole_number(1, most_focal_lineages), 20L),
    mutation_rate = key(number(above = 0), 1.25e-8)
  )
}

cluster_keys <- function() {
  list(
    partition = key(text_like("^[A-Za-z0-9_.,+-]+$", "names of partitions, as in \"main,long\".")),
    time = key(text_like(
      "^([0-9]+-)?[0-9]+(:[0-9]{1,2}){0,2}$", "minutes, or a time such as \"04:00:00\" or \"2-12\"."
    )),
    memory = key(text_like("^[0-9]+[KMGT]?$", "megabytes, or a size such as \"8G\".")),
    cpus = key(whole_number(1)),
    gpus = key(whole_number(0))
  )
}

rate_labels <- list(
  base = c("A", "C", "G", "T"),
  exchange = c("AC", "AG", "AT", "CG", "CT", "GT")
)

rate_values <- function(labels, value) {
  structure(rep(value, length(rate_labels[[labels]])), names = rate_labels[[labels]])
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

# Reads one mapping by its table of keys. What is wrong goes to origin$problems,
# leaves NULL, and its key is in origin$failed for the checks between keys.
read_section <- function(values, keys, prefix, origin) {
  check_keys(names(values), names(keys), prefix, origin)
  result <- lapply(keys, function(key) key$default)
  for (name in names(keys)) {
    value <- values[[name, exact = TRUE]]
    path <- paste0(prefix, name)
    if (!is.null(value)) {
      result[name] <- list(attempt(origin, keys[[name]]$read(value, path, origin), path))
    } else if (keys[[name]]$required) {
      add_problem(origin, "`%s` is missing, and has no default: set it.", path)
      origin$failed <- c(origin$failed, path)
    }
  }
  result
}

check_keys <- function(given, known, prefix, origin) {
  in_section <- function(key) sprintf("`%s%s`", prefix, key)
  listed <- FALSE
  for (name in given[!given %in% known]) {
    advice <- did_you_mean(name, known, in_section)
    if (advice == "." && !listed) {
      advice <- paste0("; known here: ", paste(known, collapse = ", "), ".")
      listed <- TRUE
    }
    add_problem(origin, "%s is not a known key%s", in_section(name), advice)
  }
  for (name in unique(given[duplicated(given)])) {
    add_problem(origin, "`%s%s` is given twice: keep one.", prefix, name)
  }
}

section <- function(keys) {
  function(value, key, origin) {
    if (!is.list(value) || (length(value) > 0 && is.null(names(value)))) {
      fault(value, key, sprintf("give the keys %s under it.", enumerate(names(keys))))
    }
    read_section(value, keys, paste0(key, "."), origin)
  }
}

# A fault ends the reading of the value at a key; attempt() notes it and goes on.
fault <- function(value, key, advice) {
  message <- sprintf("`%s` is %s: %s", key, show_value(value), advice)
  stop(structure(class = c("ancify_fault", "error", "condition"), list(message = message)))
}

attempt <- function(origin, expression, key) {
  tryCatch(expression, ancify_fault = function(condition) {
    origin$problems <- c(origin$problems, conditionMessage(condition))
    origin$failed <- c(origin$failed, key)
    NULL
  })
}

add_problem <- function(origin, format, ...) {
  origin$problems <- c(origin$problems, sprintf(format, ...))
}

# ---- Readers: (value, key, origin) -> the converted value, or a fault -----------

is_scalar <- function(value) {
  is.atomic(value) && length(value) == 1 && !is.na(value)
}

read_text <- function(value, key, origin) {
  text <- if (is.numeric(value) && is_scalar(value)) number_text(value) else value
  if (!is_scalar(text) || !is.character(text) || !nzchar(text)) {
    fault(value, key, "give one text.")
  }
  # enc2utf8() would make another text of it.
  if (!validEnc(text)) fault(value, key, paste0(not_text, "."))
  enc2utf8(text)
}

# Text that goes into a job's script.
text_like <- function(pattern, wanted) {
  function(value, key, origin) {
    text <- read_text(value, key, origin)
    if (!grepl(pattern, text)) fault(value, key, paste("give", wanted))
    text
  }
}

# Names become names of files.
name_advice <- function() {
  sprintf(
    "a file will have this name, so it can't be empty, '.', '..', hold '/' or exceed %d bytes.",
    core_limits()$name_bytes
  )
}

read_name <- function(value, key, origin) {
  name <- as_name(value)
  if (is.na(name)) {
    fault(value, key, "give one name (in R as character).")
  }
  if (!names_a_path(name)) {
    fault(name, key, name_advice())
  }
  name
}

read_names <- function(value, key, origin) {
  if (length(value) == 0 || is.list(value) && !is.null(names(value))) {
    fault(value, key, "give a list of names, or leave the key out for all chromosomes.")
  }
  names <- vapply(as.list(value), as_name, "")
  if (anyNA(names)) {
    fault(value, key, "each item must be one name (in R as character).")
  }
  bad <- unique(names[!names_a_path(names)])
  if (length(bad)) {
    fault(bad, key, name_advice())
  }
  twice <- unique(names[duplicated(names)])
  if (length(twice)) {
    fault(twice, key, "listed twice; keep one.")
  }
  names
}

as_name <- function(value) {
  if (is.factor(value)) {
    value <- as.character(value)
  }
  if (!is_scalar(value) || is.logical(value)) {
    NA_character_
  } else if (is.numeric(value)) {
    number_text(value)
  } else {
    name <- as.character(value)
    # enc2utf8() would make another name of it; names_a_path() refuses it.
    if (validEnc(name)) enc2utf8(name) else name
  }
}

# Of a file or a folder inside that where it is used.
names_a_path <- function(names) {
  validUTF8(names) & !leaves_folder(names) & nchar(names, "bytes") <= core_limits()$name_bytes
}

leaves_folder <- function(names) {
  names %in% c("", ".", "..") | grepl("/", names, fixed = TRUE, useBytes = TRUE)
}

as_number <- function(value) {
  if (is.character(value) && is_scalar(value)) {
    value <- suppressWarnings(as.numeric(value))
  }
  if (is.numeric(value) && is_scalar(value) && is.finite(value)) as.numeric(value) else NA_real_
}

number <- function(lowest = -Inf, highest = Inf, above = -Inf) {
  wanted <- if (above == 0) {
    paste0(
      "give a number above 0", if (is.finite(highest)) paste(" up to", format_count(highest)), "."
    )
  } else {
    sprintf("give a number from %s to %s.", lowest, highest)
  }
  function(value, key, origin) {
    number <- as_number(value)
    if (is.na(number) || number < lowest || number > highest || number <= above) {
      fault(value, key, wanted)
    }
    number
  }
}

read_share <- function(value, key, origin) {
  share <- as_number(value)
  if (is.na(share) || share < 0 || share >= 1) {
    fault(value, key, "give a number from 0 to below 1.")
  }
  share
}

whole_number <- function(lowest, highest = .Machine$integer.max) {
  wanted <- if (highest < .Machine$integer.max) {
    sprintf("give a whole number from %d to %s.", lowest, format_count(highest))
  } else {
    sprintf("give a whole number of at least %d.", lowest)
  }
  function(value, key, origin) {
    number <- as_number(value)
    if (is.na(number) || number != round(number) || number < lowest || number > highest) {
      fault(value, key, wanted)
    }
    as.integer(number)
  }
}

as_numbers <- function(value) {
  if (is.factor(value)) NA_real_ else vapply(as.list(value), as_number, 0)
}

positive_numbers <- function(value, key, origin) {
  numbers <- as_numbers(value)
  if (length(numbers) == 0 || anyNA(numbers) || any(numbers <= 0)) {
    fault(value, key, "give one or more numbers above 0.")
  }
  numbers
}

labelled_numbers <- function(labels) {
  wanted <- sprintf("give %d numbers above 0, for %s.", length(labels), enumerate(labels))
  function(value, key, origin) {
    numbers <- as_numbers(value)
    # Names in another order would be silently taken for these.
    named_otherwise <- !is.null(names(value)) && !identical(names(value), labels)
    if (length(numbers) != length(labels) || anyNA(numbers) || any(numbers <= 0) ||
      named_otherwise) {
      fault(value, key, wanted)
    }
    structure(numbers, names = labels)
  }
}

read_base_frequencies <- function(value, key, origin) {
  frequencies <- labelled_numbers(rate_labels$base)(value, key, origin)
  total <- sum(frequencies)
  if (abs(total - 1) > 0.01 + 1e-9) {
    fault(value, key, sprintf("they sum to %s, and must sum to 1.", format(total, digits = 6)))
  }
  if (abs(total - 1) > 1e-9) {
    origin$notes <- c(
      origin$notes,
      sprintf("`%s` sum to %s and were scaled to 1.", key, format(total, digits = 6))
    )
  }
  frequencies / total
}

read_devices <- function(value, key, origin) {
  devices <- as_numbers(value)
  if (anyNA(devices) || any(devices < 0 | devices != round(devices)) || anyDuplicated(devices)) {
    fault(value, key, "give device numbers from 0, each once, or null for all devices.")
  }
  as.integer(devices)
}

one_of <- function(...) {
  choices <- c(...)
  function(value, key, origin) {
    # The Python tool takes hky85 for HKY85.
    chosen <- if (is_scalar(value)) match(tolower(value), tolower(choices)) else NA
    if (is.na(chosen)) {
      guess <- if (is_scalar(value)) closest(as.character(value), choices)
      hint <- if (length(guess)) sprintf(" (did you mean %s?)", quoted(guess)) else ""
      fault(value, key, sprintf("choose one of %s%s.", enumerate(choices), hint))
    }
    choices[chosen]
  }
}

read_flag <- function(value, key, origin) {
  # YAML 1.1's words for the two.
  word <- if (is_scalar(value)) tolower(value) else ""
  if (word %in% c("true", "yes", "on", "y")) {
    TRUE
  } else if (word %in% c("false", "no", "off", "n")) {
    FALSE
  } else {
    fault(value, key, "give true or false.")
  }
}

read_output <- function(value, key, origin) {
  path <- read_text(value, key, origin)
  problem <- path_problem(path)
  if (!is.null(problem)) fault(path, key, paste0(problem, "."))
  path.expand(path)
}

# Working directory first, then beside the configuration file. Whether the file
# is there at all is for missing_inputs() to say.
read_input <- function(value, key, origin) {
  path <- read_output(value, key, origin)
  if (is_absolute(path)) {
    return(path)
  }
  if (!file.exists(path) && !is.null(origin$file)) {
    beside <- file.path(dirname(origin$file), path)
    if (!file.exists(beside)) {
      return(path)
    }
    origin$beside <- c(origin$beside, path)
    path <- beside
  }
  absolute(path)
}

beside_note <- function(paths) {
  if (length(paths)) {
    sprintf("Found beside the configuration file: %s.", enumerate(quoted(unique(paths))))
  }
}

is_absolute <- function(path) {
  startsWith(path, "/")
}

absolute <- function(path) {
  if (is_absolute(path)) path else file.path(getwd(), sub("^(\\./)+", "", path))
}

read_outgroups <- function(value, key, origin) {
  if (!is.list(value) || !is.null(names(value))) {
    fault(value, key, "give a list of entries, each with `name` and `alignment`.")
  }
  lapply(seq_along(value), function(i) {
    path <- sprintf("%s[%d]", key, i)
    attempt(origin, section(outgroup_entry_keys())(value[[i]], path, origin), path)
  })
}

# The text of the tree, read from its file where a path is given.
read_tree <- function(value, key, origin) {
  text <- read_text(value, key, origin)
  if (!is_newick(text)) {
    path <- read_input(text, key, origin)
    if (!file.exists(path)) {
      fault(as_path(text), key, "no such file, nor Newick text such as '((human,chimp),gorilla);'.")
    }
    text <- tryCatch(
      read_text_file(path),
      ancify_error = function(condition) fault(as_path(text), key, conditionMessage(condition))
    )
    text <- gsub("[\r\n]", "", text)
    # Here its faults are those of a file.
    parse_newick(trimws(text), as_path(path))
  }
  trimws(text)
}

# Newick text begins with the root's parenthesis, or a comment before it.
is_newick <- function(text) {
  grepl("^\\s*[[(]", text) || grepl(";\\s*$", text)
}

# ---- Checks between keys ----------------------------------------------------------

outgroup_table <- function(outgroups) {
  tiers <- lapply(c("inner", "outer"), function(tier) {
    entries <- Filter(function(entry) !is.null(entry$name), outgroups[[tier]])
    text <- function(key) {
      vapply(entries, function(entry) entry[[key]] %||% NA_character_, "")
    }
    # An alignment that could not be read is a problem already.
    data.frame(
      name = text("name"), tier = rep(tier, length(entries)), alignment = text("alignment"),
      maf_name = text("maf_name")
    )
  })
  do.call(rbind, tiers)
}

read_lengths <- function(config, origin) {
  path <- config$chromosome_lengths
  if (is.null(path)) {
    return(NULL)
  }
  problem <- input_problem("chromosome_lengths", path, folder = FALSE)
  lengths <- if (is.null(problem)) {
    tryCatch(
      {
        origin$inputs[[path]] <- file_identity(path)
        read_chromosome_lengths(path, origin$inputs[[path]]$identity)
      },
      ancify_error = function(condition) {
        problem <<- paste0("`chromosome_lengths`: ", conditionMessage(condition))
        NULL
      }
    )
  }
  origin$problems <- c(origin$problems, problem)
  if (is.null(lengths)) NULL else requested_lengths(lengths, config, origin)
}

requested_lengths <- function(lengths, config, origin) {
  wanted <- if (is.null(config$chromosomes)) names(lengths) else config$chromosomes
  unknown <- setdiff(wanted, names(lengths))
  if (length(unknown)) {
    add_problem(
      origin, "`chromosomes`: there is no %s in %s, which has %s; use its names.",
      enumerate(quoted(unknown)), quoted(config$chromosome_lengths),
      enumerate(quoted(names(lengths)))
    )
  }
  # R could not tell whether their files are there.
  foreign <- wanted[is.na(iconv(wanted, "UTF-8", ""))]
  if (length(foreign)) {
    add_problem(
      origin, "`chromosomes`: this session's encoding can't say %s: start R in UTF-8 (%s).",
      enumerate(quoted(foreign)), "LC_ALL=C.UTF-8"
    )
  }
  lengths[setdiff(wanted, unknown)]
}

check_tiers <- function(config, origin) {
  tiers <- c("inner", "outer")
  failed <- c("outgroups", paste0("outgroups.", tiers)) %in% origin$failed
  empty <- tiers[lengths(config$outgroups)[tiers] == 0]
  if (any(failed) || length(empty) == 0) {
    return(invisible())
  }
  if (length(empty) == 2) {
    add_problem(origin, "`outgroups` names no species: list them with their alignments.")
  } else if (isTRUE(method_of(config)$both_tiers)) {
    add_problem(
      origin, "`outgroups.%s` is empty: `method` %s needs a species in both tiers.",
      empty, quoted(config$method)
    )
  }
}

check_species <- function(config, origin) {
  names <- config$outgroups$name
  for (name in unique(names[duplicated(names)])) {
    tiers <- unique(config$outgroups$tier[names == name])
    add_problem(
      origin, "`outgroups.%s`: %s is named twice and would confirm itself; keep one.",
      paste(tiers, collapse = "` and `outgroups."), quoted(name)
    )
  }
  if (isTRUE(config$focal_species %in% names)) {
    add_problem(
      origin, "`outgroups`: %s is the focal species and would confirm itself; take it out.",
      quoted(config$focal_species)
    )
  }
}

# One alignment under two names would confirm itself, and so would one species of a MAF.
check_alignments_once <- function(config, origin) {
  outgroups <- config$outgroups
  files <- normalizePath(outgroups$alignment, mustWork = FALSE)
  many <- have_many_species(files)
  for (file in unique(files[duplicated(files) & many %in% FALSE])) {
    add_problem(
      origin, "`outgroups`: %s have the same alignment, %s, and would confirm each other.",
      enumerate(quoted(outgroups$name[files %in% file])), quoted(file)
    )
  }
  check_maf_names(config, files, many, origin)
}

check_maf_names <- function(config, files, many, origin) {
  outgroups <- config$outgroups
  for (i in which(!many & !is.na(outgroups$maf_name))) {
    add_problem(
      origin, "`outgroups.%s: %s` has a `maf_name`, but %s is no MAF file: take it out.",
      outgroups$tier[i], outgroups$name[i], quoted(outgroups$alignment[i])
    )
  }
  in_maf <- many %in% TRUE
  names <- names_in_maf(outgroups)
  for (i in which(in_maf & names %in% focal_in_maf(config))) {
    add_problem(
      origin, "`outgroups.%s: %s` is %s in %s, and so is the focal species: set `%s`.",
      outgroups$tier[i], outgroups$name[i], quoted(names[i]), quoted(outgroups$alignment[i]),
      if (is.null(config$focal_maf_name)) "maf_name` or `focal_maf_name" else "maf_name"
    )
  }
  for (same in split(which(in_maf), data.frame(files, names)[in_maf, ], drop = TRUE)) {
    if (length(same) > 1) {
      add_problem(
        origin, "`outgroups`: %s are all %s in %s, and would confirm each other: set `maf_name`.",
        enumerate(quoted(outgroups$name[same])), quoted(names[same[1]]),
        quoted(outgroups$alignment[same[1]])
      )
    }
  }
}

names_in_maf <- function(outgroups) {
  ifelse(is.na(outgroups$maf_name), outgroups$name, outgroups$maf_name)
}

focal_in_maf <- function(config) {
  config$focal_maf_name %||% config$focal_species
}

# Whether alignment files have rows of several species, by their formats; NA where a file is not
# there or damaged, which is said later.
have_many_species <- function(files) {
  look <- function(file) {
    tryCatch(has_many_species_impl(file), ancify_error = function(condition) NA)
  }
  many <- vapply(unique(files), look, NA)
  unname(many[match(files, unique(files))])
}

# Calls have the file names of projected sequences, of references and of a genome's chromosomes.
check_outputs <- function(config, origin) {
  if (any(c("work_dir", "output_dir") %in% origin$failed)) {
    return(invisible())
  }
  full <- function(path) normalizePath(path, mustWork = FALSE)
  output <- full(config$output_dir)
  projected <- file.path(full(config$work_dir), "projected")
  if (startsWith(paste0(output, "/"), paste0(projected, "/"))) {
    add_problem(
      origin, "`output_dir` is %s, inside the folder of projected sequences: choose another.",
      quoted(config$output_dir)
    )
  }
  for (key in c("evaluation.reference_dir", "ml_training_reference")) {
    input <- if (key == "ml_training_reference") config[[key]] else config$evaluation$reference_dir
    if (!is.null(input) && full(input) == output) {
      add_problem(
        origin, "`output_dir` is %s, the folder of `%s`: choose another.",
        quoted(config$output_dir), key
      )
    }
  }
  if (!is.null(config$focal_fasta) && is_written(config$focal_fasta, config)) {
    add_problem(
      origin, "`focal_fasta` is %s, where a run would write: choose another `%s`.",
      quoted(config$focal_fasta), "output_dir` or `work_dir"
    )
  }
}

# Whether a run would put files in the place of these, by whatever names their folders go.
is_written <- function(paths, config) {
  species <- c(config$outgroups$name, config$focal_species)
  folders <- c(config$output_dir, projected_folder(config, species))
  paths <- normalizePath(paths, mustWork = FALSE)
  dirname(paths) %in% normalizePath(folders, mustWork = FALSE) &
    basename(paths) %in% paste0(names(config$lengths), ".fa")
}

check_tree <- function(config, origin) {
  if (is.null(config$tree)) {
    if (isTRUE(nzchar(method_of(config)$tree)) && !"tree" %in% origin$failed) {
      add_problem(
        origin, "`tree` is missing: `method` %s needs one (Newick text, or a file with it).",
        quoted(config$method)
      )
    }
    return(invisible())
  }
  tree <- attempt(origin, parse_newick(config$tree), "tree")
  if (is.null(tree)) {
    return(invisible())
  }
  problems <- tree_problems(tree, config$outgroups$name, config$focal_species)
  wants_lengths <- identical(method_of(config)$tree, "lengths") && !isTRUE(config$estimate)
  if (wants_lengths && !has_lengths(tree)) {
    problems <- c(problems, lengths_missing)
  }
  origin$problems <- c(origin$problems, problems)
}

# A history that is given has to fit the outgroups; estimating can do without one.
check_history_key <- function(config, origin) {
  if (NROW(config$outgroups) == 0) {
    return(invisible())
  }
  if (any(startsWith(as.character(origin$failed), "history"))) {
    return(invisible())
  }
  given <- !vapply(config$history[c("splits", "sizes")], is.null, NA)
  if (sum(given) == 1) {
    add_problem(
      origin, "`history.%s` is missing, but `%s` is given: give both.",
      c("splits", "sizes")[!given], c("splits", "sizes")[given]
    )
    return(invisible())
  }
  if (has_history(config)) {
    tryCatch(
      suppressMessages(config_history(config)),
      ancify_input_error = function(condition) {
        add_problem(origin, "`history`: %s", conditionMessage(condition))
      }
    )
  } else if (!isTRUE(config$estimate)) {
    add_problem(
      origin,
      paste(
        "`history` is missing: `method` %s needs `splits` and `sizes`",
        "(or `estimate: true`)."
      ),
      quoted(config$method)
    )
  }
}

has_history <- function(config) {
  !is.null(config$history$splits) && !is.null(config$history$sizes)
}

# The coalescent_history() of a configuration, its splits named and in the outgroups' order.
config_history <- function(config) {
  history <- config$history
  species <- config$outgroups$name
  in_order <- function(values, name) {
    if (!is.null(names(values))) {
      if (!setequal(names(values), species) || anyDuplicated(names(values))) {
        abort_ancify(
          sprintf("`%s` names %s, but the outgroups are %s; give a number for each.", name,
                  enumerate(quoted(names(values))), enumerate(quoted(species))),
          "input"
        )
      }
      return(values[species])
    }
    if (length(values) != length(species) && !(name == "sizes" && length(values) == 1)) {
      abort_ancify(
        sprintf("`%s` has %d numbers, but there are %d outgroups; give one for each.", name,
                length(values), length(species)),
        "input"
      )
    }
    values
  }
  coalescent_history(
    stats::setNames(in_order(history$splits, "splits"), species),
    unname(in_order(history$sizes, "sizes")), history$focal_size, history$focal_lineages,
    history$mutation_rate, config_model(config)
  )
}

check_posterior_key <- function(config, origin) {
  if (isTRUE(config$posterior) && !has_posterior(method_of(config))) {
    add_problem(
      origin, "`posterior` is true, but `method` %s has none: set it to false, or choose %s.",
      quoted(config$method), paste(names_with_posterior(), collapse = ", ")
    )
  }
}

check_thresholds <- function(config, method, origin) {
  low <- config[[paste0(method, "_low_threshold")]]
  high <- config[[paste0(method, "_high_threshold")]]
  if (isTRUE(low > high)) {
    add_problem(
      origin, "`%s_low_threshold` is %s, above `%s_high_threshold`, %s: exchange them.",
      method, low, method, high
    )
  }
}

# ---- Files ---------------------------------------------------------------------------

# What is wrong with the input files that these phases need.
missing_inputs <- function(config, phases) {
  unique(unlist(.mapply(
    function(key, path, folder, phase) {
      if (phase %in% phases && !is.na(path)) input_problem(key, path, folder)
    },
    input_table(config), NULL
  )))
}

input_table <- function(config) {
  outgroups <- config$outgroups
  one <- function(key, path, folder, phase) {
    if (!is.null(path)) data.frame(key = key, path = path, folder = folder, phase = phase)
  }
  rbind(
    data.frame(
      key = sprintf("outgroups.%s: %s", outgroups$tier, outgroups$name),
      path = outgroups$alignment,
      folder = rep(FALSE, nrow(outgroups)),
      phase = rep("project", nrow(outgroups))
    ),
    one("focal_fasta", config$focal_fasta, FALSE, c("project", "call")),
    one("evaluation.reference_dir", config$evaluation$reference_dir, TRUE, "evaluate"),
    one("evaluation.vcf_dir", config$evaluation$vcf_dir, TRUE, "evaluate"),
    one("ml_training_reference", config$ml_training_reference, TRUE, "train")
  )
}

input_problem <- function(key, path, folder) {
  kind <- if (folder) "folder" else "file"
  why <- if (!file.exists(path)) {
    sprintf("there is no such %s; correct the path", kind)
  } else if (dir.exists(path) != folder) {
    sprintf("a %s is needed; correct the path", kind)
  } else if (file.access(path, 4) != 0) {
    sprintf("this %s can't be read; check its permissions", kind)
  }
  if (!is.null(why)) {
    sprintf("`%s` is %s: %s.", key, quoted(path), why)
  }
}

# ---- Printing --------------------------------------------------------------------------------

#' @rdname ancify_config
#' @param x An `ancify_config`.
#' @param ... Not used.
#' @export
print.ancify_config <- function(x, ...) {
  writeLines(format_config(x))
  invisible(x)
}

format_config <- function(config) {
  outgroups <- config$outgroups
  species <- paste(format(outgroups$name), outgroups$alignment)
  rows <- c(
    `focal species` = config$focal_species,
    chromosomes = sprintf(
      "%s (%s bases)", enumerate(names(config$lengths)),
      format(sum(config$lengths), big.mark = ",", scientific = FALSE)
    ),
    structure(species, names = ifelse(duplicated(outgroups$tier), "", outgroups$tier)),
    method = paste0(config$method, method_of(config)$shown(config)),
    `work folder` = config$work_dir,
    `output folder` = config$output_dir,
    threads = sprintf("%d, backend %s", config$num_cpus, config$backend),
    `also set` = paste(also_set(config), collapse = ", ")
  )
  rows <- rows[nzchar(rows)]
  title <- paste(c("<ancify_config>", config$file), collapse = " ")
  width <- min(80, getOption("width"))
  table <- paste(format(names(rows)), unname(rows), sep = "  ")
  cut_middle(c(title, table, strwrap(config$notes, width)), width)
}

# Keys that print() does not show otherwise and that differ from their default.
also_set <- function(config) {
  keys <- config_keys()
  shown <- c(
    "focal_species", "chromosome_lengths", "chromosomes", "outgroups", "work_dir", "output_dir",
    "min_inner_freq", "min_outer_freq", "num_cpus", "backend", "method"
  )
  other <- setdiff(names(keys), shown)
  other[!vapply(other, function(name) identical(config[[name]], keys[[name]]$default), NA)]
}

# Paths say most at both ends.
cut_middle <- function(lines, width) {
  n <- nchar(lines)
  head <- width %/% 2 - 3
  cut <- paste0(substr(lines, 1, head), "...", substr(lines, n - (width - head - 4), n))
  ifelse(n > width, cut, lines)
}
