# Options of other programs, and their equivalents in ancify. A program is a row of
# foreign_programs(), an option a row of its options.

# names     spellings of the option
# ours      our option; NULL if our line needs none. A vector named by our commands has an option
#           for each: "" if the command needs none. It omits commands that lack such an option.
# values    the number of its values; Inf: all words until the next option
# default   the values if it is given without any; NULL if it needs some
# change    function(values) that returns our value
# also      function(value, command) that returns values of further options of ours, by name
# note      a message for the user if it is given, or function(values) that returns the message. A
#           named vector has a text for each of our commands.
foreign_option <- function(names, ours = NULL, values = 1, default = NULL, change = NULL,
                           also = NULL, note = NULL) {
  as.list(environment())
}

# Options that our commands do not need: without or with a value
needless <- function(...) foreign_option(c(...), values = 0)
needless_value <- function(...) foreign_option(c(...))

# name      for messages
# pattern   of the program's name in a command line
# out       the prefix of results by default
# analyses  our command by the option that chooses it, or by the program's own name; "" if none is
#           needed
# always    values of our options that stand for the program's own defaults
# options   rows of foreign_option()
# defaults  rows of differing_default()
# further   function(ours, command) that returns flags of ours that these options of ours imply
foreign_program <- function(name, pattern, out, analyses, options, always = character(),
                            defaults = list(), further = function(ours, command) character()) {
  as.list(environment())
}

# A default that differs: `note` is reported if the line has `option`, in any of its spellings, but
# our line lacks the option `unless`, which would set the value.
differing_default <- function(option, unless, note) as.list(environment())

foreign_programs <- function() {
  list(program_gcta(), program_bolt(), program_regenie(), program_gemma(), program_gpu_reml())
}

same_names <- function(options) lapply(options, function(name) foreign_option(name, name))

# Options of commands that analyse phenotypes
of_study <- function(option) c(reml = option, scan = option)

# A prefix may have files of several kinds.
bed_of <- function(prefixes) paste0(prefixes, ".bed")
pgen_of <- function(prefixes) paste0(prefixes, ".pgen")

of_file_without_header <- function(values) {
  paste0("pheno", unlist(strsplit(values, "[, ]+")), collapse = ",")
}

without_header <- paste(
  "pheno1, pheno2 and so on are columns of a file without header: with a header, use its names"
)

# A name such as PC{1:10} represents several names.
all_names <- function(values) paste(unlist(lapply(values, expand_braces)), collapse = ",")

first_phenotype <- function(program, option) {
  differing_default(option, "--trait", sprintf(
    "%s analyses the first phenotype, ours all: choose by --trait", program
  ))
}

# Scans with one kernel of all chromosomes
one_kernel_note <- paste(
  "ours leaves the variant's chromosome out of the kernel (LOCO), so that p-values differ"
)

labels_note <- paste(
  "covariates of numbers are quantities here, unless they are in a file of their own for --factors"
)

program_gcta <- function() {
  foreign_program(
    "GCTA", "^gcta(64)?([-_.].*)?$", "gcta",
    c(`--reml` = "reml", `--reml-bivar` = "reml", `--mlma-loco` = "scan --mixed",
      `--mlma` = "scan --mixed", `--fastGWA-mlm` = "scan --mixed", `--fastGWA-lr` = "scan",
      `--pca` = "pca", `--make-grm` = "", `--make-grm-part` = ""),
    c(
      same_names(c("--keep", "--remove", "--extract", "--exclude", "--maf", "--out")),
      list(
        foreign_option("--bfile", "--genotypes", change = bed_of),
        foreign_option("--pfile", "--genotypes", change = pgen_of),
        foreign_option("--bgen", "--genotypes"),
        foreign_option("--pheno", of_study("--pheno")),
        foreign_option("--sample", "--samples"),
        foreign_option(
          c("--grm", "--grm-bin", "--grm-sparse"), c(reml = "--grm"),
          note = c(scan = "the kernel is that of --genotypes", pca = "give --genotypes")
        ),
        foreign_option(
          "--mgrm", note = "give the prefixes in this file to --grm, with commas between them"
        ),
        foreign_option("--mpheno", of_study("--trait"), change = of_file_without_header,
                       note = without_header),
        foreign_option("--qcovar", of_study("--covar")),
        foreign_option("--covar", of_study("--factors")),
        foreign_option("--prevalence", c(reml = "--binary --prevalence")),
        foreign_option("--chr", "--chromosomes"),
        foreign_option("--pca", c(pca = "--number"), default = "20"),
        foreign_option("--reml-pred-rand", c(reml = "--export"), 0,
                       change = function(values) "genetic"),
        foreign_option("--blup-snp", note = "give --genotypes and --effects, without --grm"),
        foreign_option(c("--thread-num", "--threads"), "--threads"),
        needless("--reml", "--mlma-loco", "--fastGWA-lr", "--autosome", "--reml-est-fix",
                 "--reml-no-lrt"),
        foreign_option(c("--mlma", "--fastGWA-mlm"), values = 0, note = one_kernel_note),
        needless_value("--autosome-num"),
        foreign_option("--reml-bivar", c(reml = "--together --trait"), Inf, c("1", "2"),
                       of_file_without_header)
      )
    ),
    defaults = list(first_phenotype("GCTA", "--pheno"))
  )
}

program_bolt <- function() {
  foreign_program(
    "BOLT", "^bolt([-_.].*)?$", "bolt",
    c(`--reml` = "reml", `--lmm` = "scan --mixed", `--lmmInfOnly` = "scan --mixed",
      `--lmmForceNonInf` = "scan --mixed"),
    c(
      same_names(c("--remove", "--exclude")),
      list(
        foreign_option("--bfile", "--genotypes", change = bed_of),
        foreign_option("--bed", "--genotypes"),
        foreign_option("--bgenFile", note = "the scan is of the variants of --genotypes"),
        foreign_option("--phenoFile", "--pheno"),
        foreign_option("--phenoCol", "--trait"),
        needless("--phenoUseFam", "--reml", "--lmm", "--lmmInfOnly", "--lmmForceNonInf",
                 "--covarUseMissingIndic", "--verboseStats", "--remlNoRefine",
                 "--LDscoresMatchBp"),
        foreign_option("--covarFile", "--covar"),
        foreign_option("--qCovarCol", "--covariates", change = all_names),
        foreign_option("--covarCol", "--covariates", change = all_names, note = labels_note),
        foreign_option("--modelSnps", c(reml = "--components"), note = c(
          reml = "a list of variants without components is for --extract instead",
          scan = "the kernel has all variants of --genotypes"
        )),
        foreign_option("--maxMissingPerSnp", "--missing"),
        foreign_option("--numThreads", "--threads"),
        foreign_option(c("--statsFile", "--statsFileBgenSnps"), "--out"),
        needless_value("--bim", "--fam", "--LDscoresFile", "--geneticMapFile",
                       "--covarMaxLevels", "--numLeaveOutChunks")
      )
    ),
    # BOLT fits several phenotypes jointly.
    further = function(ours, command) {
      if (command == "reml" && length(ours[["--trait"]]) > 1) "--together"
    },
    defaults = list(differing_default(
      "--covarFile", "--covariates",
      "BOLT uses no covariate that it is not told of, ours all: choose by --covariates"
    ))
  )
}

program_regenie <- function() {
  foreign_program(
    "REGENIE", "^regenie([-_.].*)?$", "regenie",
    c(`--step 2` = "scan --mixed", `--step 1` = ""),
    c(
      same_names(c("--keep", "--remove", "--extract", "--exclude", "--out", "--threads")),
      list(
        foreign_option("--bed", "--genotypes", change = bed_of),
        foreign_option("--pgen", "--genotypes", change = pgen_of),
        foreign_option("--bgen", "--genotypes"),
        foreign_option("--sample", "--samples"),
        foreign_option("--phenoFile", "--pheno"),
        foreign_option(c("--phenoCol", "--phenoColList"), "--trait", change = all_names),
        foreign_option("--covarFile", "--covar"),
        foreign_option(c("--covarCol", "--covarColList"), "--covariates", change = all_names),
        foreign_option("--catCovarList", "--covariates", change = all_names, note = labels_note),
        foreign_option("--bt", "--binary", 0),
        foreign_option("--firth", c(scan = "--firth"), 0),
        foreign_option("--approx", values = 0,
                       note = "effects are Firth's wherever --firth is given"),
        foreign_option(c("--chr", "--chrList"), "--chromosomes"),
        foreign_option("--pred", note = "the kernel is that of --genotypes, not of step 1"),
        needless("--qt", "--spa", "--lowmem", "--loocv", "--gz", "--ref-first"),
        needless_value("--step", "--bsize", "--lowmem-prefix", "--bgi", "--cv")
      )
    )
  )
}

program_gemma <- function() {
  several_note <- function(values) {
    if (length(values) > 1) "GEMMA tests several phenotypes jointly, ours each for itself"
  }
  foreign_program(
    "GEMMA", "^gemma([-_.0-9].*)?$", "output/result",
    c(`-lmm` = "scan --mixed", `-lm` = "scan", `-vc` = "reml", `-gk` = "", `-eigen` = ""),
    list(
      foreign_option(c("-bfile", "-b"), "--genotypes", change = bed_of),
      foreign_option("-n", "--trait", Inf, change = of_file_without_header, note = several_note),
      foreign_option("-o", "--out", change = function(values) file.path("output", values)),
      foreign_option("-outdir", note = "results are in the folder output, unless --out differs"),
      foreign_option("-snps", "--extract"),
      foreign_option("-maf", "--maf"),
      foreign_option("-miss", "--missing"),
      foreign_option("-hwe", "--hwe"),
      foreign_option("-c", note = "give a table of FID, IID and values to --covar"),
      foreign_option("-p", note = "give a table of FID, IID and values to --pheno"),
      foreign_option("-g", note = "give the genotypes as BED, PGEN, BGEN or VCF"),
      foreign_option(c("-k", "-d", "-u"), note = "the kernel is that of --genotypes"),
      foreign_option("-lmm", values = Inf, note = one_kernel_note),
      foreign_option(c("-lm", "-vc", "-gk"), values = Inf),
      needless("-eigen", "-notsnp", "-silence"),
      needless_value("-a", "-r2")
    ),
    c("--maf" = "0.01", "--missing" = "0.05"),
    list(first_phenotype("GEMMA", c("-bfile", "-b")))
  )
}

program_gpu_reml <- function() {
  of_model <- function(option) c(reml = option, sparse = option)
  files <- function(ending) function(values) paste0(split_option(values), ending)
  by_file <- function(value, command) {
    if (length(value) > 1 && command != "scan") c("--by" = "file")
  }
  foreign_program(
    "GPU_REML", "^gpu-reml(-sparse|-gwas)?$", "gpu_reml",
    c(`gpu-reml` = "reml", `gpu-reml-sparse` = "sparse", `gpu-reml-gwas` = "scan"),
    list(
      foreign_option("--bed-prefix", "--genotypes", change = files(".bed"), also = by_file),
      foreign_option("--pgen-prefix", "--genotypes", change = files(".pgen"), also = by_file),
      foreign_option("--pheno-txt", "--pheno"),
      foreign_option("--covar-txt", "--covar"),
      foreign_option("--keep-path", "--keep"),
      foreign_option("--out-prefix", "--out"),
      foreign_option(c("--component-spec", "--component-indices-npz"), of_model("--components")),
      foreign_option("--merge", c(reml = "--merge"), 0),
      foreign_option(c("--w-files", "--grm-groups"), c(reml = "--weights")),
      foreign_option("--admix-q", c(reml = "--admixture")),
      foreign_option("--compute-effects", c(reml = "--effects"), 0),
      foreign_option("--export-ai", c(reml = "--export"), 0,
                     change = function(values) "information"),
      foreign_option("--prediction-bed-prefix", of_model("--predict"), change = files(".bed")),
      foreign_option("--prediction-pgen-prefix", of_model("--predict"), change = files(".pgen")),
      foreign_option("--prediction-covar-txt", of_model("--predict-covar")),
      foreign_option(c("--keep-out", "--dropped-out"), c(reml = "--export"),
                     change = function(values) "samples"),
      foreign_option("--n-rand-vec", c(of_model("--probes"), scan = "")),
      foreign_option("--seed", c(of_model("--seed"), scan = "")),
      foreign_option("--cpu-threads", "--threads"),
      foreign_option("--device", "--backend"),
      foreign_option("--verbose", "--verbose", 0),
      needless("--smile", "--non-verbose", "--kkt-check"),
      needless_value("--call-width", "--gpu-budget-gib", "--gpu-budget-gb", "--ring-depth",
                     "--slq-samples", "--slq-m", "--slq-mode", "--precond-type", "--precond-rank",
                     "--precond-refresh-reldp", "--pcg-tol", "--minq-iter")
    ),
    c("--na" = "-9")
  )
}
