# The command scan: tests of all variants, as a table.

# `parsed`: options from the command line. Returns the exit status.
scan_command <- function(parsed) {
  threads <- threads_option(parsed)
  backend <- backend_option(parsed)
  files <- scan_files(parsed$out)
  study <- command_study(parsed)
  genotypes <- genotypes_on(
    study$genotypes, chromosomes_option(parsed) %||% "all", "the scan"
  )
  scans <- list()
  fits <- list()
  for_phenotypes(study, files[1], function(formula, phenotype) {
    scan <- if (isTRUE(parsed$mixed)) {
      fits[[phenotype]] <<- fit_reml(
        formula, study$table, study$genotypes, family = study$family, threads = threads,
        backend = backend, progress = isatty(stderr()), verbose = isTRUE(parsed$verbose)
      )
      scan_variants(fits[[phenotype]], genotypes, firth = isTRUE(parsed$firth),
                    progress = isatty(stderr()))
    } else {
      scan_variants(formula, study$table, genotypes, family = study$family,
                    firth = isTRUE(parsed$firth), threads = threads, backend = backend,
                    progress = isatty(stderr()))
    }
    print(scan)
    cat("\n")
    scans[[phenotype]] <<- cbind(phenotype = rep(phenotype, nrow(scan)), as.data.frame(scan))
    # Write now, so that an error in the next phenotype does not discard this scan.
    write_tsv(files[2], do.call(rbind, unname(scans)))
    fit <- fits[[phenotype]]
    if (is.null(fit)) trait_row("tested", attr(scan, "scan")$samples) else trait_of_fit(fit)
  })
  wrote(files)
  status_of_fits(fits)
}

scan_files <- function(out) files_of_out(out, c(".traits.tsv", ".scan.tsv"))
