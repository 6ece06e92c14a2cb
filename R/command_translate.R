# Command lines of other programs as lines of ancify, by the table of command_programs.R.

#' Translate command lines of other programs
#'
#' `translate_command("gcta64 --reml --grm mice --pheno traits.txt")` gives the line of `ancify`
#' that is equivalent to a line of another program.
#'
#' It knows the most common options of GCTA, BOLT, REGENIE, GEMMA and GPU_REML, and takes their
#' files as they are. Options that only concern the other program's computation, such as its
#' memory, have no equivalent. The notes name all other options that it does not know. It opens no
#' file. The vignette `vignette("heritability")` has a table of lines.
#'
#' @param line A command line, one string. Quotes, and backslashes before line ends, are as in a
#'   shell. Variables such as `$DIR` stay as they are.
#' @return A list of class `translated_command`:
#' * `line`: the line of `ancify`.
#' * `program`, `command`: the other program, and our command.
#' * `notes`: strings that name options without translation, and differences.
#' @section Errors:
#' * `ancify_input_error`: the program is unknown, `line` names no analysis that has a line here, a
#'   quote is open, or an option lacks its value.
#' @references
#' Yang, Lee, Goddard and Visscher (2011) GCTA: a tool for genome-wide complex trait analysis.
#' American Journal of Human Genetics 88:76.
#'
#' Loh and others (2015) Efficient Bayesian mixed-model analysis increases association power in
#' large cohorts. Nature Genetics 47:284.
#'
#' Mbatchou and others (2021) Computationally efficient whole-genome regression for quantitative and
#' binary traits. Nature Genetics 53:1097.
#'
#' Zhou and Stephens (2012) Genome-wide efficient mixed-model analysis for association studies.
#' Nature Genetics 44:821.
#' @seealso [fit_reml()], [scan_variants()], [fit_sparse_reml()]
#' @export
#' @examples
#' translate_command("gcta64 --reml --grm mice --pheno traits.txt --mpheno 2 --reml-maxit 50")
#' translate_command("gpu-reml --bed-prefix one,two --pheno-txt traits.txt --out-prefix out/h2")
translate_command <- function(line) {
  check_args(line = text("command line"))
  translated_words(words_of_line(line))
}

# `words`: the words of a line, with literal dollar signs as `literal_dollar`.
translated_words <- function(words) {
  refuse_if(length(words) == 0, "`line` is empty: give a command of %s.", names_of_programs())
  program <- program_called(words[1])
  options <- options_of_words(words[-1], program)
  command <- command_of(program, basename(words[1]), options)
  made <- our_options(options, program, command[1])
  ours <- with_defaults(made$options, program)
  structure(
    list(line = line_of(command, ours), program = program$name, command = command[1],
         notes = as.character(c(made$notes, lacking_options(command[1], ours)))),
    class = "translated_command"
  )
}

#' @export
print.translated_command <- function(x, ...) {
  check_no_more(...)
  cat(x$line, "\n", sep = "")
  for (note in x$notes) cat(strwrap(note, 80, initial = "# ", prefix = "#   "), sep = "\n")
  invisible(x)
}

translate_line_command <- function(parsed) {
  words <- parsed$arguments
  # Several words are a line that the shell has split.
  translated <- if (length(words) == 1) {
    translate_command(words)
  } else {
    translated_words(gsub("$", literal_dollar, words, fixed = TRUE))
  }
  writeLines(translated$line)
  for (note in translated$notes) print_problem("note: ", note)
}

# ---- Words ---------------------------------------------------------------------------------------

# A dollar sign that does not begin a variable, inside of words
literal_dollar <- "\001"

# The words of a line, without quotes, as a shell splits them. Variables stay.
words_of_line <- function(line) {
  line <- gsub("\\\\\r?\n", " ", line)
  quotes <- "'[^']*'|\"[^\"]*\""
  open <- gsub("[^'\"]", "", gsub(quotes, "", line))
  refuse_if(nzchar(open), "`line` has a quote %s without end.", substr(open, 1, 1))
  quoted <- gregexpr(quotes, line)
  regmatches(line, quoted) <- lapply(regmatches(line, quoted), function(texts) {
    ifelse(startsWith(texts, "'"), gsub("$", literal_dollar, texts, fixed = TRUE), texts)
  })
  words <- regmatches(line, gregexpr(sprintf("(%s|[^[:space:]'\"])+", quotes), line))[[1]]
  gsub("'([^']*)'|\"([^\"]*)\"", "\\1\\2", words)
}

# Double quotes leave variables to the shell, single quotes keep all characters. A path in the home
# folder needs no quotes.
shell_quoted <- function(words) {
  literal <- gsub(literal_dollar, "$", words, fixed = TRUE)
  escaped <- gsub(literal_dollar, "\\$", gsub("([\\\\`\"])", "\\\\\\1", words), fixed = TRUE)
  has_variable <- grepl("$", words, fixed = TRUE)
  ifelse(grepl("^(~/)?[A-Za-z0-9_./,:=@%+-]+$", words), words,
         ifelse(has_variable, sprintf("\"%s\"", escaped), shQuote(literal)))
}

# ---- The other program ---------------------------------------------------------------------------

program_called <- function(word) {
  programs <- foreign_programs()
  matches <- vapply(programs, function(program) grepl(program$pattern, basename(word)), NA)
  refuse_if(!any(matches), "%s is unknown: lines of %s are translated.", quoted(word),
            names_of_programs())
  programs[[which(matches)]]
}

names_of_programs <- function() enumerate(vapply(foreign_programs(), `[[`, "", "name"))

# A list with an entry for each option given: list(name =, values =, row = of the program's table;
# NULL if it is unknown). Words that belong to no option also form an entry, without a row.
options_of_words <- function(words, program) {
  options <- list()
  while (length(words)) {
    named <- is_option_word(words[1])
    parts <- if (named) sub("^([^=]*)=", "\\1\n", words[1]) else words[1]
    parts <- strsplit(parts, "\n", fixed = TRUE)[[1]]
    row <- if (named) row_of_option(parts[1], program)
    following <- c(parts[-1], words[-1])
    free <- which(c(vapply(following, is_option_word, NA), TRUE))[1] - 1
    taken <- if (!named) 0 else min(free, row$values %||% Inf)
    values <- values_of_option(following[seq_len(taken)], parts[1], row)
    options <- c(options, list(list(name = parts[1], values = values, row = row)))
    words <- following[seq_along(following) > taken]
  }
  options
}

# The given values, or the defaults. An option of ours that takes values needs at least one.
values_of_option <- function(given, name, row) {
  needs <- !is.null(row$ours) && row$values > 0
  values <- if (needs && length(given) == 0) row$default else given
  refuse_if(needs && length(values) == 0, "%s needs a value, which the line lacks.", name)
  values
}

# Numbers may be negative.
is_option_word <- function(word) grepl("^--?[A-Za-z]", word)

row_of_option <- function(name, program) {
  Find(function(row) name %in% row$names, program$options)
}

# Our command, and its words that belong to the analysis.
command_of <- function(program, called, options) {
  given <- c(
    called, vapply(options, `[[`, "", "name"),
    vapply(options, function(option) paste(c(option$name, option$values), collapse = " "), "")
  )
  analysis <- intersect(names(program$analyses), given)[1]
  refuse_if(is.na(analysis), "The line of %s has none of the analyses that have a line here: %s.",
            program$name, enumerate(names(program$analyses)))
  command <- program$analyses[[analysis]]
  refuse_if(!nzchar(command),
            "%s %s needs no line here: later lines compute with the genotypes themselves.",
            program$name, analysis)
  strsplit(command, " ", fixed = TRUE)[[1]]
}

# ---- Our options ---------------------------------------------------------------------------------

# list(options = values of ours, by option, notes =)
our_options <- function(options, program, command) {
  ours <- list()
  for (option in options) {
    row <- option$row
    names <- setdiff(of_command(row$ours, command), "")
    if (length(names) == 0) next
    values <- if (is.null(row$change)) option$values else row$change(option$values)
    ours <- with_option(ours, strsplit(names, " ", fixed = TRUE)[[1]], values)
    if (!is.null(row$also)) ours <- c(ours, row$also(values, command))
  }
  for (flag in program$further(ours, command)) ours[[flag]] <- character()
  notes <- c(lapply(options, note_of_option, command), notes_of_defaults(program, options, ours))
  list(options = ours, notes = unique(unlist(notes)))
}

notes_of_defaults <- function(program, options, ours) {
  given <- vapply(options, `[[`, "", "name")
  lapply(program$defaults, function(row) {
    spelt <- intersect(row$option, given)
    if (length(spelt) && !row$unless %in% names(ours)) {
      sprintf("%s: %s", spelt[1], row$note)
    }
  })
}

# The note about an option; NULL if our line is equivalent.
note_of_option <- function(option, command) {
  row <- option$row
  note <- if (is.function(row$note)) row$note(option$values) else of_command(row$note, command)
  is_known <- !is.null(row) && (is.null(row$ours) || length(of_command(row$ours, command)))
  if (!is_known && length(note) == 0) note <- sprintf("`ancify %s` has no option for it", command)
  given <- paste(c(option$name, shell_quoted(option$values)), collapse = " ")
  if (length(note)) sprintf("%s: %s", given, note)
}

# Adds values to the last of these options; the options before it are flags.
with_option <- function(ours, names, values) {
  for (flag in utils::head(names, -1)) ours[[flag]] <- character()
  name <- utils::tail(names, 1)
  ours[[name]] <- unique(c(ours[[name]], values))
  if (is.null(ours[[name]])) ours[[name]] <- character()
  ours
}

with_defaults <- function(ours, program) {
  always <- c(program$always, "--out" = program$out)
  for (name in setdiff(names(always), names(ours))) ours[[name]] <- always[[name]]
  ours
}

# Paths of genotypes are separate words; other values are joined.
line_of <- function(command, ours) {
  order <- c(intersect("--genotypes", names(ours)), setdiff(names(ours), c("--genotypes", "--out")),
             "--out")
  words <- lapply(order, function(name) {
    values <- ours[[name]]
    if (name != "--genotypes" && length(values)) values <- paste(values, collapse = ",")
    c(name, shell_quoted(values))
  })
  paste(c("ancify", command[1], unlist(words), command[-1]), collapse = " ")
}

lacking_options <- function(command, ours) {
  if (!any(c("--genotypes", "--grm") %in% names(ours))) {
    sprintf("`ancify %s` needs --genotypes, which the line lacks", command)
  }
}
