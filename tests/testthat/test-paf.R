# Projection of PAF files: the bases of AXT files and chains of the same alignment.

paf_file <- function(lines, ...) write_axt(lines, tempfile(fileext = ".paf"), ...)

forms <- list("cg", "eqx", "short", "long", c("cg", "short"), c("long", "eqx"))

test_that("rows of every form give the bytes of an oracle and of the AXT file", {
  set.seed(901)
  for (round in 1:6) {
    case <- random_paf_case()
    upper <- toupper(case$expected)
    expect_identical(project_quietly(case$axt, case$lengths), case$expected)
    for (form in forms) {
      lines <- case$lines(form)
      expect_identical(oracle_paf(lines, case$lengths, case$genome), case$expected)
      path <- paf_file(lines, compression = sample(c("none", "gzip", "bgzip"), 1))
      with_chunk_size(sample(c(1, 7, 300, 2^20), 1), {
        expect_identical(
          differing(path, case$lengths, case$expected, twobit = case$twobit), character()
        )
      })
      if ("long" %in% form) {
        expect_identical(oracle_paf(lines, case$lengths), upper)
        expect_identical(project_quietly(path, case$lengths), upper)
      }
    }
  }
  expect_true(all(c("N", "n", "-", "a", "C") %in% strsplit(case$expected[["chr1"]], "")[[1]]))
})

test_that("every rule for overlaps gives the bytes of AXT files", {
  set.seed(902)
  case <- random_paf_case(n_blocks = 60)
  for (rule in c("score", "missing", "last")) {
    expected <- oracle_project(case$net, case$lengths, overlaps = rule)
    for (form in forms) {
      expect_identical(
        project_quietly(paf_file(case$lines(form)), case$lengths, twobit = case$twobit,
                        overlaps = rule),
        expected
      )
    }
  }
})

test_that("the blocks of net AXT files give the bytes of their chains", {
  set.seed(903)
  for (round in 1:4) {
    case <- random_chain_case()
    all <- c(case$lengths, chrElse = 500)
    from_chain <- project_quietly(case$chain, case$lengths, twobit = case$twobit)
    for (form in forms) {
      path <- paf_file(axt_to_paf(case$net, all, nchar(case$genome), form))
      expect_identical(project_quietly(path, case$lengths, twobit = case$twobit), from_chain)
    }
  }
})

test_that("strands and steps are right in a small example", {
  lengths <- c(chr1 = 12)
  genome <- write_twobit(c(q = "AcGTTACGG"))
  project <- function(...) project_axt(paf_file(paf_row(...)), lengths, twobit = genome)
  # Along the minus strand, q is CCGTAACgT.
  cigars <- c("cg:Z:2M1D1I1M", "cg:Z:1=1X1D1I1=")
  for (tag in c(cigars, "cs:Z::1*tg-g+t:1", "cs:Z:=C*ag-t+t=T")) {
    expect_identical(project(tag), c(chr1 = "NNcG-TNNNNNN"))
  }
  for (tag in c(cigars, "cs:Z::1*ca-g+c:1", "cs:Z:=A*ca-t+c=G")) {
    expect_identical(project(tag, strand = "-"), c(chr1 = "NNAA-gNNNNNN"))
  }
  long <- function(...) project_axt(paf_file(paf_row(...)), lengths)
  expect_identical(long("cs:Z:=C*ag-t+t=t"), c(chr1 = "NNCG-TNNNNNN"))
  expect_identical(long("cs:Z:=CN*an+tt-t", strand = "-", query = c("other", 99, 1, 6)),
                   c(chr1 = "NNCNN-NNNNNN"))
  # Names may differ by a leading chr.
  expect_identical(
    project_axt(
      paf_file(paf_row("cg:Z:4M", query = c("chrq", 9, 1, 5), target = c("1", 12, 2, 6))),
      lengths, twobit = genome
    ), c(chr1 = "NNcGTTNNNNNN")
  )
})

test_that("the score is AS or the number of matches", {
  lengths <- c(chr1 = 12)
  row <- function(letter, ...) paf_row(paste0("cs:Z:=", strrep(letter, 4)), ...)
  best <- function(...) suppressWarnings(project_axt(paf_file(c(...)), lengths, threads = 1))
  expect_identical(best(row("A", "AS:i:5"), row("C", "AS:i:-7")), c(chr1 = "NNAAAANNNNNN"))
  expect_identical(best(row("A", "AS:i:2"), row("C")), c(chr1 = "NNCCCCNNNNNN"))
  expect_identical(best(row("A", "AS:i:3"), row("C")), c(chr1 = "NNNNNNNNNNNN"))
})

test_that("secondary alignments are left out and counted, and queries without one are ignored", {
  lengths <- c(chr1 = 12)
  rows <- c(
    "# comment", paf_row("cs:Z:=ACGT", "tp:A:P"),
    paf_row("cs:Z:=TTTT", "AS:i:99", "tp:A:S"), paf_row("tp:A:i"),
    paf_row("tp:A:S", target = c("chr2", 12, 2, 6)),
    paste("lone", 5, 0, 0, "*", "*", 0, 0, 0, 0, 0, 0, sep = "\t"),
    paf_row("cs:Z:=CC", "tp:A:I", query = c("q", 9, 1, 3), target = c("chr1", 12, 8, 10))
  )
  found <- expect_one_warning(
    project_axt(paf_file(rows), lengths), "projection", "2 secondary alignments left out"
  )
  expect_identical(found$value, c(chr1 = "NNACGTNNCCNN"))
  expect_identical(found$warning$secondary, 2)
  expect_ancify_error(
    project_axt(paf_file(rows[c(3, 5)]), lengths), "format", "no block can be used", "'chr2'"
  )
  expect_ancify_error(project_axt(paf_file(rows[6]), lengths), "format", "no alignment block")
  secondary <- paf_file(rows[3:4])
  expect_ancify_error(project_axt(secondary, lengths), "format", "all of its alignments", "(2)")
  config <- list(
    focal_species = "f", chromosome_lengths = lengths, work_dir = new_folder(),
    outgroups = list(inner = list(list(name = "a", alignment = secondary)),
                     outer = list(list(name = "b", alignment = paf_file(rows[4]))))
  )
  checks <- ancify_check(config, threads = 1)
  expect_match(checks$finding, "all of its alignments (2) are secondary", all = FALSE, fixed = TRUE)
})

bad_rows <- function() {
  list(
    list("12 columns", paste("q", 9, 1, 5, "+", "chr1", 12, 2, 6, 3, 4, sep = "\t")),
    list("column 3 is '1.0'", paf_row("cs:Z:=ACGT", query = c("q", 9, "1.0", 5))),
    list("column 5 is 'x'", paf_row("cs:Z:=ACGT", strand = "x")),
    list("column 8 is '-2'", paf_row("cs:Z:=ACGT", target = c("chr1", 12, "-2", 6))),
    list("column 2 is ''", "q\t\t"),
    list("range 9-13 is not inside 'chr1', which is 12",
         paf_row("cs:Z:=ACGT", target = c("chr1", 12, 9, 13))),
    list("range 5-1 is not inside 'q'", paf_row("cs:Z:=ACGT", query = c("q", 9, 5, 1))),
    list("AS:i: '5,0' is not a number", paf_row("cs:Z:=ACGT", "AS:i:5,0")),
    list("neither cg:Z: nor cs:Z:", paf_row("tp:A:P"), "minimap2 with -c, or with --cs"),
    list("neither cg:Z: nor cs:Z:", paf_row("cg:Z:", "cs:Z:")),
    list("cg:Z: cannot be read from '2N' on: its operations are M, =, X, I and D",
         paf_row("cg:Z:2M2N")),
    list("cg:Z: cannot be read from 'M' on", paf_row("cg:Z:M")),
    list("cg:Z: cannot be read from '4' on", paf_row("cg:Z:4")),
    list("cs:Z: cannot be read from '~gt4ac' on: its operations are :, =, *, + and -",
         paf_row("cs:Z:~gt4ac")),
    list("cs:Z: cannot be read from '*a' on", paf_row("cs:Z:=ACG*a")),
    list("cs:Z: cannot be read from '=' on", paf_row("cs:Z:=ACGT=")),
    list("cs:Z: cannot be read from ':x' on", paf_row("cs:Z::x")),
    list("cg:Z: spans 3 bases of the target and 3 of the query, but", paf_row("cg:Z:3M")),
    list("cg:Z: spans 5 bases of the target and 5 of the query", paf_row("cg:Z:5M")),
    list("cs:Z: spans 4 bases of the target and 5 of the query", paf_row("cs:Z:=ACGT+a")),
    list("cs:Z: spans 5 bases of the target and 4 of the query, but the row's ranges have 4",
         paf_row("cs:Z:=ACGT-a")),
    list("says that 'chr1' is 11 bases long, but the table of lengths says 12",
         paf_row("cs:Z:=ACGT", target = c("chr1", 11, 2, 6)), "the focal genome as the target"),
    list("says that 'q' is 8 bases long", paf_row("cs:Z:=ACGT", query = c("q", 8, 1, 5))),
    list("has no sequence 'r'; its first are 'q'", paf_row("cs:Z:=ACGT", query = c("r", 9, 1, 5)))
  )
}

test_that("a bad row is an error with its line, or left out and counted", {
  twobit <- write_twobit(c(q = "AACGTTTTT"))
  good <- paf_row("cg:Z:4M")
  for (bad in bad_rows()) {
    paf <- paf_file(c(good, bad[[2]], ""))
    with_chunk_size(sample(c(1, 10, 2^20), 1), {
      condition <- expect_ancify_error(
        project_axt(paf, c(chr1 = 12), twobit = twobit), "format", paf, bad[[1]], "on_bad_block"
      )
      if (length(bad) > 2) expect_match(conditionMessage(condition), bad[[3]], fixed = TRUE)
      warned <- expect_one_warning(
        project_axt(paf, c(chr1 = 12), twobit = twobit, on_bad_block = "skip"), "projection",
        "1 bad block left out", bad[[1]]
      )
    })
    expect_identical(condition$line, 2)
    expect_identical(warned$value, c(chr1 = "NNACGTNNNNNN"))
    expect_identical(warned$warning$lines, 2)
  }
})

test_that("a PAF file that was cut short is an error", {
  text <- paf_row("cs:Z:=AC*ga=T")
  for (n in 40:(nchar(text) - 1)) {
    paf <- tempfile()
    writeLines(substr(text, 1, n), paf, sep = "")
    expect_ancify_error(project_axt(paf, c(chr1 = 12)), "format", paf)
  }
})

test_that("rows without bases say what gives them", {
  for (tag in c("cg:Z:4M", "cs:Z::4")) {
    paf <- paf_file(c(paf_row("cs:Z:=ACGT"), paf_row(tag)))
    expect_ancify_error(
      project_axt(paf, c(chr1 = 12)), "input", paf, "line 2", "set twobit", "--cs=long"
    )
    expect_error(project_axt(paf, c(chr1 = 12), on_bad_block = "skip"), "set twobit")
  }
  expect_ancify_error(
    project_axt(paf, c(chr1 = 12), twobit = tempfile()), "file", "No such file"
  )
})

test_that("a file is PAF by its content", {
  is_paf <- function(...) {
    format <- alignment_format_impl(write_axt(c(...), tempfile()))
    format$takes_genome && !format$needs_genome
  }
  expect_true(is_paf(paf_row()))
  expect_true(is_paf(rep("# a long comment", 10000), paf_row("cg:Z:4M")))
  for (text in c("", "# nothing", "q\t1", gsub("\t", " ", paf_row()))) expect_false(is_paf(text))
})

# ---- Runs ----------------------------------------------------------------------------------

# Configurations of the same outgroups as PAF and as AXT files.
paf_and_axt_configs <- function(forms, twobit = TRUE, ...) {
  lengths <- c(chr1 = 1500, chr2 = 400, one = 1)
  folder <- new_folder()
  writeLines(sprintf("%s\t%.0f", names(lengths), lengths), file.path(folder, "chrom.sizes"))
  focal <- vapply(c(lengths, chrElse = 300), random_bases, "", letters = c("A", "C", "G", "T"))
  cases <- lapply(stats::setNames(nm = c("near1", "near2", "far")), function(name) {
    genome <- random_genome(c(chrA = 1300, scaffold_7 = 500, chrB = 40))
    if (!twobit) genome <- toupper(genome)
    net <- random_gapped(focal, genome, 40)
    list(
      axt = write_axt(net, file.path(folder, paste0(name, ".axt"))),
      paf = write_axt(axt_to_paf(net, nchar(focal), nchar(genome), forms),
                      file.path(folder, paste0(name, ".paf"))),
      twobit = write_twobit(genome, file.path(folder, paste0(name, ".2bit")))
    )
  })
  config <- function(kind, keys) {
    entries <- unname(Map(function(name, case) {
      c(list(name = name, alignment = case[[kind]]), case[keys])
    }, names(cases), cases))
    list(
      focal_species = "focal", chromosome_lengths = file.path(folder, "chrom.sizes"),
      outgroups = list(inner = entries[1:2], outer = entries[3]),
      work_dir = file.path(folder, kind, "work"), output_dir = file.path(folder, kind, "calls"),
      ...
    )
  }
  list(paf = config("paf", if (twobit) "twobit"), axt = config("axt", NULL), focal = focal)
}

test_that("a run on PAF files gives the calls of one on AXT files", {
  set.seed(904)
  for (form in c("cg", "short", "long")) {
    both <- paf_and_axt_configs(form, twobit = !identical(form, "long"))
    bytes <- lapply(both[c("paf", "axt")], function(config) {
      lapply(suppressWarnings(run_quietly(config, threads = 2))$file, file_bytes)
    })
    expect_identical(bytes$paf, bytes$axt)
  }
})

test_that("long difference strings have the focal bases that a fit needs", {
  set.seed(905)
  both <- paf_and_axt_configs(
    "long", twobit = FALSE, method = "likelihood", estimate = TRUE,
    tree = "(((focal,near1),near2),far);"
  )
  bytes <- lapply(both[c("paf", "axt")], function(config) {
    lapply(suppressWarnings(run_quietly(config))$file, file_bytes)
  })
  expect_identical(bytes$paf, bytes$axt)
  cigars <- paf_and_axt_configs("cg", method = "likelihood", estimate = TRUE,
                                tree = "(((focal,near1),near2),far);")
  expect_ancify_error(run_quietly(cigars$paf), "config", "'near1', 'near2'", "set `focal_fasta`")
  expect_ancify_error(
    focal_sequences_impl(
      cigars$paf$outgroups$outer[[1]]$alignment, new_folder(),
      config_reading(ancify_config(cigars$paf), new_work(1)), function(...) NULL
    ), "input", "no focal bases", "focal_fasta"
  )
})

test_that("a check compares PAF with the focal genome, and says what bases it lacks", {
  set.seed(906)
  for (form in c("long", "short")) {
    both <- paf_and_axt_configs(form)
    focal <- write_fasta(both$focal, tempfile(fileext = ".fa"))
    checks <- check_quietly(c(both$paf, focal_fasta = focal))
    of_focal <- checks$finding[checks$check == "focal"]
    expect_match(of_focal, "letters are those of the focal genome", all = TRUE)
    other <- replace(both$focal, "chr1", chartr("ACGT", "CGTA", both$focal[["chr1"]]))
    wrong <- c(both$paf, focal_fasta = write_fasta(other, tempfile(fileext = ".fa")))
    checks <- check_quietly(wrong)
    expect_match(checks$finding[checks$check == "focal"], "focal letters .* differ", all = TRUE)
    expect_ancify_error(suppressWarnings(run_quietly(wrong)), "check")
    both$paf$outgroups$outer[[1]]$twobit <- NULL
    checks <- check_quietly(both$paf)
    lacking <- checks$status == "error" & checks$check == "text"
    expect_identical(checks$subject[lacking], if (form == "short") "far" else character())
    expect_identical(grepl("set twobit", checks$finding[lacking]), rep(TRUE, form == "short"))
  }
})

test_that("a run records secondary alignments", {
  set.seed(907)
  both <- paf_and_axt_configs("cg")
  path <- both$paf$outgroups$outer[[1]]$alignment
  lines <- readLines(path)
  wanted <- which(!grepl("chrElse", lines))[1:3]
  lines[wanted] <- sub("tp:A:P", "tp:A:S", lines[wanted])
  write_axt(lines, path)
  run <- suppressWarnings(run_quietly(both$paf))
  expect_identical(attr(run, "alignments")$secondary, c(0, 0, 3))
  again <- suppressWarnings(run_quietly(both$paf))
  expect_identical(attr(again, "alignments")$secondary, c(0, 0, 3))
})

test_that("PAF gives the alleles of insertions and deletions that AXT gives", {
  require_htslib()
  set.seed(908)
  both <- paf_and_axt_configs("cg")
  lengths <- c(chr1 = 1500, chr2 = 400)
  genome <- both$focal[names(lengths)]
  reference <- write_fasta(genome, tempfile(fileext = ".fa"))
  vcf <- vcf_of_many_indels(genome)
  reasons <- lapply(both[c("paf", "axt")], function(config) {
    run <- suppressWarnings(run_quietly(config))
    found <- suppressWarnings(annotate(vcf, run, reference = reference, also = "indels"))
    info_of(records_of(found$out), "AA_reason")
  })
  expect_identical(reasons$paf, reasons$axt)
  expect_gt(length(unique(reasons$paf)), 2)
})

test_that("a VCF is polarised by PAF as by AXT", {
  require_htslib()
  set.seed(909)
  both <- paf_and_axt_configs("long", twobit = FALSE)
  bases <- strsplit(both$focal[["chr1"]], "")[[1]]
  records <- vcf_records("chr1", seq_along(bases), bases, chartr("ACGT", "CGTA", bases))
  vcf <- write_vcf(records, header = vcf_header(records, "chr1,length=1500"))
  found <- lapply(both[c("paf", "axt")], function(config) {
    out <- tempfile(fileext = ".vcf")
    alignment <- config$outgroups$outer[[1]]$alignment
    suppressWarnings(polarise(vcf, c(far = alignment), out, verbose = FALSE, progress = FALSE))
    records_of(out)
  })
  expect_identical(found$paf, found$axt)
})

test_that("bases of cs must agree with the 2bit genome", {
  row <- paste("q", 9, 0, 4, "+", "chr1", 12, 2, 6, 4, 4, 60, sep = "\t")
  right <- write_twobit(c(q = "ACGTTTTTT"))
  other <- write_twobit(c(q = "CGTATTTTT"))
  for (cs in c("cs:Z:=ACGT", "cs:Z:=AC*ag=T")) {
    paf <- paf_file(paste(row, cs, sep = "\t"))
    expect_identical(project_axt(paf, c(chr1 = 12), twobit = right), c(chr1 = "NNACGTNNNNNN"))
    expect_ancify_error(
      project_axt(paf, c(chr1 = 12), twobit = other), "format", "differ from the 2bit genome"
    )
  }
  # Without bases there is nothing to compare.
  expect_identical(project_axt(paf_file(paste(row, "cs:Z::4", sep = "\t")), c(chr1 = 12),
                               twobit = other), c(chr1 = "NNCGTANNNNNN"))
})
