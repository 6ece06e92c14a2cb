# Models by class of neighbours. The oracle takes one site after the other.
oracle_class <- function(species, position) {
  before <- toupper(substring(species, position - 1, position - 1))
  after <- toupper(substring(species, position + 1, position + 1))
  is_common <- function(letters, base) {
    letters <- letters[letters %in% c("A", "C", "G", "T")]
    length(letters) > 0 && mean(letters == base) >= 0.5
  }
  c_before <- is_common(before, "C")
  g_after <- is_common(after, "G")
  if (c_before && g_after) "CpNpG" else if (c_before) "CpN" else if (g_after) "NpG" else "other"
}

oracle_classes <- function(species) {
  vapply(seq_len(nchar(species[[1]])), function(i) oracle_class(species, i), "")
}

# Species with many CpG.
species_with_cpg <- function(n, count) {
  usual <- sample(c("A", "C", "G", "T"), n, TRUE, c(1, 2, 2, 1))
  vapply(paste0("s", seq_len(count)), function(name) {
    other <- sample(c("A", "C", "G", "T", "N", "c", "g"), n, TRUE)
    paste(ifelse(stats::runif(n) < 0.3, other, usual), collapse = "")
  }, "")
}

# A model whose classes differ much.
model_in_classes <- function(name = "K80") {
  model <- substitution_model(name, by = "cpg")
  kappa <- c(2, 8, 9, 15)
  for (i in seq_along(model$classes)) {
    class <- substitution_model("K80", kappa = kappa[i])
    class$relative_rate <- c(0.7, 2, 2.2, 4)[i]
    model$classes[[i]] <- class
  }
  model
}

class_tree <- "(((focal:0.02,s1:0.03):0.01,s2:0.04):0.05,s3:0.1);"
class_history <- coalescent_history(c(s1 = 2e5, s2 = 3e5, s3 = 1e6), 5e4, 1e4, mutation_rate = 2e-8)

# A tree with the branches, or a history with the mutation rate, of a class.
of_class <- function(x, class) {
  if (inherits(x, "ancify_history")) {
    x$model <- substitution_model("K80", kappa = class$kappa)
    x$mutation_rate <- x$mutation_rate * class$relative_rate
  } else {
    x <- ape::read.tree(text = x)
    x$edge.length <- x$edge.length * class$relative_rate
  }
  x
}

test_that("a class is that of the bases beside a site", {
  expect_identical(
    cpg_class(c("CCC", "cAN", "TTT"), c("AAA", "GGT", "NNG")),
    c("CpN", "CpNpG", "NpG")
  )
  expect_identical(cpg_class(c("CT", "AA"), c("AG", "AA")), c("CpNpG", "other"))
  expect_identical(
    cpg_class(rbind(c("C", "C"), c("N", "N")), rbind(c("g", "-"), c("A", "G"))), c("CpNpG", "NpG")
  )
  expect_identical(cpg_class(character(), character()), character())
  expect_ancify_error(cpg_class("CC", c("A", "A")), "input", "differ in the number of sites")
  expect_ancify_error(cpg_class(c("CC", "C"), c("A", "A")), "input", "`before[2]` is \"C\"")
  expect_ancify_error(cpg_class("CC", 3), "input", "`after` must be texts")
  expect_ancify_error(cpg_class("CCC", "AA"), "input", "`before` has 3 outgroups and `after` 2")
})

test_that("patterns are counted by class, of the outgroups alone", {
  set.seed(11)
  species <- species_with_cpg(3000, 3)
  focal <- c(f = paste(sample(c("A", "C", "G", "T"), 3000, TRUE), collapse = ""))
  counts <- count_patterns(species[1:2], species[3], focal, threads = 2, by = "cpg")
  columns <- do.call(cbind, strsplit(gsub("[^ACGT]", "N", toupper(c(species, focal))), ""))
  expected <- table(apply(columns, 1, paste, collapse = ""), oracle_classes(species))
  found <- stats::xtabs(count ~ pattern + neighbours, counts)
  expect_true(all(found == expected[rownames(found), colnames(found)]))
  expect_identical(sum(counts$count), 3000)
  expect_true(all(counts$count > 0))
  expect_setequal(counts$neighbours, c("other", "NpG", "CpN", "CpNpG"))
  expect_identical(names(counts), c("chromosome", "pattern", "neighbours", "count"))
  expect_output(print(counts), "3,000 sites")
  expect_ancify_error(count_patterns(species, by = "CpG"), "input", "did you mean")
  expect_ancify_error(
    count_patterns(character(), focal = focal, by = "cpg"), "input", "`by` needs an outgroup"
  )
})

test_that("the reverse strand has the C of a CpG where this one has the G", {
  set.seed(17)
  species <- species_with_cpg(2000, 3)
  reversed <- vapply(species, function(bases) {
    chartr("ACGTacgt", "TGCAtgca", paste(rev(strsplit(bases, "")[[1]]), collapse = ""))
  }, "")
  model <- model_in_classes()
  swapped <- model
  swapped$classes[c("NpG", "CpN")] <- model$classes[c("CpN", "NpG")]
  posterior <- function(species, model) {
    call_ancestral(species[1:2], species[3], "likelihood", class_tree, "focal", model,
                   posterior = TRUE, threads = 1)$posterior
  }
  expect_equal(
    posterior(reversed, swapped), posterior(species, model)[2000:1, 4:1], tolerance = 1e-12,
    ignore_attr = "dimnames"
  )
})

test_that("each class is called by its own rates", {
  set.seed(12)
  species <- species_with_cpg(2500, 3)
  model <- model_in_classes()
  classes <- oracle_classes(species)
  expect_true(all(table(classes) > 100))
  ways <- list(
    likelihood = function(of, model) {
      call_ancestral(species[1:2], species[3], "likelihood", of, "focal", model,
                     posterior = TRUE, threads = 2)
    },
    coalescent = function(of, model) {
      call_ancestral(species[1:2], species[3], "coalescent", history = of, model = model,
                     posterior = TRUE, threads = 2)
    }
  )
  for (way in names(ways)) {
    of <- if (way == "likelihood") class_tree else class_history
    found <- ways[[way]](of, model)
    letters <- strsplit(found$calls, "")[[1]]
    for (class in names(model$classes)) {
      here <- model$classes[[class]]
      expected <- ways[[way]](of_class(of, here), substitution_model("K80", kappa = here$kappa))
      at <- classes == class
      expect_equal(found$posterior[at, ], expected$posterior[at, ], tolerance = 1e-12)
      expect_identical(letters[at], strsplit(expected$calls, "")[[1]][at])
    }
  }
})

test_that("sites that vary are polarised by the rates of their class", {
  set.seed(13)
  species <- species_with_cpg(400, 3)
  model <- model_in_classes()
  history <- class_history
  history$model <- model
  n <- 300
  position <- c(1, 400, sample(2:399, n - 2))
  sites <- data.frame(
    position, alleles = sample(c("A/G", "C/T", "T/C", "G/A", "A/C"), n, TRUE),
    counts = sample(c(NA, 1:9), n, TRUE), n = 10
  )
  patterns <- vapply(position, function(i) paste(substr(species, i, i), collapse = ""), "")
  classes <- oracle_classes(species)[position]
  polarised <- polarise_sites(patterns, sites$alleles, sites$counts, 10, history, classes)
  for (class in names(model$classes)) {
    at <- which(classes == class)
    expected <- polarise_sites(
      patterns[at], sites$alleles[at], sites$counts[at], 10,
      of_class(class_history, model$classes[[class]])
    )
    expect_equal(polarised[at, ], expected, tolerance = 1e-12, ignore_attr = "row.names")
  }
  called <- call_ancestral(species[1:2], species[3], "coalescent", history = history,
                           variants = sites, posterior = TRUE, threads = 2)
  bases <- c("A", "C", "G", "T")
  with_data <- grepl("[ACGTacgt]", patterns) & !is.na(polarised$A)
  expect_equal(
    called$posterior[position[with_data], ], as.matrix(polarised[with_data, bases]),
    tolerance = 1e-12, ignore_attr = "dimnames"
  )
})

test_that("neighbours that do not go with the model are errors", {
  by_class <- class_history
  by_class$model <- substitution_model(by = "cpg")
  polarise <- function(history, ...) polarise_sites("AAA", "A/G", 2, 10, history, ...)
  expect_ancify_error(polarise(by_class), "input", "give each site's class in `neighbours`")
  expect_ancify_error(polarise(class_history, "NpG"), "input", "leave out `neighbours`")
  expect_ancify_error(polarise(by_class, "CpG"), "input", "`neighbours[1]` is 'CpG'")
  expect_ancify_error(polarise(by_class, c("NpG", "CpN")), "input", "differ in the number of sites")
  expect_identical(polarise(by_class, "NpG"), polarise(class_history))
})

test_that("models by class are checked and printed", {
  model <- model_in_classes()
  expect_output(print(model), "relative rates  other 0.7, NpG 2, CpN 2.2, CpNpG 4", fixed = TRUE)
  expect_identical(check_model(model), model)
  expect_null(substitution_model("K80")$classes)
  broken <- model
  broken$classes$NpG$relative_rate <- -1
  expect_ancify_error(
    check_model(broken), "input", "`model$classes$relative_rate` must be a number above 0"
  )
  broken$classes$NpG$relative_rate <- NULL
  expect_ancify_error(check_model(broken), "input", "`model$classes$relative_rate` must be")
  broken$classes$NpG <- NULL
  expect_ancify_error(check_model(broken), "input", "`model$classes` must be a list of")
  expect_ancify_error(substitution_model(by = "codon"), "input", "`by` must be one of 'cpg'")
  of_class <- model$classes$CpNpG
  expect_output(print(of_class), "relative rate +4")
  expect_identical(check_model(of_class), of_class)
  of_class$relative_rate <- "fast"
  expect_ancify_error(check_model(of_class), "input", "`model$relative_rate` must be a number")
})

test_that("a GPU's log says that models by class are on the CPU", {
  logged <- function(...) {
    config <- ancify_config(random_config(
      method = "likelihood", tree = "((inner1:1,inner2:1):1,outer1:2);", ...
    )$config)
    lines <- character()
    log <- function(line) lines <<- c(lines, line)
    log_what_stays_on_the_cpu(list(config = config, log = log), "call")
    lines
  }
  expect_identical(
    logged(model_classes = "cpg", estimate = TRUE),
    "A model by class has no GPU code: it calls on the CPU"
  )
  expect_identical(logged(), character())
})

# Evolves species along a star, with CpG transitions `boost` times as fast.
sequences_with_decay <- function(n, boost = 10, time = 0.03) {
  evolve <- function(sites) {
    for (step in 1:3) {
      in_cpg <- (sites == 2 & c(sites[-1], 0) == 3) | (sites == 3 & c(0, sites[-n]) == 2)
      change <- stats::runif(n) < time / 3 * ifelse(in_cpg, boost, 1)
      sites[change] <- c(3, 4, 1, 2)[sites[change]]
      other <- stats::runif(n) < time / 3
      sites[other] <- sample(4, sum(other), TRUE)
    }
    sites
  }
  root <- sample(4, n, TRUE)
  for (i in 1:20) root <- evolve(root)
  vapply(c(s1 = 1, s2 = 2, s3 = 3, focal = 4), function(i) {
    paste(c("A", "C", "G", "T")[evolve(root)], collapse = "")
  }, "")
}

test_that("classes are fitted one by one, with rates relative to all sites", {
  set.seed(14)
  species <- sequences_with_decay(60000)
  counts <- count_patterns(species[1:2], species[3], species[4], threads = 2, by = "cpg")
  tree <- "((focal,s1),s2,s3);"
  fit <- fit_substitution_model(counts, tree, substitution_model("GTR", by = "cpg"), threads = 2)
  all <- fit_substitution_model(counts, tree, "GTR", threads = 2)
  expect_equal(fit$log_likelihood, all$log_likelihood)
  expect_equal(fit$tree, all$tree)
  expect_equal(without_classes(fit$model), all$model)
  for (class in fit$classes$neighbours) {
    here <- counts[counts$neighbours == class, ]
    own <- fit_substitution_model(
      data.frame(pattern = here$pattern, count = here$count), tree, all$model, threads = 2,
      species = names(species), focal = "focal"
    )
    fitted <- fit$model$classes[[class]]
    expect_equal(fitted$rates, own$model$rates, tolerance = 1e-4)
    expect_equal(fitted$relative_rate, sum(own$tree$edge.length) / sum(all$tree$edge.length),
                 tolerance = 1e-4)
    expect_identical(fit$classes$sites[fit$classes$neighbours == class], sum(here$count))
  }
  expect_identical(fit$classes$rate, unname(vapply(fit$model$classes, `[[`, 0, "relative_rate")))
  # The classes explain the sites better, and can be in a CpG that decays.
  expect_gt(sum(fit$classes$log_likelihood), fit$log_likelihood + 100)
  expect_true(all(fit$classes$rate[2:4] > 1.2 * fit$classes$rate[1]))
  expect_gt(fit$model$classes$NpG$rates[["CT"]], 1.5 * fit$model$classes$other$rates[["CT"]])
  expect_output(print(fit), "relative rates +other")

  expect_ancify_error(
    fit_substitution_model(as.data.frame(counts)[-3], tree, substitution_model(by = "cpg"),
                           species = names(species), focal = "focal"),
    "input", "count them by `count_patterns(by = \"cpg\")`"
  )
  few <- counts[counts$neighbours != "NpG" | grepl("^A", counts$pattern), ]
  few <- few[few$neighbours != "NpG" | !grepl("C", few$pattern), ]
  expect_ancify_error(
    fit_substitution_model(few, tree, substitution_model("HKY85", by = "cpg"), threads = 2,
                           species = names(species), focal = "focal"),
    "input", "In the sites of class 'NpG': No species has"
  )
  expect_ancify_error(
    fit_substitution_model(counts[counts$neighbours != "CpNpG", ], tree,
                           substitution_model(by = "cpg"), threads = 2,
                           species = names(species), focal = "focal"),
    "input", "No site is of class 'CpNpG': count more sites"
  )
  # The branches of a fit count substitutions, whatever the mean rate of the model was.
  fast <- with_rate(substitution_model("JC69"), 3)
  expect_equal(
    fit_substitution_model(counts, tree, fast, threads = 2)$tree,
    fit_substitution_model(counts, tree, "JC69", threads = 2)$tree
  )
})

test_that("warnings of a fit name the class", {
  expect_warning(
    expect_identical(naming_class("NpG", {
      warn_ancify("The fit did not converge", "fit")
      3
    }), 3),
    "In the sites of class 'NpG': The fit did not", class = "ancify_fit_warning"
  )
})

# A run over such species, whose classes differ enough for fits.
classes_case <- function(method, ...) {
  species <- sequences_with_decay(24000)
  lengths <- c(chr1 = 20000, chr2 = 4000)
  starts <- c(chr1 = 1, chr2 = 20001)
  number <- 0
  blocks <- function() {
    number <<- number + 1
    unlist(lapply(names(lengths), function(name) {
      rows <- substr(species, starts[[name]], starts[[name]] + lengths[[name]] - 1)
      axt_block(name, 1, rows[["focal"]], rows[[number]])
    }))
  }
  do.call(random_config, list(
    lengths = lengths, method = method, estimate = TRUE, model_classes = "cpg", posterior = TRUE,
    substitution_model = "HKY85", ..., axt = as.call(list(blocks))
  ))
}

calls_of_case <- function(case, ...) {
  vapply(names(case$lengths), function(name) {
    species <- vapply(case$projected, `[[`, "", name)
    is_outer <- startsWith(names(species), "outer")
    call_ancestral(species[!is_outer], species[is_outer], ..., threads = 1)
  }, "")
}

calls_written <- function(folder, case) {
  vapply(names(case$lengths), function(name) {
    readLines(file.path(folder, paste0(name, ".fa")))[2]
  }, "")
}

test_that("a run fits rates by class and calls by them, in any way to the same bytes", {
  set.seed(15)
  # Two outgroups: fits of histories take long with more.
  history <- list(splits = c(4e5, 6e5), sizes = 5e4, focal_size = 1e4)
  cases <- list(
    likelihood = classes_case("likelihood", tree = "(((focal,inner1),inner2),outer1);"),
    coalescent = classes_case("coalescent", n_inner = 1, history = history)
  )
  for (method in names(cases)) {
    case <- cases[[method]]
    lines <- log_lines(suppressWarnings(
      run <- ancify_run(case$config, threads = 1, progress = FALSE), classes = "ancify_fit_warning"
    ))
    expect_match(lines, "Rates by class, relative to all sites: other", all = FALSE)
    fit <- attr(run, "fit")
    expect_named(fit$model$classes, c("other", "NpG", "CpN", "CpNpG"))
    expected <- if (method == "likelihood") {
      calls_of_case(case, method, fit$tree, "focal", fit$model)
    } else {
      expect_identical(attr(run, "history")$model, fit$model)
      calls_of_case(case, method, history = attr(run, "history"))
    }
    expect_identical(calls_written(case$config$output_dir, case), expected)
    expect_output(print(run), "inner1|chr1")

    # The written fit can be the configuration of the next run.
    written <- yaml::read_yaml(file.path(case$config$output_dir, "fitted_model.yml"))
    if (method == "coalescent") {
      fitted <- yaml::read_yaml(file.path(case$config$output_dir, "fitted_history.yml"))
      written$history <- fitted$history
    }
    fixed <- case$config
    fixed$estimate <- FALSE
    fixed[names(written)] <- written
    for (threads in c(1, 3)) {
      for (keep in c(TRUE, FALSE)) {
        fixed[c("work_dir", "output_dir")] <- file.path(new_folder(), c("work", "calls"))
        fixed$keep_projected <- keep
        run_quietly(fixed, threads = threads)
        expect_identical(calls_written(fixed$output_dir, case), expected)
      }
    }
  }
  # A report has the classes, also if it is made from the record.
  section <- fit_section(fit_facts(fit))
  expect_match(paste(unlist(section), collapse = " "), "have rates of their own.* NpG ")
  expect_identical(
    fit_section(attr(read_run_record(case$config$output_dir), "fit_facts")), section
  )

  # Other rates of a class are other calls.
  fixed$model_classes$NpG$rate <- 2 * fixed$model_classes$NpG$rate
  expect_match(
    log_lines(ancify_run(fixed, threads = 1, progress = FALSE)),
    "are replaced: they were made with another `model_classes`\n", all = FALSE
  )
})

test_that("a configuration says what is wrong with its classes", {
  problem <- function(...) {
    case <- random_config(method = "likelihood", tree = "((inner1:1,inner2:1):1,outer1:2);", ...)
    conditionMessage(tryCatch(ancify_config(case$config), ancify_config_error = identity))
  }
  expect_match(problem(model_classes = "cpg"), "rates by class have to be fitted: set `estimate:")
  expect_match(problem(model_classes = "codon"), "`model_classes` is .codon.: give cpg, or rates")
  rates <- rep(list(list(rate = 1)), 4)
  names(rates) <- c("other", "NpG", "CpN", "CpNpG")
  expect_s3_class(
    ancify_config(random_config(
      method = "likelihood", tree = "((inner1:1,inner2:1):1,outer1:2);", model_classes = rates
    )$config), "ancify_config"
  )
  rates$NpG <- list(model_kappa = -1)
  told <- problem(model_classes = rates)
  expect_match(told, "`model_classes.NpG.rate` is missing")
  expect_match(told, "`model_classes.NpG.model_kappa` is -1")
})

declare_class_gt <- "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"g\">"

test_that("variants of a run and records of a VCF take the rates of their class", {
  require_htslib()
  set.seed(16)
  history <- list(splits = c(2e5, 3e5, 1e6), sizes = 5e4, focal_size = 1e4)
  model <- model_in_classes()
  case <- classes_case("coalescent", history = history)
  case$config$estimate <- FALSE
  case$config$substitution_model <- "K80"
  case$config$model_classes <- lapply(model$classes, function(class) {
    list(rate = class$relative_rate, model_kappa = class$kappa)
  })
  position <- c(1, sort(sample(2:3999, 400)), 4000)
  alleles <- sample(c("A/G", "C/T", "G/A", "T/C"), length(position), TRUE)
  genotypes <- replicate(length(position), paste(sample(c("0|1", "0|0", "1|1")), collapse = "\t"))
  lines <- paste(
    vcf_records("chr2", position, substr(alleles, 1, 1), substr(alleles, 3, 3)), "GT", genotypes,
    sep = "\t"
  )
  case$config$variants <- write_vcf(lines, header = vcf_header(lines, more = declare_class_gt))
  run <- run_quietly(case$config, threads = 2)
  by_class <- coalescent_history(
    c(inner1 = 2e5, inner2 = 3e5, outer1 = 1e6), 5e4, 1e4, model = model
  )
  species <- vapply(case$projected, `[[`, "", "chr2")
  variants <- data.frame(position, alleles, counts = 3, n = 6)
  expected <- call_ancestral(species[1:2], species[3], "coalescent", history = by_class,
                             variants = variants, threads = 1)
  expect_identical(calls_written(case$config$output_dir, case)[["chr2"]], expected)
  plain <- by_class
  plain$model <- substitution_model("K80")
  expect_false(identical(expected, call_ancestral(
    species[1:2], species[3], "coalescent", history = plain, variants = variants, threads = 1
  )))

  annotated <- annotate(case$config$variants, run, history = by_class)
  patterns <- vapply(position, function(i) paste(substr(species, i, i), collapse = ""), "")
  polarised <- polarise_sites(
    patterns, alleles, rep(3, length(position)), 6, by_class, oracle_classes(species)[position]
  )
  fields <- strsplit(info_of(records_of(annotated$out), "AA_post"), ",")
  there <- lengths(fields) == 4
  expect_gt(sum(there), 300)
  expect_equal(
    matrix(as.numeric(unlist(fields[there])), ncol = 4, byrow = TRUE),
    as.matrix(polarised[there, c("A", "C", "G", "T")]), tolerance = 1e-4, ignore_attr = TRUE
  )
})
