# ---- Clean data ----------------------------------------------------------------------

test_that("clean data have no findings", {
  expect_clean(ancify_example(new_folder()))
  config <- ancify_example(new_folder())
  config$focal_fasta <- file.path(dirname(config$chromosome_lengths), "focal.fa.gz")
  expect_clean(config)
  expect_silent(run_quietly(config))
  set.seed(1)
  for (i in 1:4) expect_clean(random_config()$config)
  for (shares in list(c(0, 0, 0), c(0.05, 0.05, 0.05), c(0.02, 0.03, 0.1))) {
    case <- with_genome(related_case(setNames(shares, c("near1", "near2", "far"))))
    expect_clean(case$config)
    run <- expect_silent(run_quietly(case$config))
    expect_equal(sum(attr(run, "alignments")$bad), 0)
  }
})

test_that("equal divergences of small data never warn", {
  set.seed(2)
  for (i in 1:30) {
    case <- related_case(
      c(a = 0.05, b = 0.05), n_inner = 1, lengths = c(chr1 = sample(5000, 1) + 500)
    )
    expect_clean(case$config)
    unlink(case$folder, recursive = TRUE)
  }
})

test_that("the primates have no findings", {
  data <- dirname(test_data("primates_hg18_100k", "config.yaml"))
  config <- with_folder(new_folder(), ancify_config(file.path(data, "config.yaml")))
  expect_clean(config)
  config$focal_fasta <- file.path(data, "ref.fa")
  config$work_dir <- new_folder()
  config$output_dir <- file.path(config$work_dir, "calls")
  checks <- check_quietly(config)
  expect_identical(checks$finding[checks$status > "note"], character())
  expect_silent(run_quietly(config))
})

# ---- Numbers -------------------------------------------------------------------------

test_that("divergences and disagreements are the plain implementation's", {
  set.seed(3)
  for (i in 1:5) {
    lengths <- c(chr1 = 700, chr2 = 90, one = 1)
    case <- with_genome(related_case(lengths = lengths[1:2] + 600))
    lines <- case$lines
    lines$near2 <- other_build(lines$near2)
    set_lines(case, "near2", lines$near2)
    lengths <- case$lengths
    focal <- lapply(lines, oracle_rows, lengths, "focal")
    outgroup <- lapply(lines, oracle_rows, lengths, "outgroup")
    differs <- Map(oracle_differences, focal, outgroup)
    for (chunk in c(100, 2^18)) {
      look <- with_chunk_size(chunk, look_at(case$config, threads = sample(2, 1)))
      for (k in 1:3) {
        one <- look$outgroups[[k]]
        expect_equal(c(sites = one$sites, differ = one$differ), differs[[k]])
        against <- oracle_differences(focal[[k]], unlist(case$genome))
        expect_equal(c(sites = one$compared, differ = one$wrong), against)
        expect_true(one$whole)
        blocks <- oracle_blocks(lines[[k]])
        of_block <- vapply(blocks, `[[`, "", "chromosome")
        expect_equal(
          stats::setNames(one$blocks, one$chromosomes), c(table(of_block))[one$chromosomes]
        )
        last <- vapply(blocks, function(block) block$start - 1 + sum(block$focal != "-"), 0)
        expect_equal(
          one$ends, unname(tapply(last, of_block, max)[one$chromosomes]), ignore_attr = TRUE
        )
      }
      pairs <- look$focal
      expect_equal(cbind(pairs$first, pairs$second), rbind(c(1, 2), c(1, 3), c(2, 3)))
      for (k in 1:3) {
        expected <- oracle_differences(focal[[pairs$first[k]]], focal[[pairs$second[k]]])
        expect_equal(c(sites = pairs$sites[k], differ = pairs$differ[k]), expected)
      }
      for (k in 1:2) {
        # Positions where both outgroups and the focal rows have a base.
        known <- lapply(c(k, 3), function(j) {
          focal[[j]] %in% c("A", "C", "G", "T") & outgroup[[j]] %in% c("A", "C", "G", "T")
        })
        both <- known[[1]] & known[[2]]
        pair <- look$divergence[look$divergence$inner == k, ]
        expect_equal(pair$sites, sum(both))
        expect_equal(pair$inner_differ, sum(both & focal[[k]] != outgroup[[k]]))
        expect_equal(pair$outer_differ, sum(both & focal[[3]] != outgroup[[3]]))
      }
    }
  }
})

test_that("a run checks the first 16 MB, and no more than a small share of the file", {
  set.seed(4)
  block <- axt_block("chr1", 1, strrep("ACGT", 250), strrep("ACGA", 250))
  axt <- write_axt(rep(block, 10000), tempfile(fileext = ".axt"))
  expect_gt(file.size(axt), 20e6)
  case <- related_case(lengths = c(chr1 = 20000))
  case$config$outgroups$inner[[1]]$alignment <- axt
  size <- sum(nchar(block) + 1)
  whole <- look_at(case$config)$outgroups[[1]]
  expect_false(whole$whole)
  expect_lt(abs(whole$blocks - 2^24 / size), 2)
  brief <- look_at(case$config, brief = TRUE)$outgroups[[1]]
  expect_gte(brief$blocks, 2^20 / size - 1)
  expect_lte(brief$blocks, 2 * 2^20 / size)
})

# ---- Names and lengths -----------------------------------------------------------------

rename <- function(lines, change) {
  at <- header_lines(lines)
  fields <- strsplit(lines[at], " ")
  lines[at] <- vapply(fields, function(field) {
    field[2] <- change(field[2])
    paste(field, collapse = " ")
  }, "")
  lines
}

test_that("names may differ by a leading chr, in any of the files", {
  set.seed(5)
  case <- related_case()
  calls <- function(config) {
    unname(tools::md5sum(suppressMessages(run_quietly(config, resume = FALSE))$file))
  }
  expected <- calls(case$config)
  set_lines(case, "near2", rename(case$lines$near2, function(name) sub("chr", "", name)))
  checks <- check_quietly(case$config)
  expect_identical(unique(as.character(checks$status)), "ok")
  expect_match(checks$finding[checks$check == "names" & checks$subject == "near2"], "leading 'chr'")
  expect_identical(calls(case$config), expected)
  # In one chromosome alone, and in the focal genome
  case <- with_genome(case)
  fasta <- case$config$focal_fasta
  writeLines(sub(">chr", ">", readLines(fasta)), fasta)
  set_lines(case, "near2", rename(case$lines$near2, function(name) sub("chr1", "1", name)))
  expect_identical(calls(case$config), expected)
})

test_that("a table of aliases names chromosomes, in any of the files", {
  set.seed(5)
  case <- with_genome(related_case())
  calls <- function(config) {
    unname(tools::md5sum(suppressMessages(run_quietly(config, resume = FALSE))$file))
  }
  expected <- calls(case$config)
  names <- vapply(strsplit(readLines(case$config$chromosome_lengths), "\t"), `[`, "", 1)
  accession <- stats::setNames(sprintf("NC_%06d.9", seq_along(names)), names)
  table <- file.path(case$folder, "alias.txt")
  writeLines(c("# ucsc\tassembly\trefseq", paste(names, "", accession, sep = "\t")), table)
  case$config$chromosome_aliases <- table
  set_lines(case, "near2", rename(case$lines$near2, function(name) accession[[name]]))
  fasta <- case$config$focal_fasta
  lines <- readLines(fasta)
  headers <- startsWith(lines, ">")
  lines[headers] <- paste0(">", accession[sub("^>", "", lines[headers])])
  writeLines(lines, fasta)
  checks <- check_quietly(case$config)
  expect_identical(unique(as.character(checks$status)), "ok")
  expect_match(checks$finding[checks$check == "names" & checks$subject == "near2"], "aliases")
  expect_identical(calls(case$config), expected)
  # Another table may give other projections.
  run_quietly(case$config)
  writeLines(c(readLines(table), "# changed"), table)
  expect_true("project" %in% sub(" and call", "", names(attr(run_quietly(case$config), "seconds"))))
  writeLines("scaffold7\tNW_1.1", table)
  expect_ancify_error(ancify_config(case$config), "config", "chromosome_aliases", "no line has")
})

test_that("copies of an alignment and chromosomes that all lack are warnings", {
  set.seed(9)
  case <- related_case()
  set_lines(case, "near2", case$lines$near1)
  lengths <- readLines(case$config$chromosome_lengths)
  writeLines(c(lengths, "chr9\t1000"), case$config$chromosome_lengths)
  checks <- check_quietly(case$config)
  found <- checks$finding[checks$status == "warning"]
  expect_match(found, "'near1' and 'near2'.*copies of one file", all = FALSE)
  expect_match(found, "no alignment has a block on 'chr9'", all = FALSE)
})

test_that("renamed chromosomes are an error that tells the difference", {
  set.seed(5)
  case <- related_case()
  for (accession in c("NC_000001.11", "CM000663.2", "NW_018654708.1", "KI270302.1")) {
    set_lines(case, "near2", rename(case$lines$near2, function(name) accession))
    expect_fault(case$config, "names", "near2", accession, "accessions", "chromosome_aliases")
  }
  set_lines(case, "near2", rename(case$lines$near2, function(name) paste0("scaffold_", name)))
  expect_fault(case$config, "names", "near2", "another genome")
})

test_that("one renamed chromosome is a note, and the run logs it", {
  set.seed(6)
  case <- related_case()
  set_lines(case, "near2", rename(case$lines$near2, function(name) sub("chr1", "one", name)))
  checks <- check_quietly(case$config)
  expect_identical(checks$subject[checks$status == "note"], "near2")
  expect_match(checks$finding[checks$status == "note"], "'one' are passed over")
  expect_one_warning(run_quietly(case$config), "projection", "no block on 'chr1'")
})

test_that("too small lengths are an error", {
  set.seed(7)
  case <- related_case()
  writeLines(c("chr1\t19000", "chr2\t6000"), case$config$chromosome_lengths)
  checks <- check_quietly(case$config)
  errors <- checks[checks$status == "error" & checks$check == "lengths", ]
  expect_identical(sort(errors$subject), c("far", "near1", "near2"))
  expect_match(errors$finding, "on 'chr1', which has 19,000 bases")
  condition <- expect_ancify_error(run_quietly(case$config), "check", "19,000")
  expect_s3_class(condition$checks, "ancify_check")
  expect_true(all(errors$finding %in% sub("^[^:]*: ", "", condition$problems)))
})

test_that("the index of the focal genome is compared with the lengths", {
  set.seed(8)
  case <- with_genome(related_case())
  index <- paste0(case$config$focal_fasta, ".fai")
  writeLines(c("chr1\t20000\t6\t20000\t20001", "chr2\t6000\t20013\t6000\t6001"), index)
  expect_clean(case$config)
  writeLines(c("chr1\t20001\t6\t20000\t20001", "chr2\t6000\t20013\t6000\t6001"), index)
  expect_fault(case$config, "lengths", "focal_fasta", "20,001 bases for 'chr1'", "20,000")
  writeLines("chr1\t20000\t6\t20000\t20001", index)
  expect_fault(case$config, "lengths", "focal_fasta", "no 'chr2'")
})

# ---- Focal letters -----------------------------------------------------------------------

faults <- list(shift = shifted, back = function(lines) shifted(lines, -1), build = other_build,
               strand = reverse_strand)

# Drops blocks that a shift has moved beyond an end of their chromosome.
inside <- function(lines, lengths) {
  blocks <- oracle_blocks(lines)
  bad <- vapply(blocks, function(block) {
    block$start < 1 || block$start - 1 + sum(block$focal != "-") > lengths[[block$chromosome]]
  }, NA)
  drop <- vapply(blocks[bad], `[[`, 0, "line")
  if (length(drop)) lines[-c(drop, drop + 1, drop + 2)] else lines
}

test_that("a shift, another build and the other strand differ from the focal genome", {
  set.seed(9)
  case <- with_genome(related_case())
  for (fault in faults) {
    set_lines(case, "near1", inside(fault(case$lines$near1), case$lengths))
    expect_fault(case$config, "focal", "near1", "focal letters", "another build", "chr1:")
  }
})

test_that("a shift, another build and the other strand differ from other alignments", {
  set.seed(10)
  case <- related_case()
  for (fault in faults) {
    set_lines(case, "near2", inside(fault(case$lines$near2), case$lengths))
    expect_fault(case$config, "focal", "near2", "The other alignments agree", "another build")
  }
  # With two alignments, either may be the wrong one.
  case <- related_case(c(near = 0.02, far = 0.1), n_inner = 1)
  for (fault in faults) {
    set_lines(case, "near", inside(fault(case$lines$near), case$lengths))
    expect_fault(case$config, "focal", "near and far", "One of the two is wrong")
  }
})

test_that("a few differences between alignments are no error", {
  set.seed(11)
  case <- related_case()
  lines <- change_focal(case$lines$near1, function(row) {
    change <- runif(length(row)) < 0.003
    row[change] <- chartr("ACGTacgt", "CGTAcgta", row[change])
    row
  })
  set_lines(case, "near1", lines)
  expect_clean(case$config)
  # But a block that differs from the focal genome is bad.
  case <- with_genome(case)
  expect_fault(case$config, "focal", "near1", "focal letters", "differ from", "on_bad_block")
  case$config$on_bad_block <- "skip"
  checks <- check_quietly(case$config)
  expect_identical(checks$subject[checks$status == "warning"], "near1")
  expect_true(all(checks$status < "error"))
})

# ---- Blocks compared during the run --------------------------------------------------------

test_that("a wrong block after the checked text ends the run", {
  set.seed(12)
  genome <- paste(sample(c("A", "C", "G", "T"), 1000, replace = TRUE), collapse = "")
  block <- axt_block("chr1", 1, genome, genome)
  wrong <- axt_block(
    "chr1", 1, sub("^.", if (startsWith(genome, "A")) "C" else "A", genome), genome
  )
  case <- with_genome(related_case(lengths = c(chr1 = 1000)))
  writeLines(c(">chr1", genome), case$config$focal_fasta)
  set_lines(case, "near1", block)
  set_lines(case, "near2", c(block, "# another file"))
  n <- 2^21 %/% nchar(paste(block, collapse = "\n"))
  set_lines(case, "far", c(rep(block, n), wrong))
  line <- 4 * n + 1
  for (kept in c(TRUE, FALSE)) {
    case$config$keep_projected <- kept
    condition <- expect_ancify_error(
      run_quietly(case$config), "format", "far.axt", sprintf("line %.0f", line), "chr1:1,",
      "focal_fasta", "on_bad_block"
    )
    expect_identical(condition$line, line)
    expect_identical(content_of(case$config$output_dir), character())
  }
  case$config$on_bad_block <- "skip"
  for (kept in c(TRUE, FALSE)) {
    case$config$keep_projected <- kept
    caught <- expect_one_warning(run_quietly(case$config), "projection", "1 bad block left out")
    expect_equal(attr(caught$value, "alignments")$bad, c(0, 0, 1))
  }
})

test_that("exactly the blocks that differ from the genome are left out, in AXT and MAF", {
  set.seed(13)
  for (i in 1:4) {
    case <- with_genome(related_case(lengths = c(chr1 = 3000, chr2 = 900), on_bad_block = "skip"))
    genome <- file.path(case$folder, "focal.fa")
    bases <- vapply(case$genome, paste, "", collapse = "")
    # The genome has lower case and unknown bases.
    bases["chr1"] <- paste0(tolower(substr(bases["chr1"], 1, 1500)), substring(bases["chr1"], 1501))
    substr(bases["chr2"], 1, 300) <- strrep("N", 300)
    writeLines(c(rbind(paste0(">", names(bases)), bases)), genome)
    lines <- case$lines$near1
    rows <- sample(header_lines(lines) + 1, 4)
    for (row in rows) {
      letters <- strsplit(lines[row], "")[[1]]
      at <- sample(which(letters != "-"), 1)
      letters[at] <- sample(c("A", "c", "g", "T", "N", "r"), 1)
      lines[row] <- paste(letters, collapse = "")
    }
    set_lines(case, "near1", lines)
    focal <- strsplit(toupper(bases), "")
    good <- vapply(oracle_blocks(lines), function(block) {
      row <- toupper(block$focal[block$focal != "-"])
      there <- focal[[block$chromosome]][block$start - 1 + seq_along(row)]
      known <- row %in% c("A", "C", "G", "T") & there %in% c("A", "C", "G", "T")
      all(row[known] == there[known])
    }, NA)
    starts <- vapply(oracle_blocks(lines), `[[`, 0, "line")[!good]
    left <- if (any(!good)) lines[-c(starts, starts + 1, starts + 2)] else lines
    expected <- oracle_project(left, case$lengths)
    for (kept in c(TRUE, FALSE)) {
      case$config$keep_projected <- kept
      case$config$chromosomes <- sample(names(case$lengths))
      run <- suppressWarnings(run_quietly(case$config, threads = sample(2, 1)))
      expect_equal(attr(run, "alignments")$bad[1], sum(!good))
      if (kept) {
        near1 <- file.path(case$config$work_dir, "projected", "near1", "chr1.fa")
        expect_identical(readLines(near1)[2], expected[["chr1"]])
      }
    }
    # The same alignment as MAF.
    maf <- file.path(case$folder, "near1.maf")
    writeLines(c("##maf version=1", unlist(lapply(oracle_blocks(lines), function(block) {
      maf_block(
        list(paste0("focal.", block$chromosome), block$start - 1, paste(block$focal, collapse = ""),
             "+", case$lengths[[block$chromosome]]),
        list("near1.x", 0, paste(block$outgroup, collapse = ""))
      )
    }))), maf)
    case$config$outgroups$inner[[1]]$alignment <- maf
    run <- suppressWarnings(run_quietly(case$config))
    expect_equal(attr(run, "alignments")$bad[1], sum(!good))
    one <- look_at(case$config)$outgroups[[1]]
    against <- oracle_differences(oracle_rows(lines, case$lengths), unlist(focal))
    expect_equal(c(sites = one$compared, differ = one$wrong), against)
  }
})

# ---- Divergence ----------------------------------------------------------------------------

test_that("exchanged inner and outer species are a warning with both divergences", {
  set.seed(14)
  case <- related_case(c(far = 0.1, near = 0.03, middle = 0.04), n_inner = 2)
  checks <- check_quietly(case$config)
  warnings <- checks[checks$status == "warning", ]
  expect_identical(warnings$subject, "far")
  expect_match(warnings$finding, "'middle'")
  shares <- as.numeric(regmatches(warnings$finding, gregexpr("[0-9.]+(?= %)", warnings$finding,
                                                             perl = TRUE))[[1]])
  expect_equal(shares, c(10, 4), tolerance = 0.2)
  expect_one_warning(run_quietly(case$config), "check", "far: ", "'middle'", "exchanged")
})

# ---- Damaged files -------------------------------------------------------------------------

test_that("damaged compression and cut blocks are errors, before the run and during it", {
  set.seed(15)
  case <- related_case()
  path <- file.path(case$folder, "near1.axt")
  whole <- gzip_member(charToRaw(paste0(paste(case$lines$near1, collapse = "\n"), "\n")))
  writeBin(head(whole, length(whole) %/% 2), path)
  expect_fault(case$config, "text", "near1", "near1.axt", "cut short")
  flipped <- whole
  flipped[length(whole) %/% 2] <- xor(flipped[length(whole) %/% 2], as.raw(4))
  writeBin(flipped, path)
  expect_fault(case$config, "text", "near1", "near1.axt")
  set_lines(case, "near1", head(case$lines$near1, -2))
  condition <- expect_fault(case$config, "text", "near1", "the middle of this block")
  expect_identical(condition$line, length(case$lines$near1) - 3)

  # After the checked text: long, and hard to compress.
  focal <- replicate(3000, paste(sample(c("A", "C", "G", "T"), 500, TRUE), collapse = ""))
  long <- unlist(lapply(focal, function(row) axt_block("chrElse", 1, row, row)))
  behind <- c(case$lines$near1, long)
  whole <- gzip_member(charToRaw(paste0(paste(behind, collapse = "\n"), "\n")))
  flipped <- whole
  flipped[length(whole) - 1000] <- xor(flipped[length(whole) - 1000], as.raw(4))
  for (bytes in list(head(whole, -500), flipped)) {
    writeBin(bytes, path)
    expect_identical(look_at(case$config, brief = TRUE)$outgroups[[1]]$problem, "")
    expect_ancify_error(run_quietly(case$config), "format", "near1.axt")
    expect_identical(content_of(case$config$output_dir), character())
  }
  set_lines(case, "near1", head(behind, -2))
  expect_ancify_error(run_quietly(case$config), "format", "the middle of this block")
})

# ---- Disk, permission, memory, backend -------------------------------------------------------

test_that("too little room on the disk is an error", {
  set.seed(16)
  with_small_disk(2^20, function(disk) {
    case <- related_case(lengths = c(chr1 = 4e5), keep_projected = TRUE)
    case$config$output_dir <- file.path(disk, "calls")
    expect_clean(case$config)
    case$config$work_dir <- file.path(disk, "work")
    condition <- expect_fault(case$config, "disk", "work_dir, output_dir", "1.6 MB", "1.05 MB")
    expect_s3_class(condition, "ancify_file_error")
    # Only calls are written.
    case$config$keep_projected <- FALSE
    expect_clean(case$config)
  })
  case <- related_case()
  writeLines("chr1\t1e18", case$config$chromosome_lengths)
  writeLines("chr1\t100000000000000000", case$config$chromosome_lengths)
  checks <- check_quietly(case$config)
  expect_match(checks$finding[checks$check == "disk"], "make room")
})

test_that("a folder without write permission is an error", {
  set.seed(17)
  case <- related_case()
  file <- file.path(case$folder, "file")
  file.create(file)
  case$config$output_dir <- file.path(file, "calls")
  expect_fault(case$config, "permission", "output_dir", "is not a folder")
  case$config$output_dir <- file.path(case$folder, "closed", "calls")
  dir.create(dirname(case$config$output_dir), mode = "0555")
  skip_if(file.access(dirname(case$config$output_dir), 2) == 0, "root may write anywhere")
  expect_fault(case$config, "permission", "output_dir", "cannot be written to")
})

test_that("free memory is limited by the machine and the control group", {
  root <- new_folder()
  put <- function(path, ...) {
    path <- file.path(root, path)
    dir.create(dirname(path), recursive = TRUE, showWarnings = FALSE)
    writeLines(c(...), path)
  }
  expect_identical(available_memory(root), NA_real_)
  put("proc/meminfo", "MemTotal: 100 kB", "MemAvailable:   50 kB", "SwapFree:  10 kB")
  expect_identical(available_memory(root), 60 * 1024)
  put("proc/self/cgroup", "0::/a/b")
  put("sys/fs/cgroup/a/b/memory.max", "max")
  put("sys/fs/cgroup/a/b/memory.current", "100")
  expect_identical(available_memory(root), 60 * 1024)
  put("sys/fs/cgroup/a/memory.max", "30000")
  put("sys/fs/cgroup/a/memory.current", "20000")
  put("sys/fs/cgroup/a/memory.stat", "anon 5", "inactive_file 4000")
  expect_identical(available_memory(root), 14000)
})

test_that("too little memory is an error that keeping the projections avoids", {
  case <- with_genome(related_case(keep_projected = FALSE))
  writeLines("chr1\t100000000000000", case$config$chromosome_lengths)
  checks <- check_quietly(case$config)
  expect_match(checks$finding[checks$check == "memory"], "50 TB are needed.*keep_projected: true")
  case$config$keep_projected <- TRUE
  checks <- check_quietly(case$config)
  expect_identical(as.character(checks$status[checks$check == "memory"]), "ok")
})

test_that("an unusable GPU is an error, and the rest is checked", {
  if (nrow(available_gpus()) > 0) skip("a GPU is there")
  checks <- check_quietly(ancify_example(new_folder()), backend = "gpu")
  expect_identical(checks$check[checks$status == "error"], "backend")
  expect_true("divergence" %in% checks$check)
})

# ---- The table -----------------------------------------------------------------------------

test_that("an unusable configuration is a finding in the table", {
  config <- unclass(ancify_example(new_folder()))
  checks <- check_quietly(list(focal_species = "a", metod = "voting"))
  expect_s3_class(checks, "ancify_check")
  expect_identical(unique(checks$check), "configuration")
  expect_match(checks$finding, "metod", all = FALSE)
  expect_ancify_error(check_quietly("no such file.yaml"), "file")
  expect_ancify_error(check_quietly(config, phases = "train"), "input")
})

test_that("the gravest findings are printed first", {
  set.seed(18)
  case <- related_case(c(far = 0.1, near = 0.03))
  case <- related_case(c(far = 0.1, near = 0.03, middle = 0.04))
  set_lines(case, "near", rename(case$lines$near, function(name) sub("chr", "CM00066", name)))
  lines <- capture.output(print(check_quietly(case$config)))
  expect_match(lines[1], "<ancify_check> 1 error, 1 warning, 0 notes, [0-9]+ ok")
  expect_match(lines[2], "^  error +names +near")
  expect_true(all(nchar(lines) <= getOption("width") | grepl(case$folder, lines, fixed = TRUE)))
})

test_that("only the needs of the given phases are checked", {
  config <- ancify_example(new_folder())
  expect_false(any(c("text", "names") %in% check_quietly(config, phases = "call")$check))
  run_quietly(config)
  expect_identical(check_quietly(config, phases = "evaluate")$check,
                   c("permission", "disk", "memory", "backend"))
})

test_that("missing inputs of the phases are found", {
  found <- function(..., phases = c("project", "call", "evaluate")) {
    checks <- ancify_check(random_config(...)$config, phases)
    checks[checks$check == "configuration", ]
  }
  expect_identical(nrow(found()), 0L)
  minima <- found(min_inner_freq = 5L)
  expect_identical(as.character(minima$status), "warning")
  expect_match(minima$finding, "`min_inner_freq` is 5", fixed = TRUE)
  expect_identical(nrow(found(min_inner_freq = 5L, phases = "project")), 0L)

  evaluation <- found(evaluation = list(vcf_dir = tempdir(), vcf_pattern = "none-{chrom}.vcf"))
  expect_identical(as.character(evaluation$status), "error")
  expect_match(evaluation$finding, "none-chr1.vcf", fixed = TRUE)
  model <- found(method = "ml", ml_model_path = file.path(tempdir(), "no-model"))
  expect_identical(as.character(model$status), "error")
  expect_match(model$finding, "ml_model_path", fixed = TRUE)
})

test_that("calls do not replace sequences that no run wrote", {
  case <- random_config()
  dir.create(case$config$output_dir, recursive = TRUE)
  genome <- file.path(case$config$output_dir, "chr2.fa")
  writeLines(c(">chr2 mine", "ACGT", "ACGT"), genome)
  checks <- ancify_check(case$config)
  expect_identical(checks$file[checks$status == "error"], genome)
  expect_ancify_error(run_quietly(case$config), "check", genome, "choose another `output_dir`")
  expect_identical(readLines(genome), c(">chr2 mine", "ACGT", "ACGT"))
  expect_no_error(run_quietly(case$config, phases = "project"))

  # Even if they look like calls
  writeLines(c(">chr2", strrep("A", case$lengths[["chr2"]])), genome)
  expect_ancify_error(run_quietly(case$config), "check", genome)

  # A run replaces all files of its own, and no others.
  config <- case$config
  config$chromosomes <- "chr1"
  run_quietly(config)
  expect_ancify_error(run_quietly(case$config), "check", genome)
  unlink(genome)
  run_quietly(case$config)
  run_quietly(config)
  writeLines(c(">chr2 mine", "ACGT", "ACGT"), genome)
  run_quietly(case$config)
  expect_calls(case$config$output_dir, case$calls)
})

test_that("files beside calls are a run's own, or an error", {
  case <- random_config()
  folder <- case$config$output_dir
  is_kept <- function(...) {
    for (name in c(...)) {
      file <- file.path(folder, name)
      dir.create(dirname(file), showWarnings = FALSE, recursive = TRUE)
      writeLines("mine", file)
      expect_ancify_error(run_quietly(case$config), "check", name, "no run wrote it")
      expect_identical(readLines(file), "mine")
      unlink(file)
    }
  }
  is_kept(
    "fitted_model.yml", "posterior/chr1.phred", "evaluation/chr1.evaluation.txt", "ancify_run.json"
  )
  run_quietly(case$config)
  # Files that a run without posteriors and fits did not write
  is_kept("fitted_model.yml", "posterior/chr1.phred")
  config <- file.path(folder, "ancify_run.json")
  yaml::write_yaml(case$config, config)
  expect_ancify_error(run_quietly(config), "check", config, "this run's configuration")
  expect_identical(yaml::read_yaml(config)$focal_species, case$config$focal_species)
})

test_that("files of a folder without a ledger are a user's; a copy with its ledger is a run's", {
  case <- random_config(evaluation = list())
  run_quietly(case$config)
  first <- case$config$output_dir
  for (hidden in c(TRUE, FALSE)) {
    case$config$output_dir <- new_folder()
    file.copy(list.files(first, full.names = TRUE, all.files = hidden, no.. = TRUE),
              case$config$output_dir, recursive = TRUE)
    before <- content_of_files(case$config$output_dir)
    if (hidden) {
      lines <- log_lines(ancify_run(case$config, progress = FALSE))
      expect_match(lines, "^Calls of chr1, chr2 and one: kept", all = FALSE)
      expect_no_error(run_quietly(case$config, resume = FALSE))
    } else {
      expect_ancify_error(run_quietly(case$config), "check", "no run wrote it",
                          "choose another `output_dir`")
      expect_identical(content_of_files(case$config$output_dir), before)
    }
  }
})

test_that("removed files are no longer a run's own", {
  case <- random_config(method = "likelihood", posterior = TRUE,
                        tree = "((inner1:0.1,inner2:0.1):0.1,outer1:0.3);")
  run_quietly(case$config)
  case$config$posterior <- FALSE
  run_quietly(case$config)
  file <- file.path(case$config$output_dir, "posterior", "chr1.phred")
  dir.create(dirname(file), showWarnings = FALSE)
  writeLines("mine", file)
  expect_ancify_error(run_quietly(case$config), "check", file, "no run wrote it")
})

test_that("files that a run removed or never wrote are not its own", {
  case <- random_config(lengths = c(chr1 = 300, chr2 = 200), evaluation = list())
  folder <- case$config$output_dir
  run_quietly(case$config)
  case$config["evaluation"] <- list(NULL)
  case$config$min_inner_freq <- 2L
  suppressWarnings(run_quietly(case$config))
  evaluation <- file.path(folder, "evaluation", "chr1.evaluation.txt")
  expect_false(file.exists(evaluation))
  writeLines("mine", evaluation)
  expect_ancify_error(run_quietly(case$config), "check", evaluation, "no run wrote it")

  # The same for files that a killed run never wrote, once the next run has ended.
  case <- random_config(lengths = c(chr1 = 300, chr2 = 200))
  folder <- case$config$output_dir
  claim_files(open_ledger(folder), c("chr1.fa", "chr2.fa", "fitted_model.yml"))
  run_quietly(case$config)
  fitted <- file.path(folder, "fitted_model.yml")
  writeLines("mine", fitted)
  expect_ancify_error(run_quietly(case$config), "check", fitted, "no run wrote it")

  # A folder gets the name of an output when the run begins to call.
  case <- random_config(lengths = c(chr1 = 300, chr2 = 200))
  calls <- file.path(case$config$output_dir, c("chr1.fa", "chr2.fa"))
  expect_ancify_error(
    once_calls_begin(function() dir.create(calls[1]), run_quietly(case$config)), "file", "chr1.fa"
  )
  unlink(calls, recursive = TRUE)
  writeLines("mine", calls[1])
  expect_ancify_error(run_quietly(case$config), "check", calls[1], "no run wrote it")
  expect_identical(readLines(calls[1]), "mine")
})

test_that("a run's own files that come back are its own", {
  case <- random_config(evaluation = list(), posterior = TRUE, method = "likelihood",
                        tree = "((inner1:0.1,inner2:0.1):0.1,outer1:0.3);")
  run_quietly(case$config)
  folder <- case$config$output_dir
  some <- case$config
  some$chromosomes <- "chr2"
  for (name in c("chr1.fa", "posterior", "evaluation")) {
    paths <- file.path(folder, c(name, "aside"))
    file.rename(paths[1], paths[2])
    if (name != "posterior") run_quietly(some)
    if (name == "posterior") suppressWarnings(run_quietly(some, "evaluate"))
    unlink(paths[1], recursive = TRUE)
    file.rename(paths[2], paths[1])
    expect_no_error(run_quietly(case$config))
  }

  # An evaluation that this run does not make, while nothing is left to call
  paths <- file.path(folder, c("evaluation", "aside"))
  file.rename(paths[1], paths[2])
  run_quietly(replace(case$config, "evaluation", list(NULL)))
  file.rename(paths[2], paths[1])
  expect_no_error(run_quietly(case$config))

  # Calls, while a run fails
  backup <- new_folder()
  files <- list.files(folder, "[.]fa$")
  copy <- function(from, to) file.copy(file.path(from, files), to, recursive = TRUE)
  copy(folder, backup)
  unlink(file.path(folder, files), recursive = TRUE)
  in_the_way <- function() dir.create(file.path(folder, "chr1.fa"))
  expect_ancify_error(once_calls_begin(in_the_way, run_quietly(case$config)), "file")
  unlink(file.path(folder, files), recursive = TRUE)
  copy(backup, folder)
  expect_no_error(run_quietly(case$config))
})

test_that("a run with a fit recognises calls that have come back", {
  case <- random_config(lengths = c(chr1 = 900, chr2 = 500), method = "likelihood", estimate = TRUE,
                        tree = "((inner1:0.1,inner2:0.1):0.1,outer1:0.3);", keep_projected = FALSE,
                        num_cpus = 1)
  run <- run_quietly(case$config)
  backup <- new_folder()
  file.copy(run$file, backup)
  unlink(run$file)
  in_the_way <- function() dir.create(run$file[2])
  expect_ancify_error(once_calls_begin(in_the_way, run_quietly(case$config)), "file")
  unlink(run$file, recursive = TRUE)
  file.copy(file.path(backup, basename(run$file)), case$config$output_dir)
  case$config$likelihood_high_threshold <- 0.99
  expect_false(any(check_quietly(case$config)$status == "error"))
  expect_no_error(run_quietly(case$config))
})

test_that("files that appear while a run calls are not removed", {
  case <- random_config()
  file <- file.path(case$config$output_dir, "fitted_model.yml")
  once_calls_begin(function() writeLines("mine", file), run_quietly(case$config))
  expect_identical(readLines(file), "mine")
})

test_that("a file in the place of a removed one is not a run's own", {
  for (name in c("evaluation/chr1.evaluation.txt", "fitted_model.yml")) {
    case <- random_config(
      lengths = c(chr1 = 900, chr2 = 500), method = "likelihood", estimate = TRUE,
      tree = "((inner1:0.1,inner2:0.1):0.1,outer1:0.3);", evaluation = list()
    )
    file <- file.path(case$config$output_dir, name)
    run_quietly(case$config)
    expect_true(file.exists(file))
    case$config[c("estimate", "evaluation")] <- list(FALSE, NULL)
    once_calls_begin(function() writeLines("mine", file), run_quietly(case$config))
    expect_identical(readLines(file), "mine")
    expect_ancify_error(run_quietly(case$config), "check", file, "no run wrote it")
  }

  # Such a file is not replaced either.
  case <- random_config()
  file <- file.path(case$config$output_dir, "ancify_run.json")
  run_quietly(case$config)
  case$config$min_inner_freq <- 2L
  expect_ancify_error(
    once_calls_begin(function() writeLines("mine", file), run_quietly(case$config)),
    "file", file, "no run wrote it"
  )
  expect_identical(readLines(file), "mine")
})

test_that("an unreadable folder of a task does not end an evaluation", {
  skip_if_not_installed("BiocParallel")
  case <- random_config()
  run_quietly(case$config, BPPARAM = BiocParallel::SerialParam())
  task <- list.dirs(file.path(case$config$work_dir, ".ancify", "tasks"), recursive = FALSE)[1]
  unlink(file.path(task, ".ancify.lock"))
  dir.create(file.path(task, ".ancify.lock"))
  expect_no_error(run_quietly(case$config, "evaluate"))
})

test_that("files that failed tasks did not write are not a run's own", {
  skip_if_not_installed("BiocParallel")
  case <- random_config()
  file <- file.path(case$config$output_dir, "chr1.fa")
  expect_ancify_error(
    once_calls_begin(
      function() dir.create(file), run_quietly(case$config, BPPARAM = BiocParallel::SerialParam())
    ),
    "task", "chr1.fa"
  )
  unlink(file, recursive = TRUE)
  writeLines("mine", file)
  expect_ancify_error(run_quietly(case$config), "check", file, "no run wrote it")
})

test_that("files that appear during a run are found before it writes", {
  for (name in c("chr1.fa", "fitted_model.yml")) {
    # A fit divides the phases.
    case <- random_config(
      lengths = c(chr1 = 300, chr2 = 200), method = "likelihood", estimate = TRUE,
      tree = "(((focal,inner1),inner2),outer1);"
    )
    file <- file.path(case$config$output_dir, name)
    run <- function() {
      withCallingHandlers(
        ancify_run(case$config, progress = FALSE),
        message = function(condition) {
          if (grepl("Phase project took", conditionMessage(condition))) writeLines("mine", file)
          invokeRestart("muffleMessage")
        }
      )
    }
    expect_ancify_error(run(), "file", file, "no run wrote it")
    expect_identical(readLines(file), "mine")
  }
})

test_that("files in the places of the work folder's folders are found", {
  for (name in c(".ancify", "projected", "projected/inner1")) {
    case <- random_config()
    path <- file.path(case$config$work_dir, name)
    dir.create(dirname(path), showWarnings = FALSE, recursive = TRUE)
    writeLines("mine", path)
    expect_ancify_error(run_quietly(case$config), "check", path, "is not a folder")
    expect_identical(readLines(path), "mine")
  }
  expect_ancify_error(ancify_call(case$config, verbose = FALSE), "file")

  # The folder of the focal bases, which a fit needs even without projecting
  case <- random_config(
    method = "likelihood", tree = "(((focal,inner1),inner2),outer1);", estimate = TRUE
  )
  run_quietly(case$config, "project")
  path <- file.path(case$config$work_dir, "projected", "focal")
  unlink(path, recursive = TRUE)
  writeLines("mine", path)
  expect_ancify_error(run_quietly(case$config, "call"), "check", path, "is not a folder")
})

# ---- Projections that no run wrote ---------------------------------------------------------

# A run's projections without their ledger rows, as if no run had written them.
projections_of_others <- function(...) {
  case <- random_config(...)
  run_quietly(case$config, "project")
  folder <- file.path(case$folder, "others")
  from <- file.path(case$config$work_dir, "projected")
  dir.create(folder)
  file.copy(list.files(from, full.names = TRUE), folder, recursive = TRUE)
  case$config <- in_other_folders(case$config)
  case$projected_in <- file.path(case$config$work_dir, "projected")
  dir.create(case$config$work_dir)
  file.rename(folder, case$projected_in)
  case$file <- file.path(case$projected_in, "inner2", "chr2.fa")
  case
}

test_that("projections that no run wrote are used, and not replaced", {
  case <- projections_of_others()
  before <- content_of_files(case$projected_in)
  run_quietly(case$config, "call")
  expect_calls(case$config$output_dir, case$calls)
  expect_identical(content_of_files(case$projected_in), before)
  for (phases in list("project", c("project", "call"))) {
    for (resume in c(TRUE, FALSE)) {
      condition <- expect_ancify_error(
        run_quietly(case$config, phases, resume = resume), "check", case$projected_in,
        "no run wrote it", "choose another `work_dir`", "run the phase \"call\" alone"
      )
      expect_s3_class(condition, "ancify_file_error")
    }
  }
  checks <- check_quietly(case$config)
  expect_identical(checks$file[checks$status == "error"],
                   file.path(case$projected_in, "inner1", "chr1.fa"))
  expect_identical(content_of_files(case$projected_in), before)
  # A run that keeps no projections replaces none.
  run_quietly(replace(case$config, "keep_projected", FALSE), resume = FALSE)
  expect_identical(content_of_files(case$projected_in), before)

  # One such file among a run's own
  unlink(case$projected_in, recursive = TRUE)
  some <- case$config
  some$chromosomes <- "chr1"
  run_quietly(some)
  writeLines("mine", case$file)
  expect_ancify_error(run_quietly(case$config), "check", case$file)
  run_quietly(some, resume = FALSE)
  expect_identical(readLines(case$file), "mine")
  unlink(case$file)
  run_quietly(case$config)
  expect_projected(case$config$work_dir, case$projected)
  # A damaged file of a run is replaced.
  writeLines("damaged", case$file)
  run_quietly(case$config)
  expect_projected(case$config$work_dir, case$projected)
})

test_that("files claimed by a killed run are a run's own, those claimed by a failed run are not", {
  case <- random_config()
  folder <- file.path(case$config$work_dir, "projected")
  file <- file.path(folder, "inner1", "chr1.fa")
  paths <- projections_of(names(case$projected), names(case$lengths))
  claim_files(open_ledger(case$config$work_dir), paths)
  dir.create(dirname(file), recursive = TRUE)
  writeLines("half", file)
  run_quietly(case$config)
  expect_projected(case$config$work_dir, case$projected)

  case$config <- in_other_folders(case$config)
  file <- file.path(case$config$work_dir, "projected", "inner1", "chr1.fa")
  in_the_way <- function() dir.create(file, recursive = TRUE)
  expect_ancify_error(
    once_calls_begin(in_the_way, run_quietly(case$config), "claim_projections"), "file", file
  )
  unlink(dirname(file), recursive = TRUE)
  dir.create(dirname(file))
  writeLines("mine", file)
  expect_ancify_error(run_quietly(case$config), "check", file, "no run wrote it")
})

test_that("projections that appear after the checks are not replaced", {
  cases <- list(alone = NULL)
  if (requireNamespace("BiocParallel", quietly = TRUE)) {
    cases$tasks <- BiocParallel::SerialParam()
  }
  for (name in names(cases)) {
    case <- random_config()
    file <- file.path(case$config$work_dir, "projected", "inner2", "chr2.fa")
    come <- function() {
      dir.create(dirname(file), recursive = TRUE, showWarnings = FALSE)
      writeLines("mine", file)
    }
    expect_ancify_error(
      once_calls_begin(come, run_quietly(case$config, BPPARAM = cases[[name]]), "with_ledgers"),
      "file", file, "no run wrote it"
    )
    expect_identical(readLines(file), "mine")
    left <- content_of(case$config$work_dir)
    expect_identical(grep("[.]fa$", left, value = TRUE), "projected/inner2/chr2.fa")
  }
})

test_that("projections of GPU runs and of training replace no user's files", {
  case <- random_config()
  file <- file.path(case$config$work_dir, "projected", "inner2", "chr2.fa")
  dir.create(dirname(file), recursive = TRUE)
  writeLines("mine", file)
  config <- read_config(case$config, all_phases)
  work <- new_work(2)
  caller <- config_caller(config, run_settings(config, FALSE), work)
  both <- function() {
    context <- with_ledgers(new_context(config, work))
    run_both(context, caller)
    for (ledger in context$ledgers[c("work", "output")]) save_ledger(ledger, at_once = TRUE)
  }
  expect_ancify_error(both(), "file", file)
  train <- function() {
    work_in(new_context(config, new_work(1)), "project", project_where_missing)
  }
  expect_ancify_error(train(), "file", file)
  expect_identical(readLines(file), "mine")
  unlink(file)
  both()
  expect_projected(case$config$work_dir, case$projected)
  expect_no_error(run_quietly(case$config))
})

test_that("complete focal bases that no run wrote are used, and not replaced", {
  case <- random_config(
    lengths = c(chr1 = 900, chr2 = 500), method = "likelihood", estimate = TRUE,
    tree = "(((focal,inner1),inner2),outer1);"
  )
  expected <- run_quietly(case$config)
  folder <- file.path(case$config$work_dir, "projected", "focal")
  bases <- lapply(sequence_path(folder, names(case$lengths)), readLines)
  unlink(case$config$work_dir, recursive = TRUE)
  run_quietly(replace(case$config, c("method", "estimate"), list("voting", FALSE)), "project")
  dir.create(folder)
  file <- sequence_path(folder, "chr1")
  writeLines(tolower(bases[[1]]), file)
  for (phases in list("call", all_phases)) {
    expect_ancify_error(
      run_quietly(case$config, phases), "check", file, "no run wrote it"
    )
  }
  expect_ancify_error(count_patterns(case$config), "file", file)
  expect_identical(readLines(file), tolower(bases[[1]]))
  writeLines(bases[[1]], file)
  writeLines(bases[[2]], sequence_path(folder, "chr2"))
  expect_no_error(count_patterns(case$config))
  run <- run_quietly(case$config, "call")
  expect_identical(columns_of(run)[1:6], columns_of(expected)[1:6])
  expect_ancify_error(run_quietly(case$config, "project"), "check", file)
  # Focal bases written to count patterns are a run's own.
  unlink(folder, recursive = TRUE)
  count_patterns(case$config)
  expect_no_error(run_quietly(case$config, resume = FALSE))
})

test_that("dangling links also count as a user's files", {
  for (name in c("chr1.fa", "fitted_model.yml", "posterior")) {
    case <- random_config(
      lengths = c(chr1 = 300, chr2 = 200), method = "likelihood", posterior = TRUE,
      tree = "((inner1:0.1,inner2:0.1):0.1,outer1:0.3);"
    )
    link <- file.path(case$config$output_dir, name)
    dir.create(case$config$output_dir)
    file.symlink("/nowhere/at/all", link)
    expect_ancify_error(run_quietly(case$config), "check", link)
    expect_identical(Sys.readlink(link), "/nowhere/at/all")
    expect_false(dir.exists(file.path(case$config$work_dir, "projected")))
  }
})

test_that("files in the places of folders, and the reverse, are found before any work", {
  folders <- c("posterior", "evaluation", ".ancify")
  for (name in c("chr2.fa", "fitted_model.yml", "ancify_run.json", folders)) {
    case <- random_config(method = "likelihood", posterior = TRUE, evaluation = list(),
                          tree = "((inner1:0.1,inner2:0.1):0.1,outer1:0.3);")
    path <- file.path(case$config$output_dir, name)
    dir.create(case$config$output_dir)
    takes_file <- !name %in% folders
    if (takes_file) dir.create(path) else writeLines("mine", path)
    expect_ancify_error(
      run_quietly(case$config), "check", path,
      if (takes_file) "in the place of an output" else "is not a folder"
    )
    expect_false(dir.exists(file.path(case$config$work_dir, "projected")))
  }
})

test_that("an evaluation replaces only evaluations that runs wrote", {
  case <- random_config()
  run <- run_quietly(case$config)
  case$config$output_dir <- new_folder()
  file.copy(run$file, case$config$output_dir)
  evaluate <- function() ancify_evaluate(case$config, progress = FALSE, verbose = FALSE)
  file <- file.path(case$config$output_dir, "evaluation", "chr1.evaluation.txt")
  dir.create(dirname(file))
  writeLines("mine", file)
  expect_ancify_error(evaluate(), "check", file, "no run wrote it")
  unlink(file)
  evaluate()
  unlink(list.files(case$config$output_dir, "[.]fa$", full.names = TRUE))
  expect_no_error(run_quietly(case$config))
})

test_that("missing files of an earlier phase are found", {
  case <- random_config()
  errors <- function(phases, ...) {
    config <- utils::modifyList(case$config, list(...))
    checks <- ancify_check(config, phases)
    checks$finding[checks$status == "error"]
  }
  expect_match(errors("call"), "projected sequences are missing")
  expect_match(errors("evaluate"), "no such calls")
  expect_match(
    errors("project", keep_projected = FALSE), "only calls of the same run can use the projections"
  )
  model <- tempfile()
  writeLines("nonsense", model)
  expect_match(errors(c("project", "call"), method = "ml", ml_model_path = model), "nonsense|model")

  run_quietly(case$config)
  case$config$min_inner_freq <- 2L
  expect_warning(
    ancify_evaluate(case$config, progress = FALSE, verbose = FALSE), "another `min_inner_freq`",
    class = "ancify_evaluation_warning"
  )
  checks <- ancify_check(case$config, "evaluate")
  expect_match(checks$finding[checks$status == "warning"], "min_inner_freq", all = FALSE)
  wrong <- function(file, ...) {
    text <- readLines(file)
    writeLines(c(text[1], "ACGT"), file)
    expect_match(errors(...), basename(file), fixed = TRUE)
    writeLines(text, file)
  }
  wrong(file.path(case$config$output_dir, "chr2.fa"), "evaluate", min_inner_freq = 1L)
  wrong(file.path(case$config$work_dir, "projected", "inner2", "one.fa"), "call")
  # Calls without a record
  case$config$chromosomes <- "chr1"
  run_quietly(case$config)
  case$config$chromosomes <- "chr2"
  case$config$min_inner_freq <- 1L
  expect_no_warning(ancify_evaluate(case$config, progress = FALSE, verbose = FALSE))
})
