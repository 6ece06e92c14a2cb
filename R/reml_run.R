# Runs the core's REML: which path, with which settings, and checkpoints.

# The most samples for which the exact path is chosen.
most_exact_samples <- 5000

# "exact" or "stochastic". `components`: number of genetic ones.
choose_path <- function(method, n, components, memory) {
  check_choice(method, c("auto", "exact", "stochastic"), "method")
  if (method == "stochastic") {
    return("stochastic")
  }
  # Each kernel, their sum and its inverse.
  needed <- 8 * n^2 * (components + 2)
  fits <- needed <= memory
  if (method == "exact" && !fits) {
    abort_ancify(
      sprintf(
        "The exact path needs %s, but `memory` is %s: give more, or choose 'stochastic'.",
        show_bytes(needed), show_bytes(memory)
      ),
      "input"
    )
  }
  if (method == "exact" || n <= most_exact_samples && fits) "exact" else "stochastic"
}

# The core's result for a model with its data (or a fit), with names. `checkpoint`: a path or NULL.
run_reml <- function(model, label = "Fitting", progress = FALSE, checkpoint = NULL) {
  problem <- c(
    core_problem(model), list(control = model$control),
    core_settings(model$threads, model$memory)
  )
  checkpoint <- open_checkpoint(checkpoint, problem, model$file)
  result <- with_watch(label, function(watch) {
    if (model$path == "exact") {
      reml_exact_impl(problem, watch)
    } else {
      reml_stochastic_impl(problem, if (!is.null(checkpoint)) checkpoint["state"], watch)
    }
  }, progress, inputs = model$file$identity, tell = list(checkpoint = checkpoint$save))
  with_component_names(result, c(model$names, "residual"), colnames(model$x))
}

with_component_names <- function(result, components, effects) {
  both <- list(components, components)
  vectors <- c("theta", "score", "mean_diagonal", "at_bound")
  result[vectors] <- lapply(result[vectors], stats::setNames, components)
  for (name in c("information", "mc_score")) dimnames(result[[name]]) <- both
  colnames(result$genetic) <- components[-length(components)]
  names(result$coefficients) <- effects
  dimnames(result$coefficients_covariance) <- list(effects, effects)
  result
}

# ---- Genotypes of a saved fit --------------------------------------------------------------------

# What tells a file again: path, size and checksum of samples of it; `identity` by path, for jobs
# of this session.
genotype_file_facts <- function(g) {
  facts <- file_identity(g$path)
  list(
    path = g$path, size = facts$size, checksum = facts$sample_checksum,
    identity = stats::setNames(facts$identity, g$path)
  )
}

# The fit with its genotypes as they are here. They are looked for by path, then in the working
# directory.
with_genotypes <- function(fit) {
  if (is.null(fit$genotypes)) {
    return(fit)
  }
  paths <- Filter(is_file, unique(c(fit$file$path, basename(fit$file$path))))
  for (path in paths) {
    facts <- genotype_file_facts(list(path = normalizePath(path)))
    if (facts$size == fit$file$size && facts$checksum == fit$file$checksum) {
      fit$genotypes[c("path", "identity")] <- list(facts$path, unname(facts$identity))
      fit$file <- facts
      return(fit)
    }
  }
  abort_ancify(
    sprintf(
      "%s %s: put the file there, or into the working directory.", quoted(fit$file$path),
      if (length(paths)) {
        "has changed since the fit, which needs its genotypes"
      } else {
        "does not exist, but the fit needs its genotypes"
      }
    ),
    "file", file = fit$file$path
  )
}

# ---- Checkpoints ---------------------------------------------------------------------------------

# A line with the digest of the fit, then the core's bytes. R's own format might hold code.
checkpoint_line <- function(digest) charToRaw(sprintf("ancify reml checkpoint %s\n", digest))

# list(state = the last one or NULL, save =), or NULL without a file.
open_checkpoint <- function(path, problem, file) {
  if (is.null(path)) {
    return(NULL)
  }
  line <- checkpoint_line(digest_of(problem, file))
  list(
    state = earlier_state(path, line),
    save = function(state) write_file_impl(path, c(line, state))
  )
}

earlier_state <- function(path, line) {
  if (!is_file(path)) {
    return(NULL)
  }
  bytes <- readBin(path, "raw", file.size(path))
  n <- length(line)
  first <- bytes[seq_len(min(n, length(bytes)))]
  if (identical(first, line)) {
    return(bytes[-seq_len(n)])
  }
  name <- seq_along(checkpoint_line(""))[-1] - 1
  if (!identical(first[name], line[name])) {
    abort_ancify(
      sprintf("%s is no checkpoint: choose another file for `checkpoint`.", quoted(path)), "format",
      file = path
    )
  }
  abort_ancify(
    sprintf("%s is the checkpoint of a fit with other inputs or settings: %s.", quoted(path),
            "remove it, or choose another file"),
    "input", file = path
  )
}

# A digest of all that changes a fit's numbers.
digest_of <- function(problem, file) {
  problem[c("threads", "simd", "memory")] <- NULL
  problem$genotypes$path <- NULL
  # A function is known by what it gives.
  problem$kernels <- lapply(problem$kernels, function(kernel) {
    if (is.list(kernel)) list(kernel$products(as.matrix(problem$y)), kernel$trace) else kernel
  })
  whole <- tempfile("ancify-digest-")
  on.exit(unlink(whole))
  saveRDS(
    list(package_version_text(), problem, file$size, file$checksum), whole, compress = FALSE
  )
  unname(tools::md5sum(whole))
}
