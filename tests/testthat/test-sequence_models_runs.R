# Runs of embed_sequences() that are ended and go on: what is kept, and what is made anew.

set.seed(13)
model <- sequence_model(write_esm2(random_esm2(layers = 1)))
ids <- paste0("p", sample(23))
proteins <- stats::setNames(random_proteins(sample(5:30, 23, TRUE)), ids)
in_memory <- embed_sequences(proteins, model)
attr(in_memory, "unknown") <- NULL

local_parts <- function(size = 5, frame = parent.frame()) {
  old <- options(ancify.part_size = size)
  do.call(on.exit, list(bquote(options(.(old))), add = TRUE), envir = frame)
}

part_file <- function(out, k) file.path(out, sprintf("part-%d.bin", k))

# As a crash leaves them, which begun but unsaved parts show as claimed.
claim_again <- function(out, k) {
  ledger <- open_ledger(out)
  rows <- ledger_rows(ledger)
  bare <- bare_rows(basename(part_file(out, k)), "claimed")
  set_rows(ledger, rbind(rows[!rows$path %in% bare$path, ], bare))
  save_ledger(ledger, at_once = TRUE)
}

embed_to <- function(out, x = proteins, by = model, ...) embed_sequences(x, by, out = out, ...)

times <- function(out) {
  files <- list.files(out, "^part", full.names = TRUE)
  stats::setNames(file.info(files)$mtime, basename(files))
}

test_that("a run's rows are those in memory, in the input's own order, the last part too", {
  local_parts()
  out <- file.path(new_folder(), "run")
  expect_identical(embed_to(out), out)
  expect_identical(read_embeddings(out), in_memory)
  expect_identical(sort(list.files(out, all.files = TRUE, no.. = TRUE)),
                   c(".ancify", sprintf("part-%d.bin", 1:5)))
  by_residue <- file.path(new_folder(), "residues")
  embed_to(by_residue, pool = "residue")
  expected <- embed_sequences(proteins, model, pool = "residue")
  attr(expected, "unknown") <- NULL
  expect_identical(read_embeddings(by_residue), expected)
})

test_that("a run that is whole is not made again, however often it is called", {
  local_parts()
  out <- new_folder()
  embed_to(out)
  before <- times(out)
  for (i in 1:2) {
    embed_to(out)
    expect_identical(times(out), before)
    expect_identical(read_embeddings(out), in_memory)
  }
})

test_that("parts that are lost, cut, changed or of other sequences are made anew, and no others", {
  local_parts()
  out <- new_folder()
  embed_to(out)
  bytes <- readBin(part_file(out, 2), "raw", 1e5)
  damages <- list(
    lost = function(file) unlink(file),
    cut = function(file) writeBin(bytes[1:50], file),
    changed = function(file) writeBin(replace(bytes, 90, xor(bytes[90], as.raw(1))), file),
    empty = function(file) writeBin(raw(), file),
    other = function(file) file.copy(part_file(out, 3), file, overwrite = TRUE)
  )
  before <- times(out)
  for (damage in damages) {
    damage(part_file(out, 2))
    expect_error(read_embeddings(out), class = "ancify_error")
    embed_to(out)
    expect_identical(read_embeddings(out), in_memory)
    expect_identical(times(out)[-2], before[-2])
    expect_identical(readBin(part_file(out, 2), "raw", 1e5), bytes)
  }
})

test_that("a run that was ended goes on", {
  local_parts()
  out <- new_folder()
  embed_to(out)
  claim_again(out, c(2, 3, 5))
  unlink(part_file(out, 5))
  told <- expect_ancify_error(read_embeddings(out), "input")
  expect_match(conditionMessage(told), "is incomplete: 3 of 5 parts are missing")
  before <- times(out)
  writeBin(raw(10), file.path(out, "part-2.bin.ancify-tmp-999999999-1"))
  embed_to(out)
  expect_identical(read_embeddings(out), in_memory)
  expect_identical(times(out)[c(1, 4)], before[c(1, 4)])
  expect_false(any(grepl("tmp", list.files(out))))
})

test_that("an error within a run leaves what was done, and the next call goes on", {
  local_parts()
  out <- new_folder()
  embed_to(out)
  claim_again(out, 1:5)
  unlink(part_file(out, 1:5))
  make <- make_part
  until_third <- function(run, ledger, part, of) {
    if (part$file == "part-3.bin") abort_ancify("no space", "file", file = part$file)
    make(run, ledger, part, of)
  }
  with_function("make_part", until_third, expect_ancify_error(embed_to(out), "file", "no space"))
  expect_identical(list.files(out), c("part-1.bin", "part-2.bin"))
  before <- times(out)[1:2]
  # A folder in the way is reported before any work.
  dir.create(part_file(out, 3))
  expect_ancify_error(embed_to(out), "file", "part-3.bin")
  expect_identical(times(out)[1:2], before)
  unlink(part_file(out, 3), recursive = TRUE)
  embed_to(out)
  expect_identical(times(out)[1:2], before)
  expect_identical(read_embeddings(out), in_memory)
})

test_that("another input, model or setting is an error that names it; a copy is not", {
  local_parts()
  out <- new_folder()
  embed_to(out)
  told <- function(...) conditionMessage(expect_ancify_error(embed_to(out, ...), "input"))
  renamed <- proteins
  names(renamed)[4] <- "other"
  expect_match(told(x = renamed), "differs \\(input: ids\\)")
  changed <- proteins
  changed[9] <- "MKT"
  expect_match(told(x = changed), "differs \\(input: letters\\)")
  expect_match(told(x = rev(proteins)), "input: ids and input: letters")
  expect_match(told(x = proteins[-1]), "input: sequences, input: ids and input: letters")
  expect_match(told(pool = "residue"), "settings: pool")
  expect_match(told(long = "truncate"), "settings: long")
  other <- sequence_model(write_esm2(random_esm2(layers = 1)))
  expect_match(told(by = other), "differs \\(model: model.safetensors\\)")
  copy <- file.path(new_folder(), "copy")
  dir.create(copy)
  file.copy(list.files(model$folder, full.names = TRUE), copy)
  expect_silent(embed_to(out, by = sequence_model(copy)))
  expect_identical(read_embeddings(out), in_memory)
  told_run <- expect_ancify_error(embed_to(out, resume = FALSE), "input")
  expect_match(conditionMessage(told_run), "has a run: remove it")
})

test_that("files of others are kept, and a damaged ledger is told", {
  local_parts()
  out <- new_folder()
  mine <- file.path(out, c("part-1.bin", "notes.txt"))
  for (file in mine) writeLines("mine", file)
  told <- conditionMessage(expect_ancify_error(embed_to(out), "file", "part-1.bin"))
  expect_match(told, "no run wrote it. Move it away, or choose another `out`.", fixed = TRUE)
  expect_identical(readLines(mine[1]), "mine")
  file <- file.path(new_folder(), "file")
  writeLines("mine", file)
  expect_ancify_error(embed_to(file), "file")
  expect_identical(readLines(file), "mine")
  unlink(mine[1])
  embed_to(out)
  expect_identical(read_embeddings(out), in_memory)
  expect_identical(readLines(mine[2]), "mine")
  ledger <- file_bytes(ledger_file(out))
  writeLines("{", ledger_file(out))
  expect_ancify_error(embed_to(out), "file", "is damaged")
  expect_ancify_error(read_embeddings(out), "file", "is damaged")
  # The way out that the message names: no part is made anew.
  parts <- Sys.glob(file.path(out, "part-*.bin"))
  made <- file.mtime(parts)
  for (kept in c(0, 1, 100, length(ledger) - 2)) {
    writeBin(utils::head(ledger, kept), ledger_file(out))
    told <- conditionMessage(expect_ancify_error(embed_to(out), "file", "to use them again"))
    expect_identical(system(sub(".*[(](cp .*)[)].*", "\\1", told)), 0L)
    embed_to(out)
    expect_identical(file.mtime(parts), made)
  }
  writeLines("{", ledger_file(out))
  writeLines("{", ledger_copy(out))
  expect_ancify_error(embed_to(out), "file", "put back a copy of the ledger")
  expect_ancify_error(read_embeddings(new_folder()), "file", "has no embeddings")
})

test_that("a folder of a run whose first part was not made takes another input", {
  local_parts()
  out <- new_folder()
  embed_to(out)
  claim_again(out, 1:5)
  embed_to(out, x = rev(proteins))
  expect_identical(read_embeddings(out), in_memory[23:1, ])
})

test_that("a run of no proteins comes back as in memory", {
  out <- new_folder()
  embed_to(out, x = character())
  expect_identical(dim(read_embeddings(out)), c(0L, ncol(in_memory)))
  by_residue <- embed_to(new_folder(), x = character(), pool = "residue")
  expect_length(read_embeddings(by_residue), 0)
})

test_that("a folder in which another process works is refused", {
  out <- new_folder()
  lock <- lock_folder_impl(out)
  on.exit(unlock_folder_impl(lock))
  expect_ancify_error(embed_to(out), "lock")
})

test_that("unknown letters are told on every call of a run", {
  out <- new_folder()
  local_parts(1)
  x <- c(a = "MKT", b = "M*K")
  for (i in 1:2) {
    expect_warning(embed_to(out, x = x), "1 letter that .*'b'", class = "ancify_sequence_warning")
  }
})

# ---- Tasks --------------------------------------------------------------------------------------

long_test_that("parts made by workers are those of one session, and only missing ones are made", {
  local_parts()
  expected <- new_folder()
  embed_to(expected, threads = 1)
  for (kind in c("serial", "multicore", "snow", "batchtools")) {
    param <- cluster_params(kind)[[1]]
    out <- new_folder()
    lines <- log_lines(embed_to(out, threads = 1, BPPARAM = param))
    expect_length(grep("^part-[1-5].bin .*: done in", lines), 5)
    expect_identical(read_embeddings(out), in_memory)
    for (k in 1:5) {
      expect_identical(file_bytes(part_file(out, k)), file_bytes(part_file(expected, k)))
    }
    unlink(part_file(out, 3))
    before <- times(out)
    lines <- log_lines(embed_to(out, threads = 1, BPPARAM = param))
    expect_length(grep(": done in", lines), 1)
    expect_identical(times(out)[names(before)], before)
    # A complete folder starts no workers.
    with_function("run_tasks", function(...) stop("workers have nothing to do"), {
      embed_to(out, threads = 1, BPPARAM = param)
    })
    embed_to(out)
    expect_identical(read_embeddings(out), in_memory)
  }
})

test_that("letters that workers do not know are counted as in one session", {
  local_parts()
  out <- new_folder()
  x <- replace(proteins, 7, "MJJK")
  param <- cluster_params("serial")[[1]]
  suppressMessages(expect_warning(embed_to(out, x = x, BPPARAM = param), "2 letters"),
                   classes = "ancify_message")
  expect_warning(embed_to(out, x = x), "2 letters", class = "ancify_sequence_warning")
})

test_that("failed tasks are named, and the next call makes their parts alone", {
  local_parts()
  copy <- file.path(new_folder(), "model")
  dir.create(copy)
  file.copy(list.files(model$folder, full.names = TRUE), copy)
  mine <- sequence_model(copy)
  # The session has read the weights; workers cannot.
  weights <- file.path(copy, "model.safetensors")
  out <- new_folder()
  of_run <- function() {
    embed_to(out, by = mine, threads = 1, BPPARAM = cluster_params("serial")[[1]])
  }
  tasks_here$model <- NULL
  no_weights <- function(folder) abort_ancify("no weights", "format", file = weights, line = 0)
  with_function("load_model", no_weights, {
    condition <- expect_ancify_error(
      suppressMessages(of_run(), classes = "ancify_message"), "task", "5 of 5 tasks failed",
      "part-1.bin failed on"
    )
  })
  expect_s3_class(condition, "ancify_format_error")
  expect_length(list.files(out, "^part"), 0)
  lines <- log_lines(of_run())
  expect_length(grep(": done in", lines), 5)
  expect_identical(read_embeddings(out), in_memory)
})

test_that("what tasks of a killed session made is kept", {
  local_parts()
  out <- new_folder()
  locks <- lock_folders(out, identity)
  param <- cluster_params("serial")[[1]]
  run <- list(
    model = model, by_residue = FALSE, sequences = as_model_input(proteins, model),
    workers = workers_of(param, "cpu")
  )
  work <- work_of_session(param, 1, "cpu", NULL)
  run$settings <- sequence_settings(run$sequences, model, "window", work)
  of <- embedding_fingerprint(run)
  # A session that ends before it records any task.
  with_function("merge_outcome", function(...) stop("killed"), {
    expect_error(suppressMessages(embed_into(run, out, TRUE, of), classes = "ancify_message"))
  })
  unlock_folders(locks)
  made <- times(out)
  expect_true(length(made) > 0)
  embed_to(out, threads = 1)
  expect_identical(times(out)[names(made)], made)
  expect_identical(read_embeddings(out), in_memory)
})

test_that("workers need a folder, and another backend than a fork has", {
  expect_ancify_error(embed_sequences(proteins, model, BPPARAM = cluster_params("serial")[[1]]),
                      "input", "`BPPARAM` needs `out`")
  expect_ancify_error(embed_to(new_folder(), BPPARAM = 2), "input", "`BPPARAM`")
  expect_ancify_error(
    embed_to(new_folder(), backend = "gpu", BPPARAM = cluster_params("multicore")[[1]]), "device",
    "SnowParam"
  )
  expect_ancify_error(
    embed_to(new_folder(), precision = "fp16", BPPARAM = cluster_params("serial")[[1]]), "input",
    "for GPUs alone"
  )
})

# ---- State on disk ------------------------------------------------------------------------------

# Changes what the ledger of a run records, as its own writer would.
with_record <- function(out, change) {
  ledger <- open_ledger(out)
  set_rows(ledger, change(ledger_rows(ledger)))
  save_ledger(ledger, at_once = TRUE)
}

test_that("facts of parts that are of no such kind are made anew", {
  local_parts()
  out <- new_folder()
  x <- replace(proteins, 7, "MJJK")
  run <- function() suppressWarnings(embed_to(out, x = x), classes = "ancify_sequence_warning")
  run()
  expected <- read_embeddings(out)
  for (facts in c('{"has_unknown":[7],"unknown":[]}', '{"has_unknown":[99],"unknown":[2]}',
                  '{"has_unknown":[7],"unknown":[-1]}', '{"has_unknown":["a"],"unknown":[1]}',
                  '{"has_unknown":[7,7],"unknown":[1,1]}', "5", '"x"', "[]", '{"a":1}')) {
    with_record(out, function(rows) {
      rows$facts[rows$path == "part-2.bin"] <- facts
      rows
    })
    expect_warning(embed_to(out, x = x), "2 letters .*unknown", class = "ancify_sequence_warning")
    expect_identical(read_embeddings(out), expected)
  }
})

test_that("a record that is no run's is an error of ancify", {
  local_parts()
  out <- new_folder()
  embed_to(out)
  good <- recorded_run(open_ledger(out))
  change <- function(...) utils::modifyList(good, list(...))
  records <- list(
    change(input = list(sequences = -1)), change(input = list(sequences = 1e15)),
    change(input = list(sequences = "many")), change(input = list(sequences = list(1, 2))),
    change(settings = list(part_size = 0)), change(settings = list(pool = "max")),
    change(settings = list(pool = NULL)), c(good, list(more = 1)),
    list(input = 1, model = 2, settings = 3), list(1), "text", 7
  )
  for (record in records) {
    ledger <- open_ledger(out)
    ledger$sources <- rep(as.character(to_json(record, pretty = FALSE)), length(ledger$sources))
    ledger$changed <- TRUE
    save_ledger(ledger, at_once = TRUE)
    expect_ancify_error(read_embeddings(out), "format", "its record of the run is damaged")
    expect_ancify_error(embed_to(out), "format", "its record of the run is damaged")
  }
})
