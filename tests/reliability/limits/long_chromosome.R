# Runs all steps on a chromosome of 2^31 + 5000 bases, from an AXT and a MAF.
# Projections are kept or not. Use: Rscript long_chromosome.R [folder with 10 GB of space]. Fails if
# a result is wrong. Uses the installed package.
library(ancify)

n <- 2^31 + 5000
row <- strrep("ACGTTGCA", 5)
starts <- c(11, 2^31 - 20, n - 999) # one block lies across 2^31
number <- function(x) format(x, scientific = FALSE, trim = TRUE)

write_inputs <- function() {
  writeLines(paste0("big\t", number(n)), "lengths")
  axt <- sprintf("0 big %s %s c 1 40 + 0\n%s\n%s\n", number(starts), number(starts + 39), row, row)
  for (species in c("near", "far")) writeLines(axt, paste0(species, ".axt"))
  writeLines(c("##maf version=1", sprintf(
    "a\ns focal.big %s 40 + %s %s\ns near.c 0 40 + 100 %s\ns far.c 0 40 + 100 %s\n",
    number(starts - 1), number(n), row, row, row
  )), "maf")
  writeLines(c(
    "##fileformat=VCFv4.2", sprintf("##contig=<ID=big,length=%s>", number(n)),
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO",
    sprintf("big\t%s\t.\tC\tT\t.\t.\t.", number(starts + 1))
  ), "variants.vcf")
}

timed <- function(label, code) {
  time <- system.time(code)
  cat(sprintf("%-10s %6.1f s, processor %6.1f s\n", label, time[["elapsed"]],
              time[["user.self"]] + time[["sys.self"]]))
  code
}

check_run <- function(alignments, keep) {
  cat(alignments[1], if (keep) "kept" else "unkept", "\n")
  outgroup <- function(i) list(list(name = c("near", "far")[i], alignment = alignments[i]))
  config <- list(
    focal_species = "focal", chromosome_lengths = "lengths", keep_projected = keep,
    outgroups = list(inner = outgroup(1), outer = outgroup(2)), method = "likelihood",
    tree = "((focal:0.02,near:0.02):0.01,far:0.05);", posterior = TRUE, num_cpus = 2,
    evaluation = list(vcf_dir = ".", vcf_pattern = "variants.vcf")
  )
  run <- timed("run", ancify_run(config, c("project", "call"), verbose = FALSE))
  regions <- data.frame(chromosome = "big", start = starts - 1, end = starts + 40)
  evaluation <- timed("evaluate", ancify_evaluate(config, verbose = FALSE))
  annotated <- timed(
    "annotate", annotate_vcf("variants.vcf", run, "annotated.vcf", verbose = FALSE)
  )
  phred <- read_posterior("ancestral_calls", "big", starts[3] - 1, starts[3])
  stopifnot(
    run$high == 120, run$missing == n - 120,
    as.character(read_ancestral(run, regions)) == paste0("N", row, "N"),
    is.na(phred[1]), phred[2] > 10,
    evaluation$vcf_matches_ref == 1, evaluation$vcf_num_variants == 3
  )
  records <- grep("^big", readLines("annotated.vcf"), value = TRUE)
  stopifnot(grepl("AA=C;", records, fixed = TRUE), length(records) == 3)
  if (keep) {
    patterns <- timed("patterns", count_patterns(config))
    stopifnot(sum(patterns$count) == n, patterns$count[patterns$pattern == "CCC"] == 30)
  }
}

folder <- tempfile("long-", c(commandArgs(TRUE), tempdir())[1])
dir.create(folder)
setwd(folder)
write_inputs()
for (keep in c(TRUE, FALSE)) {
  check_run(c("near.axt", "far.axt"), keep)
  check_run(c("maf", "maf"), keep)
}
print(grep("VmHWM", readLines("/proc/self/status"), value = TRUE))
setwd("/")
unlink(folder, recursive = TRUE)
