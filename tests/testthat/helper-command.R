# The command line, as a shell has it.

command_script <- system.file("exec", "ancify", package = "ancify")

# Runs lines of bash in a folder, where `ancify` is on the PATH.
run_shell <- function(folder, lines) {
  path <- paste(c(dirname(command_script), R.home("bin"), Sys.getenv("PATH")), collapse = ":")
  env <- c(library_environment(), paste0("PATH=", path))
  with_folder(folder, run_program("bash", "-c", paste(lines, collapse = "\n"), env = env))
}

# Runs a command in this session, as the script does in one of its own: what run_program() gives.
# Bytes that a command writes to the standard output (`-o -`) are not in it: they need a process.
run_here <- function(...) {
  err <- textConnection("lines", "w", local = TRUE)
  sink(err, type = "message")
  on.exit({
    sink(type = "message")
    close(err)
  })
  out <- utils::capture.output(status <- run_command_line(c(...)))
  list(status = status, out = out, err = lines)
}

# A run that was good: nothing on stderr.
expect_quiet <- function(result) {
  expect_identical(result$err, character())
  expect_identical(result$status, 0L)
}

# A folder with all files that the examples of the help name.
command_folder <- function(folder = new_folder()) {
  at <- function(name) file.path(folder, name)
  config <- list(
    method = "likelihood", tree = "(((focal:0.02,near1:0.02):0.01,near2:0.03):0.05,far:0.08);",
    posterior = TRUE, keep_projected = TRUE
  )
  base <- yaml::read_yaml(ancify_example(folder)$file)
  parsimony <- replace(
    config, c("method", "posterior", "ties"), list("parsimony", FALSE, "alphabet")
  )
  configs <- list(
    ancify.yaml = c(base, config),
    parsimony.yaml = replace(c(base, parsimony), "output_dir", at("parsimony_calls"))
  )
  for (name in names(configs)) {
    yaml::write_yaml(configs[[name]], at(name))
    ancify_run(at(name), threads = 2, progress = FALSE, verbose = FALSE)
  }
  n <- c(chr1 = 40, chr2 = 30)
  records <- unlist(Map(function(name, n) {
    calls <- strsplit(readLines(at(file.path("ancestral_calls", paste0(name, ".fa"))))[2], "")[[1]]
    # The ancestral base is REF, ALT or neither.
    position <- sort(sample(which(calls %in% c("A", "C", "G", "T")), n))
    two <- vapply(calls[position], function(base) {
      others <- sample(setdiff(c("A", "C", "G", "T"), base))
      paste(switch(sample(3, 1), c(base, others[1]), c(others[1], base), others[1:2]),
            collapse = "\t")
    }, "")
    genotypes <- matrix(sample(c("0/0", "0/1", "1/1"), 6 * n, replace = TRUE), n)
    paste(name, position, ".", two, ".", "PASS", ".", "GT",
          apply(genotypes, 1, paste, collapse = "\t"), sep = "\t")
  }, names(n), n))
  contigs <- sprintf("%s,length=%.0f", names(n), read_config(at("ancify.yaml"))$lengths[names(n)])
  genotype <- "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"g\">"
  header <- vcf_header(records, contigs, genotype)
  write_vcf(records, at("in.vcf"), header)
  as_bgzip(at("in.vcf"))
  apes <- sub("(GT(\t[^\t]+){2}).*", "\\1", records)
  ape_header <- sub("s1\ts2$", "chimp\tgorilla", vcf_header(apes, contigs, genotype))
  write_vcf(apes, at("apes.vcf"), ape_header)
  as_bgzip(at("apes.vcf"))
  file.copy(at(c("near1.axt.gz", "far.axt.gz")), at(c("a.axt.gz", "b.axt.gz")))
  calls <- at(file.path("ancestral_calls", paste0(names(n), ".fa")))
  writeLines(unlist(lapply(calls, readLines)), at("epo.fa"))
  writeLines(sprintf("s%d\t%s", 1:6, rep(c("YRI", "CEU"), each = 3)), at("samples.txt"))
  write_sfs(sfs(c(0, 1200, 530, 320, 230, 180, 0), "YRI"), at("one.fs"))
  genotypes <- reml_case(60, 40)
  for (ending in c(".bed", ".bim", ".fam")) {
    file.copy(sub("\\.bed$", ending, genotypes$file), at(paste0("mice", ending)))
  }
  write_sites(records, contigs, at("sites.vcf"))
  for (model in list(c("dnabert_random", "DNABERT-S"), c("esm2_random", "esm2_t36_3B"))) {
    file.copy(example_model(model[1]), folder, recursive = TRUE)
    file.rename(at(model[1]), at(model[2]))
  }
  file.copy(virus_fixture("classifier.pth"), at("500_model.pth"))
  # Letters that models do not know, and short sequences, would be warnings.
  contigs <- c(">first", strrep("ACGTTGCAAC", 60), ">second", strrep("GGCATTACGA", 70))
  writeBin(gzip_member(charToRaw(paste0(contigs, "\n", collapse = ""))), at("contigs.fa.gz"))
  y <- genotypes$data$y
  traits <- data.frame(FID = 1, IID = genotypes$data$id, CD8 = y, MCH = rev(y))
  utils::write.table(traits, at("traits.tsv"), quote = FALSE, row.names = FALSE)
  case_control_study(genotypes, at("study"))
  mice <- open_genotypes(at("mice.bed"))
  write_pgen(mice[, 1:20], at("chr1.pgen"))
  write_pgen(mice[, 21:40], at("chr2.pgen"))
  model_files(genotypes, folder)
  folder
}

# A copy of the case's genotypes whose .fam tells cases (2) from controls (1).
case_control_study <- function(case, prefix) {
  for (ending in c(".bed", ".bim")) {
    file.copy(sub("\\.bed$", ending, case$file), paste0(prefix, ending))
  }
  fam <- utils::read.table(sub("\\.bed$", ".fam", case$file))
  fam[[6]] <- 1 + (case$data$y > stats::median(case$data$y))
  utils::write.table(fam, paste0(prefix, ".fam"), quote = FALSE, row.names = FALSE,
                     col.names = FALSE)
}

# A catalogue of the records' sites without samples, as gnomAD has, compressed too.
write_sites <- function(records, contigs, path) {
  sites <- vapply(strsplit(records, "\t"), function(fields) {
    copies <- sample(0:100, 2)
    info <- sprintf("AA=%s;AC_afr=%d;AN_afr=100;AC_nfe=%d;AN_nfe=100", fields[4], copies[1],
                    copies[2])
    paste(c(fields[1:7], info), collapse = "\t")
  }, "")
  info <- c(
    "##INFO=<ID=AA,Number=1,Type=String,Description=\"a\">",
    sprintf("##INFO=<ID=AC_%s,Number=A,Type=Integer,Description=\"c\">", c("afr", "nfe")),
    sprintf("##INFO=<ID=AN_%s,Number=1,Type=Integer,Description=\"n\">", c("afr", "nfe"))
  )
  as_bgzip(write_vcf(sites, path, vcf_header(sites, contigs, info)))
}
