# Programs that fit the same model, and the data they come with.

# The path of a program, or a skip.
program <- function(name) {
  path <- Sys.which(name)[[1]]
  if (!nzchar(path)) lacking(name)
  path
}

# Runs it in `folder`; gives the lines it printed.
run_program <- function(name, arguments, folder = tempdir(), environment = character()) {
  path <- program(name)
  here <- setwd(folder)
  on.exit(setwd(here))
  lines <- suppressWarnings(
    system2(path, shQuote(arguments), stdout = TRUE, stderr = TRUE, env = environment)
  )
  if (!is.null(attr(lines, "status"))) stop(paste(lines, collapse = "\n"), call. = FALSE)
  lines
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
# positions that PLINK takes, and <stem>.pheno with a column.
mouse_cd8_files <- function(stem = tempfile("cd8")) {
  mice <- oracle_read_bed(mouse_files())
  y <- suppressWarnings(as.numeric(mice$samples$V6))
  oracle_write_bed(mice$calls[!is.na(y), ], stem, mice$variants$V1)
  rows <- mice$samples[!is.na(y), 2]
  write_columns(data.frame(rows, rows, 0, 0, 0, mice$samples$V6[!is.na(y)]), paste0(stem, ".fam"))
  writeLines(mice$samples$V6[!is.na(y)], paste0(stem, ".pheno"))
  stem
}

# ---- GEMMA ---------------------------------------------------------------------------------------

# GEMMA's standardised kinship (-gk 2) of a BED without its filters. It has the variance of the
# samples in the file, 0 for missing calls, and the number of variants that vary as denominator.
gemma_kinship <- function(stem, kind = 2) {
  folder <- new_folder()
  run_program("gemma", c(
    "-bfile", stem, "-gk", kind, "-maf", "0", "-miss", "1", "-r2", "1", "-outdir", folder,
    "-o", "k"
  ))
  file.path(folder, paste0("k.", if (kind == 2) "s" else "c", "XX.txt"))
}

# GEMMA's REML (-vc 2) of a phenotype file and kinship files: sigma2, residual last, and so on. It
# prints six digits.
gemma_reml <- function(phenotypes, kinships) {
  folder <- new_folder()
  kernels <- if (length(kinships) == 1) {
    c("-k", kinships)
  } else {
    writeLines(kinships, list <- tempfile())
    c("-mk", list)
  }
  run_program("gemma", c("-p", phenotypes, kernels, "-vc", "2", "-outdir", folder, "-o", "vc"))
  log <- readLines(file.path(folder, "vc.log.txt"))
  list(
    theta = numbers_after(log, "## sigma2 estimates ="), se = numbers_after(log, "## se(sigma2) ="),
    h2 = numbers_after(log, "## pve estimates ="), se_h2 = numbers_after(log, "## se(pve) =")
  )
}

# ---- BOLT-REML -----------------------------------------------------------------------------------

# BOLT-REML on a BED and a data frame of `id` and `y`. `components`: a label for each variant that
# counts. `quick`: without its refinement, which takes 100 probes. Its variance of a column has
# n - 1 as denominator. OpenBLAS with a thread is much faster here than with more.
bolt_reml <- function(stem, data, components = NULL, quick = TRUE, threads = 2) {
  folder <- new_folder()
  phenotypes <- file.path(folder, "phenotypes")
  utils::write.table(
    data.frame(FID = data$id, IID = data$id, y = data$y), phenotypes,
    quote = FALSE, row.names = FALSE
  )
  model <- if (!is.null(components)) {
    path <- file.path(folder, "components")
    write_columns(data.frame(names(components), components), path)
    paste0("--modelSnps=", path)
  }
  started <- proc.time()[[3]]
  lines <- run_program("bolt", c(
    paste0("--bfile=", stem), paste0("--phenoFile=", phenotypes), "--phenoCol=y", "--reml",
    paste0("--numThreads=", threads), "--noMapCheck", "--maxModelSnps=2000000", model,
    if (quick) "--remlNoRefine"
  ), folder, "OPENBLAS_NUM_THREADS=1")
  seconds <- proc.time()[[3]] - started
  entries <- grep("entry (1,1):", lines, fixed = TRUE, value = TRUE)
  numbers <- vapply(entries, numbers_after, c(theta = 0, se = 0), "entry (1,1):")
  # The noise comes first there, and last here.
  order <- c(seq_len(ncol(numbers))[-1], 1)
  list(theta = unname(numbers["theta", order]), se = unname(numbers["se", order]),
       h2 = numbers_after(lines, "h2g (1,1):")[1], seconds = seconds, lines = lines)
}
