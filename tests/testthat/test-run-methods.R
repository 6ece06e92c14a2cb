# A configuration with alignments whose focal rows are one genome, and a tree of its species.
method_config <- function(method, ...) {
  lengths <- c(chr1 = 4000, chr2 = 700)
  focal <- vapply(lengths, function(n) paste(sample(bases, n, TRUE), collapse = ""), "")
  blocks <- function() {
    unlist(lapply(names(lengths), function(name) {
      start <- sample(20, 1)
      row <- substr(focal[[name]], start, lengths[[name]] - sample(20, 1))
      letters <- strsplit(row, "")[[1]]
      changed <- stats::runif(length(letters))
      letters <- ifelse(changed < 0.1, sample(bases, length(letters), TRUE), letters)
      letters[changed > 0.95] <- "-"
      axt_block(name, start, row, paste(letters, collapse = ""))
    }))
  }
  do.call(random_config, list(
    lengths = lengths, method = method, ..., axt = as.call(list(blocks))
  ))
}

run_tree <- "(((focal:0.02,inner1:0.03):0.01,inner2:0.04):0.05,outer1:0.1);"
splits <- list(splits = c(2e5, 3e5, 1e6), sizes = 5e4, focal_size = 1e4)

# A fit to two outgroups takes a fifth of the time of one to three.
two_tree <- "((focal:0.02,inner1:0.03):0.05,outer1:0.1);"
two_splits <- replace(splits, "splits", list(c(2e5, 1e6)))

# The value of call_ancestral() for the projected sequences.
calls_in_memory <- function(case, method, ...) {
  lapply(names(case$lengths), function(name) {
    species <- vapply(case$projected, `[[`, "", name)
    call_ancestral(utils::head(species, -1), utils::tail(species, 1), method, ...)
  })
}

expect_run <- function(case, expected, posterior = FALSE) {
  folder <- case$config$output_dir
  for (i in seq_along(case$lengths)) {
    name <- names(case$lengths)[i]
    calls <- if (posterior) expected[[i]]$calls else expected[[i]]
    expect_identical(readLines(file.path(folder, paste0(name, ".fa"))), c(paste0(">", name), calls))
    if (posterior) {
      most <- apply(expected[[i]]$posterior, 1, max)
      phred <- as.integer(pmin(floor(-10 * log10(1 - most) + 0.5), 254))
      got <- read_posterior(folder, name)
      expect_identical(is.na(got), is.nan(most))
      # If 1 - most has few digits left, the core's sum of the other posteriors has more.
      sure <- !is.na(most) & most < 1 - 1e-9
      expect_lte(max(abs(got - phred)[sure]), 0)
    }
  }
}

test_that("every method gives the calls of call_ancestral(), with and without projected files", {
  set.seed(91)
  model <- substitution_model("K80", kappa = 3, alpha = 0.7)
  history <- coalescent_history(splits$splits, splits$sizes, splits$focal_size, model = model)
  fixture <- test_path("fixtures", "ml_model_nan.lgb")
  cases <- list(
    list(method_config("parsimony", tree = run_tree), tree = run_tree, focal = "focal"),
    list(method_config("parsimony", tree = "(inner1,inner2,outer1);"),
         tree = "(inner1,inner2,outer1);"),
    list(
      method_config("likelihood", tree = run_tree, substitution_model = "K80", model_kappa = 3,
                    rate_alpha = 0.7, posterior = TRUE, likelihood_high_threshold = 0.95),
      tree = run_tree, focal = "focal", model = model, posterior = TRUE, high = 0.95
    ),
    list(
      method_config("coalescent", history = splits, substitution_model = "K80", model_kappa = 3,
                    rate_alpha = 0.7, posterior = TRUE),
      history = history, posterior = TRUE
    ),
    list(
      method_config("ml", ml_model_path = fixture, posterior = TRUE, ml_high_threshold = 0.5,
                    ml_low_threshold = 0.3),
      model = fixture, posterior = TRUE, high = 0.5, low = 0.3
    )
  )
  for (arguments in cases) {
    case <- arguments[[1]]
    method <- case$config$method
    expected <- do.call(calls_in_memory, c(list(case, method), arguments[-1]))
    for (keep in c(TRUE, FALSE)) {
      case$config$keep_projected <- keep
      run <- run_quietly(case$config)
      expect_run(case, expected, isTRUE(arguments$posterior))
      expect_identical(file.exists(file.path(case$config$work_dir, "projected")), keep)
      calls <- if (isTRUE(arguments$posterior)) lapply(expected, `[[`, "calls") else expected
      counts <- vapply(calls, oracle_counts, integer(4))
      expect_equal(unname(t(as.matrix(as.data.frame(unclass(run)[rownames(counts)])))),
                   unname(counts))
      unlink(c(case$config$output_dir, case$config$work_dir), recursive = TRUE)
    }
  }
})

test_that("one tier may be empty", {
  set.seed(92)
  for (method in c("parsimony", "coalescent")) {
    case <- method_config(method, tree = run_tree, history = splits)
    case$config$outgroups <- list(
      inner = unlist(case$config$outgroups, FALSE, FALSE), outer = list()
    )
    expect_s3_class(run_quietly(case$config), "ancify_run")
  }
})

test_that("a tree without the focal species says what naming it would change", {
  set.seed(93)
  case <- method_config("parsimony", tree = "((inner1,inner2),outer1);")
  lines <- log_lines(ancify_run(case$config, progress = FALSE))
  expect_match(lines, "lacks the focal species 'focal'.*root of the outgroups' tree", all = FALSE)
  case$config$tree <- run_tree
  lines <- log_lines(ancify_run(case$config, progress = FALSE))
  expect_no_match(lines, "lacks the focal")
})

test_that("a run calls the ancestor that `node` names", {
  set.seed(96)
  named <- "(((focal:0.1,inner1:0.1)near:0.1,inner2:0.2):0.1,outer1:0.3)all;"
  for (method in c("parsimony", "likelihood")) {
    case <- method_config(method, tree = named, node = c("focal", "outer1"))
    lines <- log_lines(run <- ancify_run(case$config, progress = FALSE))
    expect_match(lines, "Calls are for the ancestor of 'focal' and 'outer1'", all = FALSE)
    of_all <- calls_in_memory(case, method, tree = named, focal = "focal", node = "all")
    expect_run(case, of_all)
    case$config$node <- "near"
    lines <- log_lines(ancify_run(case$config, progress = FALSE))
    expect_match(lines, "Calls are for the ancestor 'near'", all = FALSE)
    expect_run(case, calls_in_memory(case, method, tree = named, focal = "focal"))
  }
  # Names of nodes survive a fit.
  case <- method_config("likelihood", tree = named, node = "all", estimate = TRUE)
  run <- run_quietly(case$config)
  written <- yaml::read_yaml(file.path(case$config$output_dir, "fitted_model.yml"))
  expect_match(written$tree, ")all;", fixed = TRUE)
  expect_match(written$tree, ")near:", fixed = TRUE)
})

test_that("a node that the run cannot call is a problem of the configuration", {
  case <- method_config("parsimony", tree = run_tree, node = "none")
  expect_error(ancify_config(case$config), "`node` is 'none': no such name in `tree`",
               class = "ancify_config_error")
  case <- method_config("voting", node = "none")
  lines <- log_lines(ancify_run(case$config, progress = FALSE))
  expect_match(lines, "`node` has no effect: `method` 'voting' has no tree", all = FALSE)
})

test_that("likelihood is fitted before calling, and the log tells the fit", {
  set.seed(94)
  topology <- "(((focal,inner1),inner2),outer1);"
  case <- method_config("likelihood", tree = topology, estimate = TRUE,
                        substitution_model = "HKY85")
  case$config$keep_projected <- TRUE
  lines <- log_lines(run <- ancify_run(case$config, progress = FALSE))
  expect_match(lines, "Fitted HKY85 to 4,700 sites: log-likelihood", all = FALSE)
  fit <- attr(run, "fit")
  again <- fit_substitution_model(count_patterns(case$config), topology, "HKY85")
  expect_equal(fit$log_likelihood, again$log_likelihood)
  expect_equal(fit$tree, again$tree, tolerance = 1e-6)
  expect_run(case, calls_in_memory(
    case, "likelihood", tree = fit$tree, focal = "focal", model = fit$model
  ))
  expect_identical(list.files(case$config$output_dir),
                   c("ancify_run.json", "chr1.fa", "chr2.fa", "fitted_model.yml"))
  expect_true("focal" %in% list.files(file.path(case$config$work_dir, "projected")))

  # The written fit can be the configuration of the next run.
  path <- file.path(case$config$output_dir, "fitted_model.yml")
  written <- yaml::read_yaml(path)
  comments <- sub("^# ", "", grep("^# ", readLines(path), value = TRUE))
  figures <- yaml::yaml.load(paste(comments, collapse = "\n"))$fit
  expect_equal(figures$log_likelihood, fit$log_likelihood, tolerance = 1e-9)
  fixed <- case
  fixed$config$estimate <- FALSE
  fixed$config[names(written)] <- written
  fixed$config$output_dir <- file.path(case$folder, "fixed")
  run_quietly(fixed$config, "call")
  expect_identical(file_bytes(file.path(case$folder, "fixed", "chr1.fa")),
                   file_bytes(file.path(case$config$output_dir, "chr1.fa")))

  unlink(c(case$config$output_dir, case$config$work_dir), recursive = TRUE)
  case$config$keep_projected <- FALSE
  run_quietly(case$config)
  expect_false(file.exists(file.path(case$config$work_dir, "projected")))
  expect_identical(list.files(case$config$output_dir),
                   c("ancify_run.json", "chr1.fa", "chr2.fa", "fitted_model.yml"))
})

test_that("a run without kept projections leaves earlier projections unchanged", {
  set.seed(100)
  case <- method_config("likelihood", tree = run_tree, estimate = TRUE)
  run_quietly(case$config, "project")
  projected <- file.path(case$config$work_dir, "projected")
  writeLines("mine", file.path(projected, "focal", "chr1.fa"))
  before <- tools::md5sum(list.files(projected, recursive = TRUE, full.names = TRUE))
  case$config$keep_projected <- FALSE
  expect_untouched <- function() {
    expect_identical(list.files(case$config$work_dir, all.files = TRUE, no.. = TRUE),
                     c(".ancify", "projected"))
    after <- tools::md5sum(list.files(projected, recursive = TRUE, full.names = TRUE))
    expect_identical(after, before)
  }
  run_quietly(case$config)
  expect_untouched()
  # Alignments end in the middle of a block.
  broken <- case$config$outgroups$outer[[1]]$alignment
  writeLines(utils::head(readLines(broken), 2), broken)
  expect_error(run_quietly(case$config), class = "ancify_error")
  expect_untouched()
})

test_that("posteriors and fits of earlier calls are removed", {
  set.seed(101)
  case <- method_config("coalescent", n_inner = 1, history = two_splits, estimate = TRUE,
                        posterior = TRUE)
  run_quietly(case$config)
  folder <- case$config$output_dir
  kept <- file.path(folder, "posterior", "other.phred")
  writeLines("", kept)
  fitted <- c("fitted_history.yml", "fitted_model.yml")
  expect_true(all(c(fitted, "posterior/chr1.phred") %in% content_of(folder)))

  case$config[c("method", "tree")] <- list("likelihood", two_tree)
  run_quietly(case$config)
  expect_identical(intersect(content_of(folder), fitted), "fitted_model.yml")
  expect_length(list.files(file.path(folder, "posterior")), 3)

  case$config$estimate <- FALSE
  for (keep in c(TRUE, FALSE)) {
    case$config[c("method", "posterior")] <- list("likelihood", TRUE)
    run_quietly(case$config)
    expect_true("posterior/chr1.phred" %in% content_of(folder))
    case$config[c("method", "posterior", "keep_projected")] <- list("voting", FALSE, keep)
    run_quietly(case$config)
    left <- c("ancify_run.json", "chr1.fa", "chr2.fa", "posterior", "posterior/other.phred")
    expect_identical(content_of(folder), left)
  }
})

test_that("without the focal species in the tree, a fit does not need its bases", {
  set.seed(95)
  case <- method_config("likelihood", tree = "((inner1,inner2),outer1);", estimate = TRUE)
  run_quietly(case$config, "project")
  expect_false(dir.exists(file.path(case$config$work_dir, "projected", "focal")))
  unlink(unlist(lapply(unlist(case$config$outgroups, FALSE), `[[`, "alignment")))
  expect_s3_class(run_quietly(case$config, "call"), "ancify_run")
  case$config$tree <- run_tree
  expect_ancify_error(run_quietly(case$config, "call"), "config", "focal species' own bases")
})

test_that("a history is fitted with or without a starting history", {
  set.seed(96)
  for (history in list(NULL, two_splits)) {
    case <- method_config("coalescent", n_inner = 1, estimate = TRUE, substitution_model = "K80",
                          history = history)
    lines <- log_lines(run <- ancify_run(case$config, progress = FALSE))
    expect_match(lines, "Fitted the history", all = FALSE)
    expect_identical(any(grepl("focal_size. is not given", lines)), is.null(history))
    fitted <- attr(run, "history")
    expect_s3_class(fitted, "ancify_history")
    expect_run(case, calls_in_memory(case, "coalescent", history = fitted))
    expect_identical(list.files(case$config$output_dir),
                     c("ancify_run.json", "chr1.fa", "chr2.fa", "fitted_history.yml",
                       "fitted_model.yml"))
    written <- yaml::read_yaml(file.path(case$config$output_dir, "fitted_history.yml"))
    expect_equal(unlist(written$history$splits), fitted$splits, tolerance = 1e-8)
    expect_named(written, "history")
    case$config$history <- written$history
    expect_s3_class(ancify_config(case$config), "ancify_config")
  }
})

test_that("the log says if a method has nothing to fit", {
  set.seed(97)
  case <- method_config("voting", estimate = TRUE)
  lines <- log_lines(ancify_run(case$config, progress = FALSE))
  expect_match(lines, "'voting' has nothing to fit", all = FALSE)
})

test_that("an unusable model ends a run before any work", {
  set.seed(98)
  case <- method_config("ml", ml_model_path = tempfile())
  expect_ancify_error(run_quietly(case$config), "config", "`ml_model_path`", "no such file")
  case$config$ml_model_path <- test_path("fixtures", "ml_features.csv")
  expect_ancify_error(run_quietly(case$config), "format", "ml_features.csv")
  model <- readLines(test_path("fixtures", "ml_model_nan.lgb"))
  other <- tempfile()
  writeLines(sub("^objective=.*", "objective=binary sigmoid:1", model), other)
  case$config$ml_model_path <- other
  expect_ancify_error(run_quietly(case$config), "format", "objective")
  expect_false(file.exists(case$config$work_dir))
})

test_that("the command line calls by any method", {
  set.seed(99)
  case <- method_config("likelihood", tree = run_tree, posterior = TRUE)
  path <- file.path(case$folder, "config.yaml")
  yaml::write_yaml(case$config, path)
  expect_output(status <- run_command_line(c("run", "-c", path, "-n", "2")), "likelihood")
  expect_identical(status, 0L)
  expect_run(case, calls_in_memory(
    case, "likelihood", tree = run_tree, focal = "focal", posterior = TRUE
  ), TRUE)
})

# ---- Sites that are known to vary ------------------------------------------------------------

# Records at random positions, with genotypes, with AC and AN, without both, and such that tell
# nothing.
variants_of <- function(lengths) {
  do.call(rbind, lapply(names(lengths), function(name) {
    n <- lengths[[name]] %/% 20
    position <- sort(sample(lengths[[name]], n, replace = TRUE)) # some twice
    ref <- sample(bases, n, TRUE)
    alt <- vapply(ref, function(base) sample(setdiff(bases, base), 1), "")
    odd <- sample(n, n %/% 5)
    alt[odd] <- sample(c("AC", "<DEL>", "*", "."), length(odd), TRUE)
    genotypes <- replicate(n, paste(sample(c("0/1", "0|0", "1/1", "./1"), 4, TRUE, c(2, 5, 1, 1)),
                                    collapse = "\t"))
    format <- ifelse(stats::runif(n) < 0.5, "GT", "DP")
    genotypes[format == "DP"] <- ".\t.\t.\t."
    ac <- sample(0:12, n, TRUE)
    an <- ifelse(stats::runif(n) < 0.5, 12, NA)
    data.frame(chromosome = name, position, ref, alt, format, genotypes, ac, an)
  }))
}

# What the records tell, as call_ancestral() takes it. AC and AN are of all four samples.
known_of <- function(records, samples = 1:4) {
  records <- records[records$alt %in% bases, ]
  alleles <- lapply(strsplit(records$genotypes, "\t"), function(all) {
    unlist(strsplit(all[samples], "[/|]"))
  })
  count <- function(letters) vapply(alleles, function(x) sum(x %in% letters), 0)
  genotyped <- records$format == "GT"
  use_info <- !genotyped & !is.na(records$an) & length(samples) == 4
  known <- data.frame(
    position = records$position, alleles = paste(records$ref, records$alt, sep = "/"),
    counts = ifelse(genotyped, count("1"), ifelse(use_info, records$ac, NA)),
    n = ifelse(genotyped, count(c("0", "1")), ifelse(use_info, records$an, 20))
  )
  known <- known[is.na(known$counts) | (known$counts > 0 & known$counts < known$n), ]
  twice <- known$position[duplicated(known$position)]
  known[!known$position %in% twice, ]
}

varying_case <- function(...) {
  case <- method_config("coalescent", history = splits, posterior = TRUE, ...)
  case$records <- variants_of(case$lengths)
  info <- with(case$records, paste0("AC=", ac, ifelse(is.na(an), "", paste0(";AN=", an))))
  lines <- with(case$records, paste(
    vcf_records(sub("chr", "", chromosome), position, ref, alt, info), format, genotypes,
    sep = "\t"
  ))
  # Chromosomes that the run does not have tell nothing.
  lines <- c(lines, sub("^[^\t]*", "chr77", lines[1:3]))
  declared <- "##%s=<ID=%s,Number=%s,Type=%s,Description=\"x\">"
  more <- sprintf(
    declared, c("FORMAT", "FORMAT", "INFO", "INFO"), c("GT", "DP", "AC", "AN"),
    c("1", "1", "A", "1"), c("String", "Integer", "Integer", "Integer")
  )
  case$config$variants <- write_vcf(lines, header = vcf_header(lines, more = more))
  case
}

test_that("a run calls what is known of the sites of a VCF, and says what", {
  require_htslib()
  set.seed(95)
  case <- varying_case()
  history <- coalescent_history(splits$splits, splits$sizes, splits$focal_size)
  by_chromosome <- split(case$records, case$records$chromosome)
  call <- function(variants) {
    lapply(names(case$lengths), function(name) {
      species <- vapply(case$projected, `[[`, "", name)
      call_ancestral(species[1:2], species[3], "coalescent", history = history, posterior = TRUE,
                     variants = variants[[name]])
    })
  }
  nothing <- call(NULL)
  chosen <- tempfile()
  writeLines(c("s4", "s2"), chosen)
  for (keep in c(TRUE, FALSE)) {
    case$config$keep_projected <- keep
    case$config$variant_samples <- if (!keep) chosen
    known <- lapply(by_chromosome, known_of, samples = if (keep) 1:4 else c(2, 4))
    expected <- call(known)
    expect_false(identical(expected, nothing))
    told <- log_lines(run <- ancify_run(case$config, threads = 2, progress = FALSE))
    expect_run(case, expected, TRUE)
    counts <- vapply(lapply(expected, `[[`, "calls"), oracle_counts, integer(4))
    expect_equal(unname(t(as.matrix(as.data.frame(unclass(run)[rownames(counts)])))),
                 unname(counts))
    all <- do.call(rbind, known)
    expect_match(told, sprintf(
      "has %d sites that vary: %d with alleles and counts, %d with alleles alone", nrow(all),
      sum(!is.na(all$counts)), sum(is.na(all$counts))
    ), all = FALSE)
    unlink(case$config$output_dir, recursive = TRUE)
    unlink(case$config$work_dir, recursive = TRUE)
  }
})

test_that("calls are made again if the variants have changed", {
  require_htslib()
  set.seed(96)
  case <- varying_case()
  run_quietly(case$config)
  lines <- readLines(case$config$variants)
  expect_match(log_lines(ancify_run(case$config, progress = FALSE)),
               "Calls of .*kept from an earlier run", all = FALSE)
  writeLines(utils::head(lines, -5), case$config$variants)
  expect_match(log_lines(ancify_run(case$config, progress = FALSE)), "Called chr1", all = FALSE)
  case$config$variant_samples <- tempfile()
  for (samples in list("s1", c("s1", "s3"))) {
    writeLines(samples, case$config$variant_samples)
    expect_match(log_lines(ancify_run(case$config, progress = FALSE)), "Called chr1", all = FALSE)
  }
})

test_that("a method that does not use variants says so", {
  case <- method_config("voting")
  case$config$variants <- tempfile()
  expect_match(log_lines(ancify_run(case$config, progress = FALSE)),
               "`variants` has no effect: `method` 'voting'", all = FALSE)
})

test_that("variants that cannot be used are errors before any work", {
  require_htslib()
  set.seed(97)
  case <- varying_case()
  refused <- function(path, class, ...) {
    case$config$variants <- path
    expect_ancify_error(run_quietly(case$config), class, ...)
    expect_false(file.exists(file.path(case$config$output_dir, "chr1.fa")))
  }
  records <- function(...) write_vcf(vcf_records(...))
  refused(tempfile(), "config", "`variants`", "no such file")
  refused(records("chr9", 5, "A", "G"), "config", "`variants` is", "no chromosome of the run")
  refused(records("chr2", 701, "A", "G"), "input", "position 701 of 'chr2', which has 700 bases")
  refused(records("chr2", c(5, 4), "A", "G"), "format", "sort the file")
  declared <- sprintf("##INFO=<ID=%s,Number=1,Type=Integer,Description=\"x\">", c("AC", "AN"))
  counted <- function(info) {
    lines <- vcf_records("chr2", 5, "A", "G", info)
    write_vcf(lines, header = vcf_header(lines, more = declared))
  }
  refused(counted("AC=9;AN=8"), "format", "line 6", "AC is 9, but AN is 8")
  refused(counted("AC=9;AN=x"), "format", "line 6", "AN is 'x'")
  refused(counted("AC=9;AN=1000001"), "input", "an AN of 1000001", "remove AN")
  case$config$variant_samples <- tempfile()
  refused(case$config$variants, "config", "`variant_samples`", "no such file")
  writeLines(c("s1", "you"), case$config$variant_samples)
  refused(case$config$variants, "input", "no sample 'you'; it has 's1'")
  refused(NULL, "config", "`variants` is not: name the VCF")
})

test_that("variants are counted as in a plain table of the records", {
  require_htslib()
  set.seed(94)
  case <- varying_case()
  run_quietly(case$config, "project")
  species <- c("inner1", "inner2", "outer1")
  for (samples in list(1:4, c(2, 4))) {
    records <- lapply(split(case$records, case$records$chromosome), function(records) {
      known <- known_of(records, samples)
      chromosome <- records$chromosome[1]
      sequences <- vapply(case$projected, `[[`, "", chromosome)[species]
      columns <- lapply(toupper(sequences), substring, known$position, known$position)
      known$pattern <- gsub("[^ACGT]", "N", do.call(paste0, columns))
      known$chromosome <- rep(chromosome, nrow(known))
      known[!is.na(known$counts) & known$pattern != "NNN", ]
    })
    keys <- with(do.call(rbind, records), paste(chromosome, pattern, alleles, counts, n))
    counted <- count_variants(case$config, samples = if (length(samples) < 4) c("s2", "s4"))
    expect_identical(attr(counted, "species"), species)
    kinds <- with(counted, paste(chromosome, pattern, alleles, counts, n))
    found <- stats::setNames(counted$sites, kinds)
    expect_equal(found[order(names(found))], c(table(keys))[sort(unique(keys))])
  }
  expect_output(print(counted), "<ancify_variant_counts> [0-9]+ sites, [0-9] to 4 haplotypes")
  case$config$variants <- NULL
  expect_ancify_error(count_variants(case$config), "input", "There is no VCF")
  lines <- c(vcf_records("chr1", 5, "A", "G"), vcf_records("chr9", 5, "A", "G"))
  expect_ancify_error(
    count_variants(case$config, write_vcf(lines)), "input", "no record to count: 1 are on"
  )
})

test_that("a run fits its history to the counts of its variants", {
  require_htslib()
  set.seed(93)
  case <- method_config("coalescent", n_inner = 1, estimate = TRUE, substitution_model = "JC69")
  run_quietly(case$config, "project")
  count_patterns(case$config, threads = 1, progress = FALSE) # writes the focal sequences
  focal <- readLines(file.path(case$config$work_dir, "projected", "focal", "chr1.fa"))[2]
  position <- seq(30, 3900, by = 40)
  ref <- substring(toupper(focal), position, position)
  alt <- bases[match(ref, bases) %% 4 + 1]
  genotypes <- paste(sample(c("0|1", "1|1"), length(ref), TRUE, c(4, 1)), "0|0", "0|0", sep = "\t")
  lines <- paste(vcf_records("chr1", position, ref, alt), "GT", genotypes, sep = "\t")
  case$config$variants <- write_vcf(lines)
  case$config$history <- list(called = 0.9)
  told <- log_lines(suppressWarnings(
    run <- ancify_run(case$config, "call", progress = FALSE), classes = "ancify_fit_warning"
  ))
  expect_match(told, "fitted to bases of the outgroups, and allele counts of [0-9]+ variants in 6",
               all = FALSE)
  expect_length(attr(run, "history")$focal_size, 3)
  written <- yaml::read_yaml(file.path(case$config$output_dir, "fitted_history.yml"))
  expect_equal(written$history$focal_size, attr(run, "history")$focal_size, tolerance = 1e-8)
  case$config$history <- written$history
  expect_s3_class(ancify_config(case$config), "ancify_config")
})

test_that("variants may be a file for each chromosome", {
  require_htslib()
  set.seed(98)
  case <- varying_case()
  called <- function() {
    lapply(file.path(case$config$output_dir, c("chr1.fa", "chr2.fa")), readLines)
  }
  run_quietly(case$config)
  expected <- called()
  counted <- count_variants(case$config)

  lines <- readLines(case$config$variants)
  header <- startsWith(lines, "#")
  folder <- new_folder()
  for (id in c("1", "2")) {
    writeLines(
      c(lines[header], grep(paste0("^", id, "\t"), lines, value = TRUE)),
      file.path(folder, paste0("sites.", id, ".vcf"))
    )
  }
  case$config$variants <- file.path(folder, "sites.{chrom_id}.vcf")
  case$config$output_dir <- new_folder()
  run_quietly(case$config)
  expect_identical(called(), expected)
  expect_equal(count_variants(case$config), counted)

  # One of them changes, or lacks
  file <- file.path(folder, "sites.2.vcf")
  writeLines(utils::head(readLines(file), -2), file)
  expect_match(log_lines(ancify_run(case$config, progress = FALSE)), "Called chr2", all = FALSE)
  unlink(file)
  log <- log_lines(ancify_run(case$config, progress = FALSE))
  expect_match(log, "`variants` has no file for 'chr2'", all = FALSE)
  expect_match(log, "Called chr2", all = FALSE)
  refused <- function(path, text) {
    case$config$variants <- path
    expect_ancify_error(run_quietly(case$config), "config", text)
  }
  refused(file.path(folder, "sites.{chrom}.bcf"), "no file for 'chr1' and 'chr2'")
  expect_ancify_error(
    count_variants(case$config, file.path(folder, "sites.{chrom}.bcf")), "input",
    "`vcf` is", "no file for 'chr1' and 'chr2'"
  )
  file.copy(file.path(folder, "sites.1.vcf"), file, overwrite = TRUE)
  case$config$variants <- file.path(folder, "sites.{chrom_id}.vcf")
  expect_ancify_error(run_quietly(case$config), "input", "give each chromosome's records in one")
})
