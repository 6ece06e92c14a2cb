# Options of the command line, and its parser.

# `command`: the command whose help the message recommends.
usage_error <- function(..., command = NULL) {
  abort_ancify(paste0(...), "usage", command = command)
}

# An option: its names, the name of its value ("" for a flag), its effect, its default in words. Its
# effect and default may be vectors named by commands, if they differ.
option_row <- function(long, value, help, short = NULL, default = NULL) {
  list(names = c(short, paste0("--", long)), value = value, help = help, default = default)
}

seed_of_probes <- "seed of random probes"
method_of_fits <- "of the fit: exact, stochastic, or auto, which chooses one by size"

# All options, by their names after parsing. These are the names of R's arguments, where they exist.
option_rows <- list(
  config = option_row("config", "FILE", "the configuration", "-c"),
  threads = option_row(
    "threads", "N", "number of threads", "-n", "num_cpus of a configuration, or all"
  ),
  backend = option_row("backend", "KIND", "cpu, or gpu: all NVIDIA GPUs", default = "cpu"),
  cluster = option_row("cluster", "NAME", "slurm: work in jobs of Slurm"),
  job_memory = option_row("job-memory", "SIZE", "memory of each job of --cluster, such as 16G"),
  job_time = option_row(
    "job-time", "TIME", "time limit of each job of --cluster, such as 04:00:00"
  ),
  partition = option_row("partition", "NAME", "Slurm's partition for the jobs of --cluster"),
  output = option_row("output", "FILE", "the file or folder to write", "-o"),
  reference = option_row(
    "reference", "FILE", "the reference genome, FASTA or 2bit, to find a wrong REF"
  ),
  mask = option_row("mask", "BED", "regions not to use"),
  no_low_confidence = option_row(
    "no-low-confidence", "", "leave out ancestral alleles of low confidence"
  ),
  chromosomes = option_row(
    "chromosomes", "NAMES", "chromosomes to use, such as 1,2,X or autosomes (comma)",
    default = c(reml = "autosomes", sparse = "autosomes", relatedness = "autosomes",
                pca = "autosomes", scan = "all", export = "all")
  ),
  polarise = option_row("polarise", "", "exchange alleles so that REF is ancestral"),
  keep_fields = option_row(
    "keep-fields", "FIELDS",
    "fields that stay when alleles are exchanged, such as INFO/DB_AF,FORMAT/DS"
  ),
  from = option_row("from", "SOURCE", "the source of ancestral alleles"),
  unpolarised = option_row(
    "unpolarised", "FATE", "of records that cannot be polarised: flag, drop or keep"
  ),
  chrom_lengths = option_row(
    "lengths", "FILE", "lengths of chromosomes, such as chrom.sizes", default = "the VCF's header"
  ),
  focal = option_row("focal", "NAME", "the species of the VCF", default = "focal"),
  method = option_row(
    "method", "METHOD",
    c(polarise = "of ancestral alleles: likelihood, parsimony or coalescent",
      reml = method_of_fits, sparse = method_of_fits),
    default = c(polarise = "likelihood", reml = "auto", sparse = "auto")
  ),
  tree = option_row("tree", "TREE", "a Newick text, or a file with one", default = "guessed"),
  also = option_row("also", "KINDS", "further records: multiallelic, indels or both (comma)"),
  kind = option_row("kind", "KIND", "snps, indels, insertions or deletions", default = "snps"),
  populations = option_row(
    "populations", "FILE", "one sample and its population per line; other samples are left out"
  ),
  info_populations = option_row(
    "info-populations", "WORDS", "populations of INFO: afr,nfe are AC_afr, AN_afr, AC_nfe, AN_nfe"
  ),
  folded = option_row("folded", "", "count the rarer allele, which needs no ancestral alleles"),
  project = option_row(
    "project", "SIZES", "haplotypes of each population, such as 20,20",
    default = "the most of any site"
  ),
  ancestral = option_row(
    "ancestral", "CALLS", "the folder of a run, or a FASTA file", default = "AA in INFO"
  ),
  template = option_row(
    "template", "RMD", "an R Markdown file to render", default = "the package's template"
  ),
  format = option_row("format", "FORMAT", "the program or format to write for"),
  sites = option_row("sites", "VCF", "a VCF or BCF of the positions to write"),
  width = option_row("width", "LETTERS", "letters in a line of FASTA", default = "60"),
  window = option_row("window", "BASES", "length of windows"),
  step = option_row("step", "BASES", "distance of windows, a divisor of --window",
                    default = "--window"),
  hard = option_row("hard", "", "take ancestral alleles as certain, whatever their posteriors"),
  statistic = option_row("statistic", "NAME", "of a .bedgraph, such as tajima_d",
                         default = "zeng_h"),
  vcf = option_row("vcf", "FILE", "variants: a VCF or BCF"),
  k = option_row(
    "kmer", "K", "length of the context of a mutation: 1, 3, 5, 7 or 9", "-k", default = "3"
  ),
  model = option_row("model", "MODEL", "the name of a model, or a Demes file"),
  start = option_row("start", "VALUES", "start values of the parameters, such as nu=2,time=1"),
  starts = option_row("starts", "N", "most searches", default = "20"),
  lower = option_row("lower", "VALUES", "lower bounds of parameters, such as nu=0.01"),
  upper = option_row("upper", "VALUES", "upper bounds of parameters, such as nu=50,time=2"),
  fixed = option_row("fixed", "VALUES", "parameters that are not fitted, such as time=0.1"),
  misidentified = option_row("misidentified", "", "fit the share of misidentified sites, too"),
  tolerance = option_row(
    "tolerance", "X", "largest difference in log-likelihood of searches that agree", default = "0.1"
  ),
  seconds = option_row("seconds", "N", "longest time of all searches", default = "no limit"),
  haplotypes = option_row(
    "haplotypes", "SIZES", "for a SPECTRUM of realSFS: haplotypes of each population, as YRI=20"
  ),
  errors = option_row("errors", "", "standard errors and intervals, for independent sites"),
  bootstraps = option_row(
    "bootstraps", "FILES", "errors for linked sites, by spectra such as 'windows.*.fs' (comma)"
  ),
  plot = option_row("plot", "FILE", "draw data and model into a .pdf, .png or .svg"),
  reference_size = option_row(
    "reference-size", "N", "write a Demes file, with this many ancestral diploids"
  ),
  genotypes = option_row(
    "genotypes", "FILE", "BED, PGEN, BGEN, VCF, BCF or VCF Zarr, or a list of them"
  ),
  samples = option_row(
    "samples", "FILE", "the .sample of a BGEN", default = "the one beside it, if any"
  ),
  hard_call_threshold = option_row(
    "hard-call-threshold", "DISTANCE", "largest distance of a dosage of a BGEN from its call",
    default = "0.1"
  ),
  dosages = option_row("dosages", "", "use dosages, not hard calls"),
  multiallelic = option_row(
    "multiallelic", "FATE", "of variants with several ALT alleles: split or drop", default = "split"
  ),
  pheno = option_row("pheno", "FILE", "phenotypes", default = "those beside the genotypes"),
  trait = option_row("trait", "NAMES", "phenotypes to analyse (comma)", default = "all"),
  covar = option_row("covar", "FILE", "covariates"),
  factors = option_row(
    "factors", "FILE", "covariates that are labels, such as batches, even if they are numbers"
  ),
  chosen_covariates = option_row(
    "covariates", "NAMES", "covariates to use (comma)", default = "all"
  ),
  na = option_row(
    "na", "TEXTS", "texts of missing values, besides NA, NaN and a dot (comma)",
    default = "-9 in phenotypes"
  ),
  keep = option_row("keep", "FILE", "samples to use", default = "all"),
  remove = option_row("remove", "FILE", "samples to leave out"),
  extract = option_row("extract", "FILE", "variants to use, an id a line", default = "all"),
  exclude = option_row("exclude", "FILE", "variants to leave out, an id a line"),
  split_par = option_row(
    "split-par", "BUILD", "treat pseudoautosomal regions of X as diploid: GRCh37 or GRCh38"
  ),
  maf = option_row("maf", "F", "smallest frequency of the rarer allele", default = "0"),
  missing = option_row("missing", "SHARE", "largest share of missing calls", default = "1"),
  hwe = option_row(
    "hwe", "P", "smallest p-value of Hardy-Weinberg equilibrium", default = "0, no test"
  ),
  info = option_row(
    "info", "R2", "smallest quality of imputation of dosages (MACH's r2)", default = "0, no limit"
  ),
  components = option_row("components", "FILE", "components of variants", default = "one of all"),
  by = option_row("by", "KIND", "components of variants by: file or chromosome"),
  overlap = option_row("overlap", "", "a variant may be in several components"),
  grm = option_row(
    "grm", "PREFIXES", "relationship matrices of GCTA, a component each (comma)"
  ),
  weights = option_row(
    "weights", "FILES", "weights of neighbouring variants, a matrix a block; A1,A2;B1 are groups"
  ),
  admixture = option_row(
    "admixture", "FILE", "ancestries, as ADMIXTURE's .Q, with a component each"
  ),
  merge = option_row("merge", "", "merge components with z below 1.645 into one, and fit again"),
  seed = option_row(
    "seed", "N",
    c(demography = "seed of random starts", reml = seed_of_probes, sparse = seed_of_probes),
    default = "1"
  ),
  probes = option_row("probes", "N", "random probes of a stochastic search", default = "16"),
  effects = option_row("effects", "", "write effects of variants, and genetic values"),
  predict = option_row("predict", "FILE", "genotypes whose phenotypes are predicted"),
  covar_to_predict = option_row(
    "predict-covar", "FILE", "covariates of the samples of --predict", default = "--covar"
  ),
  factors_to_predict = option_row(
    "predict-factors", "FILE", "labels of the samples of --predict", default = "--factors"
  ),
  export = option_row(
    "export", "TABLES", "further tables (comma): information, genetic or samples"
  ),
  mixed = option_row(
    "mixed", "", "take relatives into account, without the variant's chromosome"
  ),
  bound = option_row(
    "bound", "KINSHIP", "smallest kinship of related samples", default = "0.0442, third degree"
  ),
  number = option_row("number", "N", "number of components", default = "10"),
  firth = option_row(
    "firth", "", "odds ratios by Firth's regression, finite also if all carriers are cases"
  ),
  binary = option_row(
    "binary", "", "phenotypes are cases (2) and controls (1), or 1 and 0 if none is 2"
  ),
  prevalence = option_row(
    "prevalence", "K", "share of cases in the population, for heritability of liability"
  ),
  together = option_row(
    "together", "", "fit all phenotypes jointly, with their genetic correlations"
  ),
  input = option_row("input", "FILE", "sequences of DNA: FASTA or FASTQ", "-i"),
  dna = option_row("dna", "DIR", "the folder of a model of DNA, such as DNABERT-S"),
  protein = option_row("protein", "DIR", "the folder of a model of proteins, such as ESM-2"),
  classifier = option_row("classifier", "FILE", "the classifier: safetensors or .pth"),
  size = option_row("size", "BASES", "bases of a chunk", default = "500"),
  out = option_row("out", "PREFIX", "prefix of the paths of results"),
  verbose = option_row("verbose", "", "log the work", "-v"),
  help = option_row("help", "", "print help", "-h"),
  version = option_row("version", "", "print the version")
)

# Options whose values are output files.
output_options <- c("output", "out", "plot")

long_name <- function(option) utils::tail(option_rows[[option]]$names, 1)

# ---- Reading words -------------------------------------------------------------------------------

# Returns a list. `arguments` holds the command and its arguments; options have their names in
# option_rows, and are text or TRUE. Absent options are NULL.
parse_command_line <- function(args) {
  parsed <- list(arguments = character())
  while (length(args)) {
    arg <- args[1]
    args <- args[-1]
    if (arg == "--") {
      parsed$arguments <- c(parsed$arguments, args)
      break
    }
    if (!startsWith(arg, "-") || arg == "-") {
      parsed$arguments <- c(parsed$arguments, arg)
      next
    }
    # --config=FILE is --config FILE. Values may contain = too, so split only at the first.
    if (grepl("^--[a-z-]+=", arg)) {
      args <- c(sub("^[^=]*=", "", arg), args)
      arg <- sub("=.*", "", arg)
    }
    name <- option_called(arg)
    takes_value <- nzchar(option_rows[[name]]$value)
    if (takes_value) check_value_of(name, arg, args, parsed)
    parsed[[name]] <- if (takes_value) args[1] else TRUE
    if (takes_value) args <- args[-1]
  }
  parsed
}

# Refuses an option without a value, and a repeated option, whose value would replace the first. A
# flag may be repeated, because that changes nothing. `args`: the words after the option.
check_value_of <- function(name, arg, args, parsed) {
  command <- parsed$arguments[0:1]
  if (name %in% names(parsed)) {
    names <- paste(option_rows[[name]]$names, collapse = " or ")
    second <- if (length(args)) paste(" and", args[1]) else ""
    usage_error(names, " is given twice, as ", parsed[[name]], second, ": give it once",
                command = command)
  }
  if (length(args) == 0) usage_error(arg, " needs a value", command = command)
}

option_called <- function(arg) {
  for (name in names(option_rows)) {
    if (arg %in% option_rows[[name]]$names) {
      return(name)
    }
  }
  # Compare names without --, which would make all of them similar.
  words <- sub("^--", "", vapply(names(option_rows), long_name, ""))
  guess <- did_you_mean(sub("^-+", "", arg), words, show = function(word) paste0("--", word))
  usage_error("there is no option ", arg, guess)
}

# ---- Values -------------------------------------------------------------------------------------

threads_option <- function(parsed) number_option(parsed$threads, "-n")

# Evaluates `code` with the threads of -n as the default of all functions.
by_threads <- function(parsed, code) {
  old <- options(ancify.threads = threads_option(parsed) %||% getOption("ancify.threads"))
  on.exit(options(old))
  code
}

backend_option <- function(parsed) {
  backend <- parsed$backend %||% "cpu"
  if (!backend %in% c("cpu", "gpu")) usage_error("--backend must be cpu or gpu, not ", backend)
  backend
}

# A positive whole number; NULL if absent.
number_option <- function(text, name) {
  if (is.null(text)) {
    return(NULL)
  }
  if (!grepl("^[1-9][0-9]{0,14}$", text)) {
    usage_error(name, " must be a positive whole number, not ", text)
  }
  as.numeric(text)
}

# Options as numbers, by name; absent options are omitted.
decimal_options <- function(parsed, names) {
  values <- parsed[intersect(names, names(parsed))]
  lapply(stats::setNames(nm = names(values)), function(name) {
    value <- suppressWarnings(as.numeric(values[[name]]))
    if (is.na(value)) usage_error(long_name(name), " must be a number, not ", values[[name]])
    value
  })
}

# Splits a,b,c into its parts; none if absent.
split_option <- function(text) {
  if (is.null(text)) character() else strsplit(text, ",", fixed = TRUE)[[1]]
}

# NULL if absent.
chromosomes_option <- function(parsed) {
  if (!is.null(parsed$chromosomes)) split_option(parsed$chromosomes)
}
