# The commands of the command line: one row each. Parsing, help and completion are made from it.

# purpose    what the command does, in a line
# arguments  how the usage names its arguments; "..." for further ones, [] around those that may
#            lack
# options    names of command_options; the `required` must be given
# examples   whole command lines
# run        function(parsed): the exit status, 0 if it is NULL or no number
# instead    the R function whose work the command does, for advice in messages
command_row <- function(purpose, options, run, arguments = character(), required = character(),
                        examples = character(), instead = "") {
  as.list(environment())
}

# A function, as rows name functions of files that R reads later.
command_rows <- function() {
  of_run <- c("config", "threads", "cluster", "verbose")
  list(
    init = command_row(
      "write an annotated configuration to start from", "output", init_command,
      examples = "ancify init -o ancify.yaml", instead = "ancify_init"
    ),
    check = command_row(
      "check a run's inputs before it starts; status 1 if there is an error",
      c("config", "threads", "verbose"), check_command, required = "config",
      examples = "ancify check -c ancify.yaml", instead = "ancify_check"
    ),
    run = command_row(
      "project and call; evaluate if the configuration has that block", of_run,
      phases_command(all_phases), required = "config",
      examples = "ancify run -c ancify.yaml -n 8 -v", instead = "ancify_run"
    ),
    project = command_row(
      "project the outgroups' alignments onto the focal genome", of_run,
      phases_command("project"), required = "config",
      examples = "ancify project -c ancify.yaml --cluster slurm", instead = "ancify_project"
    ),
    call = command_row(
      "call ancestral bases from projected sequences", of_run, phases_command("call"),
      required = "config", examples = "ancify call -c ancify.yaml", instead = "ancify_call"
    ),
    evaluate = command_row(
      "compare calls with a reference and with known variants", of_run,
      phases_command("evaluate"), required = "config",
      examples = "ancify evaluate -c ancify.yaml", instead = "ancify_evaluate"
    ),
    train = command_row(
      "train a model for the method ml", c("config", "threads", "output", "verbose"),
      train_command, required = "config", examples = "ancify train -c ancify.yaml -o model.txt",
      instead = "ancify_train"
    ),
    annotate = command_row(
      "write ancestral alleles into a VCF or BCF",
      c("output", "reference", "mask", "polarise", "keep_fields", "threads", "verbose"),
      annotate_command, c("VCF", "CALLS"), "output",
      c("ancify annotate in.vcf.gz ancestral_calls -o out.vcf.gz --polarise",
        "ancify annotate 1000g.vcf.gz AA -o polarised.bcf --polarise"),
      "annotate_vcf"
    ),
    sfs = command_row(
      "make a site frequency spectrum of a VCF or BCF",
      c("populations", "project", "ancestral", "reference", "window", "output", "threads",
        "verbose"),
      sfs_command, "VCF", "populations",
      "ancify sfs in.vcf.gz --populations samples.txt --project 20,20 -o joint.fs", "sfs_from_vcf"
    ),
    compare = command_row(
      "compare the calls of several runs", c("window", "output", "threads", "verbose"),
      compare_command, c("CALLS", "CALLS", "..."),
      examples = "ancify compare voting_calls likelihood_calls -o windows.tsv",
      instead = "compare_calls"
    ),
    report = command_row(
      "write a page of HTML on a run", c("output", "verbose"), report_command, "CALLS",
      examples = "ancify report ancestral_calls -o report.html", instead = "ancify_report"
    ),
    posterior = command_row(
      "print posteriors of a run with `posterior: true` as a table", "verbose",
      posterior_command, c("CALLS", "CHROMOSOME", "[START]", "[END]"),
      examples = "ancify posterior ancestral_calls chr1 2001 2010", instead = "read_posterior"
    ),
    demography = command_row(
      "fit a demographic model to a spectrum; status 3 if not converged",
      c("model", "start", "starts", "output", "threads", "verbose"), demography_command,
      "SPECTRUM", c("model", "start"),
      paste(
        "ancify demography joint.fs --model split_mig",
        "--start nu1=1,nu2=1,time=0.2,m=1 -o estimates.tsv"
      ),
      "fit_demography"
    ),
    reml = command_row(
      "estimate heritability from genotypes; status 3 if not converged",
      c(reml_inputs, "out", "threads", "verbose"), reml_command,
      required = c("genotypes", "out"),
      examples = "ancify reml --genotypes mice.bed --pheno traits.tsv --out h2",
      instead = "fit_reml"
    )
  )
}

reml_inputs <- c("genotypes", "pheno", "covar", "keep", "components")

# Commands about the command line itself, which need the table of rows.
own_commands <- c(
  help = "print the help of a command", version = "print the version",
  completion = "print completions: source <(ancify completion bash), or zsh"
)

# ---- Help ----------------------------------------------------------------------------------------

general_help <- function() {
  rows <- command_rows()
  purposes <- c(vapply(rows, `[[`, "", "purpose"), own_commands)
  common <- command_options[c("config", "threads", "verbose", "help", "version")]
  c(
    "usage: ancify COMMAND [arguments] [options]", "", "commands",
    in_columns(names(purposes), purposes), "",
    "options of most commands, before or after the command", option_lines(common), "",
    "A file - is the standard input or output. ancify COMMAND --help tells more."
  )
}

command_help <- function(name) {
  row <- command_rows()[[name]]
  options <- command_options[c(row$options, "help")]
  needed <- vapply(command_options[row$required], function(option) {
    paste(option$names[1], option$value)
  }, "")
  usage <- paste(c("usage: ancify", name, row$arguments, needed, "[options]"), collapse = " ")
  c(
    usage, "", strwrap(row$purpose), "", "options", option_lines(options), "", "examples",
    paste0("  ", gsub(" (-o|--polarise|--start|--project) ", " \\\\\n      \\1 ", row$examples))
  )
}

option_lines <- function(options) {
  in_columns(
    vapply(options, function(option) {
      trimws(paste(paste(option$names, collapse = ", "), option$value))
    }, ""),
    vapply(options, `[[`, "", "help")
  )
}

# Two columns, the second one wrapped.
in_columns <- function(first, second) {
  width <- max(nchar(first)) + 4
  unlist(Map(function(first, second) {
    strwrap(second, 80, initial = formatC(paste0("  ", first), width = -width),
            prefix = strrep(" ", width))
  }, first, second), use.names = FALSE)
}

# ---- Completion ----------------------------------------------------------------------------------

# A script for bash; zsh runs it too, by bashcompinit.
completion_script <- function(shell) {
  rows <- command_rows()
  words <- vapply(rows, function(row) {
    paste(unlist(lapply(command_options[c(row$options, "help")], `[[`, "names")), collapse = " ")
  }, "")
  c(
    if (shell == "zsh") "autoload -U +X bashcompinit && bashcompinit",
    "_ancify() {",
    "  local word=${COMP_WORDS[COMP_CWORD]} words=",
    "  if [ \"$COMP_CWORD\" -eq 1 ]; then",
    sprintf("    words='%s'", paste(c(names(rows), names(own_commands)), collapse = " ")),
    "  else",
    "    case ${COMP_WORDS[1]} in",
    sprintf("      %s) words='%s' ;;", names(words), words),
    sprintf("      help) words='%s' ;;", paste(names(rows), collapse = " ")),
    "      completion) words='bash zsh' ;;",
    "    esac",
    "  fi",
    "  COMPREPLY=()",
    "  case $word in",
    "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$word\")) ;;",
    "    *)",
    "      if [ \"$COMP_CWORD\" -eq 1 ] || [ \"${COMP_WORDS[1]}\" = help ] ||",
    "        [ \"${COMP_WORDS[1]}\" = completion ]; then",
    "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))",
    "      fi ;;",
    "  esac",
    "}",
    "complete -o default -F _ancify ancify"
  )
}
