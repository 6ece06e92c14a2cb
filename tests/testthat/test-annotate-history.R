# A run with a known history, and genotypes at some of its positions, most of them polymorphic.
history_case <- function(n = 300, samples = 6) {
  config <- example_with_posteriors()
  config$keep_projected <- TRUE
  run <- run_quietly(config, threads = 2)
  set.seed(5)
  bases <- c("A", "C", "G", "T")
  species <- config$outgroups$name
  sites <- do.call(rbind, lapply(run$chromosome[1:2], function(chromosome) {
    position <- sort(sample(run$length[run$chromosome == chromosome], n))
    letters <- vapply(species, function(one) {
      path <- file.path(config$work_dir, "projected", one, paste0(chromosome, ".fa"))
      substring(readLines(path)[2], position, position)
    }, position |> as.character())
    call <- strsplit(readLines(run$file[run$chromosome == chromosome])[2], "")[[1]][position]
    ref <- ifelse(toupper(call) %in% bases & runif(n) < 0.8, toupper(call), sample(bases, n, TRUE))
    data.frame(
      chromosome, position, call, ref,
      alt = vapply(ref, function(base) sample(setdiff(bases, base), 1), ""),
      pattern = apply(letters, 1, paste, collapse = ""),
      phred = read_posterior(config$output_dir, chromosome)[position]
    )
  }))
  sites$alt[1:6] <- c("AC", "<DEL>", "C,G", ".", "N", "*")
  sites$alt[1:6][sites$ref[1:6] == "C"] <- "T"
  rows <- seq_len(nrow(sites))
  genotypes <- vapply(rows, function(i) {
    p <- sample(c(0, 0.1, 0.5, 0.9), 1)
    paste(vapply(seq_len(samples), function(s) {
      alleles <- sample(c("0", "1", "."), sample(c(1, 2, 2, 2), 1), TRUE, c(1 - p, p, 0.1))
      paste(alleles, collapse = sample(c("/", "|"), 1))
    }, ""), collapse = "\t")
  }, "")
  records <- paste(vcf_records(sub("chr", "", sites$chromosome), sites$position, sites$ref,
                               sites$alt), "GT", genotypes, sep = "\t")
  header <- vcf_header(records, more = declare_gt)
  history <- coalescent_history(
    stats::setNames(c(2e5, 3e5, 9e5), species), 40000, 10000, mutation_rate = 2e-8
  )
  list(run = run, config = config, sites = sites, genotypes = strsplit(genotypes, "\t"),
       history = history, vcf = write_vcf(records, header = header), records = records)
}

declare_gt <- "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"g\">"

# AA_post of each record in plain R: a matrix with a row for each, NA if absent.
oracle_posteriors <- function(case, samples) {
  alleles <- lapply(case$genotypes, function(genotype) {
    unlist(strsplit(genotype[samples], "[/|]"))
  })
  copies <- vapply(alleles, function(x) sum(x == "1"), 0)
  called <- vapply(alleles, function(x) sum(x != "."), 0)
  bases <- c("A", "C", "G", "T")
  sites <- case$sites
  use <- sites$ref %in% bases & sites$alt %in% bases & copies > 0 & copies < called &
    grepl("[ACGTacgt]", sites$pattern)
  result <- matrix(NA_real_, nrow(sites), 4)
  result[use, ] <- as.matrix(polarise_sites(
    sites$pattern[use], paste(sites$ref, sites$alt, sep = "/")[use], copies[use], called[use],
    case$history
  )[bases])
  result
}

posteriors_of <- function(lines) {
  fields <- strsplit(info_of(lines, "AA_post"), ",")
  fields[lengths(fields) == 1] <- list(rep(NA, 4))
  matrix(as.numeric(unlist(fields)), ncol = 4, byrow = TRUE)
}

test_that("posteriors are polarise_sites()'s of the samples' counts", {
  require_htslib()
  case <- history_case()
  bases <- c("A", "C", "G", "T")
  for (samples in list(1:6, c(4, 2, 5))) {
    named <- if (length(samples) < 6) paste0("s", samples)
    result <- annotate(case$vcf, case$run, history = case$history, samples = named)
    lines <- records_of(result$out)
    expected <- oracle_posteriors(case, samples)
    there <- !is.na(expected[, 1])
    expect_gt(sum(there), 150)
    expect_gt(sum(!there), 50)
    expect_equal(posteriors_of(lines), expected, tolerance = 1e-5)
    expect_identical(attr(result$counts, "posteriors"), as.numeric(sum(there)))

    # AA stays the call. Without AA_post, AA_prob is that of the run.
    plain <- annotate(case$vcf, case$run)
    expect_identical(info_of(lines, "AA"), info_of(records_of(plain$out), "AA"))
    expect_identical(result$counts$records, plain$counts$records)
    call <- info_of(lines, "AA")
    prob <- ifelse(there, expected[cbind(seq_along(call), match(toupper(call), bases))],
                   1 - 10^(-case$sites$phred / 10))
    prob[call == "."] <- NA
    expect_equal(suppressWarnings(as.numeric(info_of(lines, "AA_prob"))), prob, tolerance = 1e-5)
  }
  expect_match(readLines(result$out), "ID=AA_post,Number=4,Type=Float", all = FALSE)
  bcftools_lines("stats", result$out)
})

test_that("posteriors are the same in every format, with a folder, and polarised", {
  require_htslib()
  case <- history_case(100)
  plain <- annotate(case$vcf, case$run, history = case$history)
  lines <- records_of(plain$out)
  projected <- file.path(case$config$work_dir, "projected")
  for (input in c(as_bgzip(case$vcf), as_bcf(case$vcf))) {
    # The splits keep the history's order, also if the run's differs.
    turned <- case$history
    turned[c("splits", "sizes")] <- lapply(turned[c("splits", "sizes")], rev)
    result <- annotate(input, case$config$output_dir, history = turned, projected = projected,
                       out = tempfile(fileext = ".bcf"), threads = 1)
    expect_identical(bcftools_lines("view", result$out, "-H"), lines)
    expect_identical(result$counts, plain$counts)
  }
  polarised <- records_of(annotate(case$vcf, case$run, history = case$history,
                                   polarise = TRUE)$out)
  for (id in c("AA", "AA_prob", "AA_post", "AA_reason")) {
    expect_identical(info_of(polarised, id), info_of(lines, id))
  }
  expect_gt(sum(info_of(polarised, "AA_old_ref") != "."), 5)
})

test_that("records without genotypes vary with unknown counts", {
  require_htslib()
  case <- history_case(60)
  bare <- sub("\tGT\t.*", "\tDP\t.\t.\t.\t.\t.\t.", case$records)
  sites_only <- sub("\tGT\t.*", "", case$records)
  sites <- case$sites
  bases <- c("A", "C", "G", "T")
  use <- sites$ref %in% bases & sites$alt %in% bases & grepl("[ACGTacgt]", sites$pattern)
  expected <- matrix(NA_real_, nrow(sites), 4)
  expected[use, ] <- as.matrix(polarise_sites(
    sites$pattern[use], paste(sites$ref, sites$alt, sep = "/")[use], history = case$history
  )[bases])
  files <- c(
    write_vcf(bare, header = vcf_header(bare, more = sub("GT", "DP", declare_gt))),
    write_vcf(sites_only)
  )
  for (vcf in files) {
    out <- tempfile(fileext = ".vcf")
    told <- log_lines(counts <- annotate_vcf(vcf, case$run, out, history = case$history))
    expect_equal(posteriors_of(records_of(out)), expected, tolerance = 1e-5)
    expect_identical(unlist(attributes(counts)[c("posteriors", "counted")]),
                     c(posteriors = sum(use), counted = 0))
    expect_match(told, sprintf("in %d records: 0 by alleles and counts, %d by alleles alone",
                               sum(use), sum(use)), all = FALSE)
  }
  # Both in one file
  mixed <- ifelse(seq_along(case$records) %% 2 == 0, case$records, bare)
  header <- vcf_header(mixed, more = c(declare_gt, sub("GT", "DP", declare_gt)))
  result <- annotate(write_vcf(mixed, header = header), case$run, history = case$history)
  by_counts <- oracle_posteriors(case, 1:6)
  even <- seq_len(nrow(sites)) %% 2 == 0
  expected[even, ] <- by_counts[even, ]
  expect_equal(posteriors_of(records_of(result$out)), expected, tolerance = 1e-5)
  expect_identical(attr(result$counts, "counted"), as.numeric(sum(!is.na(by_counts[even, 1]))))
})

long_test_that("AC and AN are the counts of records without genotypes", {
  require_htslib()
  case <- history_case(40)
  sites <- case$sites
  counts <- vapply(case$genotypes, function(genotype) {
    alleles <- unlist(strsplit(genotype, "[/|]"))
    c(sum(alleles == "1"), sum(alleles != "."))
  }, numeric(2))
  # More haplotypes from record to record
  counts <- counts * rep(seq_len(ncol(counts)), each = 2)
  case$genotypes <- apply(counts, 2, function(x) {
    paste(rep(c("1", "0"), c(x[1], x[2] - x[1])), collapse = "/")
  }, simplify = FALSE)
  expected <- oracle_posteriors(case, 1)
  sites_only <- sub("\tGT\t.*", "", case$records)
  lines <- sub("[^\t]*$", "", sites_only)
  lines <- paste0(lines, sprintf("AC=%.0f;AN=%.0f", counts[1, ], counts[2, ]))
  # Without AN, the counts are not known.
  no_an <- seq_along(lines) %% 5 == 0
  lines[no_an] <- sub(";AN=.*", "", lines[no_an])
  declared <- sprintf("##INFO=<ID=%s,Number=%s,Type=Integer,Description=\"x\">", c("AC", "AN"),
                      c("A", "1"))
  vcf <- write_vcf(lines, header = vcf_header(lines, more = declared))
  result <- annotate(vcf, case$run, history = case$history)
  found <- posteriors_of(records_of(result$out))
  expect_gt(sum(!is.na(expected[!no_an, 1])), 30)
  expect_equal(found[!no_an, ], expected[!no_an, ], tolerance = 1e-5)
  expect_identical(attr(result$counts, "counted"), as.numeric(sum(!is.na(expected[!no_an, 1]))))
  require_package("VariantAnnotation")
  variants <- VariantAnnotation::readVcf(vcf)
  in_memory <- annotate_variants(variants, case$run, history = case$history, verbose = FALSE)
  in_memory <- do.call(rbind, as.list(VariantAnnotation::info(in_memory)$AA_post))
  expect_equal(unname(in_memory), found, tolerance = 1e-6)
  plain <- annotate(write_vcf(sites_only), case$run, history = case$history)
  expect_identical(found[no_an, ], posteriors_of(records_of(plain$out))[no_an, ])
})

test_that("a history takes one population of INFO", {
  require_htslib()
  case <- history_case(40)
  counts <- vapply(case$genotypes, function(genotype) {
    alleles <- unlist(strsplit(genotype, "[/|]"))
    c(sum(alleles == "1"), sum(alleles != "."))
  }, numeric(2))
  lines <- sub("[^\t]*$", "", sub("\tGT\t.*", "", case$records))
  with_fields <- function(copies, called) {
    records <- paste0(lines, sprintf("%s=%.0f;%s=%.0f", copies, counts[1, ], called, counts[2, ]))
    write_vcf(records, header = vcf_header(records, more = count_declarations(
      c(copies, called), c("A", "1")
    )))
  }
  plain <- annotate(with_fields("AC", "AN"), case$run, history = case$history)
  named <- annotate(with_fields("AC_x", "AN_x"), case$run, history = case$history,
                    samples = info_populations("x"))
  expect_gt(attr(named$counts, "counted"), 10)
  expect_identical(attr(named$counts, "counted"), attr(plain$counts, "counted"))
  expect_identical(posteriors_of(records_of(named$out)), posteriors_of(records_of(plain$out)))
  expect_ancify_error(annotate(with_fields("AC", "AN"), case$run, history = case$history,
                               samples = info_populations("x")), "format", "'AC_x'")
  expect_ancify_error(annotate(with_fields("AC", "AN"), case$run, history = case$history,
                               samples = info_populations(c("x", "y"))), "input", "give one")
})

test_that("histories, samples and projections that do not fit are errors", {
  require_htslib()
  case <- history_case(20)
  folder <- new_folder()
  refused <- function(class, ..., vcf = case$vcf, ancestral = case$run, history = case$history,
                      projected = NULL, samples = NULL) {
    expect_ancify_error(
      annotate_vcf(vcf, ancestral, file.path(folder, "out.vcf"), history = history,
                   projected = projected, samples = samples, verbose = FALSE),
      class, ...
    )
    expect_identical(content_of(folder), character())
  }
  refused("input", "coalescent_history", history = 1)
  unnamed <- case$history
  names(unnamed$splits) <- NULL
  refused("input", "no names", history = unnamed)
  refused("input", "`projected` is missing", ancestral = case$config$output_dir)
  refused("input", "`samples` needs a `history`", history = NULL, samples = "s1")
  refused("input", "no sample 'nobody'", samples = c("s1", "nobody"))
  refused("input", "no sample '\u00e9'", samples = "\u00e9")
  for (samples in list(1, character(), NA_character_, c("s1", "s1"))) {
    refused("input", "`samples`", samples = samples)
  }
  sites <- write_vcf(sub("\tGT\t.*", "", case$records))
  refused("input", "no sample 's1'", "it has none", vcf = sites, samples = "s1")
  refused("file", "near1", "keep_projected", projected = folder)
  elsewhere <- write_vcf(paste0("X", case$records), header = vcf_header(
    paste0("X", case$records), more = declare_gt
  ))
  fasta <- write_fasta(c(X1 = strrep("A", 1e5), X2 = strrep("A", 1e5)), tempfile())
  projected <- file.path(case$config$work_dir, "projected")
  refused("input", "`projected`", "no file for 'X1'", vcf = elsewhere, ancestral = fasta,
          projected = projected)
  deep <- case$history
  deep$splits[] <- c(1, 2, 3)
  many <- write_vcf(sub("GT\t.*", paste(c("GT", rep("0/1", 60)), collapse = "\t"), case$records))
  refused("input", "first split", vcf = many, history = deep)

  short <- new_folder()
  file.copy(list.files(projected, full.names = TRUE), short, recursive = TRUE)
  writeLines(c(">chr1", "ACGT"), file.path(short, "near2", "chr1.fa"))
  refused("format", "position", "beyond the end of '", projected = short)
  unlink(file.path(short, "near2", "chr1.fa"))
  refused("file", "near2", projected = short)
})

test_that("variants in memory get the same posteriors", {
  require_htslib()
  require_package("VariantAnnotation")
  case <- history_case(40)
  expected <- posteriors_of(records_of(annotate(case$vcf, case$run, history = case$history)$out))
  variants <- VariantAnnotation::readVcf(case$vcf)
  mixed <- sample(nrow(variants))
  result <- annotate_variants(
    variants[mixed, ], case$run, history = case$history, verbose = FALSE
  )
  posteriors <- do.call(rbind, as.list(VariantAnnotation::info(result)$AA_post))
  expect_equal(unname(posteriors), expected[mixed, ], tolerance = 1e-6)
  VariantAnnotation::geno(variants)$GT <- NULL
  result <- annotate_variants(variants, case$run, history = case$history, verbose = FALSE)
  bare <- write_vcf(sub("\tGT\t.*", "", case$records))
  expected <- posteriors_of(records_of(annotate(bare, case$run, history = case$history)$out))
  posteriors <- do.call(rbind, as.list(VariantAnnotation::info(result)$AA_post))
  expect_equal(unname(posteriors), expected, tolerance = 1e-6)
})
