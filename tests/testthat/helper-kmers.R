# A plain counter of k-mers, and the programs that count them.

oracle_reverse_complement <- function(bases) {
  letters <- rev(strsplit(chartr("ACGT", "TGCA", bases), "")[[1]])
  paste(letters, collapse = "")
}

# A data frame of the k-mers of sequences and their counts, in order.
oracle_kmers <- function(sequences, k, canonical = TRUE) {
  words <- unlist(lapply(toupper(sequences), function(bases) {
    starts <- seq_len(max(nchar(bases) - k + 1, 0))
    if (length(starts)) substring(bases, starts, starts + k - 1)
  }))
  words <- grep("^[ACGT]+$", words, value = TRUE)
  if (canonical) {
    words <- vapply(words, function(word) min(word, oracle_reverse_complement(word)), "")
  }
  kmers <- sort(unique(unname(words)), method = "radix")
  data.frame(kmer = kmers, count = as.numeric(tabulate(match(words, kmers), length(kmers))))
}

# Sequences with repeats, other letters, lower case and palindromes.
some_sequences <- function() {
  repeated <- random_bases(200)
  c(
    one = paste0(repeated, random_bases(150, c("A", "C", "G", "T", "N", "a")), repeated),
    two = paste0(oracle_reverse_complement(repeated), strrep("AT", 80)), short = "ACG",
    poly = strrep("A", 400)
  )
}

fasta_of <- function(sequences, path = tempfile(fileext = ".fa")) {
  lines <- Map(function(name, bases) {
    c(paste0(">", name), substring(bases, seq(1, nchar(bases), 60), seq(60, nchar(bases) + 59, 60)))
  }, names(sequences), sequences)
  writeLines(unlist(lines), path)
  path
}

fastq_of <- function(sequences, path = tempfile(fileext = ".fq")) {
  rows <- rbind(paste0("@", names(sequences)), sequences, "+", strrep("F", nchar(sequences)))
  writeLines(as.vector(rows), path)
  path
}

kmc_paths_of <- function(stem) paste0(stem, c(".kmc_pre", ".kmc_suf"))
database_bytes <- function(stem) lapply(kmc_paths_of(stem), file_bytes)

# ---- Programs -----------------------------------------------------------------------------------

# The stem of KMC's sorted database of a file; files of k up to 13 are sorted as they are.
kmc_database <- function(path, k, canonical = TRUE) {
  folder <- new_folder()
  counted <- file.path(folder, "counted")
  run_tool("kmc", c(
    paste0("-k", k), "-ci1", "-cs4294967295", "-t1", "-m2", "-fm", if (!canonical) "-b", path,
    counted, folder
  ))
  if (k <= 13) {
    return(counted)
  }
  run_tool("kmc_tools", c("-t1", "transform", counted, "sort", file.path(folder, "sorted")))
  file.path(folder, "sorted")
}

# A KMC database as text, by kmc_dump.
kmc_rows <- function(stem) {
  text <- tempfile()
  run_tool("kmc_dump", c(stem, text))
  rows <- utils::read.table(text, col.names = c("kmer", "count"), colClasses = c("character", NA))
  rows <- rows[order(rows$kmer, method = "radix"), ]
  data.frame(kmer = rows$kmer, count = as.numeric(rows$count))
}
