# Programs that fit the same model, and the data they come with.

# The path of a program, or a skip.
program <- function(name) {
  path <- Sys.which(name)[[1]]
  if (!nzchar(path)) lacking(name)
  path
}

# Runs it in `folder`; gives the lines it printed.
run_tool <- function(name, arguments, folder = tempdir(), environment = character()) {
  path <- program(name)
  here <- setwd(folder)
  on.exit(setwd(here))
  lines <- suppressWarnings(
    system2(path, shQuote(arguments), stdout = TRUE, stderr = TRUE, env = environment)
  )
  if (!is.null(attr(lines, "status"))) stop(paste(lines, collapse = "\n"), call. = FALSE)
  lines
}

# A square matrix in a text file.
read_square <- function(path) {
  numbers <- scan(path, quiet = TRUE)
  matrix(numbers, sqrt(length(numbers)), byrow = TRUE)
}

# The numbers after `key` and " = ", ": " or the like in the first line that has it.
numbers_after <- function(lines, key) {
  line <- grep(key, lines, fixed = TRUE, value = TRUE)[1]
  rest <- substring(line, regexpr(key, line, fixed = TRUE) + nchar(key))
  as.numeric(regmatches(rest, gregexpr("-?[0-9.]+(e[-+]?[0-9]+)?", rest))[[1]])
}

# ---- Mice ----------------------------------------------------------------------------------------

# The stem of the unpacked BED, .bim and .fam of 1,940 mice with six traits in the .fam.
mouse_files <- function() {
  packed <- file.path("/usr/share/doc/gemma/example/mouse_hs1940")
  if (!file.exists(paste0(packed, ".bed.gz"))) lacking("Debian's gemma-doc")
  stem <- file.path(tempdir(), "mouse_hs1940")
  for (ending in c(".bim", ".fam", ".bed")) {
    if (file.exists(paste0(stem, ending))) next
    from <- gzfile(paste0(packed, ending, ".gz"), "rb")
    bytes <- readBin(from, "raw", 1e8)
    close(from)
    writeBin(bytes, paste0(stem, ending))
  }
  stem
}

# The mice with the first trait, CD8, as the files of a program: a BED whose .fam has this trait,
# positions that PLINK takes, and <stem>.pheno with a column. They are made once.
mouse_cd8_files <- function() {
  stem <- file.path(tempdir(), "mouse_cd8")
  if (file.exists(paste0(stem, ".pheno"))) {
    return(stem)
  }
  mice <- oracle_read_bed(mouse_files())
  y <- suppressWarnings(as.numeric(mice$samples$V6))
  oracle_write_bed(mice$calls[!is.na(y), ], stem, mice$variants$V1)
  rows <- mice$samples[!is.na(y), 2]
  write_columns(data.frame(rows, rows, 0, 0, 0, mice$samples$V6[!is.na(y)]), paste0(stem, ".fam"))
  writeLines(mice$samples$V6[!is.na(y)], paste0(stem, ".pheno"))
  stem
}

# The REML estimates of their traits: see fixtures/make_mouse_reml.R.
mouse_values <- function() utils::read.csv(testthat::test_path("fixtures", "mouse_reml.csv"))
known_theta <- function(row) known_values(row, "theta")
known_se <- function(row) known_values(row, "se")
known_values <- function(row, name) {
  values <- unlist(row[paste0(name, c(".1", ".2", ".e"))], use.names = FALSE)
  values[!is.na(values)]
}

mouse_trait <- function(mice, trait) suppressWarnings(as.numeric(mice$samples[[5 + trait]]))

# The two sets of variants there: chromosomes 1 to 9, and the rest.
mouse_halves <- function(chromosomes) {
  factor(ifelse(as.integer(chromosomes) <= 9, "first", "rest"), c("first", "rest"))
}

# ---- GEMMA ---------------------------------------------------------------------------------------

# GEMMA's standardised kinship (-gk 2) of a BED without its filters. It has the variance of the
# samples in the file, 0 for missing calls, and the number of variants that vary as denominator.
gemma_kinship <- function(stem, kind = 2) {
  folder <- new_folder()
  run_tool("gemma", c(
    "-bfile", stem, "-gk", kind, "-maf", "0", "-miss", "1", "-r2", "1", "-outdir", folder,
    "-o", "k"
  ))
  file.path(folder, paste0("k.", if (kind == 2) "s" else "c", "XX.txt"))
}

# GEMMA's REML (-vc 2) of a phenotype file and kinship files: sigma2, residual last, and so on. It
# prints six digits.
gemma_reml <- function(phenotypes, kinships, covariates = NULL) {
  folder <- new_folder()
  kernels <- if (length(kinships) == 1) {
    c("-k", kinships)
  } else {
    writeLines(kinships, list <- tempfile())
    c("-mk", list)
  }
  run_tool("gemma", c(
    "-p", phenotypes, kernels, if (!is.null(covariates)) c("-c", covariates), "-vc", "2",
    "-outdir", folder, "-o", "vc"
  ))
  log <- readLines(file.path(folder, "vc.log.txt"))
  list(
    theta = numbers_after(log, "## sigma2 estimates ="), se = numbers_after(log, "## se(sigma2) ="),
    h2 = numbers_after(log, "## pve estimates ="), se_h2 = numbers_after(log, "## se(pve) =")
  )
}

# ---- BOLT-REML -----------------------------------------------------------------------------------

# BOLT-REML on a BED and a data frame of `id` and `y`. `components`: a label for each variant that
# counts. Its probes number 100, or with `quick` 15. Its variance of a column has
# n - 1 as denominator, and it divides the trait by its standard deviation, which is undone here.
# OpenBLAS is much faster with one thread in it than with more.
bolt_reml <- function(stem, data, components = NULL, quick = FALSE, threads = 2) {
  folder <- new_folder()
  phenotypes <- file.path(folder, "phenotypes")
  samples <- utils::read.table(paste0(stem, ".fam"), colClasses = "character")
  families <- samples$V1[match(data$id, samples$V2)]
  utils::write.table(
    data.frame(FID = families, IID = data$id, y = data$y), phenotypes,
    quote = FALSE, row.names = FALSE
  )
  model <- if (!is.null(components)) {
    path <- file.path(folder, "components")
    write_columns(data.frame(names(components), components), path)
    paste0("--modelSnps=", path)
  }
  lines <- run_tool("bolt", c(
    paste0("--bfile=", stem), paste0("--phenoFile=", phenotypes), "--phenoCol=y", "--reml",
    paste0("--numThreads=", threads), "--noMapCheck", "--maxModelSnps=2000000", model,
    if (quick) "--remlNoRefine"
  ), folder, "OPENBLAS_NUM_THREADS=1")
  entries <- grep("entry (1,1):", lines, fixed = TRUE, value = TRUE)
  numbers <- vapply(entries, numbers_after, c(theta = 0, se = 0), "entry (1,1):")
  numbers <- numbers * numbers_after(grep("^Phenotype 1: ", lines, value = TRUE), "std = ")^2
  # The noise comes first there, and last here.
  order <- c(seq_len(ncol(numbers))[-1], 1)
  list(theta = unname(numbers["theta", order]), se = unname(numbers["se", order]),
       lines = lines)
}

# The stem of the unpacked BED of BOLT-LMM's example, with its other files beside it.
bolt_example <- function() {
  packed <- "/usr/share/doc/bolt-lmm/examples/examples.tar.xz"
  if (!file.exists(packed)) lacking("Debian's bolt-lmm-example")
  folder <- new_folder()
  utils::untar(packed, exdir = folder)
  file.path(folder, "EUR_subset")
}
