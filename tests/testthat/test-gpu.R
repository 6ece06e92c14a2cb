# On a machine with a card: what users ask of R there is what the CPU gives. The kernels have checks
# of their own, tests/cpp/gpu.

skip_without_gpu <- function() skip_if(nrow(available_gpus()) == 0, "there is no GPU")

example_tree <- "(((focal:0.01,near1:0.01):0.01,near2:0.02):0.05,far:0.1);"
methods_without_model <- list(
  list(method = "voting"), list(method = "parsimony", tree = example_tree),
  list(method = "likelihood", tree = example_tree, posterior = TRUE)
)

# The bytes of all that a run leaves in its output folder, and what it counts.
run_of_example <- function(backend, ...) {
  config <- utils::modifyList(raw_config(ancify_example(new_folder())), list(...))
  run <- ancify_run(config, backend = backend, verbose = FALSE)
  files <- list.files(config$output_dir, "[.](fa|phred)$", recursive = TRUE)
  paths <- stats::setNames(file.path(config$output_dir, files), files)
  list(files = lapply(paths, file_bytes), counts = as.data.frame(unclass(run)[run_counts]))
}

test_that("a run on a GPU gives the CPU's bytes, on one device and on three", {
  skip_without_gpu()
  for (settings in methods_without_model) {
    for (keep in c(TRUE, FALSE)) {
      of <- function(backend) {
        do.call(run_of_example, c(list(backend, keep_projected = keep), settings))
      }
      expected <- of("cpu")
      expect_identical(of("gpu"), expected)
      with_virtual_gpus("3", expect_identical(of("gpu"), expected))
    }
  }
})

test_that("sequences in memory are called on a GPU as on the CPU", {
  skip_without_gpu()
  set.seed(951)
  random <- function() paste(sample(c("A", "C", "G", "T", "N"), 10000, TRUE), collapse = "")
  inner <- c(near1 = random(), near2 = random())
  outer <- c(far = random())
  for (settings in methods_without_model) {
    of <- function(backend) {
      do.call(call_ancestral, c(
        list(inner, outer, backend = backend, focal = if (!is.null(settings$tree)) "focal"),
        settings
      ))
    }
    expect_identical(of("gpu"), of("cpu"))
  }
})

test_that("expected spectra of a GPU are the CPU's, and so are fits", {
  skip_without_gpu()
  params <- c(nu1 = 2, nu2 = 0.5, time = 0.1, m = 1)
  of <- function(model, params, sizes, backend, ...) {
    c(plain_array(expected_sfs(model, params, sizes, c(20, 25, 30), backend = backend, ...)))
  }
  cases <- list(
    list(demography_model("growth"), c(nu = 5, time = 0.1), 8),
    list(demography_model("split_mig"), params, c(5, 6)),
    list(demography_model("OutOfAfrica_3G09"), NULL, c(3, 4, 3)),
    list(demography_model("split_mig"), params, c(4, 6), sampling = sampling_inbred(0.3))
  )
  for (case in cases) {
    found <- do.call(of, c(case, backend = "gpu"))
    expected <- do.call(of, c(case, backend = "cpu"))
    with_virtual_gpus("3", expect_identical(do.call(of, c(case, backend = "gpu")), found))
    expect_identical(is.na(found), is.na(expected))
    # Differences of the grids' spectra, which extrapolation makes larger
    expect_lt(max(abs(found - expected), na.rm = TRUE), 1e-10 * max(expected, na.rm = TRUE))
  }
  data <- expected_sfs(demography_model("split_mig"), params, c(5, 6), c(20, 25, 30)) * 2000
  fit <- fit_demography(
    demography_model("split_mig"), data, params * 1.2, starts = 3, pts = c(20, 25, 30),
    backend = "gpu", progress = FALSE
  )
  expect_equal(coef(fit), params, tolerance = 1e-3)
})

test_that("k-mers counted on a GPU are the CPU's, in the same files", {
  skip_without_gpu()
  set.seed(952)
  unit <- random_bases(20000)
  fasta <- fasta_of(c(a = unit, b = paste0(unit, random_bases(50000)), c = strrep("A", 30000)))
  of <- function(k, backend) {
    stem <- file.path(new_folder(), "x")
    count_kmers(fasta, k, out = stem, backend = backend)
    lapply(kmc_paths(stem), file_bytes)
  }
  for (k in c(13, 25, 32, 33, 64)) {
    expected <- of(k, "cpu")
    expect_identical(of(k, "gpu"), expected)
    with_virtual_gpus("3", expect_identical(of(k, "gpu"), expected))
  }
})

test_that("products of genotypes on a GPU are the CPU's, and so are fits, scans and paths", {
  skip_without_gpu()
  set.seed(953)
  case <- reml_case(150, 600)
  copies <- random_dosages(150, 600)
  dimnames(copies) <- dimnames(case$calls)
  variants <- data.frame(chromosome = rep(1:4, each = 150), position = 1:600)
  dosages <- open_genotypes(copies, variants, dosages = TRUE)
  of <- function(g, backend) {
    fit <- quiet_fit(y ~ sex, case$data, g, method = "stochastic", backend = backend)
    list(
      fit[c("theta", "information", "genetic")], as.data.frame(scan_variants(fit)),
      lasso_path(fit)$effects, variant_effects(fit),
      as.data.frame(scan_variants(y ~ sex, case$data, g, backend = backend)),
      haseman_elston(y ~ sex, case$data, g, backend = backend)$theta,
      kernel_times(kernel_grm(g), fit$y, backend = backend)
    )
  }
  for (g in list(case$g, dosages)) {
    expected <- of(g, "cpu")
    expect_identical(of(g, "gpu"), expected)
    with_virtual_gpus("3", expect_identical(of(g, "gpu"), expected))
  }
})

test_that("encoders of a GPU give the CPU's numbers, as far as their precision goes", {
  skip_without_gpu()
  set.seed(954)
  model <- sequence_model(write_esm2(random_esm2()))
  proteins <- stats::setNames(random_proteins(c(1, 30, 65, 200, 1100)), letters[1:5])
  distance <- function(x, reference) {
    x <- unlist(x)
    reference <- unlist(reference)
    sqrt(sum((x - reference)^2) / sum(reference^2))
  }
  for (of in list(
    function(...) embed_sequences(proteins, model, ...),
    function(...) embed_sequences(proteins, model, "residue", ...),
    function(...) residue_log_probs(proteins, model, ...)
  )) {
    expected <- of()
    expect_lt(distance(of(backend = "gpu", precision = "fp32"), expected), 5e-6)
    expect_lt(distance(of(backend = "gpu"), expected), 5e-3)
    with_virtual_gpus("3", expect_lt(distance(of(backend = "gpu"), expected), 5e-3))
  }
  out <- new_folder()
  embed_sequences(proteins, model, out = out, backend = "gpu")
  expect_ancify_error(embed_sequences(proteins, model, out = out), "input", "precision")
  changes <- changes_in_protein(proteins[["c"]], 2:4, rep("A", 3))
  expect_lt(distance(score_missense(changes, model, backend = "gpu", precision = "fp32")$score,
                     score_missense(changes, model)$score), 5e-5)
})

test_that("viruses are detected on a GPU as on the CPU", {
  skip_without_gpu()
  of <- function(...) detect(...)$frames$virus
  expected <- of()
  farthest <- function(found) {
    expect_identical(is.na(found), is.na(expected))
    max(abs(found - expected), na.rm = TRUE)
  }
  expect_lt(farthest(of(backend = "gpu", precision = "fp32")), 1e-5)
  expect_lt(farthest(of(backend = "gpu")), 2e-2)
  with_virtual_gpus("3", expect_lt(farthest(of(backend = "gpu")), 2e-2))
})

test_that("autoencoders learn on a GPU as on the CPU", {
  skip_without_gpu()
  maps <- perturb_maps(
    distance_maps(simulate_polymers(200, polymer_model(20), seed = 955)), missing = 0.05, seed = 956
  )
  difference <- function(x, reference) max(abs(x - reference)) / max(abs(reference))
  for (task in c("cluster", "denoise", "inpaint")) {
    of <- function(backend) fit_autoencoder(maps, task, epochs = 1, backend = backend)
    expected <- of("cpu")
    # Weights are no measure: Adam's first steps make rounding larger, as tests/cpp/gpu tells.
    expect_equal(of("gpu")$epochs, expected$epochs, tolerance = 1e-4)
    expect_lt(difference(predict(expected, maps, backend = "gpu"), predict(expected, maps)), 1e-5)
    made <- function(...) reconstruct_maps(expected, maps, ...)$maps
    expect_lt(difference(made(backend = "gpu"), made()), 1e-5)
  }
  fit <- fit_autoencoder(maps, "denoise", epochs = 1)
  expect_equal(outlier_scores(maps, fit = fit, backend = "gpu"), outlier_scores(maps, fit = fit),
               tolerance = 1e-3)
  expect_ancify_error(fit_autoencoder(maps, geometry = 1, backend = "gpu"), "input", "geometry")
})

test_that("a forked child touches no card, and its parent goes on", {
  skip_without_gpu()
  of <- function() call_ancestral("ACGT", "ACGT", backend = "gpu")
  expected <- of()
  forked <- parallel::mclapply(1:2, function(i) {
    gc()
    tryCatch(of(), error = identity)
  })
  for (one in forked) expect_s3_class(one, "ancify_device_error")
  expect_identical(of(), expected)
})
