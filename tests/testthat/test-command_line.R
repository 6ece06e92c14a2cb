# The command line.

script <- system.file("exec", "ancify", package = "ancify")

ancify <- function(..., program = script, env = library_environment()) {
  run_program(program, ..., env = env)
}

# An error: its status, nothing on stdout, and on stderr a message without R's own words.
expect_complaint <- function(result, status, ...) {
  expect_identical(result$status, status)
  expect_identical(result$out, character())
  expect_match(result$err[1], "^ancify: ")
  expect_no_match(result$err, "Execution halted|Calls:|Error in|Traceback")
  for (text in c(...)) expect_match(paste(result$err, collapse = "\n"), text, fixed = TRUE)
}

written_config <- function(...) {
  set.seed(1)
  case <- random_config(...)
  case$path <- file.path(case$folder, "config.yaml")
  yaml::write_yaml(case$config, case$path)
  case
}

test_that("the script is installed and may be run", {
  expect_true(nzchar(script))
  expect_identical(unname(file.access(script, 1)), 0L)
})

test_that("help and version answer on stdout, as words and as options", {
  for (args in list("--help", "-h", "help")) {
    help <- do.call(ancify, as.list(args))
    expect_identical(help$status, 0L)
    expect_match(help$out[1], "^usage: ancify")
    for (word in c(names(command_rows()), names(own_commands), "-c", "-n", "-v", "--version")) {
      expect_match(help$out, paste0("^ .*", word), all = FALSE)
    }
    expect_true(all(nchar(help$out) <= 80))
    expect_identical(help$err, character())
  }
  for (args in list("--version", "version")) {
    version <- ancify(args)
    expect_identical(version$status, 0L)
    expect_identical(version$out, paste("ancify", utils::packageVersion("ancify")))
    expect_identical(version$err, character())
  }
})

test_that("each command has a help of its own, with its options and an example", {
  for (name in names(command_rows())) {
    row <- command_rows()[[name]]
    expect_output(status <- run_command_line(c(name, "--help")), paste0("^usage: ancify ", name))
    expect_identical(status, 0L)
    help <- command_help(name)
    expect_identical(utils::capture.output(invisible(run_command_line(c("help", name)))), help)
    for (option in row$options) {
      expect_match(help, command_options[[option]]$names[1], fixed = TRUE, all = FALSE)
    }
    expect_true(all(nchar(help) <= 80))
    # Examples are right commands, and advice names functions of the package.
    for (example in row$examples) {
      parsed <- parse_command_line(strsplit(example, " ")[[1]][-1])
      expect_identical(parsed$arguments[1], name)
      parsed$arguments <- parsed$arguments[-1]
      expect_silent(check_command_line(name, row, parsed))
    }
    expect_true(row$instead %in% getNamespaceExports("ancify"))
  }
})

test_that("wrong arguments are status 2, with a hint at the help", {
  calls <- list(
    list("no command", character()),
    list("no command evolve; see", "evolve"),
    list("no command anotate; did you mean 'annotate'\\? See", "anotate"),
    list("--fast", c("run", "--fast")),
    list("there is no option --confg; did you mean '--config'", c("run", "--confg", "x.yaml")),
    list("-c needs a value", c("run", "-c")),
    list("run needs -c FILE", "run"),
    list("project needs -c FILE", c("-v", "project")),
    list("run takes no arguments, not also call", c("run", "call", "-c", "x.yaml")),
    list("-n must be a positive", c("run", "-c", "x.yaml", "-n", "many")),
    list("-n must be a positive", c("run", "-c", "x.yaml", "-n", "0")),
    list("train needs -c FILE", "train"),
    list("run takes no --output", c("run", "-c", "x.yaml", "-o", "y")),
    list("run takes no --genotypes", c("run", "-c", "x.yaml", "--genotypes", "y")),
    list("--cluster must be slurm, not pbs", c("run", "-c", "x.yaml", "--cluster", "pbs")),
    list("check takes no --cluster", c("check", "-c", "x.yaml", "--cluster", "slurm")),
    list("--cluster needs a value", c("run", "-c", "x.yaml", "--cluster")),
    list("init takes no --cluster", c("init", "--cluster", "slurm")),
    list("annotate needs VCF CALLS", c("annotate", "a.vcf", "-o", "b.vcf")),
    list("annotate needs -o FILE", c("annotate", "a.vcf", "calls")),
    list("compare needs CALLS CALLS ...", c("compare", "a")),
    list("posterior takes CALLS CHROMOSOME", c("posterior", "a", "chr1", "1", "2", "3")),
    list("--start must give nu1, nu2, time and m of split_mig",
         c("demography", "a.fs", "--model", "split_mig", "--start", "nu1=1")),
    list("completion needs bash or zsh", "completion")
  )
  for (call in calls) {
    result <- do.call(ancify, as.list(call[[2]]))
    expect_complaint(result, 2L, "ancify --help")
    expect_match(result$err[1], call[[1]])
  }
})

test_that("completions are those of the tables, in bash", {
  bash <- Sys.which("bash")
  if (!nzchar(bash)) lacking("bash")
  file <- tempfile()
  writeLines(completion_script("bash"), file)
  complete <- function(...) {
    words <- c("ancify", ...)
    code <- c(
      sprintf("source %s", file), sprintf("COMP_WORDS=(%s)", paste(shQuote(words), collapse = " ")),
      sprintf("COMP_CWORD=%d", length(words) - 1), "_ancify", "printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    system2(bash, c("-c", shQuote(paste(code, collapse = "\n"))), stdout = TRUE)
  }
  expect_identical(complete("re"), c("report", "reml"))
  expect_identical(complete("annotate", "--p"), "--polarise")
  expect_identical(complete("help", "s"), "sfs")
  expect_identical(complete("completion", ""), c("bash", "zsh"))
  # Files are left to bash.
  expect_identical(complete("annotate", "a"), "")
  zsh <- ancify("completion", "zsh")
  expect_identical(zsh$out, completion_script("zsh"))
})

test_that("init writes a template, once", {
  folder <- new_folder()
  with_folder(folder, {
    expect_identical(ancify("init")$status, 0L)
    expect_identical(content_of(folder), "ancify.yaml")
    expect_match(readLines("ancify.yaml"), "focal_species", all = FALSE)
    before <- file_bytes("ancify.yaml")
    expect_complaint(ancify("init"), 1L, "ancify.yaml", "exists")
    expect_identical(file_bytes("ancify.yaml"), before)
    result <- ancify("-o", "my own.yaml", "init")
    expect_identical(result$status, 0L)
    expect_identical(result$out, "Wrote my own.yaml")
    expect_identical(ancify("init", "--output=third.yaml")$status, 0L)
    expect_identical(content_of(folder), c("ancify.yaml", "my own.yaml", "third.yaml"))
  })
})

test_that("project and call make the files of run, and print their paths", {
  case <- written_config()
  project <- ancify("project", "-c", case$path)
  expect_identical(project$status, 0L)
  expect_identical(project$err, character())
  expect_match(project$out[1], "^<ancify_run> focal.*2 threads")
  expect_projected(case$config$work_dir, case$projected)
  expect_false(file.exists(case$config$output_dir))

  call <- ancify("-c", case$path, "call", "-n", "1")
  expect_identical(call$status, 0L)
  expect_identical(call$err, character())
  expect_match(call$out[1], "1 thread")
  expect_match(call$out, "^chr1 +500 ", all = FALSE)
  paths <- file.path(case$config$output_dir, paste0(names(case$lengths), ".fa"))
  expect_identical(utils::tail(call$out, 3), paths)
  expect_calls(case$config$output_dir, case$calls)

  unlink(c(case$config$work_dir, case$config$output_dir), recursive = TRUE)
  run <- ancify("run", paste0("--config=", case$path), "--threads", "1")
  expect_identical(run$status, 0L)
  expect_identical(run$out, call$out)
  expect_identical(run$err, character())
  expect_calls(case$config$output_dir, case$calls)
})

test_that("evaluate prints the paths of its results", {
  case <- written_config()
  expect_complaint(ancify("evaluate", "-c", case$path), 1L, "chr1.fa", "no such calls")
  expect_identical(ancify("run", "-c", case$path)$status, 0L)
  result <- ancify("evaluate", "-c", case$path)
  expect_identical(result$status, 0L)
  expect_identical(result$err, character())
  files <- file.path(case$config$output_dir, "evaluation",
                     paste0(names(case$lengths), ".evaluation.txt"))
  expect_identical(utils::tail(result$out, 3), files)
  expect_true(all(file.exists(files)))
})

test_that("the log is on stderr, and only with -v", {
  case <- written_config()
  calls <- list(
    c("run", "-c", case$path, "-n", "2", "-v"), c("-v", "-n", "2", "-c", case$path, "run"),
    c("--verbose", "run", "--threads=2", "-c", case$path)
  )
  for (args in calls) {
    unlink(case$config$output_dir, recursive = TRUE)
    result <- do.call(ancify, as.list(args))
    expect_identical(result$status, 0L)
    expect_identical(result$err[1], paste("Using", cpu_backend(2)))
    expect_match(result$err, "^Called chr1$", all = FALSE)
    expect_match(result$out[1], "^<ancify_run>")
    expect_no_match(result$out, "Using|Called|Projected inner")
  }
})

test_that("warnings are lines on stderr", {
  case <- written_config(min_inner_freq = 3)
  result <- ancify("run", "-c", case$path)
  expect_identical(result$status, 0L)
  expect_length(result$err, 1)
  expect_match(result$err, "^ancify: warning: `min_inner_freq` is 3")
})

test_that("an error is status 1, with its cause and place", {
  missing <- tempfile(fileext = ".yaml")
  expect_complaint(ancify("run", "-c", missing), 1L, "error: ", missing, "does not exist")

  case <- written_config()
  axt <- file.path(case$folder, "inner2.axt")
  bad <- axt_block("chr1", 500, "AC", "GT")
  writeLines(c(bad, readLines(axt)), axt)
  result <- ancify("run", "-c", case$path)
  expect_complaint(result, 1L, axt, "line 1", "chr1:500-501", "on_bad_block")
  expect_false(file.exists(case$config$output_dir))
  expect_false(any(grepl("inner2/.|ancify-", content_of(case$config$work_dir))))

  unlink(axt)
  result <- ancify("run", "-c", case$path)
  expect_complaint(result, 1L, case$path, axt, "outgroups.inner: inner2")
})

test_that("check prints its findings; status 1 with an error, else 0", {
  case <- written_config()
  result <- ancify("check", "-c", case$path)
  expect_identical(result$status, 0L)
  expect_match(result$out[1], "<ancify_check> 0 errors")
  expect_false(file.exists(case$config$output_dir))
  axt <- file.path(case$folder, "inner2.axt")
  writeLines(c(axt_block("chr1", 500, "AC", "GT"), readLines(axt)), axt)
  result <- ancify("check", "-c", case$path)
  expect_identical(result$status, 1L)
  expect_match(result$out[1], "<ancify_check> [1-9] error")
  expect_match(result$out, "chr1:500-501", all = FALSE)
})

test_that("the script runs through a link, and its own library comes first", {
  # A copy of the package with another version shows which one was found.
  library <- file.path(new_folder(), "a library")
  dir.create(library)
  file.copy(system.file(package = "ancify"), library, recursive = TRUE)
  description <- file.path(library, "ancify", "Meta", "package.rds")
  content <- readRDS(description)
  content$DESCRIPTION[["Version"]] <- "9.9.9"
  saveRDS(content, description)

  program <- file.path(library, "ancify", "exec", "ancify")
  link <- file.path(new_folder(), "ancify")
  file.symlink(program, link)
  expect_identical(ancify("--version", program = link)$out, "ancify 9.9.9")
  # The path has a blank, which Rscript changes.
  expect_identical(ancify("--version", program = program)$out, "ancify 9.9.9")
  path <- paste(c(dirname(link), R.home("bin"), Sys.getenv("PATH")), collapse = ":")
  through_path <- c(library_environment(), paste0("PATH=", path))
  result <- with_folder(new_folder(), ancify("--version", program = "ancify", env = through_path))
  expect_identical(result$out, "ancify 9.9.9")
})

test_that("messages advise commands", {
  advice <- advice_of_commands("ancify_init() writes a template; ancify_initial() not; fold()")
  expect_identical(advice, "`ancify init` writes a template; ancify_initial() not; fold()")
  missing <- tempfile(fileext = ".yaml")
  expect_complaint(ancify("run", "-c", missing), 1L, "`ancify init` writes a template")
})

test_that("variants are annotated and counted, from files and through streams", {
  require_htslib()
  folder <- new_folder()
  calls <- calls_folder(c(chr1 = "ACgTnN"))
  records <- paste(
    vcf_records("chr1", 1:6, "A", c("C", "C", "G", "G", "G", "T")), "GT", "0|1", "1|1", sep = "\t"
  )
  header <- vcf_header(records, more = paste0(
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"x\">"
  ))
  vcf <- write_vcf(records, file.path(folder, "in.vcf"), header)
  out <- file.path(folder, "out.vcf")
  result <- ancify("annotate", vcf, calls, "-o", out, "--polarise")
  expect_identical(result$status, 0L)
  expect_match(result$out, "NO_COVERAGE +1$", all = FALSE)
  expected <- tempfile(fileext = ".vcf")
  annotate_vcf(vcf, calls, expected, polarise = TRUE, verbose = FALSE)
  expect_identical(readLines(out), readLines(expected))

  through <- tempfile()
  code <- sprintf("%s annotate - %s -o - --polarise < %s > %s 2> /dev/null", shQuote(script),
                  shQuote(calls), shQuote(vcf), shQuote(through))
  shell <- run_program("sh", "-c", code, env = library_environment())
  expect_identical(shell$status, 0L)
  expect_identical(readLines(through), readLines(expected))

  populations <- file.path(folder, "samples.txt")
  writeLines(c("s1 p", "s2 p"), populations)
  fs <- file.path(folder, "p.fs")
  counted <- ancify("sfs", vcf, "--populations", populations, "--ancestral", calls, "-o", fs)
  expect_identical(counted$status, 0L)
  spectrum <- sfs_from_vcf(vcf, populations, ancestral = calls)
  expect_equal(as.array(read_sfs(fs)), as.array(spectrum), ignore_attr = TRUE)
  streamed <- ancify("sfs", vcf, "--populations", populations, "--ancestral", calls,
                     "--project", "2")
  expect_identical(streamed$out, {
    write_sfs(sfs_from_vcf(vcf, populations, 2, ancestral = calls), fs)
    readLines(fs)
  })
})

test_that("runs are compared and reported, and posteriors printed", {
  require_package("ggplot2")
  require_package("knitr")
  config <- ancify_example(new_folder())
  voting <- run_quietly(config)
  config$method <- "likelihood"
  config$tree <- "(((focal:0.02,near1:0.02):0.01,near2:0.03):0.05,far:0.08);"
  config$posterior <- TRUE
  config$output_dir <- file.path(new_folder(), "likelihood")
  run <- run_quietly(config)
  folders <- c(dirname(voting$file[1]), config$output_dir)
  table <- tempfile(fileext = ".tsv")
  compared <- ancify("compare", folders[1], folders[2], "--window", "5000", "-o", table)
  expect_identical(compared$status, 0L)
  expect_match(compared$out, "likelihood", all = FALSE)
  windows <- compare_calls(a = folders[1], b = folders[2], window = 5000)$windows
  expect_identical(nrow(utils::read.delim(table)), nrow(windows))
  page <- tempfile(fileext = ".html")
  expect_identical(ancify("report", folders[2], "-o", page)$out, paste("Wrote", page))
  expect_true(file.exists(page))

  printed <- ancify("posterior", folders[2], "chr1", "2001", "2010")
  expect_identical(printed$status, 0L)
  rows <- utils::read.delim(text = printed$out)
  expect_identical(rows$position, 2001:2010)
  expect_identical(rows$phred, read_posterior(run, "chr1", 2001, 2010))
  expect_equal(rows$posterior, 1 - 10^(-rows$phred / 10), tolerance = 1e-5)
  # Whoever closes the pipe has all that it wanted.
  code <- sprintf("(%s posterior %s chr1; echo status $? >&2) | head -n 2", shQuote(script),
                  shQuote(folders[2]))
  closed <- run_program("sh", "-c", code, env = library_environment())
  expect_length(closed$out, 2)
  expect_identical(closed$err, "status 0")
})

test_that("a model is fitted to a spectrum", {
  file <- tempfile(fileext = ".fs")
  write_sfs(sfs(c(0, 1200, 530, 320, 230, 180, 0), "YRI"), file)
  table <- tempfile(fileext = ".tsv")
  result <- ancify("demography", file, "--model", "two_epoch", "--start", "nu=2,time=0.1",
                   "--starts", "5", "-o", table)
  expect_identical(result$status, 0L)
  fit <- utils::read.delim(table)
  expect_identical(fit$parameter, c("nu", "time"))
  expect_match(result$out, "two_epoch|nu", all = FALSE)
})
