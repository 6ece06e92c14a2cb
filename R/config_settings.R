# The table of settings for users: as a data frame, on the help page, and in the template.

#' List the settings of a configuration
#'
#' Lists all settings that [ancify_config()] reads, with their meanings, types and defaults.
#'
#' @return A data frame with one row per setting:
#'   * `setting`: its name; a dot joins it to the enclosing setting, and `[i]` stands for an entry
#'     of a list;
#'   * `topic`: one of four topics;
#'   * `type`: the allowed values;
#'   * `default`: its default in a YAML file, `required`, or the behaviour without a value;
#'   * `meaning`: its effect;
#'   * `changes`: the results that the next run makes again after a change: `"projections"` (and
#'     calls), `"calls"` or `"nothing"`;
#'   * `python`: `TRUE` if the Python tool has this setting too.
#' @seealso [ancify_config()], [ancify_init()]
#' @export
#' @examples
#' settings <- ancify_settings()
#' settings[settings$topic == "How to compute", c("setting", "default")]
#'
#' # The results that a change of these settings makes again
#' table(settings$topic, settings$changes)
ancify_settings <- function() {
  groups <- config_groups()
  tables <- Map(function(keys, topic) settings_table(keys, topic), groups, names(groups))
  do.call(rbind, unname(tables))
}

settings_table <- function(keys, topic, prefix = "") {
  if (is.null(keys)) {
    return(NULL)
  }
  rows <- Map(function(key, name) {
    setting <- paste0(prefix, name)
    own <- data.frame(
      setting = setting, topic = topic, type = attr(key$read, "type"), default = default_text(key),
      meaning = key$meaning, changes = key$changes, python = key$python
    )
    rbind(own, settings_table(key$keys, topic, paste0(setting, key$within)))
  }, keys, names(keys))
  do.call(rbind, unname(rows))
}

default_text <- function(key) {
  if (key$required) {
    "required"
  } else if (is.null(key$default)) {
    key$unset
  } else {
    sprintf("`%s`", yaml_value(key$default))
  }
}

# A value as written in a YAML file
yaml_value <- function(value) {
  text <- if (is.logical(value)) {
    tolower(value)
  } else if (is.numeric(value)) {
    vapply(unname(value), format, "", digits = 15)
  } else if (grepl("[{}]", value)) {
    sprintf("\"%s\"", value)
  } else {
    value
  }
  if (length(text) > 1) sprintf("[%s]", paste(text, collapse = ", ")) else text
}

# The settings on the page ?ancify_config, by topic, for roxygen2.
settings_help <- function() {
  settings <- ancify_settings()
  items <- sprintf(
    "* `%s` (%s; %s): %s", settings$setting, settings$type,
    ifelse(settings$default == "required", "required", paste("default:", settings$default)),
    settings$meaning
  )
  topics <- split(items, factor(settings$topic, unique(settings$topic)))
  lines <- Map(function(topic, items) c("", paste0(topic, ":"), "", items), names(topics), topics)
  paste(c("@section Settings:", unlist(lines)), collapse = "\n")
}

# ---- The template of ancify_init() --------------------------------------------------------------

template_width <- 80

config_template <- function() {
  head <- paste(
    "Configuration for ancify. Fill in what is required; a setting behind a # has this default, or",
    "is an example if it has none. Paths of inputs may be relative to the working directory, or to",
    "the folder of this file. Paths of outputs are relative to the working directory."
  )
  groups <- config_groups()
  lines <- Map(function(keys, topic) {
    rule <- paste("# ----", topic, strrep("-", template_width - 8 - nchar(topic)))
    c("", rule, unlist(Map(template_lines, names(keys), keys), use.names = FALSE))
  }, groups, names(groups))
  c(
    comment_lines(head), "#", "# In a shell:  ancify run -c <this file>",
    "# In R:        ancify_run(\"<this file>\")", unlist(lines, use.names = FALSE)
  )
}

# `indent`: columns before the text
comment_lines <- function(text, indent = 0) strwrap(text, template_width - indent, prefix = "# ")

# An empty line, the meaning, then the setting itself, commented out unless it is required.
template_lines <- function(name, key) {
  value <- template_value(name, key)
  c("", comment_lines(paste(key$meaning, without_value(key))),
    if (key$required) value else paste("#", value))
}

without_value <- function(key) {
  if (is.null(key$default) && !key$required && key$unset != "none") {
    sprintf("Without a value: %s.", key$unset)
  } else {
    ""
  }
}

template_value <- function(name, key) {
  if (is.null(key$example) && !is.null(key$keys)) {
    within <- Map(function(name, key) {
      c(comment_lines(paste(key$meaning, without_value(key)), 4), template_value(name, key))
    }, names(key$keys), key$keys)
    return(c(paste0(name, ":"), paste0("  ", unlist(within, use.names = FALSE))))
  }
  value <- if (is.null(key$default)) key$example else yaml_value(key$default)
  lines <- strsplit(value, "\n")[[1]]
  if (length(lines) == 1) {
    return(sprintf("%s: %s", name, value))
  }
  c(paste0(name, ":"), paste0("  ", lines[-1]))
}
