# Training of models.

training_sites <- function(folders, lengths, n_inner, references = character(), minima = c(1, 1),
                           most = 1000, seed = 1, threads = 2) {
  options <- list(
    n_inner = n_inner, min_inner = minima[1], min_outer = minima[2], most_sites = most,
    seed = seed, work = ancify:::new_work(threads)
  )
  ancify:::ml_training_sites_impl(folders, lengths, references, options, no_watch)
}

write_fasta <- function(sequences, folder, width = Inf) {
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  for (name in names(sequences)) {
    bases <- sequences[[name]]
    starts <- if (is.finite(width)) seq(1, nchar(bases), width) else 1
    lines <- substring(bases, starts, if (is.finite(width)) starts + width - 1 else nchar(bases))
    writeLines(c(paste0(">", name), lines), file.path(folder, paste0(name, ".fa")))
  }
  folder
}

# Projected sequences of three species, two inner ones, and an ancestor.
written_species <- function(lengths) {
  folder <- new_folder()
  species <- lapply(lengths, random_species, n_species = 3)
  folders <- vapply(1:3, function(s) {
    write_fasta(lapply(species, `[`, s), file.path(folder, "work", "projected", letters[s]))
  }, "")
  ancestor <- lapply(lengths, function(n) paste(random_base(n), collapse = ""))
  list(folder = folder, folders = folders, species = species, ancestor = ancestor)
}

# Rows of a matrix as texts, sorted.
row_texts <- function(features, labels) {
  sort(do.call(paste, c(as.data.frame(cbind(features, labels)))))
}

# All labelled sites, by the oracles.
oracle_sites <- function(case, by_vote, minima = c(1, 1)) {
  sites <- lapply(names(case$species), function(name) {
    sequences <- case$species[[name]]
    calls <- if (by_vote) {
      oracle_vote(sequences[1:2], sequences[3], minima[1], minima[2])
    } else {
      toupper(case$ancestor[[name]])
    }
    label <- match(strsplit(calls, "")[[1]], c("A", "C", "G", "T")) - 1
    features <- as_float(oracle_features(sequences, 2) + 0)
    label[features[, 4] == 0] <- NA
    list(features = features[!is.na(label), ], labels = label[!is.na(label)])
  })
  list(
    features = do.call(rbind, lapply(sites, `[[`, "features")),
    labels = unlist(lapply(sites, `[[`, "labels"))
  )
}

test_that("training sites are labelled sites, equally many of each base", {
  set.seed(1)
  lengths <- c(chr1 = 2500, tiny = 1, chr2 = 900)
  case <- written_species(lengths)
  references <- file.path(write_fasta(case$ancestor, file.path(case$folder, "ref"), width = 60),
                          paste0(names(lengths), ".fa"))
  for (by_vote in c(TRUE, FALSE)) {
    minima <- if (by_vote) c(2, 1) else c(1, 1)
    all <- oracle_sites(case, by_vote, minima)
    of_base <- as.vector(table(factor(all$labels, 0:3)))
    drawn <- function(most, ...) {
      training_sites(case$folders, lengths, 2, if (by_vote) character() else references,
                     minima = minima, most = most, ...)
    }
    # If all fit, every base has as many sites as the rarest.
    most <- drawn(1e6)
    expect_equal(most$labelled, of_base)
    expect_identical(most$labels, rep(0:3, each = min(of_base)))
    known <- row_texts(all$features, all$labels)
    expect_true(all(row_texts(most$features, most$labels) %in% known))
    rarest <- which.min(of_base) - 1
    expect_identical(
      row_texts(most$features[most$labels == rarest, ], rarest),
      row_texts(all$features[all$labels == rarest, ], rarest)
    )
    few <- drawn(403)
    expect_identical(few$labels, rep(0:3, each = 100))
    expect_true(all(row_texts(few$features, few$labels) %in% known))
    expect_identical(drawn(403, threads = 1), few)
    expect_false(identical(drawn(403, seed = 2)$features, few$features))
  }
})

test_that("sites do not depend on pieces and threads, and are spread evenly", {
  set.seed(2)
  # Two pieces of a million positions. The first species' first base marks the place of a site.
  n <- 1.5e6
  sequence <- paste(sample(c("A", "C", "G", "T"), n, replace = TRUE), collapse = "")
  folder <- new_folder()
  folders <- vapply(c("a", "b"), function(s) {
    write_fasta(list(chr1 = sequence), file.path(folder, s))
  }, "", USE.NAMES = FALSE)
  draw <- function(threads, seed = 1) {
    training_sites(folders, c(chr1 = n), 1, most = 4000, threads = threads, seed = seed)
  }
  one <- draw(1)
  expect_identical(draw(3), one)
  expect_identical(one$labels, rep(0:3, each = 1000))
  expect_identical(one$features[, 1], as.numeric(one$labels))
  # By definition one site is drawn from each thousandth of a base's sites.
  all <- features_of(c(sequence, sequence), 1)
  for (base in 0:3) {
    sites <- all[all[, 1] == base, -(1:8)]
    ends <- floor(nrow(sites) * (0:1000) / 1000)
    drawn <- one$features[one$labels == base, -(1:8)]
    in_its_run <- vapply(1:1000, function(j) {
      run <- sites[max(1, ends[j]):min(nrow(sites), ends[j + 1] + 1), , drop = FALSE]
      any(colSums(t(run) == drawn[j, ]) == ncol(sites))
    }, NA)
    expect_true(all(in_its_run))
  }
})

test_that("invalid references and labels are errors", {
  set.seed(3)
  lengths <- c(chr1 = 300)
  case <- written_species(lengths)
  reference <- file.path(case$folder, "chr1.fa")
  refused <- function(lines, class, ...) {
    writeLines(lines, reference)
    expect_ancify_error(
      training_sites(case$folders, lengths, 2, reference), class, ...
    )
  }
  refused(c("ACGT"), "format", reference, "line 1", "not a FASTA file")
  refused(c(">chr1", "ACGT"), "format", reference, "has 4 bases", "300")
  refused(c(">chr1", strrep("A", 300), ">chr2"), "format", reference, "line 3", "second sequence")
  refused(c(">chr1", strrep("A", 300)), "input", "no training site", "base C")
  expect_ancify_error(
    training_sites(case$folders, lengths, 2, most = 3), "input", "at least one site of each base"
  )
})

# ---- ancify_train() --------------------------------------------------------------------

# A configuration with alignments of whole chromosomes, and their ancestor.
simulated_config <- function(lengths = c(chr1 = 6000, chr2 = 2500), ...) {
  folder <- new_folder()
  ancestor <- lapply(lengths, function(n) sample(c("A", "C", "G", "T"), n, replace = TRUE))
  alignments <- vapply(c("near1", "near2", "far"), function(species) {
    lines <- lapply(names(lengths), function(name) {
      bases <- ancestor[[name]]
      changed <- runif(length(bases)) < if (species == "far") 0.1 else 0.03
      bases[changed] <- sample(c("A", "C", "G", "T", "N"), sum(changed), replace = TRUE)
      axt_block(name, 1, paste(ancestor[[name]], collapse = ""), paste(bases, collapse = ""))
    })
    axt_file(unlist(lines), path = file.path(folder, paste0(species, ".axt")))
  }, "")
  entries <- Map(list, name = names(alignments), alignment = alignments, USE.NAMES = FALSE)
  sizes <- file.path(folder, "chrom.sizes")
  writeLines(sprintf("%s\t%.0f", names(lengths), lengths), sizes)
  config <- list(
    focal_species = "focal", chromosome_lengths = sizes,
    outgroups = list(inner = entries[1:2], outer = entries[3]),
    work_dir = file.path(folder, "work"), output_dir = file.path(folder, "calls"), ...
  )
  list(folder = folder, config = config, ancestor = lapply(ancestor, paste, collapse = ""))
}

train_quietly <- function(...) {
  ancify_train(..., leaves = 7, rounds = 30, progress = FALSE, verbose = FALSE)
}

# The model's calls of all chromosomes, as one string.
called_by <- function(model, case) {
  calls <- vapply(names(case$ancestor), function(name) {
    species <- c("near1", "near2", "far")
    paths <- file.path(case$config$work_dir, "projected", species, paste0(name, ".fa"))
    sequences <- vapply(paths, function(path) readLines(path)[2], "")
    called_by_model(sequences, ml_method(2, 1, model, 0.8, 0.5))$calls
  }, "")
  strsplit(paste(calls, collapse = ""), "")[[1]]
}

test_that("a model trained from calls by voting reproduces them", {
  require_python_lightgbm()
  set.seed(4)
  case <- simulated_config()
  logged <- character()
  model <- withCallingHandlers(
    ancify_train(case$config, leaves = 7, rounds = 30, threads = 2, progress = FALSE),
    ancify_message = function(condition) {
      logged <<- c(logged, conditionMessage(condition))
      invokeRestart("muffleMessage")
    }
  )
  # The model is the only new file; missing projections were made.
  expect_identical(model, file.path(case$config$work_dir, "ancify_ml_model.lgb"))
  expect_setequal(list.files(case$config$work_dir), c("projected", "ancify_ml_model.lgb"))
  expect_match(logged[1], paste("Using", cpu_backend(2)), fixed = TRUE)
  expect_match(logged, "^near1: 2 blocks used", all = FALSE)
  expect_match(logged, "^Labels from calls by voting: A [0-9,]+, C ", all = FALSE)
  expect_match(logged, "^Training on [0-9,]+ sites with ", all = FALSE)

  calls <- called_by(model, case)
  truth <- strsplit(paste(case$ancestor, collapse = ""), "")[[1]]
  upper <- calls %in% c("A", "C", "G", "T")
  expect_gt(mean(upper), 0.9)
  expect_gt(mean((calls == truth)[upper]), 0.95)

  # The same with other threads, from the existing projections.
  unlink(file.path(case$folder, "near1.axt"))
  again <- file.path(case$folder, "models", "again.lgb")
  expect_identical(train_quietly(case$config, file = again, threads = 1), again)
  without_threads <- function(path) {
    grep("num_threads", readLines(path), value = TRUE, invert = TRUE)
  }
  expect_identical(without_threads(again), without_threads(model))
  train_quietly(case$config, file = again, seed = 2)
  expect_false(identical(without_threads(again), without_threads(model)))
})

test_that("a reference's labels are learnt, and the model goes to `ml_model_path`", {
  require_python_lightgbm()
  set.seed(5)
  # A reference whose bases differ from the outgroups'.
  case <- simulated_config()
  shifted <- list(chr1 = chartr("ACGT", "CGTA", case$ancestor$chr1))
  case$config$ml_training_reference <- write_fasta(shifted, file.path(case$folder, "ref"), 70)
  case$config$ml_model_path <- file.path(case$folder, "my.lgb")
  logged <- character()
  withCallingHandlers(
    ancify_train(case$config, leaves = 7, rounds = 30, progress = FALSE),
    ancify_message = function(condition) {
      logged <<- c(logged, conditionMessage(condition))
      invokeRestart("muffleMessage")
    }
  )
  expect_match(logged, "^Chromosomes without a reference file are left out: 'chr2'", all = FALSE)
  expect_match(logged, "^Labels from the reference: ", all = FALSE)
  calls <- called_by(case$config$ml_model_path, case)
  truth <- strsplit(chartr("ACGT", "CGTA", paste(case$ancestor, collapse = "")), "")[[1]]
  expect_gt(mean(toupper(calls) == truth), 0.95)
})

test_that("the command trains", {
  require_python_lightgbm()
  set.seed(6)
  case <- simulated_config(c(chr1 = 3000), num_cpus = 1L)
  path <- file.path(case$folder, "config.yaml")
  yaml::write_yaml(case$config, path)
  model <- file.path(case$folder, "model.lgb")
  script <- system.file("exec", "ancify", package = "ancify")
  result <- run_program(script, "train", "-c", path, "-o", model, "-v", timeout = 120)
  expect_identical(result$status, 0L)
  expect_identical(result$out, paste("Wrote", model))
  expect_match(result$err, "^Training on ", all = FALSE)
  expect_identical(readLines(model, 1), "tree")
})

test_that("invalid training is an error before any work", {
  set.seed(7)
  case <- simulated_config(c(chr1 = 200))
  refused <- function(class, ..., with = list()) {
    arguments <- list(config = case$config, progress = FALSE, verbose = FALSE)
    arguments[names(with)] <- with
    expect_ancify_error(do.call(ancify_train, arguments), class, ...)
    expect_false(file.exists(case$config$work_dir))
  }
  refused("input", "`max_sites`", "at least 4", with = list(max_sites = 3))
  refused("input", "`rounds`", "0", with = list(rounds = 0))
  refused("input", "`leaves`", "at least 2", with = list(leaves = 1))
  refused("input", "`learning_rate`", "2", with = list(learning_rate = 2))
  refused("input", "`seed`", "1.5", with = list(seed = 1.5))
  refused("file", "`file`", "is a folder", with = list(file = tempdir()))
  for (group in case$config$outgroups) {
    refused("input", "one file", with = list(file = group[[1]]$alignment))
  }
  other <- case$config
  other["ml_training_reference"] <- tempfile()
  refused("config", "ml_training_reference", "no such folder", with = list(config = other))
  other <- case$config
  other$method <- "coalescent"
  other$history <- list(splits = c(1e5, 2e5), sizes = 1e4)
  other$outgroups$outer <- list()
  refused("config", "`outgroups.outer` is empty", with = list(config = other))
})

test_that("without LightGBM the error names packages, and a failure has its reason", {
  expect_ancify_error(
    ancify:::find_trainer(FALSE, FALSE), "package", "install.packages(\"lightgbm\")",
    "reticulate", "pip install lightgbm"
  )
  trainer <- list(name = "A trainer", train = function(...) stop("no memory"))
  folder <- new_folder()
  expect_ancify_error(
    ancify:::write_whole(file.path(folder, "model"), function(path) {
      ancify:::train_with(trainer, list(), list(), 1L, path)
    }),
    "package", "A trainer could not train: no memory"
  )
  expect_identical(content_of(folder), character())
  expect_ancify_error(
    ancify:::write_whole(file.path(folder, "model", "x"), function(path) {
      unlink(dirname(path), recursive = TRUE)
    }),
    "file", "Cannot write", file.path(folder, "model", "x")
  )
})
