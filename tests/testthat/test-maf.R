# Projection of MAF files.

maf_lengths <- function() {
  lengths <- c(
    chr1 = sample(200, 1), chr.2 = sample(60, 1), one = 1, b.chr = 20, `2L` = sample(50, 1)
  )
  lengths[sample(length(lengths))]
}

# Names of projections that differ from the oracle's.
differing_maf <- function(maf, lengths, expected, ...) {
  unlist(lapply(names(expected), function(name) {
    differences <- suppressWarnings(differing(
      maf, lengths, expected[[name]]$sequences, maf_name = name, focal_maf_name = maf_focal, ...
    ))
    if (length(differences)) paste(name, differences)
  }))
}

test_that("projections of random MAFs are the oracle's", {
  set.seed(21)
  for (i in 1:12) {
    lengths <- maf_lengths()
    lines <- random_maf(lengths, n_blocks = sample(20, 1))
    maf <- write_axt(
      lines, tempfile(),
      eol = sample(c("\n", "\r\n"), 1), final_newline = sample(c(TRUE, FALSE), 1)
    )
    for (name in maf_outgroups) {
      expected <- oracle_project_maf(lines, maf_focal, name, lengths)
      if (expected[[1]]$used > 0) expect_null(differing_maf(maf, lengths, expected))
    }
  }
})

long_test_that("one MAF serves several outgroups, however compressed, at any chunk size", {
  set.seed(22)
  keep <- TRUE
  for (compression in c("none", "gzip", "members", "bgzip")) {
    lengths <- maf_lengths()
    lines <- random_maf(lengths, n_blocks = 25)
    expected <- oracle_project_maf(lines, maf_focal, maf_outgroups, lengths)
    config <- maf_config(lines, lengths, compression = compression)
    # Each way is with and without kept projections, for one compression or the next.
    expect_run <- function(threads) {
      config$keep_projected <- keep
      expect_maf_run(config, expected, threads)
      keep <<- !keep
    }
    for (threads in 1:2) expect_run(threads)
    for (size in c(1, 17, 255, 4096)) with_chunk_size(size, expect_run(sample(2, 1)))
    keep <- !keep
  }
})

test_that("chunks end at every byte of a MAF", {
  set.seed(23)
  lengths <- lengths_of(chr1 = 60, one = 1)
  lines <- random_maf(lengths, n_blocks = 3)
  expected <- oracle_project_maf(lines, maf_focal, "near", lengths)[[1]]$sequences
  files <- c(
    plain = write_axt(lines, tempfile()),
    crlf = write_axt(lines, tempfile(), eol = "\r\n", final_newline = FALSE),
    members = write_axt(lines, tempfile(), compression = "members")
  )
  sizes <- c(1:150, 2^(8:13) - 1, 2^(8:13))
  for (maf in files) {
    good <- vapply(sizes, function(size) {
      projected <- with_chunk_size(size, suppressWarnings(
        project_maf(maf, lengths, focal_maf_name = maf_focal)
      ))
      identical(projected, expected)
    }, NA)
    expect_identical(sizes[!good], numeric())
  }
})

test_that("further chromosomes do not change the requested ones", {
  set.seed(24)
  lengths <- c(chr1 = 80, chr.2 = 40, b.chr = 20)
  lines <- random_maf(lengths, n_blocks = 20)
  maf <- write_axt(lines, tempfile())
  all <- suppressWarnings(project_maf(maf, lengths, focal_maf_name = maf_focal))
  for (name in names(lengths)) {
    one <- suppressWarnings(
      project_maf(maf, lengths, focal_maf_name = maf_focal, chromosomes = name)
    )
    expect_identical(one, all[name])
  }
  # A block with two focal rows is at both places.
  maf <- maf_file(
    maf_block(list("hg.chr2", 0, "AC", "+", 5), list("hg.chr1", 0, "GT", "+", 4),
              list("near.1", 0, "TT")),
    maf_block(list("hg.chr1", 2, "GT", "+", 4), list("near.1", 0, "CC"))
  )
  expect_identical(project_maf(maf, c(chr1 = 4, chr2 = 5)), c(chr1 = "TTCC", chr2 = "TTNNN"))
  expect_identical(project_maf(maf, c(chr1 = 4, chr2 = 5), chromosomes = "chr1"), c(chr1 = "TTCC"))
})

test_that("strands, order of rows and duplicates are right in a small example", {
  lengths <- c(chr1 = 10)
  maf <- maf_file(
    # 3 to 6 of the minus strand, from its start: 5 to 8 of the plus strand.
    maf_block(list("near.c", 5, "aR-GN", "-", 100), list("hg.chr1", 2, "AC-GT", "-", 10)),
    maf_block(list("near", 7, "TT"), list("near.c", 5, "GG"), list("hg.chr1", 0, "Ac", "+", 10))
  )
  warned <- expect_one_warning(
    project_maf(maf, lengths), "projection", "1 row of a species that its block has already"
  )
  expect_identical(warned$value, c(chr1 = "NNNNNCYtNN"))
  expect_identical(warned$warning$duplicates, 1)
})

# ---- Wrong input ---------------------------------------------------------------------

expect_maf_refused <- function(maf, lengths, ..., line = NULL, skip = FALSE, class = "format",
                               maf_name = "near", focal_maf_name = "hg") {
  folder <- new_folder()
  for (output_dir in list(NULL, folder)) {
    condition <- expect_ancify_error(
      project_maf(maf, lengths, maf_name, focal_maf_name, output_dir = output_dir,
                  on_bad_block = if (skip) "skip" else "error"),
      class, maf, ...
    )
    if (!is.null(line)) expect_identical(condition$line, line)
  }
  expect_identical(content_of(folder), character())
}

bad_maf_blocks <- function() {
  focal <- list("hg.chr1", 2, "AC-T", "+", 10)
  near <- list("near.c", 0, "ACGT")
  at <- function(list, i, value) {
    list[[i]] <- value
    list
  }
  list(
    list("rows differ in length (4 and 3)", 2, maf_block(focal, at(near, 3, "ACG"))),
    list("size is 5, but it has 3 bases", 1, maf_block(c(focal, 5), near)),
    list("size is 3, but it has 4 bases", 2, maf_block(focal, c(near, "+", 1000, 3))),
    list("start 8, size 3", 1, maf_block(at(focal, 2, 8), near)),
    list("'hg.chr1' is 11 bases long, but the table of lengths says 10", 1,
         maf_block(at(focal, 5, 11), near)),
    list("start 997, size 4", 2, maf_block(focal, at(near, 2, 997))),
    list("characters other than letters", 1, maf_block(at(focal, 3, "AC.T"), near)),
    list("characters other than letters", 2, maf_block(focal, at(near, 3, "AC*T"))),
    list("characters other than letters", 2,
         c(maf_block(focal)[1:2], "s near.c 0 4 + 1000 AC GT", "")),
    list("the focal row has no base", 1, maf_block(at(focal, 3, "----"), near)),
    list("no row of the focal species", 0, maf_block(near)),
    list("it has no row at all", 0, c("a", "")),
    list("the row of 'near.c' does not have", 2,
         c(maf_block(focal)[1:2], "s near.c 0 4 + 1000", "")),
    list("the row of 'near.c' does not have", 2,
         c(maf_block(focal)[1:2], "s near.c 0 4 ? 1000 ACGT", "")),
    list("row of 'hg.chr1' does not", 1, c("a", "s hg.chr1 -2 2 + 10 AC", "s near 0 2 + 9 AC", "")),
    list("not a line of a MAF block: 'ACGT'", 3,
         c(maf_block(focal, near)[1:3], "ACGT", "ACGT", "")),
    list("not a line of a MAF file: 'junk'", 0, c("junk", "junk", "")),
    list("a row outside a block", 0, c("s hg.chr1 0 2 + 10 AC", "s near.c 0 2 + 10 AC", ""))
  )
}

test_that("a bad block of a MAF is an error with its line, or left out and counted", {
  good <- maf_block(list("hg.chr1", 0, "A-CGT", "+", 10), list("near.c", 0, "T-CGT"))
  after <- maf_block(list("near.c", 9, "gg"), list("hg.chr1", 4, "TT", "+", 10))
  for (bad in bad_maf_blocks()) {
    maf <- maf_file(good, bad[[3]], after)
    line <- 2 + length(good) + bad[[2]]
    size <- sample(c(1, 10, 2^20), 1)
    with_chunk_size(size, {
      expect_maf_refused(maf, c(chr1 = 10), bad[[1]], "on_bad_block", line = line)
      warned <- expect_one_warning(
        project_maf(maf, c(chr1 = 10), on_bad_block = "skip"), "projection",
        "1 bad block left out", bad[[1]]
      )
    })
    expect_identical(warned$value, c(chr1 = "TCGTggNNNN"))
    expect_identical(warned$warning$lines, line)
    # The bad block is the only one.
    expect_maf_refused(maf_file(bad[[3]]), c(chr1 = 10), skip = TRUE)
  }
})

test_that("a bad row of one outgroup does not affect the others", {
  lines <- c("##maf version=1", maf_block(
    list(paste0(maf_focal, ".chr1"), 0, "ACGT", "+", 10), list("near.x", 0, "ACG"),
    list("f.x", 0, "TTTT"), list("near.2.x", 0, "TTTT"), list("f.1.b.x", 0, "TTTT")
  ), maf_block(list(paste0(maf_focal, ".chr1"), 4, "A", "+", 10), list("near.x", 0, "G")))
  lengths <- c(chr1 = 10)
  expected <- oracle_project_maf(lines, maf_focal, maf_outgroups, lengths, skip = TRUE)
  expect_identical(vapply(expected, `[[`, 0, "bad"), c(f = 0, f.1.b = 0, near = 1, near.2 = 0))
  config <- maf_config(lines, lengths, on_bad_block = "skip", keep_projected = TRUE)
  expect_maf_run(config, expected, 2)
})

test_that("a MAF that was cut short is an error", {
  lines <- maf_block(
    list("near.c", 0, "ACGT"), list("hg.chr1", 0, "ACGT", "+", 10), list("far.c", 0, "ACGT")
  )
  text <- paste(c("##maf version=1", lines[1:4]), collapse = "\n")
  cut_at <- function(n) {
    maf <- tempfile()
    writeLines(substr(text, 1, n), maf, sep = "")
    maf
  }
  # Also in the row of a species that was not requested.
  last <- nchar(lines[4])
  for (n in nchar(text) - seq_len(last - 1)) {
    expect_maf_refused(cut_at(n), c(chr1 = 10), "cut short", line = 5)
  }
  expect_identical(project_maf(cut_at(nchar(text)), c(chr1 = 10)), c(chr1 = "ACGTNNNNNN"))

  bytes <- gzip_member(charToRaw(paste0(text, "\n")))
  maf <- tempfile()
  for (end in c(2, 30, length(bytes) - 1)) {
    writeBin(bytes[seq_len(end)], maf)
    expect_maf_refused(maf, c(chr1 = 10), "cut short", line = 0)
  }
})

test_that("messages name what a MAF lacks", {
  block <- maf_block(list("hg.chr1", 0, "AC", "+", 10), list("near.c", 0, "GT"))
  maf <- maf_file(block)
  expect_maf_refused(maf, c(chr2 = 10), "'chr2'", "'chr1'", "another genome", line = 0)
  expect_identical(
    project_axt(maf, c(`1` = 10), maf_name = "near", focal_maf_name = "hg"), c(`1` = "GTNNNNNNNN")
  )
  expect_maf_refused(maf, c(chr1 = 10), "a source that begins with 'far'", "'near.c'", line = 0,
                     maf_name = "far")
  for (skip in c(FALSE, TRUE)) {
    expect_maf_refused(maf, c(chr1 = 10), "'human.'", "focal_maf_name", "'hg.chr1', 'near.c'",
                       line = 2, focal_maf_name = "human", skip = skip)
  }
  expect_maf_refused(maf_file("# nothing"), c(chr1 = 10), "no alignment block", line = 0)
  expect_one_warning(project_maf(maf, c(chr1 = 10, chr2 = 5)), "projection", "no block on 'chr2'")
})

test_that("only MAF files need names, and take them", {
  maf <- maf_file(maf_block(list("hg.chr1", 0, "AC", "+", 10), list("near.c", 0, "GT")))
  for (names in list(list(), list(maf_name = "near"), list(focal_maf_name = "hg"))) {
    expect_ancify_error(
      do.call(project_axt, c(list(maf, c(chr1 = 10)), names)), "input",
      maf, "maf_name and focal_maf_name", "'hg.chr1', 'near.c'"
    )
  }
  for (wrong in list(1, NA_character_, "", c("a", "b"))) {
    expect_ancify_error(project_maf(maf, c(chr1 = 10), wrong), "input", "`maf_name`")
    expect_ancify_error(project_maf(maf, c(chr1 = 10), "near", wrong), "input", "`focal_maf_name`")
  }
  expect_ancify_error(project_maf(maf, c(chr1 = 10), "hg", "hg"), "input", "are the same")
  axt <- axt_file(axt_block("chr1", 2, "AC", "GT"))
  expect_ancify_error(project_maf(axt, c(chr1 = 10)), "input", axt, "is not MAF")
  empty <- tempfile()
  file.create(empty)
  expect_maf_refused(empty, c(chr1 = 10), "no alignment block", line = 0)
  for (skip in c(FALSE, TRUE)) {
    expect_maf_refused(maf, c(chr1 = 10), "'hg.chr1'", "it must be focal_maf_name",
                       line = 3, focal_maf_name = "hg.chr1", skip = skip)
  }
})

test_that("a file is a MAF by its content", {
  is_maf <- function(..., compression = "none") {
    alignment_format_impl(write_axt(c(...), tempfile(), compression = compression))$many_species
  }
  block <- maf_block(list("hg.chr1", 0, "AC", "+", 10), list("near.c", 0, "GT"))
  for (compression in c("none", "gzip", "bgzip")) {
    expect_true(is_maf("##maf version=1", compression = compression))
    expect_true(is_maf("# by hand", "", "  ", block, compression = compression))
    expect_true(is_maf(rep("# a long comment", 10000), block, compression = compression))
    expect_false(is_maf("##matrix=axtChain", axt_block("chr1", 2, "AC", "GT"),
                        compression = compression))
  }
  expect_true(is_maf("track name=x", "browser position chr1:1-2", "##maf version=1"))
  for (text in c("", "# nothing", "track", "ACGT", "ab", ">chr1", "s hg.chr1 0 2 + 10 AC")) {
    expect_false(is_maf(text))
  }
  expect_ancify_error(alignment_format_impl(tempfile()), "file", "No such file")
})

test_that("a configuration's names in MAF files are checked, and kept", {
  set.seed(25)
  lengths <- c(chr1 = 50)
  config <- maf_config(random_maf(lengths, 4), lengths)
  read <- ancify_config(config)
  expect_identical(read$outgroups$maf_name, maf_outgroups)
  expect_identical(ancify_config(read)$outgroups, read$outgroups)
  expect_identical(read$focal_maf_name, maf_focal)
  problem <- function(config, ...) {
    condition <- expect_ancify_error(ancify_config(config), "config", ...)
    expect_length(condition$problems, 1)
  }
  twice <- config
  twice$outgroups$inner[[2]]$maf_name <- "f"
  twice$outgroups$outer[[1]]$maf_name <- "f"
  problem(twice, "'s1', 's2' and 's4' are all 'f'", "confirm each other", "`maf_name`")
  focal <- config
  focal$outgroups$inner[[2]]$maf_name <- maf_focal
  problem(focal, "`outgroups.inner: s2` is 'f.1'", "so is the focal species", "`maf_name`")
  axt <- config
  axt$outgroups$outer[[1]]$alignment <- axt_file(axt_block("chr1", 2, "AC", "GT"))
  problem(axt, "`outgroups.outer: s4` has a `maf_name`", "no MAF file")
  named <- config
  named$outgroups$outer[[1]]$maf_name <- ""
  problem(named, "`outgroups.outer[1].maf_name`", "give one text")
})

test_that("MAF and AXT files can be mixed; default names are those of the species", {
  folder <- new_folder()
  path <- function(name) file.path(folder, name)
  writeLines("chr1\t6", path("chrom.sizes"))
  maf_file(
    maf_block(list("hg.chr1", 0, "ACGTAC", "+", 6), list("near.c", 0, "AAAAAA"),
              list("far.c", 0, "AAAACC")),
    path = path("m.maf")
  )
  axt_file(axt_block("chr1", 1, "ACG", "AAC"), path = path("a.axt"))
  entry <- function(name, file) list(name = name, alignment = path(file))
  config <- list(
    focal_species = "hg", chromosome_lengths = path("chrom.sizes"),
    outgroups = list(
      inner = list(entry("near", "m.maf"), entry("other", "a.axt")),
      outer = list(entry("far", "m.maf"))
    ),
    work_dir = path("work"), output_dir = path("calls"), keep_projected = TRUE
  )
  # One file of several species is no copy.
  expect_no_warning(run_quietly(config), class = "ancify_check_warning")
  expect_projected(path("work"), list(
    near = c(chr1 = "AAAAAA"), other = c(chr1 = "AACNNN"), far = c(chr1 = "AAAACC")
  ))
})

# ---- Real data -----------------------------------------------------------------------

# The MAF, limited to the positions of the AXT files.
renumbered_maf <- function(path = tempfile(fileext = ".maf")) {
  lines <- readLines(file.path(primates_folder(), "chr1_100k_4way.maf"))
  focal <- startsWith(lines, "s hg18.")
  fields <- strsplit(lines[focal], " +")
  lines[focal] <- vapply(fields, function(field) {
    field[3] <- sprintf("%.0f", as.numeric(field[3]) - 1e6)
    field[6] <- "100000"
    paste(field, collapse = " ")
  }, "")
  writeLines(lines, path)
  path
}

test_that("a MAF and AXT files of the same alignment give the same projections", {
  maf <- renumbered_maf()
  gaps <- c(panTro2 = 386, ponAbe2 = 1072, rheMac2 = 966)
  for (species in names(gaps)) {
    axt <- file.path(primates_folder(), paste0(species, ".axt"))
    from_axt <- charToRaw(project_axt(axt, c(chr1 = 100000)))
    from_maf <- charToRaw(project_maf(maf, c(chr1 = 100000), species, "hg18"))
    differ <- from_axt != from_maf
    expect_equal(sum(differ), gaps[[species]])
    expect_true(all(from_axt[differ] == charToRaw("N") & from_maf[differ] == charToRaw("-")))
  }
  # In the MAF's coordinates, on a chromosome of its length.
  original <- file.path(primates_folder(), "chr1_100k_4way.maf")
  where <- project_maf(original, c(chr1 = 247249719), "rheMac2", "hg18")
  expect_identical(nchar(where), c(chr1 = 247249719L))
  expect_true(identical(charToRaw(substr(where, 1000001, 1100000)), from_maf))
})

test_that("a MAF and AXT files of the same alignment give the same calls and focal bases", {
  folder <- new_folder()
  file.copy(list.files(primates_folder(), full.names = TRUE), folder)
  renumbered_maf(file.path(folder, "all.maf"))
  yaml <- readLines(file.path(folder, "config.yaml"))
  writeLines(sub("alignment: [[:alnum:]]+[.]axt", "alignment: all.maf", yaml),
             file.path(folder, "maf.yaml"))
  calls <- function(file) {
    config <- ancify_config(file.path(folder, file))
    config$work_dir <- file.path(folder, paste0(file, ".work"))
    config$output_dir <- file.path(folder, paste0(file, ".calls"))
    run <- run_quietly(config, threads = 2)
    list(bytes = file_bytes(run$file), config = config)
  }
  from_axt <- calls("config.yaml")
  from_maf <- calls("maf.yaml")
  expect_true(identical(from_maf$bytes, from_axt$bytes))

  focal <- function(config) {
    write_focal(new_context(config, new_work(2)))
    charToRaw(readLines(file.path(config$work_dir, "projected", "hg18", "chr1.fa"))[2])
  }
  reference <- charToRaw(toupper(paste(readLines(file.path(folder, "ref.fa"))[-1], collapse = "")))
  focals <- lapply(list(from_axt$config, from_maf$config), focal)
  for (bases in focals) {
    known <- bases != charToRaw("N")
    expect_true(all(bases[known] == reference[known]))
  }
  # The MAF also has gap columns and blocks of the focal species alone.
  known <- vapply(focals, function(bases) bases != charToRaw("N"), logical(100000))
  expect_true(all(known[known[, 1], 2]))
})

test_that("Biopython's broken MAF files are errors with their lines", {
  path <- function(name) test_data("broken_maf", name)
  lengths <- c(chr10 = 129993255)
  without_target <- path("bundle_without_target.maf")
  expect_maf_refused(without_target, lengths, "no row of the focal species", "'mm9.'",
                     "'mm8.chr10', 'oryCun1.scaffold_133159'", line = 2,
                     maf_name = "oryCun1", focal_maf_name = "mm9")
  # Its first block has the same target as the file above.
  mismatch <- readLines(path("length_coords_mismatch.maf"))
  maf <- tempfile()
  writeLines(sub("^s mm8[.]", "s mm9.", mismatch), maf)
  expect_maf_refused(maf, lengths, "size is 319, but it has 219 bases", line = 9,
                     maf_name = "oryCun1", focal_maf_name = "mm9")
  bad <- path("ucsc_mm9_chr10_bad.maf")
  expect_maf_refused(bad, lengths, "no row of the focal species", line = 2,
                     maf_name = "panTro2", focal_maf_name = "mm9")
  warned <- expect_one_warning(
    project_maf(bad, lengths, "panTro2", "mm9", on_bad_block = "skip"), "projection",
    "2 bad blocks left out"
  )
  expect_identical(warned$warning$lines, c(2, 87))
  # The last block, whose focal row is on the minus strand: its last 30 columns, complemented.
  end <- lengths[["chr10"]] - 3021494
  first <- substring(warned$value[["chr10"]], end - 41, end - 41 + 29)
  last <- tail(readLines(bad)[963:966], 4)
  rows <- vapply(strsplit(last[c(1, 4)], " +"), `[`, "", 7)
  columns <- strsplit(rows, "")
  letters <- columns[[2]][columns[[1]] != "-"]
  expect_identical(first, chartr("ACGTacgt", "TGCAtgca", paste(rev(letters)[1:30], collapse = "")))

  good <- project_maf(path("ucsc_test.maf"), c(chr7 = 158545518), "baboon", "hg16")
  expect_identical(substr(good, 27699740, 27699745), c(chr7 = "TAAAGA"))
  expect_maf_refused(path("ucsc_test.maf"), c(chr7 = 158545517), "of lengths says 158545517",
                     line = 9, maf_name = "baboon", focal_maf_name = "hg16")
})
