# Commands of what follows calls: the same as the functions of R. Those with streams run in a shell;
# the others here, as test-command-examples.R has each command in a shell.

require_tool("bgzip")
set.seed(31)
folder <- command_folder()
shell <- function(...) run_shell(folder, c(...))
here <- function(line) with_folder(folder, run_here(strsplit(line, " ")[[1]][-1]))
at <- paths_in(folder)
calls <- at("ancestral_calls")
quietly <- function(code) suppressMessages(suppressWarnings(code))

# A table as print() shows it, without row names.
expect_printed <- function(lines, table) {
  expect_identical(lines, capture.output(print(table, row.names = FALSE)))
}

complains <- function(status, text, line) {
  result <- if (grepl("[|<>]", line)) shell(line) else here(line)
  expect_identical(result$status, status)
  expect_identical(result$out, character())
  expect_match(paste(result$err, collapse = "\n"), text, fixed = TRUE)
}

# ---- annotate ------------------------------------------------------------------------------------

test_that("annotate writes what annotate_vcf() writes, and prints the reasons", {
  reasons <- quietly(annotate_vcf(at("in.vcf.gz"), calls, at("r.vcf"), progress = FALSE))
  result <- here("ancify annotate in.vcf.gz ancestral_calls -o shell.vcf")
  expect_quiet(result)
  expect_printed(result$out, reasons)
  expect_identical(readLines(at("shell.vcf")), readLines(at("r.vcf")))
  expect_gt(reasons$records[reasons$reason == "OK"], 0)

  writeLines("chr1\t0\t20000", at("mask.bed"))
  polarised <- quietly(annotate_vcf(at("r.vcf"), "AA", at("r2.vcf"), mask = at("mask.bed"),
                                    polarise = TRUE))
  result <- here("ancify annotate r.vcf AA -o shell2.vcf --mask mask.bed --polarise -v")
  expect_identical(result$status, 0L)
  expect_identical(readLines(at("shell2.vcf")), readLines(at("r2.vcf")))
  expect_gt(attr(polarised, "swapped"), 0)
  expect_match(result$err, sprintf("exchanged in %d", attr(polarised, "swapped")), all = FALSE)

  checked <- quietly(annotate_vcf(at("in.vcf"), calls, at("r3.vcf"), at("focal.fa.gz")))
  result <- here("ancify annotate in.vcf ancestral_calls -o shell3.vcf --reference focal.fa.gz")
  expect_printed(result$out, checked)
  expect_gt(checked$records[checked$reason == "REF_MISMATCH"], 0)
})

test_that("annotate reads and writes streams", {
  here("ancify annotate in.vcf.gz ancestral_calls -o file.vcf")
  for (input in c("cat in.vcf", "cat in.vcf.gz")) {
    result <- shell(paste(input, "| ancify annotate - ancestral_calls -o -"))
    expect_identical(result$status, 0L)
    expect_identical(result$out, readLines(at("file.vcf")))
    expect_match(result$err, "reason records", all = FALSE)
  }
  expect_false(file.exists(at("-")))
})

test_that("annotate complains in the words of a shell", {
  complains(1L, "`--keep-fields` needs `--polarise`",
            "ancify annotate in.vcf ancestral_calls -o x.vcf --keep-fields INFO/AF")
  complains(1L, "`-o` and `VCF` are one file", "ancify annotate in.vcf ancestral_calls -o in.vcf")
  complains(1L, "`-o` is 'x.txt'", "ancify annotate in.vcf ancestral_calls -o x.txt")
  complains(1L, "nope.vcf", "ancify annotate nope.vcf ancestral_calls -o x.vcf")
  complains(1L, "'standard input', line 1: neither VCF nor BCF",
            "echo x | ancify annotate - ancestral_calls -o x.vcf")
  expect_false(any(file.exists(at(c("x.vcf", "x.txt")))))
})

# ---- sfs -----------------------------------------------------------------------------------------

test_that("sfs counts the rarer allele, and AC and AN of files without genotypes", {
  quietly(expected <- sfs_from_vcf(at("in.vcf.gz"), at("samples.txt"), subset = TRUE, folded = TRUE,
                                   progress = FALSE))
  result <- shell("ancify sfs in.vcf.gz --populations samples.txt --folded")
  expect_identical(result$status, 0L)
  expect_identical(result$out, sfs_lines(expected))
  writeLines(c(
    "##fileformat=VCFv4.2", "##contig=<ID=1,length=100>",
    "##INFO=<ID=AC,Number=A,Type=Integer,Description=\"x\">",
    "##INFO=<ID=AN,Number=1,Type=Integer,Description=\"x\">",
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO",
    "1\t5\t.\tA\tC\t.\t.\tAC=1;AN=4", "1\t9\t.\tA\tC\t.\t.\tAC=3;AN=4"
  ), at("sites.vcf"))
  result <- shell("ancify sfs sites.vcf --folded")
  expect_identical(result$status, 0L)
  expect_match(result$out, "^0 2 0 0 0$", all = FALSE)
  complains(1L, "--folded", "ancify sfs sites.vcf")
})

test_that("sfs and mutations count populations of INFO", {
  writeLines(c(
    "##fileformat=VCFv4.2", "##contig=<ID=1,length=100>",
    count_declarations(c("AC_a", "AN_a", "AC_b", "AN_b")),
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO",
    "1\t5\t.\tA\tC\t.\t.\tAC_a=1;AN_a=2;AC_b=0;AN_b=3"
  ), at("populations.vcf"))
  result <- shell("ancify sfs populations.vcf --info-populations a,b --folded")
  expect_identical(result$status, 0L)
  expect_match(result$out, "^3 4 folded \"a\" \"b\"$", all = FALSE)
  complains(1L, "'AC_c'", "ancify sfs populations.vcf --info-populations c --folded")
  complains(2L, "--info-populations fields of INFO: give one",
            "ancify sfs populations.vcf --info-populations a --populations samples.txt")
  complains(1L, "'AC_a'",
            "ancify mutations -c ancify.yaml --vcf in.vcf.gz --info-populations a")
})

test_that("sfs writes what sfs_from_vcf() makes", {
  from_vcf <- function(...) {
    quietly(sfs_from_vcf(at("in.vcf.gz"), at("samples.txt"), ..., ancestral = calls, subset = TRUE))
  }
  sfs <- "ancify sfs in.vcf.gz --populations samples.txt --ancestral ancestral_calls"
  result <- shell(sfs)
  expect_identical(result$status, 0L)
  writeLines(result$out, at("shell.fs"))
  spectrum <- from_vcf()
  expect_equal(read_sfs(at("shell.fs")), spectrum, ignore_attr = c("records", "sites",
                                                                   "misidentification"))
  expect_gt(sum(spectrum, na.rm = TRUE), 0)
  expect_printed(result$err, attr(spectrum, "records"))

  # Samples without a population are left out.
  writeLines(readLines(at("samples.txt"))[-1], at("five.txt"))
  result <- here(sub("samples", "five", sfs) |> paste("--project 2,4 -o five.fs"))
  expect_quiet(result)
  expect_identical(dim(read_sfs(at("five.fs"))), c(3L, 5L))
  expect_identical(tail(result$out, 1), "Wrote five.fs")

  set.seed(1)
  result <- here(paste(sfs, "--project 4,4 --window 5000 -o windows.fs"))
  expect_quiet(result)
  expect_identical(tail(result$out, 1), "Wrote windows.1.fs to windows.100.fs")
  drawn <- lapply(Sys.glob(at("windows.*.fs")), read_sfs)
  expect_length(drawn, 100)
  mean <- Reduce(`+`, lapply(drawn, as.vector)) / 100
  expect_gt(cor(mean, as.vector(from_vcf(c(4, 4))), use = "complete.obs"), 0.9)
})

test_that("sfs reads a stream", {
  here("ancify annotate in.vcf ancestral_calls -o aa.vcf")
  here("ancify sfs aa.vcf --populations samples.txt -o aa.fs")
  expect_gt(sum(read_sfs(at("aa.fs")), na.rm = TRUE), 0)
  result <- shell("cat aa.vcf | ancify sfs - --populations samples.txt -o -")
  expect_identical(result$out, readLines(at("aa.fs")))
})

test_that("sfs complains in the words of a shell", {
  sfs <- "ancify sfs in.vcf --populations samples.txt"
  complains(1L, "give `--ancestral`", sfs)
  complains(2L, "each size of --project must be a positive whole number, not x",
            paste(sfs, "--project 2,x"))
  complains(1L, "`--project` is 40 for CEU",
            paste(sfs, "--ancestral ancestral_calls --project 4,40"))
  complains(2L, "--window needs -o FILE", paste(sfs, "--window 100"))
})

# ---- mutations -----------------------------------------------------------------------------------

test_that("mutations writes the rates of mutation_rates()", {
  rates <- function(...) {
    x <- quietly(mutation_spectrum(at("in.vcf.gz"), calls, ..., subset = TRUE))
    list(x = x, table = mutation_rates(x, count_contexts(calls, ...)))
  }
  mutations <- "ancify mutations -c ancify.yaml --vcf"
  expected <- rates()
  result <- shell(paste(mutations, "in.vcf.gz -k 3"))
  expect_identical(result$status, 0L)
  expect_equal(utils::read.delim(text = result$out), expected$table)
  expect_printed(result$err, attr(expected$x, "records"))
  expect_gt(sum(expected$table$count), 0)

  x <- quietly(mutation_spectrum(at("in.vcf.gz"), calls, 1, at("samples.txt"), windows = 5000))
  result <- shell(paste("cat in.vcf |", mutations, "- -k 1 --populations samples.txt",
                        "--window 5000 -o windows.tsv"))
  expect_quiet(result)
  expect_identical(tail(result$out, 1), "Wrote windows.tsv")
  table <- utils::read.delim(at("windows.tsv"))
  expect_equal(table$count, as.vector(as.matrix(x)))
  expect_true(all(c("population", "positions", "rate", "std_error") %in% names(table)))
})

test_that("mutations complains in the words of a shell", {
  mutations <- "ancify mutations -c ancify.yaml --vcf in.vcf"
  complains(1L, "`-k` is 4", paste(mutations, "-k 4"))
  complains(2L, "-k must be a positive whole number, not x", paste(mutations, "-k x"))
  complains(2L, "mutations needs --vcf FILE", "ancify mutations -c ancify.yaml")
  complains(1L, "`-o` and `--vcf` are one file", paste(mutations, "-o in.vcf"))
  writeLines("chr9\t1\t2", at("other.bed"))
  complains(1L, "has no region", paste(mutations, "--mask other.bed"))
})

# ---- compare, report, posterior ------------------------------------------------------------------

test_that("compare prints a comparison, and writes its windows", {
  comparison <- compare_calls(ancestral_calls = calls, parsimony_calls = at("parsimony_calls"),
                              window = 5000, progress = FALSE)
  result <- here("ancify compare ancestral_calls parsimony.yaml --window 5000 -o windows.tsv")
  expect_quiet(result)
  expect_identical(result$out, capture.output(print(comparison)))
  expect_equal(utils::read.delim(at("windows.tsv")), comparison$windows, ignore_attr = TRUE)
  expect_gt(sum(comparison$windows$differ), 0)
  result <- shell("ancify compare ancestral_calls parsimony.yaml --window 5000 -o -")
  expect_identical(result$out, readLines(at("windows.tsv")))
  expect_match(result$err[1], "<ancify_comparison> 2 runs")
  # Folders of one name
  result <- here("ancify compare ancestral_calls ./ancestral_calls parsimony_calls")
  expect_match(result$out, "ancestral_calls.1 ", fixed = TRUE, all = FALSE)
  complains(1L, "'nowhere'", "ancify compare nowhere ancestral_calls")
})

long_test_that("report writes a page", {
  require_reports()
  for (of in c("ancestral_calls", "ancify.yaml")) {
    result <- here(paste("ancify report", of, "-o page.html"))
    expect_quiet(result)
    expect_identical(result$out, "Wrote page.html")
    expect_match(readLines(at("page.html")), "Ancestral alleles of focal", all = FALSE)
    unlink(at("page.html"))
  }
  writeLines(c("---", "title: Mine", "output: html_document", "params:", "  species: NA",
               "  sections: NA", "---", "", "Calls of `r params$species`"), at("mine.Rmd"))
  here("ancify report ancestral_calls -o page.html --template mine.Rmd")
  expect_match(readLines(at("page.html")), "Calls of focal", all = FALSE)
  complains(1L, "'no.Rmd'", "ancify report ancestral_calls --template no.Rmd")
  complains(1L, "Give the output folder of `ancify run`", "ancify report nowhere")
  complains(1L, "`-o` is 'x.txt'", "ancify report ancestral_calls -o x.txt")
})

test_that("posterior prints a line a position", {
  table <- function(result) {
    expect_quiet(result)
    utils::read.delim(text = result$out)
  }
  expected <- function(chromosome, first, last) {
    phred <- read_posterior(calls, chromosome, first, last)
    data.frame(chromosome, position = first:last, phred, posterior = 1 - 10^(-phred / 10))
  }
  expect_equal(table(shell("ancify posterior ancestral_calls chr1 2001 2010")),
               expected("chr1", 2001, 2010))
  expect_equal(table(shell("ancify posterior ancify.yaml chr2")), expected("chr2", 1, 25000))
  expect_equal(table(shell("ancify posterior ancestral_calls chrX 9990")),
               expected("chrX", 9990, 10000))
  expect_true(anyNA(expected("chr2", 1, 25000)$phred))
  complains(1L, "`START` and `END` are 9 and 7", "ancify posterior ancestral_calls chr1 9 7")
  complains(1L, "positions 1 to 10,000", "ancify posterior ancestral_calls chrX 1 10001")
  complains(2L, "END must be a positive whole number, not x",
            "ancify posterior ancestral_calls chrX 1 x")
  complains(1L, "run with `posterior: true`", "ancify posterior parsimony_calls chr1")
})

long_test_that("parts of a long chromosome meet", {
  long <- new_folder()
  dir.create(file.path(long, "posterior"))
  phred <- sample(c(0:254, NA), 250001, replace = TRUE)
  writeBin(as.raw(ifelse(is.na(phred), 255, phred)), file.path(long, "posterior", "big.phred"))
  result <- run_shell(long, "ancify posterior . big")
  expect_quiet(result)
  table <- utils::read.delim(text = result$out)
  expect_identical(table$position, seq_along(phred))
  expect_identical(table$phred, phred)
})

# ---- scan-selection ------------------------------------------------------------------------------

test_that("scan-selection writes windows as a table or as a bedGraph", {
  scan <- paste("ancify scan-selection in.vcf.gz --ancestral ancestral_calls",
                "--populations samples.txt --project 4,4 --window 5000")
  result <- here(paste(scan, "-o selection.tsv"))
  expect_quiet(result)
  expect_identical(tail(result$out, 1), "Wrote selection.tsv")
  populations <- utils::read.table(at("samples.txt"), col.names = c("sample", "population"))
  expected <- quietly(selection_scan(
    at("in.vcf.gz"), populations, 5000, project = c(4, 4), ancestral = at("ancestral_calls"),
    subset = TRUE
  ))
  table <- utils::read.delim(at("selection.tsv"))
  expect_equal(table$pi, expected$pi)
  expect_equal(table$zeng_h, expected$zeng_h)
  expect_match(result$out, "USED", all = FALSE)
  expect_quiet(here(paste(scan, "--hard --statistic pi -o pi.bedgraph")))
  expect_match(readLines(at("pi.bedgraph"), 1), "track type=bedGraph name=\"pi ")
  complains(2L, "--statistic needs -o FILE.bedgraph", paste(scan, "--statistic pi"))
  complains(2L, "scan-selection needs --window", "ancify scan-selection in.vcf.gz")
  complains(1L, "which does not divide `--window`", paste(scan, "--step 3000"))
})

# ---- demography ----------------------------------------------------------------------------------

long_test_that("demography fits a model, and writes JSON, the spectrum and a Demes file", {
  result <- here(paste("ancify demography one.fs --model two_epoch --start time=0.1,nu=2",
                       "--out fitted --reference-size 10000 -n 1"))
  expect_quiet(result)
  data <- read_sfs(at("one.fs"))
  set.seed(1)
  fit <- fit_demography(demography_model("two_epoch"), data, c(nu = 2, time = 0.1), threads = 1)
  expect_match(result$out[1], "<demography_fit> 2,460 sites.*converged$")
  expect_identical(tail(result$out, 3), paste0("Wrote fitted", c(".json", ".fs", ".yaml")))
  json <- jsonlite::fromJSON(at("fitted.json"))
  expect_equal(unlist(json$params), coef(fit), tolerance = 1e-3)
  expect_equal(json$log_likelihood, fit$log_likelihood, tolerance = 1e-6)
  expect_equal(json$theta, fit$theta, tolerance = 1e-3)
  expect_equal(read_sfs(at("fitted.fs")), fit$expected, tolerance = 1e-3)
  # The Demes file has the fitted model: as good as the fit, without a search.
  result <- shell("cat one.fs | ancify demography - --model fitted.yaml --out again")
  expect_quiet(result)
  expect_identical(result$out[1], sprintf("log-likelihood %.2f", fit$log_likelihood))
  expect_equal(read_sfs(at("again.fs")), read_sfs(at("fitted.fs")), tolerance = 1e-6)
})

test_that("folded data are compared with a folded model", {
  data <- fold(read_sfs(at("one.fs")))
  write_sfs(data, at("folded.fs"))
  result <- here("ancify demography folded.fs --model snm --out snm")
  expect_quiet(result)
  model <- fold(expected_sfs(demography_model("snm"), NULL, c(YRI = 6)))
  expect_identical(result$out[1:2], c(
    sprintf("log-likelihood %.2f", sfs_log_likelihood(model, data)),
    sprintf("theta %.4g", optimal_theta(model, data))
  ))
})

test_that("demography has errors, fixed parameters and pictures", {
  set.seed(3)
  model <- demography_model("two_epoch")
  data <- simulate(expected_sfs(model, c(nu = 3, time = 0.2), 12) * 2000, 1)[[1]]
  write_sfs(data, at("data.fs"))
  for (i in 1:4) write_sfs(simulate(data, 1)[[1]], at(sprintf("drawn.%d.fs", i)))
  writeLines(paste(as.vector(unclass(data)), collapse = " "), at("data.ml"))
  demography <- "--model two_epoch --start nu=2,time=0.1 -n 1"
  result <- here(paste("ancify demography data.fs", demography,
                       "--bootstraps drawn.*.fs --out linked --plot linked.svg"))
  expect_quiet(result)
  expect_identical(tail(result$out, 3), paste0("Wrote linked", c(".json", ".fs", ".svg")))
  expect_match(readLines(at("linked.svg"), 2)[2], "<svg")
  drawn <- lapply(at(sprintf("drawn.%d.fs", 1:4)), read_sfs)
  set.seed(1)
  fit <- fit_demography(model, data, c(nu = 2, time = 0.1), threads = 1)
  errors <- jsonlite::fromJSON(at("linked.json"))$errors
  expect_identical(errors$parameter, c("nu", "time", "theta"))
  expect_equal(errors$std_error, unname(sqrt(diag(vcov(fit, drawn)))), tolerance = 1e-3)
  ends <- confint(fit, bootstraps = drawn, progress = FALSE)
  expect_equal(errors$lower, c(ends[, 1], NA), tolerance = 1e-3, ignore_attr = TRUE)
  # A file of realSFS, a fixed parameter, and the share of misidentified sites
  result <- here(paste("ancify demography data.ml --haplotypes 12 --model two_epoch --start nu=2",
                       "--fixed time=0.2 --upper nu=9 --misidentified --errors --seed 2",
                       "--out share"))
  expect_quiet(result)
  json <- jsonlite::fromJSON(at("share.json"))
  expect_identical(json$params$time, 0.2)
  expect_identical(json$errors$parameter, c("nu", "misidentified", "theta"))
  expect_equal(json$params$nu, 3, tolerance = 0.1)
  # A parameter at its bound has no standard error, which is told.
  result <- here(paste("ancify demography data.fs", demography, "--upper nu=2.1 --errors"))
  expect_match(result$err, "No standard errors: .*at a bound: nu", all = FALSE)
})

test_that("a fit that has not converged is status 3", {
  result <- here("ancify demography one.fs --model two_epoch --start nu=2,time=0.1 --starts 1")
  expect_identical(result$status, 3L)
  expect_match(result$err, "Give more `--starts` or a better `--start`", fixed = TRUE)
})

test_that("demography complains in the words of a shell", {
  complains(2L, "there is no model and no file two_epch; did you mean two_epoch?",
            "ancify demography one.fs --model two_epch")
  complains(2L, "two_epoch needs --start nu=VALUE,time=VALUE",
            "ancify demography one.fs --model two_epoch")
  for (start in c("nu=2", "nu=2,time=x", "nu=2,nu=3,time=1", "nu=1,time=1,m=1", "nu,time", "=")) {
    expect_ancify_error(start_option(start, "two_epoch", c("nu", "time")), "usage",
                        "two_epoch needs --start nu=VALUE,time=VALUE")
  }
  expect_identical(start_option("time=1e-1,nu=2", "two_epoch", c("nu", "time")),
                   c(time = 0.1, nu = 2))
  complains(2L, "snm has no parameters: leave out --start",
            "ancify demography one.fs --model snm --start nu=2")
  complains(1L, "The model ends with 2 populations, but `SPECTRUM` has 1 population",
            "ancify demography one.fs --model snm_2d")
  complains(2L, "snm has no parameters: leave out --errors",
            "ancify demography one.fs --model snm --errors")
  fit <- "ancify demography one.fs --model two_epoch --start nu=2,time=1"
  complains(2L, "--lower must be as nu=1,time=0.5, not nu", paste(fit, "--lower nu"))
  complains(2L, "--haplotypes must be as 20,30 or YRI=20,CEU=30, not x",
            paste(fit, "--haplotypes x"))
  complains(2L, "but 0 match none", paste(fit, "--bootstraps none"))
  complains(2L, "--plot must end with .pdf, .png or .svg, not x.doc", paste(fit, "--plot x.doc"))
  file.copy(at("one.fs"), at("one.pdf"))
  complains(1L, "`--plot` and `SPECTRUM` are one file",
            "ancify demography one.pdf --model snm --plot one.pdf")
  complains(2L, "--reference-size needs --out",
            "ancify demography one.fs --model snm --reference-size 9")
  complains(1L, "in.vcf", "ancify demography one.fs --model in.vcf")
})

# ---- Streams -------------------------------------------------------------------------------------

long_test_that("a closed pipe is no error", {
  lines <- c(
    "ancify posterior ancestral_calls chr1", "ancify annotate in.vcf ancestral_calls -o -",
    "ancify sfs in.vcf --populations samples.txt --ancestral ancestral_calls",
    "ancify compare ancestral_calls parsimony_calls -o -", "ancify help", "ancify completion bash",
    "ancify check -c ancify.yaml"
  )
  for (line in lines) {
    # Nobody reads at all: each write finds the pipe closed.
    result <- shell(paste(line, "2> err | true"), "echo ${PIPESTATUS[0]}")
    expect_identical(result$out, "0", info = line)
    told <- paste(readLines(at("err")), collapse = "\n")
    expect_no_match(told, "ancify:|SIGPIPE|Error", info = line)
  }
  result <- shell("ancify posterior ancestral_calls chr1 | head -n 1", "echo ${PIPESTATUS[0]}")
  expect_quiet(result)
  expect_identical(result$out, c("chromosome\tposition\tphred\tposterior", "0"))
})

test_that("a full disk is an error", {
  skip_if_not(file.exists("/dev/full"))
  complains(1L, "is the disk full?", "ancify annotate in.vcf ancestral_calls -o - > /dev/full")
  complains(1L, "No space left", "ancify posterior ancestral_calls chr1 > /dev/full")
})

test_that("export writes into a folder again, but not over the calls", {
  export <- "ancify export ancestral_calls --format relate -o"
  for (time in 1:2) expect_quiet(here(paste(export, "relate")))
  expect_identical(list.files(at("relate"), "^chr1[.]fa$"), "chr1.fa")
  complains(1L, "`-o` and `CALLS` are one file", paste(export, "ancestral_calls"))
})

test_that("export writes one FASTA file, in lines of --width", {
  export <- "ancify export ancestral_calls --format fasta -o all.fa"
  expect_quiet(here(paste(export, "--width 50 -n 1")))
  calls <- vapply(c("chr1", "chr2", "chrX"), function(name) {
    readLines(at(file.path("ancestral_calls", paste0(name, ".fa"))))[2]
  }, "")
  expect_identical(readLines(at("all.fa")), oracle_fasta(calls, 50))
  complains(2L, "--width must be a positive whole number, not 0", paste(export, "--width 0"))
  complains(1L, "`-o` is 'all.bz2'", sub("all.fa", "all.bz2", export))
  complains(1L, "does not take `--width`",
            "ancify export ancestral_calls --format bed --width 50 -o x.bed")
})

# ---- Files and streams ---------------------------------------------------------------------------

test_that("no command writes over what it reads, or over a device", {
  file.symlink("one.fs", at("link.fs"))
  before <- tools::md5sum(list.files(folder, "[.](vcf|txt|fs|fa)$", full.names = TRUE,
                                     recursive = TRUE))
  shell("mkfifo pipe")
  sfs <- "ancify sfs in.vcf --populations samples.txt --ancestral ancestral_calls -o"
  complains(1L, "`-o` and `VCF` are one file", paste(sfs, "./in.vcf"))
  complains(1L, "`-o` and `--populations` are one file", paste(sfs, "samples.txt"))
  complains(1L, "`-o` is 'ancestral_calls', which is a folder", paste(sfs, "ancestral_calls"))
  complains(1L, "`-o` is 'pipe', a device or a pipe", paste(sfs, "pipe"))
  complains(1L, "`-o` and `CALLS` are one file, 'parsimony_calls/chr1.fa'",
            "ancify compare ancestral_calls parsimony_calls -o parsimony_calls/chr1.fa")
  demography <- "ancify demography %s.fs --model two_epoch --start nu=2,time=0.1 --out %s"
  for (name in c("one", "link")) {
    complains(1L, "`--out` and `SPECTRUM` are one file", sprintf(demography, name, "one"))
  }
  expect_identical(tools::md5sum(names(before)), before)
  expect_false(file.exists(at("one.json")))
})

test_that("pipes are read as files are, and named in messages", {
  here("ancify annotate in.vcf ancestral_calls --mask mask.bed -o file.vcf")
  result <- shell("ancify annotate <(cat in.vcf.gz) ancestral_calls --mask <(cat mask.bed) -o -")
  expect_identical(result$out, readLines(at("file.vcf")))
  complains(1L, "'/dev/fd/63', line 1: neither VCF nor BCF",
            "ancify annotate <(echo x) ancestral_calls -o x.vcf")
})
