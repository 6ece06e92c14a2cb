# Lines of other programs: their translation, and the quick starts of GPU_REML as they run here.

translated <- function(line) translate_command(line)$line
notes <- function(line) translate_command(line)$notes
first_of_gcta <- "--pheno: GCTA analyses the first phenotype, ours all: choose by --trait"

test_that("lines of each program have a line of ours", {
  lines <- c(
    "gcta64 --reml --grm x --pheno y --out z", "ancify reml --grm x --pheno y --out z",
    "gcta64 --bfile t --autosome --pca 20 --out t",
    "ancify pca --genotypes t.bed --number 20 --out t",
    "/opt/gcta-1.94.1 --mlma-loco --bfile t --pheno p --qcovar q --covar c --thread-num 4",
    "ancify scan --genotypes t.bed --pheno p --covar q --factors c --threads 4 --out gcta --mixed",
    "gcta64 --reml --grm x --pheno y --reml-pred-rand --prevalence 0.01 --keep k --maf 0.01",
    paste("ancify reml --grm x --pheno y --export genetic --binary --prevalence 0.01 --keep k",
          "--maf 0.01 --out gcta"),
    "bolt --reml --bfile=g --phenoFile=p --phenoCol=a --phenoCol=b --numThreads=2",
    "ancify reml --genotypes g.bed --pheno p --trait a,b --threads 2 --together --out bolt",
    "gcta64 --bfile t --pca --out t", "ancify pca --genotypes t.bed --number 20 --out t",
    "gcta64 --reml-bivar --grm x --pheno y --out z",
    "ancify reml --together --trait pheno1,pheno2 --grm x --pheno y --out z",
    "gcta64 --reml-bivar 1 3 --grm x --pheno y --out z",
    "ancify reml --together --trait pheno1,pheno3 --grm x --pheno y --out z",
    "bolt --lmm --bed chr{1:22}.bed --fam f --phenoUseFam --covarFile c --qCovarCol PC{1:3}",
    paste("ancify scan --genotypes 'chr{1:22}.bed' --covar c --covariates PC1,PC2,PC3 --out bolt",
          "--mixed"),
    "regenie --step 2 --bgen b --phenoFile p --phenoColList a,b --bt --firth --bsize 400 --out s",
    "ancify scan --genotypes b --pheno p --trait a,b --binary --firth --out s --mixed",
    "gemma -bfile mouse -vc 1 -n 6 -maf 0.05 -o six",
    "ancify reml --genotypes mouse.bed --trait pheno6 --maf 0.05 --missing 0.05 --out output/six",
    "gpu-reml --bed-prefix a,b --pheno-txt p --seed 0 --n-rand-vec 100 --export-ai",
    paste("ancify reml --genotypes a.bed b.bed --by file --pheno p --seed 0 --probes 100",
          "--export information --na -9 --out gpu_reml"),
    "gpu-reml-gwas --bed-prefix a,b --pheno-txt p --seed 0 --out-prefix o",
    "ancify scan --genotypes a.bed b.bed --pheno p --na -9 --out o"
  )
  pairs <- matrix(lines, 2)
  for (i in seq_len(ncol(pairs))) {
    expect_identical(translated(pairs[1, i]), pairs[2, i])
    # Only GCTA's first phenotype is told.
    expect_identical(setdiff(notes(pairs[1, i]), first_of_gcta), character())
  }
})

test_that("words are split and quoted as a shell does", {
  expect_identical(
    translated(
      "gpu-reml --smile --bed-prefix 'my data' \\\n  --grm-groups 'A,B;C' --out-prefix \"o\""
    ),
    "ancify reml --genotypes 'my data.bed' --weights 'A,B;C' --na -9 --out o"
  )
  expect_identical(words_of_line("a --b='c d'\"e\" \\\n f"), c("a", "--b=c de", "f"))
  # Words that the shell has split stay whole.
  result <- run_here("translate", "--", "/my apps/gcta64", "--reml", "--bfile", "my $1 file",
                     "--pheno", "p")
  expect_identical(result$out, "ancify reml --genotypes 'my $1 file.bed' --pheno p --out gcta")
})

test_that("variables and home folders stay, in quotes that keep them", {
  line <- "\"$BIN/bolt\" --reml --bfile $DIR/g --phenoFile ~/p --phenoCol '$a' --remove \"$B/'r\""
  expect_identical(translated(line), paste(
    "ancify reml --genotypes \"$DIR/g.bed\" --pheno ~/p --trait '$a' --remove \"$B/'r\"",
    "--out bolt"
  ))
  expect_identical(shell_quoted("$A\"\001`"), "\"$A\\\"\\$\\`\"")
  path <- "a$b\"c d`e\\"
  ours <- shell_quoted(words_of_line(paste0("'", path, "'$X")))
  expect_identical(run_program("bash", "-c", paste("X=x; printf %s", ours))$out, paste0(path, "x"))
})

test_that("open quotes, and options without their values, are refused", {
  expect_ancify_error(translate_command("bolt --reml --bfile 'g"), "input", "quote ' without end")
  expect_ancify_error(translate_command("bolt --reml --bfile \"g'"), "input", "quote \" without")
  for (line in c("bolt --reml --bfile", "bolt --reml --bfile --phenoFile p")) {
    expect_ancify_error(translate_command(line), "input", "--bfile needs a value")
  }
  expect_ancify_error(translate_command("gemma -bfile g -lm 1 -n"), "input", "-n needs a value")
})

test_that("what a line leaves out, or does otherwise, is told", {
  line <- "gcta64 --reml --grm x --pheno y --mpheno 2 --reml-maxit 50 --reml-alg 1 stray"
  expect_identical(translated(line), "ancify reml --grm x --pheno y --trait pheno2 --out gcta")
  told <- notes(line)
  expect_match(told[1], "^--mpheno 2: pheno1, pheno2 and so on")
  expect_identical(told[2], "--reml-maxit 50: `ancify reml` has no option for it")
  expect_match(told[3], "^--reml-alg 1 stray: ")
  expect_length(told, 3)
  expect_match(notes("gcta64 --reml --mgrm list.txt --pheno y")[3], "needs --genotypes")
  expect_match(notes("regenie --step 2 --bed b --pred p --approx"), "^--pred p: |^--approx: ")
  expect_identical(notes("gcta64 --reml --bfile x --pheno y"), first_of_gcta)
  expect_identical(notes("gcta64 --reml --bfile x"), character())
  expect_match(notes("bolt --lmm --bfile b --covarFile c"), "^--covarFile: .* --covariates")
  expect_match(notes("bolt --lmm --bfile b --covarCol sex"), "--factors")
  expect_match(notes("bolt --reml --bfile b --modelSnps m"), "^--modelSnps m: .*--extract")
  expect_identical(notes("bolt --lmm --bfile b --phenoFile p"), character())
  for (scan in c("gcta64 --mlma --bfile g", "gcta64 --fastGWA-mlm --bfile g",
                 "gemma -bfile g -n 2 -lmm 4")) {
    expect_match(notes(scan), "^-[^:]*(mlma|mlm|lmm 4): .*LOCO")
  }
  expect_match(notes("gemma -bfile g -n 1 2 -lmm 4")[1], "^-n 1 2: .*jointly")
  first_of_gemma <- sub("GCTA", "GEMMA", sub("--pheno", "-b", first_of_gcta))
  expect_identical(notes("gemma -b g -lm 1"), first_of_gemma)
  expect_output(print(translate_command(line)), "^ancify reml .*\n# --mpheno 2: ")
})

test_that("lines without translation are refused", {
  expect_ancify_error(translate_command("saige --bfile x"), "input", "'saige' is unknown", "GCTA")
  expect_ancify_error(translate_command("gcta64 --bfile x --make-grm"), "input", "needs no line")
  expect_ancify_error(translate_command("regenie --step 1 --bed x"), "input", "needs no line")
  expect_ancify_error(translate_command("gcta64 --HEreg"), "input", "none of the analyses")
  expect_ancify_error(translate_command(" "), "input", "is empty: give a command of GCTA")
  expect_ancify_error(translate_command(1), "input", "line")
})

test_that("the command prints the line, and notes beside it", {
  result <- run_here("translate", "gcta64 --reml --grm x --pheno y --reml-maxit 50")
  expect_identical(result$status, 0L)
  expect_identical(result$out, "ancify reml --grm x --pheno y --out gcta")
  expect_match(result$err, "^ancify: note: --reml-maxit 50: ", all = FALSE)
  words <- c("gcta64", "--reml", "--grm", "x", "--pheno", "y")
  expect_identical(run_here("translate", "--", words)$out, result$out)
  expect_identical(run_here("translate", "saige --x")$status, 1L)
  expect_identical(run_here("translate")$status, 2L)
  expect_match(run_here("translate", "")$err, "`LINE` must be one command line", all = FALSE)
})

test_that("each option that a line may have is one of the commands that have it", {
  rows <- command_rows()
  for (program in foreign_programs()) {
    commands <- unique(sub(" .*", "", program$analyses[nzchar(program$analyses)]))
    expect_true(all(commands %in% names(rows)))
    spelt <- unlist(lapply(program$options, `[[`, "names"))
    expect_identical(spelt[duplicated(spelt)], character())
    for (row in program$options) {
      for (command in intersect(commands, names(row$ours) %||% commands)) {
        ours <- setdiff(of_command(row$ours, command), "")
        known <- vapply(rows[[command]]$options, long_name, "")
        expect_true(all(unlist(strsplit(as.character(ours), " ")) %in% known),
                    info = paste(program$name, command, ours))
      }
    }
  }
})

# ---- The quick starts of GPU_REML ----------------------------------------------------------------

set.seed(12)
case <- reml_case(60, 40)
folder <- new_folder()
at <- paths_in(folder)
data <- data.frame(case$data, covar1 = case$data$age)
data$y[3:5] <- NA
data$covar1[6:7] <- NA
missing_as <- function(values, texts) {
  replace(format(values, digits = 17), which(is.na(values)), texts)
}
writeLines(paste("f", data$id, missing_as(data$y, c("-9", "NA", "nan"))), at("pheno.txt"))
writeLines(c("FID IID covar1", paste("f", data$id, missing_as(data$covar1, c("-9", "nan")))),
           at("covar.txt"))
writeLines(paste("f", data$id[1:55]), at("keep.txt"))
write_bed(case$g, at("data.bed"))
write_pgen(case$g, at("data.pgen"))
parts <- list(grm1 = 1:10, grm2 = 11:25, grm3 = 26:40)
for (name in names(parts)) write_bed(case$g[, parts[[name]]], at(paste0(name, ".bed")))
spec_of <- function(sets) {
  sprintf('{"components": [%s]}', paste(sprintf(
    '{"name": "%s", "variant_indices": [%s], "annotation": {"bin": "%s"}}', names(sets),
    vapply(sets, function(i) paste(i - 1, collapse = ", "), ""), names(sets)
  ), collapse = ", "))
}
halves <- list(first = 1:20, second = 21:40)
fine <- stats::setNames(split(1:40, rep(1:8, each = 5)), paste0("fine", 1:8))
writeLines(spec_of(halves), at("components.json"))
writeLines(spec_of(fine), at("fine_components.json"))
sizes <- c(W_block_1 = 15, W_block_2 = 15, W_block_3 = 10, A_1 = 10, A_2 = 10, B_1 = 10, B_2 = 10)
for (name in names(sizes)) write_npy(near_weights(sizes[[name]]), at(paste0(name, ".npy")))

# Runs the translation of a line in the folder, and returns a function that reads its tables.
quick_start <- function(program, ...) {
  line <- paste(program, ..., "--pheno-txt pheno.txt --out-prefix out/x", sep = " \\\n  ")
  ours <- translate_command(line)
  expect_identical(ours$notes, character())
  result <- with_folder(folder, run_here(words_of_line(ours$line)[-1], "-n", "1"))
  expect_identical(result$status, 0L, info = ours$line)
  function(kind) utils::read.delim(at(sprintf("out/x.%s.tsv", kind)))
}
with_covar <- "--covar-txt covar.txt"
fit <- function(...) quiet_fit(y ~ covar1, data, ...)
expect_fit <- function(table, fit) {
  components <- table("components")
  expect_identical(components$component, names(fit$theta))
  expect_equal(components$theta, unname(fit$theta), tolerance = 1e-7)
}

test_that("the quick starts of REML are one command each", {
  all <- fit(case$g)
  expect_fit(quick_start("gpu-reml", "--bed-prefix data", with_covar), all)
  expect_identical(length(all$y), 55L)
  expect_fit(quick_start("gpu-reml", "--pgen-prefix data", with_covar), all)
  expect_fit(quick_start("gpu-reml", "--bed-prefix grm1,grm2,grm3", with_covar), fit(case$g, parts))
  spec <- "--component-spec components.json"
  expect_fit(quick_start("gpu-reml", "--bed-prefix data", spec, with_covar), fit(case$g, halves))
  merged <- quick_start("gpu-reml", "--merge --bed-prefix data", with_covar,
                        "--component-spec fine_components.json", "--keep-path keep.txt")
  expected <- merge_components(fit(case$g[1:55, ], fine), 1.6448536269514722, progress = FALSE)
  expect_fit(merged, expected)
  expect_identical(merged("merged")$weak, expected$merged$weak)
  blocks <- function(names) lapply(sizes[names], near_weights)
  weighted <- function(...) list(weighted = kernel_weighted(case$g, ...))
  expect_fit(
    quick_start("gpu-reml", "--smile", "--bed-prefix data", with_covar,
                "--w-files W_block_1.npy,W_block_2.npy,W_block_3.npy"),
    fit(kernels = weighted(blocks(1:3)))
  )
  expect_fit(
    quick_start("gpu-reml", "--smile --bed-prefix data", with_covar,
                "--grm-groups 'A_1.npy,A_2.npy;B_1.npy,B_2.npy'"),
    fit(kernels = weighted(blocks(4:7), paste0("group", c(1, 1, 2, 2))))
  )
})

test_that("the quick starts of sparse effects are one command each", {
  expect_support <- function(table, components) {
    expected <- fit_sparse_reml(fit(case$g, components), progress = FALSE, verbose = FALSE)
    expect_equal(table("variances")$variance, unname(expected$variances), tolerance = 1e-7)
    expect_identical(nrow(table("support")), nrow(expected$support))
  }
  sparse <- function(...) quick_start("gpu-reml-sparse", with_covar, ...)
  expect_support(sparse("--bed-prefix data"), NULL)
  expect_support(sparse("--bed-prefix grm1,grm2,grm3"), parts)
  expect_support(sparse("--bed-prefix data --component-spec components.json"), halves)
})

test_that("the quick starts of scans are one command each", {
  scan <- function(...) quick_start("gpu-reml-gwas", "--bed-prefix data", ...)("scan")$p
  expect_equal(scan(), scan_variants(y ~ 1, data, case$g, threads = 1)$p, tolerance = 1e-7)
  expect_equal(scan(with_covar), scan_variants(y ~ covar1, data, case$g, threads = 1)$p,
               tolerance = 1e-7)
})
