# The command line: commands of a configuration's run. Each way to end is in a process of its own
# once; what differs in its words alone is in this session.

ancify <- function(..., program = command_script, env = library_environment()) {
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
  expect_true(nzchar(command_script))
  expect_identical(unname(file.access(command_script, 1)), 0L)
})

test_that("--help and --version answer on stdout", {
  here <- lapply(list("-h", "help", c("run", "--help"), c("-h", "project")), run_here)
  for (help in c(list(ancify("--help")), here)) {
    expect_quiet(help)
    expect_match(help$out[1], "^usage: ancify")
    expect_match(help$out, "^  -v, --verbose", all = FALSE)
  }
  for (version in list(ancify("--version"), run_here("version"))) {
    expect_quiet(version)
    expect_identical(version$out, paste("ancify", utils::packageVersion("ancify")))
  }
})

test_that("the help of an option that differs by command is that of the command", {
  help <- function(command) {
    gsub(" +", " ", paste(run_here("help", command)$out, collapse = " "))
  }
  for (command in c("reml", "sparse")) {
    expect_match(help(command), "--method METHOD of the fit: exact, stochastic", fixed = TRUE)
    expect_match(help(command), "default: auto", fixed = TRUE)
    expect_no_match(help(command), "parsimony")
  }
  expect_match(help("polarise"), "coalescent; default: likelihood", fixed = TRUE)
  expect_match(help("scan"), "(comma); default: all", fixed = TRUE)
  expect_match(help("pca"), "(comma); default: autosomes", fixed = TRUE)
  # Each command that has such an option has its texts.
  rows <- command_rows()
  for (name in names(option_rows)) {
    option <- option_rows[[name]]
    commands <- names(Filter(function(row) name %in% row$options, rows))
    for (texts in Filter(function(texts) !is.null(names(texts)), option[c("help", "default")])) {
      expect_setequal(names(texts), commands)
    }
  }
})

test_that("wrong arguments are status 2, with a hint at the help", {
  viruses <- c("viruses", "-i", "x.fa", "-o", "y", "--dna", "d", "--protein", "p", "--classifier",
               "c")
  calls <- list(
    list("no command", character()),
    list("no command evolve", "evolve"),
    list("--fast", c("run", "--fast")),
    list("-c needs a value", c("run", "-c")),
    list("run needs -c", "run"),
    list("project needs -c", c("-v", "project")),
    list("run takes no arguments, not also call", c("run", "call", "-c", "x.yaml")),
    list("-n must be a positive", c("run", "-c", "x.yaml", "-n", "many")),
    list("-n must be a positive", c("run", "-c", "x.yaml", "-n", "0")),
    list("train needs -c", "train"),
    list("run takes no --output", c("run", "-c", "x.yaml", "-o", "y")),
    list("--cluster must be slurm, not pbs", c("run", "-c", "x.yaml", "--cluster", "pbs")),
    list("check takes no --cluster, which is for run, project, call, evaluate and viruses",
         c("check", "-c", "x.yaml", "--cluster", "slurm")),
    list("--job-memory needs --cluster slurm", c(viruses, "--job-memory", "1G")),
    list("--cluster needs --job-memory, such as 16G", c(viruses, "--cluster", "slurm")),
    list("--cluster must be slurm, not pbs",
         c(viruses, "--cluster", "pbs", "--job-memory", "1G")),
    list("--cluster needs a value", c("run", "-c", "x.yaml", "--cluster")),
    list("init takes no --cluster", c("init", "--cluster", "slurm")),
    list("--genotypes is given twice, as a.vcf and b.vcf: give it once",
         c("reml", "--genotypes", "a.vcf", "--genotypes", "b.vcf")),
    list("-n or --threads is given twice, as 2 and 3",
         c("run", "-c", "x.yaml", "-n", "2", "--threads", "3")),
    list("--pheno is given twice, as 1 and 2", c("scan", "--pheno=1", "--pheno", "2")),
    list("--covar is given twice, as 1:", c("scan", "--covar=1", "--covar"))
  )
  expect_identical(ancify(), run_here())
  for (call in calls) {
    result <- run_here(call[[2]])
    expect_complaint(result, 2L, "ee ancify ", "--help")
    expect_match(result$err[1], call[[1]])
  }
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
    result <- run_here("-o", "my own.yaml", "init")
    expect_identical(result$status, 0L)
    expect_identical(result$out, "Wrote my own.yaml")
    expect_identical(run_here("init", "--output=third.yaml")$status, 0L)
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
  expect_complaint(run_here("evaluate", "-c", case$path), 1L, "chr1.fa", "no such calls")
  expect_identical(run_here("run", "-c", case$path)$status, 0L)
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
    result <- if (args[1] == "run") do.call(ancify, as.list(args)) else run_here(args)
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
  expect_complaint(run_here("run", "-c", missing), 1L, "error: ", missing, "does not exist")

  case <- written_config()
  axt <- file.path(case$folder, "inner2.axt")
  bad <- axt_block("chr1", 500, "AC", "GT")
  writeLines(c(bad, readLines(axt)), axt)
  result <- ancify("run", "-c", case$path)
  expect_complaint(result, 1L, axt, "line 1", "chr1:500-501", "on_bad_block")
  expect_false(file.exists(case$config$output_dir))
  expect_false(any(grepl("inner2/.|ancify-", content_of(case$config$work_dir))))

  unlink(axt)
  result <- run_here("run", "-c", case$path)
  expect_complaint(result, 1L, case$path, axt, "outgroups.inner: inner2")
})

test_that("check prints its findings; status 1 with an error, else 0", {
  case <- written_config()
  result <- run_here("check", "-c", case$path)
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
