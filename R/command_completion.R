# Completion scripts for shells, made from the rows of the command line.

completion_command <- function(parsed) {
  scripts <- list(bash = bash_completion, zsh = zsh_completion)
  shell <- parsed$arguments
  if (!shell %in% names(scripts)) usage_error("completion is for ", enumerate(names(scripts)))
  writeLines(scripts[[shell]](parsed$rows))
}

# Options and, for some commands, the possible words of their argument.
completed_options <- function(row) c(row$options, "verbose", "help")

completed_words <- function(name, rows) {
  switch(name, help = names(rows), completion = c("bash", "zsh"))
}

# After a command without its own words, bash completes file names.
bash_completion <- function(rows) {
  spelt <- function(options) {
    paste(unlist(lapply(option_rows[unique(options)], `[[`, "names")), collapse = " ")
  }
  commands <- paste(names(rows), collapse = " ")
  cases <- vapply(names(rows), function(name) {
    sprintf("    %s) options='%s' words='%s' ;;", name, spelt(completed_options(rows[[name]])),
            paste(completed_words(name, rows), collapse = " "))
  }, "")
  c(
    "_ancify() {",
    "  local word=${COMP_WORDS[COMP_CWORD]} command= i",
    sprintf("  local options='%s' words='%s'", spelt(c("help", "version")), commands),
    "  for ((i = 1; i < COMP_CWORD; i++)); do",
    "    case ${COMP_WORDS[i]} in",
    sprintf("      %s) command=${COMP_WORDS[i]}; break ;;", gsub(" ", "|", commands)),
    "    esac",
    "  done",
    "  case $command in", unname(cases), "  esac",
    "  case $word in",
    "    -*) words=$options ;;",
    "  esac",
    "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))",
    "}",
    "complete -o default -F _ancify ancify"
  )
}

zsh_completion <- function(rows) {
  # Escapes text within '...' of a specification, where brackets and colons have a meaning.
  escaped <- function(text) gsub("'", "'\\''", gsub("([]:[\\\\])", "\\\\\\1", text), fixed = TRUE)
  option_spec <- function(option, command) {
    names <- option$names
    if (length(names) > 1) {
      names <- sprintf("'(%s)'{%s}", paste(names, collapse = " "), paste(names, collapse = ","))
    }
    value <- if (nzchar(option$value)) sprintf(":%s:_files", option$value) else ""
    sprintf("%s'[%s]%s'", names, escaped(of_command(option$help, command)), value)
  }
  cases <- unlist(lapply(names(rows), function(name) {
    words <- completed_words(name, rows)
    argument <- if (length(words)) sprintf("(%s)", paste(words, collapse = " ")) else "_files"
    options <- option_rows[unique(completed_options(rows[[name]]))]
    specs <- vapply(options, option_spec, "", command = name)
    c(sprintf("    %s) _arguments \\", name), sprintf("      %s \\", specs),
      sprintf("      '*:argument:%s' ;;", argument))
  }))
  purposes <- escaped(vapply(rows, `[[`, "", "purpose"))
  c(
    "#compdef ancify",
    "whence compdef > /dev/null || { autoload -Uz compinit && compinit }",
    "_ancify() {",
    "  local -a commands=(", sprintf("    '%s:%s'", names(rows), purposes), "  )",
    "  if (( CURRENT == 2 )); then", "    _describe command commands", "    return", "  fi",
    "  shift words", "  (( CURRENT-- ))",
    "  case $words[1] in", cases, "  esac",
    "}",
    "compdef _ancify ancify"
  )
}
