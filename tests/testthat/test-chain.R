# Chains with the outgroup's 2bit genome: the bases of a net AXT file of the same chains.

test_that("a chain file gives the bytes of the net AXT file with the same blocks", {
  set.seed(701)
  for (round in 1:12) {
    case <- random_chain_case(
      endian = sample(c("little", "big"), 1), version = sample(0:1, 1)
    )
    lines <- readLines(case$chain)
    expect_identical(project_quietly(case$axt, case$lengths), case$expected)
    for (compression in c("none", "gzip", "bgzip")) {
      chain <- write_axt(lines, tempfile(), compression = compression)
      with_chunk_size(sample(c(1, 7, 300, 2^20), 1), {
        expect_identical(
          suppressWarnings(differing(chain, case$lengths, case$expected, twobit = case$twobit)),
          character()
        )
      })
    }
  }
  expect_true(all(c("N", "n", "-", "a", "C") %in% strsplit(case$expected[["chr1"]], "")[[1]]))
})

test_that("gaps of at most 100 focal bases alone are bridged", {
  genome <- c(chrA = strrep("acGT", 100))
  twobit <- write_twobit(genome)
  between <- function(focal, outgroup) {
    chain <- write_axt(c(
      sprintf("chain 1 chr1 400 + 0 %d chrA 400 + 4 %d 1", 8 + focal, 12 + outgroup),
      sprintf("4 %d %d", focal, outgroup), "4", ""
    ), tempfile())
    sequence <- project_axt(chain, c(chr1 = 400), twobit = twobit)
    unique(strsplit(substr(sequence, 5, 4 + focal), "")[[1]])
  }
  expect_identical(between(100, 0), "-")
  expect_identical(between(101, 0), "N")
  expect_identical(between(5, 4), "N")
  expect_identical(between(100, 400 - 12), "N")
})

test_that("names may differ by a leading chr, and the id may be absent", {
  twobit <- write_twobit(c(A = "ACGTT"))
  chain <- write_axt(c("# comment", "chain 5 1 10 + 2 6 chrA 5 - 0 4", "4"), tempfile(),
                     final_newline = FALSE)
  expect_identical(project_axt(chain, c(chr1 = 10), twobit = twobit), c(chr1 = "NNAACGNNNN"))
})

bad_chains <- function() {
  header <- function(target = "chr1 10 + 2 6", query = "chrA 5 + 0 4", id = "1") {
    paste("chain 5", target, query, id)
  }
  list(
    list("a chain's header must be", 0, c("chain 5 chr1 10 + 2 6", "4")),
    list("a chain's header must be", 0, c(header(id = "1 2"), "4")),
    list("a chain's header must be", 0, c(header("chr1 10 + -2 6"), "4")),
    list("a chain's header must be", 0, c(header(query = "chrA 5 x 0 4"), "4")),
    list("score '9000,5' is not a number", 0, c("chain 9000,5 chr1 10 + 2 6 chrA 5 + 0 4 1", "4")),
    list("score 'inf' is not a number", 0, c("chain inf chr1 10 + 2 6 chrA 5 + 0 4 1", "4")),
    list("the target's strand is -", 0, c(header("chr1 10 - 2 6"), "4")),
    list("range 8-12 is not inside 'chr1', which is 10", 0, c(header("chr1 10 + 8 12"), "4")),
    list("range 4-0 is not inside 'chrA'", 0, c(header(query = "chrA 5 + 4 0"), "4")),
    list("range 2-6 is not inside 'chrA'", 0, c(header(query = "chrA 5 - 2 6"), "4")),
    list("not a block of a chain", 1, c(header(), "4 0")),
    list("not a block of a chain", 1, c(header(), "x")),
    list("not a block of a chain", 2, c(header(), "1\t1\t1", "1 1 1 1")),
    list("blocks reach 7 in the target and 5 in the query", 1, c(header(), "5")),
    list("reach 7 in the target", 1, c(header(), "1 4 0", "1")),
    list("reach 5 in the target and 6 in the query", 1, c(header(), "1 2 5", "1")),
    list("end at 5 in the target and 3 in the query", 0, c(header(), "3")),
    list("does not end with a line of one number", 0, c(header(), "1 1 1")),
    list("says that 'chr1' is 11 bases long, but the table of lengths says 10", 0,
         c(header("chr1 11 + 2 6"), "4")),
    list("says that 'chrA' is 6 bases long", 0, c(header(query = "chrA 6 + 0 4"), "4")),
    list("has no sequence 'chrB'; its first are 'chrA'", 0, c(header(query = "chrB 5 + 0 4"), "4")),
    list("not the header of a chain: '4 1 1'", 0, c("4 1 1", "4"))
  )
}

test_that("a bad chain is an error with its line, or left out as a whole and counted", {
  twobit <- write_twobit(c(chrA = "ACGTT"))
  good <- c("chain 5 chr1 10 + 0 1 chrA 5 + 1 2 1", "1", "")
  after <- c("", "chain 5 chr1 10 + 8 10 chrA 5 - 0 2 1", "1 0 0", "1")
  for (bad in bad_chains()) {
    chain <- write_axt(c(good, bad[[3]], after), tempfile())
    line <- 4 + bad[[2]]
    folder <- new_folder()
    with_chunk_size(sample(c(1, 10, 2^20), 1), {
      condition <- expect_ancify_error(
        project_axt(chain, c(chr1 = 10), twobit = twobit, output_dir = folder), "format", chain,
        bad[[1]], "on_bad_block"
      )
      warned <- expect_one_warning(
        project_axt(chain, c(chr1 = 10), twobit = twobit, on_bad_block = "skip"), "projection",
        "1 bad block left out", bad[[1]]
      )
    })
    expect_identical(condition$line, line)
    expect_identical(content_of(folder), character())
    expect_identical(warned$value, c(chr1 = "CNNNNNNNAA"))
    expect_identical(warned$warning$lines, line)
  }
})

test_that("a chain file that was cut short is an error", {
  twobit <- write_twobit(c(chrA = "ACGTTACGTTACGTT"))
  text <- "chain 5 chr1 20 + 0 14 chrA 15 + 0 14 1\n10\t2\t2\n2"
  for (n in 45:(nchar(text) - 1)) {
    chain <- tempfile()
    writeLines(substr(text, 1, n), chain, sep = "")
    expect_ancify_error(project_axt(chain, c(chr1 = 20), twobit = twobit), "format", chain)
  }
})

test_that("a damaged 2bit file is an error that names it", {
  genome <- c(chrA = "ACNNgtT", chrB = "ACGT")
  chain <- write_axt(c("chain 5 chr1 7 + 0 7 chrA 7 + 0 7 1", "7"), tempfile())
  bytes <- file_bytes(write_twobit(genome[1]))
  refused <- function(bytes, ...) {
    path <- tempfile()
    writeBin(bytes, path)
    condition <- expect_ancify_error(
      project_axt(chain, c(chr1 = 7), twobit = path), "format", path, ...
    )
    expect_identical(condition$file, path)
  }
  for (n in seq_along(bytes) - 1) refused(bytes[seq_len(n)])
  with_byte <- function(at, value) replace(bytes, at, as.raw(value))
  refused(with_byte(1, 0), "signature of 2bit")
  refused(with_byte(5, 2), "its version is 2")
  refused(with_byte(9, 2), "begins inside its index")
  refused(with_byte(25, 0xff), "begins behind its end")
  # The record begins at 25: its length, then starts and sizes of stretches of N.
  refused(with_byte(34, 9), "overlap, or leave it")
  refused(with_byte(33, 0xff), "cut short")
  refused(file_bytes(write_twobit(c(chrA = "A", chrA = "C"))), "'chrA' occurs twice")
  expect_ancify_error(project_axt(chain, c(chr1 = 7), twobit = tempfile()), "file", "No such file")
  expect_identical(
    project_axt(chain, c(chr1 = 7), twobit = write_twobit(genome)), c(chr1 = genome[["chrA"]])
  )
})

test_that("chain files need a 2bit file, and others take none", {
  case <- random_chain_case()
  expect_ancify_error(project_axt(case$chain, case$lengths), "input", case$chain, "set twobit")
  expect_ancify_error(
    project_axt(case$axt, case$lengths, twobit = case$twobit), "input", case$axt, "`twobit`"
  )
  expect_ancify_error(
    project_axt(case$chain, case$lengths, twobit = case$twobit, maf_name = "a"), "input",
    "is not MAF"
  )
})

test_that("a file is a chain file by its content", {
  is_chain <- function(...) {
    alignment_format_impl(write_axt(c(...), tempfile()))$needs_genome
  }
  expect_true(is_chain("chain 1"))
  expect_true(is_chain("# one", "", "##matrix", "chain\t1"))
  expect_true(is_chain(rep("# a long comment", 10000), "chain 1"))
  for (text in c("", "# nothing", "chains 1", "0 chain 1 2 a 1 2 +", "##maf version=1")) {
    expect_false(is_chain(text))
  }
})

# ---- Runs ----------------------------------------------------------------------------------

# Configurations of the same outgroups as chains and as net AXT files.
chain_and_axt_configs <- function(...) {
  lengths <- c(chr1 = 3000, chr2 = 700, one = 1)
  folder <- new_folder()
  writeLines(sprintf("%s\t%.0f", names(lengths), lengths), file.path(folder, "chrom.sizes"))
  cases <- lapply(stats::setNames(nm = c("near1", "near2", "far")), function(name) {
    dir.create(file.path(folder, name))
    random_chain_case(lengths, folder = file.path(folder, name))
  })
  config <- function(kind, entry) {
    entries <- unname(Map(entry, names(cases), cases))
    list(
      focal_species = "focal", chromosome_lengths = file.path(folder, "chrom.sizes"),
      outgroups = list(inner = entries[1:2], outer = entries[3]),
      work_dir = file.path(folder, kind, "work"), output_dir = file.path(folder, kind, "calls"),
      ...
    )
  }
  list(
    cases = cases, lengths = lengths,
    chain = config("chain", function(name, case) {
      list(name = name, alignment = case$chain, twobit = case$twobit)
    }),
    axt = config("axt", function(name, case) list(name = name, alignment = case$axt))
  )
}

test_that("a run on chain files gives the calls of one on AXT files, also in parts", {
  set.seed(702)
  for (keep in c(TRUE, FALSE)) {
    both <- chain_and_axt_configs(keep_projected = keep)
    from <- lapply(both[c("chain", "axt")], run_quietly, threads = 2)
    bytes <- lapply(from, function(run) lapply(run$file, file_bytes))
    expect_identical(bytes$chain, bytes$axt)
    if (keep) {
      expect_projected(both$chain$work_dir, lapply(both$cases, `[[`, "expected"))
    }
  }
  record <- jsonlite::read_json(file.path(both$chain$output_dir, "ancify_run.json"))
  expect_identical(names(record$other_inputs$twobit), c("near1", "near2", "far"))
  expect_identical(record$other_inputs$twobit$far$path, both$cases$far$twobit)
  read <- ancify_config(both$chain)
  expect_identical(ancify_config(read)$outgroups, read$outgroups)
})

test_that("another 2bit file makes the run project and call again", {
  set.seed(703)
  both <- chain_and_axt_configs(keep_projected = TRUE)
  run_quietly(both$chain)
  seen <- log_lines(ancify_run(both$chain, progress = FALSE))
  expect_match(seen, "Projections of .* kept", all = FALSE)
  near <- both$cases$near1
  other <- random_genome(nchar(near$genome))
  write_twobit(other, near$twobit)
  expect_warning(
    run_quietly(both$chain, phases = "call"), "near1.* another alignment", class = "ancify_warning"
  )
  run_quietly(both$chain)
  expected <- lapply(both$cases, `[[`, "expected")
  expected$near1 <- project_quietly(near$chain, both$lengths, twobit = near$twobit)
  expect_false(identical(expected$near1, near$expected))
  expect_projected(both$chain$work_dir, expected)
})

test_that("a 2bit file that is exchanged during a run ends it", {
  set.seed(704)
  both <- chain_and_axt_configs(keep_projected = FALSE)
  path <- both$cases$near1$twobit
  swap <- function() write_twobit(both$cases$near2$genome, path)
  where <- asNamespace("ancify")
  suppressMessages(trace("unkept_left", bquote(.(swap)()), where = where, print = FALSE))
  on.exit(suppressMessages(untrace("unkept_left", where = where)))
  expect_ancify_error(
    run_quietly(both$chain), "file", path, "was replaced or changed since the run began"
  )
})

test_that("a configuration says which outgroups need a 2bit file", {
  set.seed(705)
  both <- chain_and_axt_configs()
  problem <- function(config, ...) {
    condition <- expect_ancify_error(ancify_config(config), "config", ...)
    expect_length(condition$problems, 1)
  }
  lacking <- both$chain
  lacking$outgroups$inner[[2]]$twobit <- NULL
  problem(lacking, "`outgroups.inner: near2` has a chain file", "set `twobit`")
  needless <- both$axt
  needless$outgroups$outer[[1]]$twobit <- both$cases$far$twobit
  problem(needless, "`outgroups.outer: far` has a `twobit`", "no chain file")
  missing <- both$chain
  missing$outgroups$outer[[1]]$twobit <- "/nowhere/far.2bit"
  problem(missing, "outgroups.outer: far: twobit", "/nowhere/far.2bit")
  focal <- utils::modifyList(both$chain, list(
    method = "likelihood", tree = "(((focal,near1),near2),far);", estimate = TRUE
  ))
  expect_ancify_error(run_quietly(focal), "config", "'near1', 'near2'", "set `focal_fasta`")
  expect_ancify_error(
    focal_sequences_impl(
      both$cases$far$chain, new_folder(),
      config_reading(ancify_config(both$chain), new_work(1)), function(...) NULL
    ), "input", "no focal bases"
  )
})

test_that("a check looks at 2bit files", {
  set.seed(706)
  both <- chain_and_axt_configs()
  expect_clean(both$chain)
  genome <- both$cases$near2$genome
  path <- both$cases$near2$twobit
  write_twobit(c(genome, other = "A")[c(1, 2, 4)], path)
  expect_fault(both$chain, "text", "near2", "has no sequence 'chrB'", "its first are 'chrA'")
  genome[["chrA"]] <- paste0(genome[["chrA"]], "A")
  write_twobit(genome, path)
  expect_fault(both$chain, "text", "near2", "says that 'chrA' is 2500 bases long", path, "2501")
  writeBin(file_bytes(path)[1:20], path)
  expect_fault(both$chain, "text", "near2", path, "cut short")
})

# ---- Real data -----------------------------------------------------------------------------

# Chains and the outgroup's genome of a net AXT file. Bases outside the blocks are unknown.
files_of_net <- function(lines, lengths) {
  blocks <- oracle_blocks(lines)
  headers <- strsplit(lines[vapply(blocks, `[[`, 0, "line")], "[ \t]+")
  field <- function(i) vapply(headers, `[[`, "", i)
  names <- field(5)
  starts <- as.numeric(field(6))
  ends <- as.numeric(field(7))
  strands <- field(8)
  end <- tapply(ends, names, max)
  start <- tapply(starts, names, min)
  # On the minus strand positions count from the other end.
  sizes <- stats::setNames(as.numeric(end + start), names(end))
  genome <- lapply(sizes, function(n) rep(charToRaw("N"), n))
  for (i in seq_along(blocks)) {
    bases <- blocks[[i]]$outgroup[blocks[[i]]$outgroup != "-"]
    name <- names[i]
    at <- starts[i]:ends[i]
    if (strands[i] == "-") {
      at <- sizes[[name]] + 1 - at
      bases <- oracle_complement(bases)
    }
    genome[[name]][at] <- charToRaw(paste(bases, collapse = ""))
  }
  genome <- vapply(genome, rawToChar, "")
  list(
    chain = write_axt(axt_to_chain(lines, lengths, sizes), tempfile(fileext = ".chain")),
    genome = genome, twobit = write_twobit(genome)
  )
}

# The same lines, with a sequence of its own for each block of the outgroup.
with_own_sequences <- function(lines) {
  at <- vapply(oracle_blocks(lines), `[[`, 0, "line")
  lines[at] <- vapply(seq_along(at), function(i) {
    header <- strsplit(lines[at[i]], " ")[[1]]
    size <- as.numeric(header[7]) - as.numeric(header[6])
    header[5:7] <- c(paste0("s", i), 4, 4 + size)
    paste(header, collapse = " ")
  }, "")
  lines
}

test_that("UCSC's net AXT files and their chains give the same bytes", {
  lengths <- c(chr6 = 27e6)
  # Of the package, only this file: to load it takes long.
  axt <- system.file("extdata", "danRer10.hg38.net.axt", package = "CNEr")
  if (!nzchar(axt)) lacking("the package CNEr")
  lines <- with_own_sequences(readLines(axt))
  expect_true(all(c("+", "-") %in% sub(".* ([+-]) [0-9]+$", "\\1", lines)))
  files <- files_of_net(lines, lengths)
  from_axt <- charToRaw(project_axt(axt, lengths))
  from_chain <- charToRaw(project_axt(files$chain, lengths, twobit = files$twobit))
  expect_gt(sum(from_axt != charToRaw("N")), 50000)
  expect_true(identical(from_chain, from_axt))
})

long_test_that("rtracklayer reads the same from chains and 2bit files", {
  require_package("rtracklayer")
  set.seed(707)
  case <- random_chain_case(c(chr1 = 30000), n_chains = 20)
  ours <- rtracklayer::import(rtracklayer::TwoBitFile(case$twobit))
  expect_identical(toupper(case$genome), vapply(as.character(ours), identity, ""))
  by_rtracklayer <- tempfile(fileext = ".2bit")
  rtracklayer::export(Biostrings::DNAStringSet(toupper(case$genome)), by_rtracklayer)
  expect_identical(
    toupper(project_quietly(case$chain, case$lengths, twobit = by_rtracklayer)),
    toupper(case$expected)
  )

  # Where each position of chr1 lies in the outgroup, if one block alone covers it. Of two places
  # liftOver() may give one.
  # It takes no comments before the first chain.
  chains <- rtracklayer::import.chain(write_axt(readLines(case$chain)[-(1:2)], tempfile()))
  positions <- GenomicRanges::GRanges("chr1", IRanges::IRanges(seq_len(case$lengths[["chr1"]]),
                                                               width = 1), "+")
  lifted <- rtracklayer::liftOver(positions, chains)
  letters <- strsplit(case$expected[["chr1"]], "")[[1]]
  covered <- unlist(lapply(oracle_blocks(case$net), function(block) {
    if (block$chromosome == "chr1") block$start - 1 + seq_len(sum(block$focal != "-"))
  }))
  once <- which(lengths(lifted) == 1 & tabulate(covered, length(letters)) == 1)
  there <- unlist(lifted[once])
  bases <- substring(case$genome[as.character(GenomicRanges::seqnames(there))],
                     GenomicRanges::start(there), GenomicRanges::start(there))
  minus <- as.character(GenomicRanges::strand(there)) == "-"
  bases[minus] <- oracle_complement(bases[minus])
  expect_gt(min(table(minus)), 30)
  expect_identical(unname(bases), letters[once])
})

long_test_that("the primates' AXT files and their chains give the same calls", {
  folder <- new_folder()
  file.copy(list.files(primates_folder(), full.names = TRUE), folder)
  config <- ancify_config(file.path(folder, "config.yaml"))
  lengths <- c(chr1 = 100000)
  calls <- function(kind) {
    config[c("work_dir", "output_dir")] <- file.path(folder, kind, c("work", "calls"))
    file_bytes(run_quietly(config, threads = 2)$file)
  }
  from_axt <- calls("axt")
  for (i in seq_len(nrow(config$outgroups))) {
    axt <- config$outgroups$alignment[i]
    files <- files_of_net(readLines(axt), lengths)
    sequences <- list(
      project_axt(axt, lengths), project_axt(files$chain, lengths, twobit = files$twobit)
    )
    bases <- lapply(sequences, charToRaw)
    # These blocks come from a MAF, so that some end with a gap, or have gaps in both rows.
    differ <- bases[[1]] != bases[[2]]
    expect_true(all(bases[[1]][differ] == charToRaw("-") & bases[[2]][differ] == charToRaw("N")))
    expect_lt(sum(differ), 200)
    config$outgroups[i, c("alignment", "twobit")] <- files[c("chain", "twobit")]
  }
  expect_true(identical(calls("chain"), from_axt))
})

# ---- The focal genome ----------------------------------------------------------------------

test_that("the focal genome may be a 2bit file", {
  set.seed(708)
  case <- with_genome(related_case(method = "likelihood", estimate = TRUE,
                                   tree = "(((focal,near1),near2),far);"))
  calls <- function() lapply(run_quietly(case$config, resume = FALSE)$file, file_bytes)
  by_fasta <- calls()
  genome <- vapply(case$genome, paste, "", collapse = "")
  case$config$focal_fasta <- write_twobit(c(genome, chrElse = "ACGT"))
  expect_clean(case$config)
  expect_identical(calls(), by_fasta)

  refused <- function(genome, ...) {
    config <- case$config
    config$focal_fasta <- write_twobit(genome)
    config$output_dir <- new_folder()
    unlink(config$output_dir, recursive = TRUE)
    expect_fault(config, "focal", "focal_fasta", ...)
  }
  refused(genome["chr1"], "no sequence called 'chr2'")
  longer <- replace(genome, "chr1", paste0(genome[["chr1"]], "A"))
  refused(longer, "'chr1' has 20001 bases, but 20000")
  other <- replace(genome, "chr1", chartr("ACGT", "CGTA", genome[["chr1"]]))
  path <- write_twobit(other)
  expect_ancify_error(
    run_quietly(utils::modifyList(case$config, list(focal_fasta = path))), "check", path
  )
})

test_that("chains and a focal genome together give fits and calls", {
  set.seed(709)
  both <- chain_and_axt_configs(
    method = "likelihood", estimate = TRUE, tree = "(((focal,near1),near2),far);"
  )
  focal <- write_twobit(c(chr1 = strrep("A", 3000), chr2 = strrep("A", 700), one = "A"))
  calls <- lapply(both[c("chain", "axt")], function(config) {
    config$focal_fasta <- focal
    lapply(run_quietly(config)$file, file_bytes)
  })
  expect_identical(calls$chain, calls$axt)
  checks <- check_quietly(c(both$chain, focal_fasta = focal))
  expect_match(checks$finding[checks$check == "focal"], "no focal letter could be compared",
               all = TRUE)
})
