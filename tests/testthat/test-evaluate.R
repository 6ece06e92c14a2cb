# The phase by its specification, in plain R.
oracle_evaluation <- function(calls, reference = NULL, records = NULL) {
  call <- strsplit(calls, "")[[1]]
  n <- length(call)
  is_base <- function(x) x %in% c("A", "C", "G", "T", "a", "c", "g", "t")
  result <- list(
    total_positions = n,
    high_confidence = sum(call %in% c("A", "C", "G", "T")),
    low_confidence = sum(call %in% c("a", "c", "g", "t")),
    missing = sum(call == "N"),
    prop_nonmissing = sum(is_base(call)) / n,
    prop_high_confidence = sum(call %in% c("A", "C", "G", "T")) / n,
    unresolved = sum(call == "n")
  )
  if (!is.null(reference)) {
    other <- strsplit(reference, "")[[1]]
    both <- is_base(call) & is_base(other)
    same <- toupper(call) == toupper(other)
    result <- c(result, list(
      reference_test_nonmissing = sum(is_base(call)) / n,
      reference_ref_nonmissing = sum(is_base(other)) / n,
      reference_both_nonmissing = sum(both),
      reference_agreement_rate = sum(same[both]) / sum(both),
      reference_disagreement_rate = sum(!same[both]) / sum(both)
    ))
  }
  if (!is.null(records)) {
    fields <- do.call(rbind, strsplit(records, "\t"))
    alts <- lapply(strsplit(fields[, 5], ","), function(alt) alt[is_base(alt)])
    judged <- is_base(fields[, 4]) & lengths(alts) > 0
    at <- call[as.numeric(fields[judged, 2])]
    called <- is_base(at)
    ref <- toupper(at) == toupper(fields[judged, 4]) & called
    alt <- mapply(function(base, alts) base %in% toupper(alts), toupper(at), alts[judged]) & called
    result <- c(result, list(
      vcf_num_variants = sum(judged),
      vcf_prop_nonmissing = sum(called) / sum(judged),
      vcf_matches_ref = sum(ref) / sum(called),
      vcf_matches_alt = sum(alt) / sum(called),
      vcf_matches_either = sum(ref | alt) / sum(called),
      vcf_unresolved = sum(at == "n"),
      vcf_missing = sum(at == "N"),
      vcf_other_records = sum(!judged)
    ))
  }
  result
}

# A configuration with calls, and nothing else.
evaluation_case <- function(calls) {
  folder <- new_folder()
  sizes <- file.path(folder, "chrom.sizes")
  writeLines(sprintf("%s\t%d", names(calls), nchar(calls)), sizes)
  outgroup <- function(name) list(list(name = name, alignment = file.path(folder, "none.axt")))
  config <- list(
    focal_species = "focal", chromosome_lengths = sizes,
    outgroups = list(inner = outgroup("near"), outer = outgroup("far")),
    work_dir = folder, output_dir = file.path(folder, "calls")
  )
  config$outgroups$outer[[1]]$alignment <- file.path(folder, "other.axt")
  dir.create(config$output_dir)
  for (name in names(calls)) {
    writeLines(c(paste0(">", name), calls[[name]]),
               file.path(config$output_dir, paste0(name, ".fa")))
  }
  list(config = config, calls = calls)
}

random_calls <- function(n) {
  paste(sample(c("A", "C", "G", "T", "a", "c", "g", "t", "n", "N"), n, TRUE), collapse = "")
}

evaluate_quietly <- function(config, threads = 2) {
  ancify_evaluate(config, threads = threads, progress = FALSE, verbose = FALSE)
}

# Folded at 60 bases, under another name, as Ensembl does.
write_reference <- function(bases, path) {
  starts <- seq(1, nchar(bases), 60)
  writeLines(c(">ANCESTOR_for_chromosome:X", substring(bases, starts, starts + 59)), path)
  path
}

# One row of the oracle's results for each chromosome.
oracle_table <- function(calls, references = NULL, records = NULL) {
  rows <- lapply(names(calls), function(name) {
    here <- if (is.null(records)) NULL else records[sub("\t.*", "", records) == name]
    as.data.frame(oracle_evaluation(calls[[name]], references[[name]], here))
  })
  data.frame(chromosome = names(calls), do.call(rbind, rows))
}

test_that("coverage, agreement and variants are those of the plain implementation", {
  require_htslib()
  set.seed(3)
  calls <- c(chr1 = random_calls(3000), chr2 = random_calls(777), one = "a")
  references <- vapply(calls, function(call) {
    base <- sample(c("A", "c", "G", "t", "-", ".", "N", "n"), nchar(call), TRUE)
    keep <- runif(nchar(call)) < 0.6
    paste(ifelse(keep, toupper(strsplit(call, "")[[1]]), base), collapse = "")
  }, "")
  case <- evaluation_case(calls)
  folder <- new_folder()
  for (name in names(references)) {
    write_reference(references[[name]], file.path(folder, paste0(name, ".txt")))
  }
  records <- random_vcf(nchar(calls))
  plain <- write_vcf(records, file.path(folder, "all.vcf"))
  expected <- oracle_table(calls, as.list(references), records)
  config <- case$config
  config$evaluation <- list(reference_dir = folder, reference_pattern = "{chrom}.txt",
                            vcf_dir = folder)
  files <- c(basename(plain), basename(as_bgzip(plain)), basename(as_bcf(plain)))
  for (file in files) {
    config$evaluation$vcf_pattern <- file
    for (threads in c(1, 3)) {
      expect_equal(evaluate_quietly(config, threads), expected, tolerance = 1e-15)
    }
  }

  # One file a chromosome, with names without chr.
  for (name in names(calls)) {
    here <- records[sub("\t.*", "", records) == name]
    write_vcf(sub("^chr", "", here), file.path(folder, paste0("v", sub("chr", "", name), ".vcf")))
  }
  config$evaluation$vcf_pattern <- "v{chrom_id}.vcf"
  expect_equal(evaluate_quietly(config), expected, tolerance = 1e-15)
  log <- log_lines(ancify_evaluate(config, threads = 1, progress = FALSE))
  expect_match(log, "'2' is read as 'chr2'", all = FALSE, fixed = TRUE)

  config$evaluation <- list(reference_dir = folder, reference_pattern = "{chrom}.txt")
  expect_equal(evaluate_quietly(config), oracle_table(calls, as.list(references)))
  config$evaluation <- NULL
  expect_equal(evaluate_quietly(config), oracle_table(calls))
})

test_that("the file has the keys of the specification, and numbers that read back", {
  require_htslib()
  case <- evaluation_case(c(chr1 = "ACgtnNN", chr2 = "N"))
  folder <- new_folder()
  write_reference("ACG-.TN", file.path(folder, "1.fa"))
  write_reference("A", file.path(folder, "2.fa"))
  write_vcf(vcf_records("chr1", c(1, 2, 3, 5), c("A", "G", "C", "T"), c("T", "A,C", "GA,T", "C")),
            file.path(folder, "all.vcf"), vcf_header("", c("chr1", "chr2")))
  case$config$evaluation <- list(reference_dir = folder, reference_pattern = "{chrom_id}.fa",
                                 vcf_dir = folder, vcf_pattern = "all.vcf")
  table <- evaluate_quietly(case$config)
  path <- file.path(case$config$output_dir, "evaluation", "chr1.evaluation.txt")
  expect_identical(readLines(path), c(
    "[coverage]",
    "  total_positions: 7",
    "  high_confidence: 2",
    "  low_confidence: 2",
    "  missing: 2",
    paste("  prop_nonmissing:", "0.5714285714285714"),
    paste("  prop_high_confidence:", "0.2857142857142857"),
    "  unresolved: 1",
    "",
    "[reference_comparison]",
    "  test_nonmissing: 0.5714285714285714",
    "  ref_nonmissing: 0.5714285714285714",
    "  both_nonmissing: 3",
    "  agreement_rate: 1",
    "  disagreement_rate: 0",
    "",
    "[vcf_comparison]",
    "  num_variants: 4",
    "  prop_nonmissing: 0.75",
    "  matches_ref: 0.3333333333333333",
    "  matches_alt: 0.3333333333333333",
    "  matches_either: 0.6666666666666666",
    "  unresolved: 1",
    "  missing: 0",
    "  other_records: 0",
    ""
  ))
  lines <- readLines(sub("chr1", "chr2", path))
  expect_true(all(c("  agreement_rate: nan", "  num_variants: 0", "  matches_ref: nan") %in% lines))
  expect_identical(shortest_decimal(1e15), "1000000000000000")
  expect_identical(shortest_decimal(0.1), "0.1")
  x <- c(1 / 3, pi * 1e-7, 0.1 + 0.2)
  expect_identical(as.numeric(shortest_decimal(x)), x)
  expect_identical(shortest_decimal(c(NaN, 0, 1e6, 0.5)), c("nan", "0", "1000000", "0.5"))
  expect_identical(table$vcf_matches_either[1], 2 / 3)
})

test_that("a run evaluates if its configuration has the block", {
  config <- ancify_example(new_folder())
  config$keep_projected <- TRUE
  run <- run_quietly(config, threads = 2)
  expect_null(attr(run, "evaluation"))
  expect_false(file.exists(file.path(config$output_dir, "evaluation")))

  truth <- new_folder()
  lines <- readLines(system.file("extdata", "example", "ancestor.fa.gz", package = "ancify"))
  at <- c(grep("^>", lines), length(lines) + 1)
  for (i in seq_along(run$chromosome)) {
    writeLines(lines[at[i]:(at[i + 1] - 1)], file.path(truth, paste0(run$chromosome[i], ".fa")))
  }
  config$evaluation <- list(reference_dir = truth, reference_pattern = "{chrom}.fa")
  run <- run_quietly(config, threads = 2)
  evaluation <- attr(run, "evaluation")
  expect_identical(evaluation, evaluate_quietly(config))
  sequence <- function(path) paste(readLines(path)[-1], collapse = "")
  for (i in seq_along(run$chromosome)) {
    expected <- oracle_evaluation(
      sequence(run$file[i]), sequence(file.path(truth, paste0(run$chromosome[i], ".fa")))
    )
    expect_equal(as.list(evaluation[i, -1]), expected)
  }
  expect_gt(min(evaluation$reference_agreement_rate), 0.95)
  again <- run_quietly(config, phases = "evaluate", threads = 1)
  expect_identical(again$high, run$high)
  expect_identical(content_of(file.path(config$output_dir, "evaluation")),
                   sort(paste0(run$chromosome, ".evaluation.txt")))

  # Kept calls keep their evaluation; new calls have none yet.
  run_quietly(config, phases = "call")
  expect_length(content_of(file.path(config$output_dir, "evaluation")), nrow(run))
  run_quietly(config, phases = "call", resume = FALSE)
  expect_identical(content_of(file.path(config$output_dir, "evaluation")), character())
})

test_that("real variants are counted as by bcftools", {
  require_htslib()
  vcf <- variant_annotation_vcf()
  query <- c("-f", "%CHROM\t%POS\t.\t%REF\t%ALT\n")
  records <- bcftools_lines("query", vcf, query)
  offset <- 50300000
  position <- as.numeric(vapply(strsplit(records, "\t"), `[`, "", 2)) - offset
  set.seed(5)
  calls <- random_calls(max(position) + 10)
  case <- evaluation_case(c(chr22 = paste0(strrep("N", offset), calls)))
  case$config$evaluation <- list(vcf_dir = dirname(vcf), vcf_pattern = "{chrom}.vcf.gz")
  result <- evaluate_quietly(case$config)
  fields <- sub("^[^\t]*\t[^\t]*", "", records)
  expected <- oracle_evaluation(calls, records = paste0("chr22\t", position, fields))
  of_variants <- startsWith(names(expected), "vcf_")
  expect_equal(as.list(result[names(expected)[of_variants]]), expected[of_variants])
  expect_gt(result$vcf_num_variants, 9000)
})

test_that("unusable variants are errors that name record and line", {
  require_htslib()
  calls <- c(chr1 = strrep("A", 100), chr2 = strrep("c", 50))
  case <- evaluation_case(calls)
  folder <- new_folder()
  good <- vcf_records(rep(c("chr1", "chr2"), c(3, 2)), c(10, 20, 30, 5, 6), "A", "C")
  refused <- function(records, ..., header = vcf_header(good), class = "format",
                      line = NULL, write = write_vcf) {
    path <- write(records, file.path(folder, "v.vcf"), header = header)
    config <- case$config
    config$evaluation <- list(vcf_dir = folder, vcf_pattern = basename(path))
    for (threads in c(1, 3)) {
      condition <- expect_ancify_error(evaluate_quietly(config, threads), class, path, ...)
      expect_identical(condition$file, path)
      if (!is.null(line)) expect_identical(condition$line, line)
    }
    expect_false(file.exists(file.path(case$config$output_dir, "evaluation")))
    unlink(path)
  }
  refused(good[c(1, 3, 2, 4, 5)], "record 3", "20 comes after 30", "sort", line = 7)
  refused(good[c(1, 2, 4, 5, 3)], "record 5", "'chr1' comes a second time", line = 9)
  refused(c(good[1], vcf_records("chr1", 101, "A", "C")), "record 2", "position 101", "100 bases",
          line = 6)
  refused(c(good[1:2], "chr1\t30\t.\tA"), "record 3", "4 of the 8 tab-separated columns", line = 7)
  refused(good, "neither VCF nor BCF", header = character(), line = 1)
  refused(good, "#CHROM", header = "##fileformat=VCFv4.2", line = 2)
  refused(good[1:3], "'chr2'", "'chr1'", header = vcf_header(good, "chr1"))
  refused(character(), "'chr1'", header = vcf_header(good, "chr7"))
  refused(c(good, sub("chr1", "1", good[1])), "record 6", "'1' and 'chr1' both", line = 10)
  refused("chr1\tx\t.\tA\tC\t.\t.\t.", "record 1", line = 5)

  cut <- function(bytes_left, compress) {
    function(records, path, header) {
      whole <- compress(write_vcf(records, tempfile(fileext = ".vcf"), header))
      path <- paste0(path, sub(".*[.]", ".", whole))
      bytes <- file_bytes(whole)
      writeBin(bytes[seq_len(bytes_left(length(bytes)))], path)
      path
    }
  }
  many <- vcf_records("chr1", sort(sample(100, 5000, TRUE)), "A", "C")
  for (compress in list(as_bgzip, as_bcf)) {
    refused(many, "cut short", write = cut(function(n) n - 28, compress))
    refused(many, "cut short", write = cut(function(n) n - 500, compress))
  }
  refused(character(), "neither VCF nor BCF", header = character(), line = 0)
})

test_that("references and calls that do not fit are errors", {
  case <- evaluation_case(c(chr1 = "ACGTACGT"))
  folder <- new_folder()
  case$config$evaluation <- list(reference_dir = folder)
  refused <- function(class, ...) expect_ancify_error(evaluate_quietly(case$config), class, ...)
  refused("file", file.path(folder, "chr1.fa"), "evaluation.reference_pattern", "chromosomes")
  write_reference("ACGTACG", file.path(folder, "chr1.fa"))
  refused("format", "chr1.fa", "7 bases", "8")
  write_reference("ACGTACGTA", file.path(folder, "chr1.fa"))
  refused("format", "chr1.fa", "9 bases", "8")
  writeLines(c(">1", "ACGT", ">2", "ACGT"), file.path(folder, "chr1.fa"))
  refused("format", "chr1.fa", "line 3", "second sequence")
  for (none in list(character(), ">chr1")) {
    writeLines(none, file.path(folder, "chr1.fa"))
    refused("format", "chr1.fa", "0 bases", "8")
  }
  writeLines(c(">x:y:chr1:1:8:-1", "ACGTACGT"), file.path(folder, "chr1.fa"))
  refused("format", "chr1.fa", "line 1", "minus strand")
  case$config$evaluation <- NULL
  calls <- file.path(case$config$output_dir, "chr1.fa")
  writeLines(c(">chr1", "ACGTAC-R"), calls)
  refused("format", calls, "not calls")
  unlink(calls)
  refused("file", calls, "\"call\"")
  case$config$evaluation <- list(vcf_dir = folder)
  refused("file", "chr1.vcf.gz", "evaluation.vcf_pattern")
  # Calls agree with themselves.
  writeLines(c(">chr1", "ACGTACGT"), calls)
  case$config$evaluation <- list(
    reference_dir = dirname(case$config$output_dir),
    reference_pattern = file.path(basename(case$config$output_dir), "{chrom}.fa")
  )
  refused("config", "evaluation.reference_pattern", calls)
})

test_that("a part of a chromosome with Ensembl's header is compared at its place", {
  case <- evaluation_case(c(chr1 = "ACGTACGTAC"))
  folder <- new_folder()
  case$config$evaluation <- list(reference_dir = folder)
  for (name in c(
    "ANCESTOR_for_chromosome:GRCh37:Y:4:7:1", "ANCESTOR_for_chromosome:NCBI36:Y:4:7"
  )) {
    writeLines(c(paste0(">", name), "TA", "CC"), file.path(folder, "chr1.fa"))
    result <- evaluate_quietly(case$config)
    expect_identical(result$reference_both_nonmissing, 4)
    expect_equal(result$reference_agreement_rate, 3 / 4)
    expect_equal(result$reference_ref_nonmissing, 0.4)
  }
  writeLines(c(">ANCESTOR_for_chromosome:GRCh37:Y:4:8:1", "TACC"), file.path(folder, "chr1.fa"))
  expect_ancify_error(evaluate_quietly(case$config), "format", "chr1.fa", "7 bases")
})

test_that("a build without htslib says what to install", {
  expect_ancify_error(check_htslib(NA), "package", "libhts-dev",
                      "BiocManager::install(\"Rhtslib\")")
})

test_that("addresses are refused", {
  require_htslib()
  expect_ancify_error(
    evaluate_impl(
      c(chr1 = 1), list(calls = "", references = "", variants = "http://localhost:1/x.vcf"), cpu(),
      no_watch
    ),
    "input",
    "download the file"
  )
})
