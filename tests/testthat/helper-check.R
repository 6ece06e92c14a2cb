# Clean inputs of a run, faults to put into them, and the findings to expect.

# Alignments of species that differ from one focal genome at these shares of positions, and a FASTA
# file of that genome.
related_case <- function(divergence = c(near1 = 0.02, near2 = 0.03, far = 0.1), n_inner = 2,
                         lengths = c(chr1 = 20000, chr2 = 6000), ...) {
  folder <- new_folder()
  at <- function(name) file.path(folder, name)
  genome <- lapply(lengths, function(n) sample(c("A", "C", "G", "T"), n, replace = TRUE))
  writeLines(sprintf("%s\t%.0f", names(lengths), lengths), at("chrom.sizes"))
  writeLines(unlist(Map(function(name, bases) {
    c(paste0(">", name), paste(bases, collapse = ""))
  }, names(genome), genome)), at("focal.fa"))
  lines <- lapply(divergence, function(share) related_axt(genome, share))
  for (name in names(lines)) write_axt(lines[[name]], at(paste0(name, ".axt")))
  entries <- lapply(names(lines), function(name) {
    list(name = name, alignment = at(paste0(name, ".axt")))
  })
  config <- list(
    focal_species = "focal", chromosome_lengths = at("chrom.sizes"),
    outgroups = list(
      inner = entries[seq_len(n_inner)], outer = entries[-seq_len(n_inner)]
    ),
    work_dir = at("work"), output_dir = at("calls"), num_cpus = 2, ...
  )
  list(folder = folder, config = config, genome = genome, lines = lines, lengths = lengths)
}

# Blocks along the chromosomes with holes between them, gaps in both rows, and letters of any case.
related_axt <- function(genome, share) {
  unlist(lapply(names(genome), function(name) {
    ends <- sort(sample(length(genome[[name]]), 2 * length(genome[[name]]) %/% 500))
    lapply(seq(1, length(ends) - 1, 2), function(i) {
      focal <- genome[[name]][ends[i]:ends[i + 1]]
      outgroup <- ifelse(runif(length(focal)) < share, chartr("ACGT", "CGTA", focal), focal)
      outgroup[runif(length(focal)) < 0.02] <- "-"
      extra <- runif(length(focal)) < 0.01
      focal <- ifelse(runif(length(focal)) < 0.3, tolower(focal), focal)
      focal <- c(rbind(focal, ifelse(extra, "-", NA)))
      outgroup <- c(rbind(outgroup, ifelse(extra, "G", NA)))
      axt_block(name, ends[i], paste(focal[!is.na(focal)], collapse = ""),
                paste(outgroup[!is.na(outgroup)], collapse = ""))
    })
  }))
}

with_genome <- function(case) {
  case$config$focal_fasta <- file.path(case$folder, "focal.fa")
  case
}

# Puts these lines in place of a species' alignment.
set_lines <- function(case, species, lines) {
  write_axt(lines, file.path(case$folder, paste0(species, ".axt")))
  case
}

# ---- Faults --------------------------------------------------------------------------

header_lines <- function(lines) {
  grep("^0 ", lines)
}

# Shifts the focal coordinates of every header.
shifted <- function(lines, by = 1) {
  at <- header_lines(lines)
  fields <- strsplit(lines[at], " ")
  lines[at] <- vapply(fields, function(field) {
    field[3:4] <- format(as.numeric(field[3:4]) - by, scientific = FALSE, trim = TRUE)
    paste(field, collapse = " ")
  }, "")
  lines
}

# The focal rows of another build: a tenth of the letters differ.
other_build <- function(lines) {
  change_focal(lines, function(row) {
    change <- runif(length(row)) < 0.1
    row[change] <- chartr("ACGTacgt", "CGTAcgta", row[change])
    row
  })
}

reverse_strand <- function(lines) {
  change_focal(lines, function(row) rev(chartr("ACGTacgt", "TGCAtgca", row)))
}

change_focal <- function(lines, change) {
  rows <- header_lines(lines) + 1
  lines[rows] <- vapply(strsplit(lines[rows], ""), function(row) {
    letters <- row != "-"
    row[letters] <- change(row[letters])
    paste(row, collapse = "")
  }, "")
  lines
}

# ---- Expected findings ---------------------------------------------------------------

# The letters of the focal or the outgroup's rows by position, in upper case.
oracle_rows <- function(lines, lengths, row = c("focal", "outgroup")) {
  row <- match.arg(row)
  letters <- lapply(lengths, function(n) rep("N", n))
  for (block in oracle_blocks(lines)) {
    at <- block$focal != "-"
    positions <- block$start - 1 + seq_len(sum(at))
    letters[[block$chromosome]][positions] <- toupper(block[[row]][at])
  }
  unlist(letters)
}

# Positions where both have a base, and where the bases differ.
oracle_differences <- function(a, b) {
  bases <- c("A", "C", "G", "T")
  both <- a %in% bases & b %in% bases
  c(sites = sum(both), differ = sum(both & a != b))
}

# The numbers that the checks compute.
look_at <- function(config, brief = FALSE, threads = 2) {
  config <- ancify_config(config)
  reading <- config_reading(
    config, new_work(threads), focal_fasta = config$focal_fasta %||% ""
  )
  reading$on_bad_block <- "skip"
  look_at_alignments_impl(config_alignments(config), reading, brief, function(...) NULL)
}

check_quietly <- function(...) {
  ancify_check(..., progress = FALSE)
}

# Expects nothing graver than a note.
expect_clean <- function(config) {
  checks <- check_quietly(config)
  expect_identical(checks$finding[checks$status > "note"], character())
}

# Expects one error on `subject`, and that a run ends with it before it writes. Gives the condition.
expect_fault <- function(config, check, subject, ...) {
  checks <- check_quietly(config)
  faults <- checks[checks$status == "error" & checks$check == check, ]
  expect_identical(faults$subject, subject)
  for (text in c(...)) expect_match(faults$finding[1], text, fixed = TRUE)
  condition <- expect_ancify_error(run_quietly(config), "check", subject, ...)
  expect_false(file.exists(config$output_dir))
  invisible(condition)
}
