# Options of the command line, and how arguments are read.

usage_error <- function(...) {
  abort_ancify(paste0(...), "usage")
}

# An option: its names, the name of its value ("" for a flag), and what it does.
command_option <- function(long, value, help, short = NULL) {
  list(names = c(short, paste0("--", long)), value = value, help = help)
}

# All options, by the names that parsed arguments have.
command_options <- list(
  config = command_option("config", "FILE", "the configuration", "-c"),
  threads = command_option("threads", "N", "threads; default: num_cpus, or all", "-n"),
  output = command_option("output", "FILE", "the file to write", "-o"),
  cluster = command_option("cluster", "NAME", "slurm: work in jobs of Slurm"),
  reference = command_option("reference", "FASTA", "the reference genome, to find wrong REFs"),
  mask = command_option("mask", "BED", "regions not to use"),
  polarise = command_option("polarise", "", "exchange alleles so that REF is ancestral"),
  keep_fields = command_option("keep-fields", "A,B", "fields that stay, such as INFO/DB_AF"),
  populations = command_option("populations", "FILE", "a sample and its population a line"),
  project = command_option("project", "N,N", "haplotypes of each population"),
  ancestral = command_option("ancestral", "CALLS", "a run's folder or a FASTA; default: AA"),
  window = command_option("window", "BASES", "length of windows"),
  model = command_option("model", "NAME", "a model of demography_model()"),
  start = command_option("start", "A=X,B=Y", "first values of the model's parameters"),
  starts = command_option("starts", "N", "most searches, from random values; default: 20"),
  genotypes = command_option("genotypes", "FILE", "genotypes: BED or PGEN"),
  out = command_option("out", "PREFIX", "beginning of the paths of results"),
  pheno = command_option("pheno", "FILE", "phenotypes; default: those beside the genotypes"),
  covar = command_option("covar", "FILE", "covariates"),
  keep = command_option("keep", "FILE", "samples to use"),
  components = command_option("components", "FILE", "components of variants"),
  verbose = command_option("verbose", "", "log the work", "-v"),
  help = command_option("help", "", "print this text", "-h"),
  version = command_option("version", "", "print the version")
)

# The words of a command line: `arguments` (the first is the command) and options by their names;
# absent options are NULL.
parse_command_line <- function(args) {
  parsed <- list(arguments = character())
  while (length(args)) {
    arg <- args[1]
    args <- args[-1]
    if (!startsWith(arg, "-") || arg == "-") {
      parsed$arguments <- c(parsed$arguments, arg)
      next
    }
    # --config=FILE is --config FILE. Values may have = too: take only the first.
    if (grepl("^--[a-z-]+=", arg)) {
      args <- c(sub("^[^=]*=", "", arg), args)
      arg <- sub("=.*", "", arg)
    }
    name <- option_called(arg)
    if (!nzchar(command_options[[name]]$value)) {
      parsed[[name]] <- TRUE
    } else if (!length(args)) {
      usage_error(arg, " needs a value")
    } else {
      parsed[[name]] <- args[1]
      args <- args[-1]
    }
  }
  parsed
}

option_called <- function(arg) {
  for (name in names(command_options)) {
    if (arg %in% command_options[[name]]$names) {
      return(name)
    }
  }
  all <- unlist(lapply(command_options, `[[`, "names"))
  usage_error("there is no option ", arg, suggestion(arg, all))
}

# The end of a complaint about a misspelt word.
suggestion <- function(word, known) sub("\\.$", "", did_you_mean(word, known))

print_problem <- function(...) {
  cat("ancify: ", ..., "\n", sep = "", file = stderr())
}

threads_option <- function(parsed) number_option(parsed$threads, "-n")

# A whole number from 1 on; NULL if it is not given.
number_option <- function(text, name) {
  if (is.null(text)) {
    return(NULL)
  }
  if (!grepl("^[1-9][0-9]{0,8}$", text)) {
    usage_error(name, " must be a positive whole number, not ", text)
  }
  as.numeric(text)
}

# ---- Standard streams ----------------------------------------------------------------------------

# A path to read: for "-" a temporary file with what stands on the standard input. Files are read
# twice, or from within.
input_path <- function(path, ending = "") {
  if (path != "-") {
    return(path)
  }
  spooled <- tempfile("stdin-", fileext = ending)
  from <- file("stdin", "rb")
  to <- file(spooled, "wb")
  on.exit({
    close(from)
    close(to)
  })
  while (length(bytes <- readBin(from, "raw", 2^20))) writeBin(bytes, to)
  spooled
}

# Calls write(path), for "-" with a temporary file that then goes to the standard output.
write_output <- function(path, ending, write) {
  if (path != "-") {
    return(write(path))
  }
  file <- tempfile("stdout-", fileext = ending)
  on.exit(unlink(file))
  result <- write(file)
  # cat ends quietly if nobody reads.
  system2("cat", shQuote(file), stderr = FALSE)
  result
}

# Prints beside a result that goes to the standard output.
print_beside <- function(path, x) {
  lines <- utils::capture.output(print(x))
  cat(lines, sep = "\n", file = if (path == "-") stderr() else stdout())
}
