# The fields of a row of the table of settings.

# read      function(value, key, origin): checks a value and converts it; its `type` is the
#           documentation's name for such values
# meaning   its effect, in one or two sentences
# default   its value if the configuration has none
# required  TRUE if it has no default and must be given
# unset     the behaviour without a value or default, in the documentation's words
# example   the template's text for a setting without a default: YAML after `key:`
# changes   the results made again after a change: "projections" (and calls), "calls" or "nothing"
# python    TRUE if the Python tool has this setting too
# printed   TRUE if print() of a configuration shows it on a line of its own
# keys      the rows of the settings within this one
# within    the text that joins their names to its name: "." or, for a list of entries, "[i]."
config_setting <- function(read, meaning, default = NULL, required = FALSE, unset = "none",
                           example = NULL, changes = "calls", python = FALSE, printed = FALSE,
                           keys = NULL, within = ".") {
  as.list(environment())
}

# A mapping of other settings
config_section <- function(keys, meaning, ...) {
  config_setting(key_section(keys), meaning, ..., keys = keys)
}
