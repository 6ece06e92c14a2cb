# Reads a configuration from YAML or a list.

#' Read and check a configuration
#'
#' Reads all settings of a run and checks them together before any work starts. One error reports
#' all problems.
#'
#' [ancify_init()] writes a template. The smallest configuration has three settings:
#'
#' ```
#' focal_species: human
#' chromosome_lengths: hg38.chrom.sizes
#' outgroups:
#'   inner: [{name: chimp, alignment: hg38.panTro6.net.axt.gz}]
#'   outer: [{name: macaque, alignment: hg38.rheMac10.net.axt.gz}]
#' ```
#'
#' | Case | Rule |
#' |:-----|:-----|
#' | relative path of an input | in the working directory, else beside the file; see `notes` |
#' | relative path of an output | relative to the working directory |
#' | names of species, chromosomes | taken literally: `[2L, 4, X, 01, 1e5]` are five names |
#' | characters of a name | all but `/`; at most 200 bytes; no blanks in names of chromosomes |
#' | settings that a method does not use | checked, but without effect |
#' | input in a list | also a `TwoBitFile`, `FaFile`, `VcfFile`, or `BSgenome` of a 2bit file |
#' | unknown setting | an error, with the nearest known name |
#' | size of the file | at most 16 MB |
#'
#' @eval settings_help()
#' @param config Path of a YAML file; or a list with the same settings (names and paths as
#'   character, numbers as numeric); or the result of `ancify_config()` or [ancify_run()], which is
#'   checked again.
#' @return A list of class `ancify_config` with every setting, defaults filled in, and absolute
#'   paths of inputs. `outgroups` is a data frame: `name`, `tier`, `alignment`, `maf_name` (`NA` if
#'   it is `name`) and `twobit` (`NA` for none). Further elements:
#'   * `lengths`: a named numeric vector of the chromosomes to process, in bases;
#'   * `notes`: lines for a log;
#'   * `file`: the path of the configuration, or `NULL`.
#' @section Errors:
#' * `ancify_config_error` (fields `file`, `problems`, for bad YAML also `line`): the settings in
#'   `problems` are wrong.
#' * `ancify_file_error` (field `file`): the configuration file cannot be read.
#' * `ancify_input_error`: `config` is none of the above.
#' @seealso [ancify_settings()] for the settings as a data frame, [ancify_init()], [ancify_run()]
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

# The phases determine which input files must exist.
read_config <- function(config, phases = c("project", "call", "evaluate", "train")) {
  if (inherits(config, "ancify_run")) config <- attr(config, "config")
  if (is.character(config)) {
    origin <- new_origin(config)
    config <- load_config(config)
  } else if (inherits(config, "ancify_config")) {
    # Check again, because settings may have been modified and files removed.
    origin <- new_origin(config$file, config$notes)
    config <- raw_config(config)
  } else {
    origin <- new_origin()
  }
  check_is_mapping(config, origin)
  config <- build_config(config, origin)
  origin$problems <- c(origin$problems, missing_inputs(config, phases))
  stop_on_problems(origin)
  config
}

# A list that read_config() would turn into this configuration.
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
    optional <- function(key) {
      lapply(tier[[key]] %||% rep(NA, nrow(tier)), function(value) if (!is.na(value)) value)
    }
    Map(list, name = tier$name, alignment = tier$alignment, maf_name = optional("maf_name"),
        twobit = optional("twobit"), USE.NAMES = FALSE)
  }
  raw <- unclass(config)
  raw[c("lengths", "notes", "file", "not_kept_in")] <- NULL
  raw$outgroups <- lapply(outgroups, entries)
  raw
}

# ---- Reads a YAML file, with every scalar as its literal text -------------------

load_config <- function(path) {
  # Warnings of the parser are errors, because they mean that a value was misread.
  parse_yaml(
    config_text(path), text_handlers(), function(problem) stop_on_bad_yaml(problem, path), TRUE
  )
}

stop_on_bad_yaml <- function(message, path) {
  origin <- new_origin(path)
  origin$problems <- sprintf("this is not valid YAML: %s. Correct it there.", message)
  lines <- regmatches(message, gregexpr("(?<=at line )[0-9]+", message, perl = TRUE))[[1]]
  # If the parser names two lines, the fault is at the second.
  stop_on_problems(origin, line = if (length(lines)) as.integer(lines[length(lines)]))
}

config_text <- function(path) {
  fail <- function(why) refuse_file(path, "The configuration file %s %s.", quoted(path), why)
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

# YAML takes Y for a boolean, 01 for an octal number and 1e5 for 100000. All stay
# text here, and the type of their key converts them. An empty value of a key is
# NULL; in a list, `null` is an ordinary name.
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
  check_aliases(config, origin)
  check_species(config, origin)
  check_alignments_once(config, origin)
  check_outputs(config, origin)
  check_tree(config, origin)
  if (!is.null(method_of(config))) method_of(config)$check(config, origin)
  check_model_classes_key(config, origin)
  check_posterior_key(config, origin)
  for (name in unique(unlist(lapply(calling_methods(), `[[`, "thresholds")))) {
    check_thresholds(config, name, origin)
  }
  config["notes"] <- list(c(origin$notes, beside_note(origin$beside)))
  config["file"] <- list(origin$file)
  structure(config, class = "ancify_config", inputs = origin$inputs)
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
  refuse_if(is.null(origin$file), "`config` must be a path, a named list or an ancify_config.")
  origin$problems <- "holds no keys; ancify_init() writes a template to start from."
  stop_on_problems(origin)
}

beside_note <- function(paths) {
  if (length(paths)) {
    sprintf("Found beside the configuration file: %s.", enumerate(quoted(unique(paths))))
  }
}
