# Returns once a run works, which shows by a temporary file.
wait_for_work <- function(folder, job) {
  wait_for(length(list.files(folder, pattern = "ancify-", recursive = TRUE)) > 0 ||
             !is.null(job$status()))
  Sys.sleep(0.2)
  expect_null(job$status())
}

# Seconds from Ctrl-C to the end.
interrupt <- function(job) {
  tools::pskill(job$pid, tools::SIGINT)
  wait_for(!is.null(job$status()))
}

test_that("Ctrl-C stops a projection within a second and leaves no file", {
  axt <- long_alignment()
  on.exit(unlink(axt))
  for (threads in 1:2) {
    folder <- new_folder()
    job <- start_program(rscript, write_script(
      sprintf("folder <- %s", deparse1(folder)),
      sprintf("axt <- %s", deparse1(axt)),
      sprintf(
        "ancify::project_axt(axt, c(chr1 = 2^20, chr2 = 1e6), output_dir = folder, threads = %d)",
        threads
      ),
      "cat('done')"
    ))
    on.exit(end_program(job), add = TRUE)
    wait_for_work(folder, job)
    expect_lt(interrupt(job), 1)
    expect_false(job$status() == 0)
    expect_identical(job$out(), character())
    expect_identical(content_of(folder), character())
  }
})

test_that("an interrupt can be caught, and the session goes on", {
  axt <- long_alignment()
  on.exit(unlink(axt))
  folder <- new_folder()
  good <- axt_file(axt_block("chr1", 2, "AC", "GT"))
  job <- start_program(rscript, write_script(
    sprintf("folder <- %s", deparse1(folder)),
    sprintf("axt <- %s", deparse1(c(axt, good))),
    "result <- tryCatch(",
    "  ancify::project_axt(axt[1], c(chr1 = 2^20), output_dir = folder, threads = 2),",
    "  interrupt = function(condition) 'caught'",
    ")",
    "cat(result, ancify::project_axt(axt[2], c(chr1 = 4), threads = 2))"
  ))
  on.exit(end_program(job), add = TRUE)
  wait_for_work(folder, job)
  expect_lt(interrupt(job), 1)
  expect_identical(job$status(), 0L)
  expect_identical(job$out(), "caught NGTN")
  expect_identical(content_of(folder), character())
})

test_that("Ctrl-C stops the command line with status 130 and leaves no file", {
  set.seed(1)
  case <- random_config(c(chr1 = 2^20), axt = few_bases(lengths, name))
  axt <- long_alignment()
  on.exit(unlink(axt))
  case$config$outgroups$inner[[2]]$alignment <- axt
  # Only this alignment takes long.
  path <- file.path(case$folder, "config.yaml")
  yaml::write_yaml(case$config, path)
  job <- start_program(
    system.file("exec", "ancify", package = "ancify"), "run", "-c", path, "-n", "2"
  )
  on.exit(end_program(job), add = TRUE)
  wait_for_work(file.path(case$config$work_dir, "projected", "inner2"), job)
  expect_lt(interrupt(job), 1)
  expect_identical(job$status(), 130L)
  expect_identical(job$out(), character())
  # R itself begins a new line after ^C.
  expect_identical(job$err()[nzchar(job$err())], "ancify: interrupted")
  expect_no_match(content_of(case$config$work_dir), "inner2/.|ancify-")
  expect_identical(content_of(case$config$output_dir), character())
})

test_that("a long call of bases is interrupted too", {
  lengths <- c(chr1 = 2e8)
  folder <- new_folder()
  on.exit(unlink(folder, recursive = TRUE))
  sizes <- file.path(folder, "chrom.sizes")
  writeLines("chr1\t200000000", sizes)
  entry <- function(name) {
    projected <- file.path(folder, "projected", name)
    dir.create(projected, recursive = TRUE)
    fasta <- file.path(projected, "chr1.fa")
    # A sparse file: the bases are zeros, which count as missing.
    writeBin(charToRaw(">chr1\n"), fasta)
    system2("truncate", c("-s", sprintf("%.0f", lengths + 6), shQuote(fasta)))
    list(name = name, alignment = file.path(folder, paste0(name, ".axt")))
  }
  require_tool("truncate")
  outer <- sprintf("far%d", 1:20)
  config <- list(
    focal_species = "focal", chromosome_lengths = sizes, work_dir = folder,
    output_dir = file.path(folder, "calls"),
    outgroups = list(inner = list(entry("near")), outer = lapply(outer, entry))
  )
  path <- file.path(folder, "config.yaml")
  yaml::write_yaml(config, path)
  job <- start_program(
    system.file("exec", "ancify", package = "ancify"), "call", "-c", path, "-n", "2"
  )
  on.exit(end_program(job), add = TRUE)
  wait_for_work(file.path(folder, "calls"), job)
  expect_lt(interrupt(job), 1)
  expect_identical(job$status(), 130L)
  expect_identical(content_of(file.path(folder, "calls")), character())
})
