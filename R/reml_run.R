# Runs the core's REML: choice of path, settings and checkpoints.

# Largest number of samples for which "auto" chooses the exact path.
most_exact_samples <- 5000

# Bytes of the matrices of the exact path. One kernel is copied and reduced. Several kernels also
# need their sum's factor, its inverse and two products.
exact_bytes <- function(n, components) 8 * n^2 * (if (components > 1) components + 4 else 3)

# Least memory for genotypes: a packed block.
block_bytes <- function(n) 64 * (n + 64)

# "exact" or "stochastic". `components`: number of matrices, from dense_components(). `instead`:
# what a user may do whose memory is too small.
choose_path <- function(wanted, n, components, memory, instead = "choose 'stochastic'") {
  check_choice(wanted, c("auto", "exact", "stochastic"), "method")
  if (wanted == "stochastic") {
    return("stochastic")
  }
  needed <- exact_bytes(n, components) + block_bytes(n)
  fits <- needed <= memory
  refuse_if(wanted == "exact" && !fits,
            "The exact path needs %s, but `memory` is %s: give more, or %s.",
            show_bytes(needed), show_bytes(memory), instead)
  if (wanted == "exact" || n <= most_exact_samples && fits) "exact" else "stochastic"
}

# choose_path() for a model, which a product of kernels makes exact.
chosen_path <- function(model, wanted, memory) {
  check_choice(wanted, c("auto", "exact", "stochastic"), "method")
  kinds <- unlist(lapply(unname(model$kernels), function(kernel) {
    vapply(all_parts(kernel), `[[`, "", "kind")
  }))
  products <- sum(kinds == "product")
  n <- length(model$y)
  components <- dense_components(model) + 2 * products
  if (products == 0) {
    return(choose_path(wanted, n, components, memory))
  }
  path <- choose_path("exact", n, components, memory, "leave the kernel_product() out")
  refuse_if(wanted == "stochastic", paste(
    "kernel_product() makes a matrix, so it has only the exact path: choose `method = \"exact\"`,",
    "or leave the product out."
  ))
  path
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

# For each variant: response = z'v, square = z'Sz (with `theta`, z'Pz), n = samples with a call, and
# frequency.
scan_quadratic_forms <- function(problem, g, v, theta = NULL, inputs = NULL) {
  with_watch("Scanning", function(watch) {
    scan_forms_impl(problem, core_genotypes(g), v, theta, watch)
  }, problem$work$progress, inputs = inputs)
}

# The genotypes to test, restricted to the fit's samples, with copies by sex.
tested_genotypes <- function(fit, genotypes) {
  refuse_records(fit, "Tests of variants take")
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
