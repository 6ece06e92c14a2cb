# Completion in real shells.

rows <- command_rows()
folder <- new_folder()
writeLines(bash_completion(rows), file.path(folder, "for_bash"))
writeLines(zsh_completion(rows), file.path(folder, "for_zsh"))

# What bash completes after these words. The last one is begun.
completions <- function(...) {
  words <- c("ancify", ...)
  result <- run_shell(folder, c(
    "source ./for_bash",
    sprintf("COMP_WORDS=(%s)", paste(shQuote(words), collapse = " ")),
    sprintf("COMP_CWORD=%d", length(words) - 1),
    "_ancify", "printf '%s\\n' \"${COMPREPLY[@]}\""
  ))
  expect_quiet(result)
  result$out[nzchar(result$out)]
}

spelt <- function(options) unlist(lapply(option_rows[options], `[[`, "names"), use.names = FALSE)

test_that("the script for bash is valid, and registers itself", {
  result <- run_shell(folder, c(
    "bash -n for_bash", "source <(ancify completion bash)", "complete -p ancify"
  ))
  expect_quiet(result)
  expect_identical(result$out, "complete -o default -F _ancify ancify")
})

test_that("bash completes commands and options", {
  expect_setequal(completions(""), names(rows))
  expect_identical(completions("ann"), "annotate")
  expect_setequal(completions("co"), c("compare", "completion"))
  expect_setequal(completions("--"), c("--help", "--version"))
  for (name in names(rows)) {
    expect_setequal(completions(name, "-"), spelt(c(rows[[name]]$options, "verbose", "help")) |>
                      unique())
  }
  expect_identical(completions("sfs", "in.vcf", "--pop"), "--populations")
  expect_identical(completions("-v", "annotate", "--po"), "--polarise")
  expect_setequal(completions("help", ""), names(rows))
  expect_identical(completions("completion", "z"), "zsh")
})

test_that("bash is left to complete names of files", {
  expect_identical(completions("report", ""), character())
  expect_identical(completions("run", "-c", "an"), character())
  # A file of a command's name does not change the command.
  expect_identical(completions("annotate", "sfs", "--poly"), character())
  expect_identical(completions("annotate", "sfs", "--pola"), "--polarise")
})

test_that("zsh completes the same", {
  require_tool("zsh")
  result <- run_shell(folder, c("ancify completion zsh | cmp - for_zsh", "zsh -n for_zsh"))
  expect_quiet(result)
  # _arguments and _describe tell what they are given.
  result <- run_shell(folder, c(
    "cat > try <<'END'", "compdef() { }", "source ./for_zsh",
    "_describe() { print -l -- $commands }", "_arguments() { print -l -- $@ }",
    "words=(ancify a) CURRENT=2; _ancify", "words=(ancify annotate -) CURRENT=3; _ancify", "END",
    "zsh -f try"
  ))
  expect_quiet(result)
  expect_identical(sub(":.*", "", result$out[seq_along(rows)]), names(rows))
  expect_identical(result$out[2], paste0("check:", rows$check$purpose))
  expect_true("(-o --output)-o[the file or folder to write]:FILE:_files" %in% result$out)
})

test_that("every word of the script for zsh is quoted", {
  script <- gsub("\\'", "", zsh_completion(rows), fixed = TRUE)
  # Quotes are in pairs, so that no text of the table ends one.
  quotes <- lengths(regmatches(script, gregexpr("'", script)))
  expect_identical(script[quotes %% 2 == 1], character())
  for (name in names(rows)) {
    expect_match(script, paste0("^    '", name, ":"), all = FALSE)
    expect_match(script, paste0("^    ", name, "\\) _arguments"), all = FALSE)
  }
})

test_that("another shell is refused", {
  result <- run_shell(folder, "ancify completion fish")
  expect_identical(result$status, 2L)
  expect_match(result$err, "completion is for bash and zsh", fixed = TRUE)
})
