# A folder with the files that a configuration needs.
config_folder <- function() {
  folder <- tempfile("config")
  dir.create(folder)
  writeLines(c("chr1\t100\t7", "chr2\t50\t8", "chrX\t10\t9"), file.path(folder, "chrom.sizes"))
  file.create(file.path(folder, c("a.axt", "b.axt", "c.axt.gz")))
  folder
}

config_list <- function(folder, ...) {
  config <- list(
    focal_species = "focal",
    chromosome_lengths = file.path(folder, "chrom.sizes"),
    outgroups = list(
      inner = list(
        list(name = "a", alignment = file.path(folder, "a.axt")),
        list(name = "b", alignment = file.path(folder, "b.axt"))
      ),
      outer = list(list(name = "c", alignment = file.path(folder, "c.axt.gz")))
    )
  )
  changes <- list(...)
  config[names(changes)] <- changes
  config
}

config_yaml <- function(folder, ..., species = c("a", "b", "c"), lengths = "chrom.sizes") {
  path <- file.path(folder, "config.yaml")
  writeLines(c(
    "focal_species: focal",
    paste("chromosome_lengths:", lengths),
    "outgroups:",
    "  inner:",
    sprintf("    - {name: %s, alignment: a.axt}", species[1]),
    sprintf("    - {name: %s, alignment: b.axt}", species[2]),
    "  outer:",
    sprintf("    - {name: %s, alignment: c.axt.gz}", species[3]),
    ...
  ), path)
  path
}

problems_of <- function(config) {
  condition <- expect_error(ancify_config(config), class = "ancify_config_error")
  for (problem in condition$problems) {
    expect_match(conditionMessage(condition), problem, fixed = TRUE)
  }
  condition$problems
}

# One problem, which says all of these.
expect_problem <- function(config, ...) {
  problems <- problems_of(config)
  expect_length(problems, 1)
  for (text in c(...)) expect_match(problems, text, fixed = TRUE)
}

test_that("defaults are filled in", {
  folder <- config_folder()
  config <- ancify_config(config_list(folder))
  expect_s3_class(config, "ancify_config")
  expect_identical(config$work_dir, ".")
  expect_identical(config$output_dir, "./ancestral_calls")
  expect_identical(config$min_inner_freq, 1L)
  expect_identical(config$num_cpus, 4L)
  expect_identical(config$backend, "auto")
  expect_identical(config$method, "voting")
  expect_identical(config$model_base_freqs, c(A = 0.25, C = 0.25, G = 0.25, T = 0.25))
  expect_identical(config$on_bad_block, "error")
  expect_identical(config$keep_projected, "auto")
  expect_false(config$posterior)
  nulls <- c(
    "tree", "chromosomes", "gpu_devices", "evaluation", "history", "cluster", "focal_fasta", "file"
  )
  expect_true(all(nulls %in% names(config)))
  expect_true(all(vapply(config[nulls], is.null, NA)))
  expect_identical(config$lengths, c(chr1 = 100, chr2 = 50, chrX = 10))
  expect_identical(config$notes, character())
  expect_identical(config$outgroups, data.frame(
    name = c("a", "b", "c"), tier = c("inner", "inner", "outer"),
    alignment = file.path(folder, c("a.axt", "b.axt", "c.axt.gz")),
    maf_name = NA_character_, twobit = NA_character_
  ))
})

test_that("a file and a list with the same keys give the same", {
  folder <- config_folder()
  dir.create(file.path(folder, "vcf"))
  path <- config_yaml(
    folder,
    "chromosomes: [chrX, chr1]", "min_inner_freq: 2", "num_cpus: 3", "gpu_devices: [0, 2]",
    "keep_projected: no", "model_base_freqs: [0.3, 0.2, 0.2, 0.3]", "rate_alpha: 5e-1",
    "on_bad_block: skip", "evaluation:", "  vcf_dir: vcf",
    "history: {splits: [1e5, 2e5], sizes: [1000, 2000], focal_size: 10000, focal_lineages: 4}",
    "cluster: {time: 04:00:00, cpus: 2}", "tree:"
  )
  from_list <- with_folder(folder, ancify_config(config_list(
    folder,
    chromosomes = c("chrX", "chr1"), min_inner_freq = 2, num_cpus = 3L, gpu_devices = c(0, 2),
    keep_projected = FALSE, model_base_freqs = c(0.3, 0.2, 0.2, 0.3), rate_alpha = 0.5,
    on_bad_block = "skip", evaluation = list(vcf_dir = "vcf"),
    history = list(
      splits = c(1e5, 2e5), sizes = c(1000, 2000), focal_size = 10000, focal_lineages = 4
    ),
    cluster = list(time = "04:00:00", cpus = 2), tree = NULL
  )))
  from_file <- with_folder(folder, ancify_config("config.yaml"))
  expect_identical(from_file$file, "config.yaml")
  from_file["file"] <- list(NULL)
  expect_identical(from_file, from_list)
  expect_identical(from_file$lengths, c(chrX = 10, chr1 = 100))
  expect_identical(from_file$evaluation$vcf_pattern, "{chrom}.vcf.gz")
  expect_identical(from_file$cluster$time, "04:00:00")
})

test_that("names stay as they are written", {
  folder <- config_folder()
  names <- c("2L", "4", "X", "Y", "01", "1e5", "1:20", "0x1F", "null", "2001-01-01", "~", ".nan")
  writeLines(paste(names, seq_along(names)), file.path(folder, "chrom.sizes"))
  config <- ancify_config(config_yaml(
    folder, sprintf("chromosomes: [%s]", paste(names, collapse = ", ")),
    species = c("NO", "010", "'on'")
  ))
  expect_identical(names(config$lengths), names)
  expect_identical(config$outgroups$name, c("NO", "010", "on"))
})

test_that("chromosomes may be numbers in a list", {
  folder <- config_folder()
  writeLines(c("4 10", "100000 20"), file.path(folder, "chrom.sizes"))
  config <- ancify_config(config_list(folder, chromosomes = c(1e5, 4)))
  expect_identical(config$lengths, c(`100000` = 20, `4` = 10))
})

test_that("relative inputs are looked for here, then beside the file", {
  folder <- config_folder()
  path <- config_yaml(folder)
  here <- with_folder(folder, ancify_config("config.yaml"))
  expect_identical(here$notes, character())
  expect_identical(basename(here$outgroups$alignment), c("a.axt", "b.axt", "c.axt.gz"))
  expect_true(all(file.exists(here$outgroups$alignment)))

  beside <- ancify_config(path)
  expect_length(beside$notes, 1)
  expect_match(beside$notes, "beside the configuration file: 'chrom.sizes', 'a.axt'", fixed = TRUE)
  expect_identical(beside$outgroups$alignment[1], file.path(folder, "a.axt"))
  expect_identical(beside$output_dir, "./ancestral_calls")

  # Of two files the one in the working directory is meant.
  other <- config_folder()
  mixed <- with_folder(other, ancify_config(path))
  expect_identical(mixed$notes, character())
  expect_identical(
    normalizePath(mixed$outgroups$alignment[1]), normalizePath(file.path(other, "a.axt"))
  )
})

test_that("unknown keys are named with the nearest known one", {
  folder <- config_folder()
  expect_problem(config_list(folder, min_iner_freq = 2), "`min_iner_freq`", "`min_inner_freq`?")
  expect_problem(config_list(folder, frobnicate = 2), "`frobnicate`", "focal_species, ")
  expect_problem(
    config_list(folder, evaluation = list(vfc_dir = folder)),
    "`evaluation.vfc_dir`", "`evaluation.vcf_dir`?"
  )
  expect_problem(config_list(folder, history = list(split = 1)), "`history.splits`?")
  expect_problem(config_list(folder, cluster = list(cpu = 1)), "`cluster.cpus`?")
  config <- config_list(folder)
  config$outgroups$inner[[2]]$alignmnt <- "x"
  expect_problem(config, "`outgroups.inner[2].alignmnt`", "`outgroups.inner[2].alignment`?")
  config <- config_list(folder)
  config$outgroups$iner <- list()
  expect_problem(config, "`outgroups.iner`", "`outgroups.inner`?")
})

test_that("what is required is asked for", {
  folder <- config_folder()
  problems <- problems_of(list(num_cpus = 2))
  expect_length(problems, 3)
  expect_match(problems[1], "`focal_species` is missing", fixed = TRUE)
  expect_match(problems[2], "`chromosome_lengths` is missing", fixed = TRUE)
  expect_match(problems[3], "`outgroups` is missing", fixed = TRUE)
  config <- config_list(folder)
  config$outgroups$outer[[1]]$alignment <- NULL
  expect_problem(config, "`outgroups.outer[1].alignment` is missing")
})

test_that("values of a wrong type or range are named", {
  folder <- config_folder()
  wrong <- list(
    list("focal_species", c("a", "b"), "['a', 'b']"),
    list("focal_species", TRUE, "TRUE"),
    list("work_dir", 3 < 4, "TRUE"),
    list("outgroups", "a", "'a'", "inner and outer"),
    list("min_inner_freq", 0, "0", "at least 1"),
    list("min_outer_freq", -2, "-2", "at least 1"),
    list("min_outer_freq", 1.5, "1.5", "whole number"),
    list("num_cpus", "many", "'many'", "whole number"),
    list("num_cpus", 0, "0", "from 1 to 4,096"),
    list("num_cpus", 5000, "5000", "from 1 to 4,096"),
    list("history", list(focal_lineages = 20000), "20000", "from 1 to 10,000"),
    list("num_cpus", NA, "NA"),
    list("backend", "cuda", "'cuda'", "auto, cpu and gpu"),
    list("gpu_devices", c(0, 0), "[0, 0]", "null for all"),
    list("gpu_devices", -1, "-1"),
    list("gpu_memory", 0, "0", "above 0"),
    list("method", "vote", "'vote'", "voting, parsimony, likelihood, ml and coalescent"),
    list("method", "likelyhood", "'likelyhood'", "did you mean 'likelihood'?"),
    list("substitution_model", "HKY", "'HKY'", "JC69, K80, HKY85 and GTR"),
    list("model_kappa", 0, "0", "above 0"),
    list("model_kappa", Inf, "Inf"),
    list("model_rates", 1:5, "[1, 2, 3, 4, 5]", "6 numbers", "AC, AG, AT, CG, CT and GT"),
    list("model_rates", list(a = 1), "a mapping (a)"),
    list("model_base_freqs", c(U = 0.1, C = 0.2, G = 0.3, A = 0.4), "A, C, G and T"),
    list("model_base_freqs", c(0.1, 0.2, 0.3, 0.38), "they sum to 0.98"),
    list("model_base_freqs", c(0, 0.2, 0.4, 0.4), "above 0"),
    list("likelihood_high_threshold", 1.1, "1.1", "from 0 to 1"),
    list("ml_low_threshold", -0.1, "-0.1", "from 0 to 1"),
    list("ml_low_threshold", 0.9, "0.9", "`ml_high_threshold`, 0.8"),
    list("likelihood_high_threshold", 0.4, "`likelihood_low_threshold` is 0.5", "0.4"),
    list("on_bad_block", "warn", "'warn'", "error and skip"),
    list("keep_projected", "maybe", "'maybe'", "give auto, true or false"),
    list("estimate", 1, "1", "true or false"),
    list("rate_alpha", -1, "-1", "above 0"),
    list("n_rates", 0, "0", "from 1 to 100"),
    list("rate_alpha", 1e300, "1e+300", "up to 10,000"),
    list("invariant", 2, "2", "from 0 to below 1"),
    list("invariant", 1, "1", "from 0 to below 1"),
    list("history", 4, "4", "splits, sizes, into, focal_size, focal_times"),
    list("cluster", "slurm", "'slurm'"),
    list("cluster", list(partition = "a; rm b"), "partition", "'a; rm b'", "main,long"),
    list("cluster", list(time = "four hours"), "time", "04:00:00"),
    list("cluster", list(time = "1:2:3:4"), "time"),
    list("cluster", list(memory = "8 GB"), "memory", "8G"),
    list("cluster", list(memory = "lots"), "memory"),
    list("cluster", list(cpus = 0), "cpus"),
    list("evaluation", list("x"), "'x'"),
    list("chromosomes", list(list(1)), "one name"),
    list("chromosomes", c(TRUE, FALSE), "one name"),
    list("chromosomes", character(), "leave the key out")
  )
  for (case in wrong) {
    config <- config_list(folder)
    config[case[[1]]] <- case[2]
    expect_problem(config, paste0("`", case[[1]]), unlist(case[-(1:2)]))
  }
})

test_that("files that are missing or no files are named", {
  folder <- config_folder()
  gone <- file.path(folder, "gone")
  expect_problem(config_list(folder, chromosome_lengths = gone), "`chromosome_lengths`", gone)
  expect_problem(config_list(folder, focal_fasta = gone), "`focal_fasta`", gone)
  expect_problem(config_list(folder, evaluation = list(vcf_dir = gone)), "vcf_dir`", gone)
  file <- file.path(folder, "a.axt")
  expect_problem(config_list(folder, evaluation = list(vcf_dir = file)), "a folder is needed")
  expect_problem(config_list(folder, ml_training_reference = gone), "`ml_training_reference`")
  # Training is to write it.
  expect_silent(ancify_config(config_list(folder, ml_model_path = gone)))
  config <- config_list(folder)
  config$outgroups$inner[[1]]$alignment <- gone
  expect_problem(config, "`outgroups.inner: a`", gone, "no such file")
  config$outgroups$inner[[1]]$alignment <- folder
  expect_problem(config, "`outgroups.inner: a`", folder, "a file is needed")
})

test_that("a file that may not be read is named", {
  skip_if(file.access("/root", 2) == 0, "root may read all files")
  folder <- config_folder()
  Sys.chmod(file.path(folder, "a.axt"), "000")
  expect_problem(config_list(folder), "cannot be read")
})

test_that("faults of the lengths file are reported among the others", {
  folder <- config_folder()
  writeLines(c("chr1\t100", "chr2\tmany"), file.path(folder, "chrom.sizes"))
  problems <- problems_of(config_list(folder, num_cpus = 0))
  expect_length(problems, 2)
  expect_match(problems[2], "`chromosome_lengths`: .*chrom.sizes.*2.*many")
})

test_that("chromosomes must be in the lengths file, once, and name a file", {
  folder <- config_folder()
  expect_problem(config_list(folder, chromosomes = c("chr1", "1")), "no '1' in", "'chr1', 'chr2'")
  expect_problem(config_list(folder, chromosomes = c("chr1", "chr1")), "'chr1'", "twice")
  for (name in c("../chr1", "..", ".", "")) {
    expect_problem(config_list(folder, chromosomes = c("chr1", name)), paste0("'", name, "'"))
  }
  write("a/b\t10", file.path(folder, "chrom.sizes"), append = TRUE)
  expect_problem(config_list(folder), "'a/b'", "chrom.sizes")
})

test_that("species keep to their folder and are named once", {
  folder <- config_folder()
  for (name in c("../a", "..", ".", "")) {
    config <- config_list(folder)
    config$outgroups$inner[[1]]$name <- name
    expect_problem(config, "`outgroups.inner[1].name`", paste0("'", name, "'"))
  }
  config <- config_list(folder)
  config$outgroups$inner[[2]]$name <- "a"
  expect_problem(config, "`outgroups.inner`", "'a'", "twice")
  config <- config_list(folder)
  config$outgroups$outer[[1]]$name <- "a"
  expect_problem(config, "`outgroups.inner` and `outgroups.outer`", "'a'")
  expect_problem(config_list(folder, focal_species = "c"), "'c'", "focal species")
})

test_that("voting and ml need both tiers, the others one", {
  folder <- config_folder()
  config <- config_list(folder)
  config$outgroups$outer <- list()
  expect_problem(config, "`outgroups.outer` is empty", "'voting'")
  config$outgroups$outer <- NULL
  config$method <- "ml"
  expect_problem(config, "`outgroups.outer` is empty", "'ml'")
  config$method <- "coalescent"
  config$history <- list(splits = c(1e5, 2e5), sizes = 1e4)
  expect_identical(ancify_config(config)$outgroups$name, c("a", "b"))
  config$outgroups$inner <- list()
  expect_problem(config, "names no species")
  config$outgroups$inner <- "a"
  expect_problem(config, "`outgroups.inner` is 'a'", "`name` and `alignment`")
})

test_that("base frequencies nearly summing to 1 are scaled, and that is noted", {
  folder <- config_folder()
  config <- ancify_config(config_list(folder, model_base_freqs = c(0.3, 0.2, 0.2, 0.295)))
  expect_equal(sum(config$model_base_freqs), 1)
  expect_match(config$notes, "`model_base_freqs` sum to 0.995 and were scaled", fixed = TRUE)
  exact <- ancify_config(config_list(folder, model_base_freqs = c(0.3, 0.2, 0.2, 0.3)))
  expect_identical(exact$notes, character())
})

test_that("the tree's leaves are the outgroups", {
  folder <- config_folder()
  tree <- "((a:1,b:1):1,c:2);"
  expect_identical(ancify_config(config_list(folder, tree = tree))$tree, tree)
  expect_silent(ancify_config(config_list(folder, tree = "(((focal,a),b),'c');")))
  expect_problem(config_list(folder, tree = "((a,b),d,c);"), "`tree`: 'd'", "neither")
  expect_problem(config_list(folder, tree = "(a,b);"), "`tree`: 'c'", "no leaf")
  expect_problem(config_list(folder, tree = "((a,a),b,c);"), "'a'", "twice")
  expect_problem(config_list(folder, tree = "((a,b),c"), "'((a,b),c'", "Newick")
  expect_problem(config_list(folder, tree = "(a,b);(b,c);"), "one tree", "at character 7")
  expect_problem(config_list(folder, tree = "((a,b:-1),c);"), "'b' has the length -1")
  likelihood <- function(tree, ...) config_list(folder, method = "likelihood", tree = tree, ...)
  expect_problem(likelihood("((a,b:1):1,c:1);"), "lacks some or all branch lengths")
  expect_silent(ancify_config(likelihood("((a,b),c);", estimate = TRUE)))
  expect_problem(config_list(folder, tree = "gone.nwk"), "'gone.nwk'", "no such file")
  expect_problem(config_list(folder, method = "parsimony"), "`tree` is missing", "'parsimony'")
  expect_problem(config_list(folder, method = "likelihood"), "`tree` is missing", "'likelihood'")

  writeLines(c("((a,", "b),c);"), file.path(folder, "tree.nwk"))
  config <- ancify_config(config_yaml(folder, "tree: tree.nwk", "method: parsimony"))
  expect_identical(config$tree, "((a,b),c);")
})

test_that("more outgroups than the coalescent takes are refused before any file is read", {
  folder <- config_folder()
  of_outgroups <- function(n) {
    outgroups <- lapply(letters[seq_len(n)], function(name) {
      path <- file.path(folder, paste0(name, ".axt"))
      file.create(path)
      list(name = name, alignment = path)
    })
    outgroups <- list(inner = outgroups[1:2], outer = outgroups[-(1:2)])
    config_list(folder, method = "coalescent", outgroups = outgroups, estimate = TRUE)
  }
  most <- core_limits()$coalescent_outgroups
  expect_s3_class(ancify_config(of_outgroups(most)), "ancify_config")
  expect_problem(of_outgroups(most + 1), sprintf("at most %d outgroups, not %d", most, most + 1),
                 "choose likelihood")
  from <- as.list(stats::setNames(rep("none.axt", most + 1), letters[seq_len(most + 1)]))
  expect_ancify_error(
    polarise("none.vcf", from, tempfile(fileext = ".vcf"), method = "coalescent"), "input",
    "choose likelihood"
  )
})

test_that("a history fits the outgroups", {
  folder <- config_folder()
  coalescent <- function(..., estimate = FALSE) {
    config_list(folder, method = "coalescent", history = list(...), estimate = estimate)
  }
  expect_problem(config_list(folder, method = "coalescent"), "`history` is missing", "estimate")
  expect_problem(coalescent(splits = 1:3), "`history.sizes` is missing")
  expect_problem(coalescent(sizes = 1:3), "`history.splits` is missing")
  expect_problem(coalescent(splits = 1:2, sizes = 1), "`splits` has 2 numbers", "3 outgroups")
  expect_problem(coalescent(splits = 1:3, sizes = 1:2), "`sizes` has 2 numbers")
  expect_problem(coalescent(splits = c(1, -2, 3), sizes = 1), "`history.splits`", "above 0")
  expect_problem(coalescent(splits = 1:3, sizes = 1, mutation_rate = 0), "mutation_rate")
  named <- coalescent(splits = c(c = 3e5, a = 1e5, b = 2e5), sizes = 1e4, mutation_rate = 2e-8)
  history <- suppressMessages(config_history(ancify_config(named)))
  expect_identical(history$splits, c(a = 1e5, b = 2e5, c = 3e5))
  expect_identical(history$mutation_rate, 2e-8)
  named$history$into <- list(c = 0, a = "b", b = "0")
  history <- suppressMessages(config_history(ancify_config(named)))
  expect_identical(history$into, c(2L, 0L, 0L))
  named$history$into <- list(c = 0, a = "x", b = "0")
  expect_problem(named, "`into` has 'x'")
  named$history["into"] <- list(list(c("a", "b")))
  expect_problem(named, "`history.into`", "an outgroup's name, or 0")
  named$history$into <- NULL
  named$history$splits <- c(c = 3e5, a = 1e5, x = 2e5)
  expect_problem(named, "`splits` names 'c', 'a' and 'x'")
  expect_silent(ancify_config(coalescent(focal_size = 1e4, estimate = TRUE)))
})

test_that("posteriors are of methods that have them", {
  folder <- config_folder()
  expect_problem(config_list(folder, posterior = TRUE), "`posterior`", "'voting' has none")
  expect_problem(
    config_list(folder, posterior = TRUE, method = "parsimony", tree = "((a,b),c);"), "'parsimony'"
  )
  expect_silent(ancify_config(config_list(folder, posterior = TRUE, method = "ml")))
})

test_that("all problems come at once, with the file", {
  folder <- config_folder()
  path <- config_yaml(
    folder, "num_cpus: 0", "metod: voting", "backend: tpu", "chromosomes: [chr9]",
    "evaluation: {vcf_dir: nowhere}"
  )
  condition <- expect_error(ancify_config(path), class = "ancify_config_error")
  expect_identical(condition$file, path)
  expect_length(condition$problems, 5)
  expect_match(conditionMessage(condition), "config.yaml' has 5 problems", fixed = TRUE)
})

test_that("text that is no YAML, or has a key twice, is an error of the file", {
  folder <- config_folder()
  path <- config_yaml(folder, "chromosomes: [chr1", "num_cpus: 2")
  condition <- expect_error(ancify_config(path), class = "ancify_config_error")
  expect_identical(condition$file, path)
  expect_identical(condition$line, 10L)
  expect_match(condition$problems, "YAML")

  path <- config_yaml(folder, "num_cpus: 2", "num_cpus: 3")
  condition <- expect_error(ancify_config(path), class = "ancify_config_error")
  expect_match(condition$problems, "num_cpus")
  expect_error(ancify_config(config_yaml(folder, "*x : 2")), class = "ancify_config_error")

  writeLines("just text", path)
  expect_error(ancify_config(path), "no keys", class = "ancify_config_error")
  file.create(path)
  expect_error(ancify_config(path), "no keys", class = "ancify_config_error")
})

test_that("YAML as others write it is read: BOM, CR LF, UTF-8, nulls, merges", {
  folder <- config_folder()
  path <- config_yaml(folder, "# h\u00f8nse", "tree: ~", "chromosomes:", "gpu_devices: null")
  lines <- readLines(path)
  lines[1] <- "focal_species: h\u00f8ne"
  bytes <- charToRaw(enc2utf8(paste0(lines, collapse = "\r\n")))
  writeBin(c(as.raw(c(0xef, 0xbb, 0xbf)), bytes), path)
  config <- ancify_config(path)
  expect_identical(config$focal_species, "h\u00f8ne")
  expect_null(config$tree)
  expect_identical(names(config$lengths), c("chr1", "chr2", "chrX"))
})

test_that("a configuration file that can't be read is an error of that file", {
  folder <- config_folder()
  gone <- file.path(folder, "gone.yaml")
  condition <- expect_error(ancify_config(gone), "ancify_init", class = "ancify_file_error")
  expect_identical(condition$file, gone)
  expect_error(ancify_config(folder), "folder", class = "ancify_file_error")
  writeBin(as.raw(0:9), gone)
  expect_error(ancify_config(gone), "text", class = "ancify_file_error")
  writeBin(as.raw(c(0x61, 0xe6, 0x0a)), gone)
  expect_error(ancify_config(gone), "UTF-8", class = "ancify_file_error")
})

test_that("what is no configuration is refused", {
  for (config in list(NULL, 3, c("a", "b"), NA_character_, "", list(), list(1, 2), mean)) {
    expect_error(ancify_config(config), class = "ancify_input_error")
  }
})

test_that("a configuration is checked again, as far as the phases need it", {
  folder <- config_folder()
  config <- ancify_config(config_yaml(folder, "model_base_freqs: [0.3, 0.2, 0.2, 0.295]"))
  expect_identical(ancify_config(config), config)
  changed <- config
  changed$num_cpus <- 0
  expect_problem(changed, "`num_cpus` is 0")
  changed <- config
  changed$num_cpu <- 2
  expect_problem(changed, "`num_cpu`", "`num_cpus`?")

  unlink(file.path(folder, "a.axt"))
  expect_problem(config, "`outgroups.inner: a`", "no such file")
  expect_identical(read_config(config, "call"), config)
  with_folder(folder, expect_silent(read_config("config.yaml", "call")))
})

test_that("known keys are listed once", {
  folder <- config_folder()
  condition <- expect_ancify_error(
    ancify_config(config_list(folder, wxyz = 1, zyxw = 2)), "config", "wxyz", "zyxw"
  )
  expect_length(grep("settings here", condition$problems, fixed = TRUE), 1)
})

test_that("projections that are not kept are not made alone", {
  folder <- config_folder()
  refused <- function(..., phases = c("project", "call", "evaluate")) {
    refuse_unkept_alone(ancify_config(config_list(folder, ...)), phases)
  }
  expect_null(refused())
  expect_null(refused(keep_projected = FALSE))
  condition <- expect_ancify_error(
    refused(keep_projected = FALSE, phases = "project"), "config", "`keep_projected: true`", "call"
  )
  expect_match(condition$problems, "`keep_projected: false`", fixed = TRUE)
  expect_null(refused(keep_projected = FALSE, phases = "evaluate"))
})

test_that("a configuration prints within 80 columns", {
  folder <- config_folder()
  config <- ancify_config(config_yaml(
    folder, "on_bad_block: skip", "rate_alpha: 0.5",
    paste0("output_dir: /", strrep("long/", 30), "end")
  ))
  lines <- capture.output(shown <- withVisible(print(config)))
  expect_false(shown$visible)
  expect_identical(shown$value, config)
  expect_true(all(nchar(lines) <= 80))
  expect_match(lines, "chr1, chr2 and chrX (160 bases)", fixed = TRUE, all = FALSE)
  expect_match(lines, "also set +on_bad_block, rate_alpha", all = FALSE)
  expect_match(lines, "^  outer +c .*axt.gz$", all = FALSE)
  expect_match(lines, "Found beside", all = FALSE)
})

test_that("an alignment under two names, and outputs among the inputs, are problems", {
  folder <- config_folder()
  config <- config_list(folder, work_dir = file.path(folder, "w"))
  config$outgroups$outer[[1]]$alignment <- config$outgroups$inner[[1]]$alignment
  expect_problem(config, "have the same alignment")
  config <- config_list(folder, work_dir = folder)
  config$output_dir <- file.path(folder, "projected", "near")
  expect_problem(config, "inside the folder of projected sequences")
  # A genome of a file a chromosome, by another name of its folder.
  config <- config_list(folder, work_dir = file.path(folder, "w"), chromosomes = "chr1")
  config$focal_fasta <- file.path(folder, "chr1.fa")
  writeLines(c(">chr1", "ACGT"), config$focal_fasta)
  config$output_dir <- file.path(folder, ".")
  expect_problem(config, "chr1.fa', where a run would write")
})

test_that("an edited configuration is checked like a new one", {
  config <- ancify_example(tempfile())
  config$outgroups$tier[2] <- "Inner"
  expect_error(ancify_config(config), "tier", class = "ancify_config_error")
  config$outgroups <- NULL
  expect_error(ancify_config(config), "outgroups", class = "ancify_config_error")
})

test_that("a second YAML document is a problem", {
  path <- tempfile(fileext = ".yaml")
  writeLines(c("---", "focal_species: a", "---", "focal_species: b"), path)
  expect_error(ancify_config(path), "second document begins at line 3",
               class = "ancify_config_error")
})

test_that("a second document of YAML, and lists of lengths within lists, are refused", {
  folder <- config_folder()
  path <- config_yaml(folder, "# ---", "num_cpus: 2", "---", "num_cpus: 3")
  expect_ancify_error(ancify_config(path), "config", "second document begins")
  expect_no_error(ancify_config(config_yaml(folder, "num_cpus: 2", "---", "# nothing")))
  lines <- readLines(config_yaml(folder))
  writeLines(c("# A comment", "---", lines), path)
  expect_no_error(ancify_config(path))
  config <- config_list(folder)
  config$chromosome_lengths <- list(chr1 = c(20, 30))
  expect_ancify_error(with_folder(folder, ancify_config(config)), "config", "chromosome_lengths")
})
