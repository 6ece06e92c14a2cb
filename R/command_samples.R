# The commands relatedness and pca: tables of samples, from their genotypes alone.

relatedness_command <- function(parsed) {
  files <- relatedness_files(parsed$out)
  genotypes <- by_threads(parsed, chosen_genotypes(command_genotypes(parsed), parsed))
  pairs <- do.call(relatedness, c(
    list(genotypes, chromosomes = chromosomes_option(parsed) %||% "autosomes",
         threads = threads_option(parsed), progress = isatty(stderr())),
    decimal_options(parsed, "bound")
  ))
  unrelated <- unrelated_samples(pairs, genotypes$samples$id)
  by_degree <- table(pairs$degree)
  cat(sprintf("%s of %s samples are related: %s; %s remain without relatives.\n",
              count_of(nrow(pairs), "pair"), format_count(nrow(genotypes)),
              paste(by_degree, names(by_degree), collapse = ", "),
              format_count(length(unrelated))))
  write_tsv(files[1], pairs)
  write_lines(files[2], unrelated)
  wrote(files)
}

relatedness_files <- function(out) files_of_out(out, c(".related.tsv", ".unrelated.txt"))

# Returns the exit status.
pca_command <- function(parsed) {
  files <- pca_files(parsed$out)
  genotypes <- by_threads(parsed, chosen_genotypes(command_genotypes(parsed), parsed))
  components <- pca(
    genotypes, number_option(parsed$number, "--number") %||% 10,
    chromosomes = chromosomes_option(parsed) %||% "autosomes", threads = threads_option(parsed),
    backend = backend_option(parsed)
  )
  print(components)
  write_tsv(files[1], data.frame(IID = rownames(components$vectors), components$vectors))
  write_tsv(files[2], data.frame(
    component = colnames(components$vectors), eigenvalue = components$values,
    residual = components$residuals
  ))
  wrote(files)
  if (components$converged) 0L else 3L
}

pca_files <- function(out) files_of_out(out, c(".pca.tsv", ".eigenvalues.tsv"))
