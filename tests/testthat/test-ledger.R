# The ledger of a folder: every verb, in every state of a row, with and without files.

# The result of each verb for each row, and the answers of whole and foreign. `reclaimed`: a claimed
# row that was complete. `link`: a dangling link.
transitions <- utils::read.table(header = TRUE, text = "
  verb     row        absent     file       folder     link
  claim    none       claimed    error      error      error
  claim    claimed    claimed    claimed    error      claimed
  claim    reclaimed  reclaimed  reclaimed  error      reclaimed
  claim    complete   reclaimed  reclaimed  error      reclaimed
  claim    stale      claimed    claimed    error      claimed
  complete none       complete   complete   complete   complete
  complete claimed    complete   complete   complete   complete
  complete reclaimed  complete   complete   complete   complete
  complete complete   complete   complete   complete   complete
  complete stale      complete   complete   complete   complete
  release  none       none       none       none       none
  release  claimed    none       stale      none       stale
  release  reclaimed  complete   complete   complete   complete
  release  complete   complete   complete   complete   complete
  release  stale      stale      stale      stale      stale
  crash    none       none       none       none       none
  crash    claimed    none       stale      none       stale
  crash    reclaimed  complete   complete   complete   complete
  crash    complete   complete   complete   complete   complete
  crash    stale      stale      stale      stale      stale
  remove   none       none       none       none       none
  remove   claimed    claimed    none       claimed    none
  remove   reclaimed  reclaimed  none       reclaimed  none
  remove   complete   complete   none       complete   none
  remove   stale      stale      none       stale      none
  whole    none       no         no         no         no
  whole    claimed    no         no         no         no
  whole    reclaimed  no         no         no         no
  whole    complete   no         yes        no         no
  whole    stale      no         no         no         no
  foreign  none       no         yes        yes        yes
  foreign  claimed    no         no         yes        no
  foreign  reclaimed  no         no         yes        no
  foreign  complete   no         no         yes        no
  foreign  stale      no         no         yes        no
")

file_name <- "posterior/chr1.phred"

# A ledger with this row, and this kind of file in its place.
ledger_with <- function(row, place) {
  ledger <- open_ledger(new_folder())
  path <- ledger_paths(ledger, file_name)
  dir.create(dirname(path))
  writeLines("of a run", path)
  sums <- sums_of(path)
  if (row %in% c("claimed", "stale")) set_rows(ledger, bare_rows(file_name, row))
  if (row %in% c("complete", "reclaimed")) complete_files(ledger, file_name, "a genome", sums)
  if (row == "reclaimed") claim_files(ledger, file_name)
  # As another session reads it
  ledger$seen <- new.env(parent = emptyenv())
  if (place != "file") unlink(path)
  if (place == "folder") dir.create(path)
  if (place == "link") file.symlink("/nowhere/at/all", path)
  ledger
}

row_in <- function(ledger) {
  row <- ledger_rows(ledger)[ledger_rows(ledger)$path == file_name, ]
  if (nrow(row) == 0) {
    "none"
  } else if (row$state == "claimed" && !is.na(row$from)) {
    "reclaimed"
  } else {
    row$state
  }
}

yes_or_no <- function(answer) if (answer) "yes" else "no"

verbs <- list(
  claim = function(ledger) claim_files(ledger, file_name),
  complete = function(ledger) {
    sums <- list(size = 1, checksum = "00000000", identity = "x")
    complete_files(ledger, file_name, "a genome", sums)
  },
  release = release_claims,
  crash = function(ledger) {
    save_ledger(ledger, at_once = TRUE)
    next_run <- open_ledger(ledger$folder)
    release_claims(next_run)
    ledger$rows <- ledger_rows(next_run)
  },
  remove = function(ledger) remove_own(ledger, file_name),
  whole = function(ledger) yes_or_no(whole_files(ledger, file_name)),
  foreign = function(ledger) yes_or_no(length(foreign_files(ledger, file_name)) > 0)
)

what_lies_at <- function(path) {
  if (dir.exists(path)) "folder" else if (file.exists(path)) "file" else
    if (is_there(path)) "link" else "absent"
}

test_that("each verb changes each row as in the table", {
  for (i in seq_len(nrow(transitions))) {
    verb <- transitions$verb[i]
    for (place in c("absent", "file", "folder", "link")) {
      case <- paste(verb, transitions$row[i], place)
      ledger <- ledger_with(transitions$row[i], place)
      path <- ledger_paths(ledger, file_name)
      outcome <- tryCatch(
        {
          answer <- verbs[[verb]](ledger)
          if (verb %in% c("whole", "foreign")) answer else row_in(ledger)
        },
        ancify_file_error = function(condition) "error"
      )
      expect_identical(outcome, transitions[[place]][i], label = case)
      # Only remove touches files, and only a run's own.
      removed <- verb == "remove" && transitions$row[i] != "none" && place %in% c("file", "link")
      expect_identical(what_lies_at(path), if (removed) "absent" else place, label = case)
      # Errors and questions change nothing.
      if (outcome == "error" || verb %in% c("whole", "foreign")) {
        expect_identical(row_in(ledger), transitions$row[i], label = case)
      }
    }
  }
})

test_that("whole files have the given source and size, and are unchanged", {
  ledger <- ledger_with("complete", "file")
  path <- ledger_paths(ledger, file_name)
  anew <- function() open_ledger(ledger$folder)
  save_ledger(ledger, at_once = TRUE)
  is_whole <- function(made_from = "a genome", size = 9, resume = TRUE) {
    ledger <- anew()
    ledger$resume <- resume
    whole_files(ledger, file_name, known_source(ledger, made_from), size)
  }
  expect_true(is_whole())
  expect_false(is_whole("another genome"))
  expect_false(is_whole(size = 10))
  expect_false(is_whole(resume = FALSE))
  time <- file.mtime(path)
  writeLines("of a pun", path)
  Sys.setFileTime(path, time)
  expect_false(is_whole())
})

test_that("files of this session are whole without a check, even without resume", {
  ledger <- ledger_with("none", "file")
  ledger$resume <- FALSE
  complete_files(ledger, file_name, "x", sums_of(ledger_paths(ledger, file_name)))
  expect_true(whole_files(ledger, file_name, known_source(ledger, "x")))
})

test_that("a ledger is read back unchanged, with facts and sources", {
  ledger <- open_ledger(new_folder())
  made_from <- list(genome = list(size = 1e15 + 1, name = "Ä\t\"\n"), lengths = c(a = 1, b = 2))
  sums <- list(size = c(3, 4e12), checksum = c("0000000a", "ffffffff"), identity = c("x", "y"))
  complete_files(ledger, c("a\tb.fa", "\u00e4.fa"), made_from, sums, "{\"n\":[1,2]}")
  complete_facts(ledger, "projected/a/", NULL, "{\"blocks\":[1,2]}")
  claim_files(ledger, "new.fa")
  back <- open_ledger(ledger$folder)
  expect_equal(ledger_rows(back), ledger_rows(ledger), ignore_attr = "row.names")
  expect_identical(
    facts_of(back, c("\u00e4.fa", "none", "projected/a/")),
    list(list(n = list(1L, 2L)), NULL, list(blocks = list(1L, 2L)))
  )
  expect_true(same_json(made_from_of(back, "a\tb.fa")[[1]], made_from))
  expect_null(made_from_of(back, "new.fa")[[1]])
  # Unused sources are not written again.
  complete_files(ledger, c("a\tb.fa", "\u00e4.fa"), "other", sums)
  save_ledger(ledger, at_once = TRUE)
  expect_length(open_ledger(ledger$folder)$sources, 2)
})

test_that("a ledger is written only after changes, and at once if asked", {
  ledger <- open_ledger(new_folder())
  save_ledger(ledger, at_once = TRUE)
  expect_false(file.exists(ledger_file(ledger$folder)))
  claim_files(ledger, c("a", "b"))
  expect_identical(open_ledger(ledger$folder)$rows$state, c("claimed", "claimed"))
  written <- file.mtime(ledger_file(ledger$folder))
  claim_files(ledger, "a")
  save_ledger(ledger, at_once = TRUE)
  expect_identical(file.mtime(ledger_file(ledger$folder)), written)
})

test_that("a ledger of many files is read back too", {
  ledger <- open_ledger(new_folder())
  paths <- sprintf("projected/a_species/scaffold_%06d.fa", 1:40000)
  claim_files(ledger, paths)
  expect_gt(file.size(ledger_file(ledger$folder)), 1e6)
  expect_identical(ledger_rows(open_ledger(ledger$folder))$path, paths)
})

test_that("a damaged ledger is an error that names it, and no file counts as a run's", {
  set.seed(207)
  case <- random_config()
  run_quietly(case$config)
  folder <- case$config$output_dir
  path <- ledger_file(folder)
  text <- readLines(path)
  before <- content_of_files(folder)[sequence_file(names(case$lengths))]
  with_body <- function(body) c(ledger_line(body), body)
  columns <- jsonlite::fromJSON(text[2])
  changed <- function(...) {
    as.character(jsonlite::toJSON(utils::modifyList(columns, list(...)), digits = NA, na = "null"))
  }
  for (damaged in list(
    "", "{", text[1], text[2], sub("chr1", "chr3", text), sub("ledger 1", "ledger 2", text),
    with_body("{"), with_body("[]"), with_body("{\"path\":[1]}"), with_body("null"),
    with_body(changed(path = rep("chr1.fa", length(columns$path)))),
    with_body(changed(path = paste0("../", columns$path))),
    with_body(changed(path = paste0("/", columns$path))),
    with_body(changed(state = rep("whole", length(columns$path)))),
    with_body(changed(from = rep(99, length(columns$path)))), with_body(changed(size = 1:2)),
    with_body(changed(checksum = NULL))
  )) {
    writeLines(damaged, path)
    condition <- expect_ancify_error(run_quietly(case$config), "check", path,
                                     "choose another folder")
    expect_s3_class(condition, "ancify_file_error")
    checks <- ancify_check(case$config)
    expect_identical(checks$file[checks$status == "error"], path)
    expect_identical(content_of_files(folder)[names(before)], before)
  }
  unlink(path)
  dir.create(path)
  expect_ancify_error(run_quietly(case$config), "check", path)
})

test_that("files in lists of earlier builds are a run's own, and are made anew", {
  case <- random_config()
  run_quietly(case$config)
  lists <- c(
    file.path(case$config$output_dir, ".ancify_files"),
    file.path(case$config$work_dir, c("projected/.ancify_files", ".ancify/manifest.json"))
  )
  as_before <- function() {
    unlink(ledger_file(unlist(case$config[c("work_dir", "output_dir")])))
    species <- rep(names(case$projected), each = length(case$lengths))
    writeLines(c("ancify_run.json", sequence_file(names(case$lengths)), "../precious"), lists[1])
    writeLines(file.path(species, sequence_file(names(case$lengths))), lists[2])
    writeLines("{}", lists[3])
  }
  as_before()
  run_quietly(case$config)
  expect_calls(case$config$output_dir, case$calls)
  expect_false(any(file.exists(lists)))
  expect_no_error(run_quietly(case$config))
  # Files that are not in the lists are a user's.
  as_before()
  writeLines("mine", file.path(case$config$output_dir, "fitted_model.yml"))
  expect_ancify_error(run_quietly(case$config), "check", "fitted_model.yml")
})

test_that("equal descriptions give equal text, also if one was read from JSON", {
  descriptions <- list(
    NULL, list(), 1L, 0.1 + 0.2, 1e20, 3e9, 1 / 3, 2^53 + 1, -Inf, NaN, NA, NA_character_, TRUE,
    "\u00e9\"\n", list("a"), c(a = 1, b = 2), character(), factor(c("x", "y")), matrix(1:4, 2),
    data.frame(), data.frame(a = 1:2, b = c("x", NA)), c(1.5, NA), c(TRUE, NA),
    list(a = NULL, b = list(c = NA), d = setNames(list(), character()), e = c(u = "v"))
  )
  for (description in descriptions) {
    read <- jsonlite::fromJSON(to_json(description), simplifyVector = FALSE)
    expect_identical(canonical_json(read), canonical_json(description))
  }
})

test_that("plain lists have the text that jsonlite gives them", {
  values <- list(
    NULL, list(), setNames(list(), character()), "a/b", "", "q\"", "b\\s", "</x>", "\u00e9", "\n",
    "~ ", "\x7f", NA, NA_character_, character(), numeric(), logical(), TRUE, FALSE, 1, 0, -0, -1,
    2L, 0L, NA_integer_, 999999999, 1e9, 1e15, Inf, NaN, 1:2, c(a = 1), array(1), I("a"),
    0.1, 0.1 + 0.2, 1 / 3, 1e-4, 1e-4 / 3, 0.00012345678901234567, 999999999.5, 1e9 - 1e-7, -0.5,
    1 - 1e-16, 123456.789, c(0.5, 2), c(a = 0.25, b = 1e-5),
    factor("a"), Sys.Date(), as_json("{}"), data.frame(a = 1:2), matrix(1:4, 2),
    structure(list(1, 2), dim = 1:2),
    list(a = 1, 2), list(a = 1, a = 2), list(a = list(b = list(c = "x", 1), d = NULL)),
    setNames(list(1), NA), setNames(list(1), "\""), c(0, 5, 7), c(a = 1, b = 0), c("a", "b"),
    c(a = "x", b = "<"), c(TRUE, NA), c(a = TRUE), c(a = 1, a = 2), setNames(1:2, c("a", "")),
    setNames(numeric(), character()), setNames(1, NA), c(1, 0.5), c(a = 1L, b = NA)
  )
  for (x in c(values, lapply(values, list), lapply(values, function(x) list(a = x, b = "z")))) {
    expect_identical(canonical_json(x), as.character(to_json(x, pretty = FALSE)))
  }
})

test_that("reports of alignments are plain", {
  report <- list(
    blocks = c(3, 0), passed_over = 0, bad = 0, bad_lines = numeric(), bad_problems = character(),
    on = c(chr1 = 5e6, chr2 = 7)
  )
  expect_identical(ancify:::plain_json_impl(report), as.character(to_json(report, pretty = FALSE)))
})

test_that("texts of rows and of named values are those of lists", {
  values <- list(
    c(a = 1 / 3, "\u00e9\"," = NA, c = 1e20), c(a = "x,\n", b = NA), c(a = 1L), c(a = TRUE, b = NA),
    setNames(numeric(), character())
  )
  for (x in values) expect_identical(canonical_json(x), canonical_json(as.list(x)))
  table <- data.frame(a = c(0.1 + 0.2, NaN), b = c("x,\n", NA))
  table$c <- data.frame(d = 1:2, e = NA)
  table$f <- as_json(c("[]", "[1,2]"))
  rows <- list(
    list(a = 0.1 + 0.2, b = "x,\n", c = list(d = 1L, e = NULL), f = list()),
    list(a = NULL, b = NULL, c = list(d = 2L, e = NULL), f = c(1, 2))
  )
  expect_identical(json_texts(table), vapply(rows, canonical_json, ""))
  expect_identical(json_texts(table[0, ]), character())
})
