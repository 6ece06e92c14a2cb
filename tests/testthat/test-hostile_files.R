# What one file may cost that was made to do harm, or is another one than was meant. The limits
# are in RELIABILITY.md.

# A gzip file of `head`, then at least `megabytes` of `unit` over and over, then `tail`.
write_inflating <- function(path, head, unit, megabytes, tail = "") {
  unit <- if (is.character(unit)) charToRaw(unit) else unit
  piece <- gzip_member(rep(unit, ceiling(2^20 / length(unit))))
  around <- lapply(list(head, tail), function(text) if (nzchar(text)) gzip_member(charToRaw(text)))
  writeBin(c(around[[1]], rep(piece, megabytes), around[[2]]), path)
}

# A text file.
write_lines <- function(path, ...) writeLines(c(...), path)

nested <- function(n, open, close) paste0(strrep(open, n), "a", strrep(close, n))

# Each file is of a few kilobytes to megabytes; `read` is R code in the folder with it, `class` that
# of the error it ends with.
hostile <- list(
  list("newlines", "ancify_config(file)", "file", function(path) {
    write_inflating(path, "", "\n", 512)
  }),
  list("newlines", "call_ancestral(c(a = 'A'), c(b = 'A'), 'parsimony', tree = file)", "input"),
  list("newlines", "read_demes(file)", "format"),
  list("newlines", "read_sfs(file)", "format"),
  list("newlines", "ancify_report(file, 'page.html')", "file"),
  list("comments", "read_sfs(file)", "format", function(path) {
    write_inflating(path, "", "# a comment\n", 512)
  }),
  list("comments", "project_axt('newlines', file)", "format"),
  list("words", "read_sfs(file)", "format", function(path) {
    write_inflating(path, "3 unfolded\n", "1 ", 512)
  }),
  list("word", "read_sfs(file)", "format", function(path) {
    write_inflating(path, "3 unfolded\n", "1", 512)
  }),
  list("sizes", "read_sfs(file)", "format", function(path) write_inflating(path, "3", "1", 512)),
  list("cells", "read_sfs(file)", "format", function(path) {
    write_inflating(path, "8000 8000 unfolded\n", "0 ", 256)
  }),
  list("zeros", "call_ancestral(c(a = 'A'), c(b = 'A'), 'ml', model = file)", "format",
       function(path) write_inflating(path, "tree\nversion=v3\n", as.raw(0), 1024)),
  list("leaves", "call_ancestral(c(a = 'A'), c(b = 'A'), 'ml', model = file)", "format",
       function(path) write_inflating(path, "tree\nversion=v3\nleaf_value=", "0 ", 1024)),
  list("lengths", "project_axt('newlines', file)", "format", function(path) {
    write_inflating(path, "chr1\t10\nchr2", "x", 512)
  }),
  list("populations", "sfs_from_vcf('some.vcf', file)", "format", function(path) {
    write_inflating(path, "a b\n", "x", 512)
  }),
  list("bed", "annotate_vcf('some.vcf', 'calls.fa', 'out.vcf', mask = file)", "format",
       function(path) write_inflating(path, "1 0 ", "1", 512)),
  list("regions", "annotate_vcf('some.vcf', 'calls.fa', 'out.vcf', mask = file, threads = 1)",
       "format", function(path) write_inflating(path, "", "1 0 1\n1 5 6\n1 9 12\n", 256)),
  list("axt", "project_axt(file, c(chr1 = 10))", "format", function(path) {
    write_inflating(path, "0 chr1 1 2 c 1 2 + 0\n", "A", 2048)
  }),
  list("axt", "read_axt(file)", "format"),
  list("gaps", "project_axt(file, c(chr1 = 10))", "format", function(path) {
    write_inflating(path, "0 chr1 1 2 c 1 2 + 0\nA", "-", 2048)
  }),
  list("header", "read_axt(file)", "format", function(path) {
    write_inflating(path, "0 chr1 1 2 c 1", "2", 2048)
  }),
  list("maf", "project_axt(file, c(chr1 = 10), maf_name = 'x', focal_maf_name = 'h')", "format",
       function(path) write_inflating(path, "##maf\n\na\ns h.chr1 0 2 + 10 ", "A", 2048)),
  list("rows", "project_axt(file, c(chr1 = 10), maf_name = 'x', focal_maf_name = 'h')", "format",
       function(path) {
         write_inflating(path, "##maf\n\na\ns h.chr1 0 2 + 10 AA\n", "s x 0 2 + 9 AA\n", 256)
       }),
  list("paf", "project_axt(file, c(chr1 = 10))", "format", function(path) {
    write_inflating(path, paste("q", 9, 1, 3, "+", "chr1", 10, 2, 4, 2, 2, 9, "cs:Z:=",
                                sep = "\t"), "A", 2048)
  }),
  list("brackets", "ancify_config(file)", "config", function(path) {
    write_lines(path, strrep("[", 200000))
  }),
  list("brackets", "read_demes(file)", "format"),
  list("dashes", "ancify_config(file)", "config", function(path) {
    write_lines(path, strrep("- ", 200000))
  }),
  list("columns", "read_demes(file)", "format", function(path) {
    write_lines(path, paste0(strrep(" ", 0:3000), "a:"))
  }),
  list("nested", "call_ancestral(c(a = 'A'), c(b = 'A'), 'parsimony', tree = file)", "input",
       function(path) write_lines(path, paste0(nested(100000, "(b,", ")"), ";"))),
  list("steep", "call_ancestral(c(a = 'A'), c(b = 'A'), 'parsimony', tree = file)", "input",
       function(path) write_lines(path, sprintf("(%s:-1,c);", nested(4000, "(b,", ")")))),
  list("leaves of a star", "call_ancestral(c(a = 'A'), c(b = 'A'), 'parsimony', tree = file)",
       "input", function(path) write_lines(path, sprintf("(%s);", toString(1:480000)))),
  list("signs", "call_ancestral(c(a = 'A'), c(b = 'A'), 'parsimony', tree = file)", "input",
       function(path) write_lines(path, strrep("(", 15e6))),
  list("quotes", "call_ancestral(c(a = 'A'), c(b = 'A'), 'parsimony', tree = file)", "input",
       function(path) write_lines(path, paste0("'", strrep("''", 7e6)))),
  list("letters", "call_ancestral(c(a = 'A'), c(b = 'A'), 'parsimony', tree = file)", "input",
       function(path) {
         text <- sprintf("(%s;", toString(paste0("\u00e9", 1:30000)))
         writeLines(enc2utf8(text), path, useBytes = TRUE)
       })
)

most_seconds <- 20
most_megabytes <- 600

long_test_that("one hostile file costs seconds and some hundred megabytes, and ends in an error", {
  skip_on_os("mac") # has no /proc
  folder <- new_folder()
  writeLines(c(
    "##fileformat=VCFv4.2", "##contig=<ID=1,length=10>",
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts", "1\t2\t.\tA\tC\t.\t.\t.\tGT\t0|1"
  ), file.path(folder, "some.vcf"))
  writeLines(c(">1", "AAAAAAAAAA"), file.path(folder, "calls.fa"))
  for (case in hostile) if (length(case) == 4) case[[4]](file.path(folder, case[[1]]))
  tasks <- data.frame(file = vapply(hostile, `[[`, "", 1), code = vapply(hostile, `[[`, "", 2))
  utils::write.csv(tasks, file.path(folder, "tasks"), row.names = FALSE)
  # Each task has a process of its own, a fork of one in which the package is loaded and has done
  # nothing yet.
  script <- write_script(
    "suppressMessages(library(ancify))",
    "cost <- function(code, file) {",
    "  started <- proc.time()[['elapsed']]",
    "  result <- tryCatch({",
    "    suppressWarnings(eval(parse(text = code)))",
    "    'a value'",
    "  }, error = function(condition) {",
    "    said <- conditionMessage(condition)",
    "    paste0(",
    "      if (!grepl(file, said, fixed = TRUE)) 'no file is named: ',",
    "      if (!inherits(condition, 'ancify_error')) said, class(condition)[1]",
    "    )",
    "  })",
    "  status <- readLines('/proc/self/status')",
    "  peak <- gsub('[^0-9]', '', grep('^VmHWM', status, value = TRUE))",
    "  spent <- sum(proc.time()[c('user.self', 'sys.self')])",
    "  waited <- proc.time()[['elapsed']] - started",
    "  paste(result, waited, spent, as.numeric(peak) / 1024)",
    "}",
    "tasks <- read.csv('tasks')",
    "for (i in seq_len(nrow(tasks))) {",
    "  job <- parallel::mcparallel(cost(tasks$code[i], tasks$file[i]))",
    "  ended <- parallel::mccollect(job)[[1]]",
    "  cat(if (is.character(ended)) gsub('\\n', ' ', ended) else 'no end', '\\n')",
    "}"
  )
  result <- with_folder(folder, {
    run_program(rscript, script, timeout = 3 * length(hostile) * most_seconds)
  })
  expect_length(result$out, length(hostile))
  for (i in seq_along(hostile)) {
    case <- hostile[[i]]
    what <- paste(case[[1]], "by", case[[2]])
    ended <- trimws(result$out[i])
    class <- if (is.null(case[[3]])) "a value" else sprintf("ancify_%s_error", case[[3]])
    expect_match(ended, paste0("^", class, " "), info = what)
    cost <- as.numeric(utils::tail(strsplit(ended, " ")[[1]], 3))
    # Other work of the machine counts for the time that passes, so it has more room.
    expect_lt(cost[1], 10 * most_seconds, label = paste("seconds that passed for", what))
    expect_lt(cost[2], most_seconds, label = paste("seconds of the processor for", what))
    expect_lt(cost[3], most_megabytes, label = paste("megabytes of", what))
  }
})

test_that("what is no regular file is an error at once, and not waited for", {
  folder <- new_folder()
  fifo <- file.path(folder, "fifo")
  skip_if(system2("mkfifo", shQuote(fifo)) != 0)
  script <- write_script(
    "suppressMessages(library(ancify))",
    "file <- commandArgs(TRUE)",
    "fails <- function(code) {",
    "  message <- tryCatch({ code; 'no error' }, ancify_error = conditionMessage)",
    "  cat(if (grepl(file, message, fixed = TRUE)) 'names it' else message, '\\n')",
    "}",
    "fails(ancify_config(file))",
    "fails(read_demes(file))",
    "fails(read_sfs(file))",
    "fails(ancify_report(file, 'page.html'))",
    "fails(call_ancestral(c(a = 'A'), c(b = 'A'), 'parsimony', tree = file))",
    "fails(call_ancestral(c(a = 'A'), c(b = 'A'), 'ml', model = file))",
    "fails(project_axt('none', file))",
    "fails(project_axt(file, c(chr1 = 10)))",
    "fails(sfs_from_vcf(file, c(a = 'b')))",
    "cat(format(ancify:::state_lines(file)), '\\n')"
  )
  result <- with_folder(folder, run_program(rscript, script, fifo, timeout = 60))
  expect_identical(result$status, 0L)
  expect_identical(trimws(result$out), c(rep("names it", 9), "NULL"))
})

test_that("a tree's faults name the file that it is from", {
  path <- tempfile()
  called <- function() call_ancestral(c(a = "A"), c(b = "A"), "parsimony", tree = path)
  writeBin(as.raw(c(0x28, 0xe6, 0x29, 0x3b)), path)
  expect_ancify_error(called(), "input", path, "line 1", "UTF-8")
  writeBin(as.raw(c(0x28, 0, 0x29, 0x3b)), path)
  expect_ancify_error(called(), "input", path, "UTF-8")
  writeLines("((a,b);", path)
  expect_ancify_error(called(), "input", path, "')' is missing")
  writeLines("(a:1,b:-2);", path)
  expect_ancify_error(called(), "input", path, "'b' has the length -2")
  writeLines(enc2utf8("(\u00e9,b))"), path, useBytes = TRUE)
  expect_ancify_error(called(), "input", path, "character 6")
})

test_that("code in YAML is not run, whatever the session's options are", {
  path <- tempfile()
  for (tag in c("!expr", "!r", "!R")) {
    writeLines(c(sprintf("description: %s stop('it runs')", tag), "time_units: generations"), path)
    with_options(list(yaml.eval.expr = TRUE), {
      condition <- expect_ancify_error(read_demes(path), "format", path)
    })
    expect_no_match(conditionMessage(condition), "it runs", fixed = TRUE)
  }
})

test_that("what is wrong with a file of populations is told with the file", {
  skip_if(is.na(ancify_build_info()$htslib))
  path <- tempfile()
  for (text in list(character(), c("", "# none"), paste0("s", 1:6, "\tp", 1:6))) {
    writeLines(text, path)
    condition <- expect_ancify_error(sfs_from_vcf("none", path), "input", path, "populations")
    expect_identical(condition$file, path)
  }
})
