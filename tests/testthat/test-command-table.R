# The table of commands: what is made from it.

rows <- command_rows()
options <- option_rows
words <- names(rows)

command <- function(...) run_here(...)[c("status", "out")]

usage_problem <- function(...) {
  conditionMessage(tryCatch(run_command(parse_command_line(c(...)), rows),
                            ancify_usage_error = identity))
}

test_that("each row is whole, and each option belongs to a command", {
  for (name in words) {
    row <- rows[[name]]
    expect_true(is.function(row$run))
    expect_match(row$purpose, "^[a-z].*[^.]$")
    expect_true(nchar(row$purpose) < 80)
    expect_true(all(row$options %in% names(options)), info = name)
    expect_true(all(row$required %in% row$options), info = name)
    expect_true(all(row$streams %in% c(row$arguments, row$options)), info = name)
    expect_gt(length(row$examples), 0)
    expect_match(row$examples, paste0("ancify ", name, "\\b"))
    expect_true(all(row$instead %in% getNamespaceExports("ancify")), info = name)
  }
  expect_setequal(c(unlist(lapply(rows, `[[`, "options")), "verbose", "help", "version"),
                  names(options))
  spelt <- unlist(lapply(options, `[[`, "names"))
  expect_false(anyDuplicated(spelt) > 0)
  expect_match(spelt, "^(-[a-z]|--[a-z-]+)$")
})

test_that("the general help has all commands, in three ways", {
  help <- command("--help")
  expect_identical(help$status, 0L)
  for (name in words) {
    expect_match(help$out, paste0("^  ", name, " +", substr(rows[[name]]$purpose, 1, 20)),
                 all = FALSE)
  }
  expect_true(all(nchar(help$out) <= 80))
  expect_identical(command("help"), help)
  expect_identical(command("-h"), help)
})

test_that("each command has its own help, in three ways", {
  for (name in words) {
    help <- command(name, "--help")
    expect_identical(help$status, 0L)
    expect_match(help$out[1], paste0("^usage: ancify ", name, "\\b"))
    expect_true(all(nchar(help$out) <= 80), info = name)
    row <- rows[[name]]
    for (argument in row$arguments) expect_match(help$out[1], argument, fixed = TRUE)
    for (option in row$options) {
      expect_match(help$out, paste0("^  ", paste(options[[option]]$names, collapse = ", "), "\\b"),
                   all = FALSE)
    }
    for (example in unlist(strsplit(row$examples, "\n"))) {
      expect_true(paste0("  ", example) %in% help$out, info = name)
    }
    expect_identical(command("help", name), help)
    expect_identical(command("-h", name), help)
  }
  # Help comes first, whatever else is wrong.
  expect_identical(command("sfs", "--polarise", "-h"), command("help", "sfs"))
})

test_that("version is a word and an option", {
  version <- command("version")
  expect_identical(version, list(status = 0L, out = paste("ancify", package_version_text())))
  expect_identical(command("--version"), version)
  expect_identical(command("run", "--version"), version)
})

test_that("each command refuses each option that it does not take, and says who does", {
  for (name in words) {
    row <- rows[[name]]
    arguments <- rep("x", sum(!startsWith(row$arguments, "[")))
    others <- setdiff(names(options), c(row$options, "verbose", "help", "version"))
    told <- vapply(others, function(option) {
      value <- if (nzchar(options[[option]]$value)) "1"
      usage_problem(name, arguments, long_name(option), value)
    }, "")
    takers <- vapply(others, function(option) {
      Find(function(word) option %in% rows[[word]]$options, words)
    }, "")
    expected <- sprintf("^%s takes no %s, which is for .*\\b%s\\b", name,
                        vapply(others, long_name, ""), takers)
    expect_identical(told[!mapply(grepl, expected, told)], told[0])
    for (option in row$required) {
      given <- setdiff(row$required, option)
      rest <- as.vector(rbind(vapply(given, long_name, ""), rep("1", length(given))))
      expect_match(usage_problem(name, arguments, rest),
                   sprintf("^%s needs %s %s$", name, options[[option]]$names[1],
                           options[[option]]$value))
    }
  }
})

test_that("too few and too many arguments are refused", {
  expect_match(usage_problem("compare", "a"), "^compare needs CALLS CALLS ...$")
  expect_match(usage_problem("posterior", "a"), "^posterior needs CALLS CHROMOSOME")
  expect_match(usage_problem("posterior", 1:5), "takes CALLS CHROMOSOME .*, not also 5$")
  expect_match(usage_problem("run", "-c", "x", "call"), "^run takes no arguments, not also call$")
})

test_that("- is refused where it would be a file", {
  expect_match(usage_problem("run", "-c", "-"), "cannot use a standard stream for -c: give a file")
  expect_match(usage_problem("annotate", "x", "-", "-o", "y.vcf"), "stream for CALLS")
  expect_match(usage_problem("compare", "a", "b", "-"), "stream for (CALLS|\\.\\.\\.)")
  expect_match(usage_problem("report", "a", "-o", "-"), "stream for -o")
  parsed <- c(parse_command_line(c("-", "x", "-o", "-")), list(rows = rows))
  expect_null(check_command_line("annotate", rows$annotate, parsed))
})

test_that("words are read as a shell's users write them", {
  expect_identical(
    parse_command_line(c("-v", "run", "--config=a=b", "-n", "2")),
    list(arguments = "run", verbose = TRUE, config = "a=b", threads = "2")
  )
  expect_identical(parse_command_line(c("report", "--", "-odd-", "--help")),
                   list(arguments = c("report", "-odd-", "--help")))
  expect_identical(parse_command_line(c("annotate", "-", "-o", "-")),
                   list(arguments = c("annotate", "-"), output = "-"))
  expect_ancify_error(parse_command_line(c("run", "-c")), "usage", "-c needs a value")
})

test_that("misspelt commands and options have suggestions", {
  for (name in words) {
    swapped <- sub("^(.)(.)(.)", "\\1\\3\\2", name)
    for (wrong in setdiff(c(sub(".$", "", name), paste0(name, "x"), swapped), words)) {
      expect_match(usage_problem(wrong), sprintf("no command %s; did you mean [a-z-]+\\?$", wrong))
    }
  }
  expect_match(usage_problem("anotate"), "did you mean annotate?", fixed = TRUE)
  expect_match(usage_problem("chekc"), "did you mean check?", fixed = TRUE)
  expect_match(usage_problem("help", "demografy"), "did you mean demography?", fixed = TRUE)
  expect_match(usage_problem("run", "--thread", "2"), "did you mean --threads?", fixed = TRUE)
  expect_match(usage_problem("annotate", "--keep-field=x"), "did you mean --keep-fields?",
               fixed = TRUE)
  expect_match(usage_problem("zzzzzz"), "no command zzzzzz.", fixed = TRUE)
  expect_match(usage_problem("run", "--zzzzzz"), "no option --zzzzzz.", fixed = TRUE)
})

# ---- Messages ------------------------------------------------------------------------------------

# All texts in the package's functions.
texts_of <- function(x) {
  if (is.function(x)) {
    c(texts_of(body(x)), texts_of(as.list(formals(x))))
  } else if (is.call(x) || is.pairlist(x) || is.expression(x)) {
    unlist(lapply(as.list(x), texts_of))
  } else if (is.list(x)) {
    unlist(lapply(x, texts_of))
  } else if (is.character(x)) {
    x
  }
}

test_that("no message sends a user of commands to an R function that a command replaces", {
  namespace <- asNamespace("ancify")
  objects <- mget(setdiff(ls(namespace), "command_rows"), namespace)
  texts <- unique(unlist(lapply(objects, texts_of)))
  exported <- getNamespaceExports(namespace)
  replaced <- unlist(lapply(rows, `[[`, "instead"))
  named <- function(texts, functions) {
    pattern <- sprintf("\\b(%s)\\(\\)", paste(functions, collapse = "|"))
    unlist(regmatches(texts, gregexpr(pattern, texts)))
  }
  expect_true("ancify_init()" %in% named(texts, replaced))
  told <- vapply(texts, shell_words, "", "run", rows)
  expect_identical(named(told, replaced), character())
  # Only users of R meet what advises these: no command takes or makes such objects.
  only_in_r <- c(
    "ancify_config", "annotate_vcf", "available_gpus", "call_ancestral", "coalescent_history",
    "coding_changes", "complete_maps", "count_kmers", "count_patterns", "count_variants",
    "cpg_class", "chunk_calls", "coverage_model", "demography", "dfe_mixture", "dfe_model",
    "dfe_sfs", "distance_maps",
    "embed_sequences", "event_admixture", "event_epoch", "event_equilibrium", "event_pulse",
    "event_removal", "event_reordering", "event_split", "expected_ld", "fit_alpha",
    "fit_autoencoder", "fit_substitution_model", "fold", "haseman_elston",
    "kernel_grm", "kernel_matrix", "kernel_product", "kernel_products", "kmer_matrix",
    "ld_ratios", "ld_scores", "ld_statistics", "marginal_sfs",
    "polarise_sites",
    "polymer_model", "project_sfs", "read_ancestral", "read_kmers", "reml_control",
    "read_coverage", "read_recombination_map", "score_missense", "selected_spectra",
    "sequence_model", "sfs", "six_frames", "size_history",
    "substitution_model", "train_classifier", "write_kmers", "write_pgen"
  )
  left <- sub("\\(\\)", "", unique(named(told, exported)))
  expect_identical(setdiff(left, only_in_r), character())
})

test_that("help says by which name a stream is given", {
  says <- function(command) streams_sentence(rows[[command]])
  expect_match(says("mutations"), "^--vcf may be - for the standard input")
  expect_match(says("sfs"), "^VCF may be - for the standard input")
})

test_that("advice is about commands, options and arguments", {
  in_shell <- function(...) shell_words(paste0(...), "annotate", rows)
  expect_identical(in_shell("ancify_init() writes a template"), "`ancify init` writes a template")
  expect_identical(in_shell("the result of ancify_run() or fit_reml()"),
                   "the result of `ancify run` or `ancify reml`")
  expect_identical(in_shell("`keep_fields` needs `polarise = TRUE`"),
                   "`--keep-fields` needs `--polarise`")
  expect_identical(in_shell("`out` and `vcf` are one file"), "`-o` and `VCF` are one file")
  expect_identical(in_shell("`also = \"indels\"` needs a run"), "`--also indels` needs a run")
  # A key of a configuration keeps its name.
  expect_identical(shell_words("`cluster` must be slurm", "run", rows), "`cluster` must be slurm")
})

test_that("errors and warnings tell the command line's way out", {
  folder <- new_folder()
  say <- function(code) {
    lines <- capture.output(status <- code, type = "message")
    c(status, lines)
  }
  missing <- file.path(folder, "no.yaml")
  told <- say(run_command_line(c("run", "-c", missing)))
  expect_identical(told[1], "1")
  expect_match(told[2], "`ancify init` writes a template", fixed = TRUE)
  expect_match(say(run_command_line(c("report", folder)))[2], "`ancify run`", fixed = TRUE)
  told <- say(run_command_line(c("sfs", "x", "--populations", "y", "--window", "9")))
  expect_identical(told, c("2", "ancify: --window needs -o FILE; see ancify sfs --help"))
  told <- say(run_command_line("chekc"))
  expect_identical(
    told[2], "ancify: there is no command chekc; did you mean check? See ancify --help"
  )
})
