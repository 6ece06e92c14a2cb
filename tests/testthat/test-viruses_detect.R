# Detection of viruses: its files, what it goes on with, and which problems are told.

require_package("Biostrings")

detected <- c("prediction_results.txt", "prediction_results_highestscore.csv")

# Checksums of all files of a run, without its ledgers.
files_of_run <- function(out) {
  sums <- content_of_files(out)
  sums[!grepl("(^|/)[.]ancify/", names(sums))]
}

local_part_size <- function(size, frame = parent.frame()) {
  old <- options(ancify.part_size = size)
  do.call(on.exit, list(bquote(options(.(old))), add = TRUE), envir = frame)
}

refused <- function(class, ..., says) {
  condition <- expect_ancify_error(detect(...), class)
  for (text in says) expect_match(conditionMessage(condition), text, fixed = TRUE)
  invisible(condition)
}

test_that("both files are those of VirNucPro's steps in PyTorch", {
  hits <- detect()
  for (file in detected) {
    found <- utils::read.delim(file.path(hits$out, file))
    # VirNucPro judges a sequence of three bases too.
    peers <- file.path(new_folder(), file)
    writeLines(grep("^three_", readLines(virus_fixture(file)), value = TRUE, invert = TRUE), peers)
    expected <- utils::read.delim(peers)
    expect_identical(names(found), names(expected))
    is_score <- grepl("score", names(found))
    expect_identical(found[!is_score], expected[!is_score])
    expect_lt(max(abs(as.matrix(found[is_score]) - as.matrix(expected[is_score]))), 1e-5)
    # Python's words for logical values
    words <- function(path) gsub("\t[0-9.e-]+", "", readLines(path))
    expect_identical(words(file.path(hits$out, file)), words(peers))
  }
})

test_that("tables are those of the steps one by one, and chunks without a frame are rows", {
  chunks <- chunk_sequences(virus_fixture("contigs.fa"), 60)
  found <- frames_to_judge(six_frames(chunks), 60)
  x <- cbind(
    suppressWarnings(embed_sequences(found$dna, sequence_model(example_model("dnabert_random")))),
    embed_sequences(found$protein, sequence_model(example_model("esm2_random")))
  )
  classifier <- read_classifier(virus_fixture("classifier.pth"))
  p <- predict(classifier, x)[, 2]
  calls <- chunk_calls(found$frames, p)
  hits <- detect(dna = sequence_model(example_model("dnabert_random")), classifier = classifier,
                 threads = 2)
  expect_equal(hits$frames$virus, unname(p[found$frames$id]), tolerance = 1e-6)
  expect_identical(hits$frames[1:3], found$frames)
  expect_equal(hits$chunks[names(calls)], calls, tolerance = 1e-6)
  about <- S4Vectors::mcols(chunks)
  for (name in c("sequence", "start", "end")) expect_identical(hits$chunks[[name]], about[[name]])
  expect_identical(hits$contigs, contig_calls(calls))
  expect_true(all(is.na(hits$chunks$is_virus[hits$chunks$sequence %in% c("one", "two", "stops")])))
  expect_identical(hits$contigs$no_frame[hits$contigs$sequence == "stops"], 2L)
  expect_identical(utils::read.delim(file.path(hits$out, "contigs.tsv")), hits$contigs)
  # Embeddings of the frames are there for others to use.
  dna <- read_embeddings(file.path(hits$out, "dna"))
  expect_equal(dna, x[, 1:24], tolerance = 1e-6, ignore_attr = "unknown")
})

test_that("there is no verdict on sequences with few known residues", {
  set.seed(5)
  bases <- function(n) random_bases(n)
  open <- strrep("ATGGCACGTTCTGACC", 40)
  x <- Biostrings::DNAStringSet(c(
    codon = "ACG", five = "ACGTA", short = substr(open, 1, 59), n = strrep("N", 500),
    mostly_n = paste0(strrep("N", 450), substr(open, 1, 50)), half = substr(open, 1, 249),
    long = open
  ))
  for (rule in c("virnucpro", "strict")) {
    told <- character()
    hits <- withCallingHandlers(
      detect_viruses(x, example_model("dnabert_random"), example_model("esm2_random"),
                     virus_fixture("classifier.pth"), tempfile("viruses"), frame_rule = rule,
                     threads = 1),
      ancify_sequence_warning = function(w) {
        told <<- c(told, conditionMessage(w))
        invokeRestart("muffleWarning")
      }
    )
    judged <- hits$contigs$called > 0
    expect_identical(hits$contigs$sequence[judged], c("half", "long"))
    expect_true(all(hits$contigs$viral[!judged] == 0))
    expect_identical(hits$contigs$no_frame + hits$contigs$too_short + hits$contigs$called,
                     hits$contigs$chunks)
    without <- hits$chunks[is.na(hits$chunks$is_virus), ]
    expect_setequal(without$sequence, c("codon", "five", "short", "n", "mostly_n"))
    expect_identical(without$not_called == "no frame",
                     rule == "virnucpro" & without$sequence == "n")
    expect_true(all(is.na(unlist(without[c("other", "virus")]))))
    expect_true(all(is.na(hits$chunks$not_called[!is.na(hits$chunks$is_virus)])))
    frames <- utils::read.delim(file.path(hits$out, detected[1]))
    expect_true(all(grepl("^(half|long)_chunk", frames$Sequence_ID)))
    n <- if (rule == "virnucpro") 4 else 5
    expect_match(told, sprintf("^%d chunks are too short to be judged \\(fewer than 20 known", n),
                 all = FALSE)
    expect_match(told, "1 sequence is below half of `size`, 500 bases: .*'half'", all = FALSE)
  }
  # A chunk of fewer bases needs fewer residues.
  expect_identical(vapply(c(1, 60, 239, 500), least_residues, 0), c(1, 5, 20, 20))
})

test_that("sets, gzip and numbers of threads give the same bytes", {
  local_part_size(20)
  expected <- files_of_run(detect()$out)
  gzip <- tempfile(fileext = ".fa.gz")
  writeBin(gzip_member(file_bytes(virus_fixture("contigs.fa"))), gzip)
  expect_identical(files_of_run(detect(gzip, threads = 2)$out), expected)
  set <- Biostrings::readDNAStringSet(virus_fixture("contigs.fa"))
  names(set) <- sub(" .*", "", names(set))
  expect_identical(files_of_run(detect(set)$out), expected)
})

test_that("rules, sizes and genetic codes are those of the steps", {
  set.seed(4)
  x <- Biostrings::DNAStringSet(c(a = random_bases(130, c("A", "C", "G", "T", "N"))))
  hits <- detect(x, chunk_rule = "even", frame_rule = "strict", size = 50, genetic_code = "4")
  found <- six_frames(chunk_sequences(x, 50, "even"), "strict", "4")
  expect_identical(hits$frames[1:3], found$frames)
  expect_warning(
    detect_viruses(x, example_model("dnabert_random"), example_model("esm2_random"),
                   virus_fixture("classifier.pth"), tempfile("viruses"), 60),
    "letters? that the model does not know", class = "ancify_sequence_warning"
  )
  expect_ancify_error(detect(x, genetic_code = "4"), "input", "`genetic_code` must be \"1\"")
  expect_ancify_error(detect(x, size = 0), "input", "`size`")
  expect_ancify_error(detect(x, chunk_rule = "odd"), "input")
})

# ---- Runs that go on ----------------------------------------------------------------------------

test_that("what a run lost is made again, and nothing else", {
  local_part_size(20)
  out <- detect()$out
  expected <- files_of_run(out)
  files <- names(expected)
  expect_true(all(c(detected, "contigs.tsv", "dna/part-3.bin", "protein/part-2.bin") %in% files))
  times <- function() stats::setNames(file.mtime(file.path(out, files)), files)
  before <- times()
  again <- detect(out = out)
  expect_identical(times(), before)
  for (lost in list("dna/part-2.bin", c("protein/part-1.bin", "protein/part-3.bin"), detected[1],
                    c("contigs.tsv", "dna/part-1.bin"))) {
    unlink(file.path(out, lost[1]))
    if (length(lost) > 1) writeLines("damaged", file.path(out, lost[2]))
    expect_identical(unclass(detect(out = out)), unclass(again))
    expect_identical(files_of_run(out), expected)
    # The tables are written together.
    made <- if (any(lost %in% c(detected, "contigs.tsv"))) c(detected, "contigs.tsv")
    kept <- setdiff(files, c(lost, made))
    expect_identical(times()[kept], before[kept])
    before <- times()
  }
})

test_that("workers embed frames, with the files of one session", {
  local_part_size(20)
  expected <- files_of_run(detect(threads = 1)$out)
  for (param in cluster_params(c("serial", "snow"))) {
    suppressMessages(out <- detect(threads = 1, BPPARAM = param)$out, classes = "ancify_message")
    expect_identical(files_of_run(out), expected)
  }
})

test_that("a run that is killed goes on, with the same files", {
  local_part_size(5)
  expected <- files_of_run(detect()$out)
  for (first in c("dna/part-2.bin", "protein/part-3.bin")) {
    out <- tempfile("viruses")
    job <- start_program(rscript, write_script(
      "library(ancify)", "options(ancify.part_size = 5)",
      sprintf("invisible(detect_viruses(%s))", paste(vapply(list(
        normalizePath(virus_fixture("contigs.fa")), example_model("dnabert_random"),
        example_model("esm2_random"), normalizePath(virus_fixture("classifier.pth")), out
      ), deparse1, ""), collapse = ", ") |> paste(", size = 60, threads = 1"))
    ))
    wait_for(file.exists(file.path(out, first)) || !is.null(job$status()))
    tools::pskill(job$pid, tools::SIGKILL)
    wait_for(!is.null(job$status()))
    expect_true(file.exists(file.path(out, first)))
    detect(out = out)
    expect_identical(files_of_run(out), expected)
  }
})

test_that("another input, model, classifier or setting is an error that names it", {
  local_part_size(20)
  out <- detect()$out
  before <- files_of_run(out)
  differs <- function(..., says) {
    refused("input", out = out, ..., says = c("The run in", says, "choose another `out`"))
    expect_identical(files_of_run(out), before)
  }
  bases <- Biostrings::DNAStringSet(c(a = strrep("ACG", 30)))
  differs(bases, says = c(
    "differs (input: sequences, input: ids and input: letters)", "or give all as it was then"
  ))
  differs(size = 50, says = "(settings: size)")
  differs(frame_rule = "strict", says = "(settings: frame_rule)")
  set.seed(6)
  esm <- write_esm2(random_esm2(layers = 1))
  differs(protein = esm, says = "protein: ")
  other <- read_classifier(virus_fixture("classifier.pth"))
  other$tensors[[8]] <- other$tensors[[8]] + 1
  differs(classifier = other, says = "differs (classifier: numbers)")
  refused("input", out = out, resume = FALSE, says = "has a run: remove it")
  # The same classifier by another way is the same.
  same <- save_model(read_classifier(virus_fixture("classifier.pth")), tempfile())
  detect(out = out, classifier = same)
  expect_identical(files_of_run(out), before)
  # A run that was ended before its first part is on record too.
  for (folder in c("dna", "protein")) unlink(file.path(out, folder), recursive = TRUE)
  unlink(file.path(out, detected))
  refused("input", out = out, size = 50, says = "settings: size")
})

test_that("files of others are kept", {
  for (name in c(detected, "contigs.tsv")) {
    out <- new_folder()
    mine <- file.path(out, name)
    writeLines("mine", mine)
    refused("file", out = out, says = "no run wrote it")
    expect_identical(readLines(mine), "mine")
    expect_false(file.exists(file.path(out, "dna", "part-1.bin")))
  }
  lock <- lock_folder_impl(out <- new_folder())
  on.exit(unlock_folder_impl(lock))
  refused("lock", out = out, says = character())
})

# ---- Problems -----------------------------------------------------------------------------------

test_that("sequences that are no DNA, have no bases or no name of their own are told", {
  fasta <- function(...) {
    writeLines(c(...), path <- tempfile(fileext = ".fa"))
    path
  }
  out <- tempfile("viruses")
  wrong <- function(file, line, says) {
    expect_identical(refused("format", file, out = out, says = says)$line + 0, line)
  }
  wrong(fasta(">a", "ACG", ">b", ">c", "A"), 3, "'b': it has no bases")
  wrong(fasta(">a", "ACG", ">a", "A"), 3, "a record before it has the same name")
  wrong(fasta(">a", "ACG", ">p", "MKTAYIAKQR"), 3, "is it a protein?")
  wrong(fasta(character()), 0, character())
  refused("file", tempfile(), out = out, says = "no such file")
  refused("input", Biostrings::AAStringSet("MKT"), out = out, says = "a DNAStringSet")
  set <- Biostrings::DNAStringSet(c("AC", "AC"))
  names(set) <- c("a", "a\tb")
  refused("input", set, out = out, says = "'a\tb': a name has a tab")
  expect_false(file.exists(out))
})

test_that("models and classifiers that do not fit are told, before any work", {
  out <- tempfile("viruses")
  set.seed(5)
  wide <- write_esm2(random_esm2(heads = 4, layers = 1))
  refused("input", protein = wide, out = out, says = c(
    "takes 56 numbers a frame", "`dna` gives 24 and `protein` 64, together 88",
    "use the models that it was trained on"
  ))
  refused("input", dna = example_model("esm2_random"), out = out,
          says = c("`dna` must be a model of DNA", "reads proteins"))
  refused("input", protein = sequence_model(example_model("dnabert_random")), out = out,
          says = c("`protein` must be a model of proteins", "reads DNA"))
  turned <- read_classifier(virus_fixture("classifier.pth"), c("virus", "worm"))
  refused("input", classifier = turned, out = out, says = "viruses must be the second one")
  unknown <- read_classifier(virus_fixture("classifier.pth"))
  unknown$tensors[[1]][1] <- NA
  refused("input", classifier = unknown, out = out, says = "its parts do not fit")
  refused("file", classifier = tempfile(), out = out, says = "no such file")
  refused("file", dna = tempfile(), out = out, says = character())
  refused("input", dna = 3, out = out, says = "`dna` must be one path")
  refused("input", threads = 0, out = out, says = "`threads`")
  refused("input", backend = "tpu", out = out, says = "`backend`")
  refused("input", precision = "fp16", out = out, says = "is for GPUs alone")
  if (nrow(available_gpus()) == 0) refused("device", backend = "gpu", out = out, says = character())
  expect_ancify_error(detect_viruses("x"), "input", "`dna`, `protein`, `classifier` and `out`")
  expect_false(file.exists(out))
})

test_that("no sequence, and no frame, give empty tables", {
  for (x in list(character(), c(a = "A", b = "TTAATTAATTAATTAA"))) {
    hits <- detect(Biostrings::DNAStringSet(x))
    expect_identical(nrow(hits$contigs), length(x))
    expect_identical(vapply(detected, function(file) {
      length(readLines(file.path(hits$out, file)))
    }, 0L, USE.NAMES = FALSE), c(1L, 1L))
    expect_true(all(is.na(hits$frames$virus)))
    expect_match(capture.output(print(hits)), sprintf("0 of %d sequences", length(x)), all = FALSE)
  }
})

# ---- What is told -------------------------------------------------------------------------------

test_that("the time of all is told first, unless it is short", {
  told <- function(seconds, out = tempfile("viruses")) {
    caught <- character()
    withCallingHandlers(
      with_function("seconds_left", function(run, folder) {
        if (run$model$reads_dna) seconds[1] else seconds[2]
      }, detect(out = out)),
      message = function(condition) {
        expect_false(file.exists(file.path(out, "dna", "part-1.bin")))
        caught <<- c(caught, conditionMessage(condition))
        invokeRestart("muffleMessage")
      }
    )
    gsub("\\s+", " ", paste(caught, collapse = " "))
  }
  says <- told(c(340, 7800))
  expect_match(says, paste(
    "Embedding will take about 2.3 hours: 5.7 minutes by the model of DNA, 2.2 hours by that of",
    "proteins, on 1 thread. A smaller model of proteins"
  ), fixed = TRUE)
  expect_identical(told(c(0.5, 1.4)), "")
  expect_identical(vapply(c(0, 0.01, 59.4, 90, 5400, 86400, 1e7), show_duration, ""), c(
    "0 seconds", "1 second", "59 seconds", "1.5 minutes", "1.5 hours", "1 day", "120 days"
  ))
})

test_that("the time is that of frames that are left, in proportion to their letters", {
  local_part_size(20)
  set <- chunk_sequences(virus_fixture("contigs.fa"), 60)
  proteins <- frames_to_judge(six_frames(set), 60)$protein
  run <- frames_run(sequence_model(example_model("esm2_random")), proteins, new_work(1), NULL)
  all <- run$sequences$sequences
  left_in <- function(folder, took) {
    timed <<- list()
    with_function("seconds_of_embedding", function(run, which) {
      timed <<- c(timed, list(which))
      took(length(which))
    }, seconds_left(run, folder))
  }
  timed <- list()
  seconds <- left_in(new_folder(), function(n) 3)
  expect_identical(timed, list(c(1L, length(all))))
  expect_equal(seconds, 3 * sum(nchar(all)) / sum(nchar(all[c(1, length(all))])))
  seconds <- left_in(new_folder(), function(n) if (n < 30) 0.1 else 2)
  expect_identical(lengths(timed), c(2L, 8L, 32L))
  expect_equal(seconds, 2 * sum(nchar(all)) / sum(nchar(all[timed[[3]]])))
  expect_identical(left_in(new_folder(), function(n) 0.1), 0)
  expect_gt(seconds_of_embedding(run, rep(1:3, 200)), 0)
  # What is whole by the ledger needs no time.
  out <- detect()$out
  folder <- file.path(out, "protein")
  expect_identical(left_in(folder, function(n) 3), 0)
  expect_length(timed, 0)
  claim_files(open_ledger(folder), "part-2.bin")
  seconds <- left_in(folder, function(n) 3)
  expect_identical(timed, list(c(21L, 40L)))
  expect_equal(seconds, 3 * sum(nchar(all[21:40])) / sum(nchar(all[c(21, 40)])))
})

test_that("results are printed, are tables, and are drawn", {
  require_package("ggplot2")
  hits <- detect()
  lines <- capture.output(expect_identical(print(hits), hits))
  viral <- sum(hits$contigs$viral > 0)
  expect_match(lines[1], sprintf("<virus_detection> %d of 11 sequences with viral chunks", viral))
  expect_match(lines, sprintf("chunks +%d, of which %d are viral", nrow(hits$chunks),
                              sum(hits$chunks$is_virus, na.rm = TRUE)), all = FALSE)
  expect_match(lines, "'virus' than 'others'", all = FALSE)
  expect_match(lines, "^ *long +11", all = FALSE)
  expect_identical(as.data.frame(hits), hits$contigs)
  for (of in c("contigs", "chunks", "frames")) {
    expect_identical(as.data.frame(hits, of = of), hits[[of]])
  }
  expect_ancify_error(as.data.frame(hits, of = "genes"), "input", "`of` must be one of")
  picture <- ggplot2::autoplot(hits, n = 3)
  built <- ggplot2::ggplot_build(picture)
  shown <- levels(picture$data$row)
  expect_identical(rev(shown), hits$contigs$sequence[order(-hits$contigs$viral,
                                                           -hits$contigs$chunks)][1:3])
  drawn <- hits$chunks[hits$chunks$sequence %in% shown, ]
  expect_identical(nrow(built$data[[1]]), nrow(drawn))
  expect_identical(nrow(built$data[[3]]), sum(drawn$is_virus, na.rm = TRUE))
  expect_no_warning(ggplot2::ggplot_build(ggplot2::autoplot(hits)))
  expect_ancify_error(ggplot2::autoplot(hits, n = 0), "input", "`n`")
  none <- detect(Biostrings::DNAStringSet())
  expect_ancify_error(ggplot2::autoplot(none), "input", "no chunk to draw")
})

test_that("the command gives the same files, and says which", {
  expected <- files_of_run(detect()$out)
  out <- tempfile("viruses")
  words <- c(
    "viruses", "-i", virus_fixture("contigs.fa"), "-o", out, "--dna",
    example_model("dnabert_random"), "--protein", example_model("esm2_random"), "--classifier",
    virus_fixture("classifier.pth"), "--size", "60", "-n", "2"
  )
  lines <- capture.output(status <- run_command_line(words))
  expect_identical(status, 0L)
  expect_identical(tail(lines, 3), paste("Wrote", file.path(out, c(detected, "contigs.tsv"))))
  expect_identical(files_of_run(out), expected)
  words[13] <- "0"
  told <- capture.output(status <- run_command_line(words), type = "message")
  expect_identical(status, 2L)
  expect_match(told, "--size must be a positive whole number, not 0", fixed = TRUE)
  words[13] <- "50"
  told <- capture.output(status <- run_command_line(words), type = "message")
  expect_identical(status, 1L)
  expect_match(told, "(settings: size): choose another `-o`", fixed = TRUE)
})
