# What is very long, very large, very many or oddly called; the table is in RELIABILITY.md, and what
# takes too long for here in tests/reliability/limits.

# A file of which only `parts`, texts by their offsets, take space.
sparse_file <- function(path, parts) {
  connection <- file(path, "wb")
  on.exit(close(connection))
  for (offset in names(parts)) {
    seek(connection, as.numeric(offset), rw = "write")
    writeBin(charToRaw(parts[[offset]]), connection)
  }
  path
}

beyond <- 2^31 + 5000

# Calls of a chromosome longer than an integer counts, known at both ends.
sparse_calls <- function() {
  folder <- new_folder()
  dir.create(file.path(folder, "posterior"))
  at <- function(position) sprintf("%.0f", position + 5) # behind ">big" and the end of its line
  parts <- list(">big\nACgtn", "ACGTacgt", "TGCAN\n")
  sparse_file(file.path(folder, "big.fa"), setNames(parts, c("0", at(2^31 - 4), at(beyond - 5))))
  phred <- setNames(list("AB", "C"), c("0", sprintf("%.0f", beyond - 1)))
  sparse_file(file.path(folder, "posterior", "big.phred"), phred)
  folder
}

long_test_that("calls and posteriors are read beyond position 2^31", {
  folder <- sparse_calls()
  regions <- data.frame(
    chromosome = "big", start = c(2^31 - 3, beyond - 4, 1, beyond),
    end = c(2^31 + 4, beyond, 4, beyond)
  )
  expect_identical(
    as.character(read_ancestral(folder, regions)), c("ACGTacgt", "TGCAN", "ACgt", "N")
  )
  expect_identical(read_posterior(folder, "big", beyond - 1, beyond), c(0L, 67L))
})

long_test_that("what R or Bioconductor cannot hold of a long chromosome is refused", {
  skip_if_not_installed("GenomicRanges")
  folder <- sparse_calls()
  region <- function(start, end) data.frame(chromosome = "big", start = start, end = end)
  expect_ancify_error(read_ancestral(folder), "input", "'big'", "2^31 - 1", "`regions`")
  expect_ancify_error(read_ancestral(folder, region(1, 2^31)), "input", "2^31 - 1")
  expect_ancify_error(
    read_ancestral(folder, region(beyond, beyond + 1)), "input", "big:2147488648-2147488649",
    "not inside its chromosome of 2,147,488,648"
  )
  expect_ancify_error(read_ancestral(folder, region(5, 3)), "input", "no range")
  expect_ancify_error(read_ancestral(folder, region(1.5, 3)), "input", "no range")
  expect_ancify_error(read_ancestral(folder, region("1", 3)), "input", "data frame")
  expect_ancify_error(read_ancestral(folder, region(NA, 3)), "input", "data frame")
  expect_ancify_error(
    read_confidence(folder, region(beyond, beyond)), "input", "'big'", "GRanges", "2^31 - 1"
  )
  near <- read_confidence(folder, region(1, 5))
  expect_identical(as.character(near$name), c("high", "low", "unresolved"))
  skip_if_not_installed("rtracklayer")
  expect_ancify_error(export_posterior(folder), "input", "2,147,488,648", "read_posterior()")
})

long_test_that("100,000 contigs take ten times as long as 10,000", {
  seconds <- function(n) {
    path <- tempfile()
    writeLines(sprintf("contig%06d\t60", seq_len(n)), path)
    system.time({
      lengths <- read_chromosome_lengths(path)
      files <- fill_pattern("{chrom}.{chrom_id}.fa", names(lengths))
      lengths <- wanted_lengths(lengths, rev(names(lengths)))
    }, gcFirst = TRUE)[["user.self"]]
  }
  # Work that grew with the square would take ten times as long.
  expect_lt(seconds(100000), 3 * sum(replicate(10, seconds(10000))))
})

long_test_that("thousands of contigs are projected, called, evaluated, printed and reported", {
  lengths <- setNames(rep(60, 2000), sprintf("contig%04d", 1:2000))
  folder <- new_folder()
  writeLines(sprintf("%s\t%d", names(lengths), lengths), file.path(folder, "lengths"))
  row <- strrep("ACGTA", 6)
  blocks <- sprintf("0 %s 11 40 c 1 30 + 0\n%s\n%s\n", names(lengths), row, row)
  for (species in c("near", "far")) writeLines(blocks, file.path(folder, species))
  writeLines(c(rbind(paste0(">", names(lengths)), strrep("A", 60))), file.path(folder, "all.fa"))
  outgroup <- function(name) list(list(name = name, alignment = file.path(folder, name)))
  config <- list(
    focal_species = "focal", chromosome_lengths = file.path(folder, "lengths"),
    outgroups = list(inner = outgroup("near"), outer = outgroup("far")),
    work_dir = folder, output_dir = file.path(folder, "kept"), num_cpus = 2
  )
  kept <- run_quietly(config, c("project", "call"))
  config$output_dir <- file.path(folder, "unkept")
  config$keep_projected <- FALSE
  unkept <- run_quietly(config, c("project", "call"))
  expect_identical(kept$high, rep(30, 2000))
  expect_identical(unname(tools::md5sum(kept$file)), unname(tools::md5sum(unkept$file)))
  run <- ancify_run(config, "evaluate", verbose = FALSE)
  expect_identical(attr(run, "evaluation")$high_confidence, rep(30, 2000))
  expect_lt(length(capture.output(print(run))), 40)
  expect_lt(length(capture.output(print(attr(run, "config")))), 20)
  require_reports()
  page <- tempfile(fileext = ".html")
  ancify_report(run, page)
  expect_length(grep("contig2000", readLines(page)), 1)
})

# Rows of whole chromosomes, one an outgroup, as an AXT each and as one MAF.
many_outgroups <- function(n, length) {
  set.seed(1)
  folder <- new_folder()
  focal <- paste(sample(c("A", "C", "G", "T"), length, TRUE), collapse = "")
  rows <- vapply(sprintf("s%03d", seq_len(n)), function(name) {
    bases <- strsplit(focal, "")[[1]]
    changed <- sample(length, length / 20)
    bases[changed] <- sample(c("A", "C", "g", "T", "N", "-"), length(changed), TRUE)
    paste(bases, collapse = "")
  }, "")
  for (name in names(rows)) {
    axt_file(axt_block("chr1", 1, focal, rows[[name]]), path = file.path(folder, name))
  }
  maf <- c("a", sprintf("s focal.chr1 0 %d + %d %s", length, length, focal), sprintf(
    "s %s.c 0 %d + 1000000 %s", names(rows), nchar(gsub("-", "", rows)), rows
  ))
  writeLines(c("##maf version=1", maf, ""), file.path(folder, "maf"))
  writeLines(paste0("chr1\t", length), file.path(folder, "lengths"))
  list(folder = folder, rows = rows)
}

long_test_that("100 outgroups are called by every method, from an AXT each and from one MAF", {
  case <- many_outgroups(100, 2000)
  inner <- case$rows[1:50]
  outer <- case$rows[51:100]
  tree <- sprintf(
    "((focal:0.01,%s):0.01,%s);", paste0(names(inner), ":0.01", collapse = ","),
    paste0(names(outer), ":0.05", collapse = ",")
  )
  called <- function(method, file, keep) {
    entries <- lapply(names(case$rows), function(name) {
      list(name = name, alignment = file.path(case$folder, file %||% name))
    })
    config <- list(
      focal_species = "focal", chromosome_lengths = file.path(case$folder, "lengths"),
      outgroups = list(inner = entries[1:50], outer = entries[51:100]), keep_projected = keep,
      method = method, tree = if (method != "voting") tree, work_dir = new_folder(),
      output_dir = new_folder(), num_cpus = 2
    )
    readLines(run_quietly(config)$file)[2]
  }
  for (method in c("voting", "parsimony", "likelihood")) {
    expected <- if (method == "voting") {
      vote_by_column(inner, outer)
    } else {
      call_ancestral(inner, outer, method, tree = tree, focal = "focal")
    }
    for (file in list(NULL, "maf")) {
      expect_identical(called(method, file, TRUE), expected)
      expect_identical(called(method, file, FALSE), expected)
    }
  }
})

# A gzip file whose text is `head` and then `letter` times 16 MB.
write_bomb <- function(path, head, letter, times) {
  compressed <- function(bytes) {
    file <- tempfile()
    connection <- gzfile(file, "wb")
    writeBin(bytes, connection)
    close(connection)
    file_bytes(file)
  }
  member <- compressed(rep(charToRaw(letter), 2^24))
  writeBin(c(compressed(charToRaw(head)), rep(member, times)), path)
  path
}

test_that("lines that do not end are an error in little memory, not the end of R", {
  skip_on_os("mac") # has no limit on a process's memory
  folder <- new_folder()
  bomb <- function(name, head, letter) write_bomb(file.path(folder, name), head, letter, 40)
  bomb("axt", "# x\n0 chr1 1 2 c 1 2 + 0\n", "A")
  bomb("maf", "##maf\n\na\ns focal.chr1 0 2 + 10 ", "A")
  bomb("lengths", "chr1\t10\nchr2", "x")
  bomb("comment", "0 chr1 1 2 c 1 2 + 0\nAC\nGT\n#", "x")
  script <- write_script(
    "library(ancify)",
    "fails <- function(code) {",
    "  tryCatch(code, ancify_format_error = function(e) cat(conditionMessage(e), \"\\n\"))",
    "}",
    "for (file in c('axt', 'maf', 'comment')) fails(project_axt(file, c(chr1 = 10)))",
    "fails(project_axt('axt', 'lengths'))"
  )
  result <- with_folder(folder, {
    run_program("sh", "-c", paste("ulimit -v 4000000;", shQuote(rscript), shQuote(script)))
  })
  expect_identical(result$status, 0L)
  expect_match(result$out, "is longer than (1|16) MB")
  for (place in c("'axt', line 2", "'maf', line 3", "'comment', line 4", "'lengths', line 2")) {
    expect_match(result$out, place, fixed = TRUE, all = FALSE)
  }
})

test_that("files without anything in them are an error that names them", {
  empty <- tempfile()
  file.create(empty)
  newlines <- tempfile()
  writeLines(rep("", 1e6), newlines)
  for (file in c(empty, newlines)) {
    expect_refused(file, c(chr1 = 10), "no alignment block")
    expect_ancify_error(project_axt(file, file), "format", file, "no chromosome")
    expect_ancify_error(read_axt(file), "format", file, "no alignment block")
    expect_ancify_error(ancify_config(file), "config", file)
  }
})

test_that("a configuration or a tree of gigabytes is refused before it is read", {
  huge <- sparse_file(tempfile(), list(`0` = "(", `3000000000` = "x"))
  expect_ancify_error(ancify_config(huge), "file", huge, "16 MB")
  config <- random_config(method = "parsimony", tree = huge)$config
  expect_ancify_error(ancify_config(config), "config", "`tree`", "16 MB")
})

odd_names <- c(
  "chr*", "-n", "[ab]", "a'b", "a\"b", "h\u00e9", "$(touch", "a&<b>", "~", "..x", ".y",
  "x{chrom_id}", "%s", "a\\b", "`x`;"
)

long_test_that("a name is never a pattern, an option, a command or a hidden file", {
  skip_if_not(l10n_info()[["UTF-8"]])
  folder <- file.path(new_folder(), "it's [a] *")
  dir.create(file.path(folder, "references"), recursive = TRUE)
  species <- c("Homo 'sapiens'", "-near \"x\"*", "\u00e9l\u00e9phant & <far>", "$(touch y)")
  tree <- sprintf("((%s:0.1,%s:0.1):0.05,%s:0.2,%s:0.3);", "'Homo ''sapiens'''",
                  "'-near \"x\"*'", "'\u00e9l\u00e9phant & <far>'", "'$(touch y)'")
  with_folder(folder, {
    writeLines(enc2utf8(paste0(odd_names, "\t20")), "lengths of *", useBytes = TRUE)
    blocks <- unlist(lapply(odd_names, axt_block, 6, "ACGTACGTAC", "ACGTACGTAC"))
    for (name in species[-1]) writeLines(enc2utf8(blocks), paste0(name, ".axt"), useBytes = TRUE)
    for (name in odd_names) {
      writeLines(c(">x", strrep("A", 20)), file.path("references", paste0(name, ".fa")))
    }
    outgroups <- lapply(species[-1], function(name) {
      list(name = name, alignment = paste0(name, ".axt"))
    })
    config <- list(
      focal_species = species[1], chromosome_lengths = "lengths of *", work_dir = "wo[r]k *",
      output_dir = "-o $ut 'x'", outgroups = list(inner = outgroups[1], outer = outgroups[2:3]),
      evaluation = list(reference_dir = "references"), method = "likelihood", tree = tree,
      posterior = TRUE, estimate = TRUE, num_cpus = 2
    )
    for (keep in c(FALSE, TRUE)) {
      config$keep_projected <- keep
      run <- run_quietly(config)
      expect_identical(run$chromosome, odd_names)
      expect_identical(run$high, rep(10, length(odd_names)))
    }
    fitted <- yaml::read_yaml(file.path(config$output_dir, "fitted_model.yml"))
    config[c("tree", "estimate")] <- list(fitted$tree, FALSE)
    yaml::write_yaml(config, "-c onfig's.yaml")
    result <- run_program(
      system.file("exec", "ancify", package = "ancify"), "run", "-c", "-c onfig's.yaml"
    )
    expect_identical(result$status, 0L)
    expect_setequal(sub("\\.fa$", "", basename(call_files(config$output_dir)$file)), odd_names)
    expect_setequal(
      list.files(".", all.files = TRUE, no.. = TRUE),
      c("-c onfig's.yaml", "-o $ut 'x'", "lengths of *", "references",
        paste0(species[-1], ".axt"), "wo[r]k *")
    )
    expect_setequal(
      list.files("wo[r]k *", all.files = TRUE, no.. = TRUE), c(".ancify", "projected")
    )
    expect_setequal(list.files("wo[r]k */projected"), species)
    calls <- read_ancestral(config$output_dir)
    expect_setequal(names(calls), odd_names)
    expect_identical(unique(as.character(calls)), "NNNNNACGTACGTACNNNNN")
    require_reports()
    ancify_report(run, "page.html")
    page <- readLines("page.html")
    expect_match(page, "a&amp;&lt;b&gt;", fixed = TRUE, all = FALSE)
    expect_no_match(page, "a&<b>", fixed = TRUE)
  })
})

test_that("a name never leaves its folder and is no text that a file cannot be called", {
  case <- random_config()
  bad <- c("..", ".", "a/b", "../x", "/x", strrep("x", 201), "\xff", "")
  for (name in bad) {
    expect_ancify_error(
      ancify_config(modifyList(case$config, list(focal_species = name))), "config", "focal_species"
    )
    expect_ancify_error(
      ancify_config(modifyList(case$config, list(chromosomes = name))), "config", "chromosomes"
    )
    expect_ancify_error(project_axt(tempfile(), setNames(5, name)), "input", "chrom_lengths")
    expect_ancify_error(read_posterior(case$folder, name), "input", "`chromosome`")
  }
  for (name in setdiff(bad, "")) {
    lengths <- tempfile()
    writeBin(c(charToRaw(name), charToRaw("\t5\n")), lengths)
    expect_ancify_error(project_axt(tempfile(), lengths), "format", lengths, "cannot be a file")
  }
  expect_identical(content_of(case$config$output_dir), character())
})

test_that("a value on the command line may look like an option", {
  expect_identical(parse_command_line(c("run", "-c", "--a=b"))$config, "--a=b")
  expect_identical(parse_command_line(c("--config=--a=b", "run"))$config, "--a=b")
})

test_that("chromosomes that the session's encoding can't say are refused", {
  case <- random_config(lengths = stats::setNames(c(50, 60), c("chr1", "chr\u00c4")))
  locale <- Sys.getlocale("LC_CTYPE")
  on.exit(Sys.setlocale("LC_CTYPE", locale))
  Sys.setlocale("LC_CTYPE", "C")
  expect_ancify_error(ancify_config(case$config), "config", "encoding", "LC_ALL=C.UTF-8")
  case$config$chromosomes <- "chr1"
  expect_identical(names(ancify_config(case$config)$lengths), "chr1")
})
