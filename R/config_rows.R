# The fields of a row of the table of settings.

# read      function(value, key, origin): checks a value and converts it; its `type` is what the
#           documentation calls such values
# meaning   what the setting does, in one or two sentences
# default   its value where the configuration has none
# required  whether it has no default and must be given
# unset     what holds where there is neither a value nor a default, as the documentation says it
# example   what the template shows for a setting without a default: YAML after `key:`
# changes   what is made again after a change: "projections" and calls, "calls" or "nothing"
# python    whether the Python tool has this setting too
# printed   whether print() of a configuration shows it on a line of its own
# keys      the rows of the settings within this one
# within    how the names of those are joined to its name: "." or, for a list of entries, "[i]."
config_setting <- function(read, meaning, default = NULL, required = FALSE, unset = "none",
                           example = NULL, changes = "calls", python = FALSE, printed = FALSE,
                           keys = NULL, within = ".") {
  as.list(environment())
}

# A mapping of other settings
config_section <- function(keys, meaning, ...) {
  config_setting(key_section(keys), meaning, ..., keys = keys)
}
