# Runs the core's REML: choice of path, settings and checkpoints.

# Largest number of samples for which "auto" chooses the exact path.
most_exact_samples <- 5000

# Bytes of the matrices of the exact path. One kernel is copied and reduced. Several kernels also
# need their sum's factor, its inverse and two products.
exact_bytes <- function(n, components) 8 * n^2 * (if (components > 1) components + 4 else 3)

# Least memory for genotypes: a packed block.
block_bytes <- function(n) 64 * (n + 64)

# "exact" or "stochastic". `components`: number of matrices, from dense_components().
choose_path <- function(wanted, n, components, memory) {
  check_choice(wanted, c("auto", "exact", "stochastic"), "method")
  if (wanted == "stochastic") {
    return("stochastic")
  }
  needed <- exact_bytes(n, components) + block_bytes(n)
  fits <- needed <= memory
  refuse_if(wanted == "exact" && !fits,
            "The exact path needs %s, but `memory` is %s: give more, or choose 'stochastic'.",
            show_bytes(needed), show_bytes(memory))
  if (wanted == "exact" || n <= most_exact_samples && fits) "exact" else "stochastic"
}

# Number of matrices of a model. A residual of several variances needs one matrix less than its
# variances.
dense_components <- function(model) length(model$names) + length(residual_names(model)) - 1

# The work of a model or fit, by the arguments that it keeps.
work_of <- function(model, progress = FALSE) {
  new_work(model$threads, model$backend %||% "cpu", model$memory, progress = progress)
}

# The same model for a worker of a `BPPARAM`.
for_worker <- function(model) {
  model[c("threads", "backend")] <- list(1L, "cpu")
  model
}

# The settings of a problem, whose work has the memory that matrices leave for genotypes.
path_settings <- function(model, path, work) {
  settings <- list(work = work)
  if (path == "exact") {
    needed <- exact_bytes(length(model$y), dense_components(model))
    settings$work$memory <- work$memory - needed
    settings <- with_kept_kernels(settings, model)
  }
  settings
}

# The core's named result for a model with its data, or for a fit. `checkpoint`: a path or NULL.
run_reml <- function(model, work, label = "Fitting", checkpoint = NULL) {
  problem <- core_problem(model, path_settings(model, model$path, work))
  checkpoint <- open_checkpoint(checkpoint, problem, fit_files(model))
  result <- naming_checkpoint(checkpoint, function() {
    with_watch(label, function(watch) {
      if (model$path == "exact") {
        reml_exact_impl(problem, watch)
      } else {
        reml_stochastic_impl(problem, checkpoint$state, watch)
      }
    }, work$progress, inputs = fit_inputs(model), tell = list(checkpoint = checkpoint$save))
  })
  with_component_names(result, c(model$names, residual_names(model)), colnames(model$x))
}

with_component_names <- function(result, components, effects) {
  both <- list(components, components)
  vectors <- c("theta", "score", "mean_diagonal", "at_bound")
  result[vectors] <- lapply(result[vectors], stats::setNames, components)
  for (name in c("information", "mc_score")) dimnames(result[[name]]) <- both
  colnames(result$genetic) <- components[!is_residual(components)]
  names(result$coefficients) <- effects
  dimnames(result$coefficients_covariance) <- list(effects, effects)
  result
}

# ---- Genotypes of a saved fit --------------------------------------------------------------------

# A file's path, size and checksum, by which a later session recognises it. Its `identity`, named by
# the path, changes whenever the file is written.
genotype_file_facts <- function(part) {
  # A matrix is saved with the fit.
  if (is.null(part$identity)) {
    return(list(path = part$path, size = length(part$memory$calls), checksum = part$path))
  }
  file_facts(part$path)
}

file_facts <- function(path) {
  facts <- with_watch("Reading genotypes", function(watch) checksums_impl(path, new_work(1), watch))
  if (is.na(facts$checksum)) {
    abort_ancify(sprintf("%s cannot be read.", quoted(path)), "file", file = path)
  }
  list(
    path = path, size = facts$size, checksum = facts$checksum,
    identity = stats::setNames(facts$identity, path)
  )
}

# The facts of a file, which is read again only if its identity has changed.
known_facts <- function(path, known) {
  if (identical(known$identity, stats::setNames(identity_of(path), path))) {
    return(known)
  }
  file_facts(path)
}

# A model and its kernels, with the facts of their genotypes' files. Each file is read once.
with_file_facts <- function(model) {
  known <- list()
  facts_of <- function(part) {
    known[[part$path]] <<- known[[part$path]] %||% genotype_file_facts(part)
    known[[part$path]]
  }
  with_own <- function(x) {
    if (is.list(x) && !is.null(x$genotypes)) x$files <- lapply(x$genotypes$parts, facts_of)
    x
  }
  model$kernels <- lapply(model$kernels, with_own)
  with_own(model)
}

# The facts of all files of a fit and its kernels.
fit_files <- function(fit) {
  unlist(lapply(c(list(fit), Filter(is.list, unname(fit$kernels))), `[[`, "files"),
         recursive = FALSE)
}

# Sizes and checksums, which tell whether files are the same.
contents_of <- function(files) lapply(files, `[`, c("size", "checksum"))

# Identities of all files that a fit reads, by path.
fit_inputs <- function(fit) {
  inputs <- unlist(lapply(fit_files(fit), `[[`, "identity"))
  inputs[!duplicated(names(inputs))]
}

# The fit with all genotypes as this session finds them.
with_genotypes <- function(fit) {
  fit <- with_own_genotypes(fit)
  fit$kernels <- lapply(fit$kernels, function(kernel) {
    if (is.list(kernel)) with_own_genotypes(kernel) else kernel
  })
  fit
}

with_own_genotypes <- function(fit) {
  for (i in seq_along(fit$files)) {
    # A matrix has no identity.
    if (is.null(fit$files[[i]]$identity)) next
    facts <- facts_found_again(fit$files[[i]])
    fit$genotypes$parts[[i]][c("path", "identity")] <- list(facts$path, unname(facts$identity))
    fit$genotypes$path[i] <- facts$path
    fit$files[[i]] <- facts
  }
  fit
}

# The facts of a file of a fit, which is searched by its path, then in the working directory.
facts_found_again <- function(file) {
  paths <- Filter(is_file, unique(c(file$path, basename(file$path))))
  for (path in paths) {
    facts <- known_facts(normalizePath(path), file)
    if (identical(contents_of(list(facts)), contents_of(list(file)))) {
      return(facts)
    }
  }
  refuse_file(
    file$path, "%s %s: put the file of the fit there, or into the working directory.",
    quoted(c(paths, file$path)[1]),
    if (length(paths)) {
      "has changed since the fit, which needs its genotypes"
    } else {
      "does not exist, but the fit needs its genotypes"
    }
  )
}

# For each variant: response = z'v, square = z'Sz (with `theta`, z'Pz), n = samples with a call, and
# frequency.
scan_quadratic_forms <- function(problem, g, v, theta = NULL, inputs = NULL) {
  with_watch("Scanning", function(watch) {
    scan_forms_impl(problem, core_genotypes(g), v, theta, watch)
  }, problem$work$progress, inputs = inputs)
}

# The genotypes to test, restricted to the fit's samples, with copies by sex.
tested_genotypes <- function(fit, genotypes) {
  if (is.null(genotypes)) {
    refuse_if(is.null(fit$genotypes),
              "The fit has no genotypes: give those to test as `genotypes`.")
    tell_of_untested(fit)
    return(fit$genotypes)
  }
  check_genotypes(genotypes, "genotypes")
  absent <- setdiff(fit$ids, genotypes$samples$id)
  refuse_if(length(absent), "`genotypes` lacks %s of the fit: %s.",
            count_of(length(absent), "sample"), enumerate(quoted(absent)))
  with_copies_by_sex(genotypes[fit$ids, ], chromosomes_of_file(fit$genotypes))
}

# The fit's own genotypes lack the chromosomes that it left out.
tell_of_untested <- function(fit) {
  if (length(fit$left_out)) {
    inform_ancify(sprintf(
      "Not tested: %s, which the fit left out. To test them, give all genotypes as `genotypes`",
      chromosome_counts_text(fit$left_out)
    ))
  }
}
